"""Past predictions in a browser: what happened, by method, application and month."""

from __future__ import annotations

from xml.etree import ElementTree

import pytest

from skelgen.store import Run, StoredPrediction, open_store
from skelgen.trust import Interval
from skelgen.web.site_predictions import predictions_chart
from tests.unit.test_server_pages import Tags, said, text_of
from tests.visitors import serve

__all__ = ["said"]
HOSTILE = "<script>alert(1)</script>"
MONTH_S = 31 * 86_400.0


@pytest.fixture(autouse=True)
def _own_state(tmp_path, monkeypatch):
    monkeypatch.setenv("SKELGEN_STATE", str(tmp_path / "state"))


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """Return a store with six predictions of two methods, of which five happened."""
    found = str(tmp_path_factory.mktemp("predictions") / "store.db")
    rows: list[StoredPrediction | Run] = []
    for at, (app, method, verdict, truth_s) in enumerate(
        (
            ("heat", "model", "trust", 1.0),
            ("heat", "model", "do not trust", 2.0),
            ("heat", "phases", "trust", 1.1),
            (HOSTILE, "model", "trust", 1.0),
            (HOSTILE, "phases", "do not trust", 8.0),
            ("later", "model", "trust", None),
        )
    ):
        made = 1.7e9 + MONTH_S * (at // 3)
        interval = Interval(0.9, 1.0, 1.2)
        asked = (("n", float(at)),)
        rows.append(
            StoredPrediction(method, app, interval, made, verdict, inputs=asked)
        )
        if truth_s is not None:
            rows.append(
                Run(app, truth_s, inputs=asked, started=made + 60, identity=f"r{at}")
            )
    with open_store(found) as store:
        assert not store.add(rows).refused
    return found


@pytest.fixture
def browser(place):
    return serve(place).browser()


def test_errors_are_told_by_method_application_and_month(browser):
    words = text_of(browser.get("/predictions").text)
    assert "By method; errors are of those whose run happened" in words
    assert "model 4 1 3 0.0% 40.0% 66.7%" in words
    assert "heat 3 1 3 9.1% 41.8% 66.7%" in words
    assert "2023-11 3 1 3" in words
    assert "2023-12 3 1 2" in words


def test_what_is_shown_may_be_of_one_method_and_one_verdict(browser):
    found = browser.get("/api/predictions?method=model&verdict=trust").json()
    assert found["total"] == 3
    assert [one["application"] for one in found["applications"]] == [
        HOSTILE, "heat", "later",
    ]  # fmt: skip
    page = browser.get("/predictions?method=phases").text
    assert "1 to 2 of 2" in text_of(page)
    assert '<option value="phases" selected' in page
    assert "ask for less" in text_of(browser.get("/predictions?method=none").text)


def test_the_api_counts_as_the_command_does(browser, said, place):
    found = browser.get("/api/predictions").json()
    assert found["methods"] == said("store", "record", "--store", place)["methods"]


def test_the_picture_has_a_dot_for_each_that_happened_by_verdict(browser):
    page = browser.get("/predictions").text
    assert '<img src="/predictions/picture.svg"' in page
    svg = browser.get("/predictions/picture.svg").text
    names = [one.tag.rpartition("}")[2] for one in ElementTree.fromstring(svg).iter()]
    assert "script" not in names
    assert names.count("circle") == 5 + 2  # and two in the legend
    assert svg.count('r="3" fill="#2e8b57"') == 3
    assert svg.count('r="3" fill="#e08a2e"') == 2
    assert "1 s predicted, 2 s measured, do not trust" in svg
    trusted = browser.get("/predictions/picture.svg?verdict=trust").text
    assert trusted.count('r="3"') == 3


def test_the_points_are_a_table_too_and_hostile_names_are_text(browser):
    page = browser.get("/predictions").text
    assert "script" not in Tags(page).names
    assert "heat model 2 s 1 s -50.0% do not trust" in text_of(page)


def test_without_a_truth_there_is_no_picture(browser):
    page = browser.get("/predictions?app=later").text
    assert "Nothing that was predicted has happened yet." in text_of(page)
    assert "picture.svg" not in page
    assert browser.get("/predictions/picture.svg?app=later").status_code == 200


def test_an_absurd_interval_ends_at_the_frame_and_has_no_bound(tmp_path):
    place = str(tmp_path / "store.db")
    rows: list[StoredPrediction | Run] = []
    ends = ((0.9, 1.2), (1e-48, 1e37), (0.5, 1e37), (0.0, 1.7))
    for at, (low, high) in enumerate(ends):
        asked = (("n", float(at)),)
        interval = Interval(low, 1.0, high)
        rows.append(
            StoredPrediction("model", "heat", interval, 1.7e9, "trust", inputs=asked)
        )
        rows.append(
            Run("heat", 1.2, inputs=asked, started=1.7e9 + 60, identity=f"r{at}")
        )
    with open_store(place) as store:
        assert not store.add(rows).refused
        chart = predictions_chart(store.predictions())
    (panel,) = chart.panels
    marks = [float(one.text) for one in (*panel.x_marks, *panel.y_marks)]
    assert 0.1 < min(marks) <= max(marks) < 10
    places = {place for dot in panel.dots for place in (dot.low_y, dot.high_y)}
    assert (min(places), max(places)) == (0.0, panel.height)
    words = text_of(serve(place).browser().get("/predictions").text)
    assert "1 s no bound 1.2 s" in words
    assert "1 s 500 ms to no bound 1.2 s" in words
    assert "1 s no bound to 1.7 s 1.2 s" in words
    assert "1 s 900 ms to 1.2 s 1.2 s" in words
