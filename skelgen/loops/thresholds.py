"""Decide which readings of a string are tried: all judgements of this stage.

A value without a measurement says so.
"""

from __future__ import annotations

#: Readings of a string whose loops stand inside each other this deep, and deeper. A
#: judgement, not measured.
MOST_READ_DEPTH = 6

#: Nests with fewer items than this are small: their strings are quickly read. A
#: judgement, not measured.
FEW_ITEMS = 1000

#: So are those with less than one item for so many symbols. A judgement, not measured.
SYMBOLS_PER_FOLDED_ITEM = 8
