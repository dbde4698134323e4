"""Templates of a user: read the formula and its facts, fit or compute it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from skelgen.documents.files import read_text
from skelgen.errors import InputError, NoFileError, UsageError
from skelgen.models.facts import TemplateFacts, read_facts
from skelgen.models.families.contract import FamilySettings
from skelgen.models.formulas import Expression, calls, names, parse
from skelgen.models.template_values import ComputedTime, computed_time
from skelgen.pipeline.known_systems import SystemRows, chosen, known_systems
from skelgen.pipeline.model import RunSource
from skelgen.pipeline.model_keep import kept_model
from skelgen.pipeline.template_facts import facts_of, told_doubts
from skelgen.store import open_store

#: The family that is told a formula, and the one that a user means without a word.
FAMILY, _DEFAULT = "template", "default"

#: Files of formulas are no longer than this [bytes].
_LONGEST_FILE = 1 << 20


@dataclass(frozen=True, slots=True)
class TemplateRequest:
    """What a user says of a template.

    Attributes
    ----------
    template : str
        A formula, a file with one, or the name of a template of the store or of a
        kept model that has one.
    facts : tuple of str
        Such as ``L=1024 bytes``.
    system : str
        Host or system of the store.
    store : str or None
    formula_only : bool
        The template is a formula, and no file or row is looked for: who asks may not
        read files.
    """

    template: str = ""
    facts: tuple[str, ...] = ()
    system: str = ""
    store: str | None = None
    formula_only: bool = False


@dataclass(frozen=True, slots=True)
class ChosenFamily:
    """A family with its settings.

    Attributes
    ----------
    name : str
    asked : str
        The one that the user named; empty: none.
    settings : FamilySettings or None
        With the formula of a template; None for other families.
    typed : tuple of str
        Names of facts that the user typed.
    rows : SystemRows or None
        What is known of the system.
    """

    name: str
    asked: str = ""
    settings: FamilySettings | None = None
    typed: tuple[str, ...] = ()
    rows: SystemRows | None = None

    def of(self, source: RunSource) -> RunSource:
        """Return the source with the family, and the inputs that a template names."""
        if self.settings is None or self.settings.template is None:
            return replace(source, family=self.asked)
        template = self.settings.template
        ranks = ("ranks",) if calls(template) else ()
        return replace(source, named=(*names(template), *ranks), facts=self.typed)


def chosen_family(family: str, request: TemplateRequest) -> ChosenFamily:
    """Return the family that a user asks for, with its formula and its facts.

    Parameters
    ----------
    family : str
        Empty where the user named none.
    request : TemplateRequest

    Raises
    ------
    UsageError
        When the options do not belong together, or the formula does not parse.
    InputError
        When a file cannot be read.
    """
    if not request.template:
        if request.facts or request.system:
            option = "--fact" if request.facts else "--system"
            raise UsageError(
                f"{option} is for a formula of yours; give one: --template "
                "'a*n^3/ranks + b'"
            )
        if family == FAMILY:
            raise UsageError(
                "--family template needs a formula; give one: --template "
                "'a*n^3/ranks + b'"
            )
        return ChosenFamily(family or _DEFAULT, family)
    if family not in ("", FAMILY):
        raise UsageError(
            f"--template gives the form of the model, and --family {family[:40]} has "
            "another; leave one of them out"
        )
    return _told(request)


def _told(request: TemplateRequest) -> ChosenFamily:
    text, formula = _formula(request)
    try:
        typed = read_facts(request.facts)
    except InputError as error:
        raise UsageError(f"--fact: {error}") from error
    _all_named(typed, formula)
    rows, known = None, TemplateFacts()
    if request.system:
        rows = chosen(known_systems(store=request.store), request.system)
        known = facts_of(rows)
    facts = typed.over(known)
    settings = FamilySettings(
        template=formula,
        facts=facts.values,
        units=facts.units,
        definitions=facts.definitions,
        text=text,
        system=request.system,
    )
    return ChosenFamily(FAMILY, FAMILY, settings, typed.names, rows)


def _all_named(typed: TemplateFacts, formula: Expression) -> None:
    """Refuse facts that the formula does not use: one of the names is mistyped."""
    used = (*names(formula), *calls(formula))
    if unused := [name for name in typed.names if name not in used]:
        raise UsageError(
            f"--fact: the template does not name {unused[0]}; it names "
            f"{', '.join(used) or 'nothing'}"
        )


def _formula(request: TemplateRequest) -> tuple[str, Expression]:
    """Return the text of a formula and what it means."""
    text = request.template.strip()
    if request.formula_only:
        return text, parse(text)
    if (content := _of_file(text)) is not None:
        try:
            return content, parse(content)
        except InputError as error:
            raise InputError(f"{text[:200]}: {error}") from error
    if text.isidentifier():
        text = _of_store(text, request.store)
    try:
        return text, parse(text)
    except InputError as error:
        ending = Path(text[-20:]).suffix[1:]
        either = "; there is no file of that name, either" if ending.isalpha() else ""
        raise UsageError(f"--template: {error}{either}") from error


def _of_file(text: str) -> str | None:
    """Return the formula in a file; None where there is no such file."""
    try:
        found = Path(text).is_file()
    except (OSError, ValueError):  # too long for the name of a file, or no text
        return None
    if not found:
        return None
    lines = read_text(Path(text), most_bytes=_LONGEST_FILE).splitlines()
    kept = [line.partition("#")[0].strip() for line in lines]
    return " ".join(line for line in kept if line)


def _of_store(name: str, store: str | None) -> str:
    """Return a template of a store: a row of its own, or that of a kept model."""
    form = None
    try:
        with open_store(store, make=False) as opened:
            rows = [one for one in opened.templates() if one.name == name]
        if len({one.formula for one in rows}) > 1:
            whose = ", ".join(sorted({one.application for one in rows})[:5])
            raise InputError(
                f"{name[:60]}: the store has several templates of that name (of "
                f"{whose}); give the formula"
            )
        if rows:
            return rows[0].formula
        form = kept_model(store, name).model.template
    except NoFileError:
        pass
    except InputError as error:
        raise InputError(f"--template: {error}") from error
    if form is None:
        raise UsageError(
            f"--template: {name[:60]!r} is no file and no model of the store that has "
            "a template; give a formula, such as 'a*n^3/ranks + b'"
        )
    return form.text


def computed(chosen: ChosenFamily, at: Mapping[str, float]) -> ComputedTime:
    """Compute a template without runs, with the doubts of its facts.

    Raises
    ------
    InputError
    """
    # The process that fits a template computes none.
    # A process that only fits functions stays small.
    from skelgen.systems.doubts import doubts_of

    assert chosen.settings is not None and chosen.settings.template is not None
    _not_both(at, chosen.typed)
    found = computed_time(chosen.settings, at)
    if chosen.rows is None:
        return found
    template = chosen.settings.template
    used = [
        one
        for one in (*names(template), *calls(template))
        if one not in (*at, *chosen.typed)
    ]
    doubts = doubts_of(told_doubts(chosen.rows, used))
    return replace(found, doubts=(*found.doubts, *doubts))


def _not_both(at: Mapping[str, float], typed: Sequence[str]) -> None:
    if twice := [name for name in typed if name in at]:
        raise UsageError(f"{twice[0]} is given by --at and by --fact; give it once")
