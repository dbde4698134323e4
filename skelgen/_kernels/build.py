"""Describe the extension modules to cffi; rebuild them in place when run.

``python skelgen/_kernels/build.py [NAME ...]`` compiles the named kernels (all
without a name) beside their sources.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

from cffi import FFI

_HERE = Path(__file__).resolve().parent
NAMES = sorted(path.stem for path in _HERE.glob("[!_]*.c"))
#: What knows the declarations of the trace format, for skelgen.trace.format.
WITH_FORMAT = ("decode",)
_HEADERS = sorted(f"skelgen/_kernels/{path.name}" for path in _HERE.glob("*.h"))


def _declarations(name: str) -> str:
    text = (_HERE / f"{name}.h").read_text()
    for shared in re.findall(r'^#include "(\w+_declarations\.h)"$', text, re.MULTILINE):
        text += (_HERE / shared).read_text()
    if name in WITH_FORMAT:
        text += _trace_format()
    return "\n".join(line for line in text.splitlines() if not line.startswith("#"))


def _trace_format() -> str:
    header = _HERE.parent.parent / "pmpi_shim/skelgen_record.h"
    region = header.read_text().partition("/* skelgen format begin */")[2]
    return region.partition("/* skelgen format end */")[0]


def builder(name: str) -> FFI:
    """Return the description of one kernel's extension module."""
    ffi = FFI()
    ffi.cdef(_declarations(name))
    headers = [f"{name}.h", *(["skelgen_record.h"] if name in WITH_FORMAT else [])]
    ffi.set_source(
        f"skelgen._kernels._{name}",
        "".join(f'#include "{header}"\n' for header in headers),
        sources=[f"skelgen/_kernels/{name}.c"],
        include_dirs=["skelgen/_kernels", "pmpi_shim"],
        depends=[*_HEADERS, "pmpi_shim/crc.h", "pmpi_shim/skelgen_record.h"],
        extra_compile_args=["-O3", "-std=c11", "-Wall", "-Wextra"],
    )
    return ffi


# setuptools looks the names up in the executed file's dictionary.
for _name in NAMES:
    globals()[_name] = builder(_name)


if __name__ == "__main__":
    import os

    os.chdir(_HERE.parent.parent)
    for wanted in sys.argv[1:] or NAMES:
        builder(wanted).compile(tmpdir=".", verbose=False)
