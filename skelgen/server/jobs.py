"""What is kept of a job: work outside the requests, in the state folder of the user.

A job is one command of skelgen. Each has a file, which only its user can read, and
another with its answer.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import math
import re
import secrets
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any

from skelgen import _paths
from skelgen.documents import Field, read_json, sealed_json
from skelgen.documents.files import read_bytes
from skelgen.errors import InputError
from skelgen.launch.folders import private_folder, replace_file
from skelgen.store import place_of

_MEMBERS = (
    *("skelgen_job", "identity", "about", "words", "who", "asked", "back", "state"),
    *("begun", "ended", "progress", "share", "exit_code", "said", "tries"),
    *("server", "process"),
)
_VERSION = 1
_IDENTITY = re.compile(r"[0-9a-f]{12}")
#: Of an answer, and of the file of a job [bytes].
_MOST_OF_ANSWER, _MOST_OF_FILE = 16 << 20, 1 << 20
_MOST_TRIES = 1000


class JobState(StrEnum):
    """How far a job is."""

    WAITING = "waiting"
    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"
    CANCELLED = "cancelled"
    GONE = "gone"

    @property
    def is_over(self) -> bool:
        """Say whether nothing more will happen."""
        return self not in (JobState.WAITING, JobState.RUNNING)


@dataclass(frozen=True, slots=True)
class Job:
    """A job.

    Attributes
    ----------
    identity : str
    about : str
        What it does, for people.
    words : tuple of str
        The command after ``skelgen``, without ``--json`` and ``--store``.
    who : str
        Name of the token that asked for it.
    asked, begun, ended : float
        Seconds since 1970 in UTC; nan where that has not happened [s].
    back : str
        An address of the server: the page from which it was started.
    state : JobState
    progress : str
        In words; empty where the command says nothing.
    share : float
        Of the work that is done; nan where nobody knows [0 to 1].
    exit_code : int
        Of the command; -1 where it has not ended.
    said : str
        Why there is no answer, in a line.
    tries : int
        How often it was begun.
    server, process : str
        Names of the server that has it and of its process, as
        `skelgen.launch.process.process_name` gives them.
    """

    identity: str
    about: str
    words: tuple[str, ...]
    who: str
    asked: float
    back: str = ""
    state: JobState = JobState.WAITING
    begun: float = math.nan
    ended: float = math.nan
    progress: str = ""
    share: float = math.nan
    exit_code: int = -1
    said: str = ""
    tries: int = 0
    server: str = ""
    process: str = ""


def new_identity() -> str:
    """Return a name for a job that nobody has used."""
    return secrets.token_hex(6)


class JobFolder:
    """The jobs of a store, as files.

    Parameters
    ----------
    place : str, optional
        Of the store.
    """

    def __init__(self, place: str | None) -> None:
        found = place_of(place)
        where = found.shown if found.is_url else str(Path(found.where).absolute())
        key = hashlib.sha256(where.encode("utf-8", "surrogateescape")).hexdigest()[:16]
        self.path = _paths.state() / "serve/jobs" / key

    def make(self) -> Path:
        """Make the folder where it is missing, for its owner alone."""
        return private_folder(self.path)

    def write(self, job: Job) -> None:
        """Keep a job as it is now."""
        facts = {"skelgen_job": _VERSION, **asdict(job)}
        facts |= {name: _known(facts[name]) for name in _MOMENTS}
        replace_file(self._file(job.identity), sealed_json(facts))

    def read(self, identity: str) -> Job | None:
        """Return a job; None where there is none of that name, or its file is damaged.

        Examples
        --------
        >>> JobFolder("store.db").read("../../etc/passwd") is None
        True
        """
        if not _IDENTITY.fullmatch(identity):
            return None
        try:
            return _read(self._file(identity))
        except (InputError, OSError):
            return None

    def all(self) -> list[Job]:
        """Return all jobs, the last first."""
        if not self.path.is_dir():
            return []
        names = [one.stem for one in self.path.glob("*.json")]
        found = [job for one in names if (job := self.read(one)) is not None]
        return sorted(found, key=lambda one: (-one.asked, one.identity))

    def count(self) -> int:
        """Say how many jobs are kept, damaged ones with them."""
        return sum(1 for _ in self.path.glob("*.json")) if self.path.is_dir() else 0

    def remove(self, identity: str) -> None:
        """Forget a job and its answer."""
        for end in ("json", "answer", "cancel"):
            with contextlib.suppress(OSError):
                self._file(identity, end).unlink()

    def keep_answer(self, identity: str, content: bytes) -> None:
        """Keep what a command printed."""
        text = content.decode("utf-8", "replace")
        replace_file(self._file(identity, "answer"), text)

    def answer(self, identity: str) -> Mapping[str, Any] | None:
        """Return what a command printed with ``--json``; None where it did not."""
        try:
            file = self._file(identity, "answer")
            found = json.loads(read_bytes(file, most_bytes=_MOST_OF_ANSWER))
        except (InputError, OSError, ValueError, RecursionError):
            return None
        return found if isinstance(found, dict) else None

    def ask_to_end(self, identity: str) -> None:
        """Ask whoever runs a job to end it."""
        self._file(identity, "cancel").touch(mode=0o600)

    def is_to_end(self, identity: str) -> bool:
        """Say whether somebody wants a job to end."""
        return self._file(identity, "cancel").exists()

    def _file(self, identity: str, end: str = "json") -> Path:
        return self.path / f"{identity}.{end}"


#: Numbers that are null in a file where they are not known.
_MOMENTS = ("begun", "ended", "share")


def _known(number: Any) -> float | None:
    return None if math.isnan(number) else float(number)


def _read(path: Path) -> Job:
    if path.stat().st_size > _MOST_OF_FILE:
        raise InputError(f"{path}: is longer than a job")
    document = read_json(path)
    fields = document.mapping(_MEMBERS)
    fields[_MEMBERS[0]].integer(_VERSION, _VERSION)
    if fields["identity"].text() != path.stem:
        raise fields["identity"].error("is another one than that of the file")
    state = fields["state"].text()
    if state not in set(JobState):
        raise fields["state"].error("is no state of a job")
    return Job(
        identity=fields["identity"].text(),
        about=fields["about"].text(),
        words=fields["words"].texts(),
        who=fields["who"].text(),
        asked=fields["asked"].number(),
        back=fields["back"].text(),
        state=JobState(state),
        begun=_number(fields["begun"]),
        ended=_number(fields["ended"]),
        progress=fields["progress"].text(),
        share=_number(fields["share"]),
        exit_code=fields["exit_code"].integer(-1, 255),
        said=fields["said"].text(),
        tries=fields["tries"].integer(0, _MOST_TRIES),
        server=fields["server"].text(),
        process=fields["process"].text(),
    )


def _number(field: Field) -> float:
    return math.nan if field.is_null() else field.number()
