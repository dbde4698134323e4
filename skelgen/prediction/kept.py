"""The file ``predictions.json`` of a skeleton's folder: its newest predictions.

The page of the folder shows them. Whoever has the folder may write the file: what it
says is shown as text and used for nothing else.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from skelgen.documents import Field, sealed_json
from skelgen.documents.document_field import read_given
from skelgen.documents.files import as_text, read_bytes
from skelgen.documents.json_document import json_field
from skelgen.errors import NoFileError
from skelgen.launch.folders import replace_file
from skelgen.prediction.trials import name_of
from skelgen.prediction.types import Failure, Prediction

PREDICTIONS_FILE = "predictions.json"
_FORMAT = 1

#: Predictions of a file, node sets of the newest one and of those before it, doubts of
#: a node set, and characters of one text.
MOST_PREDICTIONS, _MOST_SETS, _MOST_OLDER_SETS, _MOST_DOUBTS = 50, 100, 4, 12
_MOST_CHARACTERS = 400
_MOST_BYTES = 4 << 20


@dataclass(frozen=True, slots=True)
class KeptSet:
    """The answer for one node set.

    Attributes
    ----------
    name : str
        The node set.
    predicted_s, p5_s, p95_s : float
        Time of the application [s].
    skeleton_s : float
        Median of the skeleton's times there; 0 where none ran [s].
    runs : int
        Of the skeleton there.
    doubts : tuple of str
        Why it should not be trusted.
    best : float or None
        Probability that the application is fastest there, where that was asked [1].
    notes : tuple of str
        What else happened.
    """

    name: str
    predicted_s: float
    p5_s: float
    p95_s: float
    skeleton_s: float = 0.0
    runs: int = 0
    doubts: tuple[str, ...] = ()
    best: float | None = None
    notes: tuple[str, ...] = ()

    @property
    def verdict(self) -> str:
        """Return ``trust`` or ``do not trust``."""
        return "do not trust" if self.doubts else "trust"


@dataclass(frozen=True, slots=True)
class KeptPrediction:
    """What one command predicted.

    Attributes
    ----------
    made : str
        When it began (ISO, UTC).
    command : str
        ``predict``, ``select`` or ``measure``.
    method : str
        As facts of a skeleton have it.
    state : str
        ``running``, ``done`` or ``ended early``.
    quiet_s : float
        Time of the application that it is compared with [s].
    calibrated : bool
        Whether that is of a calibration; else of the recorded run.
    sets : tuple of KeptSet
        The best first.
    failed : tuple of (str, str)
        Node sets without an answer, and why.
    """

    made: str
    command: str
    method: str
    state: str
    quiet_s: float
    calibrated: bool
    sets: tuple[KeptSet, ...]
    failed: tuple[tuple[str, str], ...] = ()


def kept_set(one: Prediction, best: float | None = None) -> KeptSet:
    """Return what is kept of a prediction for a node set."""
    return KeptSet(
        name=name_of(one.hosts),
        predicted_s=one.time_s.p50,
        p5_s=one.time_s.p5,
        p95_s=one.time_s.p95,
        skeleton_s=one.skeleton_s if one.runs_s else 0.0,
        runs=len(one.runs_s),
        doubts=tuple(str(doubt) for doubt in one.doubts),
        best=best,
        notes=one.notes,
    )


def kept_failure(one: Failure) -> tuple[str, str]:
    """Return what is kept of a node set without a prediction."""
    return name_of(one.hosts), one.reason


def with_newest(
    known: Sequence[KeptPrediction], newest: KeptPrediction
) -> tuple[KeptPrediction, ...]:
    """Put a prediction behind those before it, or in the place of the same one.

    Examples
    --------
    >>> one = KeptPrediction("2026-01-01", "predict", "", "running", 1.0, True, ())
    >>> [two.state for two in with_newest([one], replace(one, state="done"))]
    ['done']
    """
    before = [
        replace(one, sets=one.sets[:_MOST_OLDER_SETS], failed=())
        for one in known
        if (one.made, one.command) != (newest.made, newest.command)
    ]
    newest = replace(
        newest, sets=newest.sets[:_MOST_SETS], failed=newest.failed[:_MOST_SETS]
    )
    return (*before[1 - MOST_PREDICTIONS :], newest)


def load_kept(folder: Path) -> tuple[KeptPrediction, ...]:
    """Read the predictions of a folder, the oldest first; none without a file.

    Raises
    ------
    InputError
        When the file is damaged.
    """
    path = folder / PREDICTIONS_FILE
    try:
        text = as_text(path, read_bytes(path, most_bytes=_MOST_BYTES))
    except NoFileError:
        return ()
    fields = json_field(text, path).mapping(("format", "predictions"), None)
    fields["format"].integer(_FORMAT, _FORMAT)
    found = fields["predictions"].items()[-MOST_PREDICTIONS:]
    return tuple(_prediction(field) for field in found)


def save_kept(folder: Path, known: Sequence[KeptPrediction]) -> None:
    """Write the predictions of a folder.

    Raises
    ------
    UsageError
        When the folder cannot be written.
    """
    content = {"format": _FORMAT, "predictions": [_shortened(asdict(o)) for o in known]}
    replace_file(folder / PREDICTIONS_FILE, sealed_json(content))


def _shortened(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _shortened(inner) for name, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_shortened(inner) for inner in value]
    return value[:_MOST_CHARACTERS] if isinstance(value, str) else value


def _prediction(field: Field) -> KeptPrediction:
    names = (
        "made",
        "command",
        "method",
        "state",
        "quiet_s",
        "calibrated",
        "sets",
        "failed",
    )
    parts = field.mapping(names, None)
    return KeptPrediction(
        made=_text(parts["made"]),
        command=_text(parts["command"]),
        method=_text(parts["method"]),
        state=_text(parts["state"]),
        quiet_s=parts["quiet_s"].positive(),
        calibrated=parts["calibrated"].truth(),
        sets=tuple(_set(one) for one in parts["sets"].items()[:_MOST_SETS]),
        failed=tuple(_pair(one) for one in parts["failed"].items()[:_MOST_SETS]),
    )


def _set(field: Field) -> KeptSet:
    times = ("predicted_s", "p5_s", "p95_s")
    parts = field.mapping(
        ("name", *times, "skeleton_s", "runs", "doubts", "best"), None
    )
    best = parts["best"]
    return KeptSet(
        name=_text(parts["name"]),
        predicted_s=parts["predicted_s"].positive(),
        p5_s=parts["p5_s"].positive(),
        p95_s=parts["p95_s"].positive(),
        skeleton_s=parts["skeleton_s"].amount(),
        runs=parts["runs"].integer(0, 1 << 40),
        doubts=_notes(parts["doubts"]),
        best=None if best.is_null() else best.amount(),
        **read_given(parts, {"notes": _notes}),
    )


def _notes(field: Field) -> tuple[str, ...]:
    return tuple(_text(one) for one in field.items()[:_MOST_DOUBTS])


def _pair(field: Field) -> tuple[str, str]:
    words = [_text(one) for one in field.items()]
    if len(words) != 2:
        raise field.error(f"read {len(words)} words, expected a node set and a reason")
    return words[0], words[1]


def _text(field: Field) -> str:
    return field.text()[:_MOST_CHARACTERS]
