"""How templates of pages and pictures are read: all text in them is escaped."""

from __future__ import annotations

from functools import cache

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from skelgen import _paths


@cache
def environment_of(folder: str) -> Environment:
    """Return what reads the templates of a folder of ours, such as ``web/server``."""
    return Environment(
        loader=FileSystemLoader(_paths.templates() / folder),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
