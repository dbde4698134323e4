"""Measure the ratio of application and skeleton, and keep it with what it is of."""

from __future__ import annotations

import contextlib
import platform
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

from skelgen.errors import ApplicationError, UsageError
from skelgen.launch.command import LaunchCommand, parse_command
from skelgen.launch.consent import (
    NO_CONSENT,
    Consent,
    existing_folder,
    launch_to_lend,
)
from skelgen.launch.files import file_hashes
from skelgen.launch.folders import writable
from skelgen.launch.host_runner import LocalRunner
from skelgen.launch.hosts import Host
from skelgen.launch.launch_method import NEAREST, Through
from skelgen.launch.own_launches import OwnLaunch
from skelgen.launch.record import missing_settings
from skelgen.launch.run_end import ended, failure_of
from skelgen.launch.secrets import hidden
from skelgen.launch.shim import mpi_of, shim
from skelgen.phase_execution.interface import Application
from skelgen.pipeline.kept_runs import digest, keep_turns
from skelgen.pipeline.launches import said_by, to_run
from skelgen.pipeline.predict import CALIBRATED, telling
from skelgen.pipeline.recorded_again import again, recorded_run
from skelgen.prediction import Calibration, SkeletonFacts
from skelgen.prediction.calibrate import calibrate as measure
from skelgen.prediction.calibrate import check_same_run
from skelgen.prediction.campaign import placed
from skelgen.prediction.skeleton_file import FACTS_FILE, load, save_calibration
from skelgen.prediction.skeleton_runs import SkeletonProgram, longest_s, prepare
from skelgen.prediction.types import Timed
from skelgen.progress import NO_PROGRESS, Progress
from skelgen.trace.folder import rank_paths

_BY_HAND = (
    "the launch of the application is not known, it was recorded by hand; give it "
    "after --, or use --application-time recorded"
)


@dataclass(frozen=True, slots=True)
class CalibrateOptions:
    """What the user wants of a calibration.

    Attributes
    ----------
    runs : int
        Of each.
    recorded_time : bool
        Take the application's time from the recording.
    hosts : tuple of Host
        Where both run; as the application was launched when empty.
    through : Through
        How runs reach their hosts.
    resume : bool
        Go on with the runs of the call before.
    force : bool
        Store a ratio that contradicts the recording.
    bound : float or None
        Half width of an interval of the ratio that is narrow enough to end early [1].
    """

    runs: int
    recorded_time: bool
    hosts: tuple[Host, ...] = ()
    through: Through = NEAREST
    resume: bool = False
    force: bool = False
    bound: float | None = None

    @property
    def elsewhere(self) -> bool:
        """Say whether they run otherwise than the application was launched."""
        return bool(self.hosts) or self.through != NEAREST


