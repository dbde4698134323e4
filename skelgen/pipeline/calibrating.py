"""Measure the ratio of application and skeleton, and keep it with what it is of."""

from __future__ import annotations

import contextlib
import platform
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from skelgen.errors import ApplicationError, UsageError
from skelgen.launch import Host, LaunchCommand, parse_command
from skelgen.launch.consent import (
    NO_CONSENT,
    Consent,
    existing_folder,
    launch_to_lend,
)
from skelgen.launch.files import file_hashes
from skelgen.launch.own_launches import Launch
from skelgen.launch.runner import LocalRunner
from skelgen.launch.secrets import hidden
from skelgen.launch.through import NEAREST, Through
from skelgen.pipeline.kept_runs import digest, keep_turns
from skelgen.pipeline.launches import said_by, to_run
from skelgen.pipeline.page import write_page
from skelgen.pipeline.predicting import CALIBRATED, telling
from skelgen.pipeline.signatures import SIGNATURE_FILE
from skelgen.prediction import Calibration, SkeletonFacts
from skelgen.progress import NO_PROGRESS, Progress

if TYPE_CHECKING:
    from skelgen.prediction.skeleton_runs import SkeletonProgram
    from skelgen.prediction.types import Timed

_BY_HAND = (
    "the launch of the application is not known, it was recorded by hand; give it "
    "after --, or use --application-time recorded"
)


def calibrate(
    folder: Path,
    command: Sequence[str],
    *,
    runs: int,
    recorded_time: bool,
    hosts: Sequence[Host] = (),
    through: Through = NEAREST,
    resume: bool = False,
    force: bool = False,
    consent: Consent = NO_CONSENT,
    progress: Progress = NO_PROGRESS,
) -> Calibration:
    """Measure the ratio application time / skeleton time and store it.

    Parameters
    ----------
    folder : Path
        Of the skeleton.
    command : sequence of str
        Launch of the application, that of the recording when empty.
    runs : int
    recorded_time : bool
        Take the application's time from the recording.
    hosts : sequence of Host
        Where both run; as the application was launched when empty.
    through : Through
        How runs reach their hosts.
    resume : bool
        Go on with the runs of the call before.
    force : bool
        Store a ratio that contradicts the recording.
    consent : Consent
        To a launch that is not the user's own, and to programs of other users.
    progress : Progress

    Raises
    ------
    InputError
        When the ratio contradicts the recording; nothing is stored then.
    """
    from skelgen.prediction.calibrate import calibrate as measure
    from skelgen.prediction.calibrate import check_same_run
    from skelgen.prediction.campaign import placed
    from skelgen.prediction.skeleton_runs import prepare
    from skelgen.prediction.store import load, save_calibration, writable

    facts = load(folder)
    if not writable(folder):
        raise UsageError(f"{folder} is not writable; the ratio is stored there")
    if command:
        _check_ranks(command, facts.ranks)
    launch = _launch(folder, command, facts, consent, recorded_time=recorded_time)
    elsewhere = bool(hosts) or through != NEAREST
    runner_of = partial(through.runner, folder=folder.absolute())
    ready = prepare(
        folder,
        facts,
        runner_of if elsewhere else LocalRunner,
        launch=launch,
        consent=consent,
    )
    where = placed(facts.ranks, hosts) if hosts else ()
    application = None
    if launch is not None and not recorded_time:
        application = _timer(launch, ready, folder, where, elsewhere=elsewhere)
    same = _same(ready, None if application is None else launch, where)
    turns, add = keep_turns(folder / CALIBRATED, same, resume=resume)
    with telling(lambda: len(turns), folder, kept=True):
        measured = measure(
            ready,
            application,
            runs=runs,
            skeleton=partial(ready.on_hosts, where) if elsewhere else None,
            before=tuple(turns),
            made=add,
            progress=progress,
        )
    if not force:
        check_same_run(facts, measured)
    measured = _with_origin(measured, launch, where)
    save_calibration(measured, folder)
    if (folder / SIGNATURE_FILE).is_file():
        write_page(folder, ready=ready)
    return measured


def _launch(
    folder: Path,
    command: Sequence[str],
    facts: SkeletonFacts,
    consent: Consent,
    *,
    recorded_time: bool,
) -> Launch | None:
    """Return the launch that is executed, None where nobody knows one."""
    from skelgen.prediction.store import FACTS_FILE

    source, recorded = folder / FACTS_FILE, said_by(facts)
    if recorded_time and not command:
        return launch_to_lend(recorded, consent, str(source))
    if not (command or facts.command):
        raise UsageError(_BY_HAND)
    return to_run(command, recorded, consent, source)


