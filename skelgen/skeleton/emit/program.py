"""Write a plan as a C program.

Its pieces say what they use, and what the program has to define follows from that:
the template is filled once.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

import skelgen
from skelgen.reference.calibration import ComputeCalibration
from skelgen.reference.compute import ComputeNumbers
from skelgen.rendering.c_template import fill
from skelgen.rendering.c_text import c_string
from skelgen.signature import Signature
from skelgen.skeleton.emit.calls.arguments import Surroundings
from skelgen.skeleton.emit.calls.completion import most_requests, slots_of
from skelgen.skeleton.emit.calls.windows import Window, partners, windows
from skelgen.skeleton.emit.data.communicators import (
    NamedFamily,
    Partners,
    Split,
    groups,
    splits,
)
from skelgen.skeleton.emit.data.memory import Memory, extent, lay_out
from skelgen.skeleton.emit.data.tables import ProgramTables
from skelgen.skeleton.emit.fragments import (
    Fragment,
    Use,
    UseKind,
    Uses,
    helpers,
    union,
)
from skelgen.skeleton.emit.functions import written
from skelgen.skeleton.emit.helpers import Needs, followed
from skelgen.skeleton.emit.layout import COLUMNS, width, wrap
from skelgen.skeleton.emit.program_length import check_steps
from skelgen.skeleton.emit.ranks import condition, ranks_text
from skelgen.skeleton.emit.texts import (
    Function,
    RoutineText,
    Section,
    SharedFunction,
)
from skelgen.skeleton.share.routines import Routine, routines
from skelgen.skeleton.types import Plan

#: Longest name of a call site that stands behind its call.
_LONGEST_SITE = 32
_WORLD = 0
_NONE = Fragment("")


def program_text(plan: Plan, calibration: ComputeCalibration) -> str:
    """Return the text of ``skeleton.c``.

    Parameters
    ----------
    plan : Plan
    calibration : ComputeCalibration

    Raises
    ------
    InputError
        When the plan holds what a skeleton cannot repeat, or far too many calls.
    """
    plan = replace(plan, programs=plan.served or plan.programs)
    signature, pieces = plan.signature, _pieces(plan)
    steps = [step for routine in pieces.joined for step in routine.steps]
    work = ComputeNumbers.of(calibration, plan.query_gaps)
    used = pieces.uses
    if Use(UseKind.HELPER, "compute") in used:
        used |= _work_uses(work)
    most = max((most_requests(around) for around in pieces.around), default=0)
    needs = Needs.of(used, pieces.tables, steps, signature.families, most)
    return fill(
        "skeleton.c.j2",
        application=signature.provenance.application,
        # The inside of a JSON string, which the program prints.
        application_json=json.dumps(signature.provenance.application)[1:-1],
        version=skelgen.__version__,
        scaling_factor=f"{plan.scaling_factor:.6g}",
        ranks=signature.ranks,
        work=work,
        groups=[group.name for group in pieces.families if group is not None],
        self_group=len(pieces.families) > 1 and pieces.families[1] is not None,
        splits=pieces.splits,
        windows=pieces.windows,
        partners=pieces.partners,
        serving=pieces.serving.text,
        memory=_sizes([surroundings.memory for surroundings in pieces.around]),
        sections=len(pieces.names),
        section_names=_strings(pieces.names),
        parts=pieces.parts,
        left=pieces.left,
        persistent=any(step.info.persistent for step in steps),
        needs=needs,
    )


@dataclass(frozen=True, slots=True)
class _Pieces:
    """The pieces of a program, of which follows what else it has to define.

    Attributes
    ----------
    joined : tuple of Routine
    around : tuple of Surroundings
        Of each routine.
    families : tuple of NamedFamily or None
    windows : tuple of Window
    tables : ProgramTables
    parts : tuple of RoutineText
    names : tuple of str
        Of the sections.
    splits : tuple of Split
    serving : Fragment
        Condition for being a rank that serves others; empty for none.
    """

    joined: tuple[Routine, ...]
    around: tuple[Surroundings, ...]
    families: tuple[NamedFamily | None, ...]
    windows: tuple[Window, ...]
    tables: ProgramTables
    parts: tuple[RoutineText, ...]
    names: tuple[str, ...]
    splits: tuple[Split, ...]
    serving: Fragment

    @property
    def partners(self) -> tuple[Partners, ...]:
        """Return the groups that calls on windows name."""
        return self.around[0].partners

    @property
    def left(self) -> bool:
        """Return whether requests are left when the routines have ended."""
        return any(routine.lifetimes.left for routine in self.joined)

    @property
    def uses(self) -> Uses:
        """Return what all pieces use, and the set-up for them."""
        set_up = [
            ("expose", self.windows),
            ("partners_in", self.partners),
            ("status", self.left),
        ]
        return union(
            [
                *(part.uses for part in self.parts),
                *(split.uses for split in self.splits),
                self.serving.uses,
                helpers(*(name for name, wanted in set_up if wanted)),
            ]
        )


def _pieces(plan: Plan) -> _Pieces:
    signature, joined = plan.signature, routines(plan)
    check_steps(joined, signature)
    steps = [step for routine in joined for step in routine.steps]
    used = {step.family for step in steps} | {_WORLD}
    topologies = {step.family for step in steps if step.info.neighbourhood}
    families = groups(signature, used, topologies)
    tables = ProgramTables()
    around = _surroundings(signature, joined, families, tables)
    exposed, targets = windows(joined, families, [one.extents for one in around])
    around = [
        replace(one, targets=own) for one, own in zip(around, targets, strict=True)
    ]
    stems = [f"part_{i}_" if len(joined) > 1 else "" for i in range(len(joined))]
    texts = [written(a, stem) for a, stem in zip(around, stems, strict=True)]
    parts = _parts(joined, texts, stems, tables)
    made = splits(families, signature.ranks, tables)
    serving = [rank for r in joined for rank in r.ranks if r.serves]
    return _Pieces(
        tuple(joined),
        tuple(around),
        families,
        exposed,
        tables,
        tuple(parts),
        tuple(_section_names(joined, [found for _, found in texts])),
        made,
        _condition("serving", serving, signature.ranks, tables) if serving else _NONE,
    )


def _work_uses(work: ComputeNumbers) -> Uses:
    """Return the parts that computation consists of."""
    pieces = {
        "arithmetic": work.arithmetic,
        "streaming": work.streaming,
        "chasing": work.chasing,
        "work_and_ask": work.query_gaps,
        "prepare_compute": work.streaming or work.chasing,
    }
    return helpers(*(name for name, wanted in pieces.items() if wanted))


def _surroundings(
    signature: Signature,
    joined: Sequence[Routine],
    families: tuple[NamedFamily | None, ...],
    tables: ProgramTables,
) -> list[Surroundings]:
    sites = tuple(_short_site(site) for site in signature.sites)
    named = partners(joined, families)
    found = []
    for routine in joined:
        sizes = [group.size if group else 1 for group in families]
        extents = tuple(extent(step, sizes[step.family]) for step in routine.steps)
        memory = lay_out(routine, extents)
        around = Surroundings(routine, memory, extents, families, tables, sites)
        looked_up = [
            age < 0
            for i in routine.lifetimes.references
            if slots_of(around, i) is None
            for age in routine.steps[i].ages
        ]
        found.append(replace(around, by_age=frozenset(looked_up), partners=named))
    return found


def _short_site(site: str) -> str:
    here = site.partition(" < ")[0]  # without its callers
    short = re.sub(r"[^\w.+\-]", "", here.rpartition("/")[2], flags=re.ASCII)
    return short if len(short) <= _LONGEST_SITE else ""


def _section_names(
    joined: Sequence[Routine], written: Sequence[Sequence[Section]]
) -> list[str]:
    """Name the sections of all routines; equal structures share their names."""
    shapes = {tuple(section.title for section in found) for found in written}
    if len(shapes) == 1:
        return list(shapes.pop())
    return [
        f"{ranks_text(routine.ranks)}: {section.title}"
        for routine, found in zip(joined, written, strict=True)
        for section in found
    ]


def _parts(
    joined: Sequence[Routine],
    texts: Sequence[tuple[Sequence[SharedFunction], Sequence[Section]]],
    stems: Sequence[str],
    tables: ProgramTables,
) -> list[RoutineText]:
    ranks = sum(len(routine.ranks) for routine in joined)
    sections = [found for _, found in texts]
    inside = [
        union([*(one.uses for one in stretches), *(one.uses for one in found)])
        for stretches, found in texts
    ]
    by_row = Use(UseKind.HELPER, "row") in followed(union(inside), tables)
    functions = _functions(sections, stems)
    parts: list[RoutineText] = []
    for number, routine in enumerate(joined):
        chosen, row, stem = _NONE, _NONE, f"in_part_{number}"
        if number + 1 < len(joined):
            chosen = _condition(stem, routine.ranks, ranks, tables)
        if by_row:
            row = _row(routine.ranks, tables, ranks)
        parts.append(
            RoutineText(
                f"part_{number}",
                ranks_text(routine.ranks).capitalize(),
                chosen.text,
                row.text,
                tuple(texts[number][0]),
                functions[number],
                union([inside[number], chosen.uses, row.uses]),
            )
        )
    return parts


def _functions(
    sections: Sequence[Sequence[Section]], stems: Sequence[str]
) -> list[tuple[Function, ...]]:
    """Name and number the sections of each routine."""
    shared = len({tuple(one.title for one in found) for found in sections}) == 1
    functions, before = [], 0
    for stem, found in zip(stems, sections, strict=True):
        functions.append(
            tuple(
                Function(
                    stem + section.title.replace(" ", "_").replace("-", "_"),
                    i if shared else before + i,
                    section.about,
                    section.lines,
                )
                for i, section in enumerate(found)
            )
        )
        before += len(found)
    return functions


def _condition(
    stem: str, ranks: Sequence[int], all_: int, tables: ProgramTables
) -> Fragment:
    """Write the condition that holds on some ranks."""
    if words := condition(ranks, range(all_)):
        return Fragment(words)
    member = np.isin(np.arange(all_), ranks).astype(float)
    table = tables.constant("int", stem, member)
    return Fragment(f"{table.text}[world.rank]", table.uses)


def _row(ranks: Sequence[int], tables: ProgramTables, all_: int) -> Fragment:
    """Write the row of a rank in the tables of its part."""
    low = ranks[0]
    if len(ranks) == ranks[-1] - low + 1:
        return Fragment(f"world.rank - {low}" if low else "world.rank")
    row = np.zeros(all_)
    row[list(ranks)] = range(len(ranks))
    table = tables.constant("int", "row_of", row)
    return Fragment(f"{table.text}[world.rank]", table.uses)


@dataclass(frozen=True, slots=True)
class _Sizes:
    """Memory of the whole program: the largest of its routines."""

    send_bytes: int
    receive_bytes: int
    attached_bytes: int
    requests: int


def _sizes(memories: Sequence[Memory]) -> _Sizes:
    return _Sizes(
        max(memory.send_bytes for memory in memories),
        max(memory.receive_bytes for memory in memories),
        max(memory.attached_bytes for memory in memories),
        max(memory.requests.cells for memory in memories),
    )


def _strings(names: Sequence[str]) -> list[str]:
    """Write the table of the sections' names."""
    head = "static const char *const section_names[] = {"
    words = [c_string(name) for name in names]
    line = head + ", ".join(words) + "};"
    if width(line) <= COLUMNS:
        return [line]
    return [head, *wrap(words, 1), "};"]
