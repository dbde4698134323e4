"""A place in a document, for reading it and for saying what is wrong there."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, TypeAlias

from skelgen.documents.budget import Budget, BudgetError
from skelgen.documents.numbers import NumberError, integer, listed, real, stretches
from skelgen.errors import InputError

#: What one integer of a list takes [bytes].
_INTEGER_BYTES = 40


@dataclass(frozen=True, slots=True)
class Field:
    """A value of a document.

    Attributes
    ----------
    file : Path
    path : str
        Where it stands, such as ``groups[0].nest[3].loop``.
    value : str, list, dict, or a number, truth value or None of JSON
    typed : bool
        Whether numbers are numbers, as in JSON; in YAML every scalar is text.
    budget : Budget
        Memory that the whole document may take when it is expanded.
    """

    file: Path
    path: str
    value: Any
    typed: bool = False
    budget: Budget = field(default_factory=Budget, compare=False, repr=False)

    def error(self, what: str) -> InputError:
        """Return the error that says what is wrong with this field."""
        return InputError(f"{self.file}: {self.path or 'the document'}: {what}")

    def mapping(
        self, required: Collection[str] = (), optional: Collection[str] | None = ()
    ) -> dict[str, Field]:
        """Read a mapping with these keys; `optional` None: any further ones."""
        if not isinstance(self.value, dict):
            raise self.error(f"read {self._shown()}, expected a mapping")
        for key in required:
            if key not in self.value:
                raise self.error(f"the field {key!r} is missing")
        for key in self.value:
            if optional is not None and key not in required and key not in optional:
                known = ", ".join([*required, *optional])
                raise self.error(f"read the field {key[:60]!r}, expected {known}")
        begin = f"{self.path}." if self.path else ""
        return {
            key: replace(self, path=f"{begin}{key[:60]}", value=value)
            for key, value in self.value.items()
        }

    def items(self) -> list[Field]:
        """Read a list."""
        if not isinstance(self.value, list):
            raise self.error(f"read {self._shown()}, expected a list")
        return [
            replace(self, path=f"{self.path}[{i}]", value=value)
            for i, value in enumerate(self.value)
        ]

    def text(self) -> str:
        """Read a scalar as it stands; in JSON a string."""
        if not isinstance(self.value, str):
            wanted = "text" if self.typed else "a single value"
            raise self.error(f"read {self._shown()}, expected {wanted}")
        return self.value

    def texts(self) -> tuple[str, ...]:
        """Read a list of texts."""
        return tuple(one.text() for one in self.items())

    def pairs(self) -> tuple[tuple[str, str], ...]:
        """Read a mapping of any names to texts."""
        fields = self.mapping(optional=None)
        return tuple((name, one.text()) for name, one in fields.items())

    def truth(self) -> bool:
        """Read true or false."""
        if self.typed and isinstance(self.value, bool):
            return self.value
        if self.typed or self.value not in ("true", "false"):
            raise self.error(f"read {self._shown()}, expected true or false")
        return bool(self.value == "true")

    def is_null(self) -> bool:
        """Say whether JSON has ``null`` here."""
        return self.typed and self.value is None

    def lines(self) -> Iterator[tuple[int, str]]:
        """Read a table: number and text of each line that is no comment."""
        for number, line in enumerate(self.text().splitlines(), start=1):
            stripped = line.strip()
            if stripped and not stripped.startswith("#"):
                yield number, stripped

    def line(self, number: int) -> Field:
        """Return the field of one line of a table."""
        return replace(self, path=f"{self.path} line {number}")

    def integer(self, least: int, most: int) -> int:
        """Read an integer of a range."""
        if self.typed:
            return self._typed_integer(least, most)
        try:
            return integer(self.text(), least, most)
        except NumberError as error:
            raise self.error(str(error)) from error

    def integers(self, least: int, most: int, longest: int) -> list[int]:
        """Read integers, as text with runs and ranges or as a list."""
        value: Any = self.value
        if isinstance(value, list) and all(isinstance(part, str) for part in value):
            value = " ".join(value)
        if not isinstance(value, str):
            raise self.error(f"read {self._shown()}, expected integers")
        try:
            found = stretches(value, least, most, longest)
        except NumberError as error:
            raise self.error(str(error)) from error
        self.take(_INTEGER_BYTES * sum(times for _, _, times in found), "integers")
        return listed(found)

    def take(self, size_bytes: int, what: str) -> None:
        """Ask for memory before something of this document is expanded.

        Parameters
        ----------
        size_bytes : int
            What it will take [bytes].
        what : str
            What it is, in the plural.
        """
        try:
            self.budget.take(size_bytes, what)
        except BudgetError as error:
            raise self.error(str(error)) from error

    def _typed_integer(self, least: int, most: int) -> int:
        number = self.value
        if not isinstance(number, int) or isinstance(number, bool):
            raise self.error(f"read {self._shown()}, expected an integer")
        if not least <= number <= most:
            raise self.error(f"read {number}, expected {least} to {most}")
        return number

    def number(self) -> float:
        """Read a finite number."""
        if self.typed:
            if not isinstance(self.value, int | float) or isinstance(self.value, bool):
                raise self.error(f"read {self._shown()}, expected a number")
            return float(self.value)
        try:
            return real(self.text())
        except NumberError as error:
            raise self.error(str(error)) from error

    def positive(self) -> float:
        """Read a finite number above 0."""
        number = self.number()
        if number <= 0:
            raise self.error(f"read {number}, expected a number above 0")
        return number

    def numbers(self) -> tuple[float, ...]:
        """Read a list of finite numbers."""
        return tuple(one.number() for one in self.items())

    def amount(self) -> float:
        """Read a finite number that is not negative."""
        number = self.number()
        if number < 0:
            raise self.error(f"read {number}, expected a number of at least 0")
        return number

    def share(self) -> float:
        """Read a number from 0 to 1."""
        share = self.amount()
        if share > 1.0:
            raise self.error(f"read {share:g}, expected 0 to 1")
        return share

    def _shown(self) -> str:
        if isinstance(self.value, dict):
            return "a mapping"
        if isinstance(self.value, list):
            return "a list"
        if isinstance(self.value, str):
            return repr(self.value[:60])
        return json.dumps(self.value)


#: What reads each field of a mapping, by its name.
FieldReaders: TypeAlias = Mapping[str, Callable[[Field], Any]]


def read_given(fields: Mapping[str, Field], readers: FieldReaders) -> dict[str, Any]:
    """Read those fields of a mapping that are there: older files lack some."""
    return {name: readers[name](fields[name]) for name in readers if name in fields}
