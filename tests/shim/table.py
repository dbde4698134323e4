"""The table of functions as the generator of the wrappers reads it."""

from __future__ import annotations

import sys

from tests.shim.conftest import SOURCES

sys.path.insert(0, str(SOURCES))

from wrapper_table import Argument, Function, parse_argument, read_table

__all__ = ["Argument", "Function", "is_counted", "parse_argument", "read_table"]


def is_counted(function: Function) -> bool:
    """Say whether calls are counted and not recorded, in a program with MPI_Init."""
    session = function.name in ("MPI_Session_init", "MPI_Session_finalize")
    return session or function.kind in ("local", "passed")
