"""Times of kernels alone and in chains, at each size and number of processes."""

from __future__ import annotations

import functools
import math
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from skelgen.errors import InputError
from skelgen.models.coupling import Chain, LoopCoupling, chains_of, couple
from skelgen.models.intervals import NORMAL
from skelgen.models.kernel_order import turned
from skelgen.models.runs import ModelInput, RunTable
from skelgen.models.thresholds import UNREPEATED_SPREAD, WIDEST_HALF_INTERVAL
from skelgen.trust.intervals import MEDIAN_FACTOR, relative_spread

#: Values of the inputs: a size and a number of processes.
Place = tuple[float, ...]

#: Draws of Student's distribution, for one quantile of it.
_DRAWS = 20_000


@dataclass(frozen=True, slots=True)
class MeasuredChain:
    """The time of a chain at one place.

    Attributes
    ----------
    time_s : float
        Median of the runs [s].
    runs : int
    """

    time_s: float
    runs: int


@dataclass(frozen=True, slots=True)
class KernelTimes:
    """What was measured of the kernels of a loop.

    Attributes
    ----------
    loop : tuple of str
        Kernels of the loop, in its order.
    outside : tuple of str
        Kernels that are in no chain, such as one before the loop: they do not count.
    runs : RunTable
        All runs of kernels and chains.
    chains : tuple of tuple of str
        What each of them ran.
    times : mapping of tuple of float to mapping
        By place: each chain, kernels alone among them.
    spread : float or None
        Deviation of the logarithm of a run from others of its chain and place [1];
        None where nothing was measured twice.
    freedom : int
        Repeats that tell it.
    fixed : tuple of (str, float)
        Inputs that are the same in all runs.
    """

    loop: Chain
    outside: Chain
    runs: RunTable
    chains: tuple[Chain, ...]
    times: Mapping[Place, Mapping[Chain, MeasuredChain]] = field(repr=False)
    spread: float | None
    freedom: int
    fixed: tuple[tuple[str, float], ...] = ()

    @property
    def inputs(self) -> tuple[ModelInput, ...]:
        """What places are values of."""
        return self.runs.inputs

    @property
    def unused(self) -> tuple[Chain, ...]:
        """Chains that are no part of the loop in its order."""
        lengths = range(2, len(self.loop) + 1)
        used = {one for length in lengths for one in chains_of(self.loop, length)}
        longer = dict.fromkeys(one for one in self.chains if len(one) > 1)
        return tuple(one for one in longer if one not in used)

    def measured(self, place: Place, chain: Chain) -> MeasuredChain | None:
        """Return the time of a chain at a place, if it ran there."""
        return self.times.get(place, {}).get(chain)

    def alone(self, place: Place) -> dict[str, float] | None:
        """Return the times of all kernels alone at a place, if all ran there [s]."""
        found = {one: self.measured(place, (one,)) for one in self.loop}
        known = {name: one.time_s for name, one in found.items() if one is not None}
        return known if len(known) == len(found) else None

    def missing(self, place: Place, length: int) -> list[Chain]:
        """Return what couplings of a place lack: chains, and kernels alone."""
        alone: list[Chain] = [(one,) for one in self.loop]
        wanted = [*alone, *chains_of(self.loop, length)]
        return [one for one in wanted if self.measured(place, one) is None]

    def complete(self, length: int) -> list[Place]:
        """Return the places with all chains of a length and all kernels alone."""
        return [place for place in self.times if not self.missing(place, length)]

    def half_width(self, runs: int) -> float:
        """Return half of the 90 % interval of a median: a difference of logarithms."""
        if self.spread is None:
            return NORMAL * UNREPEATED_SPREAD / math.sqrt(runs)
        error = self.spread * (MEDIAN_FACTOR if runs > 2 else 1.0) / math.sqrt(runs)
        return min(students(self.freedom) * error, WIDEST_HALF_INTERVAL)

    def named(self, place: Place) -> tuple[tuple[str, float], ...]:
        """Return a place with the names of its inputs, and those that never differ."""
        names = (one.name for one in self.inputs)
        return (*zip(names, place, strict=True), *self.fixed)

    def shown(self, place: Place) -> str:
        """Return a place for people."""
        pairs = [f"{name}={value:g}" for name, value in self.named(place)]
        return ", ".join(pairs) or "the size of all runs"


def gather(
    runs: RunTable,
    chains: Sequence[Chain],
    loop: Chain,
    fixed: Sequence[tuple[str, float]] = (),
) -> KernelTimes:
    """Take medians of runs of one chain at one place.

    Parameters
    ----------
    runs : RunTable
    chains : sequence of tuple of str
        What each run ran.
    loop : tuple of str
        Kernels of the loop, in its order; see `skelgen.models.kernel_order`.
    fixed : sequence of (str, float)
        Inputs that are the same in all runs.

    Raises
    ------
    InputError
        When a kernel of the loop never ran alone.
    """
    check_kernels(chains, loop)
    outside = [one for chain in chains for one in chain if one not in loop]
    named = tuple(_as_in(loop, one) for one in chains)
    found: dict[Place, dict[Chain, list[float]]] = {}
    for at, chain, time_s in zip(runs.at, named, runs.values, strict=True):
        of_place = found.setdefault(tuple(map(float, at)), {})
        of_place.setdefault(chain, []).append(float(time_s))
    repeated = [times for of_place in found.values() for times in of_place.values()]
    return KernelTimes(
        loop=loop,
        outside=tuple(dict.fromkeys(outside)),
        runs=runs,
        chains=named,
        times={
            place: {
                chain: MeasuredChain(statistics.median(times), len(times))
                for chain, times in of_place.items()
            }
            for place, of_place in found.items()
        },
        spread=relative_spread(*repeated),
        freedom=sum(len(times) - 1 for times in repeated),
        fixed=tuple(fixed),
    )


def coupling_at(times: KernelTimes, place: Place, length: int) -> LoopCoupling:
    """Return the couplings of a place that has all chains; see `couple`."""
    return couple(
        times.loop,
        {one[0]: m.time_s for one, m in times.times[place].items() if len(one) == 1},
        {one: m.time_s for one, m in times.times[place].items()},
        length=length,
    )


def nearest(places: Sequence[Place], to: Place) -> Place:
    """Return the nearest place, by logarithms; of equally near ones the smallest."""
    return min(places, key=lambda one: (distance(one, to), one))


def distance(one: Place, other: Place) -> float:
    """Return how far places are from each other: the logarithm of a factor."""
    steps = (math.log(a / b) ** 2 for a, b in zip(one, other, strict=True))
    return round(math.sqrt(math.fsum(steps)), 12)


@functools.cache
def students(freedom: float) -> float:
    """Return how many deviations hold 90 % of Student's distribution."""
    draws = np.random.default_rng(0).standard_t(freedom, _DRAWS)
    return float(np.quantile(np.abs(draws), 0.9))


def check_kernels(chains: Sequence[Chain], loop: Chain) -> None:
    """Refuse a loop of which a kernel never ran alone.

    Raises
    ------
    InputError
    """
    alone = {one[0] for one in chains if len(one) == 1}
    if unknown := [one for one in loop if one not in alone]:
        raise InputError(
            f"no run of {unknown[0]} alone, which is in a chain; measure it alone, or "
            "write its name as elsewhere"
        )


def _as_in(loop: Chain, chain: Chain) -> Chain:
    """Return a whole loop as it begins in `loop`, others as they are."""
    if len(chain) == len(loop) and set(chain) == set(loop):
        return turned(chain, loop[0])
    return chain
