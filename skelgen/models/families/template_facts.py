"""Templates for one system: facts become numbers, functions of sizes become formulas.

References
----------
Wu, Taylor, Paris 2005, figure 8 ("parsed method").
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from skelgen.errors import InputError
from skelgen.models.families.contract import FamilySettings
from skelgen.models.families.formula_parts import processes
from skelgen.models.formulas import (
    Expression,
    FunctionCall,
    Name,
    Number,
    Product,
    Quotient,
    calls,
    evaluate,
    names,
    replaced,
)
from skelgen.models.formulas.dimensions import dimension, shown, unit_of
from skelgen.models.formulas.expression import MATHEMATICS, inner, plain, walk
from skelgen.models.runs import RunTable

#: An argument of a function that is all processes of a run where nobody gives it.
PROCESSES = "P"


def substituted(
    template: Expression, runs: RunTable, settings: FamilySettings
) -> Expression:
    """Check the units of a template, and put in what a system's facts say.

    Parameters
    ----------
    template : Expression
    runs : RunTable
        Its inputs stay names.
    settings : FamilySettings
        `facts` with `units`, `definitions` and `functions`.

    Returns
    -------
    Expression
        Of inputs and coefficients, in seconds and bytes.

    Raises
    ------
    InputError
        When units do not fit, or a function is not known.
    """
    template = replaced(template, _Processes(runs, settings).put)
    inputs = {one.name: _known(one.unit) for one in runs.inputs}
    units = {**_of_definitions(settings), **settings.units, **inputs}
    facts = frozenset(settings.facts) - set(inputs)
    free = set(names(template)) - set(inputs) - facts
    scale = _scale(template, units, free, runs.unit)
    found = replaced(template, _Facts(settings, inputs, facts).put)
    found = found if scale == 1.0 else Quotient(found, Number(scale))
    left = calls(found)
    if left:
        known = sorted([*MATHEMATICS, *settings.definitions, *settings.functions])
        raise InputError(
            f"the template calls {left[0]}, which is not known for this system; name "
            f"the system, or give it as a fact: {left[0]}(L)=16 us + 2 ns*L; known: "
            f"{', '.join(known)}"
        )
    return found


def _known(unit: str) -> str:
    """Return a unit that formulas know; numbers in others are plain."""
    try:
        unit_of(unit)
    except InputError:
        return ""
    return unit


def _of_definitions(settings: FamilySettings) -> dict[str, str]:
    """Return the units of functions that are formulas: seconds, bytes, or none."""
    found = {}
    for name, (parameters, body) in settings.definitions.items():
        own = shown(dimension(body, {}, parameters))
        found[name] = own if own in ("s", "bytes") else ""
    return found


def _scale(
    template: Expression, units: Mapping[str, str], free: set[str], wanted: str
) -> float:
    """Check the units, and return how many seconds or bytes the runs' unit is."""
    found = dimension(template, units, free)
    parts = walk(template)
    used = {part.unit for part in parts if isinstance(part, Number)}
    used |= {units.get(name, "") for name in (*names(template), *calls(template))}
    if used <= {""} or _known(wanted) != wanted:
        return 1.0  # nothing has a unit: its numbers are as the author means them
    scale, expected = unit_of(wanted)
    if found not in (None, expected):
        raise InputError(
            f"the template is {shown(found)}, and the runs give "
            f"{wanted or 'plain numbers'}; check the units of its facts and numbers"
        )
    return scale


@dataclass(frozen=True, slots=True)
class _Processes:
    """How many processes a collective has that does not say it: all of the run.

    The figure of the paper has ``BC(L)``, and its formula of a broadcast needs P.
    """

    runs: RunTable
    settings: FamilySettings

    def put(self, part: Expression) -> Expression | None:
        """Return a call with the number of processes, where only that is missing."""
        if (
            not isinstance(part, FunctionCall)
            or part.function not in self.settings.definitions
        ):
            return None
        parameters = self.settings.definitions[part.function][0]
        if len(part.arguments) + 1 != len(parameters) or parameters[-1] != PROCESSES:
            return None
        every = processes(self.runs)
        if every is None:
            raise InputError(
                f"the template calls {part.function} of a size only, and no input says "
                f"how many ranks there are; write {part.function}(size, ranks)"
            )
        return FunctionCall(part.function, (*part.arguments, every))


