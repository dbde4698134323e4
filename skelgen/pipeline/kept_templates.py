"""Templates that a store has: rows of their own, and those of models that are kept."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from skelgen.errors import InputError
from skelgen.models.facts import fact_texts
from skelgen.models.formulas import Expression, calls, names, parse
from skelgen.models.formulas.dimensions import dimension, shown
from skelgen.pipeline.kept_model import KeptModel
from skelgen.pipeline.known_systems import SystemRows, chosen, known_systems
from skelgen.pipeline.model import RunSource, good_runs, numbers_of
from skelgen.pipeline.model_keep import kept_models
from skelgen.pipeline.template_facts import FACT_WORDS, facts_of
from skelgen.progress import NO_PROGRESS
from skelgen.store import open_store
from skelgen.store.lines import identity_of


@dataclass(frozen=True, slots=True)
class KeptTemplate:
    """A template of a store.

    Attributes
    ----------
    identity, name, application : str
    text : str
        The formula as its author wrote it.
    formula : Expression or None
        None where it cannot be read.
    fault : str
        Why it cannot.
    inputs : tuple of str
        That its row names, or its model has.
    model : KeptModel or None
        That was fitted to it; None for a row of its own.
    """

    identity: str
    name: str
    application: str
    text: str
    formula: Expression | None
    fault: str
    inputs: tuple[str, ...] = ()
    model: KeptModel | None = None


@dataclass(frozen=True, slots=True)
class TemplateNames:
    """What the names of a formula are.

    Attributes
    ----------
    inputs : tuple of str
    facts : tuple of (str, str)
        Each with its value and unit, or its formula; empty where no system is chosen.
    free : tuple of str
        Coefficients that are fitted to runs, or must be given.
    unit : str
        Of the formula, for people.
    fault : str
        Why the units do not fit; empty where they do.
    """

    inputs: tuple[str, ...]
    facts: tuple[tuple[str, str], ...]
    free: tuple[str, ...]
    unit: str = ""
    fault: str = ""


def kept_templates(place: str | None) -> list[KeptTemplate]:
    """Return the templates of a store by name: its rows, and those of its models."""
    with open_store(place, make=False) as store:
        rows = store.templates()
    found = [
        _template(identity_of(row), row.name, row.application, row.formula, row.inputs)
        for row in rows
    ]
    for one in kept_models(place, faults=[]):
        if one.model.template is not None:
            inputs = tuple(each.input.name for each in one.model.inputs)
            whose = one.origin.application
            text = one.model.template.text
            found.append(_template(one.identity, one.name, whose, text, inputs, one))
    return sorted(found, key=lambda one: (one.application, one.name))


def _template(
    identity: str,
    name: str,
    application: str,
    text: str,
    inputs: tuple[str, ...],
    model: KeptModel | None = None,
) -> KeptTemplate:
    formula, fault = None, ""
    try:
        formula = parse(text)
    except InputError as error:
        fault = str(error)
    return KeptTemplate(
        identity, name, application, text, formula, fault, inputs, model
    )


def kept_template(place: str | None, identity: str) -> KeptTemplate:
    """Return a template of a store by its identity, or by a name that one has only.

    Raises
    ------
    InputError
        When there is none.
    """
    known = kept_templates(place)
    named = [one for one in known if one.name == identity]
    for one in [*(one for one in known if one.identity == identity), *named]:
        if one.identity == identity or len(named) == 1:
            return one
    raise InputError(
        f"{identity[:60]}: there is no such template; /templates lists them"
    )


def typed_template(text: str, application: str = "") -> KeptTemplate:
    """Return a formula that somebody typed as a template without a name."""
    return _template("", "", application, text.strip(), ())


def input_ranges(
    place: str | None, application: str, where: Sequence[str] = ()
) -> dict[str, tuple[float, float]]:
    """Return the numbers that all runs of an application have: smallest and largest.

    Raises
    ------
    InputError
        When it has no runs that ended well.
    """
    source = RunSource(store=place, application=application, where=tuple(where))
    try:
        rows = [numbers_of(one) for one in good_runs(source, NO_PROGRESS)]
    except InputError as error:
        if not where:
            raise
        raise InputError(
            f"{application[:60]}: no run with {', '.join(where)[:100]} ended well; "
            "choose another system or none, or compute it from facts alone"
        ) from error
    names = [name for name in rows[0] if all(name in row for row in rows)]
    return {
        name: (min(row[name] for row in rows), max(row[name] for row in rows))
        for name in names
    }


def system_rows(place: str | None, name: str) -> SystemRows:
    """Return what was measured of a host or system.

    Raises
    ------
    UsageError
        When nothing was.
    """
    return chosen(known_systems(store=place), name)


def names_of_template(
    formula: Expression, inputs: Collection[str], rows: SystemRows | None = None
) -> TemplateNames:
    """Say which names of a formula are inputs, facts of a system, and coefficients.

    Parameters
    ----------
    formula : Expression
    inputs : collection of str
        Known ones.
    rows : SystemRows, optional
        Of the system whose facts it uses; without one the words of the 2005 paper are
        facts.
    """
    used = names(formula)
    taken = [one for one in used if one in inputs]
    if rows is None:
        said = [(one, "") for one in (*used, *calls(formula)) if one in FACT_WORDS]
        units: Mapping[str, str] = FACT_WORDS
    else:
        known = facts_of(rows)
        texts = (one.partition("=") for one in fact_texts(known, formula))
        said = [(name, value) for name, _, value in texts]
        words = dict.fromkeys(known.definitions, "s")
        units = {**words, **known.units}
    facts = tuple(one for one in said if one[0] not in taken)
    plain = [name for name, _ in facts]
    free = tuple(one for one in used if one not in (*taken, *plain))
    unit, fault = _unit(formula, units, free)
    return TemplateNames(tuple(taken), facts, free, unit, fault)


def _unit(
    formula: Expression, units: Mapping[str, str], free: Collection[str]
) -> tuple[str, str]:
    """Return the unit of a formula, or why its parts do not fit together."""
    try:
        return shown(dimension(formula, units, free)), ""
    except InputError as error:
        return "", str(error)


def asked_names(
    formula: Expression,
    known: Collection[str] | None,
    rows: SystemRows | None,
    facts: Collection[str],
) -> tuple[str, ...]:
    """Return the names of a formula that somebody has to give a value.

    Parameters
    ----------
    formula : Expression
    known : collection of str or None
        What all runs have that it is fitted to; None: it is computed, so that all
        names need a value.
    rows : SystemRows or None
        Of the system whose facts it uses.
    facts : collection of str
        Names that were given a value already.
    """
    measured: Collection[str] = () if rows is None else facts_of(rows).names
    return tuple(
        one
        for one in names(formula)
        if one not in facts
        and (one in known if known is not None else one not in measured)
    )
