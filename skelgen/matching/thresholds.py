"""Decide what matching tries: all judgements of this stage.

A value without a measurement says so.
"""

from __future__ import annotations

#: More families of communicators of the same ranks than this are tried as one. A
#: program with a few has them for different things, and its calls fold as they are. A
#: judgement, not measured.
MOST_EQUAL_FAMILIES = 16
