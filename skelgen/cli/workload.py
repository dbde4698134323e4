"""The commands of a workload study: plan, add, predict."""

from __future__ import annotations

import math
import shlex
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from skelgen.cli.keep_options import (
    KeptApplication,
    KeptInputs,
    StorePlace,
    keeping_of,
)
from skelgen.cli.options import Force, Json, Strict, Verbose
from skelgen.cli.output import (
    check_trust,
    print_doubts,
    print_facts,
    print_result,
    print_table,
    say,
)
from skelgen.cli.progress_bar import progress_bar
from skelgen.errors import UsageError
from skelgen.units import format_seconds

if TYPE_CHECKING:
    from skelgen.models.planning import Range
    from skelgen.workload import WorkloadTime
    from skelgen.workload.predicting import PartTime
    from skelgen.workload.types import Workload

workload = typer.Typer(
    help="Predict the time at workloads that were not recorded.",
    no_args_is_help=True,
    rich_markup_mode="rich",
)

StudyFile = Annotated[
    Path,
    typer.Argument(
        metavar="STUDY", help="YAML file of the recorded workloads.", show_default=False
    ),
]
At = Annotated[
    str,
    typer.Option(
        "--at",
        help="The workload: n=2500,iterations=200.",
        show_default=False,
    ),
]


class Selection(StrEnum):
    """How the next workload is chosen."""

    DISAGREEMENT = "disagreement"
    BISECTION = "bisection"


class Functions(StrEnum):
    """How functions are chosen."""

    COMBINATIONS = "combinations"
    THESIS = "thesis"
    DEFAULT = "default"


@workload.command(
    epilog="Example: [b]skelgen workload plan study.yaml --range n=1000:16000 -- "
    "mpirun -n 2 ./app {n}[/b]"
)
def plan(
    study: StudyFile,
    command: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[-- COMMAND]",
            help="Launch of the program with {n} where the value of n belongs; kept "
            "in the study.",
            show_default=False,
        ),
    ] = None,
    ranges: Annotated[
        list[str] | None,
        typer.Option(
            "--range",
            help="Where predictions are wanted, n=1000:16000, once for each dimension; "
            "kept in the study. Whole numbers, unless written 0.5:2.0.",
            show_default=False,
        ),
    ] = None,
    method: Annotated[
        Selection,
        typer.Option(
            help="Where the functions that still fit disagree most for the cost of "
            "a run, or the thesis' halves.",
        ),
    ] = Selection.DISAGREEMENT,
    json: Json = False,
    verbose: Verbose = 0,
) -> None:
    """Say which workload to record next, and how."""
    from skelgen.pipeline.workload import workload_plan
    from skelgen.results.workloads import WorkloadPlanResult

    found, step = workload_plan(
        study,
        ranges=tuple(_range(text) for text in ranges or ()),
        command=tuple(command or ()),
        method=method.value,
    )
    commands = []
    if step.workload is not None:
        commands = _commands(study, found.command, step.workload)
    if json:
        print_result(
            WorkloadPlanResult(
                workload=step.workload,
                reason=step.reason,
                uncertainty=step.uncertainty,
                recorded=len(found.points),
                commands=commands,
            )
        )
        return
    known = [("recorded", f"{len(found.points)} workloads")]
    if step.uncertainty is not None:
        known.append(("known to", f"+-{step.uncertainty:.1%} or better in the ranges"))
    chosen = "none" if step.workload is None else _written(step.workload)
    print_facts([*known, ("next", chosen), ("because", step.reason)])
    for line in commands:
        say(line)


@workload.command(
    epilog="Example: [b]skelgen workload add study.yaml run/ --at n=2000[/b]"
)
def add(
    study: StudyFile,
    run: Annotated[
        Path,
        typer.Argument(
            metavar="RUN",
            help="Folder of a recorded run, a phase signature, or what skelgen measure "
            "--json printed.",
            show_default=False,
        ),
    ],
    at: At,
    json: Json = False,
    verbose: Verbose = 0,
) -> None:
    """Add a recorded run to a study, which is made when there is none."""
    from skelgen.pipeline.workload import workload_add
    from skelgen.results.workloads import WorkloadAddResult

    with progress_bar() as progress:
        found, known = workload_add(study, run, _workload(at), progress=progress)
    point = found.points[-1]
    if json:
        print_result(
            WorkloadAddResult(
                recorded=len(found.points),
                phases=len(point.phases),
                application_s=point.application_s,
                known_share=known,
            )
        )
        return
    print_facts(
        [
            ("added", f"{_written(dict(point.at))} from {point.run}"),
            ("application", format_seconds(point.application_s)),
            ("in known phases", f"{known:.1%} of the time"),
            ("recorded", f"{len(found.points)} workloads"),
        ]
    )


