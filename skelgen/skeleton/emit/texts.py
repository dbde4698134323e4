"""The functions of a program as its template sees them."""

from __future__ import annotations

from dataclasses import dataclass

from skelgen.skeleton.emit.fragments import Uses


@dataclass(frozen=True, slots=True)
class SharedFunction:
    """A function with calls that stand at several places.

    Attributes
    ----------
    name : str
    about : str
        Comment in front of the function.
    parameter : str
        ``int at``, the number of the place, or ``void``.
    lines : tuple of str
        Its body.
    uses : frozenset of Use
    """

    name: str
    about: str
    parameter: str
    lines: tuple[str, ...]
    uses: Uses


@dataclass(frozen=True, slots=True)
class Section:
    """A function with some of a routine's top-level items.

    Attributes
    ----------
    title : str
        Such as ``start`` or ``loop 1``.
    about : str
        Comment in front of the function.
    lines : tuple of str
        Its body.
    uses : frozenset of Use
    """

    title: str
    about: str
    lines: tuple[str, ...]
    uses: Uses


@dataclass(frozen=True, slots=True)
class Function:
    """A section as the template sees it: C name, place in the report, text."""

    name: str
    number: int
    about: str
    lines: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class RoutineText:
    """A routine as the template sees it.

    Attributes
    ----------
    name : str
        C name.
    ranks : str
        Who executes it, for people.
    condition : str
        C condition for being one of them; "" for the last.
    row : str
        C expression for the row of the own rank in tables.
    stretches : tuple of SharedFunction
    functions : tuple of Function
    uses : frozenset of Use
        By all of these.
    """

    name: str
    ranks: str
    condition: str
    row: str
    stretches: tuple[SharedFunction, ...]
    functions: tuple[Function, ...]
    uses: Uses
