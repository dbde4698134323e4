"""Keep predictions in a store, so that they can be compared with what happens."""

from __future__ import annotations

import contextlib
import logging
import math
import os
import platform
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from skelgen.errors import SkelgenError
from skelgen.launch.mpi import MpiKind, kind_of
from skelgen.store import (
    Condition,
    Inputs,
    Run,
    Store,
    StoredPrediction,
    open_store,
    place_of,
)
from skelgen.trust import Doubt, Interval, verdict_of

if TYPE_CHECKING:
    from skelgen.launch.hosts import Host
    from skelgen.prediction import Calibration, TrialFacts
    from skelgen.prediction import Prediction as Predicted

logger = logging.getLogger(__name__)

#: A recording's date is that of its first rank in whole seconds; others may have begun
#: so long before or after it [s].
_APART_S = 60.0

#: By how much the time of a recorded run may differ from that in its signature [1].
_SAME_TIME = 1e-5


@dataclass(frozen=True, slots=True)
class Keeping:
    """Where predictions are kept, and what the user says they are about.

    Attributes
    ----------
    store : str or None
        Path or URL; that of ``SKELGEN_STORE`` when None, else the user's store if there
        is one. Else nothing is kept.
    application : str
        As runs of it are called in the store; as recorded when empty.
    inputs : tuple of (str, float or str), or None
        Those of the recorded run, where the store has it, when None.
    """

    store: str | None = None
    application: str = ""
    inputs: Inputs | None = None


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")


def machine_load() -> tuple[float, ...]:
    """Return the load averages of this host; none where the system has none."""
    with contextlib.suppress(OSError):
        return tuple(round(value, 2) for value in os.getloadavg())
    return ()


@dataclass(frozen=True, slots=True)
class Subject:
    """What predictions are about.

    Attributes
    ----------
    method : str
        As `skelgen.trust` has it.
    application, recorded : str
        Name of the program and date of the recorded run (ISO, UTC); empty where they
        are not known.
    recorded_s : float
        Its time [s].
    ranks : int
    mpi : str
        Library of the recording.
    source : Path
        Skeleton, phase signature or study.
    inputs : tuple of (str, float or str)
        What they say of their inputs themselves.
    family : str
        Of a model; empty: the kind of MPI library.
    scaling_factor : float or None
        K of the skeleton [1]; None where there is none.
    running_mpi : str
        Library that the skeleton or the phases run with.
    calibration : Calibration or None
        The newest of the skeleton.
    date : str
        When it was predicted (ISO, UTC).
    load : tuple of float
        Load averages of this host then.
    """

    method: str
    application: str
    recorded: str
    recorded_s: float
    ranks: int
    mpi: str
    source: Path
    inputs: Inputs = ()
    family: str = ""
    scaling_factor: float | None = None
    running_mpi: str = ""
    calibration: Calibration | None = None
    date: str = field(default_factory=_now)
    load: tuple[float, ...] = field(default_factory=machine_load)

    @classmethod
    def of(cls, facts: TrialFacts, source: Path, mpi: str = "") -> Subject:
        """Return what is known of a skeleton, or of a phase signature run as one.

        Parameters
        ----------
        facts : TrialFacts
        source : Path
            Where it is.
        mpi : str
            Library that runs it.
        """
        return cls(
            method=facts.method,
            application=facts.application,
            recorded=facts.recorded,
            recorded_s=facts.application_s,
            ranks=facts.ranks,
            mpi=facts.mpi,
            source=source,
            scaling_factor=facts.scaling_factor,
            running_mpi=mpi,
            calibration=facts.calibration,
        )


@dataclass(frozen=True, slots=True)
class ModelAnswer:
    """One prediction.

    Attributes
    ----------
    time_s, measured_s : Interval
        With the error of the method and without it [s].
    doubts : tuple of Doubt
    hosts : tuple of str
        Empty where it is about no hosts.
    """

    time_s: Interval
    measured_s: Interval
    doubts: tuple[Doubt, ...]
    hosts: tuple[str, ...] = ()


