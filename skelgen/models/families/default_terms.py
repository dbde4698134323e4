"""What the default chooses from: terms of the inputs, and places of changes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from skelgen.models.families.normal_form import normal_forms
from skelgen.models.families.terms import FormTerm, terms_for
from skelgen.models.regimes import RegimeStep, steps_for
from skelgen.models.runs import RunTable
from skelgen.models.thresholds import ALWAYS_LEFT, PLAIN_LOAD_GAIN


@dataclass(frozen=True, slots=True)
class Library:
    """Terms and steps to choose from.

    Attributes
    ----------
    terms : tuple of FormTerm
    steps : tuple of RegimeStep
    """

    terms: tuple[FormTerm, ...]
    steps: tuple[RegimeStep, ...]


def library_for(runs: RunTable, least: float) -> Library:
    """Return what normal forms of runs choose from.

    Parameters
    ----------
    runs : RunTable
    least : float
        What `least_left` says.
    """
    return Library(terms_for(runs, least), steps_for(runs))


def least_left(runs: RunTable) -> float:
    """Return the part of a resource that a program gets where none seems to be left.

    A tenth, unless the runs are met clearly better without; 0 where no load varies.
    """
    if not any(one.meaning.available for one in runs.varied):
        return 0.0
    errors = []
    for least in (ALWAYS_LEFT, 0.0):
        found = normal_forms(runs, terms=terms_for(runs, least), most_terms=2, rounds=2)
        misses = np.log(found.at(runs.columns, len(runs)) / runs.values)
        errors.append(float(np.mean(np.abs(misses))))
    return 0.0 if errors[1] * PLAIN_LOAD_GAIN < errors[0] else ALWAYS_LEFT
