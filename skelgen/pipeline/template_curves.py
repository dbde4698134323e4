"""Parameterisation: a template with the facts of a system, over one input or two.

References
----------
Wu, Taylor, Paris 2005, section 3.2, figures 8 and 9.
"""

from __future__ import annotations

import math
import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from skelgen.errors import UsageError
from skelgen.models.families.contract import TemplateForm
from skelgen.models.formulas import evaluate, walk
from skelgen.models.model import Model, predict_with
from skelgen.models.runs import LARGEST, SMALLEST, Floats
from skelgen.models.template_values import ComputedTime
from skelgen.pipeline.model import RunSource
from skelgen.pipeline.model_keep import asked_model
from skelgen.pipeline.model_templates import (
    ChosenFamily,
    TemplateRequest,
    chosen_family,
    computed,
)
from skelgen.pipeline.store_record import shown_store
from skelgen.pipeline.template_runs import runs_where
from skelgen.progress import NO_PROGRESS
from skelgen.trust import Doubt, Interval

if TYPE_CHECKING:  # the process that fits a template asks for no loads
    from skelgen.pipeline.model_loads import LoadedPrediction

#: Numbers along a curve, and along each input of a surface.
_CURVE, SURFACE = 33, 21
#: Inputs that can have a range.
MOST_RANGES = 2
#: Parts of a formula that a page computes.
_MOST_PARTS = 500


@dataclass(frozen=True, slots=True)
class ValueRange:
    """A value of an input, or all from one end to the other."""

    name: str
    low: float
    high: float

    @property
    def is_range(self) -> bool:
        """Say whether there is more than one value."""
        return self.low != self.high


@dataclass(frozen=True, slots=True)
class TemplateQuestion:
    """What somebody asks of a template.

    Attributes
    ----------
    store : str or None
    template : str
        A formula: no file is read, and no row is looked for.
    system : str
        Whose facts it uses; may be empty.
    facts : tuple of str
        Such as ``L=1 KiB``.
    values : tuple of ValueRange
        Of the inputs.
    application : str
        To whose runs it is fitted; empty: it is computed.
    """

    store: str | None
    template: str
    system: str = ""
    facts: tuple[str, ...] = ()
    values: tuple[ValueRange, ...] = ()
    application: str = ""

    @property
    def where(self) -> tuple[str, ...]:
        """Return conditions on the runs: where there is a system, those on it."""
        return runs_where(self.store, self.application, self.system)

    @property
    def ranges(self) -> tuple[ValueRange, ...]:
        """Return the inputs with more than one value."""
        return tuple(one for one in self.values if one.is_range)

    @property
    def ends(self) -> dict[str, float]:
        """Return the value of each input, of a range its end."""
        return {one.name: one.high for one in self.values}


@dataclass(frozen=True, slots=True)
class CurvePoint:
    """What a template says at a value of the input that has a range."""

    at: float
    value: float
    interval: Interval | None


@dataclass(frozen=True, slots=True)
class TemplateSurface:
    """What a template says over two inputs.

    Attributes
    ----------
    names : (str, str)
    x, y : tuple of float
    values : tuple of tuple of float
        A row for each y; nan where it is no time.
    """

    names: tuple[str, str]
    x: tuple[float, ...]
    y: tuple[float, ...]
    values: tuple[tuple[float, ...], ...]


@dataclass(frozen=True, slots=True)
class TemplateAnswer:
    """What a template says.

    Attributes
    ----------
    form : TemplateForm
        With the numbers of the system in it.
    model : Model or None
        Fitted to runs; None: computed, without an interval.
    value : float
        At the ends of ranges, in `unit`.
    interval : Interval or None
    unit : str
    doubts : tuple of Doubt
    curve : tuple of CurvePoint
        Where one input has a range.
    surface : TemplateSurface or None
        Where two have.
    command : str
        Gives the value in a terminal.
    said : LoadedPrediction or ComputedTime
        What that command says.
    """

    form: TemplateForm
    model: Model | None
    value: float
    interval: Interval | None
    unit: str
    doubts: tuple[Doubt, ...]
    curve: tuple[CurvePoint, ...]
    surface: TemplateSurface | None
    command: str
    said: LoadedPrediction | ComputedTime


def read_range(name: str, text: str) -> ValueRange:
    """Read ``8000``, or ``1000:8000``.

    Raises
    ------
    UsageError

    Examples
    --------
    >>> read_range("n", "1000:8000")
    ValueRange(name='n', low=1000.0, high=8000.0)
    """
    first, colon, last = text.partition(":")
    try:
        low, high = float(first), float(last if colon else first)
    except ValueError:
        low = high = math.nan
    if not (math.isfinite(low) and math.isfinite(high)):
        raise UsageError(
            f"{name[:40]}: read {text[:40]!r}, expected a number, such as 8000, or two "
            "for a range, such as 1000:8000"
        )
    return ValueRange(name, *sorted((low, high)))


def family_of(question: TemplateQuestion) -> ChosenFamily:
    """Return the template of a question with its facts.

    Raises
    ------
    InputError
        When it is no formula, or longer than a page computes.
    UsageError
        When facts or the system are not what they should be.
    """
    if not question.template.strip():
        raise UsageError("give a formula, such as a*n^3/ranks + b")
    request = TemplateRequest(
        *(question.template, question.facts, question.system, question.store),
        formula_only=True,
    )
    chosen = chosen_family("", request)
    assert chosen.settings is not None
    assert chosen.settings.template is not None
    if (parts := sum(1 for _ in walk(chosen.settings.template))) > _MOST_PARTS:
        raise UsageError(
            f"the formula has {parts} parts; at most {_MOST_PARTS} are computed here, "
            "the command line takes more"
        )
    return chosen


