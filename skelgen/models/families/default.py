"""The default: normal forms and powers, weighed by their errors ahead of the data.

What runs before a change of the program say is left out. Normal forms that fit about
as well speak together, and the power law speaks with them as far as it did better for
runs ahead of those that it had seen. What all say together is then written as one sum
of few terms, which a person can read.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from skelgen.models import ahead, regimes
from skelgen.models.families import power
from skelgen.models.families.contract import (
    Family,
    FamilySettings,
    FittedFormula,
    needs,
)
from skelgen.models.families.normal_form import (
    MOST_TERMS,
    NormalForms,
    normal_forms,
    sum_of,
)
from skelgen.models.families.terms import FormTerm, terms_for
from skelgen.models.formulas import Expression
from skelgen.models.formulas.expression import Values
from skelgen.models.runs import LARGEST, SMALLEST, Floats, RunTable
from skelgen.trust import Doubt

#: Weights of the normal forms that are tried.
_WEIGHTS = np.linspace(0.0, 1.0, 11)

#: An error counts as this at most [1].
_LARGEST = 0.5

#: No logarithm of a miss is larger.
_FAR = 100.0

#: How far ahead the written formula says what the members say: factors of inputs.
_FACTORS = (1.5, 2.0, 3.0, 4.0)

#: So many members are kept beside the formula, to tell where they differ.
_ALTERNATIVES = 12

#: Terms of a member of a fold.
_FOLD_TERMS = 3

#: Fewer configurations after a change are too few to trust.
_FEWEST_PLACES = 4

#: What the power law's part in the answer is called among the coefficients.
_SHARE = "share of the power law"

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
        mixed = self.weight * forms + (1 - self.weight) * powers
        return np.asarray(np.clip(np.exp(np.clip(mixed, -500, 500)), SMALLEST, LARGEST))


def alternatives(found: Members) -> tuple[tuple[float, Expression], ...]:
    """Write the likeliest members as formulas, with shares that sum to 1."""
    forms = found.forms
    each = [
        (found.weight * share, sum_of(forms.terms, chosen, coefficients))
        for share, chosen, coefficients in zip(
            forms.shares[:_ALTERNATIVES],
            forms.sets[:_ALTERNATIVES],
            forms.coefficients[:_ALTERNATIVES],
            strict=True,
        )
    ]
    whole = sum(forms.shares[:_ALTERNATIVES])
    scaled = [(share / whole, formula) for share, formula in each]
    rest = [(1 - found.weight, found.power.formula)] if found.weight < 1.0 else []
    return (*scaled, *rest)


def members(
    runs: RunTable, terms: tuple[FormTerm, ...], weight: float, most: int = MOST_TERMS
) -> Members:
    """Fit the members."""
    forms = normal_forms(runs, terms=terms, most_terms=most)
    return Members(forms, power.FAMILY.fit(runs, _SETTINGS), weight)


def weight_of(runs: RunTable, terms: tuple[FormTerm, ...]) -> float:
    """Return how much normal forms count against the power law.

    That by which both together came nearest to runs ahead; 1 where none are known.
    """
    errors = [_ahead(runs, terms, *fold) for fold in ahead.folds(runs)]
    known = [one for one in errors if one is not None]
    if not known:
        return 1.0
    forms = np.concatenate([forms for forms, _ in known])
    powers = np.concatenate([powers for _, powers in known])
    mixed = np.outer(_WEIGHTS, forms) + np.outer(1 - _WEIGHTS, powers)
    errors = np.minimum(np.abs(mixed), _LARGEST).mean(axis=1)
    return float(_WEIGHTS[len(errors) - 1 - int(np.argmin(errors[::-1]))])


def _ahead(
    runs: RunTable,
    terms: tuple[FormTerm, ...],
    behind: ahead.Indices,
    rest: ahead.Indices,
) -> tuple[Floats, Floats] | None:
    """Return how wrong both are for runs ahead: logarithms; None after too few runs."""
    learnt, asked = runs.only(behind), runs.only(rest)
    places = len(np.unique(np.round(ahead.order(runs)[behind], 9)))
    if len(learnt.varied) < len(runs.varied) or places <= MOST_TERMS:
        return None
    found = members(learnt, terms, 1.0, _FOLD_TERMS)
    forms = np.log(found.at(asked.columns, len(asked)) / asked.values)
    with np.errstate(all="ignore"):
        powers = np.log(found.power.at(asked.columns) / asked.values)
    return forms, np.clip(powers, -_FAR, _FAR)


def written(found: Members, runs: RunTable) -> FittedFormula:
    """Write what members say together as one sum of few terms.

    The sum is fitted to what they say at the runs and ahead of them.
    """
    values = _cases(runs)
    cases = len(next(iter(values.values())))
    said = found.at(values, cases)
    at = np.stack([values[one.name] for one in runs.inputs], axis=1)
    table = replace(runs, at=at, values=said)
    forms = normal_forms(table, terms=found.forms.terms)
    chosen, coefficients = forms.sets[0], forms.coefficients[0]
    varied = runs.varied
    return FittedFormula(
        "default",
        sum_of(forms.terms, chosen, coefficients),
        varied,
        dropped=tuple(one.name for one in runs.inputs if one not in varied),
        coefficients=(
            *((f"c{i}", value) for i, value in enumerate(coefficients, start=1)),
            (_SHARE, 1.0 - found.weight),
        ),
        alternatives=alternatives(found),
        used=runs,
    )


def _cases(runs: RunTable) -> dict[str, Floats]:
    """Return inputs of runs, and of runs ahead: each input larger, and all of them."""
    columns = runs.columns
    names = [one.name for one in ahead.extents(runs)]
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
    terms = terms_for(runs)
    change = regimes.last_change(runs, terms)
    kept = regimes.since(runs, change) if change is not None else runs
    found = members(kept, terms, weight_of(kept, terms))
    formula = replace(written(found, kept), alternatives=alternatives(found), used=kept)
    if change is None:
        return formula
    told = f"the program changes between {change.axis}={change.before:g} and "
    told += f"{change.after:g}: only runs from there on count"
    places = len(np.unique(np.round(ahead.order(kept), 9)))
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
    weight = 1.0 - dict(found.coefficients)[_SHARE]
    terms = terms_for(runs)
    return written(members(runs, terms, weight, _FOLD_TERMS), runs)


FAMILY = Family(
    "default",
    source="",
    assumes="what normal-form or power assume, whichever did better ahead of the data",
    fit=_fit,
    again=_again,
)
