"""What people do with the pages, in a real browser, compared with the command line."""

from __future__ import annotations

import json
import shlex
from urllib.parse import parse_qs, urlsplit

import pytest

from skelgen.cli.main import run
from skelgen.units import format_seconds
from tests.browsers import PHONE
from tests.needs import needs_browser

pytestmark = needs_browser


@pytest.fixture
def said(capsys):
    """Return a function that gives what a command prints with --json."""

    def ask(*words: str):
        capsys.readouterr()
        assert run([*words, "--json"]) == 0
        return json.loads(capsys.readouterr().out)

    return ask


@pytest.fixture
def tab(browser, site):
    with browser.kept_tab(site) as found:
        yield found


def test_the_printed_address_leads_in_and_the_token_goes_away(browser, site):
    with browser.tab(site, token="") as tab:
        tab.page.goto(site.url)
        tab.page.wait_for_url(f"{site.base}/")
        assert tab.page.inner_text("h1") == "Overview"
        assert sum(site.token in one for one in tab.requests) == 1
        (cookie,) = tab.context.cookies()
        assert cookie["httpOnly"] and cookie["sameSite"] == "Strict"
        assert site.token not in cookie["value"]
        tab.page.go_back()
        assert site.token not in tab.page.url
        tab.open("/runs")
        assert tab.page.evaluate("document.cookie") == ""
        assert tab.page.evaluate("document.referrer") == ""


def test_a_typed_token_leads_in_and_a_wrong_one_says_why_not(browser, site):
    with browser.tab(site, token="") as tab:
        tab.open("/enter")
        for token in ("wrong", site.token):
            tab.page.get_by_label("Token").fill(token)
            tab.page.get_by_role("button", name="Enter").click()
            if token == "wrong":
                tab.page.get_by_text("this token does not count").wait_for()
                tab.expect_fault("401")
        tab.page.wait_for_url(f"{site.base}/")
        tab.page.get_by_role("button", name="Leave").click()
        tab.page.wait_for_url(f"{site.base}/enter")
        assert tab.open("/runs").status == 401
        tab.expect_fault("401")


@pytest.mark.parametrize("script", [True, False], ids=["script", "no script"])
def test_a_run_is_typed_found_and_removed(browser, own_site, said, script):
    place = str(own_site.place)
    with browser.tab(own_site, size=PHONE, java_script_enabled=script) as tab:
        tab.open("/runs")
        form = tab.page.locator("form[method=post]", has_text="Wall time")
        for label, text in (
            *(("Application", "typed"), ("Wall time", "2min"), ("Ranks", "4")),
            *(("Inputs", "n=77,kind=a b"), ("Hosts", "n7,n8"), ("System", "other")),
        ):
            form.get_by_label(label, exact=True).fill(text)
        tab.picture("type-a-run")
        form.get_by_role("button", name="Add").click()
        tab.page.wait_for_url("**/runs/*")
        assert tab.page.inner_text(".lead") == "typed took 120 s."
        identity = tab.path.rpartition("/")[2]
        kept = said("store", "show", identity, "--store", place)
        assert (kept["time_s"], kept["ranks"], kept["system"]) == (120, 4, "other")
        assert kept["inputs"] == {"n": 77, "kind": "a b"}
        assert kept["hosts"] == ["n7", "n8"]
        tab.page.get_by_role("link", name="Remove this run").click()
        tab.page.wait_for_url("**/remove")
        assert "What is removed is gone" in tab.page.inner_text(".lead")
        tab.page.get_by_role("button", name="Remove").click()
        tab.page.wait_for_url(f"{own_site.base}/runs")
        assert tab.open(f"/runs/{identity}").status == 404
        tab.expect_fault("404")


def test_how_long_has_one_answer_and_it_is_the_commands(tab, site, said, monkeypatch):
    monkeypatch.setenv("SKELGEN_STORE", str(site.place))
    tab.open("/ask")
    tab.page.get_by_label("Application").select_option("heat")
    tab.page.get_by_label("At", exact=True).fill("n=2000,solver=cg,ranks=8")
    tab.page.get_by_role("button", name="Ask").click()
    tab.page.wait_for_url("**/ask?*")
    tab.picture("how-long")
    lead = tab.page.inner_text(".lead")
    words = shlex.split(tab.page.inner_text("pre"))[1:]
    found = said(*words)
    for name in ("expected_s", "p5_s", "p95_s"):
        assert format_seconds(found[name]) in lead
    assert lead.endswith(f"{found['verdict']}.")
    asked = parse_qs(urlsplit(tab.page.url).query)
    assert asked["app"] == ["heat"]
    tab.page.reload()  # a permanent address
    assert tab.page.inner_text(".lead") == lead


