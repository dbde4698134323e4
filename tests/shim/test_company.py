"""The shim among other programs, libraries, threads, and programs without MPI."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from skelgen.launch.mpi import identify_compiler
from tests.mpis import MPIS
from tests.shim.conftest import ABIS, HERE, Lab, Record, preloaded, shim_of
from tests.shim.reader import Trace

pytestmark = pytest.mark.mpi

PROGRAMS = [
    ("requests", 2, "eager"),
    ("requests", 2, "persistent"),
    ("requests", 2, "some"),
    ("wildcards", 3, ""),
    ("communicators", 4, ""),
    ("collectives", 3, ""),
    ("endings", 2, "errors"),
]


@pytest.mark.parametrize(("name", "ranks", "argument"), PROGRAMS)
def test_a_program_says_the_same_with_and_without_the_shim(
    lab: Lab, tmp_path: Path, name: str, ranks: int, argument: str
) -> None:
    # Launchers interleave what ranks print: each rank writes a file of its own.
    number = "${PMI_RANK:-$OMPI_COMM_WORLD_RANK}"
    apart = ["sh", "-c", f'exec "$@" >output.{number} 2>errors.{number}', "sh"]
    command = [*apart, str(lab.compile(name)), *([argument] if argument else [])]
    recorded = lab.launch(ranks, command, tmp_path / "with", preload=str(lab.shim))
    plain = lab.launch(ranks, command, tmp_path / "without")
    said = [
        {path.name: path.read_text() for path in folder.glob("*.*")}
        for folder in (tmp_path / "with", tmp_path / "without")
    ]
    assert said[0] == said[1]
    assert len(said[0]) == 2 * ranks and any(said[0].values())
    assert (recorded.exit_code, recorded.errors) == (plain.exit_code, plain.errors)
    assert all(trace.clean for trace in recorded.traces)


def test_a_tool_behind_the_shim_sees_every_call(lab: Lab, tmp_path: Path) -> None:
    other = tmp_path / "libbehind.so"
    compiler = [str(lab.mpi.compiler), "-shared", "-fPIC", str(HERE / "behind.c")]
    subprocess.run([*compiler, "-o", str(other)], check=True)
    run = lab.launch(
        1,
        [str(lab.compile("endings")), "many", "123"],
        tmp_path,
        preload=f"{lab.shim}:{other}",
    )
    assert "the other tool saw 123 sends" in run.output
    assert len(run.traces[0].of("Send")) == 123


def test_a_program_without_mpi_is_left_alone(lab: Lab, tmp_path: Path) -> None:
    script = "import os, subprocess; subprocess.run(['true']); print(os.listdir('.'))"
    environment = dict(os.environ)
    preloaded(environment, str(lab.shim), tmp_path / "run")
    done = subprocess.run(
        [sys.executable, "-c", script],
        env=environment,
        capture_output=True,
        text=True,
        cwd=tmp_path,
        check=True,
    )
    assert (done.stdout, done.stderr) == ("[]\n", "")


def test_a_shim_for_another_mpi_steps_aside(lab: Lab, tmp_path: Path) -> None:
    family = identify_compiler(lab.mpi.compiler)
    others = [m for m in MPIS if identify_compiler(m.compiler) is not family]
    if not others:
        pytest.skip("only one family of MPI was found")
    command = [str(lab.compile("requests")), "eager"]
    run = lab.launch(2, command, tmp_path, preload=str(shim_of(others[0])))
    assert (run.exit_code, run.output) == (0, "equal handles 2, got 1 1 1\n")
    assert run.errors.count("skelgen: this shim is for another MPI") == 1
    assert not run.folder.exists()


def test_mpi4py_is_recorded(lab: Lab, tmp_path: Path) -> None:
    python = lab.mpi.compiler.with_name("python")
    check = [str(python), "-c", "import mpi4py"]
    if not python.exists() or subprocess.run(check, check=False).returncode:
        pytest.skip(f"no Python with mpi4py beside {lab.mpi.compiler}")
    if lab.mpi in ABIS:
        pytest.skip("the wheel of mpi4py has no module for the binary interface")
    script = (
        "from array import array; from mpi4py import MPI; c = MPI.COMM_WORLD\n"
        "for i in range(5): c.Allreduce(array('d', [1, 2]), array('d', [0, 0]))\n"
        "c.Split(c.rank).Free()"
    )
    run = lab.launch(2, [str(python), "-c", script], tmp_path, preload=str(lab.shim))
    assert run.exit_code == 0, run.errors
    for trace in run.traces:
        assert len(trace.of("Allreduce", "Allreduce_c")) == 5
        assert trace.of("Comm_split")[0].object == 2
        assert trace.clean


def test_each_thread_has_a_file_of_its_own(lab: Lab, tmp_path: Path) -> None:
    program = lab.compile("threads", "-lpthread")
    run = lab.launch(1, [str(program)], tmp_path, preload=str(lab.shim))
    assert run.exit_code == 0
    if "no threads" in run.output:
        pytest.skip("this MPI does not grant MPI_THREAD_MULTIPLE")
    traces = [Trace(p) for p in sorted(run.folder.glob("*.t*.skt"))]
    assert len(traces) == 4
    assert {t.header["thread"] for t in traces} == {1, 2, 3, 4}
    tags = [{e.tag for e in t.of("Send")} for t in traces]
    assert sorted(map(len, tags)) == [1, 1, 1, 1]
    assert set.union(*tags) == {0, 1, 2, 3}
    assert [len(t.of("Send")) for t in traces] == 4 * [20000]
    assert all(t.clean for t in traces)
    waits = [e for t in traces for e in t.of("Wait")]
    assert [e.foreign for e in waits] == [[(0, 1)]]


def test_unrecorded_calls_are_counted_by_name(record: Record) -> None:
    (trace,) = record("endings", 1, "errors").traces
    assert trace.counts == {
        "MPI_Comm_rank": 1,
        "MPI_Comm_size": 1,
        "MPI_Comm_set_errhandler": 2,
    }


def test_headers_name_the_run(record: Record) -> None:
    traces = record("requests", 2, "eager").traces
    assert len({t.header["run_id"] for t in traces}) == 1
    assert [t.header["world_rank"] for t in traces] == [0, 1]
    assert all(t.header["world_size"] == 2 for t in traces)
    assert b"requests" in traces[0].header["program"]
    for trace in traces:
        clocks = trace.tables["clocks"]
        first, last = clocks[0], clocks[len(clocks) - 1]
        ticks = last["ticks"] - first["ticks"]
        nanoseconds = last["monotonic_ns"] - first["monotonic_ns"]
        nominal = trace.header["ticks_per_s"]
        assert ticks / nanoseconds * 1e9 == pytest.approx(nominal, rel=0.01)
        assert [s["module"] for s in trace.tables["sites"].values()]
