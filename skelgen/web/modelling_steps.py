"""What the steps of modelling are made of: what was chosen, and what may be."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class ExecutableRuns:
    """A program and its runs.

    Attributes
    ----------
    digest : str
        SHA-256; empty for runs that do not say it.
    runs : int
    systems : tuple of str
    """

    digest: str
    runs: int
    systems: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Setting:
    """What is the same in some of the runs, while one input varies.

    Attributes
    ----------
    text : str
        Such as ``n=2000, solver=cg``; empty where nothing else varies.
    where : tuple of str
        The same as conditions.
    values : tuple of (float, int)
        Of the input that varies: the value, and runs with it.
    inputs : tuple of (str, float)
        Numbers of the text that did not run so: inputs of the model, too.
    """

    text: str
    where: tuple[str, ...]
    values: tuple[tuple[float, int], ...]
    inputs: tuple[tuple[str, float], ...] = ()

    @property
    def runs(self) -> int:
        """Runs of all values."""
        return sum(count for _, count in self.values)

    def runs_between(self, low: float, high: float) -> int:
        """Return how many runs are in a range of the input."""
        return sum(count for value, count in self.values if low <= value <= high)

    def values_between(self, low: float, high: float) -> int:
        """Return how many values of the input are in a range of it."""
        return sum(low <= value <= high for value, _ in self.values)


@dataclass(frozen=True, slots=True)
class CurveAsked:
    """What was chosen for a curve, as it is in the address.

    Attributes
    ----------
    app, exe : str
        Application, and SHA-256 of the program or ``any``.
    family, x, y, amount : str
        Graph type, input, quantity, and what a rate is of.
    fixed : str
        Text of a `Setting`.
    typed : str
        The same, where none of the list is meant.
    low, high, to : str
        Range of the values that are used, and end of the prediction.
    """

    app: str = ""
    exe: str = ""
    family: str = ""
    x: str = ""
    y: str = ""
    amount: str = ""
    fixed: str = ""
    typed: str = ""
    low: str = ""
    high: str = ""
    to: str = ""

    @property
    def quantity(self) -> str:
        """The quantity as commands take it."""
        return f"rate:{self.amount}" if self.y == "rate" else self.y


@dataclass(frozen=True, slots=True)
class CurveSteps:
    """How far somebody is with a curve, and what may be chosen next.

    Attributes
    ----------
    asked : CurveAsked
    step : int
        The one that is to be filled in; 4: none.
    applications : sequence of (str, int)
        Names and runs.
    executables : sequence of ExecutableRuns
        Where there are several.
    families, ys : sequence of str
        That the runs allow.
    xs : mapping of str to int
        Inputs, and how many values each has.
    settings : sequence of Setting
        What may be fixed; empty where nothing else varies.
    others : sequence of str
        Inputs that are fixed.
    chosen : Setting or None
    along : sequence of str
        Inputs that vary with the chosen one.
    few : int
        Settings that have too few values for the graph type, and are not offered.
    said : str
        What is wrong at the step.
    runs : int
        That are left after what was chosen.
    """

    asked: CurveAsked
    step: int
    applications: Sequence[tuple[str, int]] = ()
    executables: Sequence[ExecutableRuns] = ()
    families: Sequence[str] = ()
    ys: Sequence[str] = ()
    xs: Mapping[str, int] = field(default_factory=dict)
    settings: Sequence[Setting] = ()
    others: Sequence[str] = ()
    chosen: Setting | None = None
    along: Sequence[str] = ()
    few: int = 0
    said: str = ""
    runs: int = 0


@dataclass(frozen=True, slots=True)
class InputSpan:
    """An input that is a number, and the range that is used.

    Attributes
    ----------
    name : str
    least, most : float
        Of all runs.
    low, high, to : str
        As they were typed: the range, and what is predicted.
    """

    name: str
    least: float
    most: float
    low: str = ""
    high: str = ""
    to: str = ""


@dataclass(frozen=True, slots=True)
class DefaultSteps:
    """How far somebody is with a model of all inputs.

    Attributes
    ----------
    app, exe, fixed : str
        Application, program, and inputs that are no numbers.
    step : int
        The one that is to be filled in; 3: none.
    applications : sequence of (str, int)
    executables : sequence of ExecutableRuns
    settings : sequence of Setting
        What may be fixed, where inputs are no numbers.
    spans : sequence of InputSpan
        Empty until what is fixed is chosen.
    said : str
        What is wrong at the step.
    runs : int
        That are left.
    """

    app: str
    exe: str
    fixed: str
    step: int
    applications: Sequence[tuple[str, int]] = ()
    executables: Sequence[ExecutableRuns] = ()
    settings: Sequence[Setting] = ()
    spans: Sequence[InputSpan] = ()
    said: str = ""
    runs: int = 0
