"""Rows of a store from what campaigns on the test cluster have measured.

The matrix product, kernels, LAMMPS and heat2d ran on quiet hosts, conjugate gradient,
PDSYEV and FFT under loads that the test cluster made. A campaign that did not note when
a run began gives it the time that it had if all ran one after the other, the last one
when the file was written. Loads of a whole day were not measured: those of ``drawn1``
and ``drawn2`` are drawn by the law by which the test cluster makes them.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.accuracy.judge import Judgement, judge
from benchmarks.accuracy.results import read_all
from benchmarks.demonstration.measure import KERNELS, RANKS, SYSTEMS, MadeSystem
from benchmarks.models.kernels import KERNELS as SOLVER
from benchmarks.models.multicore import PROGRAMS
from benchmarks.models.real import STUDIES
from benchmarks.models.real_loads import seen
from skelgen._paths import method_errors
from skelgen.documents.dates import moment_s
from skelgen.store import (
    Coupling,
    Row,
    Run,
    Series,
    StoredPrediction,
    Template,
    open_store,
)
from skelgen.store.rows import Fact, Inputs
from skelgen.trust import Interval
from skelgen.trust.store import load
from tests.testbed.law import Kind, Law, Weather, draw, read_log

#: A multiplication with an addition of `examples/matrix_product.c` takes c times ADDM:
#: it reads and writes a number for each. Hosts have a share of a core, by a quota that
#: a measurement of ADDM does not see.
#: Rows that follow each other take as long as one message; a broadcast is a tree.
FITTED = "c*ADDM*n^3/(share*(ranks-1)) + (2 + ceil(log2(ranks)))*SR(8 bytes*n^2)"
#: Of a day that is drawn: how often it was looked, and how long a load stays [s].
_LOOK_S, _STAYS_S = 120.0, (1200.0, 3600.0)
_DAY_S = 86400.0
_SECOND_S = 10.0


def lines(path: Path) -> list[dict[str, Any]]:
    """Return the runs of a file of results."""
    found = [json.loads(line) for line in path.read_text().splitlines()]
    return [one for one in found if "run" in one]


def matrix_products(folder: Path) -> Iterator[Row]:
    """Yield products of both systems, and their kernels alone and in pairs."""
    for one in lines(folder / "matrix-product.jsonl"):
        run, found = one["run"], one["found"]
        system = next(each for each in SYSTEMS if each.name == run["system"])
        time_s = found["seconds"] / found["steps"]
        inputs: Inputs = (("n", float(run["size"])),)
        chain, ranks = tuple(run["chain"]), run["ranks"]
        yield Coupling(
            *("matrix-product", chain, time_s, inputs, ranks, system.name),
            measured=found["begun"],
        )
        if chain == KERNELS:
            yield Run(
                *("matrix-product", time_s, ranks, ranks, 1),
                inputs=inputs,
                hosts=tuple(system.host(one + 1) for one in range(ranks)),
                started=found["begun"],
                system=system.name,
                source="examples/matrix_product.c",
            )


def systems(folder: Path) -> Iterator[Row]:
    """Yield what was measured of both systems."""
    for system in SYSTEMS:
        yield from map(partial(_share, system), range(1, max(RANKS) + 1))
        with open_store(str(folder / f"{system.name}-cores.db"), make=False) as store:
            for fact in store.facts():
                yield replace(fact, host="".join(_host(system.name, [fact.host])))
        with open_store(str(folder / f"{system.name}.db"), make=False) as store:
            for one in store.messages():
                yield replace(one, hosts=_host(system.name, one.hosts))


def _share(system: MadeSystem, number: int) -> Fact:
    """Return what the test cluster leaves of a core to a host."""
    found = system.share
    host = system.host(number)
    return Fact(host, "share", found, "1", found, found, 1, system=system.name)


def _host(system: str, names: Iterable[str]) -> tuple[str, ...]:
    """Return names of hosts as the store has them."""
    return tuple(f"{system[-1]}{one[1:]}" for one in names)


def template(factor: float) -> Template:
    """Return the formula of the matrix product, of facts of a system alone."""
    text = FITTED.replace("c*", f"{factor:.3g}*", 1)
    return Template("matrix_product", "matrix-product", text, ("n", "ranks"))


def kernels(path: Path) -> Iterator[Row]:
    """Yield the kernels of a solver, alone and in chains, and its loop."""
    found = lines(path)
    before_s = math.fsum(one["found"]["seconds"] for one in found)
    now = path.stat().st_mtime - before_s
    for one in found:
        run, seconds = one["run"], one["found"]["seconds"]
        time_s = seconds / one["found"]["steps"]
        inputs: Inputs = (("n", float(run["size"])),)
        chain = tuple(run["chain"])
        if len(chain) in (1, 2, len(SOLVER)):
            yield Coupling(
                "kernels", chain, time_s, inputs, run["ranks"], "node", measured=now
            )
        if chain == SOLVER:
            yield Run(
                *("kernels", time_s, run["ranks"], 1, run["ranks"]),
                inputs=inputs,
                hosts=("node1",),
                started=now,
                system="node",
                source="examples/kernels.c",
            )
        now += seconds


def multicore(path: Path) -> Iterator[Run]:
    """Yield runs of LAMMPS and heat2d with several ranks to a host."""
    inputs: dict[str, Inputs] = {
        "lammps": (("atoms", 32000.0), ("steps", 60.0)),
        "heat2d": tuple(
            zip(("n", "steps"), map(float, PROGRAMS["heat2d"]), strict=True)
        ),
    }
    found = lines(path)
    now = path.stat().st_mtime - math.fsum(one["found"]["seconds"] for one in found)
    for one in found:
        run, seconds = one["run"], one["found"]["seconds"]
        if run["program"] in inputs:
            hosts = run["hosts"]
            yield Run(
                *(run["program"], seconds, hosts * run["per_host"], hosts),
                run["per_host"],
                inputs=inputs[run["program"]],
                hosts=tuple(f"a{one + 1}" for one in range(hosts)),
                started=now,
                system="cluster-a",
                source="benchmarks.models multicore",
            )
        now += seconds


def under_load(folder: Path) -> Iterator[Row]:
    """Yield runs under loads, and the loads."""
    known = {one.name for one in STUDIES}
    for one in lines(folder / "real.jsonl"):
        run, found = one["run"], one["found"]
        if run["phase"] == "skeleton" or run["program"] not in known:
            continue
        span = found["begin"], found["end"]
        steady = run["phase"] == "steady"
        during = seen(folder / found["log"], *span, steady=steady).during
        yield Run(
            *(run["program"], found["seconds"], 2, 2, 1),
            inputs=(("n", float(run["size"])),),
            hosts=("c1", "c2"),
            started=found["begin"],
            system="cluster-c",
            loads=tuple((f"{kind}_avg_min", round(during[kind], 4)) for kind in during),
            source=f"benchmarks.models real, {run['phase']} loads",
        )
    yield from made_loads(folder)


def made_loads(folder: Path) -> Iterator[Series]:
    """Yield the loads that were made during the runs under load."""
    ends: dict[str, float] = {}
    for one in lines(folder / "real.jsonl"):
        if "end" in one["found"]:
            log = one["found"]["log"]
            ends[log] = max(ends.get(log, 0.0), one["found"]["end"])
    for log, end in ends.items():
        weather = read_log(folder / log)
        begin = max(one.time for one in weather.settings[: 2 * len(weather.hosts)])
        yield from _series(weather, np.arange(begin, end, _SECOND_S / 2), "c")


def drawn_day(end: float) -> Iterator[Series]:
    """Yield a day of two hosts and their link that was drawn, not measured."""
    laws: dict[Kind, Law] = {
        "cpu": Law(0.065, 0.72, 0.5, *_STAYS_S),
        "bandwidth": Law(0.02, 0.80, 0.5, *_STAYS_S),
    }
    weather = draw(21, ("h1", "h2"), _DAY_S, laws)
    times = np.arange(0.0, _DAY_S, _LOOK_S)
    for one in _series(weather, times, "drawn"):
        moved = tuple(end - _DAY_S + time for time in one.times)
        noise = np.random.default_rng(len(one.host)).normal(0.0, 0.02, len(moved))
        values = np.clip(np.asarray(one.values) + noise, 0.01, 1.0).round(3)
        yield replace(one, times=moved, values=tuple(values.tolist()))


def _series(weather: Weather, times: np.ndarray, name: str) -> Iterator[Series]:
    """Yield CPU of hosts, and bandwidth of the link: the smaller of its two ends."""
    when = tuple(times.round(1).tolist())
    for host in weather.hosts:
        shares = weather.shares(host, times, "cpu").round(3)
        yield Series(f"{name}{host[1:]}", "cpu", when, tuple(shares.tolist()))
    ends = [weather.shares(host, times, "bandwidth") for host in weather.hosts]
    values = np.min(ends, axis=0).round(3)
    yield Series(f"{name}1-{name}2", "bandwidth", when, tuple(values.tolist()))


def by_skeletons(path: Path) -> Iterator[Row]:
    """Yield what skeletons predicted of programs under load, and what happened."""
    results = read_all(path)
    shipped, _ = load(method_errors())
    now = moment_s(str(results.provenance[0]["at"]))
    for one in judge(results):
        if one.case is None:
            continue
        error = shipped.of(one.case.method).half_width
        yield from _told(one, error, now)
        now += 60.0


def _told(one: Judgement, error: float, now: float) -> Iterator[Row]:
    case = one.case
    assert case is not None, "as chosen above"
    # Other runs of these have inputs that these have not.
    name = {"heat2d": "heat2d-2", "conjugate-gradient": "conjugate-gradient-2"}.get(
        one.application, one.application
    )
    ranks = 4 if name.endswith("-4") else 2
    low, high = (math.log(case.predicted_s / end) for end in (case.p5_s, case.p95_s))
    inputs: Inputs = (("scenario", one.scenario), ("skeleton_s", one.length_s))
    about = f"docs/accuracy, {one.scenario}"
    yield StoredPrediction(
        *(case.method, name),
        Interval(
            case.predicted_s * math.exp(-math.hypot(low, error)),
            case.predicted_s,
            case.predicted_s * math.exp(math.hypot(high, error)),
        ),
        made=now,
        inputs=inputs,
        ranks=ranks,
        hosts=("c1", "c2"),
        source=about,
        measured=Interval(case.p5_s, case.predicted_s, case.p95_s),
    )
    yield Run(
        *(name, case.truth_s, ranks, 2, ranks // 2),
        inputs=inputs,
        hosts=("c1", "c2"),
        started=now + 1.0,
        system="cluster-c",
        source=f"{about}: median of its runs",
    )
