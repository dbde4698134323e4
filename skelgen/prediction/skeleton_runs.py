"""Run the skeleton of a folder and read the time that it prints."""

from __future__ import annotations

import contextlib
import logging
import shlex
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from skelgen.errors import ApplicationError, InputError, MachineError
from skelgen.launch.command import LaunchCommand, parse_command
from skelgen.launch.consent import NO_CONSENT, Consent, check_owner
from skelgen.launch.elf import mpi_library
from skelgen.launch.host_runner import LocalRunner, Runner, Running
from skelgen.launch.hosts import Host
from skelgen.launch.launchers import Launcher, for_ranks, launcher_of
from skelgen.launch.mpi import Mpi, MpiKind, find_mpi, kind_of
from skelgen.launch.own_launches import OwnLaunch
from skelgen.launch.process import Finished, run
from skelgen.launch.record import (
    missing_settings,
    setting_differences,
    unset_settings,
)
from skelgen.launch.run_end import ended, failure_of
from skelgen.prediction.skeleton_facts import SkeletonFacts
from skelgen.prediction.skeleton_output import section
from skelgen.prediction.thresholds import PATIENCE_FACTOR, PATIENCE_S
from skelgen.prediction.types import Timed
from skelgen.progress import NOTE
from skelgen.reference.compiled_program import COMPILER_FLAGS
from skelgen.trust import Doubt

logger = logging.getLogger(__name__)

BINARY = "skeleton"
SOURCE = "skeleton.c"

_COMPILE_LIMIT_S = 600.0


@dataclass(frozen=True, slots=True)
class SkeletonRun:
    """A skeleton that was started.

    Attributes
    ----------
    running : Running
    binary : Path
    """

    running: Running
    binary: Path

    def poll(self) -> Finished | None:
        """Return how it ended, None while it waits or runs."""
        return self.running.poll()

    def stop(self) -> None:
        """End it with all its ranks."""
        self.running.stop()

    def timed(self, done: Finished) -> Timed:
        """Return the time of the timed section that it printed.

        Raises
        ------
        ApplicationError
            When it printed none.
        """
        return section(done.output, self.binary)


@dataclass(frozen=True, slots=True)
class SkeletonProgram:
    """A compiled skeleton and how to launch it.

    Attributes
    ----------
    binary : Path
    facts : SkeletonFacts
    reference : tuple of str
        Command that runs it here as the application was launched.
    runner : Runner
        What starts it, with the options of the application's launch that are kept.
    mpi : str
        Name and version of the MPI that runs it.
    environment : tuple of (str, str)
        Variables of the recorded launch that it gets; none of a launch that is not
        the user's own.
    """

    binary: Path
    facts: SkeletonFacts
    reference: tuple[str, ...]
    runner: Runner
    mpi: str
    environment: tuple[tuple[str, str], ...] = ()

    def start(
        self, hosts: Sequence[Host], *, limit_s: float | None = None
    ) -> SkeletonRun:
        """Start the skeleton on hosts, with the environment of the user's own run.

        What the user sets now stays as it is; the verdict tells the difference.

        Parameters
        ----------
        hosts : sequence of Host
            With the number of ranks of each; this machine when empty.
        limit_s : float, optional
            Longest time it may take; many times the expected one when not given [s].
        """
        running = self.runner.start(
            [str(self.binary)],
            ranks=self.facts.ranks,
            hosts=hosts,
            environment=self._settings,
            limit_s=self._limit_s if limit_s is None else limit_s,
        )
        return SkeletonRun(running, self.binary)

    @property
    def _settings(self) -> dict[str, str]:
        return missing_settings(dict(self.environment))

    @property
    def _limit_s(self) -> float:
        return longest_s(self.facts.expected_s)

    @property
    def doubts(self) -> tuple[Doubt, ...]:
        """Return what is set otherwise than in the recorded run."""
        recorded = dict(self.facts.environment)
        unset = unset_settings(recorded, dict(self.environment))
        if not self.facts.folder:
            return unset  # recorded by hand: nobody knows how it was
        return (*unset, *setting_differences(recorded))

    def on_reference(self) -> Timed:
        """Run the skeleton once as the application was launched; return its time.

        Raises
        ------
        ApplicationError
            When it fails, hangs or prints no time.
        """
        return section(self._reference_output(), self.binary)

    def on_hosts(self, hosts: Sequence[Host]) -> Timed:
        """Run the skeleton once on hosts; return its time.

        Raises
        ------
        ApplicationError
            When it fails, hangs or prints no time.
        """
        done = ended(self.start(hosts))
        if (reason := failure_of(done)) is not None:
            raise ApplicationError(f"the skeleton {self.binary} {reason}")
        return section(done.output, self.binary)

    def _reference_output(self) -> str:
        done = run(self.reference, timeout_s=self._limit_s, environment=self._settings)
        if (reason := failure_of(done)) is not None:
            raise ApplicationError(f"the skeleton {self.binary} {reason}")
        return done.output


def longest_s(expected_s: float) -> float:
    """Return how long a run may take before it is ended [s]."""
    return PATIENCE_FACTOR * expected_s + PATIENCE_S


