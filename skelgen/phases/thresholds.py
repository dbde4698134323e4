"""Decide what is a phase, and which occurrences are kept: all judgements of this stage.

A value without a measurement says so. `skelgen.phases.Parameters` has what people can
set.
"""

from __future__ import annotations

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

#: Behind them, stretches are stored up to this share of a phase's time [1]: no longer
#: part of a run is measured in passing. A judgement, not measured.
STRETCHED_SHARE = 0.1

#: So many stretches: each is small beside all, and files stay small. A judgement, not
#: measured.
STRETCHES = 32

#: So many of the rest, for those who want to see it all. A judgement, not measured.
SPREAD_OCCURRENCES = 8

#: Occurrences of a phase below which executing it saves nothing to speak of. A
#: judgement, not measured.
FEWEST_OCCURRENCES = 4

#: No iteration of a loop takes more of the time [1]. A judgement, not measured.
LONGEST_ITERATION_SHARE = 0.99

#: Spread of times that a machine makes of its own [1]: its speed changes by 5 to 10 %
#: from second to second (docs/phases.md, appendix).
MACHINE_SPREAD = 0.05

#: Part of the variance that a division explains at least [1]: it is then worth as much
#: as twice as many measured occurrences. A judgement, not measured.
LEAST_EXPLAINED = 0.5

#: A division by what is less simple has to explain so much more [1]. A judgement, not
#: measured.
SIMPLER_BY = 0.01

#: The longest period in which steps are sought to differ. A judgement, not measured.
LONGEST_PERIOD = 64

#: Occurrences from which divisions are learnt: more take time and tell no more. A
#: judgement, not measured.
LEARNT_OCCURRENCES = 4096

#: Of so many times the largest and the smallest count as the next one [1]: the
#: scheduler interrupts single occurrences. A judgement, not measured.
INTERRUPTED_SHARE = 0.02

#: Neighbours on both sides of a place in the run where times jump. A judgement, not
#: measured.
NEIGHBOURS_OF_JUMP = 8

#: The first occurrence is compared with so many of its phase behind it. A judgement,
#: not measured.
COMPARED_WITH_FIRST = 5

#: But not with fewer than these. A judgement, not measured.
FEWEST_COMPARED = 2

#: Share of the application's time in which `skelgen measure` measures occurrences
#: unless it is told otherwise [1]. With what launching takes it is then less than a
#: tenth of the application's, unless that is short.
MEASURED_SHARE = 0.06

#: It takes longer where not one of each phase with this share of all phases' time is
#: measured by then [1]. What comes later, such as output at the end, is scaled with
#: the rest.
REACHED_SHARE = 0.9

#: First occurrences of a structure, of which caches are cold, that `skelgen measure`
#: leaves out.
COLD_OCCURRENCES = 1

#: A level inside another has to be better by this factor in error squared x cost:
#: spreads of few times are no better known. A judgement, not measured.
BETTER_BY = 2.0
