"""Read and fill templates; no other module does."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from enum import Enum
from functools import cache
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from skelgen import _paths
from skelgen.rendering.c_text import c_comment, c_string
from skelgen.units import format_moment, format_seconds


class TextKind(Enum):
    """What a template becomes, which decides what is escaped in it."""

    C = "a program"
    HTML = "a page or a picture"
    MARKDOWN = "a document"


_FILTERS: dict[TextKind, dict[str, Callable[..., str]]] = {
    TextKind.C: {"c_string": c_string, "comment": c_comment},
    TextKind.HTML: {
        "seconds": format_seconds,
        "moment": format_moment,
    },
    TextKind.MARKDOWN: {},
}


def filled(
    kind: TextKind, folder: str | Path, template: str, values: Mapping[str, object]
) -> str:
    """Return the text of a template with its holes filled.

    Parameters
    ----------
    kind : TextKind
    folder : str or Path
        Of the templates: one of ours by its name, such as ``web/server``.
    template : str
    values : mapping of str to object
        One for each hole; a hole without one is an error.
    """
    environment = _environment(kind, _paths.templates() / folder)
    return environment.get_template(template).render(values)


def first_line(kind: TextKind, folder: str, template: str) -> str:
    """Return the first line of a template as it was written."""
    environment = _environment(kind, _paths.templates() / folder)
    assert environment.loader is not None
    source, *_ = environment.loader.get_source(environment, template)
    return source.partition("\n")[0]


@cache
def _environment(kind: TextKind, folder: Path) -> Environment:
    environment = Environment(
        loader=FileSystemLoader(folder),
        undefined=StrictUndefined,
        autoescape=kind is TextKind.HTML,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters.update(_FILTERS[kind])
    return environment
