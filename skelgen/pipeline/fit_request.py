"""A model that somebody wants, the words for it in a terminal, and the answer."""

from __future__ import annotations

import functools
import shlex
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from skelgen.errors import InputError
from skelgen.models.families.polynomials import POLYNOMIALS
from skelgen.models.model import Model
from skelgen.models.next_run import NextRun, next_runs
from skelgen.models.residuals import Residual, residuals_of
from skelgen.models.runs import RunTable
from skelgen.pipeline.kept_model import digest_of
from skelgen.pipeline.load_requests import LoadRequest
from skelgen.pipeline.model import (
    RunSource,
    good_runs,
    other_numbers,
    table_of,
)
from skelgen.pipeline.model_draw import with_quantity
from skelgen.pipeline.model_keep import FittedModel, fit_runs
from skelgen.pipeline.model_loads import LoadedPrediction
from skelgen.pipeline.model_quantity import (
    asked_quantity,
    model_of_quantity,
    predict_quantity,
)
from skelgen.pipeline.run_pool import written
from skelgen.pipeline.store_record import shown_store
from skelgen.progress import NO_PROGRESS
from skelgen.store import Run
from skelgen.web.model_picture import render_model

#: Models of requests that are kept in memory: a page and its pictures need the same.
_MOST_KEPT = 16
#: So many runs for a curve, and for the default, take about two seconds at most.
_QUICK_CURVE, _QUICK = 5000, 200
#: Runs that are offered to be made next.
_NEXT = 4


@dataclass(frozen=True, slots=True)
class FitRequest:
    """A model that somebody wants.

    Attributes
    ----------
    application : str
    family : str
    where : tuple of str
        Conditions on its runs.
    inputs : tuple of str
        Empty: all that are numbers and vary.
    quantity : str
        ``time``, ``speedup``, ``efficiency`` or ``rate:n^3``.
    at : tuple of (str, float)
        What is predicted; empty: nothing.
    """

    application: str
    family: str = "default"
    where: tuple[str, ...] = ()
    inputs: tuple[str, ...] = ()
    quantity: str = "time"
    at: tuple[tuple[str, float], ...] = ()

    def source(self, place: str | None) -> RunSource:
        """Return where its runs are."""
        return RunSource(
            store=place,
            application=self.application,
            where=self.where,
            inputs=self.inputs,
        )

    @property
    def options(self) -> dict[str, str | Sequence[str]]:
        """Options of all commands about it, by name."""
        return {
            "app": self.application,
            "where": self.where,
            "inputs": ",".join(self.inputs),
            "family": self.family,
        }

    @property
    def asked(self) -> str:
        """What is predicted, as commands take it."""
        return ",".join(f"{name}={written(value)}" for name, value in self.at)

    @property
    def of_quantity(self) -> dict[str, str]:
        """The option of a quantity that is no time."""
        return {"quantity": self.quantity} if self.quantity != "time" else {}


@dataclass(frozen=True, slots=True)
class FitAnswer:
    """A model that was fitted, and what is said of it.

    Attributes
    ----------
    request : FitRequest
    fitted : FittedModel
        Of times.
    shown : Model
        Of the quantity.
    runs : RunTable or None
        With the quantity; None where no run has it.
    said : LoadedPrediction or None
        At what is asked; None where nothing is, or there is no answer.
    problem : str
        Why there is none.
    residuals : tuple of Residual
    next_runs : tuple of NextRun
        The best first.
    picture : str
        The model with its runs and what is asked, as SVG; empty where there is none.
    marked : bool
        Whether what is asked is in it.
    """

    request: FitRequest
    fitted: FittedModel
    shown: Model
    runs: RunTable | None
    said: LoadedPrediction | None = None
    problem: str = ""
    residuals: tuple[Residual, ...] = ()
    next_runs: tuple[NextRun, ...] = ()
    picture: str = ""
    marked: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class _KnownRuns:
    """Runs that are the same when their identities are."""

    digest: str
    runs: tuple[Run, ...] = field(repr=False)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _KnownRuns) and self.digest == other.digest

    def __hash__(self) -> int:
        return hash(self.digest)


def is_quick(request: FitRequest, runs: int) -> bool:
    """Say whether a model takes no longer than a page may."""
    if request.family in {"least-error", *(one.name for one in POLYNOMIALS)}:
        return runs <= _QUICK_CURVE
    return request.family == "default" and runs <= _QUICK


