"""Slowdowns of an application beside competitors that come and go while it runs.

Each computation between two calls lies in one turn of the competitors, if it is short.
The same computation comes again and again, in turns with each competitor and in quiet
ones: one run tells what many would. Nothing is assumed of how long the run takes.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from skelgen.errors import MachineError
from skelgen.reference.thresholds import (
    FEWEST_GAPS,
    FEWEST_TURNS,
    GAPS_IN_TURN,
    LEAST_SHARE_IN_TURNS,
    SETTLING_NS,
    SHORTEST_COMPETITION_S,
)

#: A computation between two calls of a rank: when it began and ended, its CPU time
#: [ns], and what is equal for computations that come again.
GAP_DTYPE = np.dtype(
    [
        ("begin_ns", np.int64),
        ("end_ns", np.int64),
        ("cpu_ns", np.int64),
        ("leaf", np.int64),
    ]
)

#: What competes in a turn, by its number.
TURN_KINDS = ("quiet", "arithmetic", "memory")
QUIET = TURN_KINDS.index("quiet")
_KINDS = len(TURN_KINDS)


@dataclass(frozen=True, slots=True, eq=False)
class CompetitorTurns:
    """When competitors came and went.

    Attributes
    ----------
    begin_ns : (n,) int64 array
        Begin of each turn, which ends when the next one begins [ns].
    kind : (n,) int64 array
        What competed in it.
    """

    begin_ns: NDArray[np.int64]
    kind: NDArray[np.int64]

    @classmethod
    def read(cls, path: Path) -> CompetitorTurns:
        """Read the turns that a process of competitors has written down.

        Raises
        ------
        MachineError
            When there are none.
        """
        try:
            rows = [line.split() for line in path.read_text().splitlines()]
            table = np.array(rows, np.int64).reshape(-1, 2)
        except (OSError, ValueError) as error:
            raise MachineError(
                f"the competitors did not write down their turns: {error}"
            ) from error
        return cls(table[:, 1], table[:, 0])


@dataclass(frozen=True, slots=True)
class TurnsSlowdown:
    """Slowdowns that one run showed.

    Attributes
    ----------
    slowdown : tuple of float
        CPU time beside each competitor over that in quiet turns [1].
    uncertainty : float
        Standard error of the worse known one [1].
    covered : float
        Share of the computation that came in turns of all kinds [0 to 1].
    """

    slowdown: tuple[float, float]
    uncertainty: float
    covered: float

    @property
    def enough(self) -> bool:
        """Return whether it stands for the computation of the run."""
        return self.covered >= LEAST_SHARE_IN_TURNS and math.isfinite(self.uncertainty)


def turn_s(gaps: NDArray[np.void], longest_s: float) -> float | None:
    """Return how long a turn should last [s]; None where turns tell nothing.

    Parameters
    ----------
    gaps : (n,) GAP_DTYPE array
        Of a recorded run.
    longest_s : float
        Time of all runs that may be made [s].

    Examples
    --------
    >>> gaps = np.zeros(1000, GAP_DTYPE)
    >>> gaps["cpu_ns"] = 2_000_000
    >>> turn_s(gaps, 6.0)
    0.2
    >>> gaps["cpu_ns"] = 50_000_000
    >>> turn_s(gaps, 20.0), turn_s(gaps, 2.0)
    (0.4, None)
    """
    whole_ns = int(gaps["cpu_ns"].sum())
    if not whole_ns:
        return None
    lengths = np.sort(gaps["cpu_ns"])
    covered = int(np.searchsorted(np.cumsum(lengths), LEAST_SHARE_IN_TURNS * whole_ns))
    wanted_s = GAPS_IN_TURN * float(lengths[min(covered, len(lengths) - 1)]) / 1e9
    lasting_s = max(SHORTEST_COMPETITION_S, wanted_s)
    # Every second turn is quiet, the others take turns among themselves.
    fits = longest_s >= FEWEST_TURNS * 2 * (_KINDS - 1) * lasting_s
    return lasting_s if fits else None


def slowdown_in_turns(gaps: NDArray[np.void], turns: CompetitorTurns) -> TurnsSlowdown:
    """Compare what the same computation takes beside competitors and when quiet.

    Computations that lie in two turns are left out, and the first moment of a turn, in
    which caches still hold what was there before.

    Parameters
    ----------
    gaps : (n,) GAP_DTYPE array
        On the clock of the turns.
    turns : CompetitorTurns
    """
    place = np.searchsorted(turns.begin_ns, gaps["begin_ns"], side="right") - 1
    ends = np.append(turns.begin_ns[1:], np.iinfo(np.int64).max)
    settled = gaps["begin_ns"] >= turns.begin_ns[place] + SETTLING_NS
    ended = gaps["end_ns"] <= ends[place]
    inside = np.asarray((place >= 0) & settled & ended, np.bool_)
    kind = turns.kind[place]
    leaf = np.unique(gaps["leaf"], return_inverse=True)[1]
    leaves = int(leaf.max(initial=-1)) + 1
    cpu_ns = gaps["cpu_ns"].astype(np.float64)
    counts, sums = np.zeros((_KINDS, leaves)), np.zeros((_KINDS, leaves))
    for each in range(_KINDS):
        chosen = inside & (kind == each)
        counts[each] = np.bincount(leaf[chosen], minlength=leaves)
        sums[each] = np.bincount(leaf[chosen], cpu_ns[chosen], leaves)
    known = np.asarray((counts >= FEWEST_GAPS).all(axis=0), np.bool_)
    whole_ns = cpu_ns.sum()
    if not known.any() or not whole_ns:
        return TurnsSlowdown((1.0, 1.0), math.inf, 0.0)
    means = np.divide(sums, counts, out=np.zeros_like(sums), where=known)
    # As the whole run is composed, not as some turns happened to be.
    weights = np.bincount(leaf, minlength=leaves) * known
    times_ns = means @ weights
    errors = _errors(inside & known[leaf], place, kind, cpu_ns, means[QUIET][leaf])
    return TurnsSlowdown(
        (float(times_ns[1] / times_ns[QUIET]), float(times_ns[2] / times_ns[QUIET])),
        max(math.hypot(errors[QUIET], one) for one in errors[1:]),
        float(cpu_ns[known[leaf]].sum() / whole_ns),
    )


def _errors(
    used: NDArray[np.bool_],
    place: NDArray[np.int64],
    kind: NDArray[np.int64],
    cpu_ns: NDArray[np.float64],
    quiet_ns: NDArray[np.float64],
) -> list[float]:
    """Return the relative standard error of each kind of turn [1].

    Turns are compared, not computations: what disturbs one disturbs its neighbours.
    """
    turns = int(place.max()) + 1
    took = np.bincount(place[used], cpu_ns[used], turns)
    expected = np.bincount(place[used], quiet_ns[used], turns)
    of_turn = np.zeros(turns, np.int64)
    of_turn[place[used]] = kind[used]
    found = []
    for each in range(_KINDS):
        mine = (expected > 0) & (of_turn == each)
        if (count := int(mine.sum())) < 2:
            found.append(math.inf)
            continue
        mean = took[mine].sum() / expected[mine].sum()
        weights = expected[mine] / expected[mine].sum()
        off = took[mine] / expected[mine] / mean - 1
        variance = float((weights**2 * off**2).sum()) * count / (count - 1)
        found.append(math.sqrt(variance))
    return found


def together(runs: Sequence[TurnsSlowdown]) -> TurnsSlowdown:
    """Join what several runs showed: each counts by how well it is known.

    Examples
    --------
    >>> one = TurnsSlowdown((1.1, 1.3), 0.01, 0.9)
    >>> both = together([one, TurnsSlowdown((1.3, 1.5), 0.01, 0.8)])
    >>> [round(value, 3) for value in (*both.slowdown, both.uncertainty, both.covered)]
    [1.2, 1.4, 0.007, 0.85]
    """
    weights = np.array([1 / max(one.uncertainty, 1e-6) ** 2 for one in runs])
    weights /= weights.sum()
    first, second = weights @ np.array([one.slowdown for one in runs])
    errors = np.array([one.uncertainty for one in runs])
    return TurnsSlowdown(
        (float(first), float(second)),
        float(math.sqrt(((weights * errors) ** 2).sum())),
        float(np.mean([one.covered for one in runs])),
    )
