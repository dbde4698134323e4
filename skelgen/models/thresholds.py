"""Decide which formulas fit, what runs can show, what is doubted: all judgements.

Those of the rooms `families` and `formulas` stand here, too. A value without a
measurement says so. Values that are said to be chosen on simulated runs have seeds
from 1000 on there; the tables that judge them have others (docs/models.md,
intervals).
"""

from __future__ import annotations

#: Formulas that fit about as well are too much alike by this factor [1]. Chosen on
#: simulated runs (docs/models.md, intervals).
DISAGREEMENT_FACTOR = 1.5

#: What nobody has seen is unsure by this for each factor e that it lies ahead: a
#: deviation of logarithms [1]. Chosen on simulated runs.
UNSEEN_DEVIATION = 0.04

#: Deviation of an answer's logarithm at least [1]: no clock is better. Chosen on
#: simulated runs.
LEAST_DEVIATION_OF_ANSWERS = 0.005

#: Noise falls no further than up to this logarithm of a factor of the middle time [1].
#: A judgement, not measured.
LARGEST_FALL_OF_NOISE = 2.0

#: The factor of the normal distribution counts as so many runs ahead. A
#: judgement, not measured.
NORMAL_FACTOR_RUNS = 6

#: The factor of intervals is at least this part of the normal one [1], which is 1.15.
#: Chosen on simulated runs.
LEAST_INTERVAL_FACTOR = 0.7

#: Configurations of which a fold must have seen more: with fewer its misses say
#: nothing. A judgement, not measured.
FEWEST_PLACES_OF_FOLD = 4

#: Noise above this is all the same [1]: it says nothing. A judgement, not measured.
LARGEST_NOISE = 100.0

#: Factor beyond the runs that is asked without doubt where nothing else was tested [1].
#: Chosen on simulated runs (docs/models.md, intervals).
UNDOUBTED_FACTOR_AHEAD = 4.0

#: Half of an interval as a logarithm above which a change of regime is doubted [1]: an
#: error above 20 % then has a probability of a third.
WIDEST_AFTER_CHANGE = 0.3

#: Sizes at which all kernels ran; fewer do not tell whether their models are wrong
#: together. A judgement, not measured.
FEWEST_KERNEL_PLACES = 4

#: Spread of a run where nothing was measured twice [1], as `store expect` takes it. A
#: judgement, not measured.
UNREPEATED_SPREAD = 0.15

#: No interval is wider to one side: a logarithm of a factor [1]. A judgement, not
#: measured.
WIDEST_HALF_INTERVAL = 5.0

#: Where nobody says how far, sizes and ranks of a next run go up to so many times the
#: largest [1]. A judgement, not measured.
NEXT_RUN_AHEAD = 2.0

#: The cheapest run is chosen of those that tell at least this part of the most [1]. A
#: judgement; what follows from it is measured (docs/models.md, `model next`).
LEAST_SHARE_OF_GAIN = 0.5

#: No run can narrow intervals by less than this and be worth it [1]. A judgement, not
#: measured.
LEAST_GAIN = 1e-4

#: A tenfold cost must lower the uncertainty by 10 ** this as much more [1]. A
#: judgement, not measured.
COST_POWER = 0.1

#: Part of a range, on a logarithmic scale, within which a second point tells little
#: [1]. A judgement, not measured.
NEAR_RECORDED = 1 / 16

#: Errors go with a column from this rank correlation on [1]. A judgement, not measured.
LEAST_CORRELATION = 0.5

#: And from so many deviations of chance (Student's t) [1]. A judgement, not measured.
LEAST_SURE_CORRELATION = 3.0

#: Fewer runs cannot show that errors go with something. A judgement, not measured.
FEWEST_CORRELATED = 6

#: A neighbour nearer than this factor is a repeat [1]. A judgement, not measured.
LARGEST_REPEAT_FACTOR = 1.08

#: A count farther than this from a whole number is told [1]. A judgement, not measured.
LARGEST_FRACTION = 0.05

