"""What a user says of the runs of a file that the file does not say."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

from skelgen.errors import InputError
from skelgen.store.rows import Inputs, Run

#: Fields that may be given, with their options.
_OPTIONS = {
    "application": "--app",
    "ranks": "--ranks",
    "nodes": "--nodes",
    "ranks_per_node": "--ranks-per-node",
    "hosts": "--hosts",
    "system": "--system",
    "allocation": "--allocation",
    "started": "--started",
}


@dataclass(frozen=True, slots=True)
class TypedValues:
    """What was typed; what is empty was not.

    Attributes
    ----------
    application : str
    inputs : tuple of (str, float or str)
    ranks, nodes, ranks_per_node : int
    hosts : tuple of str
    system, allocation : str
    started : float
        Seconds since 1970 in UTC [s].
    otherwise : str
        Application of runs that name none; empty: they are refused.
    """

    application: str = ""
    inputs: Inputs = ()
    ranks: int = 0
    nodes: int = 0
    ranks_per_node: int = 0
    hosts: tuple[str, ...] = ()
    system: str = ""
    allocation: str = ""
    started: float = math.nan
    otherwise: str = ""

    def complete(self, run: Run) -> Run:
        """Return a run with what was typed.

        Raises
        ------
        InputError
            When the run says something else.
        """
        changes = {}
        for name, wanted in self.given.items():
            option, found = _OPTIONS[name], getattr(run, name)
            if not is_empty(found) and found != wanted:
                raise InputError(
                    f"{run.source}: its {name} is {shown(found)}, {option} says "
                    f"{shown(wanted)}; leave {option} out"
                )
            changes[name] = wanted
        if not (run.application or self.application) and self.otherwise:
            changes["application"] = self.otherwise
        inputs = dict(run.inputs)
        for name, value in self.inputs:
            if inputs.setdefault(name, value) != value:
                raise InputError(
                    f"{run.source}: its {name} is {inputs[name]}, --input says "
                    f"{value}; leave it out"
                )
        if not changes and len(inputs) == len(run.inputs):
            return run
        return replace(run, inputs=tuple(sorted(inputs.items())), **changes)

    @property
    def given(self) -> dict[str, Any]:
        """Return the fields that were typed, but inputs."""
        return {
            name: value
            for name in _OPTIONS
            if not is_empty(value := getattr(self, name))
        }


#: Nothing was typed.
NOTHING = TypedValues()


def is_empty(value: object) -> bool:
    """Say whether a field of a run says nothing."""
    return math.isnan(value) if isinstance(value, float) else not value


def shown(value: object) -> str:
    """Return the value of a field for people."""
    return ",".join(map(str, value)) if isinstance(value, tuple) else str(value)
