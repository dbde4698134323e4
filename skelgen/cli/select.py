"""The command that chooses among node sets."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from skelgen.cli.keep_options import (
    KeptApplication,
    KeptInputs,
    StorePlace,
    keeping_of,
)
from skelgen.cli.options import (
    AllowCommand,
    BatchOptions,
    Budget,
    IntervalBound,
    Json,
    NodeSetFiles,
    QueueLimit,
    Resume,
    Strict,
    ThroughWay,
    Verbose,
    consent_of,
    duration_s,
    node_sets_of,
    share,
    through_of,
)
from skelgen.cli.output import print_result, say
from skelgen.cli.predict import check, show
from skelgen.cli.progress_bar import progress_bar
from skelgen.errors import UsageError
from skelgen.launch.hosts import Host, parse_pool
from skelgen.launch.launchers import Hydra, OpenMpi
from skelgen.launch.way import Way

if TYPE_CHECKING:
    from skelgen.pipeline.keep_predictions import Subject
    from skelgen.prediction import Choice
    from skelgen.prediction.types import Candidate

#: Of the table for other programs.
_COLUMNS = (
    "hosts",
    "predicted_s",
    "p5_s",
    "p95_s",
    "best_probability",
    "skeleton_s",
    "ratio",
    "verdict",
    "doubts",
)
_FORMATS = ("plain", "json", "csv", "slurm", "openmpi", "mpich")


def select(
    skeletons: Annotated[
        list[Path],
        typer.Argument(
            metavar="SKEL...",
            help="Folder that skelgen build wrote; shorter versions of it are built "
            "in its folder select/, unless you give several of one application. Or a "
            "phase signature.",
            show_default=False,
        ),
    ],
    hosts: Annotated[
        list[str] | None,
        typer.Option(
            help="A node set: n1,n2 or n[1-4] or n1:2 (two ranks on n1); several times."
        ),
    ] = None,
    hostfile: NodeSetFiles = None,
    pool: Annotated[
        str,
        typer.Option(
            "--from",
            metavar="HOSTS|FILE",
            help="Nodes to make sets of: n[1-4], or a file with one on each line.",
        ),
    ] = "",
    nodes: Annotated[
        int | None,
        typer.Option(
            min=1, help="Nodes in a set of these.", show_default="as recorded"
        ),
    ] = None,
    sets: Annotated[
        str,
        typer.Option(
            help="Which sets: all, pairs (all of two nodes) or windows (nodes that "
            "follow each other).",
            show_default="all, or windows where these are above 100",
        ),
    ] = "",
    budget: Budget = "60s",
    interval: IntervalBound = "5%",
    limit: Annotated[
        str,
        typer.Option(
            help="A run that takes longer is ended with all its ranks, such as 30s.",
            show_default="50 times the expected time and 60 s",
        ),
    ] = "",
    parallel: Annotated[
        int,
        typer.Option(
            min=1,
            help="Runs at the same time on disjoint sets; they share switches and the "
            "launching host, so more than 1 may falsify the times.",
        ),
    ] = 1,
    resume: Resume = False,
    through: ThroughWay = Way.AUTO,
    batch_options: BatchOptions = "",
    queue_limit: QueueLimit = "10min",
    allow_command: AllowCommand = False,
    form: Annotated[
        str,
        typer.Option(
            "--format",
            help="plain, json, csv, or the words for the best set: slurm (sbatch, "
            "srun), openmpi, mpich (mpirun).",
        ),
    ] = "plain",
    store: StorePlace = None,
    app: KeptApplication = "",
    inputs: KeptInputs = None,
    strict: Strict = False,
    json: Json = False,
    verbose: Verbose = 0,
) -> None:
    """Order node sets by how long the application would take there now."""
    from skelgen.pipeline.select import SelectOptions
    from skelgen.pipeline.select import select as run_select

    if form not in _FORMATS:
        raise UsageError(f"--format {form}: expected {', '.join(_FORMATS)}")
    if not (hosts or hostfile or pool):
        raise UsageError("no nodes to choose from: give --from n[1-4], or --hosts")
    options = SelectOptions(
        node_sets=tuple(node_sets_of(hosts, hostfile)),
        pool=parse_pool(pool) if pool else (),
        nodes=nodes,
        shape=sets,
        budget_s=duration_s(budget, "--budget"),
        interval_bound=share(interval, "--interval"),
        parallel=parallel,
        limit_s=duration_s(limit, "--limit") if limit else None,
        resume=resume,
        through=through_of(through, batch_options, queue_limit),
    )
    with progress_bar() as progress:
        choice, about = run_select(
            skeletons,
            options,
            consent=consent_of(allow_command),
            keeping=keeping_of(store, app, inputs),
            progress=progress,
        )
    _print(choice, about, "json" if json else form)
    predictions = [one.prediction for one in choice.candidates]
    check(predictions[:1], choice.failures, strict=strict)


def _print(choice: Choice, about: Subject, form: str) -> None:
    from skelgen.results.predictions import SelectResult

    candidates = choice.candidates
    if form == "json":
        print_result(SelectResult.of(choice, about))
    elif form == "csv":
        say(_csv(candidates), end=False)
    elif form == "plain" and candidates:
        chances = [f"{one.best_probability:.0%}" for one in candidates]
        show([one.prediction for one in candidates], {"best": chances})
    elif candidates:
        say(" ".join(_words(candidates[0].prediction.hosts, form)))


def _csv(candidates: Sequence[Candidate]) -> str:
    """Write a line for each set; names and doubts are joined within their cells."""
    from skelgen.results.base import plain_fields
    from skelgen.results.predictions import SetPrediction

    text = io.StringIO()
    writer = csv.DictWriter(text, _COLUMNS, extrasaction="ignore", lineterminator="\n")
    writer.writeheader()
    for one in candidates:
        said = SetPrediction.of(one.prediction, one.best_probability)
        facts = plain_fields(said)
        joined = {
            "hosts": " ".join(facts["hosts"]),
            "doubts": "; ".join(f"{d['code']}: {d['text']}" for d in facts["doubts"]),
        }
        writer.writerow({**facts, **joined})
    return text.getvalue()


def _words(hosts: Sequence[Host], form: str) -> list[str]:
    """Return the options that put an application on a node set.

    Names are not folded: a shell would take brackets for a pattern of files.
    """
    from skelgen.results.predictions import names

    ranks = sum(host.slots for host in hosts)
    if form == "slurm":
        most = max(host.slots for host in hosts)
        tasks = [f"--ntasks={ranks}", f"--ntasks-per-node={most}"]
        where = f"--nodelist={','.join(names(hosts))}"
        return [f"--nodes={len(hosts)}", *tasks, where]
    launcher = OpenMpi(("mpirun",)) if form == "openmpi" else Hydra(("mpirun",))
    return launcher.arguments((), ranks=ranks, hosts=hosts)[1:]
