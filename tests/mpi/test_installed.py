"""What is built for others can be installed, and does there what the README says."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tarfile
import venv
import zipfile
from collections.abc import Sequence
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
#: What stands in a checkout and is not part of it.
NOT_OURS = (".*cache", ".git", ".hypothesis", ".venv*", "__pycache__", "build", "demo")
BUILT = ("dist", "*.egg-info", "*.so", "*.o", "_[a-z]*.c")
#: Commands of the README that need hosts, a library of LAMMPS or much time.
LEFT_OUT = re.compile(r"--hosts|--from|lammps|venv|pip install")
#: A run that is long enough to have phases, in place of one that tells something.
SHORTER = {
    "1024 16000": "256 4000",
    "5s": "0.05s",
    "calibrate": "calibrate --force",  # so short a ratio may be anything
    "predict": "predict --budget 2s",
}

#: Starts scripts with --help one after the other, each as if it were alone, in one
#: process that has loaded the libraries.
HELPS = """
import runpy, sys
search = sys.path[1:]
for script in sys.argv[1:]:
    for name in [*sys.modules]:
        if name.startswith(("benchmarks", "tests")):
            del sys.modules[name]
    sys.path[:] = [script.rpartition("/")[0], *search]
    sys.argv = [script, "--help"]
    try:
        runpy.run_path(script, run_name="__main__")
    except SystemExit as end:
        if not end.code:
            print("helped:", script)
"""

pytestmark = pytest.mark.mpi


def run(
    words: Sequence[str | Path], folder: Path, **variables: str
) -> subprocess.CompletedProcess[str]:
    """Run a command as somebody would who has no checkout."""
    ours = ("PYTHONPATH", "VIRTUAL_ENV", "SKELGEN_CACHE")
    inherited = {key: text for key, text in os.environ.items() if key not in ours}
    return subprocess.run(
        [str(word) for word in words],
        cwd=folder,
        env={**inherited, **variables},
        capture_output=True,
        text=True,
        check=False,
        timeout=600,
    )


def done(words: Sequence[str | Path], folder: Path, **variables: str) -> str:
    """Run a command that must end well; return what it printed."""
    ended = run(words, folder, **variables)
    assert ended.returncode == 0, f"{words}\n{ended.stdout}\n{ended.stderr}"
    return ended.stdout


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder outside the checkout; skip where nothing can be installed."""
    pytest.importorskip("build", reason="build is missing: pip install '.[test]'")
    place = tmp_path_factory.mktemp("installed")
    pip = [
        sys.executable,
        "-m",
        "pip",
        "download",
        "-q",
        "--no-deps",
        "-d",
        place / "x",
    ]
    probe = run([*pip, "setuptools>=77"], place)
    if probe.returncode:
        pytest.skip(f"PyPI cannot be reached: {probe.stderr.strip().splitlines()[-1]}")
    return place


@pytest.fixture(scope="module")
def checkout(place: Path) -> Path:
    """Return a copy of this checkout in which nothing was built."""
    left_out = shutil.ignore_patterns(*NOT_OURS, *BUILT)
    return Path(shutil.copytree(ROOT, place / "checkout", ignore=left_out))


@pytest.fixture(scope="module")
def built(place: Path, checkout: Path) -> dict[str, Path]:
    """Return sdist and wheel; the wheel is built from the sdist."""
    search = os.pathsep.join(filter(None, sys.path))  # where `build` is
    words = [sys.executable, "-m", "build", "--outdir", place / "dist", checkout]
    done(words, place, PYTHONPATH=search)
    (sdist,) = (place / "dist").glob("*.tar.gz")
    (wheel,) = (place / "dist").glob("*.whl")
    return {"sdist": sdist, "wheel": wheel}


@pytest.fixture(scope="module")
def mpich(place: Path) -> Path:
    """Return the folder of the programs of an MPI from PyPI."""
    return environment(place / "mpich", ["mpich>=5.0"])


@pytest.fixture(scope="module")
def wheels(place: Path, built: dict[str, Path]) -> Path:
    """Return the folder of the programs of an environment with the wheel."""
    # A wheel needs no compiler to be installed: none is found.
    what = ["--only-binary", ":all:", built["wheel"]]
    return environment(place / "wheel", what, PATH="/nonexistent")


