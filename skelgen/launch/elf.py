"""Which MPI library a program is linked to."""

from __future__ import annotations

import re
import subprocess
from dataclasses import dataclass
from pathlib import Path

from skelgen.launch.mpi import MpiKind

_LIBRARY = re.compile(r"^\s*(lib(?:mpi|mpich|mpi_abi)\.so\.?[\d.]*)(?: => (.*))?$")


@dataclass(frozen=True, slots=True)
class MpiLibrary:
    """The MPI library that the dynamic loader gives to a program.

    Attributes
    ----------
    name : str
        Such as ``libmpi.so.12``.
    path : Path or None
        None when the loader does not find it.
    """

    name: str
    path: Path | None

    @property
    def kind(self) -> MpiKind:
        """Return the MPI that libraries of this name belong to.

        Open MPI numbers its library 20 (releases 2 and 3), 40 (since 4) and 0 or 1
        before; 12 is the interface that MPICH and its descendants share.
        """
        if self.is_abi:
            return MpiKind.UNKNOWN  # any MPI can be behind it
        number = self.name.partition(".so.")[2].partition(".")[0]
        if self.name.startswith("libmpich") or number == "12":
            return MpiKind.MPICH
        return MpiKind.OPEN_MPI if number else MpiKind.UNKNOWN

    @property
    def is_abi(self) -> bool:
        """Return whether this is the library of the binary interface of MPI 5."""
        return self.name.startswith("libmpi_abi")


def is_elf(path: Path) -> bool:
    """Say whether a file is a compiled program and not a script."""
    try:
        with path.open("rb") as file:
            return file.read(4) == b"\x7fELF"
    except OSError:
        return False


def parse_ldd(text: str) -> MpiLibrary | None:
    """Find the MPI library among the lines that ``ldd`` prints.

    Examples
    --------
    >>> parse_ldd("libmpi.so.12 => /opt/lib/libmpi.so.12 (0x7f)").kind.title
    'MPICH'
    """
    for line in text.splitlines():
        if match := _LIBRARY.match(line.split(" (0x")[0]):
            where = match[2] or ""
            found = where.startswith("/")
            return MpiLibrary(match[1], Path(where.strip()) if found else None)
    return None


def mpi_library(path: Path) -> MpiLibrary | None:
    """Return the MPI library of a program.

    None for scripts, for programs that link MPI statically or open it later, and
    where ``ldd`` is missing: what cannot be known is not refused.
    """
    if not is_elf(path):
        return None
    try:
        done = subprocess.run(
            ["ldd", str(path)],
            capture_output=True,
            text=True,
            errors="replace",
            timeout=60,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return parse_ldd(done.stdout)
