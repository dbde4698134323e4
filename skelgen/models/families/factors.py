"""Factors of a product of sums: what each is a polynomial of.

References
----------
Delgado et al. 2010, section II-E, eq. 1 and 2.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from skelgen.models.families.contract import FamilySettings
from skelgen.models.families.formula_parts import columns_of, product
from skelgen.models.formulas import Expression, Name, Number, Quotient, names, to_text
from skelgen.models.runs import SYSTEM_FACTS, Floats, Meaning, RunTable, When

_READ, _WRITE, _NETWORK, _PLATFORM, _CLOCK = SYSTEM_FACTS

#: Two functions are one when their correlation differs from 1 by less.
_SAME = 1e-9


@dataclass(frozen=True, slots=True)
class Factor:
    """A sum in the product: A_0 + A_1 z + ... up to a degree.

    Attributes
    ----------
    name : str
        For people.
    letter : str
        Of its coefficients in eq. 2; empty where they are of several factors.
    z : Expression
    degree : int
    """

    name: str
    letter: str
    z: Expression
    degree: int

    @property
    def base(self) -> Factor:
        """The factor whatever its degree."""
        return replace(self, degree=0)


def factors_of(runs: RunTable, settings: FamilySettings) -> list[Factor]:
    """Return the factors of eq. 2, then those of other inputs as in eq. 1."""
    per_node, nodes, count = _processes(runs)
    one = Number(1.0)
    found = [
        ("memory read bandwidth per core", "A", _shared(_READ, per_node)),
        ("memory write bandwidth per core", "B", _shared(_WRITE, per_node)),
        ("number of nodes", "C", nodes and Quotient(one, nodes)),
        ("cores per node", "D", per_node and Quotient(one, per_node)),
        ("processors", "E", count and Quotient(one, count)),
        ("network bandwidth per core", "F", _shared(_NETWORK, per_node)),
        *_speed(runs),
    ]
    known = _facts(found, runs, settings)
    return [
        Factor(name, letter, z, settings.degree)
        for name, letter, z in [*known, *_others(runs)]
        if z is not None
    ]


def _processes(runs: RunTable) -> tuple[Expression | None, ...]:
    """Return cores per node, nodes and processors, as far as inputs say them."""
    count, nodes, per_node = (
        Name(found[0].name) if (found := runs.of(meaning)) else None
        for meaning in (Meaning.RANKS, Meaning.NODES, Meaning.RANKS_PER_NODE)
    )
    cores: Expression | None = per_node
    if cores is None and count and nodes:
        cores = Quotient(count, nodes)
    machines: Expression | None = nodes
    if machines is None and count and per_node:
        machines = Quotient(count, per_node)
    total: Expression | None = count
    if total is None and nodes and per_node:
        total = product(per_node, nodes)
    return cores, machines, total


def _shared(fact: str, per_node: Expression | None) -> Expression:
    """Return what a core has of a rate that the cores of its node share."""
    return Name(fact) if per_node is None else Quotient(Name(fact), per_node)


def _speed(runs: RunTable) -> list[tuple[str, str, Expression | None]]:
    """Return the platform contribution, or the clock where it was not measured."""
    known = {one.name for one in runs.inputs}
    if _PLATFORM not in known and _CLOCK in known:
        return [("clock", "G", Quotient(Number(1.0), Name(_CLOCK)))]
    return [("platform contribution", "G", Quotient(Number(1.0), Name(_PLATFORM)))]


def _facts(
    found: list[tuple[str, str, Expression | None]],
    runs: RunTable,
    settings: FamilySettings,
) -> list[tuple[str, str, Expression | None]]:
    """Leave out factors of facts that nobody knows; those of one platform are 1."""
    inputs = {one.name for one in runs.inputs}
    facts = set(settings.facts) - inputs
    kept = []
    for name, letter, z in found:
        used = set(names(z)) if z is not None else set()
        if used <= inputs | facts:
            kept.append((name, letter, z and _without(z, facts)))
    return kept


def _without(z: Expression, facts: set[str]) -> Expression:
    """Return z without a fact that is the same in all runs: its unit is arbitrary."""
    if isinstance(z, Quotient) and set(names(z.above)) & facts:
        return Quotient(Number(1.0), z.below)
    return Number(1.0) if set(names(z)) & facts else z


def _others(runs: RunTable) -> list[tuple[str, str, Expression | None]]:
    """Return sizes, other facts, and loads, inverted where more is faster."""
    found: list[tuple[str, str, Expression | None]] = [
        (one.name, one.name, Name(one.name))
        for one in runs.inputs
        if one.meaning is Meaning.SIZE
        or (one.meaning is Meaning.FACT and one.name not in SYSTEM_FACTS)
    ]
    for meaning in (Meaning.CPU, Meaning.BANDWIDTH, Meaning.LATENCY):
        load = runs.load(meaning, When.AVERAGE)
        if load is not None:
            z = Name(load.name)
            inverted = Quotient(Number(1.0), z) if meaning.available else z
            found.append((load.name, load.name, inverted))
    return found


def merged(
    factors: list[Factor], runs: RunTable
) -> tuple[list[Factor], list[list[str]]]:
    """Join factors that are one function of these runs, and leave out constant ones.

    Returns
    -------
    factors : list of Factor
        A joined one has the sum of the degrees, as far as the runs have values for it.
    same : list of list of str
        Names of those that were joined.
    """
    columns = columns_of([factor.z for factor in factors], runs).T
    bundles: list[list[int]] = []
    for i, column in enumerate(columns):
        if np.ptp(column) == 0.0 or not np.isfinite(column).all():
            continue
        for bundle in bundles:
            if _correlated(columns[bundle[0]], column):
                bundle.append(i)
                break
        else:
            bundles.append([i])
    joined = [
        _joined([factors[i] for i in bundle], columns[bundle]) for bundle in bundles
    ]
    same = [[factors[i].name for i in bundle] for bundle in bundles if len(bundle) > 1]
    return joined, same


def _correlated(first: Floats, second: Floats) -> bool:
    def unit(x: Floats) -> Floats:
        scaled = x / np.max(np.abs(x))
        centred = scaled - scaled.mean()
        return np.asarray(centred / np.linalg.norm(centred))

    return bool(abs(unit(first) @ unit(second)) > 1.0 - _SAME)


def _joined(bundle: list[Factor], columns: Floats) -> Factor:
    simplest = min(bundle, key=lambda one: len(to_text(one.z)))
    values = len(np.unique(np.round(columns[0] / np.max(np.abs(columns[0])), 12)))
    degree = min(sum(one.degree for one in bundle), max(values - 1, 1))
    if len(bundle) == 1:
        return replace(simplest, degree=degree)
    name = ", ".join(one.name for one in bundle)
    return Factor(name, "", simplest.z, degree)
