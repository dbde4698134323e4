"""A place in a document, for reading it and for saying what is wrong there."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from skelgen.documents.document import Value
from skelgen.documents.numbers import NumberError, integer, integers, real
from skelgen.errors import InputError


@dataclass(frozen=True, slots=True)
class Field:
    """A value of a document.

    Attributes
    ----------
    file : Path
    path : str
        Where it stands, such as ``groups[0].nest[3].loop``.
    value : str, list or dict
    """

    file: Path
    path: str
    value: Value

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
            key: Field(self.file, f"{begin}{key[:60]}", value)
            for key, value in self.value.items()
        }

    def items(self) -> list[Field]:
        """Read a list."""
        if not isinstance(self.value, list):
            raise self.error(f"read {self._shown()}, expected a list")
        return [
            Field(self.file, f"{self.path}[{i}]", value)
            for i, value in enumerate(self.value)
        ]

    def text(self) -> str:
        """Read a scalar as it stands."""
        if not isinstance(self.value, str):
            raise self.error(f"read {self._shown()}, expected a single value")
        return self.value

    def lines(self) -> Iterator[tuple[int, str]]:
        """Read a table: number and text of each line that is no comment."""
        for number, line in enumerate(self.text().splitlines(), start=1):
            stripped = line.strip()
            if stripped and not stripped.startswith("#"):
                yield number, stripped

    def line(self, number: int) -> Field:
        """Return the field of one line of a table."""
        return Field(self.file, f"{self.path} line {number}", self.value)

    def integer(self, least: int, most: int) -> int:
        """Read an integer of a range."""
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
            return integers(value, least, most, longest)
        except NumberError as error:
            raise self.error(str(error)) from error

    def amount(self) -> float:
        """Read a finite number that is not negative."""
        try:
            number = real(self.text())
        except NumberError as error:
            raise self.error(str(error)) from error
        if number < 0:
            raise self.error(f"read {number}, expected a number of at least 0")
        return number

    def _shown(self) -> str:
        if isinstance(self.value, dict):
            return "a mapping"
        return "a list" if isinstance(self.value, list) else repr(self.value[:60])