def test_runs_are_sorted_by_a_click_and_filtered_by_a_form(tab, site, said):
    tab.open("/runs?app=heat")
    for way in ("ascending", "descending"):
        tab.page.locator("th a", has_text="time").click()
        tab.page.wait_for_url("**/runs?*order=*")
        assert tab.page.locator("th", has_text="time").get_attribute("aria-sort") == way
        links = tab.page.locator("td a[href^='/runs/']")
        shown = links.evaluate_all("all => all.map(one => one.getAttribute('href'))")
        rows = said("store", "list", "--store", str(site.place), "--app", "heat")[
            "runs"
        ]
        times = {f"/runs/{one['id']}": one["time_s"] for one in rows}
        assert len(shown) == len(rows)
        found = [times[one] for one in shown]
        assert found == sorted(found, reverse=way == "descending")
    tab.page.get_by_label("Conditions").fill("n>=2000, ranks=8")
    tab.page.get_by_role("button", name="Show").click()
    tab.page.wait_for_url("**where=n*")
    assert tab.page.locator("tbody tr").count() == 3
    assert tab.page.get_by_label("Conditions").input_value() == "n>=2000, ranks=8"


#: What has the focus: its place among all that can have it, and how that is shown.
_FOCUSED = """() => {
    const all = [...document.querySelectorAll(
        'a[href], button, input:not([type=hidden]), select, summary, [tabindex="0"]')
    ].filter(one => one.checkVisibility())
    const own = getComputedStyle(document.activeElement)
    return [all.indexOf(document.activeElement), all.length,
        own.outlineStyle != 'none' && parseFloat(own.outlineWidth) >= 2]
}"""


@pytest.mark.parametrize("path", ["/", "/runs", "/models/heat", "/ask"])
def test_the_tab_key_reaches_everything_and_shows_where_it_is(tab, path):
    tab.open(path)
    reached = []
    count = 1
    while len(reached) < count:
        tab.page.keyboard.press("Tab")
        place, count, visible = tab.page.evaluate(_FOCUSED)
        assert visible, (path, place)
        reached.append(place)
    assert reached == list(range(count))


def test_a_question_is_asked_by_keys_alone(tab):
    tab.open("/ask")
    tab.page.keyboard.press("Tab")
    tab.page.keyboard.press("Enter")  # to the content, past the navigation
    tab.page.keyboard.press("Tab")
    assert tab.page.evaluate("document.activeElement.name") == "app"
    tab.page.keyboard.type("heat")
    for _ in range(2):
        tab.page.keyboard.press("Tab")
    tab.page.keyboard.type("n=2000,solver=cg,ranks=8")
    tab.page.keyboard.press("Enter")
    tab.page.wait_for_url("**/ask?*app=heat*")
    assert "90 %" in tab.page.inner_text(".lead")


def test_two_people_at_once_see_what_the_other_does(browser, own_site, said):
    reads = said("serve", "token", "add", "reader-of-two")["token"]
    adds = said("serve", "token", "add", "adder-of-two", "--right", "add")["token"]
    try:
        with (
            browser.tab(own_site) as chief,
            browser.tab(own_site, token=adds) as adder,
            browser.tab(own_site, token=reads) as reader,
        ):
            for tab in (chief, adder, reader):
                tab.open("/runs")
            assert reader.page.get_by_role("button", name="Add").count() == 0
            adder.page.locator("form[method=post] [name=app]").fill("both")
            adder.page.locator("form[method=post] [name=time]").fill("3s")
            adder.page.get_by_role("button", name="Add").click()
            adder.page.wait_for_url("**/runs/*")
            for tab in (adder, reader):
                tab.open(adder.path)
                assert tab.page.get_by_role("link", name="Remove").count() == 0
            chief.open(adder.path)
            chief.page.get_by_role("link", name="Remove this run").click()
            chief.page.wait_for_url("**/remove")
            chief.page.get_by_role("button", name="Remove").click()
            chief.page.wait_for_url(f"{own_site.base}/runs")
            for tab in (adder, reader):
                assert tab.page.reload().status == 404
                tab.expect_fault("404")
                assert tab.page.locator(".doubt").count() == 1
            said("serve", "token", "remove", "reader-of-two")
            assert reader.open("/runs").status == 401
            reader.expect_fault("401")
            assert adder.open("/runs").status == 200
    finally:
        for name in ("reader-of-two", "adder-of-two"):
            run(["serve", "token", "remove", name])
