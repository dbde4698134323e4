"""Choose among node sets with skeletons of growing length."""

from __future__ import annotations

import logging
import time
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np

from skelgen.errors import InputError, SkelgenError, UsageError
from skelgen.launch.consent import NO_CONSENT, Consent
from skelgen.launch.folders import new_folder
from skelgen.launch.hosts import Host
from skelgen.launch.launch_method import NEAREST, Through
from skelgen.launch.own_folders import FolderKind
from skelgen.pipeline.folder_predictions import Watch, begun
from skelgen.pipeline.keep_predictions import Keeping, Subject, keep_predicted
from skelgen.pipeline.kept_runs import keep_runs
from skelgen.pipeline.launches import ready_skeleton
from skelgen.pipeline.predict import phase_program
from skelgen.pipeline.signatures import read_signature
from skelgen.pipeline.trust import method_errors
from skelgen.prediction import Choice, SkeletonFacts, TrialFacts
from skelgen.prediction.campaign import placed
from skelgen.prediction.choosing import Contest, halvings
from skelgen.prediction.node_sets import node_sets
from skelgen.prediction.skeleton_file import (
    FACTS_FILE,
    RecordedLaunch,
    SkeletonDescription,
    load,
)
from skelgen.prediction.thresholds import SHORTEST_TRUSTED_S
from skelgen.prediction.trials import NodeSet, TrialProgram, Trials
from skelgen.progress import NO_PROGRESS, NOTE, Progress
from skelgen.skeleton.emit.skeleton_files import render
from skelgen.skeleton.methods import planner
from skelgen.trust.intervals import INTERVAL_SEED

logger = logging.getLogger(__name__)

#: Folder beside a skeleton for its shorter versions, and the runs made with them.
_BESIDE, _RUNS = "select", "runs.jsonl"


@dataclass(frozen=True, slots=True)
class SelectOptions:
    """What the user wants of a choice.

    Attributes
    ----------
    node_sets : tuple of tuple of Host
        Given one by one.
    pool : tuple of Host
        To make sets of.
    nodes : int or None
        Nodes in a set of the pool; as many as were recorded when None.
    shape : str
        See `skelgen.prediction.node_sets`.
    budget_s : float
        Time after which no further run begins [s].
    interval_bound : float
        Half width of an interval that is narrow enough [1].
    parallel : int
        Runs at the same time on disjoint sets.
    limit_s : float or None
        Longest time of one run [s].
    resume : bool
        Go on with the runs of the call before.
    through : Through
        How runs reach their hosts.
    """

    node_sets: tuple[tuple[Host, ...], ...]
    pool: tuple[Host, ...]
    nodes: int | None
    shape: str
    budget_s: float
    interval_bound: float
    parallel: int
    limit_s: float | None
    resume: bool
    through: Through = NEAREST


def select(
    folders: Sequence[Path],
    options: SelectOptions,
    *,
    consent: Consent = NO_CONSENT,
    keeping: Keeping | None = None,
    progress: Progress = NO_PROGRESS,
) -> tuple[Choice, Subject]:
    """Order node sets by the application's predicted time, the fastest first.

    The second value says what the predictions are about.

    Parameters
    ----------
    folders : sequence of Path
        Skeletons of one application; of a single one shorter versions are built. Or
        one phase signature.
    options : SelectOptions
    consent : Consent
        To what files say that is not the user's own.
    keeping : Keeping, optional
        Where the predictions are kept.
    progress : Progress
    """
    programs: tuple[TrialProgram, ...]
    through = options.through
    if len(folders) == 1 and (one := phase_program(folders[0], through, consent)):
        folder, programs = one.binary.parent, (one,)
        sets = _sets(one.facts, options)
    else:
        known = sorted(((load(one), one) for one in folders), key=_length_s)
        facts, folder = known[-1]
        sets = _sets(facts, options)
        if len(known) == 1:
            shorter = _shorter(folder, facts, len(sets), progress)
            known = [*((load(one), one) for one in shorter), *known]
        _check_same(known)
        runner_of = partial(through.runner, folder=folder.absolute())
        programs = tuple(
            ready_skeleton(one, its, runner_of, consent=consent) for its, one in known
        )
    subject = Subject.of(programs[-1].facts, folders[0], programs[-1].mpi)
    trials = Trials(
        parallel=options.parallel,
        limit_s=options.limit_s,
        end_s=time.monotonic() + options.budget_s,
        progress=progress,
    )
    kept = folder / _BESIDE / _RUNS
    keep_runs(trials, programs, sets, kept, resume=options.resume)
    generator = np.random.default_rng(INTERVAL_SEED)
    bound, errors = options.interval_bound, method_errors()
    contest = Contest(programs, sets, trials, bound, errors, generator)
    progress.start("running skeletons", contest.planned_runs)
    progress.advance(contest.made_runs)
    watch = Watch(folder, begun("select", programs[-1].facts), contest)
    with watch.watching():
        choice = contest.choose()
    progress.finish()
    watch.write(choice, "done")
    predictions = [one.prediction for one in choice.candidates]
    return choice, keep_predicted(keeping, subject, predictions)


