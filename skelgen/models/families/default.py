"""The default: normal forms and powers, weighed by their errors ahead of the data.

What runs before a change of the program say is left out. Normal forms that fit about
as well speak together, and the power law speaks with them as far as it did better for
runs ahead of those that it had seen. What all say together is then written as one sum
of few terms, which a person can read.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass, replace

import numpy as np

from skelgen.models import ahead, regimes
from skelgen.models.families import power
from skelgen.models.families.contract import (
    Family,
    FamilySettings,
    FittedFormula,
    finite,
    needs,
)
from skelgen.models.families.library import Library, least_left, library_for
from skelgen.models.families.normal_form import NormalForms, normal_forms, sum_of
from skelgen.models.families.searching import MOST_TERMS
from skelgen.models.formulas import Expression
from skelgen.models.formulas.expression import Values
from skelgen.models.runs import LARGEST, SMALLEST, Floats, RunTable
from skelgen.trust import Doubt

#: Weights of the normal forms that are tried.
_WEIGHTS = np.linspace(0.0, 1.0, 11)

#: An error counts as this at most [1].
_LARGEST = 0.5

#: No logarithm of what members say is larger: a computer has no such numbers.
_LARGEST_LOG = 500.0

#: No logarithm of a miss is larger.
_FAR = 100.0

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

#: Standard errors by which the power law must help, and how likely a change must be.
_SURE, _MOST_LIKELY = 2.0, 0.5

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
    """Write the likeliest members as formulas, with shares that sum to 1."""
    forms = found.forms.best(_ALTERNATIVES)
    each = [
        (found.weight * share, sum_of(forms.terms, chosen, coefficients))
        for share, chosen, coefficients in zip(
            forms.shares, forms.sets, forms.coefficients, strict=True
        )
    ]
    whole = sum(forms.shares)
    scaled = [(share / whole, formula) for share, formula in each]
    rest = [(1 - found.weight, found.power.formula)] if found.weight < 1.0 else []
    return (*scaled, *rest)


def members(runs: RunTable, library: Library, weight: float, most: int) -> Members:
    """Fit the members."""
    forms = normal_forms(
        runs, terms=library.terms, steps=library.steps, most_terms=most
    )
    return Members(forms, power.FAMILY.fit(runs, _SETTINGS), weight)


def weight_of(runs: RunTable, least: float) -> float:
    """Return how much normal forms count against the power law.

    All, unless both together came nearer to runs ahead by more than chance.
    """
    errors = [_ahead(runs, least, *fold) for fold in ahead.folds(runs)]
    known = [one for one in errors if one is not None]
    if not known:
        return 1.0
    forms = np.concatenate([forms for forms, _ in known])
    powers = np.concatenate([powers for _, powers in known])
    mixed = np.outer(_WEIGHTS, forms) + np.outer(1 - _WEIGHTS, powers)
    bounded = np.minimum(np.abs(mixed), _LARGEST)
    gains = bounded[-1] - bounded  # the last weight is that of forms alone
    places = _places(runs) / 2  # half lie ahead
    sure = gains.mean(axis=1) - _SURE * gains.std(axis=1) / np.sqrt(places)
    return float(_WEIGHTS[len(sure) - 1 - int(np.argmax(sure[::-1]))])


def _ahead(
    runs: RunTable, least: float, behind: ahead.Indices, rest: ahead.Indices
) -> tuple[Floats, Floats] | None:
    """Return how wrong both are for runs ahead: logarithms; None after too few runs."""
    learnt, asked = runs.only(behind), runs.only(rest)
    places = _places(learnt)
    if len(learnt.varied) < len(runs.varied) or places <= MOST_TERMS:
        return None
    found = members(learnt, library_for(learnt, least), 1.0, _FOLD_TERMS)
    forms = np.log(found.at(asked.columns, len(asked)) / asked.values)
    with np.errstate(all="ignore"):
        powers = np.log(found.power.at(asked.columns) / asked.values)
    return forms, np.clip(powers, -_FAR, _FAR)


def written(
    found: Members, runs: RunTable, kept: RunTable, least: float
) -> FittedFormula:
    """Write what members say together as one sum of few terms.

    The sum is fitted to what they say at the runs that are kept and ahead of them.
    """
    values = _cases(kept, [one.name for one in ahead.extents(runs)])
    cases = len(next(iter(values.values())))
    said = found.at(values, cases)
    at = np.stack([values[one.name] for one in runs.inputs], axis=1)
    table = replace(runs, at=at, values=said)
    forms = normal_forms(table, terms=found.forms.terms).best(1)
    chosen, coefficients = forms.sets[0], forms.coefficients[0]
    varied = runs.varied
    loads = any(one.meaning.available for one in varied)
    return FittedFormula(
        "default",
        sum_of(forms.terms, chosen, coefficients),
        varied,
        dropped=tuple(one.name for one in runs.inputs if one not in varied),
        coefficients=(
            *((f"c{i}", value) for i, value in enumerate(coefficients, start=1)),
            *(((_ALWAYS_LEFT, least),) if loads else ()),
            (_SHARE, 1.0 - found.weight),
        ),
        alternatives=alternatives(found),
        used=kept,
        ahead=_unsure(found.forms, runs),
    )


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
    return len(np.unique(np.round(ahead.order(runs), 9)))


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
    found = members(runs, library, weight_of(runs, least), MOST_TERMS)
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
    return written(again, runs, runs, least)


FAMILY = Family(
    "default",
    source="",
    assumes="what normal-form or power assume, whichever did better ahead of the data",
    fit=_fit,
    again=_again,
)
