"""Build the shim with sanitizers and set up processes that load it."""

from __future__ import annotations

import subprocess
from functools import cache
from pathlib import Path

SOURCES = Path(__file__).parents[2] / "pmpi_shim"
MEMORY = "address,undefined"
THREADS = "thread"
#: Libraries that must be loaded before a shim with these sanitizers.
_RUN_TIMES = {MEMORY: ("libasan.so", "libubsan.so"), THREADS: ("libtsan.so",)}
#: UCX tries whether it may read another process's memory by a call whose addresses are
#: not set: sanitizers look them up, and now and then end the process.
_UCX = {"UCX_TLS": "^cma"}
_OPTIONS = {
    MEMORY: {
        **_UCX,
        # Only the shim is instrumented: MPI libraries keep memory at the end.
        "ASAN_OPTIONS": "detect_leaks=0",
        "UBSAN_OPTIONS": "halt_on_error=1:print_stacktrace=1",
    },
    THREADS: {
        **_UCX,
        "TSAN_OPTIONS": "ignore_noninstrumented_modules=1:exitcode=66",
        # UCX hooks madvise(), which the C library calls for a thread's stack when the
        # sanitizer has already forgotten the thread.
        "UCX_MEM_EVENTS": "no",
        # That of Open MPI 5 shares memory at an address that the sanitizer keeps.
        "PMIX_MCA_gds": "hash",
    },
}


@cache
def run_times(sanitizers: str) -> tuple[Path, ...]:
    """Return the libraries of these sanitizers, none where one is missing."""
    found = []
    for name in _RUN_TIMES[sanitizers]:  # of several names cc answers the last only
        command = ["cc", f"-print-file-name={name}"]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        found.append(Path(done.stdout.strip()))
    return tuple(found) if all(path.is_absolute() for path in found) else ()


def build(compiler: Path, folder: Path, sanitizers: str = MEMORY) -> Path:
    """Build the shim for an MPI into a folder and return it."""
    command = ["make", "-s", "-C", str(SOURCES), f"MPICC={compiler}", f"BUILD={folder}"]
    subprocess.run([*command, f"SANITIZERS={sanitizers}", "sanitize"], check=True)
    return folder / "sanitize/libskelgen_pmpi.so"


def variables(preload: str, sanitizers: str = MEMORY) -> dict[str, str]:
    """Return the environment that loads sanitizers before what is preloaded."""
    libraries = ":".join(map(str, run_times(sanitizers)))
    return {"LD_PRELOAD": f"{libraries}:{preload}", **_OPTIONS[sanitizers]}
