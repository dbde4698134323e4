"""Decide what is a phase, and which occurrences are kept: all judgements of this stage.

A value without a measurement says so. `skelgen.phases.Parameters` has what people can
set.
"""

from __future__ import annotations

#: A cluster of fewer occurrences of a structure is noise of the machine [1]. A
#: judgement, not measured.
LEAST_CLUSTER_SHARE = 0.02

#: Into so many parts a run is divided to see how its times drift. A judgement, not
#: measured.
PARTS_OF_DRIFT = 10

#: Loops inside a loop take its place where they are this share of its time [1]. Most of
#: the time is what is in them; a judgement, not measured.
LEAST_INNER_LOOP_SHARE = 0.5

#: A loop of fewer trips, on average, belongs to what stands around it. A judgement, not
#: measured.
FEWEST_TRIPS = 4.0

#: Unless it takes this share of the time of that [1]. A judgement, not measured.
LEAST_FEW_TRIPS_SHARE = 0.3

#: Occurrences that are stored from the first one on, for those who run the program from
#: its start. A judgement, not measured.
FIRST_OCCURRENCES = 64

#: So many of the rest, for those who want to see it all. A judgement, not measured.
SPREAD_OCCURRENCES = 8

#: Occurrences of a phase below which executing it saves nothing to speak of. A
#: judgement, not measured.
FEWEST_OCCURRENCES = 4
