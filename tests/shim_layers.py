"""Check that the files of pmpi_shim/ use only those below them.

``python tests/shim_layers.py`` reads the order of the files from the table in
ARCHITECTURE.md, lowest first, and prints each include, function or variable that a file
takes from a higher one, and each file that is not in the table; exit code 1 then.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
_ROW = re.compile(r"^\| `(\w+)/` \| `(\w+)` \| \S", re.MULTILINE)
_INCLUDE = re.compile(r'^#include "(\w+/\w+)\.h"', re.MULTILINE)
_FUNCTION = re.compile(
    r"^(?:SKELGEN_\w+ )*(?!static|typedef)[\w *]*?\b(skelgen_\w+)\([^;{}]*\)\n\{",
    re.MULTILINE,
)
_VARIABLE = re.compile(
    r"^(?!static|typedef|extern|return)(?:[a-z_]\w*[ *]+)+\(?\*?"
    r"(skelgen\w*|pmpi|mpi)(?:\[.*?\])?(?:\)\([^;]*?\))?"
    r"(?: __attribute__\(\(.*\)\))?(?: =|;)",
    re.MULTILINE,
)
_MACRO = re.compile(r"^#define (skelgen_\w+|SKELGEN_\w+)", re.MULTILINE)
_NAME = re.compile(r"\b(?:skelgen\w*|SKELGEN_\w+|pmpi|mpi)\b")


def order_of(document: str) -> list[str]:
    """Return the files of the table, lowest first, as ``layer/name``."""
    return [f"{layer}/{name}" for layer, name in _ROW.findall(document)]


def code_of(text: str) -> str:
    """Return C source without comments, strings, includes and names of types."""
    text = re.sub(r"/\*.*?\*/", " ", text, flags=re.DOTALL)
    text = re.sub(r'"(?:\\.|[^"\\\n])*"', '""', text)
    text = re.sub(r"^#include.*$", "", text, flags=re.MULTILINE)
    return re.sub(r"\b(struct|enum|union) \w+", r"\1", text)


def defined_in(text: str) -> set[str]:
    """Return the names that a source file defines for others."""
    code = code_of(text)
    found = (pattern.findall(code) for pattern in (_FUNCTION, _VARIABLE, _MACRO))
    return {name for names in found for name in names}


def complaints(order: list[str], sources: dict[str, str]) -> Iterator[str]:
    """Yield a line for each thing that is against the order.

    ``sources`` has the text of each file by ``layer/name.c`` and ``layer/name.h``.
    """
    place = {unit: number for number, unit in enumerate(order)}
    units = {path: path.rsplit(".", 1)[0] for path in sources}
    layers = [layer for layer, _ in groupby(unit.split("/")[0] for unit in order)]
    if len(place) != len(order) or len(set(layers)) != len(layers):
        yield "the table names a file twice, or a layer in two places"
    for unit in sorted(set(units.values()) ^ set(order)):
        missing = "in pmpi_shim/" if unit in place else "in the table"
        yield f"{unit} is not {missing}"
    home: dict[str, int] = {}
    for path, text in sources.items():
        for name in defined_in(text):
            number = place.get(units[path], len(order))
            home[name] = min(number, home.get(name, number))
    for path, text in sorted(sources.items()):
        own = place.get(units[path], len(order))
        for unit in _INCLUDE.findall(text):
            if place.get(unit, len(order)) > own:
                yield f"{path} includes {unit}.h, which is not below it"
        for name in sorted(set(_NAME.findall(code_of(text))) & set(home)):
            if home[name] > own:
                yield f"{path} uses {name}, which is not below it"


def shim_sources(shim: Path) -> dict[str, str]:
    """Return the C sources of the layers by their paths."""
    return {
        path.relative_to(shim).as_posix(): path.read_text()
        for path in sorted(shim.glob("*/*.[ch]"))
        if path.parent.name != "build"
    }


def main() -> int:
    """Print what is against the order."""
    order = order_of((ROOT / "ARCHITECTURE.md").read_text())
    sources = shim_sources(ROOT / "pmpi_shim")
    found = list(complaints(order, sources))
    for line in found:
        print(line)
    print(
        f"layers of the recorder: {len(sources)} files, {len(found)} against the order"
    )
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
