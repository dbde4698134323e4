"""What a skeleton keeps: computation and classes of calls, adding up to all of them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from skelgen.skeleton import KeptClass, Report

#: Classes of calls that have a row of their own.
MOST_CLASSES = 40


@dataclass(frozen=True, slots=True)
class KeptRow:
    """One row of the table; times of all ranks [s].

    Attributes
    ----------
    label : str
    calls, kept : int or None
        None for computation.
    time_s, kept_s : float
    error : float or None
        Largest relative deviation on a rank from what was asked for [1].
    """

    label: str
    calls: int | None
    kept: int | None
    time_s: float
    kept_s: float
    error: float | None


def kept_rows(report: Report) -> tuple[KeptRow, ...]:
    """List computation, then classes of calls by the time inside them."""
    classes = sorted(report.classes, key=lambda one: -_inside_s(one))
    compute = KeptRow(
        "computation before calls",
        None,
        None,
        math.fsum(one.compute_s for one in classes),
        math.fsum(one.kept_compute_s for one in classes),
        None,
    )
    rows = [_row(one.label, [one]) for one in classes[:MOST_CLASSES]]
    if rest := classes[MOST_CLASSES:]:
        rows.append(_row(f"{len(rest)} further classes", rest))
    return (compute, *rows)


def _row(label: str, classes: Sequence[KeptClass]) -> KeptRow:
    return KeptRow(
        label,
        sum(one.calls for one in classes),
        sum(one.kept for one in classes),
        math.fsum(_inside_s(one) for one in classes),
        math.fsum(one.kept_s - one.kept_compute_s for one in classes),
        max(one.error for one in classes),
    )


def _inside_s(one: KeptClass) -> float:
    return one.seconds - one.compute_s
