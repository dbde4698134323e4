"""Decide when executing phases pays and what it tells: all judgements of this stage.

What is measured unless people ask for more is judged where phases are found, which
chooses them for it (`skelgen.phases.thresholds`). A value without a measurement says
so.
"""

from __future__ import annotations

#: Share of the application's time from which on measuring its phases does not pay [1]:
#: three runs of them take as long as the application. A judgement, not measured.
LARGEST_PAYING_SHARE = 0.3

#: Occurrences that differ from the phase's mean in the recording by more standard
#: errors are no fair sample of it [1]: one of twenty does so by chance.
LARGEST_FAIR_ERRORS = 2.0

#: For so many measured times the spread in the recording counts beside their own. A
#: judgement, not measured.
RECORDED_TIMES_ASSUMED = 1
