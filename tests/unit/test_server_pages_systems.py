"""Systems in a browser: history of a value, messages over sizes, two compared."""

from __future__ import annotations

import re
from html import unescape
from urllib.parse import unquote
from xml.etree import ElementTree

import pytest

from skelgen.store import Fact, Message, open_store
from skelgen.web.system_charts import fitted_s
from tests.unit.test_server_pages import Tags, said, text_of
from tests.visitors import fill, serve

__all__ = ["said"]
HOSTILE = "<script>alert(1)</script>"


@pytest.fixture(autouse=True)
def _own_state(tmp_path, monkeypatch):
    monkeypatch.setenv("SKELGEN_STATE", str(tmp_path / "state"))


def fact(host: str, value: float, day: int, **others) -> Fact:
    given = {"system": "cluster", "name": "float_multiply_add", "cores": 2, **others}
    return Fact(
        host=host, value=value, unit="1/s", low=0.95 * value, high=1.05 * value,
        repeats=5, measured=1.7e9 + 86_400.0 * day, **given,
    )  # fmt: skip


def message(hosts: tuple[str, ...], latency_s: float, **others) -> Message:
    points = tuple((2**k, latency_s + 2**k / 1e9) for k in range(0, 22, 3))
    given = {"operation": "SR", "points": points, "system": "cluster", **others}
    return Message(
        hosts=hosts, latency_s=latency_s, bandwidth_bytes_per_s=1e9, measured=1.7e9,
        spread=0.1, **{"ranks": 2, **given},
    )  # fmt: skip


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    found = str(tmp_path_factory.mktemp("systems") / "store.db")
    fill(found)
    rows = [
        *(fact("n2", 1e9 * (1 + day), day) for day in range(4)),
        *(fact("n3", 4.1e9, day) for day in range(2)),
        fact("n3", 7.0, 0, name="clock"),
        fact("n4", 9e9, 1, system="other", doubt="busy: 3 others"),
        fact("n4", 8.0, 1, system="other", name="clock"),
        *(fact("rack/1", 1e9, day, system="racks") for day in range(2)),
        *(fact("rack%2F1", 2e9, day, system="racks") for day in range(2)),
        fact(HOSTILE, 1.0, 1, name=HOSTILE, system=HOSTILE, doubt=HOSTILE),
        message(("n2", "n3"), 2e-6),
        message(("n4", "n5"), 9e-6, system="other"),
        message((HOSTILE, "n6"), 1e-6, operation=HOSTILE),
    ]
    with open_store(found) as store:
        assert not store.add(rows).refused
    return found


@pytest.fixture
def browser(place):
    return serve(place).browser()


def picture_of(browser, page: str) -> str:
    (link,) = re.findall(r'<img src="(/systems/[^"]*\.svg[^"]*)"', page)
    answer = browser.get(unescape(link))
    assert answer.headers["content-type"] == "image/svg+xml"
    ElementTree.fromstring(answer.text)
    return answer.text


def test_a_value_leads_to_its_history_with_picture_and_table(browser):
    page = browser.get("/systems/n2").text
    (link,) = [one for one in Tags(page).links if "/history?" in one]
    again = browser.get(link).text
    assert "was measured 4 times" in text_of(again)
    assert "+100.0%" in text_of(again)
    assert picture_of(browser, again).count("<circle") == 4


def test_the_history_of_a_system_has_all_its_hosts(browser):
    svg = browser.get("/systems/cluster/history.svg?fact=float_multiply_add").text
    assert svg.count("<circle") == 6
    assert "n2, 2 cores" in svg
    assert "n3, 2 cores" in svg


def test_a_doubted_measurement_has_another_colour(browser):
    svg = browser.get("/systems/n4/history.svg?fact=float_multiply_add").text
    assert '#c8452f"><title>' in svg
    assert "busy: 3 others" in svg


@pytest.mark.parametrize(
    ("path", "status", "words"),
    [
        ("/systems/n2/history?fact=speed", 404, "float_multiply_add"),
        ("/systems/none/history?fact=clock", 404, "what was: nothing"),
        ("/systems?with=n2", 400, "expected two different ones"),
        ("/systems?with=n2&with=n2", 400, "expected two different ones"),
        ("/systems?with=n2&with=n3&with=n4", 400, "expected two different ones"),
        ("/systems?with=n2&with=none", 400, "nothing was measured of 'none'"),
    ],
)
def test_what_was_not_measured_is_a_sentence(browser, path, status, words):
    for prefix in ("", "/api"):
        answer = browser.get(f"{prefix}{path}")
        assert answer.status_code == status
        assert words in unescape(answer.text)


