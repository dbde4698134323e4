"""Write a recorded run in the formats of other tools."""

from __future__ import annotations

import contextlib
from dataclasses import dataclass
from pathlib import Path

from skelgen.errors import UsageError
from skelgen.export.formats import FORMATS, ExportFormat
from skelgen.export.run import TraceStreams
from skelgen.launch.folders import new_file, new_folder
from skelgen.launch.own_folders import FolderKind
from skelgen.launch.replaceable_output import check_file, check_free
from skelgen.progress import NO_PROGRESS, Progress
from skelgen.trace import open_trace


@dataclass(frozen=True, slots=True)
class Exported:
    """What an export wrote.

    Attributes
    ----------
    output : Path
        File or folder.
    opens : Path
        What a tool opens.
    events : int
        Events of the trace that are in it.
    records : dict of str to int
        How many of each kind of thing it holds.
    size_bytes : int
    notes : tuple of str
        One line for each thing that is left out or not as it was.
    """

    output: Path
    opens: Path
    events: int
    records: dict[str, int]
    size_bytes: int
    notes: tuple[str, ...]


def export(
    folder: Path,
    name: str,
    output: Path | None,
    *,
    force: bool = False,
    most_events: int | None = None,
    progress: Progress = NO_PROGRESS,
) -> Exported:
    """Write a recorded run in another format.

    Parameters
    ----------
    folder : Path
    name : str
        Of the format.
    output : Path or None
        File or folder; None: beside the run, named like it.
    force : bool
        Replace what stands there.
    most_events : int or None
        Leave out what exceeds this; 0: nothing, None: what the format's tools take.
    progress : Progress

    Raises
    ------
    UsageError
        When the format is unknown or the output cannot be written.
    InputError
        When the run cannot be read.
    MachineError
        When a library for the format is missing.
    """
    one = _format(name, most_events)
    writer = one.writer()
    target = output or folder.absolute().with_name(
        f"{folder.absolute().name}{one.suffix}"
    )
    if one.is_folder:
        check_free(target, FolderKind.EXPORT, force=force, reads=[folder])
    else:
        check_file(target, one.begins, force=force)
    trace = open_trace(folder, progress)
    with _place(one, target, folder, force) as beside:
        run = TraceStreams(trace, beside.parent, progress)
        most = one.most_events if most_events is None else most_events
        cut = run.limit(most) if most else 0
        kept = trace.events - cut
        progress.start(f"writing {name}", one.passes * kept)
        written = writer(run, beside)
        progress.finish()
    left_out = (
        f"left out: the last {cut} of {trace.events} events, from "
        f"{run.until_ns / 1e9:.6g} s on: more than {most} (--max-events)"
    )
    return Exported(
        output=target,
        opens=target / written.paths[0].relative_to(beside),
        events=kept,
        records=written.records,
        size_bytes=_size(target),
        notes=(*([left_out] if cut else []), *written.notes),
    )


def _format(name: str, most_events: int | None) -> ExportFormat:
    if name not in FORMATS:
        raise UsageError(f"--format {name}: expected one of {', '.join(FORMATS)}")
    if most_events and FORMATS[name].most_events is None:
        raise UsageError(f"--max-events: a part of a run cannot be replayed ({name})")
    return FORMATS[name]


def _place(
    one: ExportFormat, target: Path, folder: Path, force: bool
) -> contextlib.AbstractContextManager[Path]:
    if one.is_folder:
        return new_folder(target, FolderKind.EXPORT, force=force, reads=[folder])
    return new_file(target, one.begins, force=force)


def _size(target: Path) -> int:
    files = [target] if target.is_file() else target.rglob("*")
    return sum(path.stat().st_size for path in files if path.is_file())
