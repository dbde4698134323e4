"""Names and numbers of the trace format, read from its only declaration.

``pmpi_shim/skelgen_record.h`` has a region of plain C; what stands there becomes the
header's dtype and the constants, so no number of the format is written down twice.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from skelgen._kernels._decode import ffi
from skelgen._paths import shim_sources

_BEGIN, _END = "/* skelgen format begin */", "/* skelgen format end */"
_DEFINE = re.compile(r"^#define\s+SKELGEN_(\w+)\s+\(?(-?\w+)\)?\s*$", re.MULTILINE)
_TYPES = {
    "uint8_t": "u1",
    "uint32_t": "<u4",
    "uint64_t": "<u8",
    "int32_t": "<i4",
    "int64_t": "<i8",
    "double": "<f8",
}


@dataclass(frozen=True, slots=True)
class TraceFormat:
    """The declarations of the trace format.

    Attributes
    ----------
    numbers : dict of str to int
        Constants without ``SKELGEN_``, such as ``REC_SHAPE``.
    enumerations : dict of str to dict of int to str
        For each enum (without ``skelgen_``) the name of each number.
    magic : bytes
        The first bytes of a trace file.
    header : dtype
        ``struct skelgen_header``.
    """

    numbers: dict[str, int]
    enumerations: dict[str, dict[int, str]]
    magic: bytes
    header: np.dtype[np.void]

    def __getitem__(self, name: str) -> int:
        """Return a constant by its name without ``SKELGEN_``."""
        return self.numbers[name]

    def name(self, enumeration: str, number: int) -> str:
        """Return what a number is called, in lower case without its prefix."""
        known = self.enumerations[enumeration]
        return known.get(number, f"unknown {number}")


def _format(kind: Any) -> Any:
    if kind.kind != "array":
        return _TYPES[kind.cname]
    if kind.item.cname == "uint8_t":
        return f"S{kind.length}"
    return (_TYPES[kind.item.cname], (kind.length,))


def struct_dtype(ffi: Any, name: str) -> np.dtype[np.void]:
    """Return the dtype of a C struct; arrays of bytes become strings."""
    names, formats, offsets = [], [], []
    for field_name, field in ffi.typeof(f"struct {name}").fields:
        kind = field.type
        formats.append(_format(kind))
        names.append(field_name)
        offsets.append(field.offset)
    size = ffi.sizeof(f"struct {name}")
    return np.dtype(
        {"names": names, "formats": formats, "offsets": offsets, "itemsize": size}
    )


def _enumeration(name: str) -> tuple[str, dict[int, str], dict[str, int]]:
    members = ffi.typeof(f"enum {name}").relements
    plain = {key.removeprefix("SKELGEN_"): value for key, value in members.items()}
    words = {value: key.partition("_")[2].lower() for key, value in plain.items()}
    return name.removeprefix("skelgen_"), words, plain


@cache
def trace_format() -> TraceFormat:
    """Read the declarations of the trace format.

    Examples
    --------
    >>> trace_format()["REC_SHAPE"]
    8
    """
    text = (shim_sources() / "skelgen_record.h").read_text()
    region = text[text.index(_BEGIN) + len(_BEGIN) : text.index(_END)]
    numbers = {name: int(value, 0) for name, value in _DEFINE.findall(region)}
    enumerations = {}
    for name in re.findall(r"enum (skelgen_\w+) {", region):
        short, words, plain = _enumeration(name)
        enumerations[short] = words
        numbers |= plain
    magic = re.search(r'#define SKELGEN_MAGIC "(.*)"', text)
    assert magic is not None
    return TraceFormat(
        numbers=numbers,
        enumerations=enumerations,
        magic=magic[1].encode().decode("unicode_escape").encode("latin-1"),
        header=struct_dtype(ffi, "skelgen_header"),
    )
