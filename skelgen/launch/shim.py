"""Compile the recorder once for each MPI library and keep it in the cache."""

from __future__ import annotations

import hashlib
import logging
import os
import shutil
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from skelgen import _paths
from skelgen.documents.system import refused
from skelgen.errors import ApplicationError, MachineError
from skelgen.launch.command import LaunchCommand, linked_mpi
from skelgen.launch.elf import MpiLibrary
from skelgen.launch.folders import alone, private_folder
from skelgen.launch.mpi import (
    Mpi,
    MpiKind,
    compiler_version,
    compilers_in,
    find_mpi,
    program,
)
from skelgen.launch.process import run
from skelgen.launch.safe_paths import plain_temporary, preloadable
from skelgen.progress import NOTE

logger = logging.getLogger(__name__)

#: What to do when the cache cannot be written.
OTHER_CACHE = "set SKELGEN_CACHE to a folder that can be written"
_LIBRARY = "libskelgen_pmpi.so"
#: A build takes up to 35 s of processor time, and machines may be busy.
_BUILD_LIMIT_S = 900.0


def mpi_of(command: LaunchCommand) -> Mpi:
    """Return the MPI that the ranks of a command use.

    The library that the program is linked to tells it, then the launcher, which may
    stand in the folder of another MPI; where that is Slurm's or not known, the first
    MPI on the search path.
    Programs for the binary interface of MPI 5 need another recorder than those for
    the library's own.
    """
    library = linked_mpi(command.program[0])
    if library is None:
        return command.mpi or find_mpi()
    if library.is_abi:
        return _for_abi(command.mpi or find_mpi(), library)
    compiler = _compiler_of(library)
    if compiler is None:
        known = None if library.kind is MpiKind.UNKNOWN else library.kind
        return command.mpi or find_mpi(known)
    launcher = command.mpi.launcher if command.mpi else compiler.parent / "mpirun"
    version = compiler_version(compiler)[1]
    return Mpi(library.kind, version, launcher, compiler)


def _compiler_of(library: MpiLibrary) -> Path | None:
    """Find the mpicc that was installed with a library, None where there is none.

    It is in the ``bin`` of a folder above the library.
    """
    if library.path is None or library.kind is MpiKind.UNKNOWN:
        return None
    homes = (folder / "bin" for folder in library.path.resolve().parents)
    return next(compilers_in(homes, library.kind), None)


def _for_abi(mpi: Mpi, library: MpiLibrary) -> Mpi:
    """Return an MPI with the compiler that knows the binary interface of MPI 5."""
    homes = [mpi.launcher.parent]
    if library.path is not None:
        homes.insert(0, library.path.parent.parent / "bin")
    names = [*(str(home / "mpicc_abi") for home in homes), "mpicc_abi"]
    compiler = next((found for name in names if (found := program(name))), None)
    if compiler is None:
        raise MachineError(
            f"the program is linked to {library.name}, but there is no mpicc_abi "
            f"next to {mpi.launcher} or on PATH, which compiles the recorder for it; "
            "install one, for instance with: pip install mpich"
        )
    return replace(mpi, compiler=compiler)


def shim(mpi: Mpi) -> Path:
    """Return the recorder for an MPI, compiled now unless the cache has it.

    Raises
    ------
    MachineError
        Without mpicc, make or a cache that can be written.
    ApplicationError
        When the compiler fails.
    """
    compiler = mpi.compiler
    if compiler is None:
        raise MachineError(
            f"no mpicc of {mpi.title} next to {mpi.launcher}, which compiles the "
            "recorder; install the MPI's development package or: pip install mpich"
        )
    if program("make") is None:
        raise MachineError("no make on PATH, which builds the recorder; install make")
    key = shim_key(compiler, _paths.shim_sources())
    target = _paths.cache() / "shim" / key / _LIBRARY
    if target.exists():
        return preloadable(target)
    cache = target.parent.parent
    with refused(MachineError, f"the recorder cannot be kept in {cache}", OTHER_CACHE):
        private_folder(cache)
        with alone(cache):
            if not target.exists():
                _build(compiler, target)
    return preloadable(target)


def shim_key(compiler: Path, sources: Path) -> str:
    """Return what tells recorders apart: MPI library, compiler and our sources."""
    digest = hashlib.sha256()
    shown = run([str(compiler), "-show"], timeout_s=60).output
    for text in (str(compiler.resolve()), shown, *_library_facts(shown)):
        digest.update(os.fsencode(text) + b"\0")
    for path in _source_files(sources):
        digest.update(path.relative_to(sources).as_posix().encode() + b"\0")
        digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


def _library_facts(shown: str) -> Iterator[str]:
    """Yield size and date of the library that the compiler would link."""
    for word in shown.split():
        if word.startswith("-L"):
            for path in sorted(Path(word[2:]).glob("libmpi*.so*")):
                facts = path.lstat()
                yield f"{path.name} {facts.st_size} {facts.st_mtime_ns}"


def _source_files(sources: Path) -> list[Path]:
    """Return the sources of the recorder, without what was built from them."""
    left_out = {"build", "__pycache__"}
    return sorted(
        path
        for path in sources.rglob("*")
        if path.is_file() and not left_out & set(path.relative_to(sources).parts)
    )


def _build(compiler: Path, target: Path) -> None:
    """Compile in a folder of our own; nobody sees half a library in the cache.

    Paths of the user's reach make as variables of the environment only, which it hands
    on without looking at them.
    """
    logger.log(NOTE, "compiling the recorder with %s, once for this MPI", compiler)
    temporary = plain_temporary()
    with tempfile.TemporaryDirectory(prefix="skelgen-", dir=temporary) as name:
        sources, built = Path(name) / "pmpi_shim", Path(name) / "build"
        _copy(_paths.shim_sources(), sources)
        make = ["make", "-s", "-j2", "-C", str(sources), f"BUILD={built}"]
        words = {"MPICC": str(compiler), "PYTHON": sys.executable}
        done = run(make, timeout_s=_BUILD_LIMIT_S, environment=words, private=True)
        if done.exit_code != 0 or not (built / _LIBRARY).exists():
            raise ApplicationError(
                f"the recorder cannot be compiled with {compiler}: {done.complaint}"
            )
        private_folder(target.parent)
        beside = target.with_name(f".{os.getpid()}-{_LIBRARY}")
        shutil.copyfile(built / _LIBRARY, beside)
        beside.replace(target)


def _copy(sources: Path, target: Path) -> None:
    for path in _source_files(sources):
        copy = target / path.relative_to(sources)
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, copy)
