"""The time of a loop from its kernels: their sum, and the sum weighted by couplings.

Where a kernel ran alone at what is asked for, its median counts, else a model of it.
Where all chains ran there, their couplings count, else those of the nearest place.

References
----------
Wu, Taylor, Paris 2005, section 3.3; Wu et al. 2004 reuse couplings (*Isocoupling*).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace

from skelgen.errors import InputError
from skelgen.models.coupling import ChainCoupling, LoopCoupling, chains_of
from skelgen.models.families.contract import FamilySettings
from skelgen.models.kernel_intervals import (
    Errors,
    LoopAnswer,
    errors_elsewhere,
    half_width,
    method_half_width,
)
from skelgen.models.kernel_times import (
    UNREPEATED_SPREAD,
    KernelTimes,
    MeasuredChain,
    Place,
    distance,
    nearest,
)
from skelgen.models.model import (
    MOST_WIDE,
    Model,
    fit_model,
    predict_with,
    wide_doubts,
)
from skelgen.progress import NO_PROGRESS, Progress
from skelgen.trust import Doubt, Interval


@dataclass(frozen=True, slots=True)
class KernelAlone:
    """A kernel at what is asked for.

    Attributes
    ----------
    name : str
    time_s : Interval
        Alone [s].
    weight : float
        By which it counts in the loop [1].
    runs : int
        Of which the time is the median; 0 where a model says it.
    model : Model or None
        None where it ran there.
    """

    name: str
    time_s: Interval
    weight: float
    runs: int
    model: Model | None = None


@dataclass(frozen=True, slots=True)
class CoupledChain:
    """A chain where its coupling was measured.

    Attributes
    ----------
    coupling : ChainCoupling
    runs : int
        Of the chain.
    half_width : float
        Half of the 90 % interval of the coupling: a difference of logarithms.
    """

    coupling: ChainCoupling
    runs: int
    half_width: float

    @property
    def effect(self) -> str:
        """What kernels do to each other: ``share``, ``disturb`` or ``not seen``."""
        apart = math.log(self.coupling.value)
        if abs(apart) <= max(self.half_width, 1e-12):
            return "not seen"
        return "share" if apart < 0.0 else "disturb"


@dataclass(frozen=True, slots=True)
class LoopPrediction:
    """What kernels and couplings say of a loop.

    Attributes
    ----------
    at : tuple of (str, float)
        What was asked for.
    time_s : Interval
        Of the loop, by kernels and their couplings [s].
    sum_s : float
        Of the kernels alone [s].
    measured : MeasuredChain or None
        The loop itself, where it ran.
    kernels : tuple of KernelAlone
        In the order of the loop.
    chains : tuple of CoupledChain
    coupled_at : tuple of (str, float)
        Where the couplings are from.
    doubts : tuple of Doubt
    notes : tuple of str
    """

    at: tuple[tuple[str, float], ...]
    time_s: Interval
    sum_s: float
    measured: MeasuredChain | None
    kernels: tuple[KernelAlone, ...]
    chains: tuple[CoupledChain, ...]
    coupled_at: tuple[tuple[str, float], ...]
    doubts: tuple[Doubt, ...]
    notes: tuple[str, ...]

    def error_of(self, time_s: float) -> float | None:
        """Return how far a time is from the measured one; None: it was not measured."""
        return time_s / self.measured.time_s - 1.0 if self.measured else None


def predict_loop(
    times: KernelTimes,
    at: Place,
    *,
    length: int = 2,
    families: Mapping[str, str] | None = None,
    forms: Mapping[str, FamilySettings] | None = None,
    progress: Progress = NO_PROGRESS,
) -> LoopPrediction:
    """Say how long a pass through a loop takes.

    Parameters
    ----------
    times : KernelTimes
    at : tuple of float
        A value of each of its inputs.
    length : int
        Kernels in a chain.
    families : mapping of str to str, optional
        Family of the model of each kernel, where it did not run; else ``default``.
    forms : mapping of str to FamilySettings, optional
        Settings of a kernel's family, such as the formula of ``template``.
    progress : Progress

    Raises
    ------
    InputError
        When no place has all chains, or a kernel cannot be predicted.
    """
    coupled_at = _where_coupled(times, at, length)
    models = _models(times, at, families or {}, forms or {}, progress)
    alone, doubts = _alone(times, at, models)
    answer = LoopAnswer(times, at, coupled_at, length, models, alone)
    coupling = answer.coupling
    value = coupling.time_s({name: one.p50 for name, one in alone.items()})
    errors = errors_elsewhere(answer)
    far_off = math.hypot(half_width(answer), method_half_width(errors))
    wide = math.exp(min(far_off, MOST_WIDE))
    interval = Interval(value / wide, value, value * wide)
    reused, about = _reused(answer, errors)
    unknown, notes = _unknown(answer, errors)
    doubts = (*doubts, *reused, *unknown, *wide_doubts(interval))
    return LoopPrediction(
        at=times.named(at),
        time_s=interval,
        sum_s=math.fsum(one.p50 for one in alone.values()),
        measured=times.measured(at, times.loop),
        kernels=_kernels(answer, coupling),
        chains=tuple(_coupled(answer, one) for one in coupling.chains),
        coupled_at=times.named(coupled_at),
        doubts=doubts,
        notes=(*about, *notes),
    )


def _where_coupled(times: KernelTimes, at: Place, length: int) -> Place:
    complete = times.complete(length)
    if at in complete:
        return at
    if complete:
        return nearest(complete, at)
    best = min(times.times, key=lambda one: (len(times.missing(one, length)), one))
    missing = times.missing(best, length)
    shown = ", ".join("+".join(one) for one in missing[:4])
    more = f" and {len(missing) - 4} more" if len(missing) > 4 else ""
    raise InputError(
        f"nowhere did all chains of {length} kernels run: {times.shown(best)} lacks "
        f"{shown}{more}; measure them, or choose another length with --chain"
    )


def _models(
    times: KernelTimes,
    at: Place,
    families: Mapping[str, str],
    forms: Mapping[str, FamilySettings],
    progress: Progress,
) -> dict[str, Model]:
    """Fit a model of each kernel that did not run there."""
    wanted = [one for one in times.loop if times.measured(at, (one,)) is None]
    found = {}
    progress.start("fitting models of kernels", len(wanted))
    for name in wanted:
        family = families.get(name, "default")
        found[name] = _model(times, at, name, family, forms.get(name))
        progress.advance(1)
    progress.finish()
    return found


def _model(
    times: KernelTimes,
    at: Place,
    name: str,
    family: str,
    form: FamilySettings | None = None,
) -> Model:
    rows = [i for i, chain in enumerate(times.chains) if chain == (name,)]
    runs = times.runs.only(rows)
    varied = {one.name for one in runs.varied}
    for one, value in zip(times.inputs, at, strict=True):
        if one.name in varied:
            continue
        only = float(runs.columns[one.name][0])
        if value != only:
            raise InputError(
                f"kernel {name} ran at {one.name}={only:g} only, which does not say "
                f"how long it takes at {one.name}={value:g}; run it there, or at "
                "several values"
            )
    fixed = [one.name for one in times.inputs if one.name not in varied]
    try:
        return fit_model(runs.without(*fixed), family, form)
    except InputError as error:
        raise InputError(f"kernel {name}: {error}") from error


def _alone(
    times: KernelTimes, at: Place, models: Mapping[str, Model]
) -> tuple[dict[str, Interval], tuple[Doubt, ...]]:
    """Return the time of each kernel alone, and doubts of models."""
    found: dict[str, Interval] = {}
    about: dict[Doubt, list[str]] = {}
    for name in times.loop:
        if name in models:
            try:
                said = predict_with(models[name], dict(times.named(at)))
            except InputError as error:
                raise InputError(f"kernel {name}: {error}") from error
            found[name] = said.interval
            for one in said.doubts:  # of the sum it is said whether it is too wide
                if one.code != "interval-too-wide":
                    about.setdefault(one, []).append(name)
        else:
            ran = times.times[at][name,]
            factor = math.exp(times.half_width(ran.runs))
            found[name] = Interval(ran.time_s / factor, ran.time_s, ran.time_s * factor)
    return found, tuple(
        replace(one, text=f"{', '.join(names)}: {one.text}")
        for one, names in about.items()
    )


def _kernels(answer: LoopAnswer, coupling: LoopCoupling) -> tuple[KernelAlone, ...]:
    there, models = answer.times.times.get(answer.at, {}), answer.models
    return tuple(
        KernelAlone(
            name,
            answer.alone[name],
            weight,
            0 if name in models else there[name,].runs,
            models.get(name),
        )
        for name, weight in coupling.by_kernel.items()
    )


def _coupled(answer: LoopAnswer, one: ChainCoupling) -> CoupledChain:
    return coupled_chain(answer.times, answer.coupled_at, one)


def coupled_chain(times: KernelTimes, place: Place, one: ChainCoupling) -> CoupledChain:
    """Return how sure the coupling of a chain is that was measured at a place."""
    there = times.times[place]
    unsure = [
        there[name,].time_s * times.half_width(there[name,].runs) for name in one.chain
    ]
    whole = math.fsum(there[name,].time_s for name in one.chain)
    own = times.half_width(there[one.chain].runs)
    known = times.spread is not None
    wide = math.hypot(own, *(part / whole for part in unsure)) if known else 0.0
    return CoupledChain(one, there[one.chain].runs, wide)


def _reused(
    answer: LoopAnswer, errors: Errors
) -> tuple[tuple[Doubt, ...], tuple[str, ...]]:
    """Say where couplings are from; doubt it beyond what measured loops show."""
    if not answer.reused:
        return (), ()
    times, here = answer.times, answer.times.shown(answer.at)
    missing = times.missing(answer.at, answer.length)
    chains = chains_of(times.loop, answer.length)
    ran = any(times.measured(answer.at, one) is not None for one in chains)
    lacks = "+".join(missing[0]) if ran else f"no chain of {answer.length}"
    text = f"couplings are those of {times.shown(answer.coupled_at)}: "
    text += f"{lacks} was not measured at {here}" if ran else f"{lacks} ran at {here}"
    far = distance(answer.coupled_at, answer.at)
    if errors and far <= max(apart for apart, _ in errors):
        return (), (text,)
    return (Doubt("coupling-reused", text, "measure the chains there"),), ()


def _unknown(
    answer: LoopAnswer, errors: Errors
) -> tuple[tuple[Doubt, ...], tuple[str, ...]]:
    """Say what nothing measured tells."""
    times, doubts, notes = answer.times, [], []
    if times.spread is None:
        told = "no kernel or chain was measured twice at one size, so how much runs "
        told += f"differ is not known; {UNREPEATED_SPREAD:.0%} are taken"
        doubts.append(Doubt("no-repeats", told, "measure each three times"))
    whole = answer.length == len(times.loop) and not answer.reused
    if not errors and not whole:
        told = "no other size has the loop itself, so the error of couplings is not "
        told += "in the interval"
        if times.measured(answer.at, times.loop) is not None:
            notes.append(told)
        else:
            remedy = f"measure the chain of all kernels: {'+'.join(times.loop)}"
            doubts.append(Doubt("coupling-untested", told, remedy))
    if times.outside:
        told = f"no chain has {', '.join(times.outside)[:60]}: left out of the loop"
        remedy = "measure chains with it, or name the kernels of the loop: --order"
        doubts.append(Doubt("not-coupled", told, remedy))
    if times.unused:
        shown = ", ".join("+".join(one) for one in times.unused)[:100]
        notes.append(f"chains that are no part of the loop do not count: {shown}")
    return tuple(doubts), tuple(notes)
