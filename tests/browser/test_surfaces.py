"""Surfaces turn with mouse, finger and keys; without a script they stand still."""

from __future__ import annotations

import pytest

from tests.browsers import LAPTOP, PHONE
from tests.needs import needs_browser
from tests.processes import comes_true

pytestmark = needs_browser

PATH = (
    "/model/template?template=ADDM*N%5E3/(P-1)%2B2*N*SR(L)/(P-1)&system=n1"
    "&at.N=100:10000&at.P=8:64&at.L=1024"
)
#: Corners of all faces, and places of all words.
_DRAWN = """svg => [
    ...[...svg.querySelectorAll('polygon')].map(one => one.getAttribute('points')),
    ...[...svg.querySelectorAll('text')].map(
        one => `${one.getAttribute('x')},${one.getAttribute('y')}`),
]"""


def drawn(svg) -> list[float]:
    """Return all numbers of the picture."""
    texts = svg.evaluate(_DRAWN)
    return [float(one) for text in texts for one in text.replace(" ", ",").split(",")]


def redrawn(svg, before: list[float]) -> list[float]:
    """Return all numbers of the picture when it is another one."""
    assert comes_true(lambda: drawn(svg) != before)
    return drawn(svg)


def is_about(found: list[float], first: list[float]) -> bool:
    """Say whether a script drew what the server drew, to a tenth of a pixel."""
    pairs = zip(found, first, strict=False)
    return len(found) == len(first) and max(abs(a - b) for a, b in pairs) < 0.11


@pytest.mark.parametrize("size", [LAPTOP, PHONE], ids=["laptop", "phone"])
def test_keys_and_the_mouse_turn_a_surface_and_home_turns_it_back(browser, site, size):
    with browser.kept_tab(site, size=size) as tab:
        tab.open(PATH)
        svg = tab.page.locator(".drawing svg")
        first = drawn(svg)
        svg.focus()
        tab.page.keyboard.press("ArrowRight")
        second = redrawn(svg, first)
        tab.page.keyboard.press("ArrowUp")
        third = redrawn(svg, second)
        box = svg.bounding_box()
        tab.page.mouse.move(box["x"] + 100, box["y"] + 100)
        tab.page.mouse.down()
        tab.page.mouse.move(box["x"] + 160, box["y"] + 120)
        tab.page.mouse.up()
        redrawn(svg, third)
        assert not is_about(drawn(svg), first)
        svg.focus()
        tab.page.keyboard.press("Home")
        assert comes_true(lambda: is_about(drawn(svg), first))
        assert len(first) > 3000
        assert tab.page.get_by_text("Turn it with the mouse").count() == 1
        assert not tab.faults


def test_without_a_script_a_surface_is_a_picture_and_a_table(browser, site):
    with browser.kept_tab(site, script=False) as tab:
        tab.open(PATH)
        svg = tab.page.locator(".drawing svg")
        assert svg.get_attribute("tabindex") is None
        assert svg.locator("polygon").count() == 400
        assert not tab.page.get_by_text("Turn it with").count()
