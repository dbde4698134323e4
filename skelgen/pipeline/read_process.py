"""Read a file of a stranger in a process of its own, within bounds.

That process has a limit of memory, processor time and time, and knows no store. What it
says is read as carefully as the file would be: it may be the stranger's by then.
"""

from __future__ import annotations

import json
import logging
import os
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from skelgen.documents import json_field
from skelgen.documents.archives import ArchiveLimits
from skelgen.errors import InputError, SkelgenError
from skelgen.launch.bounded_command import (
    BoundedEnd,
    Bounds,
    EndedBy,
    own_command,
    run_bounded,
)
from skelgen.pipeline.source_kinds import Pages
from skelgen.pipeline.store_sources import content_of
from skelgen.pipeline.store_typed_runs import columns_mapping, known_of
from skelgen.progress import NO_PROGRESS
from skelgen.store import AddedRow, Row, StoredRecording
from skelgen.store.formats.reading import FileContent, read_own
from skelgen.store.formats.typed_values import NOTHING
from skelgen.store.lines import to_line
from skelgen.units import format_bytes, format_seconds

#: What the process may take, and what it says of what is refused [bytes].
_MOST_MEMORY, _MOST_ERRORS = 3 << 30, 1 << 20
_MOST_NOTES = 20
_PUSH = "use skelgen push, which sends them in parts"

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class SentFile:
    """A file that somebody sent, and what was typed about its runs.

    Attributes
    ----------
    file : Path
        In a folder of its own, by a name that is safe.
    app, inputs, system, columns : str
        As the options of `skelgen store add`.
    limits : ArchiveLimits
    most_bytes : int
        Of all rows as lines [bytes].
    limit_s : float
        [s].
    """

    file: Path
    app: str = ""
    inputs: str = ""
    system: str = ""
    columns: str = ""
    limits: ArchiveLimits = field(default_factory=ArchiveLimits)
    most_bytes: int = 8 << 20
    limit_s: float = 25.0


@dataclass(frozen=True, slots=True)
class ReadApart:
    """What a file holds.

    Attributes
    ----------
    content : FileContent
    size_bytes : int
        Of its rows as lines [bytes].
    notes : tuple of str
        What people should know of it.
    """

    content: FileContent
    size_bytes: int
    notes: tuple[str, ...] = ()


def read_apart(sent: SentFile) -> ReadApart:
    """Read a file in a process of its own.

    Raises
    ------
    InputError
        When it cannot be read, or takes too much.
    MachineError
        When that process cannot be started.
    """
    notes: list[str] = []
    done = _ended(sent, notes)
    name = sent.file.name
    if done.ended_by is EndedBy.TIME:
        raise InputError(
            f"{name}: takes longer to read than {format_seconds(sent.limit_s)}; use "
            "skelgen push, which reads it where it is"
        )
    lines = done.output.decode("ascii", "replace").splitlines()
    if done.exit_code or not lines or done.ended_by is not EndedBy.ITSELF:
        raise InputError(
            f"{name}: takes more to read than a server gives; use skelgen push, which "
            "reads it where it is"
        )
    told = tuple(dict.fromkeys(notes))[:_MOST_NOTES]
    return ReadApart(content_of_lines(lines, name), sum(map(len, lines)), told)


def _ended(sent: SentFile, notes: list[str]) -> BoundedEnd:
    """Let the process read the file."""
    folder = sent.file.parent
    request = folder.with_name(f"{folder.name}.request")
    request.write_text(request_of(sent), encoding="ascii")
    # What was sent lies in the folder, and is no module of ours.
    words = own_command("skelgen.pipeline.read_process", str(request))
    bounds = Bounds(sent.limit_s, _MOST_MEMORY, 2 * sent.most_bytes + _MOST_ERRORS)
    no_store = {name: "" for name in os.environ if name.startswith("SKELGEN_STORE")}
    return run_bounded(
        words,
        bounds,
        environment={**no_store, "TMPDIR": str(folder), "OMP_NUM_THREADS": "1"},
        folder=folder,
        began=lambda pid: None,
        said=notes.append,
        stop=lambda: False,
    )


def request_of(sent: SentFile) -> str:
    """Return what the process is asked, as `answer_to` reads it."""
    limits = sent.limits
    found = {
        "file": sent.file.name,
        "app": sent.app,
        "inputs": sent.inputs,
        "system": sent.system,
        "columns": sent.columns,
        "limits": [
            *(limits.members, limits.rank_bytes, limits.text_bytes, limits.free_bytes)
        ],
        "most_bytes": sent.most_bytes,
    }
    return json.dumps(found)


def content_of_lines(lines: list[str], name: str) -> FileContent:
    """Read what the process answered.

    Raises
    ------
    InputError
        What it could not read, or when the answer is none.
    """
    rows: list[Row] = []
    refused: list[AddedRow] = []
    for number, line in enumerate(lines, start=1):
        found = json_field(line, Path(name)).mapping(("error", "refused", "row"))
        if error := found["error"].text():
            raise InputError(error)
        if (told := found["refused"].texts()) and len(told) == len(AddedRow._fields):
            refused.append(AddedRow(*told))
        if row := found["row"].text():
            own = read_own(Path(name), [(number, row)], NOTHING)
            rows += own.rows
            refused += own.refused
    return FileContent(tuple(rows), tuple(refused))


def answer_to(request: str) -> str:
    """Read the file that a request names; return what it holds as lines."""
    try:
        return "\n".join(_told(json.loads(request)))
    except SkelgenError as error:
        return _line(error=str(error))
    except MemoryError:
        return _line(error="it takes too much memory to read; use skelgen push")


def _told(request: dict[str, Any]) -> list[str]:
    inputs = [request["inputs"]] if request["inputs"] else []
    known = known_of(
        application=request["app"], inputs=inputs, system=request["system"]
    )
    mapping = columns_mapping(request["columns"])
    limits = ArchiveLimits(*request["limits"])
    name = f"./{request['file']}"  # `-` would be standard input
    found = content_of(name, known, mapping, NO_PROGRESS, limits, pages=Pages.OF_SENT)
    lines = [_line(refused=[*one]) for one in found.refused]
    left = request["most_bytes"] - sum(map(len, lines))
    # What pages show comes last: it is left out where it has no room.
    for row in sorted(found.rows, key=lambda one: isinstance(one, StoredRecording)):
        try:
            told = json.dumps(to_line(row), allow_nan=False)
        except InputError as error:
            told = _line(refused=[*AddedRow(request["file"], "", str(error))])
        else:
            told = _line(row=told)
        if len(told) > left and isinstance(row, StoredRecording):
            logger.warning("a run has no page here: too much at once; %s", _PUSH)
            continue
        left -= len(told)
        if left < 0:
            most = format_bytes(request["most_bytes"])
            raise InputError(
                f"{request['file']}: holds more than {most} of rows; {_PUSH}"
            )
        lines.append(told)
    return lines or [_line(refused=[])]


def _line(error: str = "", refused: list[str] | None = None, row: str = "") -> str:
    return json.dumps({"error": error, "refused": refused or [], "row": row})


def main() -> int:
    """Answer the request of a file."""
    logging.basicConfig(format="%(message)s", level=logging.WARNING)
    request = Path(sys.argv[1]).read_text(encoding="ascii")
    sys.stdout.write(answer_to(request) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