@workload.command(
    epilog="Example: [b]skelgen workload predict study.yaml --at n=2500[/b]"
)
def predict(
    study: StudyFile,
    at: At,
    families: Annotated[
        Path | None,
        typer.Option(
            help="Study of another machine: its functions, with coefficients from the "
            "few workloads of STUDY.",
            show_default=False,
        ),
    ] = None,
    method: Annotated[
        Functions,
        typer.Option(
            help="Non-negative combinations chosen by errors at points left out, the "
            "thesis' procedure, or for times the family default of skelgen model."
        ),
    ] = Functions.COMBINATIONS,
    separately: Annotated[
        bool,
        typer.Option("--separately", help="Each dimension on its own, multiplied."),
    ] = False,
    picture: Annotated[
        Path | None,
        typer.Option(
            "-o",
            "--picture",
            help="SVG file for the points and functions of each phase.",
            show_default=False,
        ),
    ] = None,
    no_page: Annotated[
        bool,
        typer.Option("--no-page", help="Do not write the HTML page next to STUDY."),
    ] = False,
    store: StorePlace = None,
    app: KeptApplication = "",
    inputs: KeptInputs = None,
    strict: Strict = False,
    force: Force = False,
    json: Json = False,
    verbose: Verbose = 0,
) -> None:
    """Predict the time of the application at a workload.

    The page of the study, such as study.html, shows the answer with points and
    functions.
    """
    from skelgen.pipeline.workload import workload_predict
    from skelgen.results.workloads import WorkloadResult

    answer = workload_predict(
        study,
        _workload(at),
        families=families,
        method=method.value,
        separately=separately,
        picture=picture,
        force=force,
        page=not no_page,
        keeping=keeping_of(store, app, inputs),
    )
    found = answer.found
    if json:
        print_result(WorkloadResult.of(answer))
    else:
        _show(found, picture, answer.page)
    check_trust(found.doubts, strict=strict)


def _show(found: WorkloadTime, picture: Path | None, page: Path | None) -> None:
    print_table(
        ["phase", "weight", "time", "share", "error", "time [s]", "weight", "calls"],
        [_row(number, one, found) for number, one in enumerate(found.parts, start=1)],
    )
    time_s = found.time_s
    print_facts(
        [
            ("workload", _written(found.at)),
            (
                "application",
                f"{format_seconds(time_s.p50)} ({format_seconds(time_s.p5)} to "
                f"{format_seconds(time_s.p95)}, 90 %)",
            ),
            *([("picture", str(picture))] if picture is not None else []),
            *([("page", str(page))] if page is not None else []),
            ("verdict", found.verdict),
        ]
    )
    print_doubts(found.doubts)


def _row(number: int, one: PartTime, found: WorkloadTime) -> list[str]:
    names = [name.removeprefix("MPI_") for name in one.part.calls[:4]]
    return [
        str(number) if one.part.key else "rest",
        f"{one.weight.interval.p50:.0f}",
        format_seconds(one.time.interval.p50),
        f"{one.total_s / found.time_s.p50:.1%}",
        "-" if math.isnan(one.fits.time.error) else f"{one.fits.time.error:.1%}",
        one.fits.time.text,
        one.fits.weight.text,
        " ".join(names),
    ]


def _commands(study: Path, command: tuple[str, ...], at: Workload) -> list[str]:
    """Return the commands that record a workload and add it."""
    words = {name: _number(value) for name, value in at.items()}
    run = "run-" + "-".join(f"{name}{value}" for name, value in words.items())
    launch = []
    for word in command or ("mpirun", "..."):
        for name, value in words.items():
            word = word.replace(f"{{{name}}}", value)  # noqa: PLW2901
        launch.append(word)
    return [
        f"skelgen record -o {run} -- {shlex.join(launch)}",
        shlex.join(
            ["skelgen", "workload", "add", str(study), run, "--at", _written(at)]
        ),
    ]


def _written(at: Workload) -> str:
    return ",".join(f"{name}={_number(value)}" for name, value in at.items())


def _number(value: float) -> str:
    return str(int(value)) if value == int(value) else repr(value)


def _workload(text: str) -> Workload:
    """Read ``n=2500,iterations=200``."""
    found: Workload = {}
    for part in text.split(","):
        name, equals, value = (word.strip() for word in part.partition("="))
        try:
            number = float(value)
        except ValueError:
            number = math.nan
        if not (name.isidentifier() and equals and 0.0 <= number < math.inf):
            raise UsageError(
                f"--at {text}: {part.strip()!r} is not a dimension and its value, such "
                "as n=2500,iterations=200"
            )
        if name in found:
            raise UsageError(f"--at {text}: {name} is given twice")
        found[name] = number
    return found


def _range(text: str) -> Range:
    """Read ``n=1000:16000``."""
    from skelgen.models.planning import Range

    name, _, ends = text.partition("=")
    low, colon, high = ends.partition(":")
    try:
        values = float(low), float(high)
    except ValueError:
        values = math.nan, math.nan
    if not (name.isidentifier() and colon and all(map(math.isfinite, values))):
        raise UsageError(f"--range {text}: expected a range such as n=1000:16000")
    whole = "." not in ends and all(value.is_integer() for value in values)
    return Range(name, *values, whole=whole)
