"""Find the MPIs of this machine and say which is which."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import Enum
from functools import cache
from pathlib import Path

from skelgen.errors import MachineError

_INSTALL = "install one, for instance with: pip install mpich"


class MpiKind(Enum):
    """The families of MPI whose launchers and libraries differ."""

    MPICH = "mpich"
    OPEN_MPI = "openmpi"
    UNKNOWN = "unknown"

    @property
    def title(self) -> str:
        """Return the name for people."""
        return {"mpich": "MPICH", "openmpi": "Open MPI"}.get(
            self.value, "an unknown MPI"
        )


@dataclass(frozen=True, slots=True)
class Mpi:
    """One MPI installation, as its launcher describes it.

    Attributes
    ----------
    kind : MpiKind
    version : str
        Such as ``5.0.2``; empty when the launcher does not say it.
    launcher : Path
        Its mpirun or mpiexec.
    compiler : Path or None
        Its mpicc; None when only the run-time part is installed.
    """

    kind: MpiKind
    version: str
    launcher: Path
    compiler: Path | None

    @property
    def title(self) -> str:
        """Return name and version for people."""
        return f"{self.kind.title} {self.version}".strip()


def search_path() -> list[Path]:
    """Return the folders to look for programs in.

    The running interpreter's own folder comes first, so that an MPI installed
    beside skelgen is found although the environment was not activated.
    """
    named = [Path(part) for part in os.environ.get("PATH", "").split(":") if part]
    return list(dict.fromkeys([Path(sys.prefix) / "bin", *named]))


def programs(name: str) -> Iterator[Path]:
    """Yield every executable of this name on the search path, best first."""
    if "/" in name:
        if _executable(path := Path(name)):
            yield path.absolute()
        return
    for folder in search_path():
        if _executable(path := folder / name):
            yield path.absolute()


def program(name: str) -> Path | None:
    """Return the first executable of this name, None when there is none."""
    return next(programs(name), None)


def _executable(path: Path) -> bool:
    # Unlike Path's, this says no to what is in a folder that may not be entered.
    return os.path.isfile(path) and os.access(path, os.X_OK)  # noqa: PTH113


@cache
def _says(*arguments: str) -> str:
    """Return what a short command prints, empty when it cannot run."""
    try:
        done = subprocess.run(
            arguments,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=60,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout.decode(errors="replace")


def parse_version(text: str) -> tuple[MpiKind, str]:
    """Tell the MPI from what its launcher or compiler says of itself.

    Examples
    --------
    >>> parse_version("mpirun (Open MPI) 5.0.11")
    (<MpiKind.OPEN_MPI: 'openmpi'>, '5.0.11')
    """
    if match := re.search(r"(?:\(Open MPI\)|Open MPI|OpenRTE\)?)\s+v?(\d[\w.]*)", text):
        return MpiKind.OPEN_MPI, match[1]
    if match := re.search(r"MPICH version\s*:?\s*(\d[\w.]*)", text, re.IGNORECASE):
        return MpiKind.MPICH, match[1]
    if "HYDRA build details" in text or "Intel(R) MPI" in text:
        match = re.search(r"Version:?\s+(\d[\w.]*)", text)
        return MpiKind.MPICH, match[1] if match else ""
    return MpiKind.UNKNOWN, ""


def kind_of(library: str) -> MpiKind:
    """Tell the MPI from the version line of its library.

    Examples
    --------
    >>> kind_of("Open MPI v5.0.11, package").title
    'Open MPI'
    """
    plain = library.lower().replace(" ", "")
    if "openmpi" in plain:
        return MpiKind.OPEN_MPI
    return MpiKind.MPICH if "mpich" in plain else MpiKind.UNKNOWN


def identify_launcher(launcher: Path) -> Mpi:
    """Say which MPI a launcher belongs to and where its mpicc is."""
    kind, version = parse_version(_says(str(launcher), "--version"))
    if kind is MpiKind.UNKNOWN:  # gforker and others that know no --version
        beside = launcher.parent / "mpichversion"
        if _executable(beside):
            kind, version = parse_version(_says(str(beside)))
    return Mpi(kind, version, launcher, _compiler_of(launcher, kind, version))


def identify_compiler(compiler: Path) -> MpiKind:
    """Say which MPI an mpicc compiles for."""
    return compiler_version(compiler)[0]


def compiler_version(compiler: Path) -> tuple[MpiKind, str]:
    """Say which MPI an mpicc compiles for, and its version."""
    found = parse_version(_says(str(compiler), "--showme:version"))
    if found[0] is MpiKind.UNKNOWN:
        found = parse_version(_says(str(compiler), "-v"))
    return found


def compilers_in(folders: Iterable[Path], kind: MpiKind) -> Iterator[Path]:
    """Yield the mpicc of an MPI in each of some folders.

    Debian installs several MPIs into one folder and tells them apart by a suffix.
    """
    for folder in folders:
        for name in (f"mpicc.{kind.value}", "mpicc"):
            path = (folder / name).absolute()
            if _executable(path) and identify_compiler(path) in (kind, MpiKind.UNKNOWN):
                yield path


def _compiler_of(launcher: Path, kind: MpiKind, version: str) -> Path | None:
    """Find the mpicc of a launcher's MPI.

    The launcher may be a link in a folder of another MPI: the folder in which it
    really is comes first, and one of the same version before others.
    """
    homes = [launcher.resolve().parent, launcher.parent, *search_path()]
    found = list(compilers_in(dict.fromkeys(homes), kind))
    same = (path for path in found if compiler_version(path) == (kind, version))
    return next(same, found[0] if found else None)


@cache
def find_mpi(kind: MpiKind | None = None) -> Mpi:
    """Return the first MPI on the search path.

    Parameters
    ----------
    kind : MpiKind, optional
        Only this one will do.

    Raises
    ------
    MachineError
        When there is none.
    """
    names = ["mpirun", "mpiexec", "mpirun.mpich", "mpirun.openmpi"]
    for name in names:
        for launcher in programs(name):
            found = identify_launcher(launcher)
            if kind in (None, found.kind) and found.kind is not MpiKind.UNKNOWN:
                return found
    wanted = "MPI" if kind is None else kind.title
    raise MachineError(f"no mpirun of {wanted} on PATH; {_INSTALL}")


def same_mpi(one: str, other: str) -> bool:
    """Say whether two descriptions of an MPI name the same family."""
    kind = kind_of(one)
    return one == other if kind is MpiKind.UNKNOWN else kind is kind_of(other)
