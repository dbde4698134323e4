"""Decide which events are one symbol: all judgements of this stage.

A value without a measurement says so.
"""

from __future__ import annotations

#: The search for a similarity threshold tries multiples of it, one after the other [1].
#: A judgement, not measured.
THRESHOLD_STEP = 0.01

#: Beyond this very different events would be combined [1]. A judgement, not measured
#: here.
LARGEST_THRESHOLD = 0.2

#: Sizes up to this cost as much as one byte does [bytes]. A judgement, not measured.
SMALL_MESSAGE_BYTES = 64

#: Neighbouring sizes of a cluster differ at most by this factor [1]. A judgement, not
#: measured.
LARGEST_SIZE_GAP = 2

#: More different tags than this are numbered anew. A judgement, not measured.
MOST_RECORDED_TAGS = 64

#: So many tags of messages to receives from any source tell what these are. A
#: judgement, not measured.
MOST_TELLING_TAGS = 8

#: Fewer partners than this are alternatives, not a crowd. A judgement, not measured.
FEWEST_VARYING_PARTNERS = 3

#: The nest must shrink by this factor [1]. A judgement, not measured.
LEAST_NEST_SHRINKAGE = 4

#: Partners whose nest has more items than this for each distinct one follow no pattern.
#: A judgement, not measured.
MOST_ITEMS_PER_PARTNER = 4

#: And these more. A judgement, not measured.
FREE_ITEMS = 16

#: Ranks of a call site that are enough to judge by. A judgement, not measured.
ENOUGH_RANKS_OF_SITE = 4

#: Calls of a rank that are enough to judge by. A judgement, not measured.
ENOUGH_CALLS_OF_RANK = 1 << 17

#: A call site that completes everything that is outstanding this often does so where it
#: can [1]. A judgement, not measured.
LEAST_OF_ALL = 0.9
