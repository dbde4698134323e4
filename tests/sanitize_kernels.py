"""Run tests with kernels that check every access: python tests/sanitize_kernels.py.

Copies the package, compiles its kernels with address and undefined-behaviour checks and
runs the tests of the trace reader (or those named) against the copy. An error of the
kernels ends the run with the sanitizer's report and exit code 1.
"""

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TESTS = (
    "unit/test_trace_stream.py",
    "unit/test_trace_mutations.py",
    "unit/test_trace_small_files.py",
)
COPIED = ("skelgen", "pmpi_shim", "templates", "tests")
FLAGS = "-fsanitize=address,undefined -fno-sanitize-recover=all -g -O1"


def library(name: str) -> str:
    """Return the path of the compiler's run-time library."""
    command = ["cc", f"-print-file-name={name}"]
    return subprocess.run(
        command, capture_output=True, text=True, check=True
    ).stdout.strip()


def main(tests: list[str]) -> int:
    """Build the copy and run the tests in it."""
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder)
        ignored = shutil.ignore_patterns("*.so", "*.o", "_*.c", "__pycache__", "build")
        for name in COPIED:
            shutil.copytree(ROOT / name, copy / name, ignore=ignored)
        environment = {**os.environ, "CFLAGS": FLAGS, "LDFLAGS": FLAGS}
        build = [sys.executable, "skelgen/_kernels/build.py"]
        subprocess.run(build, cwd=copy, env=environment, check=True)
        shutil.copy(ROOT / "pyproject.toml", copy)
        checked = {
            **os.environ,
            "LD_PRELOAD": f"{library('libasan.so')} {library('libstdc++.so')}",
            "ASAN_OPTIONS": "detect_leaks=0:allocator_may_return_null=1",
            "PYTHONPATH": str(copy),
            "PYTHONDONTWRITEBYTECODE": "1",
        }
        paths = [f"tests/{test}" for test in tests or TESTS]
        options = ["-q", "-p", "no:cacheprovider", "--capture=sys", "--show-capture=no"]
        run = [sys.executable, "-m", "pytest", *options, *paths]
        return subprocess.run(run, cwd=copy, env=checked, check=False).returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
