"""The table of MPI functions covers what the MPI libraries export."""

from __future__ import annotations

import fnmatch
import re
import shutil
import subprocess
import tomllib
from pathlib import Path

import pytest

from tests.shim.conftest import Lab, shim_of
from tests.shim.table import read_table

TABLE = Path(__file__).parents[2] / "pmpi_shim/mpi_calls.toml"


def table() -> dict[str, dict]:
    return tomllib.loads(TABLE.read_text())


def exported(library: Path) -> set[str]:
    command = ["nm", "-D", "--defined-only", str(library)]
    lines = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    names = {line.split()[2].split("@")[0] for line in lines.splitlines()}
    return {name for name in names if re.match("MPIX?_", name)}


def library_of(lab: Lab) -> Path:
    """Ask the program that the wrappers are generated with which library it uses."""
    program = lab.compile("endings")
    lines = subprocess.run(
        ["ldd", str(program)], capture_output=True, text=True, check=True
    ).stdout
    match = re.search(r"libmpi\S* => (\S+)", lines)
    assert match, lines
    return Path(match[1])


@pytest.mark.mpi
def test_every_exported_function_is_wrapped_or_has_a_reason(lab: Lab) -> None:
    if not shutil.which("nm"):
        pytest.skip("no nm")
    rows = table()
    known = {f.name for f in read_table()}
    patterns = [n for row in rows["unwrapped"] for n in row["names"]]
    library = exported(library_of(lab))
    assert "MPI_Send" in library
    unknown = {
        name
        for name in library - known
        if not any(fnmatch.fnmatch(name, pattern) for pattern in patterns)
    }
    assert not unknown


@pytest.mark.mpi
def test_the_shim_exports_exactly_what_table_and_library_share(lab: Lab) -> None:
    if not shutil.which("nm"):
        pytest.skip("no nm")
    names = {f.name for f in read_table()}
    assert exported(shim_of(lab.mpi)) == names & exported(library_of(lab))


def test_ids_are_numbers_of_their_own_below_a_thousand() -> None:
    ids = [row["id"] for name, row in table().items() if name != "unwrapped"]
    assert len(set(ids)) == len(ids)
    assert 0 < min(ids) <= max(ids) < 1000


def test_every_function_that_is_not_wrapped_has_a_reason() -> None:
    assert all(row["reason"] and row["names"] for row in table()["unwrapped"])
