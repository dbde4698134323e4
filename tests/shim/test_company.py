"""The shim among other programs, libraries, threads, and programs without MPI."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from skelgen.launch.mpi import MpiKind, identify_compiler
from skelgen.trace import EventColumns, RankFile, TimeScale, decode, open_trace
from tests.mpis import MPIS
from tests.shim.conftest import ABIS, HERE, Lab, Record, preloaded, shim_of
from tests.shim.reader import Trace

pytestmark = pytest.mark.mpi

CPP = """
#include <mpi.h>
#include <iostream>
#include <numeric>
#include <stdexcept>
#include <vector>

struct Environment {
	Environment() { MPI_Init(nullptr, nullptr); }
	~Environment() { MPI_Finalize(); }
};

static void reduce(std::vector<double> &values)
{
	int count = static_cast<int>(values.size());

	MPI_Allreduce(MPI_IN_PLACE, values.data(), count, MPI_DOUBLE, MPI_SUM,
		MPI_COMM_WORLD);
	if (values.front() > 7)
		throw std::runtime_error("large");
}

int main()
{
	Environment environment;
	std::vector<double> values(3, 1.0);
	int rank;

	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	for (int i = 0; i < 5; i++)
		try {
			reduce(values);
		} catch (const std::runtime_error &) {
			values.assign(values.size(), 1.0);
		}
	if (!rank)
		std::cout << "caught " << values.size() << std::endl;
	return 0;
}
"""

PROGRAMS = [
    ("requests", 2, "eager"),
    ("requests", 2, "persistent"),
    ("requests", 2, "some"),
    ("wildcards", 3, ""),
    ("communicators", 4, ""),
    ("collectives", 3, ""),
    ("endings", 2, "errors"),
]


@pytest.mark.families
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


def test_mpi_that_was_opened_unseen_is_told(lab: Lab, tmp_path: Path) -> None:
    """As Fortran programs do under the shim of an MPI without Fortran."""
    source = tmp_path / "unseen.c"
    source.write_text(
        "#include <mpi.h>\nint main(void)\n"
        "{ PMPI_Init(0, 0); PMPI_Barrier(MPI_COMM_WORLD); return PMPI_Finalize(); }\n"
    )
    program = str(tmp_path / "unseen")
    command = [str(lab.mpi.compiler), str(source), "-o", program]
    subprocess.run(command, check=True)
    run = lab.launch(2, [program], tmp_path, preload=str(lab.shim))
    assert run.exit_code == 0
    (line,) = run.errors.splitlines()
    assert "saw nothing of how MPI was opened" in line
    assert not run.folder.exists()


def mpi4py_with(lab: Lab) -> dict[str, str]:
    """Return the variables that let mpi4py of PyPI load this MPI's library."""
    if lab.mpi in ABIS:
        pytest.skip("the wheel of mpi4py has no module for the binary interface")
    settings = {}
    if identify_compiler(lab.mpi.compiler) is MpiKind.OPEN_MPI:
        command = ["ldd", str(lab.compile("endings"))]
        said = subprocess.run(command, capture_output=True, text=True, check=True)
        words = next(x.split() for x in said.stdout.splitlines() if "libmpi" in x)
        settings = {"MPI4PY_MPIABI": "openmpi", "MPI4PY_LIBMPI": words[2]}
    elif lab.mpi.compiler.parent != Path(sys.executable).parent:
        pytest.skip(
            "the wheel of mpi4py loads only the MPICH that is installed with it"
        )
    load = "import mpi4py; mpi4py.rc.initialize = False; from mpi4py import MPI"
    check = [sys.executable, "-c", load]
    found = subprocess.run(
        check, capture_output=True, text=True, check=False, env=os.environ | settings
    )
    if found.returncode:
        why = found.stderr.strip().rpartition("\n")[2]
        pytest.skip(f"mpi4py cannot be loaded: {why}")
    return settings


def test_mpi4py_is_recorded(lab: Lab, tmp_path: Path) -> None:
    """It opens the library for itself, and calls ours before it has done so."""
    settings = mpi4py_with(lab)
    script = (
        "from array import array; from mpi4py import MPI; c = MPI.COMM_WORLD\n"
        "for i in range(5): c.Allreduce(array('d', [1, 2]), array('d', [0, 0]))\n"
        "c.Split(c.rank).Free()"
    )
    command = [sys.executable, "-c", script]
    run = lab.launch(2, command, tmp_path, preload=str(lab.shim), **settings)
    assert run.exit_code == 0, run.errors
    assert len(run.traces) == 2
    for trace in run.traces:
        assert len(trace.of("Allreduce", "Allreduce_c")) == 5
        assert trace.of("Comm_split")[0].object == 2
        assert trace.clean


@pytest.mark.families
def test_each_thread_has_a_file_of_its_own(lab: Lab, tmp_path: Path) -> None:
    program = lab.compile("threads", "-lpthread")
    run = lab.launch(1, [str(program)], tmp_path, preload=str(lab.shim))
    assert run.exit_code == 0
    if "no threads" in run.output:
        pytest.skip("this MPI does not grant MPI_THREAD_MULTIPLE")
    files = [f for f in open_trace(run.folder).files if f.header.thread]
    assert [file.header.thread for file in files] == [1, 2, 3, 4]
    assert [file.facts.events for file in files if file.clean].count(100_000) == 3
    for file in files:
        tags = thread_tags(file)
        thread = tags[0] % 4
        order = np.arange(100_000) % 1000 * 4 + thread  # as that thread made them
        np.testing.assert_array_equal(tags[: len(order)], order)
    traces = [Trace(file.path) for file in files if file.facts.events == 100_001]
    waits = [e for t in traces for e in t.of("Wait")]
    assert [e.foreign for e in waits] == [[(0, 1)]]


def thread_tags(file: RankFile) -> np.ndarray:
    """Return the tags of a thread's calls in the order of its file."""
    columns = EventColumns.of(file.facts.events)
    decoded = decode(file, file.shapes.copy(), columns, TimeScale(1.0, 0, 0))
    return decoded.variants["tag"][columns.variant]


def test_a_cpp_program_is_recorded(lab: Lab, tmp_path: Path) -> None:
    name = lab.mpi.compiler.name.replace("mpicc", "mpicxx")
    compiler = lab.mpi.compiler.with_name(name)
    (tmp_path / "program.cpp").write_text(CPP)
    words = [str(compiler), "program.cpp", "-o", "program"]
    if not compiler.exists():
        pytest.skip(f"no {name} beside {lab.mpi.compiler}")
    subprocess.run(words, cwd=tmp_path, check=True)
    program = str(tmp_path / "program")
    run = lab.launch(2, [program], tmp_path, preload=str(lab.shim))
    assert (run.exit_code, run.output, run.errors) == (0, "caught 3\n", "")
    assert [len(t.of("Allreduce")) for t in run.traces] == [5, 5]
    assert all(t.clean for t in run.traces)


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
        # What the header says was read once, perhaps with a pause between the clocks.
        assert ticks / nanoseconds * 1e9 == pytest.approx(nominal, rel=0.5)
        assert [s["module"] for s in trace.tables["sites"].values()]
