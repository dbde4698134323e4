"""What a page says first: the newest prediction, those before it, the calibrations."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from skelgen.prediction.kept import KeptPrediction, KeptSet
from skelgen.prediction.skeleton_facts import SkeletonFacts
from skelgen.prediction.types import Calibration
from skelgen.trust.types import PHASES
from skelgen.units import format_moment, format_seconds
from skelgen.web.interval_picture import DotPicture, IntervalRow, dot_picture

#: Calibrations and earlier predictions of a page, the newest.
MOST_CALIBRATIONS, MOST_EARLIER = 20, 20

#: A time that differs less from another is as long [1].
_SAME = 0.05


@dataclass(frozen=True, slots=True)
class CalibrationRow:
    """One calibration, for people.

    Attributes
    ----------
    date, where, mpi, ratio, application, skeleton, runs, load : str
    is_used : bool
        Whether it is the newest.
    """

    date: str
    where: str
    mpi: str
    ratio: str
    application: str
    skeleton: str
    runs: str
    load: str
    is_used: bool


@dataclass(frozen=True, slots=True)
class Answer:
    """What stands on top of a page.

    Attributes
    ----------
    headline : str
        One sentence.
    verdict : str
        ``trust``, ``do not trust``, or nothing.
    notes : tuple of str
        Why it should not be trusted, and what to do next.
    rule : str
        How the newest prediction was made.
    newest : KeptPrediction or None
    picture : DotPicture or None
        Its node sets.
    earlier : tuple of (KeptPrediction, KeptSet)
        Predictions before it with their best node set, the newest first.
    calibrations : tuple of CalibrationRow
        The newest first.
    ratios : DotPicture or None
        Of the calibrations.
    """

    headline: str
    verdict: str
    notes: tuple[str, ...]
    rule: str
    newest: KeptPrediction | None
    picture: DotPicture | None
    earlier: tuple[tuple[KeptPrediction, KeptSet], ...]
    calibrations: tuple[CalibrationRow, ...]
    ratios: DotPicture | None


def answer_of(
    facts: SkeletonFacts | None, predictions: Sequence[KeptPrediction] = ()
) -> Answer:
    """Collect what is known of the application's time.

    Parameters
    ----------
    facts : SkeletonFacts or None
        None where nothing but the signature is known.
    predictions : sequence of KeptPrediction
        The oldest first.
    """
    newest = predictions[-1] if predictions else None
    known = facts.calibrations if facts is not None else ()
    headline, verdict, notes = _said(facts, newest)
    earlier = [(one, one.sets[0]) for one in reversed(predictions[:-1]) if one.sets]
    return Answer(
        headline=headline,
        verdict=verdict,
        notes=notes,
        rule="" if newest is None else _rule(facts, newest),
        newest=newest,
        picture=None if newest is None else _times(newest),
        earlier=tuple(earlier[:MOST_EARLIER]),
        calibrations=tuple(
            _row(one, is_used=one is known[-1])
            for one in reversed(known[-MOST_CALIBRATIONS:])
        ),
        ratios=None if facts is None else _ratios(facts),
    )


def _said(
    facts: SkeletonFacts | None, newest: KeptPrediction | None
) -> tuple[str, str, tuple[str, ...]]:
    """Return the sentence on top, the verdict, and what else to say."""
    if newest is not None and newest.sets:
        best = newest.sets[0]
        return _sentence(newest, best), best.verdict, (*best.doubts, *best.notes)
    if newest is not None and newest.failed:
        name, reason = newest.failed[0]
        return f"No prediction: no node set ran. {name}: {reason}", "", ()
    if newest is not None and newest.state == "running":
        return "No prediction yet: skelgen select is running.", "", ()
    if facts is None:
        return "No prediction: this page is about a signature alone.", "", ()
    if (known := facts.calibration) is None:
        took = format_seconds(facts.application_s)
        said = f"No prediction yet. The recorded run took {took}."
        todo = "Calibrate next, on a quiet machine: skelgen calibrate; then predict."
        return said, "", (todo,)
    quiet = format_seconds(known.application_s)
    said = (
        f"No prediction yet. The application takes {quiet} on {_where(known)}, quiet."
    )
    return said, "", ("Next: skelgen predict, or skelgen select to choose nodes.",)


def _sentence(newest: KeptPrediction, best: KeptSet) -> str:
    """Say the answer: time, where, interval, and against the quiet time."""
    width = f"{format_seconds(best.p5_s)} to {format_seconds(best.p95_s)}"
    factor = best.predicted_s / newest.quiet_s
    quiet = "quiet time" if newest.calibrated else "time of the recorded run"
    than = f"{factor:.2g} times the {quiet}"
    if abs(factor - 1) < _SAME:
        than = f"as long as the {quiet}"
    among = len(newest.sets) + len(newest.failed)
    rank = f", the best of {among} node sets" if among > 1 else ""
    so_far = {"running": " so far", "ended early": " when it was ended"}
    return (
        f"{format_seconds(best.predicted_s)} on {best.name} ({width}), {than}"
        f"{rank}{so_far.get(newest.state, '')}"
    )


def _rule(facts: SkeletonFacts | None, newest: KeptPrediction) -> str:
    """Say how times of the application follow; see `skelgen.prediction.scaling`."""
    if facts is None or newest.method == PHASES:
        return "The time of each phase there, times how often it comes."
    if facts.calibration is None:
        return (
            "The skeleton's time there, times the recorded time over the skeleton's "
            "expected time: there is no calibration."
        )
    if facts.correction != facts.expected_ratio:
        return "The skeleton's time there, times the ratio that calibrate measured."
    return (
        "The skeleton's time there, scaled by the share of the calls that it keeps, "
        "then corrected by what the scaled skeleton and the application differed in "
        "the quiet runs of the calibration. The longer the skeleton takes there, the "
        "smaller is the correction."
    )


def _times(newest: KeptPrediction) -> DotPicture | None:
    dots = [
        IntervalRow(
            one.name,
            format_seconds(one.predicted_s),
            one.p5_s,
            one.predicted_s,
            one.p95_s,
            not one.doubts,
        )
        for one in newest.sets
    ]
    what = "quiet" if newest.calibrated else "recorded"
    title = "Predicted time of each node set with its 90 % interval"
    return dot_picture(
        title, dots, " s", (newest.quiet_s, f"{what}: {format_seconds(newest.quiet_s)}")
    )


def _ratios(facts: SkeletonFacts) -> DotPicture | None:
    dots = []
    for one in reversed(facts.calibrations[-MOST_CALIBRATIONS:]):
        application, skeleton = one.application_runs_s, one.skeleton_runs_s
        least = min(application) / max(skeleton)
        most = max(application) / min(skeleton)
        name = f"{format_moment(one.date)} on {_where(one)}"
        dots.append(IntervalRow(name, f"{one.ratio:.3f}", least, one.ratio, most))
    expected = facts.expected_ratio
    title = "Measured ratio application / skeleton of each calibration"
    return dot_picture(title, dots, "", (expected, f"expected: {expected:.3f}"))


def _row(one: Calibration, *, is_used: bool) -> CalibrationRow:
    return CalibrationRow(
        date=format_moment(one.date),
        where=_where(one),
        mpi=one.mpi,
        ratio=f"{one.ratio:.3f}",
        application="recorded " * one.recorded + format_seconds(one.application_s),
        skeleton=format_seconds(one.skeleton_s),
        runs=str(len(one.skeleton_runs_s)),
        load=", ".join(f"{value:g}" for value in one.load[:3]),
        is_used=is_used,
    )


def _where(one: Calibration) -> str:
    return ",".join(one.hosts) or one.host
