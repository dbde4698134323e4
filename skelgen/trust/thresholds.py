"""Decide when an answer is trusted: all judgements of this stage.

A value without a measurement says so.
"""

from __future__ import annotations

#: Spread assumed for a single run [1], where nothing tells it. A judgement, not
#: measured.
SINGLE_RUN_SPREAD = 0.02

#: Part of new applications' predictions whose interval is to hold the truth [1]. A
#: choice: intervals are of 90 % throughout.
INTERVAL_LEVEL = 0.9

#: With fewer applications nothing is learnt about a method. A judgement, not measured.
FEWEST_APPLICATIONS = 3

#: Share of a rank's time from which work that no call shows makes a prediction doubtful
#: [1]. Progress threads of MPI libraries that sleep stay far below it. A judgement; no
#: table has their shares.
LEAST_UNRECORDED_SHARE = 0.01

#: Less than that is not told, however short the run: starting takes as long [s]. A
#: judgement, not measured.
SHORTEST_UNRECORDED_S = 0.01

#: Half width of what was measured above which an answer is not trusted [1]. A
#: judgement, not measured.
LARGEST_HALF_WIDTH = 0.1

#: Share of the time that may be scaled as the rest, without being measured [1]. A
#: judgement, not measured.
LARGEST_UNMEASURED_SHARE = 0.1

#: What was not measured takes between 1/x and x times what it is scaled to, in 90 % of
#: all cases [1]: in 43 of 48 of 12 programs, with the spread of what was measured where
#: that is more (docs/phases.md, benchmarks/unmeasured_time.py).
UNKNOWN_TIME_FACTOR = 2.0

#: Share of the time in which a skeleton may do something else [1]. A judgement, not
#: measured.
LARGEST_UNLIKE_SHARE = 0.02
