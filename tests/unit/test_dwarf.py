"""Addresses of a compiled program become file, line and function."""

from __future__ import annotations

import json
import os
import random
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from skelgen.dwarf import SourceLine
from skelgen.dwarf.function_names import plain_function

SOURCE = """\
#include <stdio.h>
volatile int sink;
__attribute__((noipa)) void mark(int number) { sink = number; }
static inline __attribute__((always_inline)) void inlined(int number)
{
	mark(number);
	mark(number + 1);
	sink = number;
}
__attribute__((noinline)) static void twice(void)
{
	mark(10);
	inlined(20);
}
int main(void)
{
	twice();
	mark(30);
	return 0;
}
"""
#: Lines of the calls of mark, in the order of their addresses within a function.
EXPECTED = {(12, "twice"), (6, "inlined"), (7, "inlined"), (18, "main")}

pytestmark = pytest.mark.skipif(
    not (shutil.which("gcc") and shutil.which("objdump")), reason="no gcc or objdump"
)


def compiled(
    folder: Path, *options: str, text: str = SOURCE, name: str = "a.c"
) -> Path:
    source = folder / name
    source.write_text(text)
    program = folder / "program"
    compiler = {"c": "gcc", "cpp": "g++", "f90": "gfortran"}[name.rpartition(".")[2]]
    if not shutil.which(compiler):
        pytest.skip(f"no {compiler}")
    line = [compiler, *options, str(source), "-o", str(program)]
    subprocess.run(line, check=True, cwd=folder, capture_output=True)
    return program


def returns(program: Path, function: str) -> list[int]:
    """Return the addresses to which the calls of a function return."""
    done = subprocess.run(
        ["objdump", "-d", "--no-show-raw-insn", str(program)],
        check=True,
        capture_output=True,
        text=True,
    )
    found, calls = [], False
    for line in done.stdout.splitlines():
        match = re.match(r"\s*([0-9a-f]+):\s", line)
        if match and calls:
            found.append(int(match[1], 16))
        calls = bool(re.search(rf"call.*<{function}(@plt)?>", line))
    return found


