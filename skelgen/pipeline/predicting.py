"""Run skeletons: the ratio on the reference machine, times on node sets."""

from __future__ import annotations

import logging
import platform
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from skelgen.errors import SkelgenError, UsageError
from skelgen.launch import Host, parse_command
from skelgen.launch.consent import NO_CONSENT, Consent, launch_to_lend
from skelgen.launch.own_launches import Launch
from skelgen.launch.secrets import hidden
from skelgen.launch.through import NEAREST, Through
from skelgen.pipeline.kept_runs import digest, keep_runs, keep_turns
from skelgen.pipeline.launches import ready_skeleton, said_by, to_run
from skelgen.pipeline.page import write_page
from skelgen.pipeline.phasing import phases
from skelgen.pipeline.signatures import SIGNATURE_FILE
from skelgen.pipeline.trusting import method_errors
from skelgen.prediction import Calibration, Failure, Prediction, SkeletonFacts
from skelgen.progress import NO_PROGRESS, Progress

if TYPE_CHECKING:
    from skelgen.prediction.trials import Program
    from skelgen.runners.program import PhaseProgram

logger = logging.getLogger(__name__)

#: Files beside a skeleton with the runs of the last call, a line for each.
PREDICTED, CALIBRATED = "predict.jsonl", "calibrate.jsonl"

_BY_HAND = (
    "the launch of the application is not known, it was recorded by hand; give it "
    "after --, or use --application-time recorded"
)

#: Seed of the intervals: the same runs give the same prediction.
SEED = 20050704


def predict(
    folder: Path,
    node_sets: Sequence[Sequence[Host]],
    *,
    budget_s: float,
    interval_bound: float,
    resume: bool = False,
    through: Through = NEAREST,
    consent: Consent = NO_CONSENT,
    progress: Progress = NO_PROGRESS,
) -> tuple[tuple[Prediction, ...], tuple[Failure, ...]]:
    """Run a skeleton on node sets and predict each, fastest first.

    Parameters
    ----------
    folder : Path
        Of the skeleton, or a phase signature.
    node_sets : sequence of sequences of Host
        An empty set is this machine.
    budget_s : float
        Time after which no further run begins [s].
    interval_bound : float
        Half width of the interval that is narrow enough [1].
    resume : bool
        Go on with the runs of the call before.
    through : Through
        How runs reach their hosts.
    consent : Consent
        To what files say that is not the user's own.
    progress : Progress
    """
    import numpy as np

    from skelgen.prediction.campaign import campaign, placed
    from skelgen.prediction.store import load, writable
    from skelgen.prediction.trials import Trials

    program: Program | None = phase_program(folder, through, consent)
    if program is None:
        runner_of = partial(through.runner, folder=folder.absolute())
        program = ready_skeleton(folder, load(folder), runner_of, consent=consent)
    sets = [placed(program.facts.ranks, hosts) for hosts in node_sets]
    trials = Trials(progress=progress)
    home = folder if folder.is_dir() else folder.parent
    if keep := writable(home) or resume:
        keep_runs(trials, (program,), sets, home / PREDICTED, resume=resume)
    with _telling(lambda: sum(map(len, trials.runs_s.values())), home, keep):
        return campaign(
            program,
            sets,
            trials,
            budget_s=budget_s,
            interval_bound=interval_bound,
            errors=method_errors(),
            generator=np.random.default_rng(SEED),
        )


@contextmanager
def _telling(made: Callable[[], int], home: Path, kept: bool) -> Iterator[None]:
    """Say what becomes of the runs so far when a failure or the user ends them."""
    try:
        yield
    except (SkelgenError, KeyboardInterrupt):
        lost = f"they are lost, for {home} is not writable"
        remedy = "--resume goes on with them" if kept else lost
        if count := made():
            logger.warning("runs made before: %d; %s", count, remedy)
        raise


def phase_program(
    path: Path, through: Through, consent: Consent = NO_CONSENT
) -> PhaseProgram | None:
    """Return what executes a phase signature, None when a path is none.

    Parameters
    ----------
    path : Path
        A file, or a folder with one and without a skeleton.
    through : Through
        How runs reach their hosts.
    consent : Consent
        To a launch that is not the user's own.
    """
    from skelgen.phases.store import PHASES_FILE
    from skelgen.prediction.store import FACTS_FILE
    from skelgen.runners.program import program_of

    file = path / PHASES_FILE if path.is_dir() else path
    if (path / FACTS_FILE).exists() or not file.is_file():
        return None
    folder = file.parent.absolute()
    return program_of(
        file,
        phases(file),
        runner_of=partial(through.runner, folder=folder),
        workspace=folder,
        consent=consent,
    )


def calibrate(
    folder: Path,
    command: Sequence[str],
    *,
    runs: int,
    recorded_time: bool,
    resume: bool = False,
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
    resume : bool
        Go on with the runs of the call before.
    consent : Consent
        To a launch that is not the user's own, and to programs of other users.
    progress : Progress
    """
    from skelgen.prediction.calibrate import calibrate as measure
    from skelgen.prediction.skeleton_runs import prepare
    from skelgen.prediction.store import FACTS_FILE, load, save_calibration, writable

    facts = load(folder)
    if not writable(folder):
        raise UsageError(f"{folder} is not writable; the ratio is stored there")
    if command:
        _check_ranks(command, facts.ranks)
    source, recorded = folder / FACTS_FILE, said_by(facts)
    launch: Launch | None
    if recorded_time and not command:
        launch = launch_to_lend(recorded, consent, str(source))
    else:
        if not (command or facts.command):
            raise UsageError(_BY_HAND)
        launch = to_run(command, recorded, consent, source)
    application = None
    if launch is not None and not recorded_time:
        application = _application_timer(launch, facts, folder)
    ready = prepare(folder, facts, launch=launch, consent=consent)
    same = {
        "skeleton": digest(ready),
        "application": None
        if application is None or launch is None
        else [launch.folder, *hidden(launch.command)],
        "mpi": ready.mpi,
        "host": platform.node(),
    }
    turns, add = keep_turns(folder / CALIBRATED, same, resume=resume)
    with _telling(lambda: len(turns), folder, kept=True):
        measured = measure(
            ready,
            application,
            runs=runs,
            before=tuple(turns),
            made=add,
            progress=progress,
        )
    save_calibration(measured, folder)
    if (folder / SIGNATURE_FILE).is_file():
        write_page(folder, ready=ready)
    return measured


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


def _application_timer(
    launch: Launch, facts: SkeletonFacts, place: Path
) -> Callable[[], float]:
    """Return a function that runs the application and returns its time [s].

    The recorder takes the time, on the clock of the recording: from Init to
    Finalize, without what launching costs. Its trace lies meanwhile in a place that
    all hosts see.
    """
    parse_command(launch.command)  # what is wrong with it shall show at once

    def time_s(trace: Path) -> float:
        from skelgen.pipeline.recording import recorded_time_s
        from skelgen.trace.folder import rank_paths

        _check_started(rank_paths(trace).world_size, facts.ranks)
        return recorded_time_s(trace)

    def application_s() -> float:
        from skelgen.pipeline.recording import again
        from skelgen.prediction.skeleton_runs import longest_s

        return again(
            launch,
            time_s,
            limit_s=longest_s(facts.application_s),
            place=place.absolute(),
        )

    return application_s
