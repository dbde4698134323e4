"""Random runs to learn from: laws, inputs, noise, sizes and odd values of all kinds."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from skelgen.models.families import FAMILIES, FamilySettings
from skelgen.models.formulas import parse
from skelgen.models.runs import (
    LARGEST,
    SMALLEST,
    Floats,
    ModelInput,
    RunTable,
    meaning_of,
    when_of,
)

Random = np.random.Generator

#: Inputs are drawn from these; the first ones more often.
_NAMES = (
    *("n", "ranks", "n", "m", "nodes", "ranks_per_node", "cpu", "bandwidth", "k"),
    *("cpu_start", "bandwidth_start", "latency_s", "clock", "read_16mib"),
    *("write_16mib", "network_nominal", "platform_contribution", "n^2"),
)
_COUNTS = ("ranks", "nodes", "ranks_per_node")

_TEMPLATES = (
    *("a*n", "a*n^b", "a + b*n^2", "a*n*log(n) + b", "exp(a*n)", "a/(n - b)"),
    *("max(a*n, b)", "a*n^3 - b*n", "a + b*log2(n)*c", "n^a^b"),
)
_COMPLEXITIES = ("n", "n^2", "n^3", "n*log(n)", "1/n", "n^0.5")

#: Places to ask for, of each model.
_PLACES = 8


@dataclass(frozen=True, slots=True)
class Drawn:
    """A case.

    Attributes
    ----------
    runs : RunTable
    family : str
    settings : FamilySettings
    places : tuple of dict
        What to ask for.
    """

    runs: RunTable
    family: str
    settings: FamilySettings
    places: tuple[dict[str, float], ...]


def drawn(seed: int, number: int) -> Drawn:
    """Draw a case, the same each time.

    Parameters
    ----------
    seed, number : int
    """
    random = np.random.default_rng([seed, number])
    names = list(dict.fromkeys(random.choice(_NAMES, int(random.integers(1, 5)))))
    names = [str(name) for name in names]
    count = int(np.exp(random.uniform(0.5, np.log(60.0))))
    at = np.stack([_column(random, name, count) for name in names], axis=1)
    if random.random() < 0.3:  # repeats
        at = at[random.integers(0, max(1, count // 2), count)]
    values = _values(random, at)
    rows = [dict(zip(names, row, strict=True)) for row in at.tolist()]
    inputs = [ModelInput(name, meaning_of(name), when=when_of(name)) for name in names]
    family = str(random.choice([*FAMILIES]))
    runs = RunTable.gather(inputs, rows, values.tolist())
    places = tuple(_place(random, names, at) for _ in range(_PLACES))
    return Drawn(runs, family, _settings(random, names), places)


def _column(random: Random, name: str, count: int) -> Floats:
    """Return values of an input: counts, shares, sizes, or odd ones."""
    kind = random.random()
    if kind < 0.05:
        return np.full(count, 10.0 ** random.uniform(-3, 6)).clip(*_limits(name))
    if name in _COUNTS:
        found = 2.0 ** random.integers(0, 1 + int(random.integers(1, 17)), count)
        found = found if kind < 0.7 else np.ceil(random.uniform(0.5, 5000.0, count))
    elif _limits(name)[1] == 1.0:
        found = random.uniform(0.0, 1.0, count) if kind < 0.8 else np.ones(count)
        found = found ** random.uniform(0.1, 8.0)
    elif kind < 0.6:  # a grid of sizes
        first, step = 10.0 ** random.uniform(-2, 5), random.uniform(1.05, 4.0)
        found = first * step ** random.integers(0, int(random.integers(2, 12)), count)
    elif kind < 0.8:
        found = 10.0 ** random.uniform(0, random.uniform(0.1, 8.0), count)
    elif kind < 0.9:  # nearly equal
        found = 100.0 * (1.0 + random.uniform(0, 1e-12, count))
    else:  # anything
        found = 10.0 ** random.uniform(-30, 30, count)
    if random.random() < 0.05:  # one that is far off
        found = found.astype(float)
        found[int(random.integers(count))] = 10.0 ** random.uniform(-30, 30)
    return np.asarray(found, np.float64).clip(*_limits(name))


def _limits(name: str) -> tuple[float, float]:
    return SMALLEST, 1.0 if meaning_of(name).available else LARGEST


def _values(random: Random, at: Floats) -> Floats:
    """Return times: a sum of products of powers, with a knee, a constant and noise."""
    logs = np.log(at)
    total = np.zeros(len(at))
    for _ in range(int(random.integers(1, 5))):
        powers = random.uniform(-3, 3.5, at.shape[1]) * (random.random() < 0.9)
        term = logs @ powers + random.normal(0.0, 3.0)
        total = total + np.exp(np.clip(term - np.max(term), -100.0, 0.0))
    if random.random() < 0.3:
        knee = np.median(logs[:, 0])
        total = total * np.where(logs[:, 0] > knee, random.uniform(0.1, 10.0), 1.0)
    if random.random() < 0.1:
        total = np.max(total) + total[0] - total  # falls where it grew
    kind = random.random()
    noise = 0.0 if kind < 0.2 else 10.0 ** random.uniform(-4, 0.5)
    total = total * np.exp(noise * random.standard_normal(len(at)))
    unit = 10.0 ** random.uniform(-6, 4) if kind < 0.9 else 10.0 ** random.normal(0, 12)
    with np.errstate(all="ignore"):
        return np.asarray(np.clip(np.nan_to_num(total * unit), SMALLEST, LARGEST))


def _settings(random: Random, names: list[str]) -> FamilySettings:
    def one_of(texts: tuple[str, ...]) -> str:
        return str(random.choice(texts)).replace("n", f"'{names[0]}'")

    told = random.random() < 0.5
    texts = tuple(one.replace("min", "@").replace("n", "N") for one in _TEMPLATES)
    template = str(random.choice(texts)).replace("N", f"'{names[0]}'")
    return FamilySettings(
        degree=int(random.integers(1, 5)),
        computation=parse(one_of(_COMPLEXITIES)) if told else None,
        communication=parse(one_of(_COMPLEXITIES)) if told else None,
        template=parse(template),
        non_negative=bool(random.random() < 0.5),
        whole=bool(random.random() < 0.1),
        separately=bool(random.random() < 0.1),
        thesis=bool(random.random() < 0.1),
    )


def _place(random: Random, names: list[str], at: Floats) -> dict[str, float]:
    """Return where to ask: among the runs, ahead of them, behind, or anywhere."""
    row = at[int(random.integers(len(at)))]
    kind = random.random()
    if kind < 0.4:
        factors = np.exp(random.uniform(-0.5, 1.5, len(names)))
    elif kind < 0.8:
        factors = 10.0 ** random.uniform(-1, 3, len(names))
    else:
        factors = 10.0 ** random.uniform(-40, 40, len(names))
    found = {}
    with np.errstate(all="ignore"):
        for name, value in zip(names, row * factors, strict=True):
            found[name] = float(np.clip(value, *_limits(name)))
    return found
