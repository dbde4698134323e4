"""Fill the templates of skeletons."""

from __future__ import annotations

from functools import cache

import jinja2

from skelgen import _paths
from skelgen.rendering.c_text import c_comment, c_string, checked


@cache
def _environment() -> jinja2.Environment:
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(_paths.templates() / "skeleton"),
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        autoescape=False,
    )
    environment.filters |= {"c_string": c_string, "comment": c_comment}
    return environment


def fill(template: str, **values: object) -> str:
    """Return the text of a template with its holes filled.

    Raises
    ------
    InputError
        When it holds what no program of ours holds.
    """
    return checked(_environment().get_template(template).render(**values))


def stated(template: str) -> dict[str, tuple[str, ...]]:
    """Return what the first line of a template says about it.

    It is a comment such as ``{# needs: series told; includes: string.h #}``; a
    template without one says nothing.
    """
    environment = _environment()
    assert environment.loader is not None
    source, *_ = environment.loader.get_source(environment, template)
    first = source.partition("\n")[0]
    if not (first.startswith("{# ") and first.endswith(" #}")):
        return {}
    clauses = [clause.partition(": ") for clause in first[3:-3].split("; ")]
    return {name: tuple(words.split()) for name, _, words in clauses}
