"""Fill the templates of pages and pictures."""

from __future__ import annotations

import re

from skelgen.documents.text_of_bytes import shown, visible
from skelgen.rendering import templates
from skelgen.rendering.templates import TextKind

#: How a picture begins that was drawn here.
PICTURE_BEGINS = re.compile(
    rb'\s*<svg xmlns="http://www.w3.org/2000/svg" viewBox="[\d. ]+" '
    rb'font-family="system-ui, sans-serif" font-size="\d+" fill="#5b6b7b">'
)


def filled(template: str, **values: object) -> str:
    """Return a template of pages with its values in it."""
    return visible(shown(templates.filled(TextKind.HTML, "web", template, values)))
