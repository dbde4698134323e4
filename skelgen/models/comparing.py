"""Families on the same runs: how well each predicts runs ahead of those it has seen."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from skelgen.errors import InputError
from skelgen.models import runs_ahead
from skelgen.models.families import FAMILIES, FamilySettings
from skelgen.models.model import fit_model
from skelgen.models.quantities import Quantity
from skelgen.models.run_quantities import RunQuantity, of_runs
from skelgen.models.runs import RunTable


@dataclass(frozen=True, slots=True)
class FamilyScore:
    """How a family did.

    Attributes
    ----------
    family : str
    median_error, worst_error : float
        Relative, of runs ahead; nan where it failed [1].
    coverage : float
        Share of these runs inside of the 90 % interval [1].
    half_width : float
        Median of the intervals [1].
    formula : str
        Fitted to all runs; empty where that failed.
    seconds : float
        For all fits [s].
    failed : str
        Why it gave no answer; else empty.
    """

    family: str
    median_error: float = float("nan")
    worst_error: float = float("nan")
    coverage: float = float("nan")
    half_width: float = float("nan")
    formula: str = ""
    seconds: float = 0.0
    failed: str = ""


def compare(
    runs: RunTable,
    families: Sequence[str] = (),
    settings: Mapping[str, FamilySettings] | None = None,
    measured: RunQuantity | None = None,
) -> Iterator[FamilyScore]:
    """Let families predict runs ahead of those that they have seen.

    Parameters
    ----------
    runs : RunTable
    families : sequence of str
        All of `FAMILIES` that need not be told a formula when empty.
    settings : mapping of str to FamilySettings, optional
        By family.
    measured : RunQuantity, optional
        What the families are asked for; None: times.

    Yields
    ------
    FamilyScore
        In the order of the families.

    Raises
    ------
    InputError
        When there are too few different runs to leave some out.
    """
    parts = list(runs_ahead.folds(runs))
    if not parts:
        raise InputError(
            f"{len(runs)} runs of {len(np.unique(runs_ahead.order(runs)))} sizes: "
            "three different ones are needed to learn from some and to ask for others"
        )
    measured = measured or of_runs(runs, Quantity())
    if not any(measured.judged[rest].any() for _, rest in parts):
        raise InputError(
            f"{measured.quantity.kind}: no run ahead of others has one; add larger "
            "runs at the reference, or compare times"
        )
    for family in families or not_told():
        yield _score(measured, runs, family, (settings or {}).get(family), parts)


def not_told() -> tuple[str, ...]:
    """Return the families that find their formula by themselves."""
    return tuple(name for name, one in FAMILIES.items() if not one.told)


def _score(
    measured: RunQuantity,
    runs: RunTable,
    family: str,
    settings: FamilySettings | None,
    parts: Sequence[tuple[runs_ahead.Indices, runs_ahead.Indices]],
) -> FamilyScore:
    begin = time.process_time()
    errors: list[float] = []
    inside: list[bool] = []
    widths: list[float] = []
    truths = measured.of(runs.values)
    try:
        formula = fit_model(runs, family, settings).text
        for behind, rest in parts:
            model = fit_model(runs.only(behind), family, settings)
            for row in rest[measured.judged[rest]]:
                at = {name: float(v[row]) for name, v in runs.columns.items()}
                truth, found = truths[row], measured.ask(model, at, row).interval
                errors.append(abs(found.p50 / truth - 1.0))
                inside.append(bool(found.p5 <= truth <= found.p95))
                widths.append(found.half_width)
    except InputError as error:
        return FamilyScore(
            family, seconds=time.process_time() - begin, failed=str(error)
        )
    return FamilyScore(
        family,
        median_error=float(np.median(errors)),
        worst_error=max(errors),
        coverage=float(np.mean(inside)),
        half_width=float(np.median(widths)),
        formula=formula,
        seconds=time.process_time() - begin,
    )
