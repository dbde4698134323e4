"""The program that reads debug information: one line of JSON for each answer."""

from __future__ import annotations

import json
import resource
import sys
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

from elftools.elf.elffile import ELFFile

from skelgen.dwarf import elf as elf_files
from skelgen.dwarf.function_names import plain_function
from skelgen.dwarf.lookup import function_at, lines_of
from skelgen.dwarf.types import Module, SourceLine
from skelgen.dwarf.units import units_of

#: Memory and processor time of this process [bytes, s].
_MOST_BYTES, _MOST_CPU_S = 2 << 30, 20


def main(arguments: list[str]) -> int:
    """Answer a request: a file with a list of modules."""
    resource.setrlimit(resource.RLIMIT_AS, (_MOST_BYTES, _MOST_BYTES))
    resource.setrlimit(resource.RLIMIT_CPU, (_MOST_CPU_S, _MOST_CPU_S))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    request = json.loads(Path(arguments[0]).read_text(encoding="utf-8"))
    for fields in request:
        for answer in _answers(Module(**fields)):
            print(json.dumps(answer), flush=True)  # noqa: T201
    return 0


def _answers(module: Module) -> Iterator[dict[str, Any]]:
    try:
        yield from _found(module)
    except OSError as error:
        yield _note(module, f"cannot be read: {error.strerror}")
    except (Exception, RecursionError) as error:  # a library reads what anybody made
        yield _note(module, f"has debug information that cannot be read ({error!r})")


def _note(module: Module, text: str) -> dict[str, Any]:
    return {"path": module.path, "note": text[:300]}


def _found(module: Module) -> Iterator[dict[str, Any]]:
    path = Path(module.path)
    if not path.is_file():
        yield _note(module, "is not on this machine")
        return
    with path.open("rb") as file:
        elf = elf_files.opened(file)
        if elf is None:
            yield _note(module, "is no program for this kind of machine")
            return
        if _is_changed(elf, path, module):
            yield _note(module, "changed since it was recorded")
            return
        yield from _functions(elf, module)
        if elf_files.has_lines(elf):
            yield from _lines(elf, module)
            return
        for other in elf_files.separate_files(elf, path):
            if not other.is_file():
                continue
            with other.open("rb") as separate:
                known = elf_files.opened(separate)
                if (
                    known is not None
                    and elf_files.build_id(known) == elf_files.build_id(elf)
                    and elf_files.has_lines(known)
                ):
                    yield from _lines(known, module)
                    return
        yield _note(module, "has no debug information: compile it with -g")


def _is_changed(elf: ELFFile, path: Path, module: Module) -> bool:
    """Say whether a file is not the one that ran, as far as that can be known."""
    if module.build_id:
        return elf_files.build_id(elf) != module.build_id
    return bool(module.recorded_s) and path.stat().st_mtime > module.recorded_s


def _functions(elf: ELFFile, module: Module) -> Iterator[dict[str, Any]]:
    """Yield the functions that symbols tell, which is quick."""
    symbols = elf_files.ElfSymbols(elf)
    for address in module.addresses:
        if name := symbols.function(address - 1):
            yield _answer(module, address, SourceLine("", 0, plain_function(name)))


def _lines(elf: ELFFile, module: Module) -> Iterator[dict[str, Any]]:
    """Yield lines: of the byte before, for a return address is behind its call."""
    dwarf = elf.get_dwarf_info(relocate_dwarf_sections=False, follow_links=False)
    wanted = sorted({one - 1 for one in module.addresses if one})
    for unit, inside in units_of(dwarf, wanted):
        inside.sort()
        places = lines_of(dwarf, unit, inside)
        for address in inside:
            file, line = places.get(address, ("", 0))
            if file:
                yield _answer(module, address + 1, SourceLine(file, line, ""))
        for address in inside:
            file, line = places.get(address, ("", 0))
            if name := function_at(unit, address):
                yield _answer(module, address + 1, SourceLine(file, line, name))


def _answer(module: Module, address: int, line: SourceLine) -> dict[str, Any]:
    return {"path": module.path, "address": address, **asdict(line)}


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
