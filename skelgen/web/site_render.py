"""Turn a page of the server into HTML."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from skelgen import _paths
from skelgen.documents.text_of_bytes import shown, visible
from skelgen.rendering.templates import TextKind, filled
from skelgen.web.site import SitePage

_FOLDER = "web/server"

#: What the navigation leads to: address, and what it is called.
NAVIGATION = (
    ("/", "Overview"),
    ("/applications", "Applications"),
    ("/runs", "Runs"),
    ("/models", "Models"),
    ("/predictions", "Predictions"),
    ("/systems", "Systems"),
    ("/loads", "Loads"),
    ("/ask", "How long?"),
)


@dataclass(frozen=True, slots=True)
class Frame:
    """What stands around every page.

    Attributes
    ----------
    prefix : str
        Before each address.
    visitor : str
        Name of the token; empty where nobody is known.
    right : str
        What it allows.
    form : str
        Second token of forms.
    store : str
        Which store is shown.
    """

    prefix: str = ""
    visitor: str = ""
    right: str = ""
    form: str = ""
    store: str = ""


def render_site(page: SitePage, frame: Frame) -> bytes:
    """Lay a page out as HTML, the same for the same page."""
    values = {"page": page, "frame": frame, "navigation": NAVIGATION}
    text = filled(TextKind.HTML, _FOLDER, "page.html.j2", values)
    return visible(shown(text)).encode("utf-8", "replace")


def style_sheet() -> bytes:
    """Return the style of all pages."""
    return (_folder() / "style.css").read_bytes()


def script() -> bytes:
    """Return the script that pages have who need one."""
    names = ("dropping.js", "turning.js")
    return b"".join((_folder() / name).read_bytes() for name in names)


def icon() -> bytes:
    """Return the picture for a browser's tab."""
    return (_folder() / "icon.svg").read_bytes()


def _folder() -> Path:
    return _paths.templates() / _FOLDER