def keep_predicted(
    keeping: Keeping | None, subject: Subject, predictions: Iterable[Predicted]
) -> Subject:
    """Keep predictions for node sets; see `keep`."""
    return keep(
        keeping,
        subject,
        [
            ModelAnswer(one.time_s, one.measured_s, one.doubts, names(one.hosts))
            for one in predictions
        ],
    )


def keep(
    keeping: Keeping | None, subject: Subject, answers: Sequence[ModelAnswer]
) -> Subject:
    """Keep predictions in the store, if one is set.

    A store that does not take them is a warning: the answer itself is as good.

    Parameters
    ----------
    keeping : Keeping or None
        Nothing is kept without it.
    subject : Subject
    answers : sequence of ModelAnswer

    Returns
    -------
    Subject
        As it is kept: with what the user says of it and what the store knows.
    """
    if keeping is None:
        return subject
    about = _as_said(subject, keeping)
    made = time.time()
    try:
        if not (answers and place_of(keeping.store).is_set):
            return about
        with open_store(keeping.store) as store:
            about = _known(store, about, keeping)
            added = store.add(_row(one, about, made) for one in answers)
    except (SkelgenError, OSError) as error:
        logger.warning("the prediction was not kept: %s", error)
        return about
    for refused in added.refused:
        logger.warning("a prediction was not kept: %s", refused.reason)
    logger.info("predictions kept: %d", len(added.added))
    return about


def _as_said(subject: Subject, keeping: Keeping) -> Subject:
    """Fill in what the user says."""
    merged = {**dict(subject.inputs), **dict(keeping.inputs or ())}
    return replace(
        subject,
        application=keeping.application or subject.application,
        inputs=tuple(sorted(merged.items())),
    )


def _known(store: Store, subject: Subject, keeping: Keeping) -> Subject:
    """Fill in what the store knows of the recorded run, unless inputs were said."""
    if keeping.inputs is not None or subject.inputs:
        return subject
    runs = _recorded(store, subject)
    known = {(run.application, run.inputs) for run in runs}
    if len(known) != 1:
        return subject
    ((application, inputs),) = known
    return replace(
        subject, application=keeping.application or application, inputs=inputs
    )


def _recorded(store: Store, subject: Subject) -> list[Run]:
    """Return the recorded run, if the store has it."""
    try:
        began = datetime.fromisoformat(subject.recorded)
    except ValueError:
        return []
    if began.tzinfo is None:  # of a shared signature: only the month
        return []
    began_s = began.timestamp()
    near = (
        Condition("started", ">=", began_s - _APART_S),
        Condition("started", "<=", began_s + _APART_S),
        Condition("ranks", "=", float(subject.ranks)),
    )
    return [
        run
        for run in store.runs(where=near)
        if math.isclose(run.time_s, subject.recorded_s, rel_tol=_SAME_TIME)
    ]


def _row(answer: ModelAnswer, about: Subject, made: float) -> StoredPrediction:
    kind = kind_of(about.mpi)
    return StoredPrediction(
        method=about.method,
        application=about.application,
        interval=answer.time_s,
        made=made,
        verdict=verdict_of(answer.doubts),
        doubts=tuple(dict.fromkeys(one.code for one in answer.doubts)),
        inputs=about.inputs,
        ranks=about.ranks,
        hosts=answer.hosts,
        source=str(about.source.absolute()),
        measured=answer.measured_s,
        family=about.family or ("" if kind is MpiKind.UNKNOWN else kind.title),
    )


def names(hosts: Sequence[Host]) -> tuple[str, ...]:
    """Return the names of a node set as runs will have them.

    The empty one is this machine.
    """
    here = platform.node()
    found = [here if _is_here(host.name) else host.name for host in hosts]
    return tuple(dict.fromkeys(found)) or (here,)


def _is_here(name: str) -> bool:
    return name == "localhost" or name.startswith("127.") or name == "::1"
