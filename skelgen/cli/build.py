"""The command that builds a skeleton."""

from __future__ import annotations

import math
import shlex
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from skelgen.cli.options import (
    AllowCommand,
    Force,
    Json,
    RunFolder,
    Strict,
    Verbose,
    consent_of,
    duration_s,
)
from skelgen.cli.output import print_facts, print_result
from skelgen.cli.progress_bar import progress_bar
from skelgen.errors import SkelgenError, UsageError
from skelgen.units import format_seconds

if TYPE_CHECKING:
    from skelgen.pipeline.build import Built
    from skelgen.reference.calibration import Mix

MIB = 1 << 20


def build(
    source: Annotated[
        Path,
        typer.Argument(
            metavar="RUN|SIGNATURE",
            help="Folder of a recorded run, or a stored signature.",
            show_default=False,
        ),
    ],
    scaling_factor: Annotated[
        float | None,
        typer.Option(
            "--scale",
            "--scaling-factor",
            help="Scaling factor K: the skeleton takes 1/K of the application's time.",
        ),
    ] = None,
    target_time: Annotated[
        str, typer.Option(help="Time of the skeleton instead of K, such as 5s.")
    ] = "",
    output: Annotated[
        Path | None,
        typer.Option(
            "-o", "--output", help="Folder for the skeleton.", show_default="NAME-kK"
        ),
    ] = None,
    force: Force = False,
    similarity_threshold: Annotated[
        str,
        typer.Option(
            help="0 (identical events only) to 1, or auto: raised until the signature "
            "is K/2 times shorter than the trace, as in the 2005 paper."
        ),
    ] = "",
    compute_mix: Annotated[
        str,
        typer.Option(
            help="Shares of arithmetic, streaming and pointer chasing in the "
            "computation, and if wanted their working set in MiB: 60,30,10,12. Or "
            "touched: by the memory that the recorder saw it touch.",
            show_default="as skelgen mix fitted it, or touched, or 100,0,0",
        ),
    ] = "",
    method: Annotated[
        str,
        typer.Option(
            metavar="NAME",
            help="whole-events, or paper2005: rules of the 2005 paper, which divide "
            "each rank on its own, to compare with.",
        ),
    ] = "whole-events",
    strict: Strict = False,
    json: Json = False,
    verbose: Verbose = 0,
) -> None:
    """Build a skeleton: a short C/MPI program that behaves like the application."""
    from skelgen.pipeline.build import BuildOptions
    from skelgen.pipeline.build import build as run_build
    from skelgen.pipeline.build_team import launched
    from skelgen.pipeline.build_team import team as run_team
    from skelgen.results.running import BuildResult

    options = BuildOptions(
        scaling_factor=scaling_factor,
        target_s=duration_s(target_time, "--target-time") if target_time else None,
        similarity_threshold=_threshold(similarity_threshold),
        compute_mix=_mix(compute_mix),
        strict=strict,
        method=method,
    )
    try:
        with run_team() as team, progress_bar(shown=team.rank == 0) as progress:
            built = run_build(
                source,
                output,
                options=options,
                force=force,
                progress=progress,
                team=team,
            )
    except SkelgenError as error:
        if launched()[0]:  # the first process says it
            raise typer.Exit(int(error.exit_code)) from error
        raise
    if built is None:
        return
    if json:
        print_result(BuildResult.of(built))
    else:
        _print(built)


def _print(built: Built) -> None:
    output = shlex.quote(str(built.output))
    print_facts(
        [
            ("K", f"{built.scaling_factor:.4g}"),
            ("signature", f"{built.signature_items} items"),
            ("skeleton", f"{built.skeleton_events} events"),
            ("computation", _computation(built)),
            ("expected", format_seconds(built.expected_s)),
            *([("divided", built.divided)] if built.divided else []),
            ("dropped", f"{built.dropped_share:.2%} of the application's time"),
            *(
                (
                    "left out",
                    f"{one.calls} calls, {format_seconds(one.time_s)} of all ranks, "
                    f"{one.share:.2%} of the time: {one.what}",
                )
                for one in built.left_out
            ),
            ("output", str(built.output)),
            ("next", f"make -C {output} && skelgen calibrate {output}"),
        ]
    )