def asked(program: Path, addresses: list[int], **known) -> tuple[dict, list[str]]:
    """Ask the program that reads debug information; return lines and notes."""
    module = {"path": str(program), "build_id": "", "recorded_s": 0.0, **known}
    request = program.parent / "request.json"
    request.write_text(json.dumps([{**module, "addresses": addresses}]))
    done = subprocess.run(
        [sys.executable, "-P", "-m", "skelgen.dwarf", str(request)],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.stderr == ""
    lines: dict[int, SourceLine] = {}
    notes = []
    for text in done.stdout.splitlines():
        answer = json.loads(text)
        assert answer.pop("path") == str(program)
        if "note" in answer:
            notes.append(answer["note"])
        else:
            address = answer.pop("address")
            lines[address] = SourceLine(**answer)
    return lines, notes


def places(lines: dict[int, SourceLine]) -> set[tuple[int, str]]:
    return {(one.line, one.function) for one in lines.values()}


@pytest.mark.parametrize(
    "options",
    [
        ("-O2", "-g"),
        ("-O0", "-g"),
        ("-O2", "-gdwarf-4"),
        ("-O2", "-gdwarf-3"),
        ("-O2", "-g", "-no-pie"),
        ("-O2", "-g", "-gz"),
        ("-O2", "-g", "-flto"),
    ],
    ids=" ".join,
)
def test_calls_have_the_line_and_the_innermost_function(tmp_path: Path, options):
    program = compiled(tmp_path, *options)
    addresses = returns(program, "mark")
    assert len(addresses) == 4
    lines, notes = asked(program, addresses)
    assert places(lines) == EXPECTED
    assert {one.file for one in lines.values()} == {str(tmp_path / "a.c")}
    assert notes == []


def test_units_are_found_where_no_table_says_which_has_what(tmp_path: Path):
    program = compiled(tmp_path, "-O2", "-g")
    subprocess.run(
        ["objcopy", "--remove-section", ".debug_aranges", str(program)], check=True
    )
    lines, _ = asked(program, returns(program, "mark"))
    assert places(lines) == EXPECTED


def test_a_shared_library_is_read_as_a_program_is(tmp_path: Path):
    program = compiled(tmp_path, "-O2", "-g", "-shared", "-fPIC")
    lines, _ = asked(program, returns(program, "mark"))
    assert places(lines) == EXPECTED


def test_a_member_function_is_named_with_its_class_and_namespace(tmp_path: Path):
    text = """\
extern "C" { volatile int sink; __attribute__((noipa)) void mark(int n) { sink = n; } }
namespace solver { struct Grid { void exchange(int n); }; }
void solver::Grid::exchange(int n) { mark(n); mark(n + 1); sink = n; }
int main() { solver::Grid grid; grid.exchange(1); return 0; }
"""
    program = compiled(tmp_path, "-O0", "-g", text=text, name="a.cpp")
    lines, _ = asked(program, returns(program, "mark"))
    assert places(lines) == {(3, "solver::Grid::exchange")}


def test_a_fortran_subroutine_has_the_name_of_its_source(tmp_path: Path):
    text = """\
module halo
contains
  subroutine exchange(n)
    integer, intent(in) :: n
    call mark(n)
  end subroutine
end module
program heat
  use halo
  call exchange(3)
  call mark(4)
end program
subroutine mark(n)
  integer :: n
  print *, n
end subroutine
"""
    program = compiled(tmp_path, "-O0", "-g", text=text, name="a.f90")
    lines, _ = asked(program, returns(program, "mark_"))
    assert places(lines) == {(5, "exchange"), (11, "heat")}


def test_a_program_without_lines_has_the_functions_of_its_symbols(tmp_path: Path):
    program = compiled(tmp_path, "-O2")
    lines, notes = asked(program, returns(program, "mark"))
    assert places(lines) == {(0, "twice"), (0, "main")}
    assert notes == ["has no debug information: compile it with -g"]


def test_lines_are_found_in_a_separate_file(tmp_path: Path):
    program = compiled(tmp_path, "-O2", "-g", "-Wl,--build-id")
    addresses = returns(program, "mark")
    separate = tmp_path / "program.debug"
    for line in (
        ["objcopy", "--only-keep-debug", str(program), str(separate)],
        ["strip", str(program)],
        ["objcopy", f"--add-gnu-debuglink={separate}", str(program)],
    ):
        subprocess.run(line, check=True)
    lines, notes = asked(program, addresses)
    assert places(lines) == EXPECTED
    assert notes == []
    other = compiled(tmp_path, "-O1", "-g", "-Wl,--build-id")
    subprocess.run(["objcopy", "--only-keep-debug", other, separate], check=True)
    subprocess.run(["strip", other], check=True)
    lines, notes = asked(other, addresses, build_id="")
    assert all(one.file == "" for one in lines.values())


def test_a_program_that_changed_gives_no_wrong_line(tmp_path: Path):
    program = compiled(tmp_path, "-O2", "-g", "-Wl,--build-id=0x1234abcd")
    addresses = returns(program, "mark")
    assert places(asked(program, addresses, build_id="1234abcd")[0]) == EXPECTED
    lines, notes = asked(program, addresses, build_id="99")
    assert (lines, notes) == ({}, ["changed since it was recorded"])
    written = program.stat().st_mtime
    lines, notes = asked(program, addresses, recorded_s=written - 1)
    assert (lines, notes) == ({}, ["changed since it was recorded"])
    assert places(asked(program, addresses, recorded_s=written + 1)[0]) == EXPECTED


def test_what_is_no_program_or_gone_is_said(tmp_path: Path):
    gone = tmp_path / "gone"
    assert asked(gone, [64]) == ({}, ["is not on this machine"])
    script = tmp_path / "script"
    script.write_text("#!/bin/sh\n")
    assert asked(script, [64])[1] == ["is no program for this kind of machine"]
    os.mkfifo(tmp_path / "pipe")
    assert asked(tmp_path / "pipe", [64])[1] == ["is not on this machine"]


def test_addresses_that_are_nowhere_have_no_line(tmp_path: Path):
    program = compiled(tmp_path, "-O2", "-g")
    lines, _ = asked(program, [0, 1, 2**64 - 1])
    assert all(one.file == "" for one in lines.values())


@pytest.mark.parametrize("seed", range(12))
def test_damaged_files_end_soon_and_without_a_traceback(tmp_path: Path, seed: int):
    program = compiled(tmp_path, "-O2", "-g")
    addresses = returns(program, "mark")
    content = bytearray(program.read_bytes())
    dice = random.Random(seed)
    for _ in range(200):
        content[dice.randrange(16, len(content))] = dice.randrange(256)
    if seed % 3 == 0:
        del content[dice.randrange(64, len(content)) :]
    program.write_bytes(content)
    lines, notes = asked(program, addresses)
    assert len(lines) <= len(addresses)
    assert len(notes) <= 1


@pytest.mark.parametrize(
    ("name", "plain"),
    [
        ("main", "main"),
        ("solve_.constprop.0.isra.0", "solve_"),
        ("_ZN9LAMMPS_NS4CommC2EPNS_6LAMMPSE", "LAMMPS_NS::Comm::Comm"),
        ("_ZN4GridD1Ev", "Grid::~Grid"),
        ("_ZNK4Grid4sizeEv", "Grid::size"),
        ("_Z3runi", "run"),
        ("_ZN12_GLOBAL__N_13runEi", "(anonymous)::run"),
        ("_ZN4GridIdE4sizeEv", "_ZN4GridIdE4sizeEv"),
        ("_ZN99x", "_ZN99x"),
        ("_Z", "_Z"),
        ("__pyx_f_6mpi4py_3MPI_PyMPI_recv_p2p", "mpi4py.MPI.PyMPI_recv_p2p"),
        ("__pyx_pw_99", "__pyx_pw_99"),
    ],
)
def test_names_of_functions_are_for_people(name: str, plain: str):
    assert plain_function(name) == plain