#: A value that is so many times its next one is far from it [1]. A judgement,
#: not measured.
LEAST_ODD_GAP = 100.0

#: And the gap is so many times as wide as all others are together, in logarithms [1]. A
#: judgement, not measured.
LEAST_ODD_SPANS = 3.0

#: So many others lie together before one is far from them. A judgement, not measured.
FEWEST_OTHERS = 3

#: More than this part of the runs are no mistake [1]. A judgement, not measured.
LARGEST_ODD_SHARE = 0.2

#: A value is no such quantity as others if the formula misses it by this factor [1]. A
#: judgement, not measured.
LEAST_ODD_MISS = 30.0

#: And by so many times what it misses half of the runs by, in logarithms [1]. A
#: judgement, not measured.
LEAST_ODD_NOISES = 10.0

#: So many values of an input at least show a change of regime. A judgement, not
#: measured.
FEWEST_VALUES_OF_CHANGE = 4

#: So many of them stay after it, at least. A judgement, not measured.
FEWEST_AFTER_CHANGE = 2

#: With fewer runs nothing says whether one factor of a system is enough. A judgement,
#: not measured.
FEWEST_RUNS_ON_SYSTEM = 3

#: Errors of runs left out up to so many deviations of the noise are no misfit [1]. A
#: judgement, not measured.
LARGEST_NOISES_OF_FIT = 2.5

#: A relative error up to this is never a misfit [1]. A judgement, not measured.
LEAST_MISFIT = 0.05

#: Factor within which a predicted time and the horizon of its forecast agree [1]. A
#: judgement, not measured.
AGREEING_HORIZON = 1.01

#: Where they never do, so many of the last rounds count. A judgement, not measured.
LAST_ROUNDS = 6

#: Others never take all of a resource: a scheduler gives a new process this share [1].
#: A judgement, not measured.
LEAST_LEFT = 0.01

#: A load that the model does not know is doubted where it may cost more than this
#: factor [1]. A judgement, not measured.
LARGEST_UNDOUBTED_COST = 1.1

#: It is told that less is left than in any of the runs where it is less by more than
#: this factor [1]. A judgement, not measured.
LARGEST_BUSIER_FACTOR = 2.0

#: Nothing is surer than this about a load: a deviation of its logarithm [1]. A
#: judgement, not measured.
LEAST_LOAD_SPREAD = 0.05

#: Terms of a sum that is fitted to a fold: one fewer than to all runs, of which a fold
#: has some. A judgement, not measured.
MOST_TERMS_OF_FOLD = 3

#: Deviation of logarithms for each factor e ahead, if one configuration followed a
#: change of regime [1]. Chosen on simulated runs (docs/models.md, intervals).
DEVIATION_AFTER_CHANGE = 0.6

#: Fewer configurations after a change are too few to trust. A judgement, not measured.
FEWEST_TRUSTED_AFTER_CHANGE = 4

#: A change is named where its probability is at least this [1]: it is likelier than
#: not.
LEAST_LIKELY_CHANGE = 0.5

#: After fewer configurations for each input, what a fold misses tells more of how few
#: they are than of the forms. A judgement, not measured.
FEWEST_LEARNT_PER_INPUT = 4

#: Part of a resource that a program gets even where sensors say that none is left [1]:
#: they are noisy, and the smallest of several noisy values is too small. A judgement,
#: not measured.
ALWAYS_LEFT = 0.1

#: Without that part the error must be smaller by this factor [1]. A judgement, not
#: measured.
PLAIN_LOAD_GAIN = 1.25

#: What is known of sums and power laws beforehand counts as so many configurations at
#: twice the size. A judgement, not measured.
PRIOR_CONFIGURATIONS = 3

#: A power law is off by this for each factor e ahead: a deviation of logarithms [1]. A
#: judgement, not measured.
POWER_LAW_DEVIATION = 0.3

#: Normal forms that miss less than this need no help of a power law [1]. A judgement,
#: not measured.
LARGEST_MISS_WITHOUT_HELP = 1e-3

