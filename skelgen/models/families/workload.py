"""Functions of the workload: few terms n^i log^j n, by their errors at runs left out.

Coefficients are of 0 and more, so that no time is negative. The procedure of the
thesis, and inputs one at a time, are settings.

References
----------
Martinez Canillas 2011, table 2.1 and section 5.5.
"""

from __future__ import annotations

import numpy as np

from skelgen.models.families import one_input_at_a_time, thesis
from skelgen.models.families.candidates import CandidateSum, averaged, candidates
from skelgen.models.families.contract import (
    FamilySettings,
    FittedFormula,
    ModelFamily,
    finite,
    needs,
)
from skelgen.models.families.formula_parts import total, used
from skelgen.models.families.workload_doubts import few, misfits
from skelgen.models.runs import RunTable
from skelgen.trust import Doubt

_NAME = "workload"

#: Counts that are farther from a whole number are none.
_WHOLE = 1e-9


def _fit(runs: RunTable, settings: FamilySettings) -> FittedFormula:
    needs(runs, 2, _NAME)
    cases = averaged(runs)
    found, told = _found(cases, settings)
    missed = misfits(cases, found[0], threshold=settings.threshold)
    if told:  # the method has said already that its error is too large
        missed = tuple(one for one in missed if one.code == "knee")
    formulas = [one.formula for one in found]
    inputs, dropped = used(total(formulas), runs)
    named = enumerate(found[0].coefficients, start=1)
    fitted = FittedFormula(
        _NAME,
        formulas[0],
        inputs,
        dropped=dropped,
        doubts=(*few(cases), *told, *missed, *_not_whole(cases, settings)),
        coefficients=tuple((f"c{i}", value) for i, value in named),
        alternatives=tuple(
            (one.share, formula) for one, formula in zip(found, formulas, strict=True)
        ),
        error=found[0].error,
    )
    return finite(fitted, runs)


def _not_whole(cases: RunTable, settings: FamilySettings) -> tuple[Doubt, ...]:
    off = np.abs(cases.values - np.round(cases.values))
    if not settings.whole or (off <= _WHOLE).all():
        return ()
    told = "a recorded weight is not a whole number; they are counts of occurrences"
    return (Doubt("not-whole", told),)


def _found(
    cases: RunTable, settings: FamilySettings
) -> tuple[tuple[CandidateSum, ...], tuple[Doubt, ...]]:
    """Return sums that fit, the best first, and what the method doubts."""

    def of_one(line: RunTable) -> tuple[tuple[CandidateSum, ...], tuple[Doubt, ...]]:
        if settings.thesis:
            return thesis.procedure(line, threshold=settings.threshold)
        return candidates(line, whole=settings.whole), ()

    alone = settings.separately or settings.thesis
    if len(cases.varied) > 1 and alone:
        return one_input_at_a_time.multiply(cases, of_one, threshold=settings.threshold)
    return of_one(cases)


WORKLOAD_FAMILY = ModelFamily(
    _NAME,
    source="Martinez Canillas 2011, table 2.1 and section 5.5",
    assumes="few parts, each of which grows with sizes as n^i log^j n, or falls as "
    "processes share it",
    fit=_fit,
)
