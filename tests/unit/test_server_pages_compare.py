"""Runs side by side, in a browser and as JSON; columns and ranges of the list."""

from __future__ import annotations

import re
from html import unescape

import pytest

from skelgen.cli.main import run
from skelgen.store import Run, RunPart, open_store
from tests.unit.test_server_pages import Tags, said, text_of
from tests.visitors import fill, serve

__all__ = ["said"]


@pytest.fixture(autouse=True)
def _own_state(tmp_path, monkeypatch):
    monkeypatch.setenv("SKELGEN_STATE", str(tmp_path / "state"))


@pytest.fixture
def place(tmp_path):
    found = str(tmp_path / "store.db")
    fill(found)
    repeats = [
        Run(
            "heat",
            0.6 + 0.01 * at,
            ranks=2,
            nodes=1,
            inputs=(("n", 1000.0), ("solver", "cg")),
            hosts=("n1", "n2"),
            system="cluster",
            executable="abc123def4567890",
            parts=(RunPart("solve", "phase", 0.03, 10.0, 0.5),),
            identity=f"again-{at}",
        )
        for at in range(3)
    ]
    with open_store(found) as store:
        store.add(repeats)
    return found


@pytest.fixture
def browser(place):
    return serve(place).browser()


def test_runs_are_side_by_side_with_what_differs(browser):
    page = browser.get("/compare?run=run-1000-2&run=again-1")
    assert page.status_code == 200
    words = text_of(page.text)
    assert "executable abc123def456 differs" in words
    assert "a factor of 1.02, within the spread of 3.3% between runs" in words
    assert "Phases" in words
    assert "skelgen store compare run-1000-2 again-1" in words
    other = text_of(browser.get("/compare?run=run-4000-2&run=again-1").text)
    assert "more than the spread of 3.3%" in other


def test_without_repeats_the_page_says_that_the_spread_is_not_known(browser):
    words = text_of(browser.get("/compare?run=run-1000-4&run=run-2000-4").text)
    assert "not known: none of these configurations ran more than once" in words


def test_the_api_compares_as_the_command_does(browser, said, place):
    found = browser.get("/api/compare?run=run-4000-2&run=again-1").json()
    assert found == said("store", "compare", "run-4000-2", "again-1", "--store", place)
    assert found["quantities"][0]["differs"] is True
    assert found["runs"][0]["id"] == "run-4000-2"


@pytest.mark.parametrize(
    ("query", "status", "words"),
    [
        ("run=run-1000-2&run=gone", 404, "gone is not in the store: it was removed"),
        ("run=run-1000-2&run=run-1000-2", 200, "Choose at least two runs"),
        ("", 200, "Choose at least two runs"),
        ("&".join(f"run=r{n}" for n in range(9)), 400, "expected 2 to 8"),
        ("run=run-1000-2&run=..%2F..%2Fetc%2Fpasswd", 404, "not in the store"),
        ("run=run-1000-2&run=a%20b", 400, "expected the id of a row"),
        ("run=run-1000-2&run=run-", 404, "write more of the one you mean"),
    ],
)
def test_what_cannot_be_compared_is_a_sentence(browser, query, status, words):
    answer = browser.get(f"/compare?{query}")
    assert answer.status_code == status
    assert words in text_of(answer.text)


def test_a_run_that_was_removed_meanwhile_is_a_sentence(place, browser):
    with open_store(place) as store:
        store.remove(["again-1"])
    answer = browser.get("/api/compare?run=run-1000-2&run=again-1")
    assert answer.status_code == 404
    assert "leave it out and compare the others" in answer.json()["detail"]
    assert run(["store", "compare", "run-1000-2", "again-1", "--store", place]) == 3


def test_other_fields_may_not_be_given_twice(browser):
    assert browser.get("/runs?app=a&app=b").status_code == 400
    assert browser.get("/compare?run=a&run=b&" + "run=c&" * 60).status_code == 400


def test_boxes_in_the_list_lead_to_the_comparison(browser):
    page = browser.get("/runs?where=n=1000:2000,ranks=2").text
    (form,) = re.findall(
        r'<form class="choice" action="/compare".*?</form>', page, re.S
    )
    values = [unescape(one) for one in re.findall(r'name="run" value="([^"]*)"', form)]
    assert sorted(values) == ["again-0", "again-1", "again-2", "run-1000-2",
                              "run-2000-2"]  # fmt: skip
    assert 'method="get"' in form
    query = "&".join(f"run={one}" for one in values)
    assert browser.get(f"/compare?{query}").status_code == 200


def test_columns_are_chosen_and_stay_in_the_links(browser):
    query = "app=heat&where=n=1000:2000&column=input.n&column=executable&column=time_s"
    page = browser.get(f"/runs?{query}").text
    head = re.findall(r'<th scope="col"[^>]*>(.*?)</th>', page)
    assert [text_of(one) for one in head] == ["run", "n", "executable", "time"]
    links = [one for one in Tags(page).links if "order=time_s" in one]
    assert links == [
        "/runs?app=heat&where=n%3D1000%3A2000&column=input.n&column=executable"
        "&column=time_s&order=time_s"
    ]
    assert "abc123def456" in page
    assert 'value="input.solver"' in page
    sorted_page = browser.get(links[0])
    assert 'aria-sort="ascending"' in sorted_page.text


@pytest.mark.parametrize(
    ("query", "words"),
    [
        ("column=none", "expected one of started"),
        ("column=input.", "expected one of started"),
        ("where=n=5:1", "the smaller end first"),
        ("&".join(f"column=input.x{n}" for n in range(31)), "at most 30"),
    ],
)
def test_columns_and_ranges_that_cannot_be_are_a_sentence(browser, query, words):
    answer = browser.get(f"/runs?{query}")
    assert answer.status_code == 400
    assert words in text_of(answer.text)


def test_the_command_prints_a_table_and_the_sentence(place, capsys):
    assert run(["store", "compare", "again-0", "run-4000-2", "--store", place]) == 0
    out = capsys.readouterr().out
    assert "differs" in out
    assert "more than the spread of 3.3%" in out


def test_a_range_is_the_same_on_the_command_line(said, place, browser):
    wanted = said("store", "list", "--store", place, "--where", "n=1500:3000")
    found = browser.get("/api/runs?where=n=1500:3000").json()
    ids = [one["id"] for one in wanted["runs"]]
    assert sorted(ids) == sorted(one["id"] for one in found["runs"])
    assert {one["inputs"]["n"] for one in wanted["runs"]} == {2000.0, 3000.0}
