"""The commands that run a skeleton: calibrate and predict."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
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
    ApplicationCommand,
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
from skelgen.cli.output import (
    check_trust,
    print_doubts,
    print_facts,
    print_result,
    print_table,
    say,
)
from skelgen.cli.progress_bar import progress_bar
from skelgen.errors import ApplicationError, UsageError
from skelgen.launch.way import Way
from skelgen.trust.types import SHARED_CORES
from skelgen.units import format_seconds

if TYPE_CHECKING:
    from skelgen.prediction import Calibration, Failure, Prediction

#: What is said of a node set on which arithmetic did not have its cores alone.
_SHARED = (
    "other processes had the cores of its ranks, too, or nothing says that none had; "
    "arithmetic keeps its speed there, code that needs caches does not, and the "
    "interval allows for that; to fit the computation: skelgen mix, then build again"
)

#: From this share on a calibration says what was taken from its times [1].
_TOLD = 0.01


_BuiltSkeleton = Annotated[
    Path,
    typer.Argument(
        metavar="SKEL", help="Folder that skelgen build wrote.", show_default=False
    ),
]
_ApplicationTime = Annotated[
    str,
    typer.Option(
        help="Where the application's time comes from: measured (run it here) or "
        "recorded (on this machine, when it was quiet).",
    ),
]
_HostsOfBoth = Annotated[
    list[str] | None,
    typer.Option(
        help="Where both run: n1,n2 or n[1-4] or n1:2 (two ranks on n1).",
        show_default="as the application was launched",
    ),
]


def calibrate(
    skeleton: _BuiltSkeleton,
    command: ApplicationCommand = None,
    runs: Annotated[int, typer.Option(help="Runs of each.", min=1)] = 3,
    interval: Annotated[
        str,
        typer.Option(
            help="End before --runs when half the 90 % interval of the ratio is as "
            "narrow, such as 3%, or cannot become so.",
            show_default="all runs are made",
        ),
    ] = "",
    application_time: _ApplicationTime = "measured",
    hosts: _HostsOfBoth = None,
    hostfile: NodeSetFiles = None,
    through: ThroughWay = Way.AUTO,
    batch_options: BatchOptions = "",
    queue_limit: QueueLimit = "10min",
    resume: Resume = False,
    force: Annotated[
        bool,
        typer.Option("--force", help="Store a ratio that contradicts the recording."),
    ] = False,
    allow_command: AllowCommand = False,
    json: Json = False,
    verbose: Verbose = 0,
) -> None:
    """Measure the ratio application time / skeleton time on this machine.

    Keep the machine quiet meanwhile: what other processes take is corrected, but not
    what they do to caches. The result is stored next to earlier ones of the skeleton.
    """
    from skelgen.pipeline.calibrate import CalibrateOptions
    from skelgen.pipeline.calibrate import calibrate as run_calibrate
    from skelgen.results.running import CalibrateResult

    if application_time not in ("measured", "recorded"):
        raise UsageError(
            f"--application-time {application_time}: expected measured or recorded"
        )
    sets = node_sets_of(hosts, hostfile)
    if len(sets) > 1:
        raise UsageError(f"{len(sets)} node sets: calibrate on one at a time")
    options = CalibrateOptions(
        runs=runs,
        recorded_time=application_time == "recorded",
        hosts=sets[0] if sets else (),
        through=through_of(through, batch_options, queue_limit),
        resume=resume,
        force=force,
        bound=share(interval, "--interval") if interval else None,
    )
    with progress_bar() as progress:
        measured = run_calibrate(
            skeleton,
            tuple(command or ()),
            options,
            consent=consent_of(allow_command),
            progress=progress,
        )
    if json:
        print_result(CalibrateResult.of(measured))
    else:
        _show_calibration(measured)


def _show_calibration(measured: Calibration) -> None:
    from skelgen.prediction.ratio_outlook import ratio_interval

    known = ratio_interval(measured.application_runs_s, measured.undisturbed_s)
    width = f"90 %: {known.p5:.3f} to {known.p95:.3f}"
    rows = [("ratio", f"{measured.ratio:.3f}  ({width})")]
    for name, middle_s, runs_s in (
        ("application", measured.application_s, measured.application_runs_s),
        ("skeleton", measured.skeleton_s, measured.skeleton_runs_s),
    ):
        single = ", ".join(format_seconds(run_s) for run_s in runs_s)
        rows.append((name, f"{format_seconds(middle_s)}  ({single})"))
    if measured.lost_share > _TOLD:
        told = f"{measured.lost_share:.0%} of the run time, other processes had cores"
        rows.append(("taken away", told))
    print_facts(rows)


def predict(
    skeleton: Annotated[
        Path,
        typer.Argument(
            metavar="SKEL",
            help="Folder that skelgen build wrote, or a phase signature.",
            show_default=False,
        ),
    ],
    hosts: Annotated[
        list[str] | None,
        typer.Option(
            help="A node set: n1,n2 or n[1-4] or n1:2 (two ranks on n1). Give it "
            "several times to compare sets.",
            show_default="this machine",
        ),
    ] = None,
    hostfile: NodeSetFiles = None,
    budget: Budget = "60s",
    interval: IntervalBound = "5%",
    resume: Resume = False,
    through: ThroughWay = Way.AUTO,
    batch_options: BatchOptions = "",
    queue_limit: QueueLimit = "10min",
    allow_command: AllowCommand = False,
    store: StorePlace = None,
    app: KeptApplication = "",
    inputs: KeptInputs = None,
    strict: Strict = False,
    json: Json = False,
    verbose: Verbose = 0,
) -> None:
    """Run the skeleton on node sets and predict the application's time on each."""
    from skelgen.pipeline.predict import predict as run_predict
    from skelgen.results.predictions import PredictResult

    with progress_bar() as progress:
        found = run_predict(
            skeleton,
            node_sets_of(hosts, hostfile) or [()],
            budget_s=duration_s(budget, "--budget"),
            interval_bound=share(interval, "--interval"),
            resume=resume,
            through=through_of(through, batch_options, queue_limit),
            consent=consent_of(allow_command),
            keeping=keeping_of(store, app, inputs),
            progress=progress,
        )
    predictions, failures = found.predictions, found.failures
    if json:
        print_result(PredictResult.of(found))
    elif predictions:
        show(predictions)
    check(predictions, failures, strict=strict)


