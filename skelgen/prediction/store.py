"""The file ``skeleton.json`` of a skeleton's folder.

`SkeletonDescription` writes it. Here it is read, and calibrations are added to it: what
another version of skelgen wrote beside them stays.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import MISSING, asdict, fields, replace
from pathlib import Path
from typing import Any

from skelgen.documents import Field, read_json, sealed_json
from skelgen.documents.numbers import MOST_RANKS
from skelgen.errors import InputError, NoFileError
from skelgen.launch.folders import replace_file
from skelgen.launch.secrets import hidden
from skelgen.launch.variables import settings_of
from skelgen.matching.waits import WAIT_WORDS, WaitState
from skelgen.prediction.description import FACTS_FILE, FORMAT
from skelgen.prediction.types import Calibration, SkeletonFacts
from skelgen.reference.compute import ComputeCalibration as Speed
from skelgen.reference.compute import read_calibration
from skelgen.skeleton.types import PAPER_2005, WHOLE_EVENTS
from skelgen.trust.recording_doubts import read_unseen
from skelgen.trust.skeleton_doubts import read_not_computed

#: Fields of every skeleton; `_facts` knows those that older ones lack.
_FIELDS = (
    "ranks", "scaling_factor", "expected_s", "application_s", "smallest_good_s",
    "dropped_share", "mpi", "signature", "command", "calibration",
)  # fmt: skip


def save_calibration(measured: Calibration, folder: Path) -> None:
    """Store the ratio of a skeleton beside it, behind those of earlier calls.

    Raises
    ------
    UsageError
        When the folder cannot be written.
    """
    document = _document(folder)
    known = document.mapping(("command", "calibration"), None)
    content = {
        **document.value,
        "command": hidden(known["command"].texts()),
        "calibration": None,
        "calibrations": [asdict(one) for one in (*_calibrations(known), measured)],
    }
    replace_file(folder / FACTS_FILE, sealed_json(content))


def load(folder: Path) -> SkeletonFacts:
    """Read what is known about the skeleton in a folder.

    Raises
    ------
    InputError
        When the folder holds no skeleton or its description is damaged.
    """
    with _rebuilt():
        return _facts(_fields(_document(folder)))


def load_compute(folder: Path) -> Speed:
    """Read how fast the computation of the skeleton in a folder is.

    Raises
    ------
    InputError
        When the folder holds no skeleton or its description is damaged.
    """
    with _rebuilt():
        fields = _document(folder).mapping(("compute",), optional=None)
        return read_calibration(fields["compute"])


@contextmanager
def _rebuilt() -> Iterator[None]:
    """Say what to do when a description is not what it should be."""
    try:
        yield
    except _NoSkeletonError:
        raise
    except InputError as error:
        raise InputError(f"{error}; build it again with skelgen build") from error


class _NoSkeletonError(InputError):
    """There is no description at all."""


def _document(folder: Path) -> Field:
    path = folder / FACTS_FILE
    if folder.is_file():
        raise _NoSkeletonError(
            f"{folder} is a file; give the folder that skelgen build wrote"
        )
    try:
        document = read_json(path)
    except NoFileError as error:
        raise _NoSkeletonError(
            f"{folder} is not a skeleton's folder (no {FACTS_FILE}); make one with "
            "skelgen build"
        ) from error
    version = document.mapping(("format",), optional=None)["format"]
    version.integer(FORMAT, FORMAT)
    return document


def _fields(document: Field) -> dict[str, Field]:
    """Return the fields of a skeleton; older ones call the scaling factor scale."""
    given = document.mapping(optional=None)
    if "scale" in given and "scaling_factor" not in given:
        older = {"scaling_factor": given["scale"].value}
        document = replace(document, value={**document.value, **older})
    return document.mapping(_FIELDS, optional=None)


def _facts(fields: Mapping[str, Field]) -> SkeletonFacts:
    recorded = fields["signature"].mapping(("ranks_per_host",), optional=None)
    folder, environment = _launch(fields.get("launch"))
    known, mix_error = _calibrations(fields), fields.get("mix_error")
    method, dealers = fields.get("method"), fields.get("dealers")
    ranks = fields["ranks"].integer(1, MOST_RANKS)
    return SkeletonFacts(
        ranks=ranks,
        scaling_factor=fields["scaling_factor"].positive(),
        expected_s=fields["expected_s"].positive(),
        application_s=fields["application_s"].positive(),
        smallest_good_s=fields["smallest_good_s"].number(),
        dropped_share=fields["dropped_share"].number(),
        mpi=fields["mpi"].text(),
        ranks_per_host=tuple(
            one.integer(0, MOST_RANKS) for one in recorded["ranks_per_host"].items()
        ),
        command=hidden(fields["command"].texts()),
        folder=folder,
        environment=environment,
        calibration=known[-1] if known else None,
        calibrations=known,
        mix_error=None if mix_error is None else mix_error.number(),
        method=WHOLE_EVENTS if method is None else _method(method),
        dealers=()
        if dealers is None
        else tuple(one.integer(0, ranks - 1) for one in dealers.items()),
        not_computed=read_not_computed(fields.get("not_computed")),
        unseen=read_unseen(fields["unseen"]) if "unseen" in fields else None,
        application=fields["application"].text() if "application" in fields else "",
        recorded=recorded["recorded"].text() if "recorded" in recorded else "",
        waits=tuple(map(_wait, fields["waits"].items())) if "waits" in fields else (),
    )


def _wait(field: Field) -> WaitState:
    names = ("kind", "function", "calls", "time_s", "behind", "behind_s")
    parts = field.mapping(names, None)
    kinds = {words: kind for kind, words in WAIT_WORDS.items()}
    if (kind := kinds.get(parts["kind"].text())) is None:
        raise parts["kind"].error(f"expected {' or '.join(kinds)}")
    return WaitState(
        kind=kind,
        function=parts["function"].text(),
        calls=parts["calls"].integer(0, 1 << 60),
        time_s=parts["time_s"].amount(),
        behind=parts["behind"].integer(0, MOST_RANKS),
        behind_s=parts["behind_s"].amount(),
    )


def _method(field: Field) -> str:
    known = (WHOLE_EVENTS, PAPER_2005)
    if (method := field.text()) not in known:
        raise field.error(f"read {method[:60]!r}, expected {' or '.join(known)}")
    return method


def _launch(field: Field | None) -> tuple[str, tuple[tuple[str, str], ...]]:
    if field is None:
        return "", ()
    parts = field.mapping(("folder", "environment"), optional=None)
    settings = parts["environment"]
    return parts["folder"].text(), settings_of(settings, settings.pairs())


def _calibrations(fields: Mapping[str, Field]) -> tuple[Calibration, ...]:
    """Read all calibrations, the oldest first; older files have one at most."""
    one, several = fields["calibration"], fields.get("calibrations")
    found = [] if one.is_null() else [one]
    found += [] if several is None else several.items()
    return tuple(_calibration(field) for field in found)


def _calibration(field: Field) -> Calibration:
    required = [one.name for one in fields(Calibration) if one.default is MISSING]
    parts = field.mapping(required, optional=None)
    return Calibration(
        application_runs_s=_times_s(parts["application_runs_s"]),
        skeleton_runs_s=_times_s(parts["skeleton_runs_s"]),
        host=parts["host"].text(),
        mpi=parts["mpi"].text(),
        load=parts["load"].numbers(),
        recorded=parts["recorded"].truth(),
        **_further(parts),
    )


def _further(parts: Mapping[str, Field]) -> dict[str, Any]:
    """Read what older calibrations lack."""
    read: dict[str, Callable[[Field], Any]] = {
        "application_lost_s": Field.numbers,
        "skeleton_lost_s": Field.numbers,
        "date": Field.text,
        "command": lambda field: hidden(field.texts()),
        "files": lambda field: tuple(_pair(one) for one in field.items()),
        "hosts": Field.texts,
        "skeleton_computing": lambda field: None if field.is_null() else field.amount(),
    }
    return {name: take(parts[name]) for name, take in read.items() if name in parts}


def _pair(field: Field) -> tuple[str, str]:
    words = field.texts()
    if len(words) != 2:
        raise field.error(f"read {len(words)} words, expected a path and a hash")
    return words[0], words[1]


def _times_s(field: Field) -> tuple[float, ...]:
    times_s = tuple(one.positive() for one in field.items())
    if not times_s:
        raise field.error("read an empty list, expected the times of runs")
    return times_s


def writable(folder: Path) -> bool:
    """Say whether results can be stored in a skeleton's folder."""
    return os.access(folder, os.W_OK | os.X_OK)
