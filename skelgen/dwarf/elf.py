"""The parts of an ELF file that are needed here: build id, symbols, separate lines."""

from __future__ import annotations

import bisect
import struct
from collections.abc import Iterator
from pathlib import Path
from typing import IO

from elftools.elf.elffile import ELFFile

#: Where distributions keep the debug information of stripped files.
DEBUG_FOLDER = Path("/usr/lib/debug")

_SYMBOL = struct.Struct("<IBBHQQ")
#: Type of a symbol that is a function; number of the section of what is elsewhere.
_FUNCTION, _ELSEWHERE = 2, 0


def opened(file: IO[bytes]) -> ELFFile | None:
    """Return an ELF file of 64 bits, least byte first; None: it is something else."""
    if file.read(6) != b"\x7fELF\x02\x01":
        return None
    file.seek(0)
    return ELFFile(file)


def build_id(elf: ELFFile) -> str:
    """Return the build id of a file in hexadecimal digits; empty without one."""
    section = elf.get_section_by_name(".note.gnu.build-id")
    data = section.data() if section is not None else b""
    if len(data) < 16 or data[12:16] != b"GNU\0":
        return ""
    size = int.from_bytes(data[4:8], "little")
    return data[16 : 16 + size].hex()


def has_lines(elf: ELFFile) -> bool:
    """Say whether a file has debug information of its own."""
    names = (".debug_info", ".zdebug_info")
    found = [elf.get_section_by_name(name) for name in names]
    return any(one is not None and one["sh_type"] != "SHT_NOBITS" for one in found)


def separate_files(elf: ELFFile, path: Path) -> Iterator[Path]:
    """Yield the files that may hold the debug information of a stripped one."""
    if identity := build_id(elf):
        name = f"{identity[2:]}.debug"
        yield DEBUG_FOLDER / ".build-id" / identity[:2] / name
    section = elf.get_section_by_name(".gnu_debuglink")
    data = section.data() if section is not None else b""
    if link := data.partition(b"\0")[0].decode(errors="surrogateescape"):
        if "/" in link or link in {".", ".."}:
            return
        folder = path.resolve().parent
        yield folder / link
        yield folder / ".debug" / link
        yield DEBUG_FOLDER / folder.relative_to("/") / link


class ElfSymbols:
    """The functions of a file by their addresses."""

    def __init__(self, elf: ELFFile) -> None:
        self._found: list[tuple[int, int, str]] = []
        for name in (".symtab", ".dynsym"):
            section = elf.get_section_by_name(name)
            if section is None or section["sh_type"] == "SHT_NOBITS":
                continue
            texts = elf.get_section(section["sh_link"]).data()
            self._found = sorted(_functions(section.data(), texts))
            if self._found:
                return

    def function(self, address: int) -> str:
        """Return the function that an address is in; empty: not known."""
        row = bisect.bisect_right(self._found, (address, 1 << 64, "")) - 1
        if row < 0:
            return ""
        begin, size, name = self._found[row]
        return name if address < begin + size else ""


def _functions(symbols: bytes, texts: bytes) -> Iterator[tuple[int, int, str]]:
    whole = len(symbols) - len(symbols) % _SYMBOL.size
    for at, info, _, section, begin, size in _SYMBOL.iter_unpack(symbols[:whole]):
        if info & 0xF == _FUNCTION and section != _ELSEWHERE and size:
            end = texts.find(b"\0", at, at + 4096)
            yield begin, size, texts[at:end].decode(errors="replace")
