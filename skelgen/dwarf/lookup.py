"""Find file, line and function of addresses in one compile unit."""

from __future__ import annotations

import bisect
from collections.abc import Sequence

from elftools.dwarf.compileunit import CompileUnit
from elftools.dwarf.die import DIE
from elftools.dwarf.dwarfinfo import DWARFInfo
from elftools.dwarf.lineprogram import LineProgram

from skelgen.dwarf.function_names import plain_function
from skelgen.dwarf.units import covers

#: Entries that hold functions without having code themselves.
_AROUND = {"DW_TAG_namespace", "DW_TAG_module"}
#: Entries that a function has where another was inlined.
_INSIDE = {
    "DW_TAG_subprogram",
    "DW_TAG_inlined_subroutine",
    "DW_TAG_lexical_block",
    "DW_TAG_try_block",
    "DW_TAG_catch_block",
}
#: Entries from one that names a function to the one that declares it, at most.
_MOST_STEPS = 8


def lines_of(
    dwarf: DWARFInfo, unit: CompileUnit, addresses: Sequence[int]
) -> dict[int, tuple[str, int]]:
    """Return file and line of addresses of a unit.

    Parameters
    ----------
    dwarf : DWARFInfo
    unit : CompileUnit
    addresses : sequence of int
        Sorted.
    """
    program = dwarf.line_program_for_CU(unit)
    if program is None:
        return {}
    rows: dict[int, tuple[int, int]] = {}
    last: tuple[int, int, int] | None = None
    for entry in program.get_entries():
        state = entry.state
        if state is None:
            continue
        if last is not None and state.address > last[0]:
            first = bisect.bisect_left(addresses, last[0])
            end = bisect.bisect_left(addresses, state.address, first)
            rows.update(dict.fromkeys(addresses[first:end], last[1:]))
        last = (state.address, state.file, state.line)
        if state.end_sequence:
            last = None
    found = {
        one: (_file(program, unit, file), line) for one, (file, line) in rows.items()
    }
    return {one: place for one, place in found.items() if place[0]}


def _file(program: LineProgram, unit: CompileUnit, number: int) -> str:
    """Return the path of a file of a line program; older ones count from 1."""
    header = program.header
    older = header["version"] < 5
    files, folders = header["file_entry"], list(header["include_directory"])
    row = number - older
    if not 0 <= row < len(files):
        return ""
    name, folder = _text(files[row].name), ""
    place = files[row].dir_index - older
    if 0 <= place < len(folders):
        folder = _text(folders[place])
    if not name.startswith("/") and folder:
        name = f"{folder}/{name}"
    top = unit.get_top_DIE().attributes
    if not name.startswith("/") and "DW_AT_comp_dir" in top:
        name = f"{_text(top['DW_AT_comp_dir'].value)}/{name}"
    return name


def function_at(unit: CompileUnit, address: int) -> str:
    """Return the innermost function that an address is in; empty: not known."""
    name = ""
    around = [unit.get_top_DIE()]
    while around:
        inner: list[DIE] = []
        for child in around.pop().iter_children():
            if child.tag in _AROUND:
                around.append(child)
            elif child.tag in _INSIDE and covers(child, address):
                if child.tag in {"DW_TAG_subprogram", "DW_TAG_inlined_subroutine"}:
                    name = _name(child) or name
                inner = [child]
                break
        if inner:
            around = inner
    return name


def _name(die: DIE) -> str:
    """Return the name of a function, with its class and namespace in C++."""
    plain = ""
    for _ in range(_MOST_STEPS):
        attributes = die.attributes
        for key in ("DW_AT_linkage_name", "DW_AT_MIPS_linkage_name"):
            if key in attributes:
                whole = plain_function(_text(attributes[key].value))
                if "::" in whole:
                    return whole
        if "DW_AT_name" in attributes:
            plain = plain or _text(attributes["DW_AT_name"].value)
        further = [
            key
            for key in ("DW_AT_abstract_origin", "DW_AT_specification")
            if key in attributes
        ]
        if not further:
            break
        die = die.get_DIE_from_attribute(further[0])
    return plain_function(plain)


def _text(value: object) -> str:
    return value.decode(errors="replace") if isinstance(value, bytes) else ""
