"""Answers of store show to rows that are no runs: one type for each kind.

They have the fields of `skelgen.store.rows`, all of them, and the row's identity.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self

from skelgen.results.base import Result
from skelgen.results.stored_runs import StoreShowResult
from skelgen.store.lines import whole_line
from skelgen.store.rows import (
    Coupling,
    Fact,
    Message,
    Run,
    StoredModel,
    StoredPrediction,
    StoredRecording,
    Template,
)

if TYPE_CHECKING:
    from skelgen.store.rows import Row


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownInterval:
    """A quantity with its 90 % interval.

    Attributes
    ----------
    p5, p50, p95 : float or None
        Beginning, median and end.
    """

    p5: float | None
    p50: float | None
    p95: float | None


@dataclass(frozen=True, kw_only=True)  # with slots no class could have two bases
class ShownRow:
    """A row that is no run.

    Attributes
    ----------
    id : str
        Its identity.
    """

    id: str

    @classmethod
    def fields_of(cls, identity: str, row: Row) -> dict[str, Any]:
        """Return what is said of a row, by the names of the fields."""
        return {"id": identity, **whole_line(row)}

    @classmethod
    def of_row(cls, identity: str, row: Row) -> Self:
        """Return the answer to a row."""
        return cls(**cls.fields_of(identity, row))


@dataclass(frozen=True, slots=True, kw_only=True)
class StoreShowFactResult(ShownRow, Result):
    """A measured property of a host or of a link.

    Attributes
    ----------
    row : str
        ``fact``.
    host, name : str
        Of what, and which.
    value, low, high : float or None
        Median, smallest and largest of the repeats, in `unit`.
    unit : str
        ``1/s``, ``bytes/s``, ``s``, ``bytes``.
    cores : int
        So many cores worked at the same time; 0 where that means nothing.
    repeats : int
        How often it was measured.
    measured : float or None
        When, seconds since 1970 in UTC [s].
    system : str
        Of the host.
    compiler, kernel : str
        As they name themselves.
    doubt : str
        Why it is not to be trusted; else empty.
    """

    result: ClassVar[str] = "store-show-fact"

    row: Literal["fact"]
    host: str
    name: str
    value: float | None
    unit: str
    low: float | None
    high: float | None
    cores: int
    repeats: int
    measured: float | None
    system: str
    compiler: str
    kernel: str
    doubt: str


@dataclass(frozen=True, slots=True, kw_only=True)
class StoreShowMessageResult(ShownRow, Result):
    """Time of an MPI operation over sizes.

    Attributes
    ----------
    row : str
        ``message``.
    hosts : sequence of str
        Sorted; one where all ranks ran on it.
    operation : str
        ``SR`` (send and receive), ``BC`` (broadcast), ``allreduce``, ...
    ranks : int
        That took part.
    latency_s : float or None
        Of the smallest messages [s].
    bandwidth_bytes_per_s : float or None
        Of the largest messages [bytes/s]; None where size does not matter.
    eager_bytes : int
        Largest message that is sent before its receive is posted; 0: not found.
    knees : sequence of (int, float, float)
        Stretches: from so many bytes on, latency [s] and bandwidth [bytes/s].
    points : sequence of (int, float)
        What was measured: size [bytes] and median time [s].
    measured : float or None
        When, seconds since 1970 in UTC [s].
    system, mpi : str
        Of the hosts, and library, as it names itself.
    repeats : int
        Fewest of a size.
    spread : float or None
        Of the repeats [1].
    doubt : str
        Why it is not to be trusted; else empty.
    """

    result: ClassVar[str] = "store-show-message"

    row: Literal["message"]
    hosts: Sequence[str]
    operation: str
    ranks: int
    latency_s: float | None
    bandwidth_bytes_per_s: float | None
    eager_bytes: int
    knees: Sequence[tuple[int, float, float]]
    points: Sequence[tuple[int, float]]
    measured: float | None
    system: str
    mpi: str
    repeats: int
    spread: float | None
    doubt: str


@dataclass(frozen=True, slots=True, kw_only=True)
class StoreShowTemplateResult(ShownRow, Result):
    """A formula with named inputs.

    Attributes
    ----------
    row : str
        ``template``.
    name, application : str
        Of it, and of what.
    formula : str
        As its author wrote it.
    inputs : sequence of str
        Their names.
    """

    result: ClassVar[str] = "store-show-template"

    row: Literal["template"]
    name: str
    application: str
    formula: str
    inputs: Sequence[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class StoreShowCouplingResult(ShownRow, Result):
    """Time of a chain of kernels, measured together.

    Attributes
    ----------
    row : str
        ``coupling``.
    application : str
        Of the kernels.
    kernels : sequence of str
        In their order.
    time_s : float or None
        Of one pass through the chain [s].
    inputs : mapping of str to (float or str)
        Of the run.
    ranks : int
        0 where they are not known.
    system : str
        Of the hosts.
    measured : float or None
        When, seconds since 1970 in UTC [s].
    """

    result: ClassVar[str] = "store-show-coupling"

    row: Literal["coupling"]
    application: str
    kernels: Sequence[str]
    time_s: float | None
    inputs: Mapping[str, float | str]
    ranks: int
    system: str
    measured: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class StoreShowModelResult(ShownRow, Result):
    """A fitted model; ``skelgen model show`` says what it means.

    Attributes
    ----------
    row : str
        ``model``.
    name, application : str
        Of it, and of what.
    fitted : float or None
        When, seconds since 1970 in UTC [s].
    document : str
        JSON text, as ``skelgen model fit`` writes it.
    """

    result: ClassVar[str] = "store-show-model"

    row: Literal["model"]
    name: str
    application: str
    fitted: float | None
    document: str


@dataclass(frozen=True, kw_only=True)  # with slots no class could have two bases
class PredictionRow(ShownRow):
    """A prediction, and what happened.

    Attributes
    ----------
    row : str
        ``prediction``.
    method, application : str
        As ``skelgen trust`` names it, and of what.
    interval : ShownInterval
        Of the time [s].
    made : float or None
        When, seconds since 1970 in UTC [s].
    verdict : str
        ``trust`` or ``do not trust``.
    doubts : sequence of str
        Codes.
    inputs : mapping of str to (float or str)
        Of the run that is predicted.
    ranks : int
        0 where they are not known.
    hosts : sequence of str
        Where it is to run.
    source : str
        Skeleton, phase signature, study or model.
    identity : str
        The same as `id`.
    truth : str
        Identity of the run that happened; empty as long as there is none.
    truth_s : float or None
        Its time [s].
    measured : ShownInterval or None
        The same as `interval` without the error of the method [s].
    family : str
        Kind of program; empty where it is not known.
    """

    row: Literal["prediction"]
    method: str
    application: str
    interval: ShownInterval
    made: float | None
    verdict: str
    doubts: Sequence[str]
    inputs: Mapping[str, float | str]
    ranks: int
    hosts: Sequence[str]
    source: str
    identity: str
    truth: str
    truth_s: float | None
    measured: ShownInterval | None
    family: str

    @classmethod
    def fields_of(cls, identity: str, row: Row) -> dict[str, Any]:
        """Return what is said of a prediction, by the names of the fields."""
        found = super().fields_of(identity, row)
        for name in ("interval", "measured"):
            if found[name] is not None:
                found[name] = ShownInterval(**found[name])
        return found


@dataclass(frozen=True, slots=True, kw_only=True)
class StoreShowPredictionResult(PredictionRow, Result):
    """A prediction, and what happened."""

    result: ClassVar[str] = "store-show-prediction"


@dataclass(frozen=True, slots=True, kw_only=True)
class StoreShowRecordingResult(ShownRow, Result):
    """What the page of a recorded run shows.

    Attributes
    ----------
    row : str
        ``recording``.
    run : str
        Identity of the run.
    document : str
        Compressed.
    """

    result: ClassVar[str] = "store-show-recording"

    row: Literal["recording"]
    run: str
    document: str


_OTHERS: Mapping[type[Any], Callable[[str, Any], Result]] = {
    Fact: StoreShowFactResult.of_row,
    Message: StoreShowMessageResult.of_row,
    Template: StoreShowTemplateResult.of_row,
    Coupling: StoreShowCouplingResult.of_row,
    StoredModel: StoreShowModelResult.of_row,
    StoredPrediction: StoreShowPredictionResult.of_row,
    StoredRecording: StoreShowRecordingResult.of_row,
}


def shown_row(identity: str, row: Row) -> Result:
    """Return the answer of ``store show`` to a row, which is no series."""
    if isinstance(row, Run):
        return StoreShowResult.of_run(row, identity)
    return _OTHERS[type(row)](identity, row)
