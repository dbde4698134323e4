"""Options that say under which load a model is asked, and what is told of it."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from skelgen.cli.options import consent_of, duration_s
from skelgen.documents.dates import moment_s
from skelgen.documents.numbers import NumberError
from skelgen.errors import UsageError
from skelgen.launch.hosts import parse_hosts
from skelgen.units import format_seconds

if TYPE_CHECKING:
    from skelgen.models.model import Model
    from skelgen.pipeline.load_requests import LoadRequest
    from skelgen.pipeline.model_loads import PredictedLoad
    from skelgen.trust import Interval

Load = Annotated[
    str,
    typer.Option(
        metavar="LOAD",
        help="Parts that others leave, cpu=0.5,bandwidth=0.8; or forecast: of --nodes, "
        "over the time that is predicted; or measured: of --run, or of --nodes in a "
        "past time.",
        show_default="nothing else runs there",
    ),
]
LoadNodes = Annotated[
    str,
    typer.Option(
        "--nodes",
        "--hosts",
        help="Where the run will be or was: n1,n2 or n[1-4]; with --skeleton also n1:2 "
        "(two ranks on n1).",
        show_default="with --skeleton this machine",
    ),
]
LoadSeries = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        help="CSV file of loads, as skelgen forecast takes it.",
        show_default="the store that --store names, else what the monitor keeps",
    ),
]
PastRun = Annotated[
    str,
    typer.Option(
        "--run", metavar="ID", help="With --load measured: a run of the store."
    ),
]
Begin = Annotated[
    str,
    typer.Option(
        "--from", metavar="TIME", help="With --load measured: begin, a date or seconds."
    ),
]
End = Annotated[
    str, typer.Option("--to", metavar="TIME", help="With --load measured: end.")
]
LoadSkeleton = Annotated[
    Path | None,
    typer.Option(
        metavar="SKEL",
        help="Run this skeleton on --hosts now; the answer is the time on quiet nodes "
        "times its slowdown.",
    ),
]
SkeletonBudget = Annotated[
    str, typer.Option(help="With --skeleton: no further run begins after this time.")
]


def load_request(
    load: str,
    nodes: str,
    series: Path | None,
    store: str | None,
    run: str,
    begin: str,
    end: str,
    skeleton: Path | None,
    budget: str,
    allow_command: bool,
    *,
    of_kept: bool = False,
) -> LoadRequest:
    """Read the options that say the load, and check that they belong together.

    Raises
    ------
    UsageError
    """
    from skelgen.pipeline.load_requests import LoadRequest, check_request
    from skelgen.pipeline.load_series import LoadSource

    found = LoadRequest(
        load=load,
        nodes=parse_hosts(nodes) if nodes else (),
        source=LoadSource(series, None if series is not None else store),
        store=store,
        run=run,
        begin=_moment(begin, "--from"),
        end=_moment(end, "--to"),
        skeleton=skeleton,
        budget_s=duration_s(budget, "--budget"),
        consent=consent_of(allow_command),
        of_kept=of_kept,
    )
    check_request(found)
    return found


def _moment(text: str, option: str) -> float:
    try:
        return moment_s(text) if text else math.nan
    except NumberError as error:
        raise UsageError(f"{option}: {error}") from error


def load_text(model: Model, load: PredictedLoad) -> str:
    """Return what people are told of the load of a prediction."""
    if load.slowdown is not None:
        return f"slowdown {_span(load.slowdown)}, by the skeleton"
    if load.source == "quiet":
        return _quiet(model)
    both = (("cpu", load.cpu), ("bandwidth", load.bandwidth))
    told = ", ".join(f"{name} {_span(one)}" for name, one in both if one is not None)
    if math.isfinite(load.horizon_s):
        return f"{told}, forecast for {format_seconds(load.horizon_s)}"
    return f"{told}, {load.source}"


def _span(one: Interval) -> str:
    if one.p5 == one.p95:
        return f"{one.p50:.3g}"
    return f"{one.p50:.3g} ({one.p5:.3g} to {one.p95:.3g})"


def _quiet(model: Model) -> str:
    """Say that nothing else is to run, and what the runs saw."""
    loads = [
        f"{one.input.name} {one.low:.3g} to {one.high:.3g}"
        for one in model.inputs
        if one.input.meaning.available
    ]
    if not loads:
        return "none: nothing else runs there"
    return (
        f"none: nothing else runs there; the runs had {', '.join(loads)}, say what is "
        "left with --load"
    )