def environment(folder: Path, what: Sequence[str | Path], **variables: str) -> Path:
    """Install something into a fresh environment; return its folder of programs."""
    venv.create(folder)
    python = folder / "bin/python"
    pip = [sys.executable, "-m", "pip", "--python", python, "install", "-q"]
    # What is not imported need not be compiled by Python.
    done([*pip, "--no-compile", *what], folder, **variables)
    return python.parent


def tour() -> list[str]:
    """Return the commands of the README's tour, made shorter."""
    text = (ROOT / "README.md").read_text()
    section = text.split("## Five minutes by hand")[1].split("\n## ")[0]
    lines = re.findall(r"(?m)^    (.+)$", section)
    kept = [line for line in lines if not LEFT_OUT.search(line)]
    for old, new in SHORTER.items():
        kept = [line.replace(old, new) for line in kept]
    return kept


def test_the_tour_is_the_one_of_the_readme():
    text = "\n".join(tour())
    wanted = ("record", "info", "build", "calibrate", "predict")
    assert all(f"skelgen {word} " in text for word in wanted)
    assert "make -C skel" in text
    assert "mpicc" in text


def test_the_wheel_needs_no_library_but_that_of_c(place: Path, built: dict[str, Path]):
    """PyPI takes it with the tag that `auditwheel repair` then gives it."""
    why = "auditwheel is missing: pip install '.[test]'"
    pytest.importorskip("auditwheel", reason=why)
    said = done([sys.executable, "-m", "auditwheel", "show", built["wheel"]], place)
    assert re.search(r'"manylinux_2_\d+_\w+"', " ".join(said.split())), said


def test_the_source_archive_holds_all_that_is_in_the_checkout(
    built: dict[str, Path], checkout: Path
):
    with tarfile.open(built["sdist"]) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    wanted = {
        str(path.relative_to(checkout))
        for path in checkout.rglob("*")
        if path.is_file() and "egg-info" not in str(path)
    }
    assert wanted - names == set()


def test_one_wheel_is_for_all_later_versions_of_python(built: dict[str, Path]):
    assert "-cp311-abi3-" in built["wheel"].name
    with zipfile.ZipFile(built["wheel"]) as archive:
        names = archive.namelist()
    libraries = [name for name in names if ".so" in name]
    kernels = list((ROOT / "skelgen/_kernels").glob("[!_]*.c"))
    assert len(libraries) == len(kernels)
    assert all(name.endswith(".abi3.so") for name in libraries)


def test_the_tour_goes_well_where_it_is_installed(
    wheels: Path, place: Path, mpich: Path
):
    folder = place / "tour"
    (folder / "examples").mkdir(parents=True)
    shutil.copy(ROOT / "examples/heat2d.c", folder / "examples")
    search = f"{wheels}:{mpich}:{os.environ['PATH']}"
    # The recorder is compiled in half the time.
    cache = {"SKELGEN_CACHE": str(place / "cache"), "CFLAGS": "-O0"}
    where = {"PATH": search, **cache}
    said = "".join(done(["bash", "-c", line], folder, **where) for line in tour())
    assert "predicted" in said
    module = done([wheels / "python", "-c", "import skelgen; print(skelgen)"], folder)
    assert str(place / "wheel") in module
    signature = str(ROOT / "signatures/lammps-lj-2r")
    words = ["skelgen", "build", signature, "--scale", "100", "-o", "lammps"]
    done([wheels / words[0], *words[1:]], folder, **where)


def test_benchmarks_run_in_a_checkout_that_is_not_installed(
    wheels: Path, place: Path, checkout: Path
):
    programs = wheels
    scripts = sorted((checkout / "benchmarks").glob("*.py"))
    scripts.append(checkout / "benchmarks/accuracy")
    said = done([programs / "python", "-c", HELPS, *scripts], place)
    assert [Path(one) for one in re.findall("(?m)^helped: (.+)$", said)] == scripts
    assert said.count("usage: ") == len(scripts)
    table = [checkout / "benchmarks/folding.py", "--symbols", "20000"]
    assert "squarefree" in done([programs / "python", *table], place)