def wanted_runs(place: str | None, request: FitRequest) -> list[Run]:
    """Return the runs that a request is about.

    Raises
    ------
    InputError
        When there are none that ended well.
    """
    return good_runs(request.source(place), NO_PROGRESS)


def fit_answer(
    place: str | None, request: FitRequest, runs: Sequence[Run]
) -> FitAnswer:
    """Fit a model and ask it, as the commands do; nothing is kept.

    Parameters
    ----------
    place : str, optional
        Of the store.
    request : FitRequest
    runs : sequence of Run
        As `wanted_runs` returns them.

    Raises
    ------
    InputError
        When the runs do not determine a model of the family.
    UsageError
        When the quantity is none.
    """
    loads = ",".join(f"{one.loads}" for one in runs)
    known = _KnownRuns(f"{digest_of(runs)}{hash(loads)}", tuple(runs))
    return _answer(place, request, known)


@functools.lru_cache(maxsize=_MOST_KEPT)
def _answer(place: str | None, request: FitRequest, known: _KnownRuns) -> FitAnswer:
    source = request.source(place)
    fitted = fit_runs(source, known.runs, request.family)
    quantity = asked_quantity(request.quantity)
    shown = model_of_quantity(fitted, quantity)
    table = table_of(known.runs, source)
    measured = with_quantity(table, quantity, other_numbers(known.runs, table))
    said, problem = None, ""
    request = replace(request, at=_known(fitted.model, request.at))
    if request.at:
        try:
            asked = predict_quantity(
                fitted,
                dict(request.at),
                quantity,
                LoadRequest(),
                progress=NO_PROGRESS,
            )
            said = asked.answer
        except InputError as error:
            problem = str(error)
    return FitAnswer(
        request,
        fitted,
        shown,
        measured,
        said,
        problem,
        () if measured is None else residuals_of(shown, measured),
        _next(fitted.model, request),
        *_picture(shown, measured, request.at if said is not None else ()),
    )


def _picture(
    model: Model, runs: RunTable | None, at: tuple[tuple[str, float], ...]
) -> tuple[str, bool]:
    """Draw a model; where its formula gives no answer, there is a gap."""
    largest = {one.input.name: one.high for one in model.inputs}
    for asked in [{**largest, **dict(at)}, None] if at else [None]:
        try:
            return render_model(model, runs, asked, gaps=True), asked is not None
        except InputError:
            continue
    return "", False


def _known(
    model: Model, at: tuple[tuple[str, float], ...]
) -> tuple[tuple[str, float], ...]:
    """Return what is asked of inputs that a model has."""
    names = {*(one.input.name for one in model.inputs), *model.dropped}
    return tuple((name, value) for name, value in at if name in names)


def _next(model: Model, request: FitRequest) -> tuple[NextRun, ...]:
    """Return runs that narrow intervals, as ``model next`` does."""
    try:
        found = next_runs(model, {}, dict(request.at) or None)
    except InputError:
        return ()
    return tuple(found[:_NEXT])


def command_words(command: str, options: dict[str, Any]) -> list[str]:
    """Return the words of a command, each value as ``--option=value``."""
    words = ["skelgen", *command.split()]
    for name, given in options.items():
        values = [given] if isinstance(given, str) else given
        words += [f"--{name}={one}" for one in values if one]
    return words


def command_lines(place: str | None, request: FitRequest, name: str) -> dict[str, str]:
    """Return what gives the same in a terminal, by what it does.

    Parameters
    ----------
    place : str, optional
        Of the store.
    request : FitRequest
    name : str
        That the model would be kept under.
    """
    store = {"store": shown_store(place)} if place else {}
    options = request.options
    found = {
        "Fit and keep it": command_words(
            "model fit", {**options, **request.of_quantity, "name": name, **store}
        )
    }
    if request.at:
        at = {"at": request.asked}
        found["Predict"] = command_words(
            "model predict", {**options, **at, **request.of_quantity, **store}
        )
        found["Which run next"] = command_words(
            "model next", {**options, **at, **store}
        )
    del options["family"]
    found["Compare families"] = command_words(
        "model compare", {**options, **request.of_quantity, **store}
    )
    return {what: shlex.join(words) for what, words in found.items()}
