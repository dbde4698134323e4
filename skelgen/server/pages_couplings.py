"""Pages of kernels and their couplings, and the one that predicts their loop."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace

from skelgen.errors import SkelgenError, UsageError
from skelgen.models.families import FAMILIES
from skelgen.models.formulas import parse
from skelgen.pipeline.kernels import (
    CouplingQuestion,
    KnownKernels,
    chain_length,
    coupled_apart,
    coupling_command,
    kernel_applications,
    known_kernels,
    systems_of_kernels,
)
from skelgen.pipeline.run_pool import number_typed, written
from skelgen.server.settings import Answer, Question
from skelgen.web import site_couplings, site_kernels
from skelgen.web.site_kernels import FIXED, FORMULA, TYPE, CouplingSteps

#: Fields of `/couplings` and of `/model/coupling`, besides those of each kernel.
LISTED = ("app", "system")
COUPLING_FIELDS = ("app", "system", "chain", "over", "low", "high", "to", "step")
#: Places and kernels that a page shows.
_MOST_PLACES, _MOST_KERNELS = 20, 20


def couplings(question: Question) -> Answer:
    """Show the couplings of an application, a matrix for each place."""
    place, asked = question.settings.store, question.query
    applications = tuple(kernel_applications(place))
    name = asked.get("app", "") or next(iter(applications), "")
    shown = site_couplings.CouplingsShown(applications, name, asked.get("system", ""))
    if not applications:
        return site_couplings.couplings_page(shown)
    try:
        systems = systems_of_kernels(place, name)
        shown = replace(shown, systems=tuple(systems))
        found = known_kernels(place, name, _where_system(asked))
    except SkelgenError as error:
        return site_couplings.couplings_page(replace(shown, problem=str(error)))
    places = tuple(
        site_couplings.ShownPlace(one.shown, one.chains)
        for one in found.places[:_MOST_PLACES]
    )
    return site_couplings.couplings_page(replace(shown, loop=found.loop, places=places))


def _where_system(asked: Mapping[str, str]) -> tuple[str, ...]:
    system = asked.get("system", "")
    return (f"system={system}",) if system else ()


def model_coupling(question: Question) -> Answer:
    """Show the steps from kernels to their loop, and what it takes."""
    place, asked = question.settings.store, dict(question.query)
    steps = CouplingSteps(asked, tuple(kernel_applications(place)))
    command, found = "", None
    try:
        steps = _known(question, steps)
        if steps.step == 3 and asked.get("step") == "4":
            wanted = asked_coupling(question, steps)
            command, found = coupling_command(wanted), coupled_apart(wanted)
    except SkelgenError as error:
        steps, found = replace(steps, problem=str(error)), None
    return site_kernels.coupling_page(steps, command, found)


def _known(question: Question, steps: CouplingSteps) -> CouplingSteps:
    """Return the steps with what the store has of what was chosen."""
    asked, place = steps.chosen, question.settings.store
    if not asked.get("app"):
        return steps
    systems = tuple(systems_of_kernels(place, asked["app"]))
    steps = replace(steps, systems=systems)
    chosen = "system" in asked or asked.get("step") in ("3", "4")  # empty: any
    if not chosen and len(systems) > 1:
        return steps  # the paper's first step: the application, then its systems
    found = known_kernels(place, asked["app"], _where_system(asked))
    _check_kernels(found)
    steps = replace(
        steps, step=2, loop=found.loop, inputs=found.inputs, families=_families()
    )
    if asked.get("step") in ("3", "4"):
        _check_types(steps)
        steps = replace(steps, step=3)
    return steps


def _check_kernels(found: KnownKernels) -> None:
    if len(found.loop) > _MOST_KERNELS:
        raise UsageError(
            f"the loop has {len(found.loop)} kernels; at most {_MOST_KERNELS} are "
            "predicted here, the command line takes more: skelgen model couple"
        )


def _families() -> tuple[tuple[str, str], ...]:
    """Return the graph types that a kernel can have."""
    found = [one.name for one in FAMILIES.values() if not one.told]
    first = {"default": "default (choose for me)"}
    return tuple((name, first.get(name, name)) for name in found)


def _check_types(steps: CouplingSteps) -> None:
    """Refuse what is no graph type, and formulas that cannot be read."""
    known = [name for name, _ in steps.families]
    for kernel in steps.loop:
        kind = steps.chosen.get(f"{TYPE}{kernel}", "")
        if kind and kind not in known:
            raise UsageError(
                f"{kernel[:40]}: there is no graph type {kind[:40]!r}; there are "
                f"{', '.join(known)}"
            )
        if formula := steps.chosen.get(f"{FORMULA}{kernel}", "").strip():
            parse(formula)
    over = steps.chosen.get("over", "")
    if over and over not in [name for name, _ in steps.inputs]:
        raise UsageError(f"the runs have no input {over[:40]!r} that differs")


def asked_coupling(question: Question, steps: CouplingSteps) -> CouplingQuestion:
    """Return what is asked of the kernels.

    Raises
    ------
    UsageError
        When a value is no number.
    """
    asked = steps.chosen
    where, at = [*_where_system(asked)], []
    for name, ran in steps.inputs:
        if name == asked.get("over", ""):
            low, high = _number(asked, "low"), _number(asked, "high")
            where += [f"{name}>={low}", f"{name}<={high}"]
            at.append(f"{name}={_number(asked, 'to')}")
        else:
            fixed = _number(asked, f"{FIXED}{name}")
            # Where nothing ran, kernels are modelled by this input, too.
            where += [f"{name}={fixed}"] if float(fixed) in ran else []
            at.append(f"{name}={fixed}")
    families, templates = [], []
    for kernel in steps.loop:
        formula = asked.get(f"{FORMULA}{kernel}", "").strip()
        kind = asked.get(f"{TYPE}{kernel}", "")
        if formula:
            templates.append(f"{kernel}={formula}")
        elif kind not in ("", "default"):
            families.append(f"{kernel}={kind}")
    return CouplingQuestion(
        question.settings.store,
        asked["app"],
        tuple(where),
        ",".join(at),
        chain_length(asked.get("chain", "")),
        tuple(families),
        tuple(templates),
    )


def _number(asked: Mapping[str, str], name: str) -> str:
    """Return a number that was typed, as conditions and values have it."""
    found = number_typed(asked.get(name, ""), name.removeprefix(FIXED)[:40])
    if math.isnan(found):
        raise UsageError(f"{name.removeprefix(FIXED)[:40]}: give a number, such as 64")
    return written(found)
