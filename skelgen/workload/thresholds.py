"""Decide which phases of several workloads belong together: judgements of it.

A value without a measurement says so.
"""

from __future__ import annotations

#: Phases of as many events count a little more: where a loop inside another runs the
#: same calls, these tell its iterations from the other's [1]. A judgement, not
#: measured.
OTHER_EVENTS_WEIGHT = 0.9

#: Runs that are as alike are cut as the first of them usually is [1]. A judgement, not
#: measured.
ENOUGH_ALIKE = 0.98

#: A phase that takes less of the time than this everywhere has no function of its own
#: [1]. A judgement, not measured.
LEAST_FITTED_SHARE = 0.01

#: Phases of some workloads only are told from this share of the time on [1]. A
#: judgement, not measured.
LEAST_SWITCHED_SHARE = 0.05

#: Flags of a part that takes less than this of the predicted time, and of that of each
#: point, are not told of the whole, unless they are about the workload itself [1]. A
#: judgement, not measured.
LEAST_FLAGGED_SHARE = 0.02
