"""Which launch of an application, and which launcher of a skeleton, is executed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from skelgen.launch.consent import (
    NO_CONSENT,
    Consent,
    launch_to_lend,
    launch_to_run,
)
from skelgen.launch.host_runner import LocalRunner, Runner
from skelgen.launch.launchers import Launcher
from skelgen.launch.own_launches import OwnLaunch, remember
from skelgen.launch.record import mpi_environment
from skelgen.prediction.skeleton_facts import SkeletonFacts
from skelgen.prediction.skeleton_file import FACTS_FILE
from skelgen.prediction.skeleton_runs import SkeletonProgram, prepare


def said_by(facts: SkeletonFacts) -> OwnLaunch:
    """Return the launch of the application as a skeleton's file says it."""
    return OwnLaunch(facts.command, facts.folder, facts.environment)


def to_run(
    command: Sequence[str], recorded: OwnLaunch, consent: Consent, source: Path
) -> OwnLaunch:
    """Return the launch of an application that is to be executed.

    Parameters
    ----------
    command : sequence of str
        As the user typed it now; empty for that of the recording.
    recorded : OwnLaunch
        As a file says it: of a typed launch it lends the settings.
    consent : Consent
    source : Path
        The file.

    Raises
    ------
    UsageError
        When nothing is typed, and what was recorded is neither the user's own nor
        allowed.
    """
    if not command:
        return launch_to_run(recorded, consent, str(source))
    typed = OwnLaunch(tuple(command), str(Path.cwd()), mpi_environment())
    remember(typed)
    lent = launch_to_lend(recorded, consent, str(source))
    return replace(typed, environment=() if lent is None else lent.environment)


def ready_skeleton(
    folder: Path,
    facts: SkeletonFacts,
    runner_of: Callable[[Launcher], Runner] = LocalRunner,
    *,
    consent: Consent = NO_CONSENT,
) -> SkeletonProgram:
    """Prepare a skeleton with the launcher of the recording where that is the user's.

    See `skelgen.prediction.skeleton_runs.prepare`.
    """
    launch = launch_to_lend(said_by(facts), consent, str(folder / FACTS_FILE))
    return prepare(folder, facts, runner_of, launch=launch, consent=consent)
