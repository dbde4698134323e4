"""Read a formula such as ``ADDM*N^3/(P-1) + N*BC(L)``.

The grammar is small and our own: nothing of a formula is ever executed.

    sum      = product {("+" | "-") product}
    product  = signed {("*" | "/") signed}
    signed   = ["-" | "+"] power
    power    = atom [("^" | "**") signed]
    atom     = number [unit] | name | name "(" sum {"," sum} ")" | "(" sum ")"

A name that is no word stands in single quotes: ``'n^2'``; a quote in it is doubled.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import NoReturn

from skelgen.errors import InputError
from skelgen.models.formulas.expression import (
    MATHEMATICS,
    UNITS,
    Expression,
    FunctionCall,
    Name,
    Number,
    Power,
    Product,
    Quotient,
    Sum,
    inner,
)

#: Longer formulas and deeper ones are refused: nobody reads them.
LONGEST, DEEPEST = 20_000, 50

#: Operations within each other that can be computed: 50 brackets have no more.
_MOST_NESTED = 250

_WORD = re.compile(r"[^\W\d]\w*")
_TOKEN = re.compile(
    r"\s*(?:(?P<number>(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?)"
    r"|(?P<name>[^\W\d]\w*)|'(?P<quoted>(?:[^']|'')+)'"
    r"|(?P<sign>\*\*|[-+*/^(),]))"
)


def parse(text: str) -> Expression:
    """Read a formula.

    Parameters
    ----------
    text : str
        At most `LONGEST` characters besides spaces.

    Returns
    -------
    Expression

    Raises
    ------
    InputError
        When it is none; the message says where.

    Examples
    --------
    >>> parse("2*n")
    Product(factors=(Number(value=2.0, unit=''), Name(name='n')))
    """
    count = len(text) - text.count(" ")  # what is written has more of them
    if count > LONGEST:
        raise InputError(f"a formula of {count} characters; at most {LONGEST} are read")
    reader = _Reader(text, _tokens(text))
    expression = reader.sum()
    if reader.place < len(reader.tokens):
        reader.wrong("an operator or the end")
    _check_nesting(text, expression)
    return expression


def _check_nesting(text: str, expression: Expression) -> None:
    """Refuse what has no deep brackets, but is deep: 1/1/1/... of many divisors."""
    parts = [(expression, 1)]
    while parts:
        part, depth = parts.pop()
        if depth > _MOST_NESTED:
            raise InputError(
                f"the formula {text[:60]!r} has more than {_MOST_NESTED} operations "
                "within each other; write it in parts"
            )
        parts += [(one, depth + 1) for one in inner(part)]


@dataclass(frozen=True, slots=True)
class _Token:
    kind: str
    text: str
    at: int


def _tokens(text: str) -> list[_Token]:
    found, at, end = [], 0, len(text.rstrip())
    while at < end:
        match = _TOKEN.match(text, at)
        if match is None:
            rest = text[at:].lstrip()
            raise InputError(
                f"the formula {text[:60]!r}: read {rest[:1]!r}, expected numbers, "
                "names, + - * / ^ ( ) and commas; write a name with signs in single "
                "quotes"
            )
        kind = str(match.lastgroup)
        said = match[kind].replace("''", "'") if kind == "quoted" else match[kind]
        found.append(_Token(kind, said, match.start(kind)))
        at = match.end()
    return found


@dataclass(slots=True)
class _Reader:
    """Where reading is; one method for each rule of the grammar."""

    text: str
    tokens: list[_Token]
    place: int = 0
    depth: int = 0

    def sum(self) -> Expression:
        """Read terms with signs between them."""
        self._deeper()
        terms = [self.product()]
        while (sign := self._taken("+", "-")) is not None:
            term = self.product()
            terms.append(term if sign == "+" else negative(term))
        self.depth -= 1
        return terms[0] if len(terms) == 1 else Sum(tuple(terms))

    def product(self) -> Expression:
        """Read factors and divisors; those that follow apply to all before."""
        found = self.signed()
        while (sign := self._taken("*", "/")) is not None:
            factor = self.signed()
            if sign == "/":
                found = Quotient(found, factor)
            elif isinstance(found, Product):
                found = Product((*found.factors, factor))
            else:
                found = Product((found, factor))
        return found

    def signed(self) -> Expression:
        """Read a sign and a power."""
        sign = self._taken("-", "+")
        if sign is None:
            return self.power()
        self._deeper()
        found = self.signed()
        self.depth -= 1
        return negative(found) if sign == "-" else found

    def power(self) -> Expression:
        """Read a base, and an exponent if there is one."""
        base = self.atom()
        if self._taken("^", "**") is None:
            return base
        self._deeper()
        exponent = self.signed()
        self.depth -= 1
        return Power(base, exponent)

    def atom(self) -> Expression:
        """Read a number, a name, a call, or something in brackets."""
        token = self._next("a number, a name or an opening bracket")
        if token.kind == "number":
            return self._number(token)
        if token.kind == "quoted":
            return Name(token.text)
        if token.kind == "name":
            return self._named(token)
        if token.text != "(":
            self.place -= 1
            self.wrong("a number, a name or an opening bracket")
        found = self.sum()
        self._closed()
        return found

    def _number(self, token: _Token) -> Number:
        value = float(token.text)
        if not math.isfinite(value):
            raise InputError(
                f"the formula {self.text[:60]!r}: {token.text[:20]} is too large"
            )
        following = self._peek()
        if (
            following is not None
            and following.kind == "name"
            and following.text in UNITS
        ):
            self.place += 1
            return Number(value, following.text)
        return Number(value)

    def _named(self, token: _Token) -> Expression:
        if self._taken("(") is None:
            return Name(token.text)
        arguments = [self.sum()]
        while self._taken(",") is not None:
            arguments.append(self.sum())
        self._closed()
        if token.text in MATHEMATICS:
            wanted = MATHEMATICS[token.text][1]
            if len(arguments) != wanted:
                raise InputError(
                    f"the formula {self.text[:60]!r}: {token.text} has "
                    f"{len(arguments)} arguments, it takes {wanted}"
                )
        return FunctionCall(token.text, tuple(arguments))

    def _closed(self) -> None:
        if self._taken(")") is None:
            self.wrong("a closing bracket")

    def _deeper(self) -> None:
        self.depth += 1
        if self.depth > DEEPEST:
            raise InputError(
                f"the formula {self.text[:60]!r} has more than {DEEPEST} brackets, "
                "signs or exponents within each other; write it in parts"
            )

    def _peek(self) -> _Token | None:
        return self.tokens[self.place] if self.place < len(self.tokens) else None

    def _next(self, expected: str) -> _Token:
        token = self._peek()
        if token is None:
            self.wrong(expected)
        self.place += 1
        return token

    def _taken(self, *texts: str) -> str | None:
        token = self._peek()
        if token is None or token.kind != "sign" or token.text not in texts:
            return None
        self.place += 1
        return token.text

    def wrong(self, expected: str) -> NoReturn:
        """Say what stands where something else was expected."""
        token = self._peek()
        where = "the end" if token is None else f"{token.text[:20]!r} at {token.at + 1}"
        raise InputError(
            f"the formula {self.text[:60]!r}: read {where}, expected {expected}"
        )


def written_name(name: str) -> str:
    """Write a name so that `parse` reads it: in quotes where it is no word."""
    if _WORD.fullmatch(name):
        return name
    return "'" + name.replace("'", "''") + "'"


def negative(expression: Expression) -> Expression:
    """Return the negative of an expression."""
    match expression:
        case Number(value, unit):
            return Number(-value, unit)
        case Product((Number(-1.0, ""), only)):
            return only
        case Product((Number(value, unit), *rest)):
            return Product((Number(-value, unit), *rest))
        case _:
            return Product((Number(-1.0), expression))
