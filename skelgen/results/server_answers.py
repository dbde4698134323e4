"""Answers of the server that no command prints: their names begin with ``server``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Self

from skelgen.pipeline.store_facts import date_text
from skelgen.results.base import Result
from skelgen.results.stored_rows import PredictionRow
from skelgen.results.stores import MethodRecord

if TYPE_CHECKING:
    from skelgen.pipeline.browsing import PredictionPart, StoreOverview
    from skelgen.pipeline.download import DownloadedRow
    from skelgen.pipeline.kept_templates import KeptTemplate
    from skelgen.store import StoredApplication
    from skelgen.store.track_record import TrackRecord


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerAboutResult(Result):
    """What the server is, what the token allows, and how much may be sent.

    Attributes
    ----------
    api : int
        Version of what is said between server and ``skelgen push``.
    version : str
        Of the server's skelgen.
    right : str
        What the token allows.
    read_only : bool
        Whether nobody may change anything.
    most_bytes, left_bytes : int
        Of a request, and that the token may still send today [bytes].
    """

    result: ClassVar[str] = "server-about"

    api: int
    version: str
    right: str
    read_only: bool
    most_bytes: int
    left_bytes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerKnownResult(Result):
    """Which of the identities that were sent there are.

    Attributes
    ----------
    known : sequence of str
        Sorted.
    """

    result: ClassVar[str] = "server-known"

    known: Sequence[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerRowResult(Result):
    """A row, for ``skelgen pull``.

    Attributes
    ----------
    id : str
        Its identity.
    line : mapping
        The row as ``skelgen store export`` writes it.
    model : mapping or None
        The file of a model, as ``skelgen model fit`` writes it.
    page : mapping or None
        The row of what the page of a recorded run shows.
    """

    result: ClassVar[str] = "server-row"

    id: str
    line: Mapping[str, Any]
    model: Mapping[str, Any] | None
    page: Mapping[str, Any] | None

    @classmethod
    def of(cls, found: DownloadedRow) -> Self:
        """Return the answer to a row that was found."""
        return cls(
            id=found.identity, line=found.line, model=found.model, page=found.page
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class ApplicationRuns:
    """An application of a store.

    Attributes
    ----------
    app : str
        Its name.
    runs : int
        How many the store has.
    last : str or None
        When the last one began (ISO, UTC).
    """

    app: str
    runs: int
    last: str | None

    @classmethod
    def of(cls, one: StoredApplication) -> Self:
        """Return what is said of an application."""
        return cls(app=one.name, runs=one.runs, last=date_text(one.last) or None)


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerApplicationsResult(Result):
    """The applications of the store, and how many rows it has.

    Attributes
    ----------
    applications : sequence of ApplicationRuns
        By name.
    counts : mapping of str to int
        Rows by the word of their kind.
    """

    result: ClassVar[str] = "server-applications"

    applications: Sequence[ApplicationRuns]
    counts: Mapping[str, int]

    @classmethod
    def of(cls, found: StoreOverview) -> Self:
        """Return the answer to what the store holds."""
        return cls(
            applications=tuple(map(ApplicationRuns.of, found.applications)),
            counts=found.counts,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class TemplateRow:
    """A template of a store.

    Attributes
    ----------
    id, name, app : str
        Identity of its row or model, name, and application.
    formula : str
        As its author wrote it.
    inputs : sequence of str
        That its row names, or its model has.
    model : str or None
        Identity of the model that was fitted to it; None for a row of its own.
    """

    id: str
    name: str
    app: str
    formula: str
    inputs: Sequence[str]
    model: str | None

    @classmethod
    def of(cls, one: KeptTemplate) -> Self:
        """Return what is said of a template."""
        return cls(
            id=one.identity,
            name=one.name,
            app=one.application,
            formula=one.text,
            inputs=one.inputs,
            model=one.model.identity if one.model else None,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerTemplatesResult(Result):
    """The templates of the store.

    Attributes
    ----------
    templates : sequence of TemplateRow
        Rows of their own, and those of models.
    """

    result: ClassVar[str] = "server-templates"

    templates: Sequence[TemplateRow]

    @classmethod
    def of(cls, found: Sequence[KeptTemplate]) -> Self:
        """Return the answer to the templates that were found."""
        return cls(templates=tuple(map(TemplateRow.of, found)))


@dataclass(frozen=True, slots=True, kw_only=True)
class ApplicationRecord(MethodRecord):
    """How good the predictions of an application were.

    Attributes
    ----------
    application : str
        Its name.
    """

    application: str

    @classmethod
    def of_application(cls, name: str, one: TrackRecord) -> Self:
        """Return what is said of an application."""
        return cls(application=name, **cls.fields_of(one))


@dataclass(frozen=True, slots=True, kw_only=True)
class MonthRecord(MethodRecord):
    """How good the predictions of a month were.

    Attributes
    ----------
    month : str
        In which they were made (UTC), such as ``2026-11``; or ``not known``.
    """

    month: str

    @classmethod
    def of_month(cls, name: str, one: TrackRecord) -> Self:
        """Return what is said of a month."""
        return cls(month=name, **cls.fields_of(one))


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerPredictionsResult(Result):
    """A part of the predictions, and how good all that were asked for were.

    Attributes
    ----------
    methods : sequence of MethodRecord
        By name, as ``skelgen store record`` prints them.
    applications : sequence of ApplicationRecord
        By name.
    months : sequence of MonthRecord
        In their order.
    predictions : sequence of PredictionRow
        The last first.
    total, begin : int
        All that were asked for, and those before this part.
    """

    result: ClassVar[str] = "server-predictions"

    methods: Sequence[MethodRecord]
    applications: Sequence[ApplicationRecord]
    months: Sequence[MonthRecord]
    predictions: Sequence[PredictionRow]
    total: int
    begin: int

    @classmethod
    def of(cls, found: PredictionPart) -> Self:
        """Return the answer to a part of the predictions."""
        return cls(
            methods=tuple(map(MethodRecord.of, found.records)),
            applications=tuple(
                ApplicationRecord.of_application(*one) for one in found.applications
            ),
            months=tuple(MonthRecord.of_month(*one) for one in found.months),
            predictions=tuple(
                PredictionRow.of_row(one.identity, one) for one in found.predictions
            ),
            total=found.total,
            begin=found.begin,
        )


@dataclass(frozen=True, kw_only=True)  # with slots no class could have two bases
class JobRow:
    """A job: a command that runs outside of the requests.

    Attributes
    ----------
    identity, about, who : str
        Its name, what it does, and the name of the token that asked for it.
    words : sequence of str
        The command after ``skelgen``, without ``--json`` and ``--store``.
    asked, begun, ended : str or None
        When (ISO, UTC); None where that has not happened.
    state : str
        ``waiting``, ``running``, ``done``, ``failed``, ``cancelled`` or ``gone``.
    progress : str
        In words; empty where the command says nothing.
    share : float or None
        Of the work that is done [0 to 1].
    exit_code : int or None
        Of the command; None where it has not ended.
    said : str or None
        Why there is no answer, in a line.
    command : str
        What gives the same in a terminal.
    """

    identity: str
    about: str
    words: Sequence[str]
    who: str
    asked: str | None
    state: str
    begun: str | None
    ended: str | None
    progress: str
    share: float | None
    exit_code: int | None
    said: str | None
    command: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerJobsResult(Result):
    """The jobs of the server.

    Attributes
    ----------
    jobs : sequence of JobRow
        The last first.
    """

    result: ClassVar[str] = "server-jobs"

    jobs: Sequence[JobRow]


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerJobResult(JobRow, Result):
    """A job, and its answer once it is done.

    Attributes
    ----------
    answer : mapping or None
        What its command printed with ``--json``; its ``result`` names its schema.
    """

    result: ClassVar[str] = "server-job"

    answer: Mapping[str, Any] | None
