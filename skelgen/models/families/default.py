"""The default: normal forms and powers, weighed by their errors ahead of the data.

What runs before a change of the program say is left out. Normal forms that fit about
as well speak together, and the power law speaks with them as far as `stacking` says.
What all say together is then written as one sum of few terms, which a person can read.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass, replace

import numpy as np

from skelgen.models import regimes, runs_ahead
from skelgen.models.families import power, stacking
from skelgen.models.families.contract import (
    FamilySettings,
    FittedFormula,
    ModelFamily,
    finite,
    needs,
)
from skelgen.models.families.default_terms import Library, least_left, library_for
from skelgen.models.families.normal_form import NormalForms, normal_forms, sum_of
from skelgen.models.families.searching import MOST_TERMS
from skelgen.models.families.terms import FormTerm
from skelgen.models.formulas import Expression, Number, Power, Product
from skelgen.models.formulas.expression import Values
from skelgen.models.runs import LARGEST, SMALLEST, Floats, Meaning, RunTable
from skelgen.trust import Doubt

#: No logarithm of what members say is larger: a computer has no such numbers.
_LARGEST_LOG = 500.0

#: How far ahead the written formula says what the members say: factors of inputs.
_FACTORS = (1.5, 2.0, 3.0, 4.0)

#: So many members are kept beside the formula, to tell where they differ.
_ALTERNATIVES = 12

#: Terms of a member of a fold.
_FOLD_TERMS = 3

#: Deviation for each factor e ahead, if one configuration followed a change [1].
_UNSURE = 0.6

#: Fewer configurations after a change are too few to trust.
_FEWEST_PLACES = 4

#: So many sets of runs are counted once: phases and folds have the same inputs.
_MOST_KEPT = 64

#: What the power law's part in the answer is called among the coefficients, and what
#: sensors are thought to leave out.
_SHARE, _ALWAYS_LEFT = "share of the power law", "always left of a resource"

#: How likely a change must be.
_MOST_LIKELY = 0.5

#: After fewer configurations, or fewer for each input, what is missed tells more of how
#: few they are than of the forms.
_FEWEST_LEARNT, _LEARNT_PER_INPUT = 2 * MOST_TERMS, 4

_SETTINGS = FamilySettings()


@dataclass(frozen=True, slots=True)
class Members:
    """What the default consists of, before it is written as one formula.

    Attributes
    ----------
    forms : NormalForms
    power : FittedFormula
    weight : float
        Of the forms; the rest is that of the power law [0 to 1].
    """

    forms: NormalForms
    power: FittedFormula
    weight: float

    def at(self, values: Values, cases: int) -> Floats:
        """Return what they say together."""
        with np.errstate(all="ignore"):
            forms = np.log(self.forms.at(values, cases))
            powers = np.log(np.broadcast_to(self.power.at(values), (cases,)))
        forms = np.clip(forms, -_LARGEST_LOG, _LARGEST_LOG)
        powers = np.clip(powers, -_LARGEST_LOG, _LARGEST_LOG)
        mixed = self.weight * forms + (1 - self.weight) * powers
        return np.asarray(
            np.clip(
                np.exp(np.clip(mixed, -_LARGEST_LOG, _LARGEST_LOG)), SMALLEST, LARGEST
            )
        )


def alternatives(found: Members) -> tuple[tuple[float, Expression], ...]:
    """Write what each of the likeliest forms says together with the power law.

    Returns
    -------
    tuple of (float, Expression)
        With shares that sum to 1.
    """
    if found.weight == 0.0:
        return ((1.0, found.power.formula),)
    forms = found.forms.best(_ALTERNATIVES)
    whole = sum(forms.shares)
    each = zip(forms.shares, forms.sets, forms.coefficients, strict=True)
    return tuple(
        (share / whole, _mixed(found, sum_of(forms.terms, chosen, coefficients)))
        for share, chosen, coefficients in each
    )


def _mixed(found: Members, form: Expression) -> Expression:
    """Write a mean of logarithms: a form by its weight, the power law by the rest."""
    if found.weight == 1.0:
        return form
    first = Power(form, Number(found.weight))
    second = Power(found.power.formula, Number(1.0 - found.weight))
    return Product((first, second))


def members(runs: RunTable, library: Library, weight: float, most: int) -> Members:
    """Fit the members."""
    forms = normal_forms(
        runs, terms=library.terms, steps=library.steps, most_terms=most
    )
    return Members(forms, power.POWER_FAMILY.fit(runs, _SETTINGS), weight)


def share_of(found: Members, runs: RunTable, least: float) -> float:
    """Return how much the power law counts, from 0 to 1.

    Parameters
    ----------
    found : Members
        Of all runs.
    runs : RunTable
    least : float
        What `library.least_left` says.
    """
    folds = [*runs_ahead.folds(runs), *runs_ahead.mixed_folds(runs)]
    missed = [_missed(runs, least, *fold) for fold in folds]
    known = [one for one in missed if one is not None]
    return stacking.share_of_power(known, _unsure(found.forms, runs))


def _missed(
    runs: RunTable, least: float, behind: runs_ahead.Indices, rest: runs_ahead.Indices
) -> stacking.Missed | None:
    """Return what both miss of some runs after the others; None after too few."""
    learnt, asked = runs.only(behind), runs.only(rest)
    few = max(_FEWEST_LEARNT, _LEARNT_PER_INPUT * len(runs.varied))
    if len(learnt.varied) < len(runs.varied) or _places(learnt) < few:
        return None
    found = members(learnt, library_for(learnt, least), 1.0, _FOLD_TERMS)
    said = found.at(asked.columns, len(asked))
    before = found.forms.before(regimes.columns_of(found.forms.places, runs))
    with np.errstate(all="ignore"):
        powers = np.log(found.power.at(asked.columns) / asked.values)
    return stacking.Missed(
        np.log(said / asked.values) + before[rest],
        np.nan_to_num(powers, nan=np.inf),
        _places(asked),
    )


def written(
    found: Members, runs: RunTable, kept: RunTable, least: float
) -> FittedFormula:
    """Write what members say together as one sum of few terms.

    The sum is fitted to what they say at the runs that are kept and ahead of them.
    """
    values = _cases(kept, [one.name for one in runs_ahead.extents(runs)])
    cases = len(next(iter(values.values())))
    said = found.at(values, cases)
    at = np.stack([values[one.name] for one in runs.inputs], axis=1)
    table = replace(runs, at=at, values=said)
    terms = (*found.forms.terms, *_power_term(found, runs))
    forms = normal_forms(table, terms=terms).best(1)
    chosen, coefficients = forms.sets[0], forms.coefficients[0]
    varied = runs.varied
    loads = any(one.meaning.available for one in varied)
    return FittedFormula(
        "default",
        sum_of(terms, chosen, coefficients),
        varied,
        dropped=tuple(one.name for one in runs.inputs if one not in varied),
        coefficients=(
            *((f"c{i}", value) for i, value in enumerate(coefficients, start=1)),
            *(((_ALWAYS_LEFT, least),) if loads else ()),
            (_SHARE, 1.0 - found.weight),
        ),
        alternatives=alternatives(found),
        used=kept,
        ahead=_unsure(found.forms, runs) * float(np.sqrt(found.weight)),
    )


def _power_term(found: Members, runs: RunTable) -> tuple[FormTerm, ...]:
    """Return the power law as a term, where it counts."""
    if found.weight == 1.0:
        return ()
    exponents = dict(found.power.coefficients)
    sizes = [one.name for one in runs.varied if one.meaning is Meaning.SIZE]
    growth = sum(exponents[name] for name in sizes)
    return (FormTerm(found.power.formula, growth, messages=False),)


def _unsure(forms: NormalForms, runs: RunTable) -> float:
    """Return how unsure what comes after changes is, for each factor e ahead.

    Few configurations say little of how it grows, so the fewer there are the less.
    """
    shares = dict.fromkeys(forms.steps, 0.0)
    for share, step in zip(forms.shares, forms.steps, strict=True):
        shares[step] += share
    total = sum(
        share * (_UNSURE / _places(regimes.since(runs, step))) ** 2
        for step, share in shares.items()
        if step is not None
    )
    return float(np.sqrt(total))


def _places(runs: RunTable) -> int:
    """Return how many configurations there are."""
    return _count(runs.unmeasured)


@functools.lru_cache(maxsize=_MOST_KEPT)
def _count(runs: RunTable) -> int:
    return len(np.unique(np.round(runs_ahead.order(runs), 9)))


def _cases(runs: RunTable, names: list[str]) -> dict[str, Floats]:
    """Return inputs of runs, and of runs ahead: each input larger, and all of them."""
    columns = runs.columns
    found = [columns]
    for factor in _FACTORS:
        for chosen in [names, *([[name] for name in names] if len(names) > 1 else [])]:
            found.append(
                {
                    name: column * (factor if name in chosen else 1.0)
                    for name, column in columns.items()
                }
            )
    return {name: np.concatenate([one[name] for one in found]) for name in columns}


def _fit(runs: RunTable, settings: FamilySettings) -> FittedFormula:
    del settings
    needs(runs, 2, "default")
    least = least_left(runs)
    library = library_for(runs, least)
    found = members(runs, library, 1.0, MOST_TERMS)
    found = replace(found, weight=1.0 - share_of(found, runs, least))
    change, share = found.forms.change
    if change is None or share < _MOST_LIKELY:
        return finite(written(found, runs, runs, least), runs)
    kept = regimes.since(runs, change)
    formula = finite(written(found, runs, kept, least), kept)
    told = f"the program changes between {change.axis}={change.before:g} and "
    told += f"{change.after:g}: the formula is of runs from there on"
    places = _places(kept)
    if places >= _FEWEST_PLACES:
        return replace(formula, notes=(told,))
    told += f", and these are of {places} configurations"
    doubt = Doubt("knee", told, f"add runs beyond {change.axis}={change.after:g}")
    return replace(formula, doubts=(doubt,))


def _again(
    runs: RunTable, settings: FamilySettings, found: FittedFormula
) -> FittedFormula:
    """Fit the members to fewer runs of the regime, with the weight that was found."""
    del settings
    needs(runs, 2, "default")
    known = dict(found.coefficients)
    least = known.get(_ALWAYS_LEFT, 0.0)
    weight = 1.0 - known[_SHARE]
    again = members(runs, library_for(runs, least), weight, _FOLD_TERMS)
    formula = written(again, runs, runs, least)
    if found.used is None:
        return formula
    fewer = _places(found.used) / _places(runs)  # configurations after a change
    return replace(formula, ahead=max(formula.ahead, found.ahead * fewer))


DEFAULT_FAMILY = ModelFamily(
    "default",
    source="",
    assumes="what normal-form and power assume, each as far as it misses less",
    fit=_fit,
    again=_again,
)
