"""Facts of a template as people give them: ``L=1024 bytes``, ``SR(L)=16 us + 2 ns*L``.

In: text. Out: numbers with units, and formulas of sizes. The grammar of formulas reads
both sides, and nothing of them is ever executed.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from skelgen.errors import InputError
from skelgen.models.formulas import (
    Expression,
    FunctionCall,
    Name,
    calls,
    evaluate,
    names,
    parse,
    to_text,
)
from skelgen.models.formulas.dimensions import dimension
from skelgen.models.formulas.expression import MATHEMATICS, UNITS

#: Arguments of a function, and its formula.
Definition = tuple[tuple[str, ...], Expression]

#: What facts can be measured in, by the exponents of seconds and of bytes.
_UNITS = {
    (0.0, 0.0): "",
    (1.0, 0.0): "s",
    (0.0, 1.0): "bytes",
    (-1.0, 0.0): "1/s",
    (-1.0, 1.0): "bytes/s",
    (1.0, -1.0): "s/bytes",
    (0.0, -1.0): "1/bytes",
}

#: A rate: a quantity over a unit, such as ``1e9 bytes/s`` and ``5 1/s``.
_RATE = re.compile(rf"(?P<above>.+?)(?:\s+1)?\s*/\s*(?P<unit>{'|'.join(UNITS)})\s*")


@dataclass(frozen=True, slots=True)
class TemplateFacts:
    """What is known of names and functions of a template.

    Attributes
    ----------
    values : mapping of str to float
    units : mapping of str to str
        Of values, such as ``s`` or ``bytes/s``; others are plain numbers.
    definitions : mapping of str to Definition
    """

    values: Mapping[str, float] = field(default_factory=dict)
    units: Mapping[str, str] = field(default_factory=dict)
    definitions: Mapping[str, Definition] = field(default_factory=dict)

    def over(self, others: TemplateFacts) -> TemplateFacts:
        """Return all facts; of two of one name its own one."""
        units = {n: unit for n, unit in others.units.items() if n not in self.values}
        return TemplateFacts(
            {**others.values, **self.values},
            {**units, **self.units},
            {**others.definitions, **self.definitions},
        )

    @property
    def names(self) -> tuple[str, ...]:
        """Return the names of values and functions."""
        return (*self.values, *self.definitions)


def read_facts(texts: Sequence[str]) -> TemplateFacts:
    """Read facts that a person types.

    Parameters
    ----------
    texts : sequence of str
        Each is ``NAME=NUMBER UNIT``, or ``NAME(SIZE)=FORMULA``.

    Raises
    ------
    InputError
        When one cannot be read, or a name has two.

    Examples
    --------
    >>> read_facts(["L=1 KiB"]).values
    {'L': 1024.0}
    """
    values: dict[str, float] = {}
    units: dict[str, str] = {}
    definitions: dict[str, Definition] = {}
    for text in texts:
        left, equals, right = text.partition("=")
        if not equals or not left.strip() or not right.strip():
            raise _wrong(text, "there is no name, no = or no value")
        name, parameters = _left(text, left)
        if name in values or name in definitions:
            raise InputError(f"the fact {name} is given twice; give one value")
        if parameters is None:
            values[name], units[name] = _value(text, right)
        else:
            definitions[name] = parameters, _body(text, right, name, parameters)
    return TemplateFacts(values, units, definitions)


def fact_texts(facts: TemplateFacts, template: Expression) -> tuple[str, ...]:
    """Write the facts that a template names, as `read_facts` takes them."""
    found = [
        f"{name}={facts.values[name]!r} {facts.units.get(name, '')}".rstrip()
        for name in names(template)
        if name in facts.values
    ]
    for name in calls(template):
        if name in facts.definitions:
            parameters, body = facts.definitions[name]
            found.append(f"{name}({', '.join(parameters)})={to_text(body)}")
    return tuple(found)


def _wrong(text: str, why: str) -> InputError:
    return InputError(
        f"the fact {text[:60]!r}: {why}; give a number with a unit "
        f"({', '.join(UNITS)}, or a/b), such as L=1024 bytes, or a formula of a size, "
        "such as SR(L)=16 us + 2 ns*L"
    )


def _left(text: str, left: str) -> tuple[str, tuple[str, ...] | None]:
    """Return a name, and the arguments that it has as a function."""
    try:
        found = parse(left)
    except InputError as error:
        raise _wrong(text, "its name is none") from error
    match found:
        case Name(name) if name in UNITS:
            raise _wrong(text, f"{name} is a unit, and cannot be a name")
        case Name(name):
            return name, None
        case FunctionCall(name, arguments) if name not in MATHEMATICS:
            given = tuple(one.name for one in arguments if isinstance(one, Name))
            if len(set(given)) == len(arguments):
                return name, given
    raise _wrong(text, "its name is none")


def _value(text: str, right: str) -> tuple[float, str]:
    """Return a number in seconds and bytes, and its unit."""
    rate = _RATE.fullmatch(right)
    try:
        found = parse(f"({rate['above']})/(1 {rate['unit']})" if rate else right)
        of = dimension(found, {})
    except InputError as error:
        raise _wrong(text, "its value is no number with a known unit") from error
    if unknown := (*names(found), *calls(found)):
        raise _wrong(text, f"its value names {unknown[0][:40]}")
    if of not in _UNITS:
        raise _wrong(text, "its value has a unit that facts do not have")
    value = float(evaluate(found, {}))
    if not math.isfinite(value):
        raise _wrong(text, f"its value is {value:g}")
    return value, _UNITS[of]


def _body(text: str, right: str, name: str, parameters: tuple[str, ...]) -> Expression:
    try:
        found = parse(right)
    except InputError as error:
        raise InputError(f"the fact {text[:60]!r}: {error}") from error
    unknown = [one for one in (*names(found), *calls(found)) if one not in parameters]
    if unknown:
        raise InputError(
            f"the fact {text[:60]!r}: the formula of {name} names {unknown[0][:40]}; "
            f"it can use {', '.join(parameters)} only"
        )
    dimension(found, {}, parameters)
    return found
