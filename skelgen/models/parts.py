"""A model for each part of a run and for the rest, and their sum.

References
----------
Wu, Taylor, Paris 2005, section 3: models of kernels make that of the application.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from skelgen.errors import InputError
from skelgen.models.formulas import Expression, Sum
from skelgen.models.intervals import NORMAL, Scale
from skelgen.models.model import InputRange, Model, PartModel, fit_model
from skelgen.models.runs import Floats, RunTable


def fit_parts(
    whole: RunTable, parts: Mapping[str, Floats], family: str = "default"
) -> Model:
    """Fit a model to each part of the runs, and sum them.

    Parameters
    ----------
    whole : RunTable
        Inputs of the runs, and how long each was.
    parts : mapping of str to (runs,) float64 array
        Time of each part in each run, above 0, in the unit of `whole`; together they
        are the whole.
    family : str

    Raises
    ------
    InputError
        When the runs do not determine a model of a part, which is named.
    """
    total = float(np.sum([times.sum() for times in parts.values()]))
    found = []
    for name, times in parts.items():
        try:
            model = fit_model(replace(whole, values=times), family)
        except InputError as error:
            raise InputError(f"part {name}: {error}") from error
        found.append(PartModel(name, float(times.sum()) / total, model))
    return _sum(whole, found, [*parts.values()], family)


def _sum(
    whole: RunTable, parts: list[PartModel], times: list[Floats], family: str
) -> Model:
    ranges: dict[str, InputRange] = {}
    for one in (inner for part in parts for inner in part.model.inputs):
        known = ranges.get(one.input.name, one)
        ranges[one.input.name] = InputRange(
            one.input, min(known.low, one.low), max(known.high, one.high)
        )
    values = np.stack([part.model.at(whole.columns) for part in parts])
    with np.errstate(all="ignore"):
        misses = np.abs(np.log(values.sum(axis=0) / whole.values))
    doubts = {
        (doubt.code, doubt.text): replace(doubt, about=doubt.about or part.name)
        for part in parts
        for doubt in part.model.doubts
    }
    noise = 1.4826 * float(np.median(np.nan_to_num(misses, nan=10.0, posinf=10.0)))
    scale = Scale(
        noise,
        sum(part.model.scale.terms for part in parts),
        len(whole),
        NORMAL,
        min(part.model.scale.tested for part in parts),
    )
    return Model(
        family=family,
        formula=Sum(tuple(t for p in parts for t in _terms(p.model.formula))),
        inputs=tuple(ranges.values()),
        quantity=whole.quantity,
        unit=whole.unit,
        scale=scale,
        dropped=tuple(one.name for one in whole.inputs if one.name not in ranges),
        doubts=tuple(doubts.values()),
        notes=whole.notes,
        parts=tuple(parts),
        together=going_together(values, np.stack(times)),
    )


def _terms(formula: Expression) -> tuple[Expression, ...]:
    return formula.terms if isinstance(formula, Sum) else (formula,)


def going_together(values: Floats, times: Floats) -> float:
    """Return how much errors of parts go together in one run: a correlation.

    That by which the errors of the sum are larger than independent ones would be.

    Parameters
    ----------
    values, times : (parts, runs) float64 array
        What models say of each part of each run, and what it took.
    """
    errors = times - values
    errors = errors / values.sum(axis=0)
    own = errors.std(axis=1)
    apart, equal = float(np.sum(own**2)), float(np.sum(own)) ** 2
    if not np.isfinite(equal) or equal <= apart:
        return 0.0
    seen = float(errors.sum(axis=0).var())
    return float(np.clip((seen - apart) / (equal - apart), 0.0, 1.0))
