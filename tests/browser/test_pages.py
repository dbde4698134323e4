"""Every page of the table of addresses in a real browser, of a full or empty store."""

from __future__ import annotations

import re
from html.parser import HTMLParser

import pytest

from skelgen.server.routes import ROUTES
from tests.browsers import LAPTOP, PHONE, WALL, is_page
from tests.needs import needs_browser
from tests.processes import comes_true
from tests.route_examples import ASKED, EXAMPLES, addresses, shown_routes

pytestmark = needs_browser

FULL = [path for one in shown_routes() for path in addresses(one)]
#: Of each route the example that shows most; test_recording.py has the other one.
LAST = [
    addresses(one)[-1] for one in shown_routes() if not one.path.endswith("/recording")
]
EMPTY = [
    one.path for one in shown_routes() if "{" not in one.path and one.path not in ASKED
]
#: What is no page, though its name has no dot.
FILES = ("/health",)
#: Pictures and files that need a question: without it they say so.
PICTURES = {one.path for one in shown_routes() if one.query and "." in one.path}
#: Nothing was measured around the runs of the example.
NOTHING = ("/runs/run-1000-2/loads.svg",)
_VISIBLE = "all => all.map(one => one.checkVisibility())"
_INK = "one => getComputedStyle(one).color"
_PAPER = "one => getComputedStyle(one).backgroundColor"


def name_of(path: str) -> str:
    """Return a name of a file for an address."""
    return re.sub("[^a-z0-9]+", "-", path.lower()).strip("-") or "overview"


