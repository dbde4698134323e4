"""Runs to learn from: inputs with what they mean, and what was measured."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skelgen.errors import InputError
from skelgen.trust import Doubt

Floats = NDArray[np.float64]

#: Numbers outside are no times, sizes or counts, and would overflow in formulas.
SMALLEST, LARGEST = 1e-30, 1e30

_REMEDY = "correct it, or leave the run out (--where)"
#: Facts of the inputs of so many sets of runs are kept: phases and folds have the same.
_MOST_KEPT = 256


class Meaning(StrEnum):
    """What an input of a model is."""

    SIZE = "size"
    RANKS = "ranks"
    NODES = "nodes"
    RANKS_PER_NODE = "ranks-per-node"
    CPU = "cpu"
    BANDWIDTH = "bandwidth"
    LATENCY = "latency"
    FACT = "fact"

    @property
    def available(self) -> bool:
        """Whether it is a part of a resource that is left, from 0 to 1."""
        return self in (Meaning.CPU, Meaning.BANDWIDTH)

    @property
    def parallel(self) -> bool:
        """Whether it says on how many processes the application runs."""
        return self in (Meaning.RANKS, Meaning.NODES, Meaning.RANKS_PER_NODE)


class When(StrEnum):
    """When the load of nodes and links was measured: two covariates, not one."""

    AVERAGE = "average"
    START = "start"


#: What the load of nodes and links leaves.
_LOADS = (Meaning.CPU, Meaning.BANDWIDTH, Meaning.LATENCY)

#: What `skelgen.systems` measures and models use: rates of memory and network, and how
#: fast a processor is.
SYSTEM_FACTS = (
    "read_16mib",
    "write_16mib",
    "network_nominal",
    "platform_contribution",
    "clock",
)

#: What inputs of these names mean, where nobody says otherwise.
_KNOWN = {
    "ranks": Meaning.RANKS,
    "p": Meaning.RANKS,
    "nodes": Meaning.NODES,
    "ranks_per_node": Meaning.RANKS_PER_NODE,
    "cpu": Meaning.CPU,
    "bandwidth": Meaning.BANDWIDTH,
    "latency_s": Meaning.LATENCY,
    **dict.fromkeys(SYSTEM_FACTS, Meaning.FACT),
}

#: Ends of names of loads, such as ``cpu_start``; without one it is the average.
_ENDS = {f"_{when.value}": when for when in When}


def meaning_of(name: str) -> Meaning:
    """Return what an input of that name means: a size unless the name is known."""
    return _KNOWN.get(_stem(name), Meaning.SIZE)


def when_of(name: str) -> When:
    """Return when an input of that name was measured: ``cpu_start`` at the start."""
    lower = name.lower()
    if _stem(lower) == lower:
        return When.AVERAGE
    return next(when for end, when in _ENDS.items() if lower.endswith(end))


def _stem(name: str) -> str:
    """Return the name of a load without its end; other names as they are."""
    lower = name.lower()
    for end in _ENDS:
        stem = lower.removesuffix(end)
        if _KNOWN.get(stem) in _LOADS:
            return stem
    return lower


@dataclass(frozen=True, slots=True)
class ModelInput:
    """An input of a model.

    Attributes
    ----------
    name : str
        As formulas name it.
    meaning : Meaning
    unit : str
        Empty for counts and shares.
    when : When
        Of availabilities and latencies: at the start of a run, or on average over it.
    """

    name: str
    meaning: Meaning = Meaning.SIZE
    unit: str = ""
    when: When = When.AVERAGE


@dataclass(frozen=True, slots=True, eq=False)
class RunTable:
    """Runs of one application: a value of each input, and what was measured.

    Attributes
    ----------
    inputs : tuple of ModelInput
    at : (runs, inputs) float64 array
        Above 0 all of them; availabilities are at most 1.
    values : (runs,) float64 array
        Above 0, in `unit`.
    quantity : str
        What was measured, such as ``time``.
    unit : str
    doubts, notes : tuple of Doubt and of str
        What is said of every model of these runs.
    """

    inputs: tuple[ModelInput, ...]
    at: Floats
    values: Floats
    quantity: str = "time"
    unit: str = "s"
    doubts: tuple[Doubt, ...] = ()
    notes: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.values)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, RunTable) and self._all == other._all

    def __hash__(self) -> int:
        return hash(self._all)

    @property
    def _all(self) -> tuple[Any, ...]:
        """All numbers: equal runs are one, so that what was found can be kept."""
        numbers = self.at.tobytes(), self.values.tobytes()
        return self.inputs, *numbers, self.quantity, self.unit

    @property
    def columns(self) -> dict[str, Floats]:
        """The values of each input by its name."""
        return {one.name: self.at[:, i] for i, one in enumerate(self.inputs)}

    @property
    def varied(self) -> tuple[ModelInput, ...]:
        """Inputs with at least two values."""
        return _varied(self.inputs, self.at.tobytes())

    @property
    def different(self) -> int:
        """How many runs have inputs that no run before has."""
        return _different(len(self.inputs), self.at.tobytes())

    @property
    def unmeasured(self) -> RunTable:
        """The inputs alone: all values are 1."""
        return RunTable(self.inputs, self.at, np.ones(len(self)))

    def load(self, meaning: Meaning, when: When) -> ModelInput | None:
        """Return what says how much of a resource is left, best of that time."""
        found = self.of(meaning)
        same = [one for one in found if one.when is when]
        return next(iter([*same, *found]), None)

    def with_loads_of(self, when: When) -> RunTable:
        """Return the runs with one load of each resource, best of that time."""
        kept = [self.load(meaning, when) for meaning in _LOADS]
        others = [one.name for one in self.of(*_LOADS) if one not in kept]
        return self.without(*others) if others else self

    def of(self, *meanings: Meaning) -> tuple[ModelInput, ...]:
        """Return the inputs that mean one of these."""
        return tuple(one for one in self.inputs if one.meaning in meanings)

    def only(self, chosen: NDArray[Any] | Sequence[int]) -> RunTable:
        """Return some of the runs."""
        chosen = np.asarray(chosen)
        return replace(self, at=self.at[chosen], values=self.values[chosen])

    def without(self, *names: str) -> RunTable:
        """Return the runs without some inputs."""
        kept = [i for i, one in enumerate(self.inputs) if one.name not in names]
        inputs = tuple(self.inputs[i] for i in kept)
        return replace(self, inputs=inputs, at=self.at[:, kept])

    @classmethod
    def gather(
        cls,
        inputs: Sequence[ModelInput],
        runs: Sequence[Mapping[str, float]],
        values: Sequence[float],
        *,
        quantity: str = "time",
        unit: str = "s",
        names: Sequence[str] = (),
    ) -> RunTable:
        """Check what was measured.

        Parameters
        ----------
        inputs : sequence of ModelInput
            Names differ.
        runs : sequence of mapping of str to float
            A value of each input; others are ignored.
        values : sequence of float
            What was measured in each run.
        names : sequence of str, optional
            What messages call each run; else ``run 1`` and so on.

        Raises
        ------
        InputError
            When a run lacks an input, or a number cannot be meant.
        """
        if len(runs) != len(values) or not len(runs):
            raise InputError(
                f"{len(runs)} runs with {len(values)} values; a model needs at least "
                "one run, each with a value"
            )
        called = names or [f"run {row}" for row in range(1, len(runs) + 1)]
        at = np.empty((len(runs), len(inputs)))
        for i, one in enumerate(inputs):
            pairs = zip(runs, called, strict=True)
            at[:, i] = [_value(run, one, name) for run, name in pairs]
        measured = np.array(
            [
                _checked(value, quantity, name)
                for value, name in zip(values, called, strict=True)
            ]
        )
        return cls(tuple(inputs), at, measured, quantity, unit)


@functools.lru_cache(maxsize=_MOST_KEPT)
def _different(inputs: int, at: bytes) -> int:
    rows = np.frombuffer(at).reshape(-1, max(inputs, 1)).tolist()
    return len({tuple(row) for row in rows})


@functools.lru_cache(maxsize=_MOST_KEPT)
def _varied(inputs: tuple[ModelInput, ...], at: bytes) -> tuple[ModelInput, ...]:
    if not at:
        return ()
    spans = np.ptp(np.frombuffer(at).reshape(-1, len(inputs)), axis=0)
    return tuple(one for one, span in zip(inputs, spans, strict=True) if span)


def _value(run: Mapping[str, float], one: ModelInput, where: str) -> float:
    if one.name not in run:
        raise InputError(
            f"{where} has no {one.name}, which others have; give it, or leave the "
            "input out"
        )
    value = float(run[one.name])
    if one.meaning.available and not SMALLEST <= value <= 1.0:
        raise InputError(
            f"{where}: {one.name} is {value:g}; a part that is left is above 0 and "
            f"at most 1; {_REMEDY}"
        )
    return _checked(value, one.name, where)


def _checked(value: float, name: str, where: str) -> float:
    number = float(value)
    if not SMALLEST <= number <= LARGEST:  # nan is neither
        raise InputError(
            f"{where}: {name} is {number:g}; a model takes numbers from "
            f"{SMALLEST:g} to {LARGEST:g}; {_REMEDY}"
        )
    return number


def table_of(
    rows: Sequence[Mapping[str, float]],
    values: Sequence[float],
    *,
    quantity: str = "time",
    unit: str = "s",
) -> RunTable:
    """Return runs whose inputs mean what their names say.

    Parameters
    ----------
    rows : sequence of mapping of str to float
        The inputs of the first run are those of all.
    values : sequence of float
        What was measured in each run.

    Raises
    ------
    InputError
        As `RunTable.gather` does.
    """
    names = list(rows[0]) if rows else []
    inputs = [ModelInput(name, meaning_of(name), when=when_of(name)) for name in names]
    return RunTable.gather(inputs, rows, values, quantity=quantity, unit=unit)
