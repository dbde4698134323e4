"""What machines are told of the rows of a store, by commands and by the server."""

from __future__ import annotations

import dataclasses
import math
from typing import TYPE_CHECKING, Any

from skelgen.documents.dates import date_of
from skelgen.trust.facts import trust_facts

if TYPE_CHECKING:
    from skelgen.pipeline.store_expect import Expected
    from skelgen.store import Added, Row, Run

#: Loads that a run is listed with.
_LOADS = ("cpu_avg_min", "bandwidth_avg_min")


def run_facts(run: Run) -> dict[str, Any]:
    """Return what machines are told of a run."""
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
        **{name: loads.get(name) for name in _LOADS},
        "parts": [dataclasses.asdict(part) for part in run.parts],
    }


def row_facts(identity: str, row: Row) -> dict[str, Any]:
    """Return all that is known of a row, for machines."""
    from skelgen.store import Run
    from skelgen.store.lines import to_line

    if isinstance(row, Run):
        others = {
            name: getattr(row, name)
            for name in ("allocation", "executable", "mpi", "source", "author")
        }
        more = {"loads": dict(row.loads), "costs": dict(row.costs)}
        return {"row": "run", **run_facts(row), **others, **more}
    return {**to_line(row), "id": identity}


def added_facts(found: Added) -> dict[str, Any]:
    """Return what machines are told of rows that were to be added."""
    return {
        "added": [one._asdict() for one in found.added],
        "already": [one._asdict() for one in found.already],
        "refused": [one._asdict() for one in found.refused],
        "pages": found.pages,
    }


def expected_facts(found: Expected) -> dict[str, Any]:
    """Return what machines are told of how long a configuration will take."""
    time_s = found.time_s
    return {
        "app": found.application,
        "expected_s": time_s.p50 if time_s else None,
        "p5_s": time_s.p5 if time_s else None,
        "p95_s": time_s.p95 if time_s else None,
        "runs": [run.identity for run in found.runs],
        **(trust_facts(found.doubts) if time_s else {"verdict": None, "doubts": []}),
        "nearest": [
            {
                "inputs": dict(one.inputs),
                "ranks": one.ranks,
                "runs": one.runs,
                "time_s": one.time_s,
            }
            for one in found.nearest
        ],
    }


def date_text(started: float) -> str:
    """Return a moment as a date, empty where it is not known."""
    if math.isnan(started):
        return ""
    found = date_of(started)
    return repr(started) if found is None else found.strftime("%Y-%m-%dT%H:%M:%SZ")