def _length_s(one: tuple[SkeletonFacts, Path]) -> float:
    return one[0].expected_s


def _check_same(known: Sequence[tuple[SkeletonFacts, Path]]) -> None:
    """Refuse skeletons of different applications, as far as that shows."""
    facts, folder = known[-1]
    for other, its_folder in known[:-1]:
        if (other.ranks, other.application_s) != (facts.ranks, facts.application_s):
            raise UsageError(
                f"{its_folder} and {folder} are not skeletons of one recorded run; "
                "give folders of one, or a single one"
            )


def _sets(facts: TrialFacts, options: SelectOptions) -> tuple[NodeSet, ...]:
    """Return the candidates with their ranks placed, each once."""
    wanted = list(options.node_sets)
    if options.pool:
        nodes = options.nodes or max(len(facts.ranks_per_host), 1)
        if nodes > facts.ranks:
            raise UsageError(
                f"--nodes {nodes}: the skeleton has {facts.ranks} ranks; ask for at "
                f"most {facts.ranks} nodes"
            )
        wanted += node_sets(options.pool, nodes, options.shape)
    found: dict[frozenset[Host], NodeSet] = {}
    for hosts in wanted:
        one = placed(facts.ranks, hosts)
        if found.setdefault(frozenset(one), one) is not one:
            names = ",".join(host.name for host in one)
            logger.warning("node set %s is given twice; it is measured once", names)
    return tuple(found.values())


def _shorter(
    folder: Path, facts: SkeletonFacts, sets: int, progress: Progress
) -> list[Path]:
    """Return shorter versions of a skeleton for so many sets, the shortest first."""
    found: list[Path] = []
    for power in range(1, halvings(sets) + 1):
        factor = 2**power
        if facts.expected_s / factor < SHORTEST_TRUSTED_S:
            break
        target = folder / _BESIDE / f"k{facts.scaling_factor * factor:.4g}"
        if not target.is_dir():
            try:
                _build(folder, facts, facts.scaling_factor * factor, target, progress)
            except SkelgenError as error:
                logger.log(NOTE, "no skeleton shorter than %s: %s", folder, error)
                break
        found.insert(0, target)
    return found


def _build(
    folder: Path,
    facts: SkeletonFacts,
    scaling_factor: float,
    target: Path,
    progress: Progress,
) -> None:
    """Build a skeleton of another K with the computation of the one in a folder."""
    signature, _ = read_signature(
        folder, similarity_threshold=None, scaling_factor=None, target_s=None
    )
    # Its speed of computation is not measured here: this machine may only launch.
    speed = SkeletonDescription.read(folder).compute
    if speed is None:
        raise InputError(
            f"{folder / FACTS_FILE}: the document: the field 'compute' is missing; "
            "build it again with skelgen build"
        )
    plan = planner(facts.method)(signature, scaling_factor, progress=progress)
    launch = RecordedLaunch(facts.folder, facts.environment)
    described = SkeletonDescription.of(plan, speed, launch=launch)
    files = render(plan, calibration=speed) | {FACTS_FILE: described.text()}
    with new_folder(target, FolderKind.SKELETON, force=True) as beside:
        for name, text in files.items():
            (beside / name).write_text(text, encoding="utf-8")
    logger.info("built %s", target)
