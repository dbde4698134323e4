"""The steps of a model of all inputs: the application, then ranges of its inputs."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace

from skelgen.errors import SkelgenError, UsageError
from skelgen.pipeline.browsing import stored_applications
from skelgen.pipeline.fit_request import FitRequest
from skelgen.pipeline.run_pool import RunPool, number_typed, run_pool, written
from skelgen.units import number_of
from skelgen.web.modelling_steps import DefaultSteps, InputSpan, Setting

#: Inputs that ranges are asked for.
_MOST_INPUTS = 12


@dataclass(frozen=True, slots=True)
class DefaultFound:
    """How far the steps are, and the model that is wanted when all are done."""

    steps: DefaultSteps
    request: FitRequest | None = None


def default_steps(place: str | None, chosen: Mapping[str, str]) -> DefaultFound:
    """Say which step is next, what may be chosen at it, and what is wrong.

    Parameters
    ----------
    place : str, optional
        Of the store.
    chosen : mapping of str to str
        ``app``, ``exe``, ``fixed``, and of each input ``low-n``, ``high-n``, ``to-n``.
    """
    app, exe, fixed = (chosen.get(name, "") for name in ("app", "exe", "fixed"))
    known = [(one.name, one.runs) for one in stored_applications(place)]
    steps = DefaultSteps(app, exe, fixed, 1, applications=known)
    if not app:
        return DefaultFound(steps)
    try:
        pool = run_pool(place, app, exe if exe != "any" else "")
    except SkelgenError as error:
        return DefaultFound(replace(steps, said=str(error)))
    several = pool.executables if len(pool.executables) > 1 else ()
    steps = replace(steps, executables=several, runs=len(pool.rows))
    if several and not exe:
        return DefaultFound(steps)
    return _ranges(replace(steps, step=2), pool, chosen)


def _ranges(
    steps: DefaultSteps, pool: RunPool, chosen: Mapping[str, str]
) -> DefaultFound:
    settings = pool.word_settings() if pool.words() else ()
    steps = replace(steps, settings=settings)
    setting = next((one for one in settings if one.text == steps.fixed), None)
    if settings and setting is None:
        told = f"no run has {steps.fixed[:80]}; choose one of the list"
        return DefaultFound(replace(steps, said=told if steps.fixed else ""))
    if setting is not None:
        steps = replace(steps, runs=setting.runs)
    spans = _spans(pool, setting, chosen)
    if not spans:
        told = f"no input varies in {number_of(steps.runs, 'run')}; a model needs runs "
        told += "of at least two sizes, or on two numbers of processes: add such runs"
        return DefaultFound(replace(steps, said=told))
    steps = replace(steps, spans=spans)
    if not any(one.low or one.high for one in spans):
        return DefaultFound(steps)
    try:
        request = _request(steps, pool, setting)
    except UsageError as error:
        return DefaultFound(replace(steps, said=str(error)))
    return DefaultFound(replace(steps, step=3), request)


def _spans(
    pool: RunPool, setting: Setting | None, chosen: Mapping[str, str]
) -> list[InputSpan]:
    found = []
    for name in [*pool.numbers()][:_MOST_INPUTS]:
        least, most = pool.range_of(name, setting)
        if least < most:
            typed = (chosen.get(f"{what}-{name}", "") for what in ("low", "high", "to"))
            found.append(InputSpan(name, least, most, *typed))
    return found


def _request(steps: DefaultSteps, pool: RunPool, setting: Setting | None) -> FitRequest:
    where = [*pool.where, *(setting.where if setting else ())]
    at = []
    for one in steps.spans:
        low, high, to = _typed(one)
        if low == high:
            where.append(f"{one.name}={written(low)}")
            continue
        where += [f"{one.name}>={written(low)}"] if low > one.least else []
        where += [f"{one.name}<={written(high)}"] if high < one.most else []
        at.append((one.name, high if math.isnan(to) else to))
    asked = any(one.to.strip() for one in steps.spans)
    return FitRequest(steps.app, where=tuple(where), at=tuple(at) if asked else ())


def _typed(one: InputSpan) -> tuple[float, float, float]:
    """Read the range of an input; what is not typed is that of all runs."""
    low = number_typed(one.low, f"the smallest {one.name}")
    high = number_typed(one.high, f"the largest {one.name}")
    to = number_typed(one.to, f"{one.name} that is predicted")
    low = one.least if math.isnan(low) else low
    high = one.most if math.isnan(high) else high
    if low > high:
        raise UsageError(
            f"the range of {one.name} ends at {high:g} before it begins at {low:g}; "
            "exchange them"
        )
    return low, high, to
