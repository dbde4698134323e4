"""The command model couple: the time of a loop from its kernels alone and in chains."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from skelgen.cli.model_runs import Columns, InputNames, Source, run_source
from skelgen.cli.options import Json, StorePlace, Strict, Verbose
from skelgen.cli.output import (
    check_trust,
    print_doubts,
    print_facts,
    print_result,
    print_table,
    say,
)
from skelgen.cli.progress_bar import progress_bar
from skelgen.cli.store import App, Conditions
from skelgen.trust import verdict_of
from skelgen.units import format_seconds

if TYPE_CHECKING:
    from skelgen.models.kernel_prediction import (
        CoupledChain,
        KernelAlone,
        LoopPrediction,
    )

#: What people read of the effect of kernels on each other.
_EFFECTS = {"share": "share", "disturb": "disturb each other", "not seen": "not seen"}


def couple(
    runs: Source = "",
    at: Annotated[
        str,
        typer.Option(
            metavar="VALUES",
            help="Where to predict the loop: n=64,ranks=2.",
            show_default="where all runs are",
        ),
    ] = "",
    chain: Annotated[
        int, typer.Option(help="Number of kernels in a chain.", min=2)
    ] = 2,
    order: Annotated[
        str,
        typer.Option(
            metavar="KERNELS",
            help="Kernels of the loop in the order in which they run: a,b,c.",
            show_default="by the chains",
        ),
    ] = "",
    family: Annotated[
        list[str] | None,
        typer.Option(
            "--family",
            metavar="FAMILY",
            help="Form of the models of kernels that were not run there: cubic, or "
            "x_solve=cubic for one of them. Can be repeated.",
            show_default="default",
        ),
    ] = None,
    template: Annotated[
        list[str] | None,
        typer.Option(
            "--template",
            metavar="KERNEL=FORMULA",
            help="Formula of the model of a kernel that was not run there, such as "
            "'x_solve=a*n^3/ranks + b'. Can be repeated.",
            show_default="--family finds one",
        ),
    ] = None,
    app: App = None,
    where: Conditions = None,
    columns: Columns = "",
    inputs: InputNames = "",
    place: StorePlace = None,
    strict: Strict = False,
    json: Json = False,
    verbose: Verbose = 0,
) -> None:
    """Predict a loop from its kernels, measured alone and in chains."""
    from skelgen.pipeline.model import asked_values
    from skelgen.pipeline.model_couple import LoopQuestion, model_couple

    source = run_source(runs, place, app, where, columns, inputs)
    question = LoopQuestion(
        asked_values(at, "--at") if at else {},
        chain,
        tuple(name.strip() for name in order.split(",")) if order else (),
        tuple(family or ()),
        tuple(template or ()),
    )
    with progress_bar() as progress:
        found = model_couple(source, question, progress=progress)
    if json:
        from skelgen.results.model_couplings import ModelCoupleResult

        print_result(ModelCoupleResult.of(found))
    else:
        _tell(found)
    check_trust(found.doubts, strict=strict)


def _tell(found: LoopPrediction) -> None:
    low, middle, high = map(
        format_seconds, (found.time_s.p5, found.time_s.p50, found.time_s.p95)
    )
    rows = [
        ("time", f"{middle}  (90 %: {low} to {high}){_shown_error(found, 'coupled')}"),
        ("sum", f"{format_seconds(found.sum_s)}{_shown_error(found, 'sum')}"),
    ]
    if found.measured:
        shown = format_seconds(found.measured.time_s)
        rows.append(("measured", f"{shown}  ({_runs(found.measured.runs)})"))
    rows += [("at", _place(found.at)), ("chains at", _place(found.coupled_at))]
    print_facts([*rows, ("verdict", verdict_of(found.doubts))])
    head = ["kernel", "alone", "from", "weight", "in the loop"]
    print_table(head, [_kernel_row(one) for one in found.kernels])
    head = ["chain", "together", "sum alone", "coupling", "effect", "runs"]
    print_table(head, [_chain_row(one) for one in found.chains])
    for note in found.notes:
        say(note)
    print_doubts(found.doubts)


def _shown_error(found: LoopPrediction, which: str) -> str:
    time_s = found.time_s.p50 if which == "coupled" else found.sum_s
    error = found.error_of(time_s)
    return "" if error is None else f"  error {error:+.1%}"


def _place(at: tuple[tuple[str, float], ...]) -> str:
    return (
        ", ".join(f"{name}={value:g}" for name, value in at) or "the size of all runs"
    )


def _runs(runs: int) -> str:
    return "1 run" if runs == 1 else f"{runs} runs"


def _kernel_row(one: KernelAlone) -> list[str]:
    return [
        one.name,
        format_seconds(one.time_s.p50),
        f"{one.model.family}: {one.model.text}" if one.model else _runs(one.runs),
        f"{one.weight:.3f}",
        format_seconds(one.weight * one.time_s.p50),
    ]


def _chain_row(one: CoupledChain) -> list[str]:
    coupling = one.coupling
    return [
        "+".join(coupling.chain),
        format_seconds(coupling.together_s),
        format_seconds(coupling.together_s / coupling.value),
        f"{coupling.value:.3f}",
        _EFFECTS[one.effect],
        str(one.runs),
    ]
