"""Surfaces turn with mouse, finger and keys; without a script they stand still."""

from __future__ import annotations

import pytest

from tests.browsers import PHONE
from tests.needs import needs_browser

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


@pytest.mark.parametrize("size", [None, PHONE], ids=["laptop", "phone"])
def test_keys_and_the_mouse_turn_a_surface_and_home_turns_it_back(browser, site, size):
    with browser.tab(site) as tab:
        if size:
            tab.resize(size)
        tab.open(PATH)
        svg = tab.page.locator(".drawing svg")
        first = drawn(svg)
        svg.focus()
        tab.page.keyboard.press("ArrowRight")
        tab.page.wait_for_timeout(100)
        second = drawn(svg)
        assert second != first
        tab.page.keyboard.press("ArrowUp")
        box = svg.bounding_box()
        tab.page.mouse.move(box["x"] + 100, box["y"] + 100)
        tab.page.mouse.down()
        tab.page.mouse.move(box["x"] + 160, box["y"] + 120)
        tab.page.mouse.up()
        tab.page.wait_for_timeout(100)
        assert drawn(svg) != second
        svg.focus()
        tab.page.keyboard.press("Home")
        tab.page.wait_for_timeout(100)
        again = drawn(svg)
        assert len(again) == len(first) > 3000
        # What the script draws is what the server drew, to a tenth of a pixel.
        assert max(abs(a - b) for a, b in zip(first, again, strict=True)) < 0.11
        assert tab.page.get_by_text("Turn it with the mouse").count() == 1
        assert not tab.faults


def test_without_a_script_a_surface_is_a_picture_and_a_table(browser, site):
    with browser.tab(site, java_script_enabled=False) as tab:
        tab.open(PATH)
        svg = tab.page.locator(".drawing svg")
        assert svg.get_attribute("tabindex") is None
        assert svg.locator("polygon").count() == 400
        assert not tab.page.get_by_text("Turn it with").count()
