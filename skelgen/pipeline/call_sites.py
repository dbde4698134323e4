"""Where in the source the calls of a recorded run are.

Debug information is read by a process of its own (`skelgen.dwarf`) with a limit of time
and memory: what it found until then counts. What was found is kept in the run's folder,
for a program is often compiled again after it was recorded.
"""

from __future__ import annotations

import json
import logging
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from skelgen.documents import Field, sealed_json
from skelgen.documents.files import as_text, read_bytes
from skelgen.documents.json_document import json_field
from skelgen.dwarf import Module, SourceLine
from skelgen.errors import InputError, NoFileError, SkelgenError
from skelgen.events.shapes import site_name
from skelgen.launch.bounded_command import own_command
from skelgen.launch.folders import replace_file, writable
from skelgen.launch.own_folders import FolderKind, made_as
from skelgen.launch.process import run
from skelgen.pipeline.source_kinds import is_run
from skelgen.trace import Trace, open_trace

logger = logging.getLogger(__name__)

#: What was found, in the folder of a run.
LINES_FILE = "lines.json"
_FORMAT = 1
_MOST_BYTES, _MOST_CHARACTERS = 4 << 20, 1000

#: Addresses that are looked up, those with most time first, and for how long [s].
MOST_ADDRESSES, _LIMIT_S = 300, 30.0

#: Module and build id, and address in it.
Address = tuple[str, str, int]
_NOTHING = SourceLine("", 0, "")


@dataclass(frozen=True, slots=True)
class FoundLines:
    """Source lines of the call sites of a run.

    Attributes
    ----------
    lines : mapping of Address to SourceLine
    notes : tuple of str
        Why lines of some modules are not known.
    """

    lines: Mapping[Address, SourceLine]
    notes: tuple[str, ...] = ()

    @property
    def frames(self) -> dict[str, SourceLine]:
        """Return the lines by module and offset, as call sites are named."""
        return {
            site_name([(path, address)]): line
            for (path, _, address), line in self.lines.items()
        }

    @property
    def text(self) -> str:
        """Return the file that keeps them; empty of none."""
        rows: list[dict[str, Any]] = [
            {"path": path, "build_id": build, "address": address, **asdict(line)}
            for (path, build, address), line in self.lines.items()
        ]
        return sealed_json({"format": _FORMAT, "lines": rows}) if rows else ""


@dataclass(slots=True)
class _Known:
    """Lines by address, and what is to say of modules."""

    lines: dict[Address, SourceLine] = field(default_factory=dict)
    notes: dict[str, str] = field(default_factory=dict)


def lines_of(run: Trace, sites: Iterable[str]) -> FoundLines:
    """Say where in the source call sites are, as far as that is known.

    It raises nothing for what cannot be found: a site then has its module and address.

    Parameters
    ----------
    run : Trace
    sites : iterable of str
        Their names, longest time first.
    """
    frames = _frames(run)
    wanted = [one for site in sites for one in frames.get(site, ())]
    wanted = list(dict.fromkeys(wanted))[:MOST_ADDRESSES]
    known = _Known(_kept(run.folder))
    missing = [one for one in wanted if not known.lines.get(one, _NOTHING).file]
    if missing:
        _look_up(_modules(missing, _began_s(run)), known)
        if any(one in known.lines for one in missing):
            _keep(run.folder, FoundLines(known.lines).text)
    notes = tuple(f"{path} {text}" for path, text in known.notes.items())
    return FoundLines(known.lines, notes)


def kept_lines(folder: Path) -> FoundLines:
    """Return the source lines that the folder of a run or skeleton has."""
    return FoundLines(_kept(folder))


def lines_for(source: Path, sites: Iterable[str]) -> FoundLines:
    """Return the source lines for a skeleton of a run, or those beside a signature."""
    kept = kept_lines(source if source.is_dir() else source.parent)
    if kept.lines or not is_run(source):
        return kept
    return lines_of(open_trace(source), sites)


def _frames(run: Trace) -> dict[str, tuple[Address, ...]]:
    """Return the modules and addresses of call sites by their names."""
    found: dict[str, tuple[Address, ...]] = {}
    for file in run.files:
        builds = file.definitions.builds
        for frames in file.definitions.sites.values():
            name = site_name(frames)
            if name not in found:
                found[name] = tuple(
                    (path, builds.get(path, ""), address) for path, address in frames
                )
    return found


def _began_s(run: Trace) -> float:
    return run.files[0].header.start_realtime_ns / 1e9


def _modules(wanted: Sequence[Address], recorded_s: float) -> list[Module]:
    by_module: dict[tuple[str, str], list[int]] = {}
    for path, build, address in wanted:
        by_module.setdefault((path, build), []).append(address)
    return [
        Module(path, build, recorded_s, tuple(addresses))
        for (path, build), addresses in by_module.items()
    ]


def _look_up(modules: Sequence[Module], known: _Known) -> None:
    """Ask the process that reads debug information."""
    try:
        with tempfile.TemporaryDirectory(prefix="skelgen-") as name:
            request = Path(name) / "request.json"
            request.write_text(json.dumps([asdict(one) for one in modules]))
            line = own_command("skelgen.dwarf", str(request))
            done = run(line, timeout_s=_LIMIT_S, private=True)
    except (SkelgenError, OSError) as error:
        logger.info("source lines were not looked up: %s", error)
        return
    builds = {one.path: one.build_id for one in modules}
    for text in done.output.splitlines():
        _take(text, builds, known)
    if done.exit_code:
        logger.info("source lines: %s", done.complaint)
        last = modules[-1].path
        known.notes.setdefault(last, "was not looked through to its end")


def _take(text: str, builds: Mapping[str, str], known: _Known) -> None:
    """Take one line of its answer; the last one may be cut."""
    try:
        answer = json.loads(text)
    except ValueError:
        return
    path = str(answer["path"])
    if "note" in answer:
        known.notes[path] = str(answer["note"])
        return
    found = SourceLine(answer["file"], answer["line"], answer["function"])
    key = path, builds[path], int(answer["address"])
    before = known.lines.get(key, _NOTHING)
    known.lines[key] = replace(found, function=found.function or before.function)


def _kept(folder: Path) -> dict[Address, SourceLine]:
    """Read the lines that a run's folder has; none where they cannot be read."""
    path = folder / LINES_FILE
    try:
        text = as_text(path, read_bytes(path, most_bytes=_MOST_BYTES))
        parts = json_field(text, path).mapping(("format", "lines"), None)
        parts["format"].integer(_FORMAT, _FORMAT)
        return dict(_pairs(parts["lines"]))
    except NoFileError:
        return {}
    except InputError as error:
        logger.info("%s", error)
        return {}


def _pairs(lines: Field) -> Iterator[tuple[Address, SourceLine]]:
    names = ("path", "build_id", "address", "file", "line", "function")
    for one in lines.items():
        parts = one.mapping(names, None)
        key = (
            parts["path"].text(),
            parts["build_id"].text(),
            parts["address"].integer(0, 2**64 - 1),
        )
        yield (
            key,
            SourceLine(
                parts["file"].text()[:_MOST_CHARACTERS],
                parts["line"].integer(0, 1 << 40),
                parts["function"].text()[:_MOST_CHARACTERS],
            ),
        )


def _keep(folder: Path, text: str) -> None:
    """Write what was found into the run's folder, where that is possible."""
    try:
        if writable(folder) and made_as(folder) is FolderKind.RUN:
            replace_file(folder / LINES_FILE, text)
    except (SkelgenError, OSError) as error:
        logger.info("source lines were not kept: %s", error)
