"""What every family of models takes and gives."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import numpy as np

from skelgen.errors import InputError
from skelgen.models.formulas import Expression, evaluate, to_text
from skelgen.models.formulas.expression import Functions, Values
from skelgen.models.runs import Floats, ModelInput, RunTable, When
from skelgen.trust import Doubt


@dataclass(frozen=True, slots=True)
class FamilySettings:
    """What a user can say about the form of a model.

    Attributes
    ----------
    degree : int
        Of polynomials in each input, where a family has them.
    computation, communication : Expression or None
        Complexities, such as ``n^3/p`` and ``n^2``; None: searched.
    template : Expression or None
        The formula of the family ``template``.
    facts : mapping of str to float
        Values of names of a template that are no inputs.
    functions : mapping of str to callable
        Facts that depend on a size, such as ``SR(L)``.
    definitions : mapping of str to (tuple of str, Expression)
        The same as formulas of named arguments: they may depend on inputs.
    units : mapping of str to str
        Of facts and functions, such as ``s`` or ``bytes/s``; others are plain.
    text : str
        The template as its user wrote it; may be empty.
    system : str
        Whose facts these are; may be empty.
    non_negative : bool
        Coefficients of 0 and more by relative errors, where a source has least
        squares of any sign.
    whole : bool
        Of ``workload``: values are counts, exact and whole.
    separately, thesis : bool
        Of ``workload``: each input on its own, and the thesis' procedure.
    threshold : float
        Of ``workload``: relative error above which a function does not fit [1].
    """

    degree: int = 1
    computation: Expression | None = None
    communication: Expression | None = None
    template: Expression | None = None
    facts: Mapping[str, float] = field(default_factory=dict)
    functions: Functions = field(default_factory=dict)
    definitions: Mapping[str, tuple[tuple[str, ...], Expression]] = field(
        default_factory=dict
    )
    units: Mapping[str, str] = field(default_factory=dict)
    text: str = ""
    system: str = ""
    non_negative: bool = False
    whole: bool = False
    separately: bool = False
    thesis: bool = False
    threshold: float = 0.05


@dataclass(frozen=True, slots=True)
class TemplateForm:
    """A formula that a user gave, and what the facts of a system make of it.

    Attributes
    ----------
    text : str
        As the user wrote it.
    substituted : Expression
        Of inputs and coefficients: the numbers of facts are in it.
    facts : tuple of str
        Those that it names, as `skelgen.models.facts.read_facts` takes them.
    system : str
        Whose facts these are, besides those that were typed; may be empty.

    References
    ----------
    Wu, Taylor, Paris 2005, figure 8 ("parsed method").
    """

    text: str
    substituted: Expression
    facts: tuple[str, ...] = ()
    system: str = ""


@dataclass(frozen=True, slots=True)
class FittedFormula:
    """What a family found: a formula of the inputs.

    Attributes
    ----------
    family : str
    formula : Expression
        Of the inputs' names only: numbers stand for coefficients and facts.
    inputs : tuple of ModelInput
        Those that the formula needs.
    dropped : tuple of str
        Inputs that did not help, with the reason in a doubt where it matters.
    doubts : tuple of Doubt
        Of the fit, whatever it is asked for.
    notes : tuple of str
        What a reader should know that is no doubt.
    coefficients : tuple of (str, float)
        By the name that the family's source gives them.
    alternatives : tuple of (float, Expression)
        Formulas that fit about as well, and how likely each is; the sum is 1.
    used : RunTable or None
        The runs that count, where not all do.
    error : float
        Relative, of runs that were left out; nan where the family leaves none out [1].
    ahead : float
        Deviation of logarithms for each factor e ahead, besides what any fit has.
    template : TemplateForm or None
        Of the family ``template``.
    """

    family: str
    formula: Expression
    inputs: tuple[ModelInput, ...]
    dropped: tuple[str, ...] = ()
    doubts: tuple[Doubt, ...] = ()
    notes: tuple[str, ...] = ()
    coefficients: tuple[tuple[str, float], ...] = ()
    alternatives: tuple[tuple[float, Expression], ...] = ()
    used: RunTable | None = None
    error: float = math.nan
    ahead: float = 0.0
    template: TemplateForm | None = None

    def at(self, values: Values) -> Floats:
        """Evaluate the formula at cases: nan, infinite or below 0 where it says so.

        Parameters
        ----------
        values : mapping of str to float or (cases,) array
            A value of each of `inputs`; others are ignored.

        Returns
        -------
        (cases,) float64 array
            Or one number without a dimension, when all values are.
        """
        shape = np.broadcast_shapes(*(np.shape(value) for value in values.values()))
        return np.broadcast_to(evaluate(self.formula, values), shape)

    @property
    def text(self) -> str:
        """The formula for people."""
        return to_text(self.formula, digits=4)


@dataclass(frozen=True, slots=True)
class ModelFamily:
    """A kind of model.

    Attributes
    ----------
    name : str
        As options and files name it.
    source : str
        Paper and section, or empty for our own.
    assumes : str
        One sentence for users: for which programs it is meant.
    fit : callable
        Takes runs and settings and returns a `FittedFormula`; raises `InputError`
        where the runs do not determine one, which says what is missing.
    told : bool
        Whether it needs to be told a formula, which `FamilySettings` holds.
    when : When
        Which loads it takes where runs have both: averages, or those at the start.
    again : callable or None
        Fits to fewer of the runs, as `fit` would, given what it found for all: what
        takes long and depends little on a few runs is not searched again.
    """

    name: str
    source: str
    assumes: str
    fit: Callable[[RunTable, FamilySettings], FittedFormula]
    again: Callable[[RunTable, FamilySettings, FittedFormula], FittedFormula] | None = (
        None
    )
    told: bool = False
    when: When = When.AVERAGE


def needs(runs: RunTable, coefficients: int, family: str) -> None:
    """Refuse to find more coefficients than there are different runs.

    Raises
    ------
    InputError
    """
    if runs.different < coefficients:
        raise InputError(
            f"{family} has {coefficients} coefficients, and there are {runs.different} "
            "different runs; add runs, or choose another family"
        )


def finite(found: FittedFormula, runs: RunTable) -> FittedFormula:
    """Return what was found, if it gives numbers for the runs that it was found by.

    Raises
    ------
    InputError
        When numbers of the formula are too large or too small for a computer.
    """
    numbers = [value for _, value in found.coefficients]
    if np.isfinite(numbers).all() and np.isfinite(found.at(runs.columns)).all():
        return found
    spans = "; ".join(
        f"{one.name} {runs.columns[one.name].min():g} to "
        f"{runs.columns[one.name].max():g}"
        for one in found.inputs
    )
    raise InputError(
        f"{found.family} cannot compute with numbers as far apart as these ({spans}); "
        "give the inputs in other units, or choose another family"
    )
