"""What pages of the server are made of; `skelgen.web.site_render` lays them out.

All text may be anybody's: it becomes HTML there and nowhere else. Links are addresses
within the server, without its prefix.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar
from urllib.parse import quote, urlencode

from skelgen.documents.dates import date_of
from skelgen.store.rows import Inputs
from skelgen.web.site_steps import LinkLine, StepDone, StepForm
from skelgen.web.svg_drawing import Shape


@dataclass(frozen=True, slots=True)
class TableCell:
    """A text, with a link where it leads to another page.

    Attributes
    ----------
    text, link : str
    tone : str
        A class of the style that colours it; empty: none.
    mathematics : str
        MathML of `to_mathml`, which is shown in place of the text.
    """

    text: str
    link: str = ""
    tone: str = ""
    mathematics: str = ""


@dataclass(frozen=True, slots=True)
class ColumnHead:
    """The head of a column.

    Attributes
    ----------
    text : str
    number : bool
        Whether its cells are numbers.
    link : str
        Sorts the table by it.
    order : str
        ``ascending`` or ``descending`` where the table is sorted by it.
    """

    text: str
    number: bool = False
    link: str = ""
    order: str = ""


@dataclass(frozen=True, slots=True)
class SiteTable:
    """A table with a caption."""

    kind: ClassVar[str] = "table"
    caption: str
    head: tuple[ColumnHead, ...]
    rows: tuple[tuple[TableCell, ...], ...]


@dataclass(frozen=True, slots=True)
class FactList:
    """Names and values."""

    kind: ClassVar[str] = "facts"
    rows: tuple[tuple[str, TableCell], ...]


@dataclass(frozen=True, slots=True)
class SitePicture:
    """A picture, and the table of what it shows.

    Attributes
    ----------
    address, text : str
    table : SiteTable
    size : (int, int)
        Width and height [px]: its place is free before it is there.
    """

    kind: ClassVar[str] = "picture"
    address: str
    text: str
    table: SiteTable
    size: tuple[int, int] = (0, 0)


@dataclass(frozen=True, slots=True)
class DrawingShown:
    """A drawing that is part of the page, and the table of what it shows.

    Attributes
    ----------
    text : str
        What it shows.
    size : (int, int)
        Width and height [px].
    shapes : tuple of Shape
    table : SiteTable
    turns : str
        Data of a surface that the page's script turns; empty: nothing turns.
    """

    kind: ClassVar[str] = "drawing"
    text: str
    size: tuple[int, int]
    shapes: tuple[Shape, ...]
    table: SiteTable
    turns: str = ""


@dataclass(frozen=True, slots=True)
class Heading:
    """The title of a part of a page."""

    kind: ClassVar[str] = "heading"
    text: str


@dataclass(frozen=True, slots=True)
class Prose:
    """A sentence; ``tone`` is ``plain``, ``doubt`` or ``good``."""

    kind: ClassVar[str] = "prose"
    text: str
    tone: str = "plain"


@dataclass(frozen=True, slots=True)
class CommandLine:
    """Words for a terminal."""

    kind: ClassVar[str] = "command"
    text: str


@dataclass(frozen=True, slots=True)
class FormulaShown:
    """A formula set as mathematics; `skelgen.web.site_formulas` makes it.

    Attributes
    ----------
    mathematics : str
        MathML of `to_mathml`, which goes into the page as it is; empty where the
        formula is too long to be set.
    text, latex : str
        The same to copy.
    """

    kind: ClassVar[str] = "formula"
    mathematics: str
    text: str
    latex: str


@dataclass(frozen=True, slots=True)
class ChoiceTable:
    """A table with a check box before each row: what is chosen goes to an address.

    Attributes
    ----------
    action : str
        The address.
    name, button : str
        Of the boxes in the address, and what the button says.
    values : tuple of str
        Of the boxes, one for each row.
    table : SiteTable
    """

    kind: ClassVar[str] = "choice"
    action: str
    name: str
    button: str
    values: tuple[str, ...]
    table: SiteTable


@dataclass(frozen=True, slots=True)
class Checks:
    """Check boxes of a form, folded until somebody wants them.

    Attributes
    ----------
    name, label : str
    choices : tuple of (str, str, bool)
        Value, text, and whether it is chosen.
    """

    kind: ClassVar[str] = "checks"
    name: str
    label: str
    choices: tuple[tuple[str, str, bool], ...]


@dataclass(frozen=True, slots=True)
class FormField:
    """A field of a form.

    Attributes
    ----------
    name, label, value, hint : str
    choices : tuple of str
        Where one of these is meant; the first is usual.
    secret : bool
        What is typed is not shown.
    files : bool
        Files are chosen in place of what is typed.
    """

    kind: ClassVar[str] = "field"
    name: str
    label: str
    value: str = ""
    hint: str = ""
    choices: tuple[str, ...] = ()
    secret: bool = False
    files: bool = False


@dataclass(frozen=True, slots=True)
class Form:
    """A form.

    Attributes
    ----------
    action : str
    fields : tuple of FormField
    button : str
    changes : bool
        It is sent by POST, with a second token.
    tone : str
        ``main``; ``quiet`` where something else is done first; ``danger`` where
        something is lost.
    """

    kind: ClassVar[str] = "form"
    action: str
    fields: tuple[FormField | Checks, ...]
    button: str
    changes: bool = False
    tone: str = "main"

    @property
    def sends_files(self) -> bool:
        """Say whether it has a field for files."""
        return any(isinstance(one, FormField) and one.files for one in self.fields)


@dataclass(frozen=True, slots=True)
class Paging:
    """Which part of a list is shown, and links to those before and after it."""

    kind: ClassVar[str] = "paging"
    text: str
    before: str = ""
    after: str = ""


Block = (
    SiteTable
    | FactList
    | SitePicture
    | DrawingShown
    | Heading
    | Prose
    | CommandLine
    | FormulaShown
    | Form
    | ChoiceTable
    | Paging
    | StepForm
    | StepDone
    | LinkLine
)


@dataclass(frozen=True, slots=True)
class SitePage:
    """A page.

    Attributes
    ----------
    title : str
    blocks : tuple of Block
    here : str
        The entry of the navigation that it belongs to.
    lead : str
        The first sentence.
    goes_on : str
        An address that the browser goes to by itself; empty: none.
    script : bool
        Whether the script of the server helps; the page works without it.
    again_s : int
        The browser asks for the page again after this time; 0: it does not [s].
    """

    title: str
    blocks: tuple[Block, ...] = ()
    here: str = ""
    lead: str = ""
    goes_on: str = ""
    script: bool = False
    again_s: int = 0


def address(*parts: str, **query: str | Sequence[str]) -> str:
    """Return an address within the server, with what is empty left out.

    What has several values is there once for each.

    Examples
    --------
    >>> address("runs", "a/b", sort="time_s", page="")
    '/runs/a%2Fb?sort=time_s'
    >>> address("compare", run=["a", "b"])
    '/compare?run=a&run=b'
    """
    path = "/" + "/".join(_quoted(one) for one in parts)
    given = {name: one for name, one in query.items() if one}
    words = urlencode(given, doseq=True, errors="surrogateescape")
    return f"{path}?{words}" if words else path


def _quoted(text: str) -> str:
    return quote(text, safe="", errors="surrogateescape")


def date(moment: float) -> str:
    """Return a moment for people, in UTC; empty where it is not known."""
    if math.isnan(moment):
        return ""
    found = date_of(moment)
    return repr(moment) if found is None else found.strftime("%Y-%m-%d %H:%M:%S")


def value(number: float | str | None) -> str:
    """Return the value of an input for people."""
    return f"{number:g}" if isinstance(number, float | int) else str(number or "")


def share(number: float) -> str:
    """Return a share for people."""
    return "" if math.isnan(number) else f"{number:.1%}"


def inputs_text(inputs: Inputs) -> str:
    """Return inputs for people."""
    return ", ".join(f"{name}={value(one)}" for name, one in inputs)


def names_text(names: Sequence[str], most: int = 3) -> str:
    """Return names for people, the first few of many."""
    some = ", ".join(names[:most])
    return f"{some} and {len(names) - most} more" if len(names) > most else some


def cells(*texts: str) -> tuple[TableCell, ...]:
    """Return cells without links."""
    return tuple(map(TableCell, texts))