def show(
    predictions: Sequence[Prediction], more: Mapping[str, Sequence[str]] | None = None
) -> None:
    """Print a table of predictions and why they should not be trusted.

    Parameters
    ----------
    predictions : sequence of Prediction
    more : mapping, optional
        Further columns: the cells of each, one for each prediction.
    """
    from skelgen.prediction.trials import name_of

    more = more or {}
    head = ["node set", "skeleton", "runs", "ratio", "predicted", "p5", "p95", *more]
    rows = [
        [
            name_of(one.hosts),
            format_seconds(one.skeleton_s),
            str(len(one.runs_s)),
            f"{one.ratio:.3f}",
            *map(format_seconds, (one.time_s.p50, one.time_s.p5, one.time_s.p95)),
            *(cells[number] for cells in more.values()),
            one.verdict,
        ]
        for number, one in enumerate(predictions)
    ]
    print_table([*head, "verdict"], rows)
    used = {one.calibration for one in predictions if one.calibration is not None}
    for known in sorted(used, key=lambda one: one.date):
        where = ",".join(known.hosts) or known.host
        when = known.date or "at an unknown time"
        say(f"calibrated {when} on {where} with {known.mpi}: {known.ratio:.3f}")
    for one in predictions:
        for note in one.notes:
            say(f"{name_of(one.hosts)}: {note}")
        if one.cores == SHARED_CORES:
            say(f"{name_of(one.hosts)}: {_SHARED}")
        print_doubts(one.doubts, name_of(one.hosts))


def check(
    predictions: Sequence[Prediction], failures: Sequence[Failure], *, strict: bool
) -> None:
    """Raise when nothing could be predicted, or nothing that is trusted.

    Failures of single sets have been logged when they happened.
    """
    from skelgen.prediction.trials import name_of

    if not predictions:
        first = failures[0]
        more = f" ({len(failures)} node sets failed)" if len(failures) > 1 else ""
        raise ApplicationError(f"{name_of(first.hosts)}: {first.reason}{more}")
    for one in predictions:
        check_trust(one.doubts, name_of(one.hosts), strict=strict)
