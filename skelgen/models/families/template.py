"""A formula of the user: inputs, facts of a system, and coefficients that are fitted.

Names that are neither inputs nor facts are coefficients. Those that the formula is
linear in are found by least squares, the others by steps from several starts.

References
----------
Wu, Taylor, Paris 2005, section 3.2, figures 7 and 8.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from skelgen.errors import InputError
from skelgen.models.facts import TemplateFacts, fact_texts
from skelgen.models.families.contract import (
    FamilySettings,
    FittedFormula,
    ModelFamily,
    TemplateForm,
    needs,
)
from skelgen.models.families.formula_parts import used
from skelgen.models.families.least_squares import solve
from skelgen.models.families.nonlinear import minimise
from skelgen.models.families.separability import inseparable
from skelgen.models.families.template_facts import substituted
from skelgen.models.formulas import (
    Expression,
    Name,
    Number,
    evaluate,
    names,
    parse,
    replaced,
    to_text,
)
from skelgen.models.runs import Floats, RunTable
from skelgen.trust import Doubt

#: Values that coefficients start from where the formula is not linear in them, and
#: steps from each.
_STARTS, _STEPS = (1.0, 0.5, 2.0, 0.1, -0.5), 60

#: Facts that the paper names: who writes them does not mean coefficients.
FACTS_OF_THE_PAPER = ("ADDM", "IADD", "IMADD")

#: Names that have a meaning: who writes them does not mean coefficients.
_MEANT = ("ranks", "nodes", "ranks_per_node", "cpu", "bandwidth")

#: Names in a message.
_SHOWN = 30

#: A formula is linear where it differs from a line by less than this part.
_LINEAR = 1e-9


def _fit(runs: RunTable, settings: FamilySettings) -> FittedFormula:
    form = template_form(runs, settings)
    formula = form.substituted
    free = free_names(form, runs, settings)
    _enough(runs, free, settings)
    task = _Task(formula, free, runs, settings.non_negative)
    values, lost = task.best() if free else (np.zeros(0), ())
    zeros = all(
        not value for name, value in zip(free, values, strict=True) if name in lost
    )
    written = _with(formula, dict(zip(free, map(float, values), strict=True)))
    inputs, dropped = used(written, runs)
    found = FittedFormula(
        "template",
        written,
        inputs,
        dropped=dropped,
        doubts=(_not_separable(lost, linear=zeros),) if lost else (),
        coefficients=tuple(zip(free, map(float, values), strict=True)),
        template=form,
    )
    return _checked(found, runs)


def template_form(runs: RunTable, settings: FamilySettings) -> TemplateForm:
    """Return a template with the facts of its system in it.

    Parameters
    ----------
    runs : RunTable
        Its inputs stay names; without a run they are what a user asks for.
    settings : FamilySettings

    Raises
    ------
    InputError
        When there is no template, its units do not fit, or it cannot be written.
    """
    if settings.template is None:
        raise InputError(
            "template needs a formula, such as a*n^3/p + b*n; give one with "
            "--template, or choose another family"
        )
    formula = substituted(settings.template, runs, settings)
    try:
        parse(to_text(formula))
    except InputError as error:
        raise InputError(
            "the template with its facts is longer or deeper than formulas that can "
            "be read back; give the sizes in it as facts, or write it in parts"
        ) from error
    facts = TemplateFacts(settings.facts, settings.units, settings.definitions)
    return TemplateForm(
        settings.text or to_text(settings.template),
        formula,
        fact_texts(facts, settings.template),
        settings.system,
    )


def free_names(
    form: TemplateForm, runs: RunTable, settings: FamilySettings
) -> tuple[str, ...]:
    """Return the coefficients of a template: names that are no inputs and no facts.

    Raises
    ------
    InputError
        When such a name looks like an input or a fact that is missing.
    """
    inputs = [one.name for one in runs.inputs]
    free = tuple(name for name in names(form.substituted) if name not in inputs)
    alike = {one.lower(): one for one in inputs}
    for name in free:
        if name in FACTS_OF_THE_PAPER:
            raise InputError(
                f"the template names {name}, a fact of a system: name the system with "
                f"--system, or give --fact '{name}=1 ns'; {known_names(runs, settings)}"
            )
        if name in _MEANT:
            raise InputError(
                f"the template names {name}, which not every run has; write what they "
                f"have (nodes*ranks_per_node); {known_names(runs, settings)}"
            )
        if name.lower() in alike:
            raise InputError(
                f"the template names {name}, and the input is "
                f"{alike[name.lower()]}; write it alike"
            )
    return free


def known_names(runs: RunTable, settings: FamilySettings) -> str:
    """Say which names a template can use that are not fitted."""
    inputs = [one.name for one in runs.inputs]
    found = [*inputs, *sorted({*settings.facts, *settings.definitions} - {*inputs})]
    return f"known: {', '.join(found[:_SHOWN]) or 'no names'}"


def _enough(runs: RunTable, free: tuple[str, ...], settings: FamilySettings) -> None:
    try:
        needs(runs, max(1, len(free)), "template")
    except InputError as error:
        raise InputError(
            f"{error}; its coefficients are {', '.join(free[:_SHOWN])}; "
            f"{known_names(runs, settings)}"
        ) from error


def _with(formula: Expression, values: dict[str, float]) -> Expression:
    def number(part: Expression) -> Expression | None:
        if isinstance(part, Name) and part.name in values:
            return Number(values[part.name])
        return None

    return replaced(formula, number)


@dataclass(frozen=True, slots=True)
class _Task:
    """What is to be fitted.

    Attributes
    ----------
    formula : Expression
        Of inputs and coefficients.
    free : tuple of str
        Coefficients.
    runs : RunTable
    non_negative : bool
    """

    formula: Expression
    free: tuple[str, ...]
    runs: RunTable
    non_negative: bool

    def at(self, values: Floats) -> Floats:
        """Return the formula at the runs for values of the coefficients."""
        known = self.runs.columns | dict(zip(self.free, values, strict=True))
        return np.asarray(
            np.broadcast_to(evaluate(self.formula, known), len(self.runs))
        )

    def best(self) -> tuple[Floats, tuple[str, ...]]:
        """Return the coefficients, and names of those that runs do not determine."""
        linear = self._linear()
        others = [i for i in range(len(self.free)) if i not in linear]
        if not others:
            return self._solved(linear, np.zeros(len(self.free)))
        scale = float(np.max(self.runs.values))

        def whole(some: Floats) -> Floats:
            values = np.zeros(len(self.free))
            values[others] = some
            return self._solved(linear, values)[0] if linear else values

        def residuals(some: Floats) -> Floats:
            with np.errstate(all="ignore"):
                return (self.at(whole(some)) - self.runs.values) / scale

        def squares(some: Floats) -> float:
            rest = residuals(some)
            with np.errstate(all="ignore"):
                return float(rest @ rest) if np.isfinite(rest).all() else np.inf

        starts = [np.full(len(others), start) for start in _STARTS]
        ends = [minimise(residuals, start, most=_STEPS) for start in starts]
        found = min(ends, key=squares)
        if not np.isfinite(squares(found)):
            raise InputError(
                f"template found no values for {', '.join(self.free)} at which the "
                "formula is a number in all runs; write it in another way"
            )
        values = whole(found)
        return values, inseparable(self.at, values, self.free)

    def _linear(self) -> list[int]:
        """Return coefficients that the formula is linear in, whatever the others."""
        found: list[int] = []
        for i in range(len(self.free)):
            if self._is_linear([*found, i]):
                found.append(i)
        return found

    def _is_linear(self, chosen: list[int]) -> bool:
        random = np.random.default_rng(0)
        base = random.uniform(0.5, 1.5, len(self.free))
        base[chosen] = 0.0
        with np.errstate(all="ignore"):
            constant, columns = self._columns(chosen, base)
            for _ in range(2):
                at = base.copy()
                at[chosen] = random.uniform(0.5, 1.5, len(chosen))
                parts = columns * at[chosen]
                size = np.abs(constant) + np.sum(np.abs(parts), axis=1)
                off = np.abs(self.at(at) - constant - parts.sum(axis=1))
                if not np.all(off <= _LINEAR * size):  # nan is not
                    return False
        return True

    def _columns(self, chosen: list[int], base: Floats) -> tuple[Floats, Floats]:
        """Return the formula without the chosen ones, and what each adds for 1."""
        constant = self.at(base)
        columns = []
        for i in chosen:
            at = base.copy()
            at[i] = 1.0
            columns.append(self.at(at) - constant)
        return constant, np.stack(columns, axis=1)

    def _solved(
        self, linear: list[int], base: Floats
    ) -> tuple[Floats, tuple[str, ...]]:
        with np.errstate(all="ignore"):
            constant, columns = self._columns(linear, base)
        values = base.copy()
        if not (np.isfinite(constant).all() and np.isfinite(columns).all()):
            values[linear] = np.nan
            return values, ()
        found = solve(
            columns,
            self.runs.values - constant,
            relative_to=self.runs.values if self.non_negative else None,
            non_negative=self.non_negative,
        )
        values[linear] = found.coefficients
        lost = [self.free[i] for j, i in enumerate(linear) if j not in found.kept]
        return values, tuple(lost)


def _not_separable(lost: tuple[str, ...], *, linear: bool) -> Doubt:
    taken = ", and taken as 0" if linear else ""
    return Doubt(
        "not-separable",
        f"not separable in these runs{taken}: {', '.join(lost)}",
        "add runs where what they stand before varies, or give them as facts",
    )


def _checked(found: FittedFormula, runs: RunTable) -> FittedFormula:
    """Refuse a formula that is no number at a run, and say at which."""
    wrong = np.flatnonzero(~np.isfinite(found.at(runs.columns)))
    if not len(wrong):
        return found
    run = ", ".join(
        f"{name} = {column[wrong[0]]:g}" for name, column in runs.columns.items()
    )
    raise InputError(
        f"the template is no number at run {wrong[0] + 1} ({run}): it divides by 0, "
        "or grows beyond what a computer can write; leave that run out, or change it"
    )


TEMPLATE = ModelFamily(
    "template",
    source="Wu, Taylor, Paris 2005, section 3.2",
    assumes="the formula that is given",
    fit=_fit,
    told=True,
)