#: Sums that are less likely than this share of the best are not kept [1]. A judgement,
#: not measured.
LEAST_SHARE_OF_SUM = 0.01

#: Runs beyond so many make no sum more certain: they share their errors. A judgement,
#: not measured.
MOST_COUNTED_RUNS = 15

#: Part of the error that an unusual power must gain [1]. A judgement, not measured.
UNUSUAL_POWER_COST = 0.1

#: Part of the error that another term must gain [1]. A judgement, not measured.
ANOTHER_TERM_COST = 0.05

#: Part of the error that a step must gain [1]. A judgement, not measured.
STEP_COST = 0.25

#: Logarithm of the largest factor of a step [1], about ln 2: what differs more is
#: another program. A judgement, not measured.
LARGEST_STEP = 0.7

#: Error of times that counts as none [1]: no clock is better. A judgement, not
#: measured.
ERROR_OF_CLOCKS = 2e-4

#: Larger misses are taken as these [1]: what is linear near 1 is not there. A
#: judgement, not measured.
LARGEST_LINEAR_MISS = 0.9

#: Weight of each squared exponent against the squared error of a run [1]: exponents
#: that runs do not show are 0. A judgement, not measured.
POWER_RIDGE = 1e-4

#: A coefficient belongs to a direction that runs do not show with this part of it [1].
#: A judgement, not measured.
LEAST_PART_OF_DIRECTION = 0.1

#: How unusual a logarithm is, or another power of ranks per node than of nodes, where
#: an unusual power counts 1 [1]. A judgement, not measured.
HALF_UNUSUAL = 0.5

#: Degrees of freedom of Student's distribution: the smaller, the less a run counts that
#: is far off. A judgement, not measured.
FREEDOM_OF_MISSES = 3.0

#: Deviation of runs that is assumed at least [1]: no clock is better. A judgement, not
#: measured.
LEAST_DEVIATION_OF_RUNS = 1e-3

#: With fewer runs nobody can tell which ones are steady. A judgement, not measured.
FEWEST_STEADY = 8

#: A curve that is farther off than this counts as if it were so far off [1]. A
#: judgement, not measured.
LARGEST_CURVE_ERROR = 10.0

#: A higher degree must be better by this part of the error [1]. A judgement, not
#: measured.
HIGHER_DEGREE_GAIN = 0.05

#: Terms of a function of the workload at most, the constant among them. A judgement,
#: not measured.
MOST_TERMS_OF_WORKLOAD = 3

#: What a further term of such a function must gain [1]. A judgement, not measured.
WORKLOAD_TERM_COST = 0.6

#: And a logarithm or a half power in it [1]. A judgement, not measured.
WORKLOAD_ODD_COST = 0.02

#: Candidates less likely than this share of the best are not kept [1]. A judgement, not
#: measured.
LEAST_SHARE_OF_CANDIDATE = 0.02

#: How unusual free exponents are with processes, where an unusual power counts 1 [1]:
#: what is divided among them leaves something that is not. A judgement, not measured.
UNUSUAL_FREE_PARALLEL = 50.0

#: And terms that rise with processes [1]. A judgement, not measured.
UNUSUAL_RISING = 50.0

#: Free exponents are no larger than those of the other terms [1].
LARGEST_FREE_EXPONENT = 4.0

#: By how much of an exponent a logarithm or a root is farther from what is measured
#: [1]. A judgement, not measured.
UNUSUAL_APART = 0.05

#: A knee shows only with so many runs on each side. A judgement, not measured.
FEWEST_BESIDE_KNEE = 3

#: Two pieces must be better than one function by this factor [1]. A judgement, not
#: measured.
KNEE_GAIN = 2.0

#: Runs for a search for complexities: one more than a pair and a constant have
#: coefficients.
FEWEST_FOR_COMPLEXITIES = 4

#: What a function, or a broken exponent, must gain in it [1]. A judgement, not
#: measured.
COMPLEXITY_ODD_COST = 0.02