def _same(
    ready: SkeletonProgram, launch: Launch | None, hosts: Sequence[Host]
) -> dict[str, object]:
    """Return what the runs of a call before must agree in."""
    known: dict[str, object] = {
        "skeleton": digest(ready),
        "application": None
        if launch is None
        else [launch.folder, *hidden(launch.command)],
        "mpi": ready.mpi,
        "host": platform.node(),
    }
    return {**known, "hosts": _names(hosts)} if hosts else known


def _names(hosts: Sequence[Host]) -> list[str]:
    return [f"{host.name}:{host.slots}" for host in hosts]


def _with_origin(
    measured: Calibration, launch: Launch | None, hosts: Sequence[Host]
) -> Calibration:
    """Add when and of what a calibration was made."""
    measured = replace(
        measured,
        date=datetime.now(UTC).isoformat(timespec="seconds"),
        hosts=tuple(_names(hosts)),
    )
    if launch is None:
        return measured
    folder = Path(launch.folder) if launch.folder else None
    program = parse_command(launch.command, program_needed=False).program
    return replace(
        measured,
        command=hidden(launch.command),
        files=file_hashes(hidden(program), folder),
    )


def _check_ranks(command: Sequence[str], ranks: int) -> None:
    launch = parse_command(command, program_needed=False)
    if ":" not in launch.program and launch.ranks is not None:
        _check_started(launch.ranks, ranks)


def _check_started(started: int, ranks: int) -> None:
    if started != ranks:
        raise UsageError(
            f"the command starts {started} ranks, the skeleton has {ranks}; give a "
            f"launch of {ranks}, or record the application with {started} and build "
            "a skeleton of that"
        )


def _timer(
    launch: Launch,
    ready: SkeletonProgram,
    place: Path,
    hosts: Sequence[Host],
    *,
    elsewhere: bool,
) -> Callable[[], Timed]:
    """Return a function that runs the application and returns its time.

    The recorder takes the time, on the clock of the recording: from Init to
    Finalize, without what launching costs. Its trace lies meanwhile in a place that
    all hosts see. A launch that does not say how many ranks it starts, because a
    batch job said it, is started with theirs.
    """
    from skelgen.pipeline.recording import again, recorded_run
    from skelgen.prediction.skeleton_runs import longest_s
    from skelgen.trace.folder import rank_paths

    ranks, limit_s = ready.facts.ranks, longest_s(ready.facts.application_s)
    parsed = parse_command(launch.command)  # what is wrong with it shall show at once

    def timed(trace: Path) -> Timed:
        _check_started(rank_paths(trace).world_size, ranks)
        return recorded_run(trace)

    typed = parsed.launcher is None or not parsed.starts(ranks) or parsed.says(ranks)
    if typed and not elsewhere:
        return lambda: again(launch, timed, limit_s=limit_s, place=place.absolute())
    return lambda: _on_hosts(launch, ready, hosts, timed, limit_s, place.absolute())


def _on_hosts(
    launch: Launch,
    ready: SkeletonProgram,
    hosts: Sequence[Host],
    timed: Callable[[Path], Timed],
    limit_s: float,
    place: Path,
) -> Timed:
    """Run the application under the recorder where the skeleton runs."""
    from skelgen.launch.record import missing_settings
    from skelgen.launch.shim import mpi_of, shim
    from skelgen.prediction.skeleton_runs import ended, failure_of
    from skelgen.runners.interface import Application

    folder = existing_folder(launch)
    with contextlib.chdir(folder or Path.cwd()):
        parsed = _absolute(parse_command(launch.command))
    application = Application(
        launch=parsed,
        ranks=ready.facts.ranks,
        folder=folder,
        environment=tuple(missing_settings(dict(launch.environment)).items()),
        hosts=tuple(hosts),
        runner=ready.runner,
    )
    with tempfile.TemporaryDirectory(prefix="skelgen-", dir=place) as name:
        trace = Path(name) / "run"
        recorder = {"LD_PRELOAD": str(shim(mpi_of(parsed))), "SKELGEN_DIR": str(trace)}
        done = ended(application.start(recorder, limit_s=limit_s))
        if (reason := failure_of(done)) is not None:
            raise ApplicationError(f"the application {reason}")
        return timed(trace)


def _absolute(launch: LaunchCommand) -> LaunchCommand:
    """Name the program so that it is found from any folder."""
    name, *arguments = launch.program
    if "/" not in name:
        return launch
    return replace(launch, program=(str(Path(name).absolute()), *arguments))
