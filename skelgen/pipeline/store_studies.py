"""From workload studies to runs and predictions of the store."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from skelgen.errors import InputError, SkelgenError
from skelgen.launch.command import program_words
from skelgen.launch.mpi import MpiKind
from skelgen.store import Row, Run, StoredPrediction
from skelgen.store.formats.identity import identity_of
from skelgen.store.formats.limits import LimitError, check_run
from skelgen.store.formats.recorded import parts_of
from skelgen.store.formats.typed_values import TypedValues
from skelgen.trust import Interval
from skelgen.workload import Study, store
from skelgen.workload.types import Point


def rows_of_study(path: Path, known: TypedValues, made: float) -> tuple[Row, ...]:
    """Return a run for each recorded workload of a study, its phases as parts.

    A workload whose phases were executed alone did not run: it is a prediction.

    Parameters
    ----------
    path : Path
    known : TypedValues
        What holds for all of them.
    made : float
        Date of the study, seconds since 1970 in UTC [s].

    Raises
    ------
    InputError
        When the study is damaged, or says something else than `known`.
    """
    study = store.load(path)
    application = known.application or _application(study, path)
    rows = []
    for point in study.points:
        if point.measured:
            rows.append(_prediction(path, application, point, known, made))
        else:
            rows.append(_run(path, application, point, known))
    return tuple(rows)


def _application(study: Study, path: Path) -> str:
    """Return the program that a study launches, or else the name of its file."""
    try:
        words = program_words(study.command, MpiKind.UNKNOWN)
    except SkelgenError:
        words = []
    return Path(words[0]).name if words else path.stem


def _run(path: Path, application: str, point: Point, known: TypedValues) -> Row:
    run = Run(
        application=application,
        time_s=point.application_s,
        ranks=point.ranks,
        inputs=tuple(sorted(point.at)),
        parts=parts_of(
            ((one.key, float(one.weight), one.time_s) for one in point.phases),
            point.application_s,
        ),
        source=f"{path.name} {point.run}",
        identity=identity_of(
            *("study", application, sorted(point.at), point.run, point.ranks),
            point.application_s,
        ),
    )
    try:
        return check_run(replace(known, application="").complete(run))
    except LimitError as error:
        raise InputError(f"{path}: {point.run}: {error}") from error


def _prediction(
    path: Path, application: str, point: Point, known: TypedValues, made: float
) -> Row:
    middle_s = point.application_s
    half_s = min(point.half_width, 1.0) * middle_s
    return StoredPrediction(
        method="phases",
        application=application,
        interval=Interval(middle_s - half_s, middle_s, middle_s + half_s),
        made=made,
        inputs=tuple(sorted({**dict(known.inputs), **dict(point.at)}.items())),
        ranks=point.ranks,
        hosts=known.hosts,
        source=f"{path.name} {point.run}",
        identity=identity_of(
            *("study", application, sorted(point.at), point.run, point.ranks),
            middle_s,
        ),
    )
