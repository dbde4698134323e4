"""Fold a string of symbols into nested loops, and expand it again.

In: the int32 symbols of one rank. Out: a `Nest` that expands to the same string.
Paper: Sodhi and Subhlok 2005, section III-B, identification of cycles.
"""

from skelgen.loops.kernel import fold
from skelgen.loops.skips import fold_alike, fold_with_skips
from skelgen.loops.types import Nest
from skelgen.loops.unfold import expand, positions
from skelgen.loops.views import children, same, trip_rows

__all__ = [
    "Nest",
    "children",
    "expand",
    "fold",
    "fold_alike",
    "fold_with_skips",
    "positions",
    "same",
    "trip_rows",
]
