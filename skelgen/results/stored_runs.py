"""Answers of store show, compare and list --repeats, and of monitor import."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, ClassVar, Literal, Self

from skelgen.pipeline.run_compare import said_of_time
from skelgen.pipeline.store_facts import RunRow
from skelgen.results.base import Result

if TYPE_CHECKING:
    from skelgen.pipeline.load_sources import Imported
    from skelgen.store import Run
    from skelgen.store.comparing import ComparedQuantity, RunComparison
    from skelgen.store.repeats import RepeatedRuns


@dataclass(frozen=True, kw_only=True)  # with slots no class could have two bases
class WholeRun(RunRow):
    """All that is known of a run.

    Attributes
    ----------
    row : str
        ``run``.
    allocation, executable, mpi, source, author : str
        Batch job, program, library, where it was read, and who added it.
    loads, costs : mapping of str to float
        By their names.
    """

    row: Literal["run"]
    allocation: str
    executable: str
    mpi: str
    source: str
    author: str
    loads: Mapping[str, float | None]
    costs: Mapping[str, float | None]

    @classmethod
    def of_run(cls, run: Run, identity: str = "") -> Self:
        """Return what is said of a run."""
        return cls(
            **(cls.fields_of(run) | {"id": identity or run.identity}),
            row="run",
            allocation=run.allocation,
            executable=run.executable,
            mpi=run.mpi,
            source=run.source,
            author=run.author,
            loads=dict(run.loads),
            costs=dict(run.costs),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class StoreShowResult(WholeRun, Result):
    """All that is known of a run."""

    result: ClassVar[str] = "store-show"


@dataclass(frozen=True, slots=True, kw_only=True)
class NumberOfRuns:
    """A number of several runs.

    Attributes
    ----------
    name, kind, unit : str
        What it is.
    values, shares : sequence of (float or None)
        Of each run, and its part of the run's time [0 to 1].
    difference, spread : float or None
        Largest / smallest - 1, and the same of runs of one configuration [1].
    differs : bool or None
        Whether they differ by more than that; None where it is not known.
    """

    name: str
    kind: str
    unit: str
    values: Sequence[float | None]
    shares: Sequence[float | None]
    difference: float | None
    spread: float | None
    differs: bool | None

    @classmethod
    def of(cls, one: ComparedQuantity) -> Self:
        """Return what is said of a number."""
        return cls(**asdict(one), differs=one.differs)


@dataclass(frozen=True, slots=True, kw_only=True)
class StoreCompareResult(Result):
    """Runs side by side.

    Attributes
    ----------
    runs : sequence of WholeRun
        In the order that they were named.
    repeats : sequence of sequence of str
        Of each: runs of the same configuration, where it ran often enough.
    quantities : sequence of NumberOfRuns
        The time first.
    said : str
        By how much the times differ, for people.
    """

    result: ClassVar[str] = "store-compare"

    runs: Sequence[WholeRun]
    repeats: Sequence[Sequence[str]]
    quantities: Sequence[NumberOfRuns]
    said: str

    @classmethod
    def of(cls, found: RunComparison) -> Self:
        """Return the answer to runs."""
        return cls(
            runs=tuple(map(WholeRun.of_run, found.runs)),
            repeats=tuple(
                tuple(run.identity for run in one.runs) if one.known else ()
                for one in found.repeated
            ),
            quantities=tuple(map(NumberOfRuns.of, found.quantities)),
            said=said_of_time(found),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class RepeatedConfiguration:
    """Runs of one configuration.

    Attributes
    ----------
    app : str
        Name of the application.
    inputs : mapping of str to (float or str)
        Of all of them.
    ranks, nodes, ranks_per_node : int
        0 where they are not known.
    system : str
        Of their hosts.
    runs : sequence of str
        Identities.
    time_s : float
        Median, or mean where that was asked for [s].
    median_s, mean_s : float
        Both [s].
    spread : float or None
        Of the times [1].
    wide : bool
        Whether they differ too much.
    same_nodes, same_allocation : bool or None
        None where it is not known.
    """

    app: str
    inputs: Mapping[str, float | str]
    ranks: int
    nodes: int
    ranks_per_node: int
    system: str
    runs: Sequence[str]
    time_s: float
    median_s: float
    mean_s: float
    spread: float | None
    wide: bool
    same_nodes: bool | None
    same_allocation: bool | None

    @classmethod
    def of(cls, one: RepeatedRuns, *, mean: bool) -> Self:
        """Return what is said of runs of one configuration."""
        run = one.runs[0]
        return cls(
            app=run.application,
            inputs=dict(run.inputs),
            ranks=run.ranks,
            nodes=run.nodes,
            ranks_per_node=run.ranks_per_node,
            system=run.system,
            runs=tuple(each.identity for each in one.runs),
            time_s=one.mean_s if mean else one.time_s,
            median_s=one.time_s,
            mean_s=one.mean_s,
            spread=one.spread,
            wide=one.wide,
            same_nodes=one.same_nodes,
            same_allocation=one.same_allocation,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class StoreRepeatsResult(Result):
    """Configurations that ran more than once: ``skelgen store list --repeats``.

    Attributes
    ----------
    repeats : sequence of RepeatedConfiguration
        One for each.
    """

    result: ClassVar[str] = "store-list-repeats"

    repeats: Sequence[RepeatedConfiguration]


@dataclass(frozen=True, slots=True, kw_only=True)
class SeriesImported:
    """What became of the samples of a host and quantity.

    Attributes
    ----------
    host, quantity : str
        Of what.
    samples : int
        How many.
    begin, end : float
        First and last, seconds since 1970 in UTC [s].
    latest : float
        Value of the last.
    """

    host: str
    quantity: str
    samples: int
    begin: float
    end: float
    latest: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceRefused:
    """A source of which nothing is kept.

    Attributes
    ----------
    source, reason : str
        Which, and why.
    """

    source: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class MonitorImportResult(Result):
    """What was imported.

    Attributes
    ----------
    series : sequence of SeriesImported
        Of each host and quantity.
    left_out : sequence of str
        Why something of a source is not kept.
    refused : sequence of SourceRefused
        Sources of which nothing is kept.
    """

    result: ClassVar[str] = "monitor-import"

    series: Sequence[SeriesImported]
    left_out: Sequence[str]
    refused: Sequence[SourceRefused]

    @classmethod
    def of(cls, found: Imported) -> Self:
        """Return the answer to what was imported."""
        return cls(
            series=tuple(SeriesImported(**asdict(one)) for one in found.series),
            left_out=found.left_out,
            refused=tuple(
                SourceRefused(source=source, reason=reason)
                for source, reason in found.refused
            ),
        )
