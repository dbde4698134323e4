"""Answers of store, time and push."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Self

from skelgen.pipeline.store_facts import ExpectedTime, NamedRows, RunRow
from skelgen.results.base import Result, known_only

if TYPE_CHECKING:
    from skelgen.store.track_record import TrackRecord

if TYPE_CHECKING:
    from skelgen.pipeline.push import Pushed
    from skelgen.pipeline.store import StoreExport
    from skelgen.pipeline.store_expect import Expected
    from skelgen.pipeline.time import TimedRun
    from skelgen.store import Added, Run
    from skelgen.store.checking import Health


@dataclass(frozen=True, slots=True, kw_only=True)
class StoreListResult(Result):
    """Runs of a store.

    Attributes
    ----------
    runs : sequence of RunRow
        In the order of their start.
    total : int
        How many there are with those that a limit left out.
    begin : int
        Number of the first one here; the server says it.
    damaged : int
        Rows that cannot be read; the server says it.
    """

    result: ClassVar[str] = "store-list"

    runs: Sequence[RunRow]
    total: int
    begin: int | None = known_only()
    damaged: int | None = known_only()

    @classmethod
    def of(
        cls,
        runs: Sequence[Run],
        total: int,
        *,
        begin: int | None = None,
        damaged: int | None = None,
    ) -> Self:
        """Return the answer to the runs that were found."""
        rows = tuple(map(RunRow.of, runs))
        return cls(runs=rows, total=total, begin=begin, damaged=damaged)


@dataclass(frozen=True, slots=True, kw_only=True)
class StoreAddResult(NamedRows, Result):
    """Rows that were to be added."""

    result: ClassVar[str] = "store-add"

    @classmethod
    def of(cls, found: Added) -> Self:
        """Return the answer to what became of rows."""
        return cls(**cls.fields_of(found))


@dataclass(frozen=True, slots=True, kw_only=True)
class PushResult(NamedRows, Result):
    """Rows that were sent to a server.

    Attributes
    ----------
    address : str
        Where they are shown.
    """

    result: ClassVar[str] = "push"

    address: str

    @classmethod
    def of(cls, found: Pushed) -> Self:
        """Return the answer to what became of rows."""
        return cls(**cls.fields_of(found.added), address=found.address)


@dataclass(frozen=True, slots=True, kw_only=True)
class TimeResult(RunRow, Result):
    """A run that was timed.

    Attributes
    ----------
    exit_code : int
        Of the program.
    kept : bool
        Whether the store has it now.
    """

    result: ClassVar[str] = "time"

    exit_code: int
    kept: bool

    @classmethod
    def of_timed(cls, done: TimedRun) -> Self:
        """Return the answer to what was timed."""
        run = cls.fields_of(done.run)
        return cls(**run, exit_code=done.exit_code, kept=done.kept)


@dataclass(frozen=True, slots=True, kw_only=True)
class StoreExpectResult(ExpectedTime, Result):
    """How long a configuration will take.

    Attributes
    ----------
    found_by, command : str
        How, for people, and what gives the same in a terminal; the server says both.
    """

    result: ClassVar[str] = "store-expect"

    found_by: str | None = known_only()
    command: str | None = known_only()

    @classmethod
    def of(cls, found: Expected, **more: Any) -> Self:
        """Return the answer to what is expected; `more` are other fields."""
        return cls(**cls.fields_of(found), **more)


@dataclass(frozen=True, slots=True, kw_only=True)
class WrittenFile:
    """A file of an export.

    Attributes
    ----------
    name : str
        In the folder.
    rows : int
        In the file.
    """

    name: str
    rows: int


@dataclass(frozen=True, slots=True, kw_only=True)
class StoreExportResult(Result):
    """What was exported.

    Attributes
    ----------
    output : Path
        The folder.
    files : sequence of WrittenFile
        In it.
    """

    result: ClassVar[str] = "store-export"

    output: Path
    files: Sequence[WrittenFile]

    @classmethod
    def of(cls, output: Path, done: StoreExport) -> Self:
        """Return the answer to what was exported into a folder."""
        files = tuple(WrittenFile(name=name, rows=rows) for name, rows in done.files)
        return cls(output=output, files=files)


@dataclass(frozen=True, slots=True, kw_only=True)
class StoreRemoveResult(Result):
    """What was removed.

    Attributes
    ----------
    removed : int
        Rows.
    """

    result: ClassVar[str] = "store-remove"

    removed: int


@dataclass(frozen=True, slots=True, kw_only=True)
class StorePathResult(Result):
    """Which store is used.

    Attributes
    ----------
    store : str
        File, or address without a password.
    why : str
        What said so.
    exists : bool
        Whether there is one; of files.
    """

    result: ClassVar[str] = "store-path"

    store: str
    why: str
    exists: bool | None = known_only()


@dataclass(frozen=True, slots=True, kw_only=True)
class StoreCheckResult(Result):
    """What is damaged in a store.

    Attributes
    ----------
    version : int or None
        Of the store; None or 0 where it is not readable.
    sound : bool
        Whether nothing is damaged.
    problems : sequence of str
        What is.
    """

    result: ClassVar[str] = "store-check"

    version: int | None
    sound: bool
    problems: Sequence[str]

    @classmethod
    def of(cls, health: Health) -> Self:
        """Return the answer to what was found."""
        return cls(version=health.version, sound=health.sound, problems=health.problems)


@dataclass(frozen=True, slots=True, kw_only=True)
class MethodRecord:
    """How good the predictions of a method were.

    Attributes
    ----------
    method : str
        As ``skelgen trust`` names it.
    predictions, happened, doubted : int
        All; those whose truth is known; those that were not to be trusted.
    median_error, p90_error : float or None
        Absolute values of predicted / truth - 1 [1]; None without a truth.
    inside : float or None
        Part of the truths inside the 90 % interval [0 to 1]; None without a truth.
    """

    method: str
    predictions: int
    happened: int
    median_error: float | None
    p90_error: float | None
    inside: float | None
    doubted: int

    @classmethod
    def fields_of(cls, one: TrackRecord) -> dict[str, Any]:
        """Return what is said of predictions, by the names of the fields."""
        return asdict(one)

    @classmethod
    def of(cls, one: TrackRecord) -> MethodRecord:
        """Return what is said of a method."""
        return MethodRecord(**cls.fields_of(one))


@dataclass(frozen=True, slots=True, kw_only=True)
class StoreRecordResult(Result):
    """How good predictions were.

    Attributes
    ----------
    methods : sequence of MethodRecord
        By name.
    """

    result: ClassVar[str] = "store-record"

    methods: Sequence[MethodRecord]

    @classmethod
    def of(cls, found: Sequence[TrackRecord]) -> Self:
        """Return the answer to what became of predictions."""
        return cls(methods=tuple(map(MethodRecord.of, found)))
