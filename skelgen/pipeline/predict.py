"""Run skeletons: the ratio on the reference machine, times on node sets."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from skelgen.errors import SkelgenError
from skelgen.launch.consent import NO_CONSENT, Consent
from skelgen.launch.folders import writable
from skelgen.launch.hosts import Host
from skelgen.launch.launch_method import NEAREST, Through
from skelgen.pipeline.folder_predictions import answered, begun, keep_answer
from skelgen.pipeline.keep_predictions import Keeping, Subject, keep_predicted
from skelgen.pipeline.kept_runs import keep_runs
from skelgen.pipeline.launches import ready_skeleton
from skelgen.pipeline.trust import method_errors
from skelgen.prediction import Failure, Prediction
from skelgen.prediction.campaign import campaign, placed
from skelgen.prediction.skeleton_file import FACTS_FILE, load
from skelgen.prediction.trials import TrialProgram, Trials
from skelgen.progress import NO_PROGRESS, Progress
from skelgen.trust.intervals import INTERVAL_SEED

if TYPE_CHECKING:
    from skelgen.phase_execution.program import PhaseProgram

logger = logging.getLogger(__name__)

#: Files beside a skeleton with the runs of the last call, a line for each.
PREDICTED, CALIBRATED = "predict.jsonl", "calibrate.jsonl"

_BY_HAND = (
    "the launch of the application is not known, it was recorded by hand; give it "
    "after --, or use --application-time recorded"
)


@dataclass(frozen=True, slots=True)
class Predicted:
    """Predictions for node sets.

    Attributes
    ----------
    predictions : tuple of Prediction
        The fastest first.
    failures : tuple of Failure
        Sets on which the skeleton did not run.
    about : Subject
        What they are about.
    """

    predictions: tuple[Prediction, ...]
    failures: tuple[Failure, ...]
    about: Subject


def predict(
    folder: Path,
    node_sets: Sequence[Sequence[Host]],
    *,
    budget_s: float,
    interval_bound: float,
    resume: bool = False,
    through: Through = NEAREST,
    consent: Consent = NO_CONSENT,
    keeping: Keeping | None = None,
    progress: Progress = NO_PROGRESS,
) -> Predicted:
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
    keeping : Keeping, optional
        Where the predictions are kept.
    progress : Progress
    """
    program: TrialProgram | None = phase_program(folder, through, consent)
    if program is None:
        runner_of = partial(through.runner, folder=folder.absolute())
        program = ready_skeleton(folder, load(folder), runner_of, consent=consent)
    sets = [placed(program.facts.ranks, hosts) for hosts in node_sets]
    subject = Subject.of(program.facts, folder, program.mpi)
    trials = Trials(progress=progress)
    home = folder if folder.is_dir() else folder.parent
    began = begun("predict", program.facts)
    if keep := writable(home) or resume:
        keep_runs(trials, (program,), sets, home / PREDICTED, resume=resume)
    with telling(lambda: sum(map(len, trials.runs.values())), home, keep):
        predictions, failures = campaign(
            program,
            sets,
            trials,
            budget_s=budget_s,
            interval_bound=interval_bound,
            errors=method_errors(),
            generator=np.random.default_rng(INTERVAL_SEED),
        )
    keep_answer(home, answered(began, predictions, failures))
    about = keep_predicted(keeping, subject, predictions)
    return Predicted(predictions, failures, about)


@contextmanager
def telling(made: Callable[[], int], home: Path, kept: bool) -> Iterator[None]:
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
    # What executes phases is loaded when there are some.
    from skelgen.phases.store import PHASES_FILE

    file = path / PHASES_FILE if path.is_dir() else path
    if (path / FACTS_FILE).exists() or not file.is_file():
        return None
    # What executes phases is loaded when there are some.
    from skelgen.phase_execution.program import program_of
    from skelgen.pipeline.phases import phases

    folder = file.parent.absolute()
    return program_of(
        file,
        phases(file),
        runner_of=partial(through.runner, folder=folder),
        workspace=folder,
        consent=consent,
    )
