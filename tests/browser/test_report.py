"""The page that a command leaves in a folder, opened as a file in a real browser."""

from __future__ import annotations

import re
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest

from skelgen.timeline import timeline_of
from skelgen.web.page import page_of
from skelgen.web.render import render_page
from tests.browsers import LAPTOP, PHONE, Tab
from tests.golden.rewrite import signature_of
from tests.needs import needs_browser
from tests.timelines import FUNCTIONS, run_of

pytestmark = needs_browser

SIGNATURE = """
ranks 4
rank *
  repeat 50 {
    9000 Isend to=+1 tag=1 bytes=8 as=out
    90 Irecv from=-1 tag=1 bytes=8 as=in
    90 Waitall of=out,in
    9000 Allreduce bytes=8 op=1
  }
"""
BAD = "</script><img src=x onerror=alert(1)>"
#: How many colours the first row of the canvas has, without shades of edges.
_COLOURS = """canvas => {
    const pen = canvas.getContext('2d', {willReadFrequently: true})
    const {data} = pen.getImageData(60, 0, canvas.width - 60, 40)
    const found = new Map()
    for (let i = 0; i < data.length; i += 4) {
        const colour = data.slice(i, i + 4).join(' ')
        found.set(colour, (found.get(colour) || 0) + 1)
    }
    return [...found.values()].filter(times => times > 100).length
}"""


@pytest.fixture(scope="module")
def report(tmp_path_factory) -> Path:
    """Write the page of a run of four ranks, one of which ends early."""
    rng = np.random.default_rng(4)
    calls = rng.integers((100, 50, 0), (90_000, 30_000, 4), (2000, 3)).tolist()
    functions = (*FUNCTIONS[:3], BAD)
    events = run_of([calls, calls, calls, calls[:900]], functions=functions)
    timeline = timeline_of(events, rng.integers(0, 9000, len(events.calls)))
    made = page_of(signature_of(SIGNATURE, BAD), timeline=timeline)
    path = tmp_path_factory.mktemp("report") / "report.html"
    path.write_text(render_page(made))
    return path


@contextmanager
def opened(browser, report: Path, size=LAPTOP, **options):
    context = browser.browser.new_context(
        viewport={"width": size[0], "height": size[1]}, **options
    )
    tab = Tab(context, "file://")  # no server
    tab.page.goto(f"file://{report}")
    if options.get("java_script_enabled", True):
        tab.page.wait_for_selector("#run-timeline.live")
    try:
        yield tab
    finally:
        context.close()
    assert not tab.faults, tab.faults
    assert len(tab.requests) == 1


def said(tab) -> str:
    return tab.page.locator("#run-timeline .said").text_content()


@pytest.mark.parametrize("size", [PHONE, LAPTOP])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_page_fits_and_is_for_all_eyes(browser, report, size, scheme):
    with opened(browser, report, size, color_scheme=scheme) as tab:
        assert tab.sideways() <= 0
        assert tab.barriers() == []
        assert tab.page.locator("canvas").evaluate(_COLOURS) > 3
        tab.picture(f"report-{size[0]}-{scheme}")


def test_the_timeline_zooms_by_keys_to_a_single_call(browser, report):
    with opened(browser, report) as tab:
        canvas = tab.page.locator("#run-timeline canvas")
        canvas.focus()
        for _ in range(11):
            tab.page.keyboard.press("+")
        assert said(tab).startswith("rank 0, ")
        whole = re.fullmatch(r"rank 0, [\d.]+ s: (.+), [\d.]+ (µs|ns)", said(tab))
        assert whole, said(tab)
        tab.page.keyboard.press("ArrowDown")
        assert said(tab).startswith("rank 1, ")
        before = said(tab)
        tab.page.keyboard.press("ArrowRight")
        assert said(tab) != before
        tab.page.keyboard.press("Home")
        assert " %" in said(tab)
        tab.picture("report-keys")


def test_the_timeline_zooms_by_wheel_buttons_and_moves_by_dragging(browser, report):
    with opened(browser, report) as tab:
        canvas = tab.page.locator("#run-timeline canvas")
        canvas.scroll_into_view_if_needed()
        box = canvas.bounding_box()
        x, y = box["x"] + box["width"] / 2, box["y"] + 20
        tab.page.mouse.move(x, y)
        whole = said(tab)
        tab.page.mouse.click(x, y)
        for _ in range(30):
            tab.page.mouse.wheel(0, -100)
        tab.page.wait_for_timeout(200)
        tab.page.mouse.move(x + 1, y)
        deep = said(tab)
        assert len(deep.split(" s:")[0]) > len(whole.split(" s:")[0])
        tab.page.mouse.move(x, y)
        tab.page.mouse.down()
        tab.page.mouse.move(x - 200, y, steps=4)
        tab.page.mouse.up()
        tab.page.mouse.move(x, y)
        assert said(tab) != deep
        tab.page.get_by_role("button", name="whole run").click()
        box = canvas.bounding_box()
        tab.page.mouse.move(box["x"] + box["width"] / 2, box["y"] + 20)
        assert said(tab) == whole


def test_two_fingers_zoom(browser, report):
    with opened(browser, report, PHONE, has_touch=True) as tab:
        tab.page.locator("#run-timeline canvas").scroll_into_view_if_needed()
        tab.page.locator("#run-timeline canvas").evaluate("""canvas => {
            const box = canvas.getBoundingClientRect()
            const send = (kind, id, x) => canvas.dispatchEvent(new PointerEvent(kind, {
                pointerId: id, clientX: box.left + x, clientY: box.top + 10,
                bubbles: true, pointerType: 'touch'}))
            canvas.setPointerCapture = () => {}
            send('pointerdown', 1, 150); send('pointerdown', 2, 170)
            for (let x = 170; x < 320; x += 10) send('pointermove', 2, x)
            send('pointerup', 2, 320); send('pointerup', 1, 150)
            send('pointermove', 3, 200)
        }""")
        digits = re.match(r"rank 0, \d+\.(\d+) s", said(tab))
        assert digits
        assert len(digits[1]) >= 5


def test_a_hostile_name_is_text(browser, report):
    with opened(browser, report) as tab:
        assert tab.page.locator("img").count() == 0
        tab.page.locator("#run-timeline canvas").focus()
        for _ in range(11):
            tab.page.keyboard.press("=")
        names = set()
        for _ in range(40):
            tab.page.keyboard.press("ArrowRight")
            names.add(said(tab).split(" s: ")[1])
        assert any(name.startswith(BAD) for name in names)


def test_without_javascript_the_whole_run_is_a_picture_and_a_table(browser, report):
    with opened(browser, report, java_script_enabled=False) as tab:
        assert tab.page.locator("#run-timeline canvas").is_hidden()
        picture = tab.page.locator("#run-timeline .drawn")
        assert picture.is_visible()
        assert picture.bounding_box()["width"] > 900
        tab.page.get_by_text("Table of the ranks").click()
        assert tab.page.locator("#run-timeline table tr").count() == 5
        assert tab.page.locator(".loops svg").count() == 2  # the run and its loop
        assert tab.page.locator(".loops svg").first.is_visible()
        assert tab.page.locator("figure.matrix .drawn").is_visible()
        tab.page.get_by_text("Table of the messages").click()
        assert tab.page.locator("figure.matrix table tr").count() == 5
        tab.picture("report-without-javascript")
