"""Decide which trips are told apart, and what is sampled: judgements of this stage.

A value without a measurement says so.
"""

from __future__ import annotations

#: Samples of a leaf and rank. A judgement, not measured.
MOST_SAMPLES = 32

#: A loop is written out when it has at most so many trips, all alike. A judgement, not
#: measured.
MOST_TRIPS_WRITTEN_OUT = 6

#: And so many items. A judgement, not measured.
MOST_ITEMS_WRITTEN_OUT = 24

#: Executions below which a loop is left alone: its trips are no pattern yet. A
#: judgement, not measured.
FEWEST_EXECUTIONS = 4

#: Trips differ when this share of all computation stands in another trip than an
#: average says [1]. A judgement, not measured.
LEAST_MISPLACED_SHARE = 0.005

#: An occurrence is long when it has this share of its rank's computation more than the
#: mean of its leaf [1]. A judgement, not measured.
LEAST_LONG_SHARE = 0.001

#: So many long occurrences are kept of a group of ranks. A judgement, not measured.
MOST_LONG_OCCURRENCES = 20_000
