"""What machines are told of the rows of a store, by commands and by the server."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from skelgen.documents.dates import date_of
from skelgen.pipeline.store_expect import Expected
from skelgen.store import Added, Run
from skelgen.store.rows import RunPart
from skelgen.trust import verdict_of
from skelgen.trust.facts import NamedDoubt, named


@dataclass(frozen=True, slots=True, kw_only=True)
class PartRow:
    """A part of a run of a store.

    Attributes
    ----------
    name : str
        The same for the same part in other runs.
    kind : str
        ``phase``, ``function`` or ``kernel``.
    time_s : float or None
        Mean time of an occurrence [s].
    weight : float or None
        Occurrences.
    share : float or None
        Of the run's time [0 to 1].
    """

    name: str
    kind: str
    time_s: float | None
    weight: float | None
    share: float | None

    @classmethod
    def of(cls, part: RunPart) -> PartRow:
        """Return what is said of a part."""
        return PartRow(
            name=part.name,
            kind=part.kind,
            time_s=part.time_s,
            weight=part.weight,
            share=part.share,
        )


@dataclass(frozen=True, kw_only=True)  # with slots no class could have two bases
class RunRow:
    """A run of a store.

    Attributes
    ----------
    id : str
        Its identity.
    app : str
        Name of the application.
    inputs : mapping of str to (float or str)
        Of the run.
    ranks, nodes, ranks_per_node : int
        0 where they are not known.
    hosts : sequence of str
        Where it ran, as far as that is known.
    started : str or None
        When (ISO, UTC).
    time_s : float or None
        How long it took [s].
    status : str
        How it ended: ``ok``, or what happened.
    system : str
        Of its hosts.
    cpu_avg_min, bandwidth_avg_min : float or None
        Least share of a core, and of a link, that the nodes left [0 to 1].
    parts : sequence of PartRow
        What it consists of.
    """

    id: str
    app: str
    inputs: Mapping[str, float | str]
    ranks: int
    nodes: int
    ranks_per_node: int
    hosts: Sequence[str]
    started: str | None
    time_s: float | None
    status: str
    system: str
    cpu_avg_min: float | None
    bandwidth_avg_min: float | None
    parts: Sequence[PartRow]

    @classmethod
    def fields_of(cls, run: Run) -> dict[str, Any]:
        """Return what is said of a run, by the names of the fields."""
        loads = dict(run.loads)
        return {
            "id": run.identity,
            "app": run.application,
            "inputs": dict(run.inputs),
            "ranks": run.ranks,
            "nodes": run.nodes,
            "ranks_per_node": run.ranks_per_node,
            "hosts": run.hosts,
            "started": date_text(run.started) or None,
            "time_s": run.time_s,
            "status": run.status,
            "system": run.system,
            "cpu_avg_min": loads.get("cpu_avg_min"),
            "bandwidth_avg_min": loads.get("bandwidth_avg_min"),
            "parts": tuple(map(PartRow.of, run.parts)),
        }

    @classmethod
    def of(cls, run: Run) -> RunRow:
        """Return what is said of a run."""
        return RunRow(**cls.fields_of(run))


@dataclass(frozen=True, slots=True, kw_only=True)
class NamedRow:
    """A row that was to be added.

    Attributes
    ----------
    source : str
        File and place that it was read from.
    run : str
        Its identity.
    reason : str
        Why it was refused; empty when it was not.
    """

    source: str
    run: str
    reason: str


@dataclass(frozen=True, kw_only=True)  # with slots no class could have two bases
class NamedRows:
    """Rows that were to be added.

    Attributes
    ----------
    added, already, refused : sequence of NamedRow
        What became of them.
    pages : int
        Pages of recorded runs that came with them and are new.
    """

    added: Sequence[NamedRow]
    already: Sequence[NamedRow]
    refused: Sequence[NamedRow]
    pages: int

    @classmethod
    def fields_of(cls, found: Added) -> dict[str, Any]:
        """Return what became of rows, by the names of the fields."""
        return {
            "added": tuple(NamedRow(**one._asdict()) for one in found.added),
            "already": tuple(NamedRow(**one._asdict()) for one in found.already),
            "refused": tuple(NamedRow(**one._asdict()) for one in found.refused),
            "pages": found.pages,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class NearestRuns:
    """Runs of another configuration.

    Attributes
    ----------
    inputs : mapping of str to (float or str)
        Of the runs.
    ranks : int
        0 where they are not known.
    runs : int
        How many.
    time_s : float
        Their time [s].
    """

    inputs: Mapping[str, float | str]
    ranks: int
    runs: int
    time_s: float


@dataclass(frozen=True, kw_only=True)  # with slots no class could have two bases
class ExpectedTime:
    """How long a configuration will take.

    Attributes
    ----------
    app : str
        Name of the application.
    expected_s, p5_s, p95_s : float or None
        Time and its 90 % interval [s]; None when the configuration never ran.
    runs : sequence of str
        Identities of its runs.
    verdict : str or None
        ``trust`` or ``do not trust``.
    doubts : sequence of NamedDoubt
        Why not.
    nearest : sequence of NearestRuns
        Configurations that ran, where this one never did.
    """

    app: str
    expected_s: float | None
    p5_s: float | None
    p95_s: float | None
    runs: Sequence[str]
    verdict: str | None
    doubts: Sequence[NamedDoubt]
    nearest: Sequence[NearestRuns]

    @classmethod
    def fields_of(cls, found: Expected) -> dict[str, Any]:
        """Return what is expected, by the names of the fields."""
        time_s = found.time_s
        return {
            "app": found.application,
            "expected_s": time_s.p50 if time_s else None,
            "p5_s": time_s.p5 if time_s else None,
            "p95_s": time_s.p95 if time_s else None,
            "runs": [run.identity for run in found.runs],
            "verdict": verdict_of(found.doubts) if time_s else None,
            "doubts": named(found.doubts) if time_s else (),
            "nearest": tuple(
                NearestRuns(
                    inputs=dict(one.inputs),
                    ranks=one.ranks,
                    runs=one.runs,
                    time_s=one.time_s,
                )
                for one in found.nearest
            ),
        }


def date_text(started: float) -> str:
    """Return a moment as a date, empty where it is not known."""
    if math.isnan(started):
        return ""
    found = date_of(started)
    return repr(started) if found is None else found.strftime("%Y-%m-%dT%H:%M:%SZ")
