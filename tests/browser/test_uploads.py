"""Files that are chosen or dropped in a real browser are in the store then."""

from __future__ import annotations

import pytest

from skelgen.store import open_store
from tests.browsers import PHONE
from tests.needs import needs_browser

pytestmark = needs_browser

TABLE = "app,time_s,ranks,n\n{app},1.5,2,100\n{app},2.5,4,100\n"
_DROP = """([name, text]) => {
    const found = new DataTransfer()
    found.items.add(new File([text], name, {type: 'text/csv'}))
    for (const kind of ['dragover', 'drop'])
        document.body.dispatchEvent(new DragEvent(
            kind, {bubbles: true, cancelable: true, dataTransfer: found}))
}"""


def added(site, app: str) -> int:
    with open_store(str(site.place), make=False) as store:
        return len(store.runs(app))


@pytest.mark.parametrize("script", [True, False], ids=["script", "no script"])
def test_files_are_chosen_and_what_became_of_them_is_shown(browser, own_site, script):
    app = "chosen" if script else "chosen-still"
    table = TABLE.format(app=app)
    with browser.tab(own_site, size=PHONE, java_script_enabled=script) as tab:
        tab.open("/runs")
        tab.page.get_by_role("link", name="send").click()
        for name, text in (("runs.csv", table), ("bad.csv", "app,time_s\nlu,x\n")):
            file = {"name": name, "mimeType": "text/csv", "buffer": text.encode()}
            tab.page.get_by_label("Files").set_input_files(file)
            tab.page.get_by_role("button", name="Send").click()
            tab.page.get_by_role("heading", name="Files that were sent").wait_for()
            tab.picture(f"sent-{name}-{'script' if script else 'no-script'}")
            if name == "runs.csv":
                assert "2 added, 0 known already, 0 refused." in tab.page.content()
                tab.page.get_by_role("link", name="send").click()
        assert "bad.csv: line 2" in tab.page.content()
        assert "1 refused" in tab.page.content()
        assert tab.sideways() <= 0
    assert added(own_site, app) == 2


def test_files_that_are_dropped_are_sent(browser, own_site):
    with browser.tab(own_site) as tab:
        for words in ("2 added, 0 known", "0 added, 2 known"):
            tab.open("/upload")
            assert not tab.barriers()
            tab.page.evaluate(_DROP, ["runs.csv", TABLE.format(app="dropped")])
            tab.page.get_by_role("heading", name="Files that were sent").wait_for()
            assert words in tab.page.content()
            assert not tab.barriers()
    assert added(own_site, "dropped") == 2
