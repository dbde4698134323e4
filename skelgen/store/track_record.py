"""How far past predictions were from what happened."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from skelgen.store.rows import StoredPrediction
from skelgen.trust.cases import Case


@dataclass(frozen=True, slots=True)
class TrackRecord:
    """What became of the predictions of one method.

    Attributes
    ----------
    method : str
    predictions : int
        All that were kept.
    happened : int
        Those whose truth is known; the figures below are of these.
    median_error, p90_error : float
        Absolute values of predicted / truth - 1 [1]; nan without a truth.
    inside : float
        Part of the truths inside the 90 % interval [0 to 1]; nan without a truth.
    doubted : int
        Predictions whose verdict was not ``trust``.
    """

    method: str
    predictions: int
    happened: int
    median_error: float
    p90_error: float
    inside: float
    doubted: int


def happened(prediction: StoredPrediction) -> bool:
    """Say whether the truth of a prediction is known."""
    times_s = prediction.truth_s, prediction.interval.p50
    return all(math.isfinite(one) and one > 0 for one in times_s)


def error_of(prediction: StoredPrediction) -> float:
    """Return how far a prediction was off: predicted / truth - 1 [1]."""
    return prediction.interval.p50 / prediction.truth_s - 1


def track_records(predictions: Iterable[StoredPrediction]) -> list[TrackRecord]:
    """Say of each method how good its predictions were, by the method's name."""
    methods: dict[str, list[StoredPrediction]] = {}
    for one in predictions:
        methods.setdefault(one.method, []).append(one)
    return [_track_record(name, methods[name]) for name in sorted(methods)]


def records_by(
    predictions: Iterable[StoredPrediction], name_of: Callable[[StoredPrediction], str]
) -> list[tuple[str, TrackRecord]]:
    """Say how good predictions were, by a name of each prediction.

    Parameters
    ----------
    predictions : iterable of StoredPrediction
    name_of : callable
        Names what a prediction counts for; the methods of a name stand in its record.
    """
    by_name: dict[str, list[StoredPrediction]] = {}
    for one in predictions:
        by_name.setdefault(name_of(one), []).append(one)
    return [
        (name, _track_record(", ".join(sorted({one.method for one in those})), those))
        for name, those in sorted(by_name.items())
    ]


def _track_record(method: str, predictions: Sequence[StoredPrediction]) -> TrackRecord:
    import numpy as np

    known = [one for one in predictions if happened(one)]
    errors = [abs(error_of(one)) for one in known]
    nan = math.nan
    median, p90 = np.quantile(errors, [0.5, 0.9]).tolist() if errors else (nan, nan)
    held = [one.interval.p5 <= one.truth_s <= one.interval.p95 for one in known]
    return TrackRecord(
        method=method,
        predictions=len(predictions),
        happened=len(known),
        median_error=median,
        p90_error=p90,
        inside=sum(held) / len(held) if held else math.nan,
        doubted=sum(one.verdict != "trust" for one in predictions),
    )


def cases(predictions: Iterable[StoredPrediction]) -> list[Case]:
    """Return what errors of methods are learnt from: trusted predictions and truths.

    A prediction that was doubted says nothing about an interval that nobody was to
    trust. Where it is not known what was measured, all of the error is the method's.
    """
    return [
        _case(one) for one in predictions if happened(one) and one.verdict == "trust"
    ]


def _case(one: StoredPrediction) -> Case:
    middle_s = one.interval.p50
    low_s = high_s = middle_s
    if (found := one.measured) and 0 < found.p5 <= middle_s <= found.p95:
        low_s, high_s = found.p5, found.p95
    return Case(
        method=one.method,
        application=one.application,
        family=one.family,
        predicted_s=middle_s,
        truth_s=one.truth_s,
        p5_s=low_s,
        p95_s=high_s,
    )
