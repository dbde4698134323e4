"""How programs and kernels slow down where other threads work on their cores.

``python benchmarks/core_sharing.py [--minutes 7]``

Two processes compute at a time: kernels for a moment, then one of four examples, and
so on. On a machine with hardware threads, or one that is shared with other virtual
machines, all of them are slowed down now and then. One table has how much longer than
in its quickest moments each takes. The other has the elasticity of each program: by
how many percent it takes longer when a kernel takes one percent longer. A kernel with
1 stands for the program. It is smaller than it should be, as runs are not at the same
moments as kernels; on a machine of its own it is noise.
"""

from __future__ import annotations

import argparse
import subprocess
import tempfile
import time
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from skelgen import _paths  # noqa: F401  (installed: not the checkout's)
from skelgen.pipeline.machine_mpi import reference_compiler
from skelgen.reference.compiled_program import COMPILER_FLAGS
from skelgen.rendering.c_template import fill

ROOT = Path(__file__).resolve().parent.parent

KERNELS = ("chains alone", "arithmetic", "sorting", "updating")
#: Words behind each example: a second or two.
PROGRAMS = {
    "heat2d": "1024 900",
    "conjugate_gradient": "60000 40 25",
    "bucket_sort": "1000000 70",
    "wavefront": "128 170 8",
}
PROCESSES = 2
MOMENT_S = 0.2


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--minutes", type=float, default=7.0)
    until_s = time.monotonic() + 60 * options.parse_args().minutes
    with tempfile.TemporaryDirectory() as name:
        folder, mpicc = Path(name), reference_compiler("")
        build(folder, mpicc)
        kernels, programs = measured(folder, mpicc.with_name("mpirun"), until_s)
    show_times(kernels, programs)
    show_slopes(kernels, programs)


def build(folder: Path, mpicc: Path) -> None:
    """Compile kernels and examples."""
    (folder / "arithmetic.c").write_text(fill("helpers/arithmetic.c.j2"))
    source = ROOT / "benchmarks/core_sharing.c"
    flags = (*COMPILER_FLAGS, f"-I{folder}")
    subprocess.run([mpicc, *flags, "-o", folder / "kernels", source], check=True)
    for program in PROGRAMS:
        source = ROOT / f"examples/{program}.c"
        line: list[str | Path] = [mpicc, "-O2", "-o", folder / program, source, "-lm"]
        subprocess.run(line, check=True)


def measured(
    folder: Path, mpirun: Path, until_s: float
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return times [s] of kernels around each program, and of the programs.

    Of shape (rounds, programs, kernels) and (rounds, programs).
    """
    kernels: list[list[NDArray[np.float64]]] = []
    programs: list[list[float]] = []
    before = moment(folder)
    while not programs or time.monotonic() < until_s:
        around, took = [], []
        for program, words in PROGRAMS.items():
            begin_s = time.monotonic()
            line = [str(mpirun), "-n", str(PROCESSES), f"./{program}", *words.split()]
            subprocess.run(line, check=True, capture_output=True, cwd=folder)
            took.append(time.monotonic() - begin_s)
            after = moment(folder)
            around.append((before + after) / 2)
            before = after
        kernels.append(around)
        programs.append(took)
    return np.array(kernels), np.array(programs)


def moment(folder: Path) -> NDArray[np.float64]:
    """Return the mean times of the kernels in processes at the same time [s]."""
    line = [str(folder / "kernels"), str(MOMENT_S)]
    running = [
        subprocess.Popen(line, stdout=subprocess.PIPE, text=True)
        for _ in range(PROCESSES)
    ]
    said = [one.communicate()[0].split() for one in running]
    return np.asarray(np.array(said, np.float64).mean(axis=0))


def show_times(kernels: NDArray[np.float64], programs: NDArray[np.float64]) -> None:
    """Print how much longer each takes than in its quickest moments."""
    print("| kernel or program | median | slowest of 10 | of 50 |\n|---|---|---|---|")
    each = dict(zip(KERNELS, kernels.reshape(-1, len(KERNELS)).T, strict=True))
    each |= dict(zip(PROGRAMS, programs.T, strict=True))
    for name, took in each.items():
        low, *others = np.percentile(took, (2, 50, 90, 98))
        print(f"| {name} | {' | '.join(f'{one / low:.2f}' for one in others)} |")


def show_slopes(kernels: NDArray[np.float64], programs: NDArray[np.float64]) -> None:
    print(f"\n| elasticity of | {' | '.join(KERNELS)} |\n|---{'|---' * len(KERNELS)}|")
    rows = []
    for place, name in enumerate(PROGRAMS):
        took = np.log(programs[:, place] / np.median(programs[:, place]))
        around = np.log(kernels[:, place] / np.median(kernels[:, place], axis=0))
        rows.append(took @ around / (around**2).sum(axis=0))
        print(f"| {name} | {' | '.join(f'{one:.2f}' for one in rows[-1])} |")
    print(f"| mean | {' | '.join(f'{one:.2f}' for one in np.mean(rows, axis=0))} |")


if __name__ == "__main__":
    main()