class _Links(HTMLParser):
    """What the links of a text in HTML lead to."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def handle_starttag(self, tag, attrs) -> None:
        href = dict(attrs).get("href")
        if tag == "a" and href is not None:
            self.found.append(href)


def links_of(text: str) -> list[str]:
    """Return what the links of a page lead to."""
    links = _Links()
    links.feed(text)
    return links.found


def test_every_route_with_braces_has_an_example():
    needed = {one.path for one in shown_routes() if "{" in one.path}
    assert needed <= {*EXAMPLES}
    assert {*EXAMPLES} <= {one.path for one in ROUTES}


def check_page(tab, path: str, name: str = "", sizes=(PHONE, WALL, LAPTOP)) -> bool:
    """Open an address, and look at it as people with other windows and eyes do.

    Return whether it is a page.
    """
    if "." in path.partition("?")[0] or path in FILES:
        asked = tab.ask(path)
        assert not is_page(asked), path
        assert asked.status == 200 or path in PICTURES or path in NOTHING
        return False
    page = tab.page
    assert is_page(tab.open(path))
    assert page.locator("h1").count() == 1
    assert page.title().endswith(" – skelgen")
    assert tab.shifts() == 0
    assert tab.barriers() == []
    for size in sizes:
        tab.resize(size)
        assert tab.sideways() <= 0
        for scheme in ("light", "dark"):
            tab.look(scheme)
            tab.picture(f"{name or name_of(path)}-{size[0]}-{scheme}")
    assert tab.barriers("color-contrast") == []
    return True


def check_still_page(tab, still) -> None:
    """Open the page of a tab without scripts and on paper: it says the same."""
    still.open(tab.path)
    assert still.page.inner_text("main") == tab.page.inner_text("main")
    for form in still.page.locator("main form").all():
        assert form.locator("button").count() >= 1
    still.page.emulate_media(media="print", color_scheme="dark")
    assert still.page.locator("h1").is_visible()
    hidden = still.page.locator("nav, button, input, select, footer")
    assert not any(hidden.evaluate_all(_VISIBLE))
    assert still.page.locator("h1").evaluate(_INK) == "rgb(0, 0, 0)"
    assert still.page.locator("body").evaluate(_PAPER) == "rgb(255, 255, 255)"


@pytest.mark.parametrize("path", FULL)
def test_a_page_is_for_all_eyes_and_windows_without_scripts_and_on_paper(
    browser, site, path
):
    # Other examples of a route have the same parts: the narrowest window tells.
    sizes = (PHONE, WALL, LAPTOP) if path in LAST else (PHONE,)
    with browser.kept_tab(site) as tab:
        if check_page(tab, path, sizes=sizes) and path in LAST:
            with browser.kept_tab(site, script=False) as still:
                check_still_page(tab, still)


@pytest.mark.parametrize("path", EMPTY)
def test_a_page_of_an_empty_store_is_too(browser, empty_site, path):
    with browser.kept_tab(empty_site) as tab:
        check_page(tab, path, f"empty-{name_of(path)}")


def test_the_way_in_and_what_is_not_there_are_pages_too(browser, site):
    with browser.tab(site, token="") as tab:
        check_page(tab, "/enter")
    with browser.tab(site) as tab:
        assert tab.open("/nothing").status == 404
        assert tab.barriers() == []
        (said,) = tab.faults  # Chromium notes each answer that is none
        assert "404" in said
        tab.faults.clear()


def test_all_links_lead_to_a_page_that_answers(browser, site):
    with browser.kept_tab(site) as tab:
        seen, waiting = set(), [one for one in FULL if one not in (*PICTURES, *NOTHING)]
        while waiting and len(seen) < 150:
            path = waiting.pop(0)
            if path in seen:
                continue
            seen.add(path)
            answer = tab.ask(path)
            assert answer.status == 200, path
            if is_page(answer):
                links = links_of(answer.text())
                assert all(one.startswith(("/", "#")) for one in links), path
                waiting += [one for one in links if one.startswith("/")]
        assert len(seen) > len(FULL)


#: Formulas and commands, by how much each is wider than what holds it [px].
_OVER = """() => [
    ...[...document.querySelectorAll('td math')].map(one =>
        one.getBoundingClientRect().right
        - one.closest('td').getBoundingClientRect().right),
    ...[...document.querySelectorAll('main > pre')].map(one =>
        one.scrollWidth - one.clientWidth),
]"""


@pytest.mark.parametrize("size", [LAPTOP, PHONE], ids=["laptop", "phone"])
@pytest.mark.parametrize("path", ["/templates", "/models/heat"])
def test_formulas_and_commands_stay_within_their_cell_and_column(
    browser, site, path, size
):
    with browser.kept_tab(site, size=size) as tab:
        tab.open(path)
        over = tab.page.evaluate(_OVER)
        assert over and max(over) <= 0


#: Of a table: how far its last column is beyond its place [px], and the word for that.
_BEYOND = """one => [
    [...one.querySelectorAll('th')].pop().getBoundingClientRect().right
        - one.getBoundingClientRect().right,
    getComputedStyle(one.querySelector('caption span'), '::after').visibility,
]"""


@pytest.mark.parametrize("path", ["/runs", "/predictions", "/models"])
def test_keys_reach_each_column_on_a_phone_and_a_word_says_that_there_are_more(
    browser, site, path
):
    with browser.kept_tab(site, size=PHONE) as tab:
        tab.open(path)
        table = tab.page.locator(".scroll:has(th)").last
        beyond, word = table.evaluate(_BEYOND)
        assert beyond > 0 and word == "visible"
        table.focus()

        def is_there() -> bool:
            tab.page.keyboard.press("ArrowRight")
            beyond, word = table.evaluate(_BEYOND)
            return beyond <= 1 and word == "hidden"

        assert comes_true(is_there)
        tab.resize(WALL)
        beyond, word = table.evaluate(_BEYOND)
        assert beyond <= 1 and word == "hidden"


def test_a_fault_of_a_page_is_noticed(browser, site):
    """The checks above can fail: a page with each fault fails them."""
    with browser.tab(site) as tab:
        tab.open("/")
        assert tab.barriers() == [] and tab.shifts() == 0 and not tab.faults
        tab.page.evaluate(
            """() => { const main = document.querySelector('main')
            main.insertAdjacentHTML('afterbegin', '<input><p>pale</p>')
            Object.assign(main.querySelector('p').style,
                {minWidth: '3000px', height: '300px', color: '#bbb'}) }"""
        )
        said = " ".join(tab.barriers())
        assert "label: " in said and "color-contrast: " in said
        assert tab.shifts() > 0
        tab.resize(PHONE)
        assert tab.sideways() > 0
        tab.page.evaluate(
            """() => { console.error('wrong'); alert('asked');
            const one = new Image(); one.src = 'http://evil.example/x' }"""
        )
        tab.page.wait_for_timeout(200)
        said = " ".join(tab.faults)
        assert "wrong" in said and "asked" in said and "evil.example" in said
        tab.faults.clear()
