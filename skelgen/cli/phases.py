"""The commands that show the phases of a run, and compare those of two."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperGroup

from skelgen.cli.options import Force, Json, Verbose, share
from skelgen.cli.output import print_facts, print_result, print_table
from skelgen.cli.phases_ticks import ticks
from skelgen.cli.progress_bar import progress_bar
from skelgen.units import format_seconds

if TYPE_CHECKING:
    from skelgen.phases.compare import Pair
    from skelgen.phases.stored import PhaseSignature
    from skelgen.phases.types import NestLevel, Parameters, Phase

logger = logging.getLogger(__name__)

#: Names of MPI functions that one line of the table shows.
_MOST_CALLS = 6
#: Share of the time in no phase that is shown: signatures of earlier versions have it.
_SHOWN = 5e-5


class _Showing(TyperGroup):
    """A group whose first command need not be named: skelgen phases run/."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        named = args[:1] and args[0] in {*self.commands, *ctx.help_option_names}
        return super().parse_args(ctx, args if named else ["show", *args])


phases = typer.Typer(
    cls=_Showing,
    help="Show the phases of a run, compare those of two runs, or show the logical "
    "trace. Without the name of a command: show.",
    rich_markup_mode="rich",
    epilog="Example: [b]skelgen phases run/ -o signatures/app[/b]",
)

Source = Annotated[
    Path,
    typer.Argument(
        metavar="RUN",
        help="Folder of a recorded run, or a phase signature.",
        show_default=False,
    ),
]


Relevance = Annotated[
    str | None,
    typer.Option(
        help="Smallest share of the time of a phase that counts.  [default: 1%]",
        show_default=False,
    ),
]
Longest = Annotated[
    str | None,
    typer.Option(
        help="Divide an iteration that takes more of the time into phases inside. "
        "Default: the level with the least expected error for the time that measuring "
        "takes.",
        show_default=False,
    ),
]
TimeSimilarity = Annotated[
    str | None,
    typer.Option(
        help="Divide a phase where its times jump for the rest of the run: shorter "
        "over longer.  [default: 50%]",
        show_default=False,
    ),
]
Output = Annotated[
    Path | None,
    typer.Option(
        "-o",
        "--output",
        help="Folder to store the phase signature in, as phases.yaml.",
        show_default=False,
    ),
]
Picture = Annotated[
    Path | None,
    typer.Option(
        help="SVG file to draw the phases into, over time and ranks.",
        show_default=False,
    ),
]


@phases.command(epilog="Example: [b]skelgen phases run/ --picture phases.svg[/b]")
def show(
    source: Source,
    relevance: Relevance = None,
    longest: Longest = None,
    time_similarity: TimeSimilarity = None,
    output: Output = None,
    picture: Picture = None,
    force: Force = False,
    json: Json = False,
    verbose: Verbose = 0,
) -> None:
    """Show the phases of a run: what comes again and again, how often, how long."""
    from skelgen.pipeline.phases import phases as run_phases
    from skelgen.results.phases import PhasesResult

    parameters = _parameters(relevance, longest, time_similarity)
    with progress_bar() as progress:
        found = run_phases(
            source,
            parameters,
            output=output,
            picture=picture,
            force=force,
            progress=progress,
        )
    if json:
        print_result(PhasesResult.of(found))
    else:
        _print(found, {"stored": output, "picture": picture})


@phases.command(epilog="Example: [b]skelgen phases diff run-1/ signatures/app[/b]")
def diff(
    before: Source,
    after: Source,
    json: Json = False,
    verbose: Verbose = 0,
) -> None:
    """Compare the relevant phases of two runs of the same program.

    Phases belong together when the same ranks make the same kinds of calls with the
    same partners in them.
    """
    from skelgen.phases.compare import compare
    from skelgen.pipeline.phases import phases as run_phases
    from skelgen.results.phases import PhasesDiffResult

    with progress_bar() as progress:
        runs = [run_phases(source, progress=progress) for source in (before, after)]
    if runs[0].parameters != runs[1].parameters:
        logger.warning("the phases of the two were found with different thresholds")
    pairs = compare(*runs)
    if json:
        print_result(PhasesDiffResult.of(pairs, runs))
    else:
        _print_pairs(pairs, runs)


