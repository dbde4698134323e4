"""Fill the templates of skeletons."""

from __future__ import annotations

from functools import cache

import jinja2

from skelgen import _paths


@cache
def _environment() -> jinja2.Environment:
    return jinja2.Environment(
        loader=jinja2.FileSystemLoader(_paths.templates() / "skeleton"),
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        autoescape=False,
    )


def fill(template: str, **values: object) -> str:
    """Return the text of a template with its holes filled."""
    return _environment().get_template(template).render(**values)
