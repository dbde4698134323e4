"""Run skeletons: the ratio on the reference machine, times on node sets."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from skelgen.errors import UsageError
from skelgen.launch import Host, parse_command
from skelgen.launch.through import NEAREST, Through
from skelgen.pipeline.page import write_page
from skelgen.pipeline.phasing import phases
from skelgen.pipeline.signatures import SIGNATURE_FILE
from skelgen.prediction import Calibration, Failure, Prediction, SkeletonFacts
from skelgen.progress import NO_PROGRESS, Progress

if TYPE_CHECKING:
    from skelgen.prediction.trials import Program
    from skelgen.runners.program import PhaseProgram

#: Seed of the intervals: the same runs give the same prediction.
SEED = 20050704


def predict(
    folder: Path,
    node_sets: Sequence[Sequence[Host]],
    *,
    budget_s: float,
    interval_bound: float,
    through: Through = NEAREST,
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
    through : Through
        How runs reach their hosts.
    progress : Progress
    """
    import numpy as np

    from skelgen.prediction.campaign import campaign, placed
    from skelgen.prediction.skeleton_runs import prepare
    from skelgen.prediction.store import load

    program: Program | None = phase_program(folder, through)
    if program is None:
        runner_of = partial(through.runner, folder=folder.absolute())
        program = prepare(folder, load(folder), runner_of)
    return campaign(
        program,
        [placed(program.facts.ranks, hosts) for hosts in node_sets],
        budget_s=budget_s,
        interval_bound=interval_bound,
        generator=np.random.default_rng(SEED),
        progress=progress,
    )


def phase_program(path: Path, through: Through) -> PhaseProgram | None:
    """Return what executes a phase signature, None when a path is none.

    Parameters
    ----------
    path : Path
        A file, or a folder with one and without a skeleton.
    through : Through
        How runs reach their hosts.
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
    )


def calibrate(
    folder: Path,
    command: Sequence[str],
    *,
    runs: int,
    recorded_time: bool,
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
    progress : Progress
    """
    from skelgen.prediction.calibrate import calibrate as measure
    from skelgen.prediction.skeleton_runs import prepare
    from skelgen.prediction.store import load, save_calibration, writable

    facts = load(folder)
    if not writable(folder):
        raise UsageError(f"{folder} is not writable; the ratio is stored there")
    if command:
        facts = replace(facts, command=tuple(command), folder=str(Path.cwd()))
    ready = prepare(folder, facts)
    application = None if recorded_time else _application_timer(facts)
    measured = measure(ready, application, runs=runs, progress=progress)
    save_calibration(measured, folder)
    if (folder / SIGNATURE_FILE).is_file():
        write_page(folder)
    return measured


def _application_timer(facts: SkeletonFacts) -> Callable[[], float]:
    """Return a function that runs the application and returns its time [s].

    The recorder takes the time, on the clock of the recording: from Init to
    Finalize, without what launching costs.
    """
    if not facts.command:
        raise UsageError(
            "the launch of the application is not known, it was recorded by hand; "
            "give it after --, or use --application-time recorded"
        )
    parse_command(facts.command)  # what is wrong with it shall show at once

    def application_s() -> float:
        from skelgen.pipeline.recording import again, recorded_time_s

        environment = dict(facts.environment)
        return again(facts.command, facts.folder, environment, recorded_time_s)

    return application_s
