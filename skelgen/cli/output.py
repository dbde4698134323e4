"""Print results for people, or as JSON for machines."""

from __future__ import annotations

import codecs
import contextlib
import io
import json
import logging
import os
import re
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

import typer
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from skelgen.documents.json_answers import FORMAT
from skelgen.errors import UntrustedError
from skelgen.trust import Doubt

if TYPE_CHECKING:
    from skelgen.results.base import Result

__all__ = [
    "FORMAT",
    "check_trust",
    "complain",
    "drop_output",
    "print_doubts",
    "print_facts",
    "print_result",
    "print_table",
    "say",
    "shown",
    "write_anything",
]

#: What moves a terminal's cursor, or lets text run backwards: nobody sees it.
_CONTROL = re.compile(
    "[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]"
)


def shown(text: str, *, keep: str = "") -> str:
    r"""Return a text that may be anybody's as a terminal may show it.

    Control characters are written as in Python, so that they are seen and do nothing.
    Everything that skelgen prints for people comes through here.

    Parameters
    ----------
    text : str
    keep : str
        Control characters that stay, such as the ends of lines.

    Examples
    --------
    >>> print(shown("\x1b[2J"))
    \x1b[2J
    """

    def written(found: re.Match[str]) -> str:
        number = ord(found[0])
        if found[0] in keep:
            return found[0]
        return f"\\x{number:02x}" if number < 256 else f"\\u{number:04x}"

    return _CONTROL.sub(written, text)


def say(text: str, *, err: bool = False, end: bool = True) -> None:
    """Print lines for people, on stderr if wanted."""
    typer.echo(shown(text, keep="\n\t"), err=err, nl=end)


def complain(message: str) -> None:
    """Print an error, always on one line, on stderr."""
    say(f"skelgen: error: {' '.join(message.split())}", err=True)


def write_anything() -> None:
    """Make output take any text: names of files need not be UTF-8.

    Into files and pipes their bytes go as they are; a terminal gets escapes.
    """
    codecs.register_error("skelgen", _encoded)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            escape = stream.isatty() or stream is sys.stderr
            stream.reconfigure(errors="backslashreplace" if escape else "skelgen")
    logging.raiseExceptions = False  # a warning that cannot be written is lost


def _encoded(error: UnicodeError) -> tuple[str | bytes, int]:
    """Write bytes of names as they are, and escape what else cannot be encoded."""
    try:
        return codecs.lookup_error("surrogateescape")(error)
    except UnicodeError:
        return codecs.lookup_error("backslashreplace")(error)


def drop_output() -> None:
    """Give up output that cannot be written, or Python would try again at its end."""
    try:
        sys.stdout.flush()
    except OSError:
        with contextlib.suppress(OSError, ValueError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def print_result(found: Result) -> None:
    """Print the answer of a command as JSON; numbers that are none become null."""
    from skelgen.results.base import to_json  # --help needs none of it

    typer.echo(json.dumps(to_json(found), indent=2, allow_nan=False))


def print_doubts(doubts: Sequence[Doubt], about: str = "") -> None:
    """Print, with the result, why it should not be trusted."""
    for one in doubts:
        say(_doubted(one, about))


def check_trust(doubts: Sequence[Doubt], about: str = "", *, strict: bool) -> None:
    """Fail when an answer is doubtful and only one that is trusted will do.

    Raises
    ------
    UntrustedError
    """
    if strict and doubts:
        raise UntrustedError(_doubted(doubts[0], about))


def _doubted(doubt: Doubt, about: str) -> str:
    whose = f"{about}: " if about else ""
    return f"{whose}do not trust: {doubt} [{doubt.code}]"


def print_facts(rows: Sequence[tuple[str, str]]) -> None:
    """Print names and values in two columns."""
    width = max(len(name) for name, _ in rows)
    for name, value in rows:
        say(shown(f"{name:<{width}}  {value}"))


def print_table(
    head: Sequence[str], rows: Sequence[Sequence[str]], *, title: str = ""
) -> None:
    """Print a table; the columns after the first are numbers."""
    table = Table(title=escape(shown(title)) or None, title_justify="left", box=None)
    for number, name in enumerate(head):
        table.add_column(escape(shown(name)), justify="right" if number else "left")
    for row in rows:
        table.add_row(*(escape(shown(cell)) for cell in row))
    # Without a terminal nobody should get lines cut at 80 columns.
    width = None if sys.stdout.isatty() else 200
    Console(file=sys.stdout, width=width, highlight=False).print(table)
