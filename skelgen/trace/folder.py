"""A folder of rank files as a `Trace`: what is missing, mixed or damaged is named."""

from __future__ import annotations

import logging
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import pairwise
from operator import attrgetter
from pathlib import Path

import numpy as np

from skelgen.errors import InputError
from skelgen.progress import NO_PROGRESS, Progress
from skelgen.trace.definition_types import End
from skelgen.trace.headers import NO_HEADER, read_header, sized_header, why_no_header
from skelgen.trace.rank_file import RankReader
from skelgen.trace.types import Header, RankFile, Trace
from skelgen.units import NS_PER_S

logger = logging.getLogger(__name__)

PATTERN = "rank-*.skt"
#: Folders of further runs inside that of a run.
WORLDS = "world-*"
_NAMED = 8


@dataclass(frozen=True, slots=True)
class RankPaths:
    """The rank files of one run, before they are read.

    Attributes
    ----------
    folder : Path
    files : tuple of (Path, Header, int)
        With their sizes [bytes], by rank, then thread.
    unusable : tuple of Path
        Files without a header.
    """

    folder: Path
    files: tuple[tuple[Path, Header, int], ...]
    unusable: tuple[Path, ...]

    @property
    def world_size(self) -> int:
        """Return the number of ranks of the run."""
        return self.files[0][1].world_size

    def shared_out(self, parts: int) -> list[range]:
        """Cut the ranks into ranges whose files hold about equally many bytes."""
        sizes = np.zeros(self.world_size)
        for _, header, size in self.files:
            sizes[header.world_rank] += size
        middles = np.cumsum(sizes) - sizes / 2
        steps = sizes.sum() * np.arange(1, parts) / parts
        edges = [0, *np.searchsorted(middles, steps).tolist(), self.world_size]
        return [range(*edge) for edge in pairwise(edges)]


def open_trace(folder: Path, progress: Progress = NO_PROGRESS) -> Trace:
    """Open a recorded run: read and check all of it except the events' contents.

    Damaged or missing rank files leave a warning and what is complete is used.

    Parameters
    ----------
    folder : Path
        Where the recorder wrote.
    progress : Progress
        Told of every byte that was read.

    Raises
    ------
    InputError
        When there is no run, more than one, or one that cannot be read.
    """
    paths = rank_paths(Path(folder))
    return trace_of(paths, read_ranks(paths, range(paths.world_size), progress))


def rank_paths(folder: Path) -> RankPaths:
    """Find the files of a run and check that they are of one.

    Raises
    ------
    InputError
        When there is no run, or more than one.
    """
    found = _headers(folder)
    headers = [(path, header) for path, header, _ in found]
    _check_one_run(folder, headers)
    files = [(path, header, size) for path, header, size in found if header is not None]
    files.sort(key=lambda file: (file[1].world_rank, file[1].thread))
    unusable = tuple(path for path, header in headers if header is None)
    return RankPaths(folder, tuple(files), unusable)


def read_ranks(
    paths: RankPaths, ranks: range, progress: Progress = NO_PROGRESS
) -> list[RankFile]:
    """Read the files of some ranks: all but their events, which are only checked.

    Parameters
    ----------
    paths : RankPaths
    ranks : range
    progress : Progress
        Told of every byte that was read.
    """
    wanted = [file for file in paths.files if file[1].world_rank in ranks]
    files = []
    progress.start("reading the trace", sum(size for _, _, size in wanted))
    read = RankReader().read_all((path, header) for path, header, _ in wanted)
    for file, (_, _, size) in zip(read, wanted, strict=True):
        files.append(file)
        progress.advance(size)
    progress.finish()
    return files


def trace_of(paths: RankPaths, files: Sequence[RankFile]) -> Trace:
    """Join the files of all ranks, and warn of what is not as it should be."""
    world_size = paths.world_size
    present = {file.header.world_rank for file in files}
    missing = tuple(rank for rank in range(world_size) if rank not in present)
    warnings = [_without_header(path) for path in paths.unusable]
    warnings += _warnings(files, missing, world_size)
    warnings += _other_worlds(paths.folder)
    for warning in warnings:
        logger.warning("%s", warning)
    return Trace(paths.folder, tuple(files), world_size, missing, tuple(warnings))


def _without_header(path: Path) -> str:
    return f"{path.name} is not used: {why_no_header(path)}"


def _other_worlds(folder: Path) -> list[str]:
    """Name the runs in folders of their own inside this one."""
    found = []
    for path in sorted(folder.glob(WORLDS)):
        headers = [read_header(file) for file in sorted(path.glob(PATTERN))]
        known = [header for header in headers if header is not None]
        if known:
            name = Path(known[0].program).name or "unknown program"
            found.append(
                f"{path.name} holds another run ({name} on {known[0].world_size} "
                "ranks): spawned by this one or started next to it; it is left out "
                f"here, see skelgen info {path}"
            )
    return found


