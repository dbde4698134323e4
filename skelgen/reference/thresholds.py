"""Decide how this machine is measured: all judgements of this stage.

A value without a measurement says so.
"""

from __future__ import annotations

#: How often each part is measured, quiet and beside each competitor. A judgement, not
#: measured.
ROUNDS_BESIDE_COMPETITORS = 7

#: The mixture of parts is measured so many times as often [1]. A judgement, not
#: measured.
MIXTURE_ROUNDS_FACTOR = 3

#: Measured: repeated measurements of a slowdown differ by so much [1]
#: (docs/skeleton.md).
SLOWDOWN_NOISE = 0.02

#: Smaller shares of a mixture are left out [1]. A judgement, not measured.
LEAST_MIX_SHARE = 0.005

#: A skeleton's working set is at most so large [bytes]: well beyond all caches, larger
#: ones are as slow. A judgement, not measured.
LARGEST_SET_BYTES = 128 << 20

#: Slowdowns below this tell nothing of how parts add up [1]. A judgement, not measured.
LEAST_EXCESS = 0.005

#: Mixtures that are measured for a working set. A judgement, not measured.
MOST_MIXTURES = 4

#: Working sets that are tried. A judgement, not measured.
MOST_WORKING_SETS = 2

#: Competitors that take turns change at the earliest after this [s]: caches are full
#: again, and a core shared, after a few milliseconds. A judgement, not measured.
SHORTEST_COMPETITION_S = 0.2

#: Sizes of working sets in which streaming is measured, for each doubling: a recording
#: takes the nearest one, at most 9 % away. A judgement, not measured.
SET_SIZES_PER_OCTAVE = 4

#: A turn has room for so many of the longest computations that count [1]: few of them
#: then lie in two turns. A judgement, not measured.
GAPS_IN_TURN = 8.0

#: Turns of each competitor that tell their spread. A judgement, not measured.
FEWEST_TURNS = 3

#: The begin of a turn that is left out [ns]: caches are still as before. A judgement,
#: not measured.
SETTLING_NS = 5_000_000

#: Computations of one kind that are compared with others. A judgement, not measured.
FEWEST_GAPS = 3

#: Share of the computation that turns must show to stand for all of it [1]. A
#: judgement, not measured.
LEAST_SHARE_IN_TURNS = 0.7

#: A slowdown that is known so well needs no further run [1]: half of what nothing tells
#: apart. A judgement, not measured.
KNOWN_SLOWDOWN = 0.01
