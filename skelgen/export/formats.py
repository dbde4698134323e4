"""The formats, and what a format is."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from skelgen.export.run import TraceStreams
    from skelgen.export.types import Written


class Writer(Protocol):
    """Writes a run in one format."""

    def __call__(self, run: TraceStreams, target: Path) -> Written:
        """Write to a new file or into a new, empty folder."""


@dataclass(frozen=True, slots=True)
class ExportFormat:
    """A format and how its output is named.

    Attributes
    ----------
    name : str
    suffix : str
        Of the output's name when the user gives none.
    is_folder : bool
        Whether the output is a folder, else one file.
    passes : int
        How often the events are read.
    most_events : int or None
        Most events that the tools for it can take, 0: no limit; None: the format
        makes no sense of a part of a run.
    writer : callable
        Returns the writer; its modules are loaded when it is needed.
    begins : pattern of bytes or None
        How a file in it begins that we wrote; None for folders.
    """

    name: str
    suffix: str
    is_folder: bool
    passes: int
    most_events: int | None
    writer: Callable[[], Writer]
    begins: re.Pattern[bytes] | None = None


def _perfetto() -> Writer:
    from skelgen.export.perfetto import write

    return write


def _paraver() -> Writer:
    from skelgen.export.paraver import write

    return write


def _tit() -> Writer:
    from skelgen.export.tit import write

    return write


def _otf2() -> Writer:
    from skelgen.export.otf2 import write

    return write


FORMATS = {
    one.name: one
    for one in (
        ExportFormat(
            "perfetto",
            ".perfetto.json",
            False,
            2,
            1_000_000,
            _perfetto,
            re.compile(rb'\{"displayTimeUnit":"ns","otherData":'),
        ),
        ExportFormat("paraver", "-paraver", True, 2, 0, _paraver),
        ExportFormat("tit", "-tit", True, 2, None, _tit),
        ExportFormat("otf2", "-otf2", True, 2, 0, _otf2),
    )
}
