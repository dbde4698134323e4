"""The command that executes the phases of an application."""

from __future__ import annotations

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
    Json,
    QueueLimit,
    Strict,
    ThroughWay,
    Verbose,
    consent_of,
    share,
    through_of,
)
from skelgen.cli.output import (
    check_trust,
    print_doubts,
    print_facts,
    print_result,
    print_table,
)
from skelgen.cli.progress_bar import progress_bar
from skelgen.errors import UsageError
from skelgen.launch.hosts import parse_hosts, read_hostfile
from skelgen.launch.way import Way
from skelgen.units import format_seconds

if TYPE_CHECKING:
    from skelgen.pipeline.measure import Measurement


def measure(
    signature: Annotated[
        Path,
        typer.Argument(
            metavar="SIG",
            help="Phase signature (skelgen phases RUN -o SIG), or a recorded run.",
            show_default=False,
        ),
    ],
    command: ApplicationCommand = None,
    backend: Annotated[
        str,
        typer.Option(
            help="How phases are executed: live (from the start, then stopped), criu "
            "(from images), or auto: live unless they come late and images are kept "
            "(--images)."
        ),
    ] = "auto",
    hosts: Annotated[
        str,
        typer.Option(
            help="Where it runs: n1,n2 or n[1-4] or n1:2.",
            show_default="where the command says",
        ),
    ] = "",
    hostfile: Annotated[
        Path | None,
        typer.Option(help="The same in a file, of Open MPI or of MPICH."),
    ] = None,
    warm_up: Annotated[
        int,
        typer.Option(help="First occurrences of a phase not measured.", min=0, max=8),
    ] = 1,
    occurrences: Annotated[
        int | None,
        typer.Option(
            help="Measured ones of each phase, at least (live).",
            min=1,
            max=15,
            show_default="1",
        ),
    ] = None,
    run_share: Annotated[
        str | None,
        typer.Option(
            "--share",
            help="Measure more of them within this share of the application's time, "
            "and let them cost as much (live).",
            show_default="6%, or 8% where that is too little",
        ),
    ] = None,
    restores: Annotated[
        int | None,
        typer.Option(help="Executions of each image (criu).", min=1, show_default="3"),
    ] = None,
    images: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            help="Keep images there, and use those that it holds.",
            show_default="they are removed",
        ),
    ] = None,
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
    """Execute the phases of an application and predict its time from theirs."""
    from skelgen.phase_execution.backends import backends
    from skelgen.phase_execution.plan import ExecutedExtent
    from skelgen.pipeline.measure import measure as run_measure
    from skelgen.results.measurements import MeasureResult

    if backend not in (known := ["auto", *backends()]):
        raise UsageError(f"--backend {backend}: expected {', '.join(known)}")
    if hosts and hostfile is not None:
        raise UsageError("give --hosts or --hostfile, not both")
    _check_backend(
        backend,
        of_images=(restores, images) != (None, None),
        of_runs=(occurrences, run_share) != (None, None),
    )
    given = share(run_share, "--share", whole=True) if run_share else None
    shares = () if given is None else (given, given, given)
    found = parse_hosts(hosts) if hosts else ()
    with progress_bar() as progress:
        done = run_measure(
            signature,
            tuple(command or ()),
            backend=backend,
            hosts=read_hostfile(hostfile) if hostfile is not None else found,
            extent=ExecutedExtent(warm_up, occurrences or 1, *shares),
            restores=restores,
            images=images,
            through=through_of(through, batch_options, queue_limit),
            consent=consent_of(allow_command),
            keeping=keeping_of(store, app, inputs),
            progress=progress,
        )
    if json:
        print_result(MeasureResult.of(done))
    else:
        _show(done)
    check_trust(done.estimate.doubts, strict=strict)


def _check_backend(backend: str, *, of_images: bool, of_runs: bool) -> None:
    """Refuse options that belong to another backend.

    Raises
    ------
    UsageError
    """
    if backend == "live" and of_images:
        raise UsageError(
            "--backend live makes no images: leave --restores and --images out, or "
            "give --backend criu"
        )
    if backend not in ("auto", "live") and of_runs:
        raise UsageError(
            "images are of one occurrence of each phase: leave --occurrences and "
            "--share out, or give --backend live"
        )


def _show(done: Measurement) -> None:
    found = done.estimate
    print_table(
        ["phase", "weight", "measured", "time", "+-", "share"],
        [
            [
                str(phase.number),
                str(phase.weight),
                str(phase.occurrences),
                format_seconds(phase.pet_s),
                f"{phase.spread:.1%}",
                f"{phase.share:.1%}",
            ]
            for phase in found.phases
        ],
    )
    time_s = found.time_s
    rows = [
        (
            "predicted",
            f"{format_seconds(time_s.p50)}  ({format_seconds(time_s.p5)} to "
            f"{format_seconds(time_s.p95)})",
        ),
        ("measuring took", f"{format_seconds(done.set_s)}  ({done.backend})"),
    ]
    if done.aet_s is not None:
        error = time_s.p50 / done.aet_s - 1 if done.aet_s else 0.0
        rows.append(("recorded", f"{format_seconds(done.aet_s)}  ({error:+.2%})"))
    print_facts([*rows, ("verdict", found.verdict)])
    print_doubts(found.doubts)
