"""Run a program under the recorder and keep what describes the run."""

from __future__ import annotations

import logging
import os
import platform
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path

from skelgen.documents import Field, read_json, sealed_json
from skelgen.documents.numbers import MOST_RANKS
from skelgen.errors import ApplicationError, InputError, NoFileError, SkelgenError
from skelgen.launch.allocation import batch_job
from skelgen.launch.command import (
    LaunchCommand,
    check_library,
    linked_mpi,
    parse_command,
)
from skelgen.launch.files import file_hashes
from skelgen.launch.folders import new_folder
from skelgen.launch.launchers import for_ranks
from skelgen.launch.node_files import NodeFolder, recorder_settings
from skelgen.launch.own_folders import MARKER, FolderKind
from skelgen.launch.own_launches import OwnLaunch, remember
from skelgen.launch.process import Finished, Output, run
from skelgen.launch.secrets import HIDDEN, hidden, hidden_values
from skelgen.launch.shim import mpi_of, shim
from skelgen.launch.variables import is_of_mpi, settings_of
from skelgen.trust import Doubt

logger = logging.getLogger(__name__)

RUN_FILE = "run.json"

_MOST_CODE = 1 << 31
#: Fields of every description; older ones lack the files.
_FIELDS = (
    "command", "folder", "started", "duration_s", "exit_code", "mpi", "launcher",
    "host", "ranks", "load", "environment",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class RunFacts:
    """What is known about a recorded run beside its trace.

    Attributes
    ----------
    command : tuple of str
        As the user typed it, without secrets.
    folder : str
        Working directory.
    started : str
        Wall-clock date (ISO, UTC).
    duration_s : float
        Wall time with launching [s].
    exit_code : int
        Of the launch command, 128 + signal when a signal ended it.
    mpi, launcher, host : str
        MPI of the recorder, path of the launcher, host that launched.
    ranks : int or None
        Where the command says it.
    load : tuple of float
        Load averages of the launching host when the run began.
    environment : tuple of (str, str)
        Variables that change how MPI behaves.
    files : tuple of (str, str)
        Path and SHA-256 of the program and of the files that its arguments name and
        that it did not write; empty in older recordings.
    allocation : str
        Batch job that it ran in; empty without one, and in older recordings.
    """

    command: tuple[str, ...]
    folder: str
    started: str
    duration_s: float
    exit_code: int
    mpi: str
    launcher: str
    host: str
    ranks: int | None
    load: tuple[float, ...]
    environment: tuple[tuple[str, str], ...]
    files: tuple[tuple[str, str], ...] = ()
    allocation: str = ""


def mpi_environment(
    variables: Mapping[str, str] = os.environ,
) -> tuple[tuple[str, str], ...]:
    """Return which of these variables, of those set now by default, matter to MPI."""
    return tuple(
        (name, value) for name, value in sorted(variables.items()) if is_of_mpi(name)
    )


def missing_settings(recorded: Mapping[str, str]) -> dict[str, str]:
    """Return what must be set to run as in a recorded run; what is set now stays."""
    return {name: text for name, text in recorded.items() if name not in os.environ}


def setting_differences(recorded: Mapping[str, str]) -> tuple[Doubt, ...]:
    """Doubt the variables that are set otherwise now than in a recorded run.

    A variable of the recording that is not set now is none: it can be set.
    """
    return tuple(
        Doubt(
            "other-settings",
            f"{name} is {value!r} here, "
            + (f"was {recorded[name]!r}" if name in recorded else "was not set")
            + " in the recording",
            f"set {name} as it was in the recording",
        )
        for name, value in mpi_environment()
        if recorded.get(name) != value and HIDDEN not in recorded.get(name, "")
    )


def unset_settings(
    recorded: Mapping[str, str], given: Mapping[str, str]
) -> tuple[Doubt, ...]:
    """Name the variables of a recorded run that are set neither here nor by skelgen.

    Parameters
    ----------
    recorded : mapping
        Variables of the recording, as a file says them.
    given : mapping
        Those that skelgen sets: of a launch of the user's own.
    """
    return tuple(
        Doubt(
            "other-settings",
            f"{name} was {recorded[name]!r} in the recording and is not set",
            f"set {name} as it was in the recording",
        )
        for name in sorted({*recorded} - {*os.environ} - {*given})
    )


def record(
    command: Sequence[str],
    target: Path,
    *,
    force: bool = False,
    quiet_output: bool = False,
) -> RunFacts:
    """Run a command under the recorder.

    A program that fails or is interrupted keeps its trace up to there.

    Parameters
    ----------
    command : sequence of str
        Launcher, its options, program and arguments.
    target : Path
        Folder for the trace.
    force : bool
        Replace a folder that exists.
    quiet_output : bool
        Send what the program prints to stderr.

    Raises
    ------
    InputError, ApplicationError
        When nothing was recorded; no folder remains then.
    """
    launch = parse_command(command)
    check_library(launch)
    words = [Path(word) for word in command if os.path.exists(word)]  # noqa: PTH110
    with new_folder(target, FolderKind.RUN, force=force, reads=words) as beside:
        started, load = datetime.now(UTC), os.getloadavg()
        interrupted: KeyboardInterrupt | None = None
        try:
            output = Output.TO_STDERR if quiet_output else Output.THROUGH
            done = run_recorded(launch, beside, output=output)
        except KeyboardInterrupt as error:
            interrupted = error
            elapsed_s = (datetime.now(UTC) - started).total_seconds()
            done = Finished(tuple(command), 130, elapsed_s, "", "")
        facts = _facts(command, launch, done, started, load)
        write_facts(facts, beside / RUN_FILE)
        if not _recorded(beside):
            raise interrupted or nothing_recorded(launch, facts)
        remember(
            OwnLaunch(tuple(command), facts.folder, mpi_environment(), facts.files)
        )
    if interrupted is not None:
        logger.warning("interrupted; the trace up to there is in %s", target)
        raise interrupted
    return facts


def _recorded(folder: Path) -> bool:
    return any(path.name not in (RUN_FILE, MARKER) for path in folder.iterdir())


def nothing_recorded(launch: LaunchCommand, facts: RunFacts) -> SkelgenError:
    """Say why there may be no trace."""
    name = launch.program[0]
    if facts.exit_code:
        return ApplicationError(
            f"{name} failed with exit code {facts.exit_code} before it called MPI; "
            "nothing was recorded"
        )
    library = linked_mpi(name)
    why = "it may be no MPI program, or linked to MPI statically"
    if library is not None:
        why = f"it is linked to {library.name}, the recorder is of {facts.mpi}"
    return InputError(f"{name} made no MPI call that could be recorded: {why}")


def run_recorded(
    launch: LaunchCommand,
    folder: Path,
    *,
    output: Output = Output.KEEP,
    timeout_s: float | None = None,
    environment: Mapping[str, str] | None = None,
    cwd: Path | None = None,
) -> Finished:
    """Run a command with the recorder writing into a folder.

    The recorder is preloaded into the ranks only: a launcher that loads it would
    load an MPI library too.
    """
    library = shim(mpi_of(launch))
    node = NodeFolder.of(folder)
    before = os.environ.get("LD_PRELOAD", "")
    everywhere = missing_settings(environment or {})
    variables = {
        **for_ranks(everywhere),
        **recorder_settings(node),
        "LD_PRELOAD": f"{library}:{before}" if before else str(library),
        "SKELGEN_DIR": str(folder.absolute()),
    }
    if launch.launcher is None:
        everywhere |= variables
    try:
        return run(
            launch.running(variables=variables),
            output=output,
            timeout_s=timeout_s,
            environment=everywhere,
            folder=cwd,
        )
    finally:
        if node is not None:
            node.bring(folder)


def _facts(
    command: Sequence[str],
    launch: LaunchCommand,
    done: Finished,
    started: datetime,
    load: tuple[float, ...],
) -> RunFacts:
    return RunFacts(
        command=hidden(command),
        folder=str(Path.cwd()),
        started=started.isoformat(timespec="seconds"),
        duration_s=round(done.time_s, 6),
        exit_code=done.exit_code,
        mpi=mpi_of(launch).title,
        launcher=launch.launcher.words[0] if launch.launcher else "",
        host=platform.node(),
        ranks=launch.ranks,
        load=tuple(round(value, 2) for value in load),
        environment=hidden_values(mpi_environment()),
        files=file_hashes(hidden(launch.program), before_s=started.timestamp()),
        allocation=batch_job(),
    )


def write_facts(facts: RunFacts, path: Path) -> None:
    """Write the description of a run as JSON."""
    path.write_text(sealed_json({"format": 1, **asdict(facts)}, indent=2))


def read_facts(folder: Path) -> RunFacts | None:
    """Read the description of a run; None for runs recorded by hand.

    Raises
    ------
    InputError
        When the file is there but is not what skelgen writes.
    """
    try:
        document = read_json(folder / RUN_FILE)
    except NoFileError:
        return None
    try:
        return _read(document)
    except InputError as error:
        raise InputError(
            f"{error}; restore the description of this run or record it again"
        ) from error


def _read(document: Field) -> RunFacts:
    document.mapping(("format",), None)["format"].integer(1, 1)
    fields = document.mapping(_FIELDS, None)
    ranks, listed = fields["ranks"], fields.get("files")
    job = fields.get("allocation")
    return RunFacts(
        command=hidden(fields["command"].texts()),
        folder=fields["folder"].text(),
        started=fields["started"].text(),
        duration_s=fields["duration_s"].amount(),
        exit_code=fields["exit_code"].integer(-_MOST_CODE, _MOST_CODE),
        mpi=fields["mpi"].text(),
        launcher=fields["launcher"].text(),
        host=fields["host"].text(),
        ranks=None if ranks.is_null() else ranks.integer(1, MOST_RANKS),
        load=fields["load"].numbers(),
        environment=settings_of(fields["environment"], _pairs(fields["environment"])),
        files=() if listed is None else _pairs(listed),
        allocation="" if job is None else job.text(),
    )


def _pairs(field: Field) -> tuple[tuple[str, str], ...]:
    pairs = []
    for one in field.items():
        words = one.texts()
        if len(words) != 2:
            raise one.error(f"read {len(words)} words, expected a name and a text")
        pairs.append((words[0], words[1]))
    return tuple(pairs)