phases.command(epilog="Example: [b]skelgen phases ticks run/ --first 100[/b]")(ticks)


def _print_pairs(pairs: Sequence[Pair], runs: Sequence[PhaseSignature]) -> None:
    head = ["phases", "weight", "", "time", "", "change", "share", "", "calls"]
    rows = []
    for pair in pairs:
        sides = pair.before, pair.after
        known = [phase for phase in sides if phase is not None]
        change = "new" if pair.before is None else "lost"
        if pair.before is not None and pair.after is not None and pair.before.time_s:
            change = f"{pair.after.time_s / pair.before.time_s - 1:+.1%}"
        rows.append(
            [
                " ".join(str(phase.number) if phase else "-" for phase in sides),
                *(str(phase.weight) if phase else "-" for phase in sides),
                *(format_seconds(phase.time_s) if phase else "-" for phase in sides),
                change,
                *(f"{phase.share:.1%}" if phase else "-" for phase in sides),
                _shortened(known[-1].calls),
            ]
        )
    print_table(head, rows)
    print_facts(
        [
            (name, " -> ".join(format_seconds(value) for value in values))
            for name, values in (
                ("application", [run.application_s for run in runs]),
                ("time x weight", [run.predicted_s for run in runs]),
            )
        ]
    )


def _parameters(
    relevance: str | None, longest: str | None, time_similarity: str | None
) -> Parameters | None:
    """Read the options that say what a phase is; None when there is none."""
    from skelgen.phases.types import Parameters

    given = {
        "relevance": relevance,
        "longest": longest,
        "time_similarity": time_similarity,
    }
    values = {
        name: share(text, f"--{name.replace('_', '-')}")
        for name, text in given.items()
        if text is not None
    }
    return Parameters(**values) if values else None


def _sorted(signature: PhaseSignature) -> list[Phase]:
    return sorted((one.phase for one in signature.phases), key=lambda one: -one.share)


def _print(signature: PhaseSignature, files: dict[str, Path | None]) -> None:
    print_table(
        ["phase", "weight", "time", "+-", "share", "events", "calls", "where"],
        [
            [
                str(phase.number),
                str(phase.weight),
                format_seconds(phase.time_s),
                f"{phase.spread:.1%}",
                f"{phase.share:.1%}",
                str(phase.events),
                _shortened(phase.calls, phase.part),
                phase.stratum,
            ]
            for phase in _sorted(signature)
        ],
    )
    if signature.levels:
        _print_levels(signature.levels)
    whole_s, paet_s = signature.application_s, signature.predicted_s
    missing = paet_s / whole_s - 1 if whole_s else 0.0
    rest = max(0.0, 1 - signature.covered_share - signature.others_share)
    print_facts(
        [
            ("application", format_seconds(whole_s)),
            ("time x weight", f"{format_seconds(paet_s)} ({missing:+.2%})"),
            (
                "not covered",
                f"{signature.others_share:.2%} in smaller phases ({signature.others})"
                + (f", {rest:.2%} at the ends of the run" if rest > _SHOWN else ""),
            ),
            *((what, str(file)) for what, file in files.items() if file is not None),
        ]
    )


def _print_levels(levels: Sequence[NestLevel]) -> None:
    """Print what measuring costs at this level of the loops, and next to it."""
    print_table(
        ["level", "phases", "occurrences", "error", "cost", ""],
        [
            [
                f"--longest {level.longest:.2g}",
                str(level.phases),
                str(level.occurrences),
                f"+-{level.error:.1%}",
                f"{level.cost:.1%}",
                "chosen" if level.chosen else "",
            ]
            for level in levels
        ],
    )


def _shortened(calls: tuple[str, ...], part: str = "body") -> str:
    names = [] if part == "body" else [f"({part})"]
    names += [name.removeprefix("MPI_") for name in calls[:_MOST_CALLS]]
    more = len(calls[_MOST_CALLS:])
    return " ".join(names) + (f" and {more} more" if more else "")