def calibrate(
    folder: Path,
    command: Sequence[str],
    options: CalibrateOptions,
    *,
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
    options : CalibrateOptions
    consent : Consent
        To a launch that is not the user's own, and to programs of other users.
    progress : Progress

    Raises
    ------
    InputError
        When the ratio contradicts the recording; nothing is stored then.
    """
    pair = _pair(folder, command, options, consent)
    application = pair.application
    turns, add = keep_turns(folder / CALIBRATED, pair.same, resume=options.resume)
    with telling(lambda: len(turns), folder, kept=True):
        measured = measure(
            pair.ready,
            application,
            runs=options.runs,
            bound=options.bound,
            skeleton=pair.skeleton,
            before=tuple(turns),
            made=add,
            progress=progress,
        )
    if not options.force:
        check_same_run(pair.ready.facts, measured)
    measured = pair.with_origin(measured)
    save_calibration(measured, folder)
    # What draws pages is loaded when one is drawn.
    from skelgen.pipeline.page import update_page

    update_page(folder)
    return measured


@dataclass(frozen=True, slots=True)
class _Pair:
    """An application and its skeleton, as both run.

    Attributes
    ----------
    folder : Path
        Of the skeleton.
    ready : SkeletonProgram
    launch : OwnLaunch or None
        Of the application; None where nobody knows one.
    timed : bool
        Whether the application runs: else its time is that of the recording.
    hosts : tuple of Host
        With the ranks of each; as the application was launched when empty.
    elsewhere : bool
        Whether they run otherwise than the application was launched.
    """

    folder: Path
    ready: SkeletonProgram
    launch: OwnLaunch | None
    timed: bool
    hosts: tuple[Host, ...]
    elsewhere: bool

    @property
    def same(self) -> dict[str, object]:
        """Return what the runs of a call before must agree in."""
        launch = self.launch if self.timed else None
        known: dict[str, object] = {
            "skeleton": digest(self.ready),
            "application": None
            if launch is None
            else [launch.folder, *hidden(launch.command)],
            "mpi": self.ready.mpi,
            "host": platform.node(),
        }
        return {**known, "hosts": _names(self.hosts)} if self.hosts else known

    @property
    def skeleton(self) -> Callable[[], Timed]:
        """Return what runs the skeleton and returns its time."""
        if self.elsewhere:
            return partial(self.ready.on_hosts, self.hosts)
        return self.ready.on_reference

    @property
    def application(self) -> Callable[[], Timed] | None:
        """Return what runs the application and returns its time; None: nothing does.

        The recorder takes the time, on the clock of the recording: from Init to
        Finalize, without what launching costs. Its trace lies meanwhile in a place
        that all hosts see. A launch that does not say how many ranks it starts,
        because a batch job said it, is started with theirs.
        """
        if self.launch is None or not self.timed:
            return None
        ranks, place = self.ready.facts.ranks, self.folder.absolute()
        limit_s = longest_s(self.ready.facts.application_s)
        parsed = parse_command(self.launch.command)  # what is wrong shall show at once
        typed = (
            parsed.launcher is None or not parsed.starts(ranks) or parsed.says(ranks)
        )
        if typed and not self.elsewhere:
            return partial(
                again, self.launch, self._time_of, limit_s=limit_s, place=place
            )
        return partial(self._on_hosts, self.launch, limit_s, place)

    def _time_of(self, trace: Path) -> Timed:
        """Return the time of a recorded run of the application."""
        _check_started(rank_paths(trace).world_size, self.ready.facts.ranks)
        return recorded_run(trace)

    def _on_hosts(self, launch: OwnLaunch, limit_s: float, place: Path) -> Timed:
        """Run the application under the recorder where the skeleton runs."""
        folder = existing_folder(launch)
        with contextlib.chdir(folder or Path.cwd()):
            parsed = _absolute(parse_command(launch.command))
        application = Application(
            launch=parsed,
            ranks=self.ready.facts.ranks,
            folder=folder,
            environment=tuple(missing_settings(dict(launch.environment)).items()),
            hosts=self.hosts,
            runner=self.ready.runner,
        )
        with tempfile.TemporaryDirectory(prefix="skelgen-", dir=place) as name:
            trace = Path(name) / "run"
            recorder = {
                "LD_PRELOAD": str(shim(mpi_of(parsed))),
                "SKELGEN_DIR": str(trace),
            }
            done = ended(application.start(recorder, limit_s=limit_s))
            if (reason := failure_of(done)) is not None:
                raise ApplicationError(f"the application {reason}")
            return self._time_of(trace)

    def with_origin(self, measured: Calibration) -> Calibration:
        """Add when and of what a calibration was made."""
        measured = replace(
            measured,
            date=datetime.now(UTC).isoformat(timespec="seconds"),
            hosts=tuple(_names(self.hosts)),
        )
        if self.launch is None:
            return measured
        folder = Path(self.launch.folder) if self.launch.folder else None
        program = parse_command(self.launch.command, program_needed=False).program
        return replace(
            measured,
            command=hidden(self.launch.command),
            files=file_hashes(hidden(program), folder),
        )


def _pair(
    folder: Path, command: Sequence[str], options: CalibrateOptions, consent: Consent
) -> _Pair:
    """Make application and skeleton ready to run."""
    facts = load(folder)
    if not writable(folder):
        raise UsageError(f"{folder} is not writable; the ratio is stored there")
    if command:
        _check_ranks(command, facts.ranks)
    recorded = options.recorded_time
    launch = _launch(folder, command, facts, consent, recorded_time=recorded)
    runner_of = partial(options.through.runner, folder=folder.absolute())
    ready = prepare(
        folder,
        facts,
        runner_of if options.elsewhere else LocalRunner,
        launch=launch,
        consent=consent,
    )
    hosts = placed(facts.ranks, options.hosts)
    return _Pair(folder, ready, launch, not recorded, hosts, options.elsewhere)


def _launch(
    folder: Path,
    command: Sequence[str],
    facts: SkeletonFacts,
    consent: Consent,
    *,
    recorded_time: bool,
) -> OwnLaunch | None:
    """Return the launch that is executed, None where nobody knows one."""
    source, recorded = folder / FACTS_FILE, said_by(facts)
    if recorded_time and not command:
        return launch_to_lend(recorded, consent, str(source))
    if not (command or facts.command):
        raise UsageError(_BY_HAND)
    return to_run(command, recorded, consent, source)


def _names(hosts: Sequence[Host]) -> list[str]:
    return [f"{host.name}:{host.slots}" for host in hosts]


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


def _absolute(launch: LaunchCommand) -> LaunchCommand:
    """Name the program so that it is found from any folder."""
    name, *arguments = launch.program
    if "/" not in name:
        return launch
    return replace(launch, program=(str(Path(name).absolute()), *arguments))
