"""The simulated cases: runs to learn from, runs to predict, and the floor."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from benchmarks.models import law
from benchmarks.models.law import Before, Case, Floats, Measured
from skelgen.models.runs import Meaning, ModelInput, RunTable

SIZE = ModelInput("n", Meaning.SIZE)
NODES = ModelInput("nodes", Meaning.NODES)
PER_NODE = ModelInput("ranks_per_node", Meaning.RANKS_PER_NODE)
RANKS = ModelInput("ranks", Meaning.RANKS)
CPU = ModelInput("cpu", Meaning.CPU)
BANDWIDTH = ModelInput("bandwidth", Meaning.BANDWIDTH)


@dataclass(frozen=True, slots=True)
class Problem:
    """What a family is given, and what it is asked.

    Attributes
    ----------
    name : str
        Of the case; problems of one name are judged together.
    learnt, asked : RunTable
    floor : (asked,) float64 array
        By the true law with the averages that were measured.
    cases : tuple of Case
        What is asked; empty where the truth is another law.
    before : tuple of (Before or None)
        The hour before each of these.
    """

    name: str
    learnt: RunTable
    asked: RunTable
    floor: Floats
    cases: tuple[Case, ...] = ()
    before: tuple[Before | None, ...] = ()


def problems(seed: int, begins: Sequence[str] = ()) -> Iterator[Problem]:
    """Yield the problems of a seed, of all cases or of those that begin so."""
    for name, make in CASES.items():
        if begins and not name.startswith(tuple(begins)):
            continue
        yield from make(np.random.default_rng([seed, *name.encode()]), name)


def _problem(
    random: np.random.Generator,
    name: str,
    inputs: Sequence[ModelInput],
    learnt: Sequence[Measured],
    asked: Sequence[Measured],
) -> Problem:
    def table(runs: Sequence[Measured]) -> RunTable:
        rows = [_row(one) for one in runs]
        return RunTable.gather(inputs, rows, [one.time_s for one in runs])

    floor = np.array([law.floor_s(one.case, one.average) for one in asked])
    # Drawn last: what was drawn before does not depend on it.
    before = tuple(law.before(random, one) for one in asked)
    cases = tuple(one.case for one in asked)
    return Problem(name, table(learnt), table(asked), floor, cases, before)


def _row(one: Measured) -> dict[str, float]:
    cpu, bandwidth = one.average
    return {
        "n": one.case.n,
        "nodes": one.case.nodes,
        "ranks_per_node": one.case.ranks_per_node,
        "ranks": one.case.ranks,
        "cpu": cpu,
        "bandwidth": bandwidth,
    }


def _sizes(random: np.random.Generator, name: str) -> Iterator[Problem]:
    small = [Case(n, 8) for n in np.linspace(3000, 7000, 17) for _ in range(2)]
    large = [Case(n, 8) for n in np.linspace(7500, 12000, 20)]
    inputs = (SIZE, CPU, BANDWIDTH)
    yield _simulated(random, name, inputs, small, large, loaded=True)


def _nodes(random: np.random.Generator, name: str) -> Iterator[Problem]:
    def cases(nodes: Sequence[int], repeats: int) -> list[Case]:
        return [Case(8000, n, k) for n in nodes for k in (1, 2, 4)] * repeats

    yield _simulated(
        random,
        name,
        (NODES, PER_NODE),
        cases((4, 8, 16, 32), 3),
        cases((48, 64, 96, 128), 1),
        loaded=False,
    )


def _ranks(n: float) -> Callable[[np.random.Generator, str], Iterator[Problem]]:
    def make(random: np.random.Generator, name: str) -> Iterator[Problem]:
        few = [Case(n, p) for p in (4, 9, 16, 25)] * 3
        many = [Case(n, p) for p in (36, 49, 64, 81)]
        yield _simulated(random, name, (RANKS,), few, many, loaded=False)

    return make


def _all(random: np.random.Generator, name: str) -> Iterator[Problem]:
    def cases(count: int, sizes: tuple[int, int], nodes: tuple[int, int]) -> list[Case]:
        return [
            Case(
                round(random.uniform(*sizes)),
                int(random.integers(nodes[0], nodes[1] + 1)),
                int(random.choice((1, 2, 4))),
            )
            for _ in range(count)
        ]

    learnt = cases(120, (2000, 6000), (4, 16))
    asked = cases(30, (6500, 10000), (16, 64))
    inputs = (SIZE, NODES, PER_NODE, CPU, BANDWIDTH)
    yield _simulated(random, name, inputs, learnt, asked, loaded=True)


def _simulated(
    random: np.random.Generator,
    name: str,
    inputs: Sequence[ModelInput],
    learnt: Sequence[Case],
    asked: Sequence[Case],
    *,
    loaded: bool,
) -> Problem:
    return _problem(
        random,
        name,
        inputs,
        [law.run(random, one, loaded=loaded) for one in learnt],
        [law.run(random, one, loaded=loaded) for one in asked],
    )


#: So many laws of their own are drawn for each seed.
LAWS = 10


def _other_laws(random: np.random.Generator, name: str) -> Iterator[Problem]:
    for _ in range(LAWS):
        yield from _other_law(random, name)


def _other_law(random: np.random.Generator, name: str) -> Iterator[Problem]:
    """Draw a law of 2 to 5 terms with exponents off any grid, a knee in 30 %."""
    parallel = random.uniform() < 0.5
    span = (-1.2, 0.4) if parallel else (0.0, 3.2)
    powers = random.uniform(*span, int(random.integers(2, 6)))
    shares = random.dirichlet(np.ones(len(powers)))
    first = 4.0 if parallel else 1000.0
    knee_at = first * random.uniform(1.5, 6.0) if random.uniform() < 0.3 else math.inf
    rise = random.uniform(0.2, 0.6) * (-1.0 if parallel else 1.0)

    def truth(x: Floats) -> Floats:
        smooth = np.sum(shares * (x[:, None] / first) ** powers, axis=1)
        beyond = 1 / (1 + np.exp(-8.0 * (x / knee_at - 1.0))) if knee_at < 1e9 else 0.0
        return np.asarray(10.0 * smooth * (1.0 + rise * beyond))

    learnt = first * np.geomspace(1.0, 8.0, 8)
    learnt = np.repeat(np.round(learnt), 3)
    one = RANKS if parallel else SIZE
    smooth = "smooth" if knee_at > 1e9 else "knee"
    for times in (2.0, 4.0):
        asked = np.round(np.array([times * learnt.max()]))
        yield Problem(
            f"{name}, {smooth}, {times:g} times",
            _table(one, learnt, truth(learnt) * random.normal(1, 0.02, len(learnt))),
            _table(one, asked, truth(asked)),
            truth(asked),
        )


def _table(one: ModelInput, at: Floats, values: Floats) -> RunTable:
    return RunTable.gather((one,), [{one.name: x} for x in at], values.tolist())


CASES: dict[str, Callable[[np.random.Generator, str], Iterator[Problem]]] = {
    "S1 sizes under load": _sizes,
    "S2 nodes and cores": _nodes,
    "S3 processes, knee": _ranks(6000),
    "S3 processes, no knee": _ranks(3000),
    "S4 all at once": _all,
    "S5 other laws": _other_laws,
}