def test_the_api_has_the_history_as_the_command_does(browser, said, place):
    found = browser.get("/api/systems/cluster/history?fact=float_multiply_add").json()
    words = ("system", "history", "cluster", "float_multiply_add")
    assert found == said(*words, "--store", place)
    assert [one["value"] for one in found["facts"] if one["host"] == "n2"] == [
        1e9, 2e9, 3e9, 4e9,
    ]  # fmt: skip


@pytest.mark.parametrize("names", [("n2", "n3"), ("cluster", "other")])
def test_two_systems_are_compared_as_the_command_does(browser, said, place, names):
    query = f"with={names[0]}&with={names[1]}"
    found = browser.get(f"/api/systems?{query}").json()
    assert found == said("system", "compare", *names, "--store", place)
    page = text_of(browser.get(f"/systems?{query}").text)
    assert f"skelgen system compare {names[0]} {names[1]}" in page
    differ = sum(one["differs"] for one in found["values"])
    assert f"{differ} of {len(found['values'])} values differ" in page


def test_within_the_spread_is_said(browser):
    page = text_of(browser.get("/systems?with=n2&with=n3").text)
    assert "float_multiply_add 2 4 G1/s 4.1 G1/s 1.025 within the spread" in page


def test_systems_to_compare_are_chosen_on_the_page(browser):
    page = browser.get("/systems").text
    assert page.count('name="with"') == 2
    assert '<option value="cluster"' in page


def test_messages_are_drawn_over_sizes_with_their_fit_and_a_table(browser):
    page = browser.get("/systems/n2").text
    svg = picture_of(browser, page)
    assert svg.count("<circle") == 8
    assert svg.count("<polyline") == 1
    assert "n2, n3, 2 ranks: 64 B" in svg
    assert "+0.0%" in text_of(page)
    none = browser.get("/systems/n1").text  # its message has no points
    assert "messages.svg" not in none


def test_the_fit_follows_the_stretches():
    one = message(("n1", "n2"), 1e-6, knees=((0, 1e-6, 1e9), (1000, 5e-6, 1e10)))
    assert fitted_s(one, 100) == pytest.approx(1e-6 + 1e-7)
    assert fitted_s(one, 1e6) == pytest.approx(5e-6 + 1e-4)
    assert fitted_s(message(("n1",), 1e-6), 1e6) == pytest.approx(1e-6 + 1e-3)


@pytest.mark.parametrize("prefix", ["", "/site"])
def test_a_host_with_a_slash_in_its_name_has_pages(place, prefix):
    browser = serve(place, prefix=prefix).browser()
    links = browser.get(f"{prefix}/systems").text
    for name in ("rack%2F1", "rack%252F1"):
        assert f'href="{prefix}/systems/{name}"' in links
        page = browser.get(f"{prefix}/systems/{name}")
        assert page.status_code == 200
        (title,) = re.findall("<h1>([^<]*)", page.text)
        assert title.split()[-1] == unquote(name)
        fact = "fact=float_multiply_add"
        assert browser.get(f"{prefix}/systems/{name}/history?{fact}").status_code == 200
        answer = browser.get(f"{prefix}/api/systems/{name}")
        assert answer.json()["host"] == unquote(name)
        assert len(answer.json()["facts"]) > 0
    assert browser.get(f"{prefix}/systems/rack%2f1").status_code == 200


@pytest.mark.parametrize(
    "path",
    ["/systems/rack/1", "/systems%2Fn1", "/runs/run-1000-2%2F", "/runs%2Frun-1000-2",
     "/systems/..%2F..%2Fetc%2Fpasswd", "/api/runs/..%2Fx", "/jobs/..%2F..%2Fx",
     "/systems/%2F", "/%2F/systems/n1"],
)  # fmt: skip
def test_a_slash_is_part_of_a_host_s_name_only_and_only_when_encoded(browser, path):
    assert browser.get(path).status_code == 404


def test_hostile_names_are_text_in_pictures(browser):
    quoted = "%3Cscript%3Ealert(1)%3C%2Fscript%3E"
    for path in (
        f"history.svg?fact={quoted}",
        "messages.svg",
        f"history?fact={quoted}",
    ):
        answer = browser.get(f"/systems/{quoted}/{path}")
        assert answer.status_code == 200
        assert "<script" not in answer.text
        assert "alert(1)" in answer.text
