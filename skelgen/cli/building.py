"""The command that builds a skeleton."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from skelgen import pipeline
from skelgen.cli.bar import progress_bar
from skelgen.cli.options import Force, Json, Strict, Verbose, duration_s
from skelgen.cli.output import print_facts, print_json
from skelgen.errors import UsageError
from skelgen.units import format_seconds


def build(
    source: Annotated[
        Path,
        typer.Argument(
            metavar="RUN|SIGNATURE",
            help="Folder of a recorded run, or a stored signature.",
            show_default=False,
        ),
    ],
    scale: Annotated[
        float | None,
        typer.Option(help="K: the skeleton takes 1/K of the application's time."),
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
            "computation, such as 60,30,10."
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
    """Build a skeleton: a short C/MPI program that stands for the application."""
    options = pipeline.BuildOptions(
        scale=scale,
        target_s=duration_s(target_time, "--target-time") if target_time else None,
        similarity_threshold=_threshold(similarity_threshold),
        compute_mix=_mix(compute_mix),
        strict=strict,
        method=method,
    )
    with progress_bar() as progress:
        built = pipeline.build(
            source, output, options=options, force=force, progress=progress
        )
    if json:
        print_json(built.facts())
        return
    print_facts(
        [
            ("scale", f"{built.scale:.4g}"),
            ("signature", f"{built.signature_items} items"),
            ("skeleton", f"{built.skeleton_events} events"),
            ("expected", format_seconds(built.expected_s)),
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
            ("next", f"make -C {built.output} && skelgen calibrate {built.output}"),
        ]
    )


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


def _mix(text: str) -> tuple[float, float, float] | None:
    """Read three shares and bring their sum to 1; None when not given."""
    if not text:
        return None
    try:
        parts = [float(part) for part in text.split(",")]
    except ValueError:
        parts = []
    if len(parts) != 3 or min(parts) < 0 or not 0 < sum(parts) < float("inf"):
        raise UsageError(
            f"--compute-mix {text}: expected three shares (arithmetic, streaming, "
            "pointer chasing) such as 60,30,10"
        )
    total = sum(parts)
    return parts[0] / total, parts[1] / total, parts[2] / total
