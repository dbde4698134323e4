"""Loads in a browser, in a terminal and as JSON: gaps, forecasts, what came."""

from __future__ import annotations

import re
import time
from dataclasses import replace
from html import unescape
from xml.etree import ElementTree

import pytest

from skelgen.pipeline import forecast_record
from skelgen.pipeline.forecast_record import Kept
from skelgen.store import Run, RunPart, Series, open_store
from tests.unit.test_server_pages import Tags, said, text_of
from tests.visitors import serve

__all__ = ["said"]
HOSTILE = "<script>alert(1)</script>"


@pytest.fixture(autouse=True)
def _own_state(tmp_path, monkeypatch):
    monkeypatch.setenv("SKELGEN_STATE", str(tmp_path / "state"))


@pytest.fixture(scope="module")
def begin():
    """Return when the series begin: they end now."""
    return time.time() - 720 * 60.0


@pytest.fixture(scope="module")
def place(tmp_path_factory, begin):
    """Return a store with half a day of loads, one sample a minute, and a gap."""
    found = str(tmp_path_factory.mktemp("loads") / "store.db")
    rows = []
    for number, host in enumerate(("n1", "n2", HOSTILE)):
        kept = [at for at in range(721) if number or not 680 < at < 700]
        values = [0.5 + 0.2 * ((at // 30 + number) % 2) for at in kept]
        times = [begin + 60.0 * at for at in kept]
        rows.append(Series(host, "cpu", tuple(times), tuple(values)))
    times = [begin + 120.0 * at for at in range(361)]
    rows.append(Series("n1-n2", "bandwidth", tuple(times), (0.8,) * 361))
    with open_store(found) as store:
        assert not store.add(rows).refused
    return found


@pytest.fixture
def browser(place):
    return serve(place).browser()


def picture_of(browser, page: str) -> str:
    (link,) = re.findall(r'<img src="(/loads/picture\.svg[^"]*)"', page)
    answer = browser.get(unescape(link))
    assert answer.headers["content-type"] == "image/svg+xml"
    return answer.text


def test_series_of_nodes_and_links_are_shown_with_a_table(browser):
    page = browser.get("/loads?hosts=n1,n2").text
    words = text_of(page)
    assert "cpu of n1, n2" in words
    assert "The same as a table" in words
    assert "bandwidth" in words  # to choose from
    links = text_of(browser.get("/loads?hosts=n1,n2&quantity=bandwidth").text)
    assert "n1-n2 0.8" in links


def test_a_gap_is_a_gap_in_picture_and_table(browser):
    page = browser.get("/loads?hosts=n1").text
    svg = picture_of(browser, page)
    assert svg.count("<polyline") == 2
    assert svg.count("<polygon") == 2
    assert re.search(r"<td[^>]*\bn\b[^>]*></td>", page)  # nobody knows
    steady = browser.get("/loads?hosts=n2").text
    assert picture_of(browser, steady).count("<polyline") == 1


def test_a_forecast_is_the_commands_and_is_not_kept(browser, said, place):
    page = browser.get("/loads?hosts=n1,n2&horizon=1h").text
    found = browser.get("/api/loads?hosts=n1,n2&horizon=1h").json()["forecast"]
    assert not forecast_record.outcomes()
    wanted = said("forecast", "--nodes", "n1,n2", "--horizon", "1h", "--store", place)
    assert found == {name: wanted[name] for name in found}
    assert found["cpu"]["p5"] <= found["cpu"]["p50"] <= found["cpu"]["p95"]
    assert f"skelgen forecast --nodes=n1,n2 --horizon=1h --store={place}" in text_of(
        page
    )
    svg = picture_of(browser, page)
    assert "forecast over 1 h" in svg
    assert "the smallest of 2 nodes" in svg
    assert svg.count("stroke-dasharray") == 1


def test_earlier_forecasts_stand_next_to_what_came(browser, begin):
    def kept(at: float, source: str, p50: float) -> Kept:
        return Kept(at, 1800.0, ("n2",), "cpu", "avg-min", "default", "mean", 0.4, p50,
                    0.6, source)  # fmt: skip

    there = [kept(begin + 3600, "", 0.5), kept(begin + 7200, "store /other", 0.1)]
    forecast_record.keep([*there, kept(time.time() + 60, "", 0.55)])
    page = text_of(browser.get("/loads?hosts=n2").text)
    assert re.search(r"n2 cpu 30 min 0.5 0.4 to 0.6 0\.\d+ (in|out)side", page)
    assert "not yet" in page
    (first, second) = browser.get("/api/loads").json()["earlier"]
    assert first["happened"] is None
    assert second["happened"] == pytest.approx(0.6, abs=0.11)
    (score,) = browser.get("/api/loads").json()["methods"]
    assert (score["predictions"], score["happened"]) == (2, 1)
    assert "what came" in browser.get("/loads/picture.svg?hosts=n2").text
    outcomes = forecast_record.outcomes()  # nothing changes by looking
    assert all(one.happened is None for one in outcomes)


def test_the_api_shows_what_the_command_shows(browser, said, place):
    query = "hosts=n1,n2&span=day&until=2099-01-01"
    words = ["--nodes", "n1,n2", "--span", "day", "--until", "2099-01-01"]
    found = browser.get(f"/api/loads?{query}").json()
    assert found == said("store", "loads", *words, "--store", place)
    found = browser.get("/api/loads?hosts=n1&span=day").json()
    (series,) = found["series"]
    assert sum(one["samples"] for one in series["bins"]) == 702
    assert len(series["gaps"]) == 1


def test_a_span_and_an_end_are_in_the_address(browser, begin):
    query = f"/api/loads?hosts=n2&span=hour&until={begin + 7200}"
    (series,) = browser.get(query).json()["series"]
    assert sum(one["samples"] for one in series["bins"]) == 61


def test_hostile_names_are_text_in_page_and_picture(browser):
    page = browser.get("/loads").text
    assert "script" not in Tags(page).names
    svg = picture_of(browser, page)
    names = {one.tag.rpartition("}")[2] for one in ElementTree.fromstring(svg).iter()}
    assert names <= {"svg", "g", "title", "text", "path", "polyline", "polygon",
                     "circle"}  # fmt: skip
    assert "alert(1)" in svg


@pytest.mark.parametrize(
    ("query", "status", "words"),
    [
        ("span=year", 400, "expected one of hour, day, week"),
        ("quantity=heat", 400, "the store has"),
        ("until=yesterday", 400, "expected a date"),
        ("horizon=soon", 400, "is not a duration"),
        ("horizon=99d", 400, "at most 14d"),
        ("part=0", 400, "expected 1 to"),
        ("hosts=none", 200, "There is no such series"),
        ("hosts=n1,none&horizon=1h", 200, "no CPU series of none"),
        ("hosts=@all&horizon=1h", 200, "There is no such series"),
        ("horizon=1h&until=2026-01-01", 200, "leave out the date"),
        ("quantity=bandwidth&horizon=1h", 200, "name them"),
    ],
)
def test_what_cannot_be_shown_is_a_sentence(browser, query, status, words):
    answer = browser.get(f"/loads?{query}")
    assert answer.status_code == status
    assert words in text_of(answer.text)


def test_an_empty_store_says_where_loads_come_from(tmp_path):
    place = str(tmp_path / "empty.db")
    open_store(place).close()
    browser = serve(place).browser()
    assert "skelgen monitor show --json" in text_of(browser.get("/loads").text)
    assert browser.get("/loads/picture.svg").status_code == 200


def test_many_series_have_parts(tmp_path):
    place = str(tmp_path / "many.db")
    with open_store(place) as store:
        store.add(Series(f"n{at:02}", "cpu", (1e9, 1e9 + 60), (0.5, 0.5))
                  for at in range(30))  # fmt: skip
    browser = serve(place).browser()
    assert "1 to 12 of 30" in text_of(browser.get("/loads").text)
    last = text_of(browser.get("/loads?part=3").text)
    assert "25 to 30 of 30" in last
    assert "n29" in last


@pytest.fixture
def with_run(tmp_path):
    """Return a server of a store with a run, and loads of one of its two nodes."""
    place = str(tmp_path / "run.db")
    times = tuple(1.7e9 + 10.0 * at for at in range(200))
    run = Run("heat", 600.0, hosts=("n1", "n2"), started=1.7e9 + 600, identity="there",
              parts=(RunPart("solve", "phase", 2.0, 10.0, 0.5),
                     RunPart("MPI_Wait", "function", 0.1, 30.0, 0.1)))  # fmt: skip
    before = replace(run, identity="before", started=1.6e9)
    nowhere = replace(run, identity="nowhere", hosts=())
    series = Series("n1", "cpu", times, tuple(at / 200 for at in range(200)))
    link = Series("n1-n2", "bandwidth", times[::6], (0.5,) * len(times[::6]))
    with open_store(place) as store:
        assert not store.add([run, before, nowhere, series, link]).refused
    return serve(place).browser()


def test_a_run_has_the_loads_of_its_nodes_while_it_ran(with_run):
    page = with_run.get("/runs/there").text
    words = text_of(page)
    assert "Loads of its nodes" in words
    assert "n1 cpu" in words
    assert "n1-n2 bandwidth" in words
    svg = with_run.get("/runs/there/loads.svg")
    assert svg.headers["content-type"] == "image/svg+xml"
    assert svg.text.count("<title>the run</title>") == 2
    assert '<img src="/runs/there/loads.svg"' in page
    assert "Phases of the run" in words
    assert "Functions of the run" in words


def test_a_run_without_loads_says_why(with_run):
    assert "no series of these nodes from that time" in text_of(
        with_run.get("/runs/before").text
    )
    assert "does not say on which nodes" in text_of(with_run.get("/runs/nowhere").text)
    assert with_run.get("/runs/before/loads.svg").status_code == 404
