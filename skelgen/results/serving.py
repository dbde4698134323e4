"""Answers of mix, trust, pull and the tokens of serve."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Self

from skelgen.reference.calibration import Mix
from skelgen.results.base import Result, known_only

if TYPE_CHECKING:
    from skelgen.pipeline.trust import KnownErrors
    from skelgen.reference.mix_fit import Fit
    from skelgen.trust.errors import MethodError


@dataclass(frozen=True, slots=True, kw_only=True)
class MixResult(Result):
    """What computation consists of.

    Attributes
    ----------
    mix : Mix
        Shares of arithmetic, streaming and pointer chasing.
    wanted, got : sequence of float
        Slowdown under each known competitor, of the application and of the mix [1].
    error : float
        Largest relative difference of these [1].
    text : str
        The mix as ``--compute-mix`` takes it.
    runs : int
        Of the application.
    uncertainty : float
        Standard error of the application's slowdowns [1].
    """

    result: ClassVar[str] = "mix"

    mix: Mix
    wanted: Sequence[float]
    got: Sequence[float]
    error: float
    text: str
    runs: int
    uncertainty: float

    @classmethod
    def of(cls, fitted: Fit) -> Self:
        """Return the answer to what was fitted."""
        return cls(
            mix=fitted.mix,
            wanted=fitted.wanted,
            got=fitted.got,
            error=fitted.error,
            text=str(fitted.mix),
            runs=fitted.runs,
            uncertainty=fitted.uncertainty,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class LearntError:
    """How far the predictions of a method are from the truth.

    Attributes
    ----------
    method, family : str
        As ``skelgen trust`` names them.
    half_width : float
        Of the 90 % interval, logarithm of a ratio [1].
    within : float
        Share of the truths that the interval is to hold [0 to 1].
    truth_over_predicted : float
        Bias [1].
    applications, cases : int
        That it was learnt from.
    held, least_held : float
        Part of the truths inside, of all applications and of the worst [0 to 1].
    least_application : str
        The worst.
    widened : bool
        Whether few applications made it wider.
    own : bool
        Whether the site's file says it; else it comes with skelgen.
    cores : str or None
        Of predictions where ranks had their cores to themselves (``own``), or where
        other processes had them, too (``shared``); None for all.
    """

    method: str
    family: str
    half_width: float
    within: float
    truth_over_predicted: float
    applications: int
    cases: int
    held: float
    least_held: float
    least_application: str
    widened: bool
    own: bool
    cores: str | None = known_only()

    @classmethod
    def of(cls, one: MethodError, *, own: bool) -> Self:
        """Return what is said of a method."""
        return cls(
            method=one.method,
            family=one.family,
            half_width=one.half_width,
            within=one.within,
            truth_over_predicted=one.truth_over_predicted,
            applications=one.applications,
            cases=one.cases,
            held=one.held,
            least_held=one.least_held,
            least_application=one.least_application,
            widened=one.widened,
            own=own,
            cores=one.cores or None,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class TrustResult(Result):
    """The errors of methods that are in use.

    Attributes
    ----------
    file : Path
        Where they are.
    command, date : str
        What made the file, and when.
    results : sequence of str
        Files that it was learnt from.
    methods : sequence of LearntError
        The errors.
    """

    result: ClassVar[str] = "trust"

    file: Path
    command: str
    date: str
    results: Sequence[str]
    methods: Sequence[LearntError]

    @classmethod
    def of(cls, known: KnownErrors) -> Self:
        """Return the answer to the errors that are known."""
        origin = known.provenance
        return cls(
            file=known.path,
            command=origin.command,
            date=origin.date,
            results=origin.results,
            methods=tuple(
                LearntError.of(one, own=one.method in known.own)
                for one in known.errors.entries
            ),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class PullResult(Result):
    """What was written of a server.

    Attributes
    ----------
    output : Path
        The file.
    kind : str
        ``model`` or ``rows``.
    ids : sequence of str
        Identities in it.
    """

    result: ClassVar[str] = "pull"

    output: Path
    kind: str
    ids: Sequence[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenAddResult(Result):
    """A token that was made; nobody can show it again.

    Attributes
    ----------
    name, right, token : str
        Whose it is, what it allows, and the token.
    """

    result: ClassVar[str] = "serve-token-add"

    name: str
    right: str
    token: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenMade:
    """A token.

    Attributes
    ----------
    name, right, made : str
        Whose it is, what it allows, and when it was made (ISO, UTC).
    """

    name: str
    right: str
    made: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenListResult(Result):
    """All tokens.

    Attributes
    ----------
    tokens : sequence of TokenMade
        By name.
    """

    result: ClassVar[str] = "serve-token-list"

    tokens: Sequence[TokenMade]


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenRemoveResult(Result):
    """A token that was removed.

    Attributes
    ----------
    removed : str
        Whose it was.
    """

    result: ClassVar[str] = "serve-token-remove"

    removed: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ServeResult(Result):
    """A server that takes requests now.

    Attributes
    ----------
    url : str
        Where.
    pid : int
        Its process.
    store : str
        That it shows.
    read_only : bool
        Whether it refuses all changes.
    """

    result: ClassVar[str] = "serve"

    url: str
    pid: int
    store: str
    read_only: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenRight:
    """What a token allows.

    Attributes
    ----------
    name, right : str
        Whose it is, and what it allows.
    """

    name: str
    right: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ServeCheckResult(Result):
    """What a server would show to whom.

    Attributes
    ----------
    url : str
        Where.
    reached_by : str
        Who can reach it, for people.
    tls : bool
        Whether connections are encrypted.
    store : str
        That it would show.
    read_only : bool
        Whether it would refuse all changes.
    tokens : sequence of TokenRight
        Those that would count.
    open : sequence of str
        Addresses that need no token.
    rights : mapping of str to sequence of str
        Addresses by the right that they need.
    """

    result: ClassVar[str] = "serve-check"

    url: str
    reached_by: str
    tls: bool
    store: str
    read_only: bool
    tokens: Sequence[TokenRight]
    open: Sequence[str]
    rights: Mapping[str, Sequence[str]]
