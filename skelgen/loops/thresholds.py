"""Decide which readings of a string are tried: all judgements of this stage.

A value without a measurement says so.
"""

from __future__ import annotations

#: Readings of a string whose loops stand inside each other this deep, and deeper. A
#: judgement, not measured.
MOST_READ_DEPTH = 6

#: Nests with at most so many items are small: their strings are quickly read, and their
#: skeletons have at most some 3,000 lines. A judgement, not measured.
FEW_ITEMS = 1000

#: So are those with less than one item for so many symbols. A judgement, not measured.
SYMBOLS_PER_FOLDED_ITEM = 8

#: A nest with more items than this for each of its symbols seems to be torn. A
#: judgement, not measured.
TORN_ITEMS_PER_SYMBOL = 2

#: Calls that come less often than this share of iterations are no part of them. A
#: judgement, not measured.
LEAST_COMMON_SHARE = 0.02

#: Calls come regularly where they and their anchors fold into a nest with at most this
#: many items and trip counts for each exception. A judgement, not measured.
LARGEST_PATTERN_SHARE = 0.25

#: More different tokens than this are not ordered. A judgement, not measured.
MOST_TOKENS = 64

#: Rounds times tokens, for each symbol of the string. A judgement, not measured.
MOST_ROUND_ENTRIES = 16