def prepare(
    folder: Path,
    facts: SkeletonFacts,
    runner_of: Callable[[Launcher], Runner] = LocalRunner,
    *,
    launch: OwnLaunch | None = None,
    consent: Consent = NO_CONSENT,
) -> SkeletonProgram:
    """Find launcher and program of a skeleton; compile it where it is not.

    Parameters
    ----------
    folder : Path
    facts : SkeletonFacts
        What they say of a launch is not executed.
    runner_of : callable, optional
        Makes of the launcher of its MPI what starts it; when not given, that launcher
        does, here.
    launch : OwnLaunch, optional
        A launch of the user's own: its launcher, with options and settings, is used.
    consent : Consent
        Whether programs of other users may be run.

    Raises
    ------
    InputError
        When the folder lacks the program's source.
    UsageError
        When the skeleton belongs to another user.
    MachineError
        Without an MPI, or when the program is of another MPI than the launcher.
    """
    binary, source = folder.absolute() / BINARY, folder / SOURCE
    if not source.exists() and not binary.exists():
        raise InputError(
            f"{folder} holds neither {BINARY} nor {SOURCE}; build it again with "
            "skelgen build"
        )
    check_owner(consent, folder, binary, source, folder / "Makefile")
    recorded = None if launch is None else _usable(launch.command, facts)
    library = mpi_library(binary) if binary.exists() else None
    mpi = _mpi(facts, recorded, MpiKind.UNKNOWN if library is None else library.kind)
    if _must_compile(binary, source, mpi):
        compile_skeleton(folder, mpi)
    elif library is not None and MpiKind.UNKNOWN not in (library.kind, mpi.kind):
        _check(binary, library.kind, mpi)
    environment = () if launch is None else launch.environment
    settings = missing_settings(dict(environment))
    launcher = None if recorded is None else recorded.launcher
    local = LocalRunner(launcher or launcher_of(mpi))
    # The words of a launch of several programs start the ranks of the first only.
    if recorded is not None and launcher is not None and recorded.says(facts.ranks):
        reference = recorded.running([str(binary)], variables=for_ranks(settings))
    else:
        reference = local.arguments(
            [str(binary)], ranks=facts.ranks, hosts=(), environment=settings
        )
    runner = runner_of(local.launcher)
    facts = facts.with_fitting(mpi.title)
    return SkeletonProgram(
        binary, facts, tuple(reference), runner, mpi.title, environment
    )


def _must_compile(binary: Path, source: Path, mpi: Mpi) -> bool:
    """Say whether the program is missing, or older than its source.

    A copied folder may only look that old: without a compiler it is used as it is.
    """
    if not binary.exists():
        return True
    if not source.exists():
        return False
    older = binary.stat().st_mtime_ns < source.stat().st_mtime_ns
    if older and mpi.compiler is None:
        logger.warning("%s is older than %s; it is used as it is", binary, source)
    return older and mpi.compiler is not None


def _usable(command: Sequence[str], facts: SkeletonFacts) -> LaunchCommand | None:
    """Return the application's launch, None when it cannot be used here.

    The options of another MPI's launcher mean nothing to the one that is here.
    """
    if not command:
        return None
    try:
        launch = parse_command(command, program_needed=False)
    except MachineError as error:
        logger.info("the recorded launch cannot be used here: %s", error)
        return None
    kinds = {kind_of(facts.mpi), MpiKind.UNKNOWN}
    if launch.mpi is not None and launch.mpi.kind not in kinds:
        logger.info("the recorded launch was of %s, here it is another", facts.mpi)
        return None
    return launch


def _mpi(facts: SkeletonFacts, recorded: LaunchCommand | None, linked: MpiKind) -> Mpi:
    """Return the MPI that runs the skeleton.

    That of the recorded launch, of the compiled skeleton, of the recording, or any.
    """
    if recorded is not None and recorded.mpi is not None:
        return recorded.mpi
    for kind in (linked, kind_of(facts.mpi)):
        if kind is not MpiKind.UNKNOWN:
            with contextlib.suppress(MachineError):
                return find_mpi(kind)
    return find_mpi()


def _check(binary: Path, linked: MpiKind, mpi: Mpi) -> None:
    if linked is not mpi.kind:
        raise MachineError(
            f"{binary} is linked to {linked.title}, but {mpi.launcher} is of "
            f"{mpi.title}; compile it again: make -B -C {binary.parent} MPICC=..."
        )


def compile_skeleton(folder: Path, mpi: Mpi) -> None:
    """Compile a skeleton with the mpicc of an MPI.

    Raises
    ------
    MachineError
        Without mpicc.
    ApplicationError
        When the compiler refuses.
    """
    if mpi.compiler is None:
        raise MachineError(
            f"{folder / BINARY} is not compiled and there is no mpicc of {mpi.title}; "
            f"compile it where there is one: make -C {shlex.quote(str(folder))}"
        )
    logger.log(NOTE, "compiling %s with %s", folder / SOURCE, mpi.compiler)
    # As the folder's Makefile does; but that one is a program, too, and make expands
    # what it finds in paths.
    arguments = [str(mpi.compiler), *COMPILER_FLAGS, "-o", BINARY, SOURCE]
    done = run(arguments, timeout_s=_COMPILE_LIMIT_S, folder=folder, private=True)
    if done.exit_code:
        raise ApplicationError(
            f"{folder / SOURCE} cannot be compiled with {mpi.compiler}: "
            f"{done.complaint}"
        )
