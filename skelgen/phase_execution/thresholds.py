"""Decide when executing phases pays and what it tells: all judgements of this stage.

What is measured unless people ask for more is judged where phases are found, which
chooses them for it (`skelgen.phases.thresholds`). A value without a measurement says
so.
"""

from __future__ import annotations

#: Share of the application's time from which on measuring its phases does not pay [1]:
#: three runs of them take as long as the application. A judgement, not measured.
LARGEST_PAYING_SHARE = 0.3

#: Share of the application's time up to which more is measured where that is not known
#: well [1]: with what launching takes it is at most a tenth of a run of 10 s.
LARGEST_SAMPLED_SHARE = 0.08

#: Standard error of the sampled time that is known well [1]: half of what machines make
#: of their own. A judgement, not measured.
SMALL_SAMPLING_ERROR = 0.025

#: For so many measured times the spread in the recording counts beside their own, but
#: as no more than machines make where several were measured. A judgement, not measured.
RECORDED_TIMES_ASSUMED = 1

#: Into so many parts what was measured is divided to see how noisy the machine is. A
#: judgement, not measured.
BLOCKS_OF_NOISE = 5

#: How often the machine's speed is probed while occurrences are measured: each probe
#: takes about a millisecond. A judgement, not measured.
PROBES = 8

#: For so many of these the usual noise of machines counts beside what they show. A
#: judgement, not measured.
EXPECTED_NOISE_WORTH = 4.0

#: What was measured differs from the whole run by up to this many times what its parts
#: differ by [1], where the recording drifted by as much. A judgement, not measured.
LONG_NOISE_FACTOR = 1.5
