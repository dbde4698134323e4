"""The table of functions as the generator of the wrappers reads it."""

from __future__ import annotations

import sys

from tests.shim.conftest import SOURCES

sys.path.insert(0, str(SOURCES))

from wrapper_table import Argument, Function, parse_argument, read_table

__all__ = ["COUNTED", "Argument", "Function", "parse_argument", "read_table"]

#: Kinds whose calls are counted and not recorded.
COUNTED = ("local", "passed")