@dataclass(frozen=True, slots=True)
class _Facts:
    """What stands for parts of a template.

    Attributes
    ----------
    settings : FamilySettings
    inputs : mapping of str to str
        Units of inputs.
    facts : frozenset of str
        Facts that are no inputs.
    """

    settings: FamilySettings
    inputs: Mapping[str, str]
    facts: frozenset[str]

    def put(self, part: Expression) -> Expression | None:
        """Return what stands for a part, or None to keep it."""
        match part:
            case Number(_, unit) if unit:
                return Number(plain(part))
            case Name(name) if name in self.inputs:
                scale = unit_of(self.inputs[name])[0]
                return None if scale == 1.0 else Product((Number(scale), part))
            case Name(name) if name in self.facts:
                return Number(self._fact(name))
            case FunctionCall(function, arguments) if (
                function in self.settings.definitions
            ):
                return self._defined(function, arguments)
            case FunctionCall(function, arguments) if (
                function in self.settings.functions
            ):
                return self._called(function, arguments)
            case _:
                return None

    def _fact(self, name: str) -> float:
        scale = unit_of(self.settings.units.get(name, ""))[0]
        value = float(self.settings.facts[name]) * scale
        if not math.isfinite(value):
            raise InputError(f"the fact {name} is {value:g}; it is a finite number")
        return value

    def _defined(
        self, function: str, arguments: tuple[Expression, ...]
    ) -> Expression | None:
        """Return the formula of a function with its arguments in it."""
        parameters, body = self.settings.definitions[function]
        if len(parameters) != len(arguments):
            raise InputError(
                f"the template calls {function} with {len(arguments)} arguments; it "
                f"takes {len(parameters)}"
            )
        given = dict(zip(parameters, arguments, strict=True))
        unknown = [one for one in names(body) if one not in given]
        unknown += calls(body)
        if unknown:
            raise InputError(
                f"the formula of {function} names {unknown[0]}; it can use "
                f"{', '.join(parameters)} only"
            )
        if any(self._long(one) for one in arguments):
            raise InputError(
                f"the template calls {function} of a long formula; write it in parts"
            )

        def put(part: Expression) -> Expression | None:
            match part:
                case Number(_, unit) if unit:
                    return Number(plain(part))
                case Name(name):
                    return given[name]
                case _:
                    return None

        scale = unit_of(self.settings.units.get(function, ""))[0]
        found = replaced(body, put)
        found = found if scale == 1.0 else Product((Number(scale), found))
        found = replaced(found, _folded)
        if not names(found) and not isinstance(found, Number):
            raise InputError(
                f"{function} is {float(evaluate(found, {})):g} at the sizes that the "
                "template gives it; check its formula and the facts"
            )
        return found

    def _long(self, argument: Expression) -> bool:
        """Say whether what is put in many times could grow without end."""
        return len(names(argument)) + len(str(argument)) > 2_000

    def _called(
        self, function: str, arguments: tuple[Expression, ...]
    ) -> Expression | None:
        """Return the value of a fact that depends on a size that is known."""
        unknown = [name for one in arguments for name in names(one)]
        if unknown:
            raise InputError(
                f"the template calls {function} of {unknown[0]}, which is no fact; "
                f"give {unknown[0]} as a fact, or {function} as a formula"
            )
        at = [float(evaluate(one, {})) for one in arguments]
        value = float(np.asarray(self.settings.functions[function](*at)))
        value *= unit_of(self.settings.units.get(function, ""))[0]
        if not math.isfinite(value):
            raise InputError(f"{function} at {at} is {value:g}; it is a finite number")
        return Number(value)


def _folded(part: Expression) -> Expression | None:
    """Return the number that numbers alone make, where it is one."""
    if isinstance(part, Number) or not all(isinstance(p, Number) for p in inner(part)):
        return None
    value = math.nan if isinstance(part, Name) else float(evaluate(part, {}))
    return Number(value) if math.isfinite(value) else None
