"""Turn a `Page` into HTML."""

from __future__ import annotations

import base64
from functools import cache
from hashlib import sha256
from typing import TYPE_CHECKING

from skelgen.web.fill import filled
from skelgen.web.regions import EDGES

if TYPE_CHECKING:
    from skelgen.web.page import Page


def render_page(page: Page, home: str = "") -> str:
    """Lay a page out as one HTML document without outside resources.

    Parameters
    ----------
    page : Page
    home : str
        Where a link on top leads; empty: there is none.

    Returns
    -------
    str
        HTML, the same for the same page.
    """
    regions = {
        "answer": page.answer,
        "measured": page.measured,
        "timeline": page.whole_run,
        "phases": page.phases,
    }
    return filled("report.html.j2", page=page, home=home, edges=EDGES, **regions)


@cache
def page_hashes() -> tuple[str, str]:
    """Return what a security policy calls the script and the style of these pages.

    They are those of the templates, whatever a page shows: no other script runs.
    """
    script, style = (
        base64.b64encode(sha256(f"\n{filled(name)}".encode()).digest()).decode()
        for name in ("report_timeline.js.j2", "report_all.css.j2")
    )
    return f"'sha256-{script}'", f"'sha256-{style}'"
