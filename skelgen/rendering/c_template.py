"""Fill the templates of skeletons."""

from __future__ import annotations

from skelgen.rendering.c_text import checked
from skelgen.rendering.templates import TextKind, filled, first_line

_FOLDER = "skeleton"


def fill(template: str, **values: object) -> str:
    """Return the text of a template with its holes filled.

    Raises
    ------
    InputError
        When it holds what no program of ours holds.
    """
    return checked(filled(TextKind.C, _FOLDER, template, values))


def stated(template: str) -> dict[str, tuple[str, ...]]:
    """Return what the first line of a template says about it.

    It is a comment such as ``{# needs: series told; includes: string.h #}``; a
    template without one says nothing.
    """
    first = first_line(TextKind.C, _FOLDER, template)
    if not (first.startswith("{# ") and first.endswith(" #}")):
        return {}
    clauses = [clause.partition(": ") for clause in first[3:-3].split("; ")]
    return {name: tuple(words.split()) for name, _, words in clauses}
