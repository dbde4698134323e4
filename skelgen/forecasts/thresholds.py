"""Decide which forecast is chosen and when it is doubted: judgements of this stage.

A value without a measurement says so. Widths, gains and horizons of the experts stand
with these, in `skelgen.forecasts.experts`.
"""

from __future__ import annotations

#: How often in a history the coefficients of AR(p) are brought up to date. A judgement,
#: not measured.
AUTOREGRESSION_UPDATES = 16

#: Moments of the past at which the default lets experts forecast. A judgement, not
#: measured: more take longer.
MOST_POSTCASTS = 600

#: Of so many parts of a history one goes to the cells before the first moment at most,
#: and one of what is left to a horizon [1]. A judgement, not measured.
JUDGED_PARTS = 4

#: A daily pattern counts from so long a history on [days]: a week has each day once. A
#: judgement, not measured.
FEWEST_DAYS_OF_DAILY = 7

#: Part of a horizon that has to be known for a comparison [1]. A judgement, not
#: measured.
LEAST_KNOWN_OF_HORIZON = 0.8

#: A history of fewer cells has no past to forecast. A judgement, not measured.
FEWEST_CELLS = 8

#: Past days that are averaged [days]. A judgement, not measured.
DAYS_AVERAGED = 7

#: And that the first moment has before it [days]. A judgement, not measured.
FEWEST_DAYS_AVERAGED = 3

#: Part of a day over which what is usual at a time is averaged [1]: an hour. A
#: judgement, not measured.
USUAL_PART_OF_DAY = 1 / 24

#: Share that a trimmed mean leaves out at each end [1]. A judgement, not measured.
TRIMMED_SHARE = 0.3

#: Cells that AR(p) looks back. A judgement, not measured.
AUTOREGRESSION_ORDER = 8

#: Cells that AR(p) needs: four for each coefficient. A judgement, not measured.
FEWEST_CELLS_OF_ORDER = 32

#: A history that holds fewer horizons is doubted [1]. A judgement, not measured.
FEWEST_HORIZONS = 8.0

#: A history of which less is known is doubted [1]. A judgement, not measured.
LEAST_KNOWN_OF_HISTORY = 0.8

#: With more samples missing at its end a history is doubted. A judgement, not measured.
MOST_SAMPLES_MISSING = 5

#: Part of the time for which what happened has to be known [1]. A judgement, not
#: measured.
LEAST_KNOWN_OF_HAPPENED = 0.8

#: Resamples of the bootstrap. A judgement, not measured.
RESAMPLES = 200

#: Part of the cases outside an interval on each side [1]. A choice: intervals are of 90
#: % throughout.
OUTSIDE_SHARE = 0.05

#: Of fewer independent errors than 19 not even the smallest is small enough: it is
#: moved away from the median by this part of what is missing [1]. A judgement, not
#: measured.
BEYOND_SMALLEST = 0.5

#: Cells of a horizon that are wanted. A judgement, not measured.
CELLS_PER_HORIZON = 10

#: Cells of a history that are wanted: a forecast from so many takes 13 ms
#: (docs/forecast.md).
CELLS_PER_HISTORY = 10_000

#: Cells of a history at most. A judgement, not measured.
MOST_CELLS = 20_000

#: A sample counts for so many times what is usual between samples, at most [1]. As for
#: averages of the monitor; a judgement, not measured.
LONGEST_SAMPLE_SPAN = 3.0

#: Intervals of which the usual one is the median. A judgement, not measured.
INTERVALS_AROUND = 5

#: Part of a cell that samples cover, at least, for it to be known [1]. A judgement, not
#: measured.
LEAST_COVERED = 0.5

#: Part of the range by which a value may lie outside, as rounding makes it [1]. A
#: judgement, not measured.
LARGEST_EXCESS = 0.05

#: How often in a history the median of all cells so far is brought up to date. A
#: judgement, not measured.
MEDIAN_UPDATES = 64

#: Errors by which an adaptive window is chosen. A judgement, not measured.
RECENT_ERRORS = 20