def _headers(folder: Path) -> list[tuple[Path, Header | None, int]]:
    """Return the files of a folder with their headers and sizes [bytes]."""
    if not folder.exists():
        raise InputError(f"{folder} does not exist; give the folder of a recorded run")
    if not folder.is_dir():
        raise InputError(f"{folder} is a file; give the folder of a recorded run")
    found = (path for path in folder.glob(PATTERN) if path.is_file())
    paths = sorted(found, key=attrgetter("name"))
    if not paths:
        raise InputError(
            f"{folder} holds no rank file ({PATTERN}); record a run with "
            f"'skelgen record -o {folder} -- mpirun ...'"
        )
    headers = [(path, *sized_header(path)) for path in paths]
    if all(header is None for _, header, _ in headers):
        raise InputError(
            f"{folder} holds {len(paths)} rank files but none has a usable header: "
            f"{_why_no_headers(paths)}; record the run again"
        )
    return headers


def _why_no_headers(paths: Sequence[Path]) -> str:
    """Say why no rank has a header: what is wrong with one, or that MPI never ran."""
    for path in paths:
        why = why_no_header(path)
        if why != NO_HEADER:
            return f"{path.name}: {why}"
    return "the run ended before MPI was initialised"


def _check_one_run(folder: Path, headers: list[tuple[Path, Header | None]]) -> None:
    runs: dict[int, list[tuple[Path, Header]]] = defaultdict(list)
    for path, header in headers:
        if header is not None:
            runs[header.run_id].append((path, header))
    if len(runs) > 1:
        described = "; ".join(_describe_run(run) for run in runs.values())
        raise InputError(
            f"{folder} holds files of {len(runs)} runs ({described}); "
            "move each run's files into a folder of their own"
        )
    streams: dict[tuple[int, int], Path] = {}
    sizes = {header.world_size for _, header in headers if header is not None}
    if len(sizes) > 1:
        raise InputError(
            f"{folder} holds rank files that disagree on the number of ranks: "
            f"{_some(sorted(sizes))}; record the run again"
        )
    for path, header in headers:
        if header is None:
            continue
        stream = (header.world_rank, header.thread)
        if stream in streams:
            raise InputError(
                f"{folder} holds rank {stream[0]} twice ({streams[stream].name} and "
                f"{path.name}); remove the copy"
            )
        streams[stream] = path


def _describe_run(run: list[tuple[Path, Header]]) -> str:
    header = run[0][1]
    program = Path(header.program).name or "unknown program"
    try:
        second = header.start_realtime_ns // NS_PER_S
        began = datetime.fromtimestamp(second, UTC).isoformat()
    except (ValueError, OverflowError, OSError):
        began = "unknown time"
    files = _some([path.name for path, _ in run])
    return f"{program} on {header.world_size} ranks of {began}: {files}"


def _some(things: Iterable[object]) -> str:
    """Write down the first few of many things.

    Examples
    --------
    >>> _some(range(20))
    '0, 1, 2, 3, 4, 5, 6, 7 and 12 more'
    """
    words = [str(thing) for thing in things]
    shown = ", ".join(words[:_NAMED])
    return f"{shown} and {len(words) - _NAMED} more" if len(words) > _NAMED else shown


def _warnings(
    files: Sequence[RankFile], missing: tuple[int, ...], world_size: int
) -> list[str]:
    warnings = []
    if missing:
        warnings.append(
            f"{len(missing)} of {world_size} ranks have no usable file: "
            f"{_some(missing)}"
        )
    warnings += [str(file.damage) for file in files if file.damage]
    cut = [f for f in files if f.definitions.end is None and f.damage is None]
    if cut:
        ranks = sorted({file.header.world_rank for file in cut})
        warnings.append(
            f"ranks {_some(ranks)} were killed: their files end without an END record "
            "and are used up to the last complete record"
        )
    said: dict[str, list[str]] = defaultdict(list)
    for file in files:
        end = file.definitions.end
        if end is not None and file.damage is None:
            for line in _end_warnings(end, file):
                said[line].append(file.path.name)
    warnings += [f"{_some(names)}: {line}" for line, names in said.items()]
    notes = {note for file in files for note in file.definitions.notes}
    return warnings + [f"the recorder says: {note}" for note in sorted(notes)]


def _end_warnings(end: End, file: RankFile) -> list[str]:
    lines = []
    facts = file.facts
    if (end.events, end.requests >= facts.requests) != (facts.events, True):
        lines.append(
            f"it states {end.events} events and {end.requests} requests, but "
            f"{facts.events} and {facts.requests} were read; a part is missing"
        )
    reasons = {
        "abort": f"the program called MPI_Abort with code {end.code}",
        "exit": "the program ended without MPI_Finalize",
        "full": "the disk was full; what followed was not recorded",
        "limit": "SKELGEN_MAX_BYTES was reached; what followed was not recorded",
    }
    if end.reason in reasons:
        lines.append(reasons[end.reason])
    if end.unrecorded:
        lines.append(f"{end.unrecorded} calls were not recorded (paused or stopped)")
    return lines
