"""The steps of curve fitting: what the runs of a store allow at each of them.

References
----------
Wu, Taylor, Paris 2005, section 3.1.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace

from skelgen.errors import SkelgenError, UsageError
from skelgen.pipeline.browsing import stored_applications
from skelgen.pipeline.curve_fixed import typed_setting
from skelgen.pipeline.fit_request import FitRequest
from skelgen.pipeline.model import COUNT_INPUTS
from skelgen.pipeline.run_pool import RunPool, number_typed, run_pool, written
from skelgen.units import number_of
from skelgen.web.modelling_steps import CurveAsked, CurveSteps, Setting
from skelgen.web.site_curve import GRAPH_TYPES

#: Graph types of the paper, a choice of ours, and how many values each needs.
CURVES: Mapping[str, int] = {
    "least-error": 2,
    "least-residual": 2,
    "linear": 2,
    "quadratic": 3,
    "cubic": 4,
    "poly4": 5,
    "poly5": 6,
    "poly6": 7,
    **{f"inverse-{degree}": degree + 1 for degree in range(1, 7)},
}
#: Quantities, those over numbers of processes last.
_ALWAYS, _PARALLEL = ("time", "rate"), ("speedup", "efficiency")
#: What may be chosen for the program, when all are meant.
ANY = "any"
#: Settings that are offered.
_MOST_SETTINGS = 200


@dataclass(frozen=True, slots=True)
class CurveFound:
    """How far the steps are, and the model that is wanted when all are done."""

    steps: CurveSteps
    request: FitRequest | None = None


class _StepError(UsageError):
    """Something that was chosen does not fit the runs."""


def curve_steps(place: str | None, asked: CurveAsked) -> CurveFound:
    """Say which step is next, what may be chosen at it, and what is wrong.

    Parameters
    ----------
    place : str, optional
        Of the store.
    asked : CurveAsked
    """
    known = [(one.name, one.runs) for one in stored_applications(place)]
    steps = CurveSteps(asked, 1, applications=known)
    if not asked.app:
        return CurveFound(steps)
    try:
        pool = run_pool(place, asked.app, asked.exe if asked.exe != ANY else "")
    except SkelgenError as error:
        return CurveFound(replace(steps, said=str(error)))
    several = pool.executables if len(pool.executables) > 1 else ()
    steps = replace(steps, executables=several, runs=len(pool.rows))
    if several and not asked.exe:
        return CurveFound(steps)
    return _after_application(replace(steps, step=2), pool)


def _after_application(steps: CurveSteps, pool: RunPool) -> CurveFound:
    xs = pool.numbers()
    if not xs:
        told = f"no input varies in {number_of(len(pool.rows), 'run')} of "
        told += (
            f"{pool.application[:60]}; a curve needs runs of at least two sizes, or "
        )
        told += "on two numbers of processes: add such runs"
        return CurveFound(replace(steps, step=1, said=told))
    most = max(xs.values())
    steps = replace(
        steps,
        xs=xs,
        families=[name for name, needed in CURVES.items() if needed <= most],
        ys=[*_ALWAYS, *(_PARALLEL if any(one in COUNT_INPUTS for one in xs) else ())],
    )
    asked = steps.asked
    if not (asked.family and asked.x and asked.y):
        return CurveFound(steps)
    try:
        _check_curve(steps)
        settings = _settings(steps, pool)
    except _StepError as error:
        return CurveFound(replace(steps, said=str(error)))
    return _after_curve(settings, pool)


def _check_curve(steps: CurveSteps) -> None:
    """Refuse a graph type, input or quantity that the runs do not allow."""
    asked = steps.asked
    if asked.family not in CURVES:
        raise _StepError(
            f"there is no graph type {asked.family[:40]!r}; choose one of the list"
        )
    if asked.x not in steps.xs:
        raise _StepError(
            f"{asked.x[:40]!r} does not vary, or is no number; choose one of "
            f"{', '.join(steps.xs)}"
        )
    if asked.y not in (*_ALWAYS, *_PARALLEL):
        raise _StepError(
            f"there is no quantity {asked.y[:40]!r}; choose one of the list"
        )
    if asked.y in _PARALLEL and asked.x not in COUNT_INPUTS:
        raise _StepError(
            f"a {asked.y} compares numbers of processes, and {asked.x} is none; choose "
            f"time, or a curve over "
            f"{' or '.join(one for one in steps.xs if one in COUNT_INPUTS) or 'ranks'}"
        )
    if asked.y == "rate" and not asked.amount.strip():
        raise _StepError(
            "a rate needs what is done in the time, as a formula of inputs; type it, "
            "such as n^3"
        )


def _called(asked: CurveAsked) -> str:
    own = GRAPH_TYPES[asked.family]
    return "a curve" if asked.family.startswith("least-") else own


def _settings(steps: CurveSteps, pool: RunPool) -> CurveSteps:
    """Return the step of values: what else may be fixed."""
    asked = steps.asked
    found = pool.settings(asked.x)
    needed = CURVES[asked.family]
    good = [one for one in found if len(one.values) >= needed]
    if not good:
        most = max((len(one.values) for one in found), default=0)
        where = f" at {found[0].text}" if found and found[0].text else ""
        lower = [name for name in GRAPH_TYPES if "inverse" not in name]
        lower = [GRAPH_TYPES[name] for name in lower if CURVES[name] <= most]
        remedy = f"choose {lower[-1]}, or add runs" if most > 1 else "add runs"
        raise _StepError(
            f"{_called(asked)} needs {needed} values of {asked.x} where all else is "
            f"the same, and there are at most {most}{where}; {remedy}"
        )
    return replace(
        steps,
        step=3,
        settings=good[:_MOST_SETTINGS],
        others=pool.fixed_with(asked.x),
        few=len(found) - len(good),
        along=pool.goes_along(asked.x),
        runs=sum(one.runs for one in good),
    )


def _after_curve(steps: CurveSteps, pool: RunPool) -> CurveFound:
    try:
        chosen = _chosen(steps, pool)
    except UsageError as error:
        return CurveFound(replace(steps, said=str(error)))
    if chosen is None:
        return CurveFound(steps)
    asked = replace(steps.asked, fixed=chosen.text, typed="")
    steps = replace(steps, asked=asked, chosen=chosen, runs=chosen.runs)
    if not (asked.low and asked.high):
        return CurveFound(steps)
    try:
        low, high, to = _range(asked, chosen)
    except UsageError as error:
        return CurveFound(replace(steps, said=str(error)))
    steps = replace(steps, step=4, runs=chosen.runs_between(low, high))
    return CurveFound(steps, _request(asked, pool, chosen, (low, high, to)))


def _chosen(steps: CurveSteps, pool: RunPool) -> Setting | None:
    """Return what is fixed; None where nobody said it yet."""
    asked = steps.asked
    text = asked.typed.strip() or asked.fixed
    if not text:
        return steps.settings[0] if len(steps.settings) == 1 else None
    if text == ANY:
        raise UsageError(
            f"a curve has one range, that of {asked.x}; choose one value of all else "
            "here, or a model of several inputs at /model/default"
        )
    listed = [one for one in steps.settings if one.text == text]
    if listed:
        return listed[0]
    if not steps.others:
        raise UsageError(f"nothing but {asked.x} varies; leave out {text[:80]!r}")
    return typed_setting(pool, asked.x, text, CURVES[asked.family])


def _range(asked: CurveAsked, chosen: Setting) -> tuple[float, float, float]:
    """Read the range of values and the end of the prediction."""
    low = number_typed(asked.low, f"the smallest {asked.x}")
    high = number_typed(asked.high, f"the largest {asked.x}")
    to = number_typed(asked.to, "the end of the prediction")
    needed, left = CURVES[asked.family], chosen.values_between(low, high)
    if low > high:
        raise UsageError(
            f"the range of {asked.x} ends at {high:g} before it begins at {low:g}; "
            "exchange them"
        )
    if left < needed:
        raise UsageError(
            f"{_called(asked)} needs {needed} values of {asked.x}, and from {low:g} to "
            f"{high:g} there are {left}; widen the range, or choose another graph type"
        )
    return low, high, to


def _request(
    asked: CurveAsked,
    pool: RunPool,
    chosen: Setting,
    ends: tuple[float, float, float],
) -> FitRequest:
    low, high, to = ends
    if chosen.inputs and math.isnan(to):
        to = high  # what never ran is asked for, so something is predicted
    first, last = chosen.values[0][0], chosen.values[-1][0]
    where = [*pool.where, *chosen.where]
    where += [f"{asked.x}>={written(low)}"] if low > first else []
    where += [f"{asked.x}<={written(high)}"] if high < last else []
    return FitRequest(
        application=asked.app,
        family=asked.family,
        where=tuple(where),
        inputs=(asked.x, *(name for name, _ in chosen.inputs)),
        quantity=asked.quantity,
        at=() if math.isnan(to) else ((asked.x, to), *chosen.inputs),
    )
