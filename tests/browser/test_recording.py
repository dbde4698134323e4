"""The page of a recorded run on a server, in a real browser with its strict policy."""

from __future__ import annotations

import pytest

from skelgen.store import StoredRecording, open_store
from skelgen.web.recording_written import document_of
from tests.browsers import LAPTOP, PHONE
from tests.needs import needs_browser
from tests.recordings import made

pytestmark = needs_browser

PAGE = "/runs/run-1000-2/recording"
BAD = "</script><script>alert(1)</script><img src=x onerror=alert(2)>"


@pytest.mark.parametrize("size", [PHONE, LAPTOP])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_it_fits_is_for_all_eyes_and_asks_for_nothing(browser, site, size, scheme):
    with browser.tab(site, size=size, color_scheme=scheme) as tab:
        assert tab.open(PAGE).status == 200
        tab.page.wait_for_selector("#run-timeline.live")
        assert tab.sideways() <= 0
        assert tab.barriers() == []
        assert [one for one in tab.requests if "favicon" not in one] == [
            site.base + PAGE
        ]
        tab.picture(f"recording-{size[0]}-{scheme}")


def test_the_page_of_the_run_leads_to_it_its_timeline_zooms_and_back(browser, site):
    with browser.tab(site) as tab:
        tab.open("/runs/run-1000-2")
        assert "The recorded run took" in tab.page.locator("main").text_content()
        tab.picture("run-recorded")
        tab.page.get_by_role("link", name="open", exact=True).click()
        tab.page.wait_for_selector("#run-timeline.live")
        said = tab.page.locator("#run-timeline .said")
        tab.page.locator("#run-timeline canvas").focus()
        tab.page.keyboard.press("Home")
        whole = said.text_content()
        for _ in range(9):
            tab.page.keyboard.press("+")
        near = said.text_content()
        assert near != whole
        assert near.startswith("rank 0, ")
        tab.page.get_by_role("button", name="whole run").click()
        tab.page.get_by_role("link", name="Back to the run").click()
        assert tab.path == "/runs/run-1000-2"


def test_without_a_script_the_picture_of_the_timeline_is_there(browser, site):
    with browser.tab(site, java_script_enabled=False) as tab:
        tab.open(PAGE)
        assert tab.page.locator("#run-timeline .drawn path").count() >= 3
        assert tab.page.locator("#run-timeline .drawn").is_visible()
        assert not tab.page.locator("#run-timeline canvas").is_visible()
        tab.page.locator("#run-timeline summary").click()
        assert tab.page.locator("#run-timeline td").first.is_visible()
        bars = tab.page.locator("td.bar rect.compute").last
        assert bars.bounding_box()["width"] > 20


@pytest.mark.parametrize("bypass_csp", [False, True])
def test_a_hostile_recording_is_text_and_its_timeline_still_draws(
    browser, own_site, bypass_csp
):
    with open_store(str(own_site.place)) as store:
        store.add([StoredRecording("run-2000-2", document_of(made(BAD)))])
    with browser.tab(own_site, bypass_csp=bypass_csp) as tab:
        for address in ("/runs/run-2000-2", "/runs/run-2000-2/recording"):
            assert tab.open(address).status == 200
            assert BAD in tab.page.locator("body").text_content()
        tab.page.wait_for_selector("#run-timeline.live")
        assert tab.page.locator("img").count() == 0


def test_a_damaged_recording_is_a_sentence(browser, own_site):
    with open_store(str(own_site.place)) as store:
        assert not store.add([StoredRecording("run-3000-8", "AAAA")]).refused
    with browser.tab(own_site) as tab:
        tab.open("/runs/run-3000-8")
        assert (
            tab.page.locator("p.doubt")
            .text_content()
            .startswith("The recording of this run cannot be shown: the recording: ")
        )
        assert tab.barriers() == []
