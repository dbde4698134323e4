"""How far off a loop may be that is predicted from its kernels.

Three things add up: the measured times of kernels and chains vary, models of kernels
miss, and couplings do not say all of it. The last is seen where the loop was measured.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from skelgen.models.coupling import Chain, LoopCoupling, couple
from skelgen.models.kernel_times import (
    KernelTimes,
    Place,
    coupling_at,
    distance,
    nearest,
    students,
)
from skelgen.models.model import Model
from skelgen.models.parts import going_together
from skelgen.models.thresholds import FEWEST_KERNEL_PLACES
from skelgen.trust import Interval

#: A measured time, by where it was measured and what ran.
_Key = tuple[Place, Chain]

#: How far away couplings were, and the error of the loop: logarithms of factors.
Errors = list[tuple[float, float]]


@dataclass(frozen=True, slots=True)
class LoopAnswer:
    """What an answer is made of.

    Attributes
    ----------
    times : KernelTimes
    at, coupled_at : tuple of float
    length : int
        Of the chains.
    models : mapping of str to Model
        Of kernels that did not run at `at`.
    alone : mapping of str to Interval
        [s]
    """

    times: KernelTimes
    at: Place
    coupled_at: Place
    length: int
    models: Mapping[str, Model]
    alone: Mapping[str, Interval]

    @property
    def coupling(self) -> LoopCoupling:
        """The couplings that count."""
        return coupling_at(self.times, self.coupled_at, self.length)

    @property
    def reused(self) -> bool:
        """Whether couplings are from elsewhere."""
        return self.coupled_at != self.at


def half_width(answer: LoopAnswer) -> float:
    """Return half of the 90 % interval by the times that are in an answer.

    Each is moved to the end of its own interval. Measured ones are independent: they
    are of different runs. Models are wrong together as much as their errors show.
    """
    times = answer.times
    known: dict[_Key, float] = {
        (answer.coupled_at, chain): one.time_s
        for chain, one in times.times[answer.coupled_at].items()
    }
    wide = {
        (answer.coupled_at, chain): times.half_width(one.runs)
        for chain, one in times.times[answer.coupled_at].items()
    }
    for name, one in answer.alone.items():
        known[answer.at, (name,)] = one.p50
        wide[answer.at, (name,)] = math.log(one.p95 / one.p50)
    middle = _total(answer, known)
    measured, modelled = [0.0], [0.0]
    for key, time_s in known.items():
        moved = {**known, key: time_s * math.exp(wide[key])}
        shift = math.log(_total(answer, moved) / middle)
        by_model = key[0] == answer.at and key[1][0] in answer.models
        (modelled if by_model else measured).append(shift)
    together = _together(answer)
    squares = math.fsum(one**2 for one in measured)
    squares += (1.0 - together) * math.fsum(one**2 for one in modelled)
    return math.sqrt(squares + together * math.fsum(modelled) ** 2)


def _total(answer: LoopAnswer, known: Mapping[_Key, float]) -> float:
    """Return the time of the loop by given times of kernels and chains [s]."""
    there = {chain: s for (at, chain), s in known.items() if at == answer.coupled_at}
    loop = answer.times.loop
    alone = {one: there[one,] for one in loop}
    coupling = couple(loop, alone, there, length=answer.length)
    return coupling.time_s({k: known[answer.at, (k,)] for k in answer.times.loop})


def _together(answer: LoopAnswer) -> float:
    """Return how much errors of models go together; 1 where nothing tells it."""
    times = answer.times
    names = list(answer.models)
    chains = [(name,) for name in names]
    places = [
        one for one, there in times.times.items() if all(c in there for c in chains)
    ]
    if not names or len(places) < FEWEST_KERNEL_PLACES:
        return 1.0
    columns = dict(zip((i.name for i in times.inputs), np.array(places).T, strict=True))
    values = np.stack([answer.models[name].at(columns) for name in names])
    measured = [[times.times[one][chain].time_s for one in places] for chain in chains]
    weights = answer.coupling.by_kernel
    weight = np.array([[weights[name]] for name in names])
    return going_together(weight * values, weight * np.array(measured))


def errors_elsewhere(answer: LoopAnswer) -> Errors:
    """Ask the same way where the loop was measured, but for what is asked for.

    Times of kernels alone are those measured there, so the errors are of couplings.
    """
    times = answer.times
    complete = times.complete(answer.length)
    found = []
    for place in times.times:
        loop, alone = times.measured(place, times.loop), times.alone(place)
        others = [one for one in complete if one != place]
        if place == answer.at or loop is None or alone is None:
            continue
        if answer.reused and others:
            coupled_at = nearest(others, place)
        elif not answer.reused and place in complete:
            coupled_at = place
        else:
            continue
        coupling = coupling_at(times, coupled_at, answer.length)
        error = math.log(coupling.time_s(alone) / loop.time_s)
        found.append((distance(coupled_at, place), error))
    return found


def method_half_width(errors: Errors) -> float:
    """Return half of the 90 % interval of the method: a difference of logarithms."""
    if not errors:
        return 0.0
    square = math.fsum(one**2 for _, one in errors) / len(errors)
    return students(len(errors)) * math.sqrt(square)
