"""Decide when runs are enough and a prediction is doubted: judgements of this stage.

A value without a measurement says so.
"""

from __future__ import annotations

#: Relative standard deviation of run times above which a machine is not quiet [1]. A
#: judgement, not measured.
LARGEST_QUIET_SPREAD = 0.05

#: A ratio contradicts the recording where it differs more from the expected one [1]. A
#: judgement, not measured.
LARGEST_RATIO_FACTOR = 2.0

#: The same for a skeleton that is too short to be trusted [1]. A judgement, not
#: measured.
LARGEST_RATIO_FACTOR_SHORT = 4.0

#: Runs of a skeleton on a node set before they may stop. A judgement, not measured.
FEWEST_RUNS = 3

#: Part of the allowed width to which the runs on a node set may add at most [1]. Where
#: the calibration limits the interval, further runs do not make it narrower; the value
#: is a judgement, not measured.
LARGEST_OWN_PART = 0.3

#: So few node sets are not thinned: halving would leave one that nothing is compared
#: with.
MOST_SETS_NOT_THINNED = 2

#: Spread of single runs that is assumed at least [1]: nodes that others use. A
#: judgement, not measured.
LEAST_RUN_SPREAD = 0.05

#: Probability of being the best from which further runs of the others tell little [1].
#: A judgement, not measured.
CLEAR_PROBABILITY = 0.95

#: More node sets than that are not measured in any reasonable time. A judgement, not
#: measured.
MOST_NODE_SETS = 100

#: The spread of quiet runs stands for so many runs of each program there. On the node
#: set, which may be noisier, that of the skeleton stands for one. A judgement, not
#: measured.
QUIET_RUNS_ASSUMED = 3

#: Shorter skeletons see a few slices of the scheduler only [s]. A judgement, not
#: measured.
SHORTEST_TRUSTED_S = 0.3

#: Share of the application's time that a trusted skeleton may leave out [1]. A
#: judgement, not measured.
LARGEST_DROPPED_SHARE = 0.02

#: Above it the skeleton computes otherwise than the application [1]. A judgement, not
#: measured.
LARGEST_MIX_ERROR = 0.06

#: A measured ratio is that of another run than the recorded one, with another input,
#: where it differs more from the expected one [1]. A judgement, not measured.
LARGEST_SAME_RUN_FACTOR = 1.5

#: It is doubted from here on [1]. Measured: of one and the same run it was up to 1.1
#: off (docs/accuracy).
LARGEST_UNDOUBTED_FACTOR = 1.15

#: Two estimates of one interval's width from random draws differ by less [1]. A
#: judgement, not measured.
LARGEST_DRAWN_WIDTH_FACTOR = 1.1

#: A run may take this many times the expected time [1]. A judgement, not measured.
PATIENCE_FACTOR = 50.0

#: And as long besides [s]. A judgement, not measured.
PATIENCE_S = 60.0

#: Runs of a shorter skeleton on a set, when there is time for them. A judgement, not
#: measured.
FEWEST_SHORT_RUNS = 2

#: A run is disturbed whose computation takes so many times that of the quick runs of
#: its set [1]. A judgement, not measured.
DISTURBED_FACTOR = 1.1

#: And takes more by so much of the run's time: less would not be seen in it [1]. A
#: judgement, not measured.
LEAST_DISTURBED_SHARE = 0.02

#: For so many runs without a disturbance stands that most machines have few: a load
#: that disturbs a quarter of the runs soon outweighs it. A judgement, not measured;
#: `tests/unit/test_prediction_set_runs.py` simulates what it does.
UNDISTURBED_ASSUMED = 4

#: Most runs that are made again because they were disturbed. A judgement, not measured.
MOST_RUNS_AGAIN = 3

#: Runs are given up when even a spread that is exceeded in so many of all cases leaves
#: the interval too wide [0 to 1]. A judgement, not measured.
OPTIMISTIC_CONFIDENCE = 0.95

#: Nobody makes more runs than that: what takes more is not counted. A judgement, not
#: measured.
MOST_FURTHER_RUNS = 1_000
