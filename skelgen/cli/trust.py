"""The commands about how sure answers are: trust learn, trust show."""

from __future__ import annotations

import math
import shlex
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from skelgen.cli.keep_options import Within
from skelgen.cli.options import Json, Verbose, duration_s
from skelgen.cli.output import print_facts, print_result, print_table
from skelgen.errors import UsageError
from skelgen.trust.types import OWN_CORES, SHARED_CORES

if TYPE_CHECKING:
    from skelgen.pipeline.trust import KnownErrors
    from skelgen.trust.errors import MethodError

_CORES = {"": "", OWN_CORES: "(own cores)", SHARED_CORES: "(shared cores)"}

trust = typer.Typer(
    help="How far predictions are from the truth: learn it, show it.",
    no_args_is_help=True,
    rich_markup_mode="rich",
)


@trust.command(epilog="Example: [b]skelgen trust learn results.jsonl[/b]")
def learn(
    results: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="RESULTS...",
            help="Files with a JSON line for each result: runs of the accuracy "
            "benchmark, or predictions with method, application, predicted_s and "
            "truth_s. Or stores, whose predictions are compared with what happened.",
            show_default=False,
        ),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option(
            "-o",
            "--output",
            metavar="FILE",
            help="File to write; SKELGEN_TRUST=FILE then uses it.",
            show_default="that of this site, which is used from now on",
        ),
    ] = None,
    store: Annotated[
        str | None,
        typer.Option(
            "--store",
            metavar="FILE|URL",
            help="Store with predictions and what happened, as one of the RESULTS.",
            show_default=False,
        ),
    ] = None,
    within: Within = None,
    json: Json = False,
    verbose: Verbose = 0,
) -> None:
    """Learn the errors of methods from predictions whose truth is known.

    The file replaces the errors that come with skelgen.
    """
    from skelgen.pipeline.store_record import is_store, shown_store
    from skelgen.pipeline.trust import trust_learn

    given = [*(results or ()), *([store] if store else [])]
    if not given:
        raise UsageError(
            "nothing to learn from: name files of results, or --store for a store "
            "with predictions and what happened"
        )
    stores = [one for one in given if one == store or is_store(one)]
    files = [Path(one) for one in given if one not in stores]
    words = [
        "skelgen",
        "trust",
        "learn",
        *map(str, files),
        *map(shown_store, stores),
    ]
    found = trust_learn(
        files,
        output,
        command=shlex.join(words),
        date=datetime.now(UTC).date().isoformat(),
        widen=True,
        stores=stores,
        within_s=None if within is None else duration_s(within, "--within"),
    )
    _tell(found, json=json)


@trust.command(epilog="Example: [b]skelgen trust show[/b]")
def show(json: Json = False, verbose: Verbose = 0) -> None:
    """Show which errors are in use, and what they were learnt from."""
    from skelgen.pipeline.trust import known_errors

    _tell(known_errors(), json=json)


def _tell(known: KnownErrors, *, json: bool) -> None:
    from skelgen.results.serving import TrustResult

    if json:
        print_result(TrustResult.of(known))
        return
    origin = known.provenance
    print_facts(
        [
            ("file", str(known.path)),
            ("made", f"{origin.date}, {origin.command}"),
            ("from", ", ".join(origin.results)),
        ]
    )
    print_table(
        ["method", "applications", "cases", "error", "held", "least", "of", "learnt"],
        [_row(one, known) for one in known.errors.entries],
    )


def _row(one: MethodError, known: KnownErrors) -> list[str]:
    learnt = "here" if one.method in known.own else "with skelgen"
    return [
        " ".join(filter(None, (one.method, one.family, _CORES[one.cores]))),
        str(one.applications),
        str(one.cases),
        f"-{-math.expm1(-one.half_width):.1%} +{math.expm1(one.half_width):.1%}",
        f"{one.held:.0%}",
        f"{one.least_held:.0%}",
        one.least_application,
        f"{learnt}, widened: few applications" if one.widened else learnt,
    ]
