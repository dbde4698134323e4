"""How much memory the computation of a run touches."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from skelgen.trace import RankFile
from skelgen.trace.definition_types import Looks
from skelgen.units import seconds

_KIB = 1024
_US_PER_S = 1e6


@dataclass(frozen=True, slots=True)
class Touched:
    """What memory computation touches, mean of all ranks.

    Attributes
    ----------
    bytes_per_us : float
        Memory that a gap between two calls touches, for its length [bytes/us].
    set_bytes : int
        Memory that a rank touches in some 20 ms, its working set [bytes].
    looks : int
        Of the recorder, of all ranks: the more, the better this is known.
    share : float
        Of the computation, in gaps that are long enough for a look [0 to 1]; older
        signatures do not say, and have 1.
    """

    bytes_per_us: float
    set_bytes: int
    looks: int
    share: float = 1.0

    @property
    def mean_bytes_per_us(self) -> float:
        """Return what all computation touches, if short gaps touch nothing [bytes/us].

        Nobody saw what they touch: little fits into them, and caches keep it.
        """
        return self.bytes_per_us * self.share


def touched_of(
    files: Sequence[RankFile], computed_s: float | None = None
) -> Touched | None:
    """Join what the recorder saw of each rank.

    Parameters
    ----------
    files : sequence of RankFile
    computed_s : float, optional
        All computation, where somebody knows it better than the times between calls:
        ranks also compute while they poll [s].

    Returns
    -------
    Touched or None
        None where it saw nothing: the kernel does not tell, the run was short, all
        ranks were killed, or the recorder is older.
    """
    told = [one for f in files if (one := f.definitions.touched) is not None]
    narrow = _sum([one.narrow for one in told])
    broad = _sum([one.broad for one in told])
    if not (narrow.count and narrow.time_us):
        return None
    kib = max(narrow.kib / narrow.count, broad.kib / broad.count if broad.count else 0)
    if computed_s is None:
        computed_s = seconds(
            sum(
                (f.facts.compute_units - f.facts.overhead_units) * f.header.unit_ns
                for f in files
            )
        )
    long_s = seconds(sum(f.facts.long_units * f.header.unit_ns for f in files))
    return Touched(
        bytes_per_us=narrow.kib * _KIB / narrow.time_us,
        set_bytes=round(kib * _KIB),
        looks=narrow.count + broad.count,
        share=min(long_s / computed_s, 1.0) if computed_s > 0 else 0.0,
    )


def looking_s(files: Sequence[RankFile]) -> float:
    """Return the processor time that looking at memory took, all ranks [s]."""
    told = (f.definitions.touched for f in files)
    return sum(one.looking_us for one in told if one is not None) / _US_PER_S


def _sum(looks: Sequence[Looks]) -> Looks:
    return Looks(
        sum(one.count for one in looks),
        sum(one.kib for one in looks),
        sum(one.time_us for one in looks),
    )
