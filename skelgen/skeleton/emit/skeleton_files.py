"""Write a plan as a C program with its Makefile and metadata.

Everything is decided in this room and in `share`; the templates lay out.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace

import numpy as np

import skelgen
from skelgen.documents import sealed_json
from skelgen.reference.compute import COMPILER_FLAGS, ComputeCalibration, ComputeNumbers
from skelgen.rendering.c_template import fill
from skelgen.rendering.c_text import c_string
from skelgen.signature import Signature
from skelgen.skeleton.emit.calls.arguments import Surroundings, turn_name
from skelgen.skeleton.emit.calls.completion import slots_of
from skelgen.skeleton.emit.calls.windows import partners, windows
from skelgen.skeleton.emit.data.communicators import NamedFamily, groups, splits
from skelgen.skeleton.emit.data.memory import Memory, extent, lay_out
from skelgen.skeleton.emit.data.tables import ProgramTables
from skelgen.skeleton.emit.functions import Section, SharedFunction, written
from skelgen.skeleton.emit.helpers import Uses
from skelgen.skeleton.emit.layout import COLUMNS, width, wrap
from skelgen.skeleton.emit.ranks import condition, ranks_text
from skelgen.skeleton.share.routines import Routine, routines
from skelgen.skeleton.types import PAPER_2005, Plan

#: Version of ``skeleton.json`` and of what the skeleton prints.
FORMAT = 1
#: Longest name of a call site that stands behind its call.
_LONGEST_SITE = 32
_WORLD = 0


@dataclass(frozen=True, slots=True)
class Function:
    """A section as the template sees it: C name, place in the report, text."""

    name: str
    number: int
    about: str
    lines: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class RoutineText:
    """A routine as the template sees it.

    Attributes
    ----------
    name : str
        C name.
    ranks : str
        Who executes it, for people.
    condition : str
        C condition for being one of them; "" for the last.
    row : str
        C expression for the row of the own rank in tables.
    stretches : tuple of SharedFunction
    functions : tuple of Function
    """

    name: str
    ranks: str
    condition: str
    row: str
    stretches: tuple[SharedFunction, ...]
    functions: tuple[Function, ...]


def render(plan: Plan, *, calibration: ComputeCalibration) -> dict[str, str]:
    """Write a plan as files.

    Parameters
    ----------
    plan : Plan
    calibration : ComputeCalibration
        Speed of the compute operation on the machine of the recording.

    Returns
    -------
    dict of str to str
        Text of ``skeleton.c``, ``Makefile`` and ``skeleton.json``.

    Raises
    ------
    InputError
        When the plan holds what a skeleton cannot repeat.
    """
    return {
        "skeleton.c": _program(plan, calibration),
        "Makefile": fill("Makefile.j2", flags=" ".join(COMPILER_FLAGS)),
        "skeleton.json": sealed_json(_metadata(plan, calibration)),
    }


def _program(plan: Plan, calibration: ComputeCalibration) -> str:
    plan = replace(plan, programs=plan.served or plan.programs)
    signature, joined = plan.signature, routines(plan)
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
    names = _section_names(joined, [found for _, found in texts])
    parts = _parts(joined, texts, stems, tables)
    serving = [rank for r in joined for rank in r.ranks if r.serves]
    made = splits(families, signature.ranks, tables)
    lines = [line for part in parts for f in part.stretches for line in f.lines]
    lines += [line for part in parts for f in part.functions for line in f.lines]
    values = {
        "application": signature.provenance.application,
        # The inside of a JSON string, which the program prints.
        "application_json": json.dumps(signature.provenance.application)[1:-1],
        "version": skelgen.__version__,
        "scale": f"{plan.scaling_factor:.6g}",
        "ranks": signature.ranks,
        "work": ComputeNumbers.of(calibration, _queries_per_s(plan)),
        "groups": [group.name for group in families if group is not None],
        "self_group": len(families) > 1 and families[1] is not None,
        "splits": made,
        "topologies": bool(topologies),
        "windows": exposed,
        "partners": around[0].partners,
        "tables": tables,
        "serving": serving and _condition("serving", serving, signature.ranks, tables),
        "turns": _turns(joined),
        "memory": _sizes([surroundings.memory for surroundings in around]),
        "sections": len(names),
        "section_names": _strings(names),
        "parts": parts,
    }

    def filled() -> str:
        uses = Uses.of("\n".join(lines), joined, tables, signature.families)
        return fill("skeleton.c.j2", uses=uses, **values)

    text = filled()
    return filled() if tables.drop_unused(text) else text


def _queries_per_s(plan: Plan) -> float:
    """Return how often a second of computation asks for the CPU time [1/s].

    The paper of 2005 has nothing of the kind.
    """
    computed_s = plan.signature.computed_s
    if plan.method == PAPER_2005 or not computed_s:
        return 0.0
    return plan.signature.usage_queries / computed_s


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
    shared = len({tuple(s.title for s in found) for _, found in texts}) == 1
    parts: list[RoutineText] = []
    before = 0
    for number, (routine, (stretches, found)) in enumerate(
        zip(joined, texts, strict=True)
    ):
        functions = tuple(
            Function(
                stems[number] + section.title.replace(" ", "_"),
                i if shared else before + i,
                section.about,
                section.lines,
            )
            for i, section in enumerate(found)
        )
        before += len(found)
        last = number + 1 == len(joined)
        parts.append(
            RoutineText(
                f"part_{number}",
                ranks_text(routine.ranks).capitalize(),
                ""
                if last
                else _condition(f"in_part_{number}", routine.ranks, ranks, tables),
                _row(routine.ranks, tables, ranks) if tables.by_row else "",
                tuple(stretches),
                functions,
            )
        )
    return parts


def _condition(
    stem: str, ranks: Sequence[int], all_: int, tables: ProgramTables
) -> str:
    """Write the condition that holds on some ranks."""
    if words := condition(ranks, range(all_)):
        return words
    member = np.isin(np.arange(all_), ranks).astype(float)
    return f"{tables.constant('int', stem, member)}[world.rank]"


def _row(ranks: Sequence[int], tables: ProgramTables, all_: int) -> str:
    """Write the row of a rank in the tables of its part."""
    low = ranks[0]
    if len(ranks) == ranks[-1] - low + 1:
        return f"world.rank - {low}" if low else "world.rank"
    row = np.zeros(all_)
    row[list(ranks)] = range(len(ranks))
    return f"{tables.constant('int', 'row_of', row)}[world.rank]"


def _metadata(plan: Plan, calibration: ComputeCalibration) -> dict[str, object]:
    """Return what ``skeleton.json`` says about a skeleton."""
    signature, report = plan.signature, plan.report
    return {
        "format": FORMAT,
        "application": signature.provenance.application,
        "scale": plan.scaling_factor,
        "method": plan.method,
        "ranks": signature.ranks,
        "application_s": signature.application_s,
        "expected_s": report.expected_s,
        "mpi": signature.provenance.mpi,
        "command": list(signature.provenance.command),
        "signature": {
            "host": signature.provenance.host,
            "recorded": signature.provenance.recorded,
            "skelgen": signature.provenance.skelgen,
            "parameters": dict(signature.provenance.parameters),
            "ranks_per_host": list(signature.provenance.ranks_per_host),
            "events": signature.events,
        },
        "dropped_share": report.dropped_share,
        "smallest_good_s": report.smallest_good_s,
        "dealers": list(report.dealers),
        "not_computed": dict(report.not_computed),
        **({} if signature.unseen is None else {"unseen": signature.unseen.facts()}),
        "warnings": list(report.warnings),
        "compute": {**asdict(calibration), "units_per_s": calibration.units_per_s},
        "calibration": None,
    }


def _turns(joined: Sequence[Routine]) -> list[str]:
    """Return the counters of steps with several requests at a time."""
    return sorted(
        {
            turn_name(index)
            for routine in joined
            for index, span in routine.lifetimes.spans.items()
            if span > 1
        }
    )


@dataclass(frozen=True, slots=True)
class _Sizes:
    """Memory of the whole program: the largest of its routines."""

    send_bytes: int
    receive_bytes: int
    attached_bytes: int
    requests: int

    @property
    def any(self) -> bool:
        """Return whether there is anything to allocate."""
        return max(self.send_bytes, self.receive_bytes, self.attached_bytes) > 0


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
