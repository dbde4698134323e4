"""What a template says without a run: the paper's use of it.

Nothing was measured, so there is no interval, and the answer is doubted.

References
----------
Wu, Taylor, Paris 2005, section 3.2, figures 8 and 9.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from skelgen.errors import InputError
from skelgen.models.families.contract import FamilySettings, TemplateForm
from skelgen.models.families.template import free_names, known_names, template_form
from skelgen.models.formulas import evaluate, names
from skelgen.models.runs import (
    LARGEST,
    SMALLEST,
    ModelInput,
    RunTable,
    meaning_of,
    when_of,
)
from skelgen.trust import Doubt


@dataclass(frozen=True, slots=True)
class ComputedTime:
    """A time that a template says, and that no run has confirmed.

    Attributes
    ----------
    at : tuple of (str, float)
        The inputs that it needs.
    value : float
        In `unit`.
    form : TemplateForm
    doubts : tuple of Doubt
        One at least: nothing was measured.
    unit : str
    """

    at: tuple[tuple[str, float], ...]
    value: float
    form: TemplateForm
    doubts: tuple[Doubt, ...]
    unit: str = "s"


def computed_time(settings: FamilySettings, at: Mapping[str, float]) -> ComputedTime:
    """Compute a template.

    Parameters
    ----------
    settings : FamilySettings
        The template with all its facts.
    at : mapping of str to float
        A value of each input.

    Raises
    ------
    InputError
        When a name has no value, units do not fit, or the result is no time.
    """
    inputs = tuple(ModelInput(one, meaning_of(one), when=when_of(one)) for one in at)
    nothing = RunTable(inputs, np.zeros((0, len(inputs))), np.zeros(0))
    form = template_form(nothing, settings)
    if unknown := free_names(form, nothing, settings):
        raise InputError(
            f"the template names {unknown[0]}, which has no value; give it with --at "
            f"or --fact, or give runs that it is fitted to; "
            f"{known_names(nothing, settings)}"
        )
    used = names(form.substituted)
    if unused := [name for name in at if name not in used]:
        raise InputError(
            f"the template has no input {unused[0]}; it has {', '.join(used) or 'none'}"
        )
    value = float(evaluate(form.substituted, at))
    if not SMALLEST <= value <= LARGEST:
        shown = ", ".join(f"{name}={number:g}" for name, number in at.items())
        raise InputError(
            f"the template says {value:g} s at {shown}, which is no time; it may "
            "divide by 0, or grow beyond what a computer can write"
        )
    doubt = Doubt(
        "no-runs",
        "no run was compared with the template, so there is no interval",
        "give runs of the program: a CSV file, or --app",
    )
    return ComputedTime(tuple(at.items()), value, form, (doubt,))