def template_answer(
    question: TemplateQuestion,
    fit: Callable[[TemplateQuestion], Model] | None = None,
) -> TemplateAnswer:
    """Say what a template says, as ``model predict --template`` does.

    Parameters
    ----------
    question : TemplateQuestion
    fit : callable, optional
        Fits the template to the runs of the application; see `fitted_template`.

    Raises
    ------
    UsageError
        When what is asked does not fit together.
    InputError
        When a name has no value, units do not fit, or the result is no time.
    """
    _check_ranges(question)
    chosen = family_of(question)
    if question.application:
        model = (fit or fitted_template)(question)
        return _by_model(question, model)
    found = computed(chosen, question.ends)
    formula = found.form.substituted

    def at(values: Mapping[str, Floats]) -> Floats:
        return _times(formula, {**dict(found.at), **values})

    return TemplateAnswer(
        found.form,
        None,
        found.value,
        None,
        found.unit,
        found.doubts,
        tuple(
            CurvePoint(place, value, None)
            for one in _only(question)
            for place, value in _along(at, one)
        ),
        _surface(question, at),
        command_of(question),
        found,
    )


def fitted_template(question: TemplateQuestion) -> Model:
    """Fit a template to the runs of its application, as ``model predict`` does.

    Raises
    ------
    InputError
        When the runs do not determine it.
    """
    chosen = family_of(question)
    source = RunSource(
        store=question.store, application=question.application, where=question.where
    )
    return asked_model(
        *(chosen.of(source), chosen.name, ""),
        progress=NO_PROGRESS,
        settings=chosen.settings,
    ).model


def command_of(question: TemplateQuestion) -> str:
    """Return the command that says the same at the ends of ranges."""
    words = ["skelgen", "model", "predict"]
    words += ["--app", question.application] if question.application else []
    for one in question.where:
        words += ["--where", one]
    words += ["--template", question.template.strip()]
    for told in question.facts:
        words += ["--fact", told]
    words += ["--system", question.system] if question.system else []
    words += ["--at", ",".join(f"{n}={v:.17g}" for n, v in question.ends.items())]
    words += ["--store", shown_store(question.store)] if question.store else []
    return shlex.join(words)


def _check_ranges(question: TemplateQuestion) -> None:
    if len(question.ranges) > MOST_RANGES:
        named = ", ".join(one.name for one in question.ranges)
        raise UsageError(
            f"{named} have ranges; one gives a curve and two give a surface: give the "
            "others one value"
        )


def _by_model(question: TemplateQuestion, model: Model) -> TemplateAnswer:
    # The process that fits a template asks for no loads.
    # A process that only fits functions stays small.
    from skelgen.pipeline.load_requests import LoadRequest
    from skelgen.pipeline.model_loads import predict_under_load

    assert model.template is not None
    said = predict_under_load(model, question.ends, LoadRequest())
    asked = dict(said.prediction.at)

    def at(values: Mapping[str, Floats]) -> Floats:
        return _times(model.formula, {**asked, **values})

    curve = []
    for one in _only(question):
        for place, value in _along(at, one):
            found = None
            if math.isfinite(value):
                found = predict_with(model, {**asked, one.name: place}).interval
            curve.append(CurvePoint(place, value, found))
    return TemplateAnswer(
        model.template,
        model,
        said.prediction.interval.p50,
        said.prediction.interval,
        model.unit,
        said.prediction.doubts,
        tuple(curve),
        _surface(question, at),
        command_of(question),
        said,
    )


def _only(question: TemplateQuestion) -> Sequence[ValueRange]:
    """Return the input with a range, where only one has."""
    return question.ranges if len(question.ranges) == 1 else ()


def _times(formula: Any, values: Mapping[str, Any]) -> Floats:
    """Return what a formula says; nan where that is no time."""
    shape = np.broadcast_shapes(*(np.shape(one) for one in values.values()))
    found = np.broadcast_to(evaluate(formula, values), shape)
    return np.where((found >= SMALLEST) & (found <= LARGEST), found, np.nan)


def _along(
    at: Callable[[Mapping[str, Floats]], Floats], one: ValueRange
) -> list[tuple[float, float]]:
    places = _places(one, _CURVE)
    found = at({one.name: places})
    return list(zip(places.tolist(), found.tolist(), strict=True))


def _surface(
    question: TemplateQuestion, at: Callable[[Mapping[str, Floats]], Floats]
) -> TemplateSurface | None:
    if len(question.ranges) != MOST_RANGES:
        return None
    first, second = question.ranges
    x, y = _places(first, SURFACE), _places(second, SURFACE)
    grid = np.meshgrid(x, y)
    found = at({first.name: grid[0], second.name: grid[1]})
    return TemplateSurface(
        (first.name, second.name),
        tuple(x.tolist()),
        tuple(y.tolist()),
        tuple(map(tuple, found.tolist())),
    )


def _places(one: ValueRange, count: int) -> Floats:
    """Return numbers from end to end, whole ones where both ends are."""
    found = np.linspace(one.low, one.high, count)
    if float(one.low).is_integer() and float(one.high).is_integer():
        found = np.unique(np.rint(found))
    return found
