"""Divide occurrences of one structure by what tells beforehand how long they take."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from skelgen.keys import label, rows_by
from skelgen.phases.thresholds import (
    FEWEST_OCCURRENCES,
    INTERRUPTED_SHARE,
    LEARNT_OCCURRENCES,
    LEAST_EXPLAINED,
    LONGEST_PERIOD,
    MACHINE_SPREAD,
    NEIGHBOURS_OF_JUMP,
    SIMPLER_BY,
)

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class _Trait:
    """What is known of occurrences before they run.

    Attributes
    ----------
    name : str
    value : (n,) float64 array
        Of each; those above some value are divided from the others.
    period : int
        When not 0, the value is the residue of their number, and residues are put in
        the order of what they take.
    row : (n,) int64 array
        The halves in which a division is learnt and judged are made of these.
    jump : bool
        Whether times have to jump where it divides.
    """

    name: str
    value: Floats
    row: Ints
    period: int = 0
    jump: bool = False


@dataclass(frozen=True, slots=True)
class _Division:
    """Occurrences in two parts, and what part of the variance that explains [1]."""

    explained: float
    above: NDArray[np.bool_]
    limit: float

    def words(self, trait: _Trait) -> tuple[str, str]:
        """Say what tells the parts apart: of those that are below, and above."""
        if trait.jump:
            return "", ""
        if not trait.period:
            limit = f"{self.limit:.6g}"
            return f"{trait.name} <= {limit}", f"{trait.name} > {limit}"
        period = self._period(trait.period)
        first = np.arange(period)
        below, above = (
            " ".join(map(str, first[self.above[:period] == side].tolist()))
            for side in (False, True)
        )
        every = f"number mod {period} ="
        return f"{every} {below}", f"{every} {above}"

    def _period(self, period: int) -> int:
        """Return the smallest period in which the parts come again."""
        shorter = (one for one in range(2, period) if period % one == 0)
        again = (
            one
            for one in shorter
            if np.array_equal(self.above[one:], self.above[:-one])
        )
        return next(again, period)


@dataclass(frozen=True, slots=True)
class Divided:
    """The phases of occurrences.

    Attributes
    ----------
    phase : (o,) int32 array
        Number of each occurrence's, by first occurrence.
    structure : tuple of int
        Of each phase.
    stratum : tuple of str
        For each phase what tells it from others of its structure before it runs; the
        same for those of which only the place in the run does.
    """

    phase: NDArray[np.int32]
    structure: tuple[int, ...]
    stratum: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Strata:
    """What tells occurrences apart.

    Attributes
    ----------
    structure : (o,) int32 array
    time_share : (o,) float64 array
        Time of each as a share of the application's [1].
    traits : tuple of (str, (o,) array)
        Known before they run: bytes, events, trips, the place in the loops around.
    relevance : float
        Share of the time that each part has after a division [0 to 1].
    jump : float
        As `Parameters.time_similarity`.
    """

    structure: NDArray[np.int32]
    time_share: Floats
    traits: tuple[tuple[str, NDArray[np.generic]], ...]
    relevance: float
    jump: float

    def phases(self) -> Divided:
        """Divide occurrences into phases.

        Occurrences of a structure are divided in two as long as something known
        beforehand explains at least half of the variance of their times: it is found
        in one half of them, and has to hold in the other.
        """
        found = np.empty(len(self.structure), np.uint64)
        words: list[str] = []
        for rows in rows_by(self.structure):
            for part, stratum in self._divided(rows, ()):
                found[part] = len(words)
                words.append(", ".join(stratum))
        phase, first = label(found)
        return Divided(
            phase,
            tuple(self.structure[first].tolist()),
            tuple(words[number] for number in found[first].tolist()),
        )

    def _divided(
        self, rows: Ints, stratum: tuple[str, ...]
    ) -> Iterator[tuple[Ints, tuple[str, ...]]]:
        found = self._division(rows) if self.jump else None
        if found is None:
            yield rows, stratum
            return
        trait, division = found
        parts = (~division.above, division.above)
        for part, word in zip(parts, division.words(trait), strict=True):
            yield from self._divided(rows[part], (*stratum, *([word] if word else [])))

    def _division(self, rows: Ints) -> tuple[_Trait, _Division] | None:
        """Say how occurrences are best divided in two; None: they are one phase."""
        times = self.time_share[rows]
        if (
            len(rows) < 2 * FEWEST_OCCURRENCES
            or float(times.sum()) < 2 * self.relevance
        ):
            return None
        times = _without_interruptions(times)
        if float(times.std()) <= MACHINE_SPREAD * float(times.mean()):
            return None
        best, most = None, LEAST_EXPLAINED
        traits = list(self._traits(rows))
        for trait in traits:
            found = _divide(trait, times, len(traits))
            if found.explained > most and self._sensible(rows, found.above, trait):
                # Of two that explain as much the first is the simpler one.
                best, most = (trait, found), found.explained + SIMPLER_BY
        return best

    def _traits(self, rows: Ints) -> Iterator[_Trait]:
        number = np.arange(len(rows))
        for name, values in self.traits:
            value = values[rows].astype(np.float64)
            if value.min() < value.max():
                yield _Trait(name, value, number)
        for period in range(
            2, min(LONGEST_PERIOD, len(rows) // FEWEST_OCCURRENCES) + 1
        ):
            residue = (number % period).astype(np.float64)
            yield _Trait("number", residue, number // period, period)
        yield _Trait("number", number.astype(np.float64), number, jump=True)

    def _sensible(self, rows: Ints, above: NDArray[np.bool_], trait: _Trait) -> bool:
        """Say whether both parts have enough occurrences and time."""
        share = self.time_share[rows]
        if min(above.sum(), (~above).sum()) < FEWEST_OCCURRENCES:
            return False
        if min(share[above].sum(), share[~above].sum()) < self.relevance:
            return False
        if not trait.jump:
            return True
        at = int(np.argmax(above))
        sides = (
            share[max(at - NEIGHBOURS_OF_JUMP, 0) : at],
            share[at : at + NEIGHBOURS_OF_JUMP],
        )
        shorter, longer = sorted(float(np.median(side)) for side in sides)
        return shorter < self.jump * longer


def _without_interruptions(times: Floats) -> Floats:
    """Bring the largest and the smallest times to those next to them.

    The first occurrence, in which caches are cold, is brought to the second.
    """
    found = times.copy()
    found[:1] = times[1:2]
    few = max(1, round(INTERRUPTED_SHARE * len(times)))
    if len(times) > 2 * few:
        ordered = np.sort(found)
        found = np.clip(found, ordered[few], ordered[-few - 1])
    return found


def _divide(trait: _Trait, times: Floats, candidates: int) -> _Division:
    """Divide by a trait."""
    some = np.arange(len(times))
    if len(times) > LEARNT_OCCURRENCES:
        some = (
            some[:LEARNT_OCCURRENCES]
            if trait.period
            else np.linspace(0, len(times) - 1, LEARNT_OCCURRENCES).astype(np.int64)
        )
    learns = _half(trait.row[some])
    value = trait.value
    if trait.period:
        value = _in_order_of_time(value, some[learns], times, trait.period)
    known, judged = some[learns], some[~learns]
    limit = _limit(value[known], times[known])
    above = value > limit
    sides = [times[known][above[known] == side] for side in (False, True)]
    if limit == np.inf or not len(judged) or not all(map(len, sides)):
        return _Division(0.0, above, limit)
    expected = np.where(above[judged], sides[1].mean(), sides[0].mean())
    left = float(np.square(times[judged] - expected).sum())
    whole = float(np.square(times[judged] - times[known].mean()).sum())
    explained = 1 - max(left, 1e-12 * whole) / whole if whole else 0.0
    evidence = -len(judged) * np.log1p(-explained)
    if evidence < 2 * np.log(len(judged) * candidates):
        return _Division(0.0, above, limit)
    return _Division(explained, above, limit)


def _half(numbers: Ints) -> NDArray[np.bool_]:
    """Choose half of the numbers, in no period: those of Thue and Morse."""
    bits = numbers.copy()
    for shift in (32, 16, 8, 4, 2, 1):
        bits ^= bits >> shift
    chosen: NDArray[np.bool_] = (bits & 1) == 0
    return chosen


def _in_order_of_time(
    residue: Floats, known: Ints, times: Floats, period: int
) -> Floats:
    """Put the mean time of its residue in the place of each."""
    number = residue.astype(np.int64)
    count = np.bincount(number[known], minlength=period)
    total = np.bincount(number[known], times[known], period)
    means: Floats = total / np.maximum(count, 1)
    return means[number]


def _limit(value: Floats, times: Floats) -> float:
    """Return the value above which times differ most from the others'."""
    order = np.argsort(value, kind="stable")
    value, times = value[order], times[order]
    change = np.flatnonzero(value[1:] > value[:-1]) + 1
    if not len(change):
        return np.inf
    above = np.cumsum(times)
    first = above[change - 1] / change
    second = (above[-1] - above[change - 1]) / (len(times) - change)
    between = change * (len(times) - change) * np.square(first - second)
    at = int(change[np.argmax(between)])
    return float(value[at - 1] + value[at]) / 2
