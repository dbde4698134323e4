"""Families of models: each fits formulas of one form to runs.

In: a `RunTable` and `FamilySettings`. Out: a `FittedFormula`, or an `InputError` that
says what is missing. One module holds one family or one group of a source; `FAMILIES`
has all of them by name.
"""

from skelgen.models.families import default, normal_form, power, workload
from skelgen.models.families.contract import (
    FamilySettings,
    FittedFormula,
    ModelFamily,
    needs,
)
from skelgen.models.families.published import PUBLISHED

#: All families by name, in the order of tables.
FAMILIES: dict[str, ModelFamily] = {
    one.name: one
    for one in (
        default.DEFAULT_FAMILY,
        normal_form.NORMAL_FORM_FAMILY,
        power.POWER_FAMILY,
        workload.WORKLOAD_FAMILY,
        *PUBLISHED,
    )
}

__all__ = ["FAMILIES", "FamilySettings", "FittedFormula", "ModelFamily", "needs"]