#: What the words of `Built.mix_origin` say of the computation.
_ORIGINS = {
    "fitted": "as skelgen mix fitted it",
    "touched": "by the memory that it touches",
    "typed": "as typed",
}


def _computation(built: Built) -> str:
    """Say what computation consists of, and how that is known."""
    if built.mix_origin not in _ORIGINS:
        return "arithmetic"
    return f"{built.mix}: {_ORIGINS[built.mix_origin]}"


def _threshold(text: str) -> float | str | None:
    """Read ``auto`` or a number from 0 to 1; None when the option is not given."""
    if text in ("", "auto"):
        return text or None
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0 <= value <= 1:
        raise UsageError(
            f"--similarity-threshold {text}: expected auto or a number from 0 to 1"
        )
    return value


def _mix(text: str) -> Mix | Literal["touched"] | None:
    """Read ``touched``, or three shares, brought to the sum 1, and a working set."""
    if not text:
        return None
    if text == "touched":
        return "touched"
    from skelgen.reference.calibration import Mix

    try:
        parts = [float(part) for part in text.split(",")]
    except ValueError:
        parts = []
    shares, sizes = parts[:3], parts[3:]
    if (
        len(parts) not in (3, 4)
        or min(parts) < 0
        or not 0 < sum(shares) <= sum(parts) < math.inf
    ):
        raise UsageError(
            f"--compute-mix {text}: expected three shares (arithmetic, streaming, "
            "pointer chasing) and if wanted a working set [MiB], such as 60,30,10 or "
            "60,30,10,4, or touched"
        )
    arithmetic, streaming, chasing = (share / sum(shares) for share in shares)
    read = Mix(arithmetic, streaming, chasing)
    return replace(read, working_set_bytes=round(sizes[0] * MIB)) if sizes else read


def mix(
    run: RunFolder,
    command: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[COMMAND]",
            help="After --: another launch of the application, such as a shorter one "
            "or one on this machine.",
            show_default=False,
        ),
    ] = None,
    runs: Annotated[
        int,
        typer.Option(
            min=1,
            help="Most runs of the application while the competitors come and go; one "
            "is enough on a quiet machine. An application that computes for seconds "
            "between its calls runs three times instead: quiet and next to each.",
        ),
    ] = 3,
    allow_command: AllowCommand = False,
    json: Json = False,
    verbose: Verbose = 0,
) -> None:
    """Fit what computation consists of: run the application next to known competitors.

    One keeps the cores of the ranks busy, one streams memory. The result is kept in
    the run's folder, where build finds it.
    """
    from skelgen.pipeline.mix import fit_mix
    from skelgen.reference.competitors import COMPETITORS
    from skelgen.reference.mix_fit import off

    with progress_bar() as progress:
        fitted = fit_mix(
            run,
            command or (),
            runs=runs,
            consent=consent_of(allow_command),
            progress=progress,
        )
    if json:
        from skelgen.results.serving import MixResult

        print_result(MixResult.of(fitted))
        return
    rows = [("mix", f"{fitted.mix} (arithmetic, streaming, chasing [%], set [MiB])")]
    for name, wanted, got in zip(COMPETITORS, fitted.wanted, fitted.got, strict=True):
        rows.append(
            (f"next to {name}", f"application {wanted:.3f} x, mix {got:.3f} x the time")
        )
    rows.append(("known to", f"{fitted.uncertainty:.1%}, runs: {fitted.runs}"))
    alone = off(fitted.wanted, (1.0, 1.0))
    rows.append(("error", f"{fitted.error:.1%}; of arithmetic alone {alone:.1%}"))
    again = f"skelgen build {shlex.quote(str(run))} --scale K"
    print_facts([*rows, ("next", again)])
