"""Forms in steps: all that was chosen is in the address, and can be changed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar


@dataclass(frozen=True, slots=True)
class Option:
    """A value that may be chosen, and what people read."""

    value: str
    text: str


@dataclass(frozen=True, slots=True)
class StepField:
    """A field of a step.

    Attributes
    ----------
    name, label, value, hint : str
    choices : tuple of Option
        Where one of these is meant; else anything may be typed.
    """

    name: str
    label: str
    value: str = ""
    hint: str = ""
    choices: tuple[Option, ...] = ()


@dataclass(frozen=True, slots=True)
class StepForm:
    """A step that is to be filled in, or a button with what it sends.

    Attributes
    ----------
    action : str
        Where it is sent: an address of the server.
    button : str
    title : str
        Such as ``2. Curve``; empty: a button alone.
    fields : tuple of StepField
    hidden : tuple of (str, str)
        What was chosen before, and is sent again.
    said : str
        What is wrong with what was chosen, and what to do.
    left : str
        How many runs are left, for people.
    changes : bool
        Whether it changes something: it is sent by POST then.
    """

    kind: ClassVar[str] = "step"
    action: str
    button: str
    title: str = ""
    fields: tuple[StepField, ...] = ()
    hidden: tuple[tuple[str, str], ...] = ()
    said: str = ""
    left: str = ""
    changes: bool = False


@dataclass(frozen=True, slots=True)
class StepDone:
    """A step that is filled in.

    Attributes
    ----------
    title : str
    rows : tuple of (str, str)
        What was chosen.
    change : str
        The address of the page before it was chosen.
    """

    kind: ClassVar[str] = "done"
    title: str
    rows: tuple[tuple[str, str], ...]
    change: str


@dataclass(frozen=True, slots=True)
class LinkLine:
    """Links to pages that belong together, in a line; the one that is open has none."""

    kind: ClassVar[str] = "links"
    label: str
    links: tuple[tuple[str, str], ...]
