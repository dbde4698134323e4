"""A newcomer and the filled example: one question, by each way to an answer.

Its pictures are those of docs/web.md:
``SKELGEN_SCREENSHOTS=docs/pictures python -m pytest tests/browser/test_tour.py``.
"""

from __future__ import annotations

import pytest

from tests.browsers import PHONE
from tests.needs import needs_browser

pytestmark = needs_browser

#: Address, name of its picture, and what is to be read there.
TOUR = (
    ("/", "overview", "Last started"),
    ("/runs?app=matrix-product", "runs", "matrix-product"),
    ("/ask?app=matrix-product&at=n%3D1200,ranks%3D8", "ask", "90 %"),
    ("/models/matrix-product", "model", "fitted to"),
    ("/loads?hosts=c1", "loads", "c1"),
    ("/predictions?app=lammps-lj", "predictions", "How good they were"),
)


@pytest.mark.parametrize(("path", "name", "words"), TOUR, ids=[one[1] for one in TOUR])
def test_the_filled_example_has_what_its_page_promises(
    browser, site, path, name, words
):
    with browser.kept_tab(site, size=(1000, 640)) as tab:
        assert tab.open(path).status == 200
        assert words in tab.page.inner_text("main")
        tab.picture(name, whole=False)


def test_it_does_so_on_a_phone_in_the_dark(browser, site):
    with browser.tab(site, size=PHONE, color_scheme="dark") as tab:
        tab.open("/ask?app=matrix-product&at=n%3D1200,ranks%3D8")
        assert "90 %" in tab.page.inner_text(".lead")
        tab.picture("phone", whole=False)
