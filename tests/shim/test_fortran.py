"""Fortran programs print the same with the recorder; each call is recorded once."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.shim.conftest import HERE, Lab, Run
from tests.shim.reader import (
    FAILED,
    HAS_A,
    HAS_B,
    IN_PLACE,
    NOT_READY,
    WILD_SOURCE,
    WILD_TAG,
    Event,
    Trace,
)

pytestmark = pytest.mark.mpi

BINDINGS = {"mpif.h": "MPIF", "use mpi": "USE_MPI", "use mpi_f08": "F08"}
PARTS = ("in_place", "wildcards", "some", "persistent", "objects")
SHARED = ("-cpp", "-w", "-fallow-argument-mismatch")

#: Every call between Init and Finalize on rank 0 but failed polls: function, count
#: (vector) and type of both sides, communicator but for the world, peer (root), tag,
#: peer and tag of a Sendrecv's receive, operation, flags, what it made, its requests,
#: and what completed wildcards got.
EXPECTED = {
    "in_place": """
        Allreduce 3xDOUBLE_PRECISION sum in_place
        Gather <1xINTEGER peer 0 in_place
        Scatter 1xINTEGER peer 0 in_place
        Reduce 1xINTEGER peer 1 max
        Allgather <1xINTEGER in_place
        Alltoall <1xINTEGER in_place
        Alltoallv <[1, 1]xDOUBLE_PRECISION in_place
        Alltoallv [1, 2]xDOUBLE_PRECISION <[1, 2]xDOUBLE_PRECISION
        Alltoallw [4, 8] <[4, 12]
        Scan 1xINTEGER sum in_place
        Reduce_scatter [1, 2]xDOUBLE_PRECISION sum in_place
        Gatherv 1xINTEGER <[1, 1]xINTEGER peer 0
        Bcast 2xINTEGER peer 0
    """,
    "wildcards": """
        Recv <1xINTEGER peer 1 tag 11 any_source any_tag
        Recv <1xINTEGER peer 1 tag 12 any_source
        Recv <1xINTEGER peer 1 tag 13
        Irecv <1xINTEGER peer -3 tag -2 any_source any_tag makes [1]
        Wait 1 of [1] got [(0, 1, 14)]
        Irecv <1xINTEGER peer 1 tag -2 any_tag makes [2]
        Irecv <1xINTEGER peer 1 tag -2 any_tag makes [3]
        Waitall 2 of [2, 3] got [(0, 1, 15), (1, 1, 16)]
        Irecv <1xINTEGER peer -3 tag 17 any_source makes [4]
        Waitall 2 of [4] got [(0, 1, 17)]
        Mprobe peer 1 tag 18 any_source any_tag
        Mrecv <1xINTEGER peer 1 tag 18
        Iprobe peer 1 tag 19 any_source
        Recv <1xINTEGER peer 1 tag 19
        Sendrecv 1xINTEGER <1xINTEGER peer 1 tag 31 from 1 tag 30 any_source
    """,
    "some": """
        Irecv <1xINTEGER peer 1 tag 0 makes [1]
        Irecv <1xINTEGER peer 1 tag 1 makes [2]
        Irecv <1xINTEGER peer 1 tag 2 makes [3]
        Irecv <1xINTEGER peer 1 tag 3 makes [4]
        Send 1xINTEGER peer 1 tag 9
        Waitany 4 of [4]
        Send 1xINTEGER peer 1 tag 9
        Waitsome 4 of [3]
        Send 1xINTEGER peer 1 tag 9
        Testsome 4 of [2]
        Send 1xINTEGER peer 1 tag 9
        Testany 4 of [1]
        Waitany 4
        Testall 4
    """,
    "persistent": """
        Send_init 1xDOUBLE_PRECISION peer 1 tag 5 makes [-1]
        Recv_init <1xDOUBLE_PRECISION peer 1 tag 5 makes [-2]
        Startall 2 makes [1, 2] of [-1, -2]
        Waitall 2 of [1, 2]
        Startall 2 makes [3, 4] of [-1, -2]
        Waitall 2 of [3, 4]
        Startall 2 makes [5, 6] of [-1, -2]
        Waitall 2 of [5, 6]
        Start 1 makes [7] of [-2]
        Start 1 makes [8] of [-1]
        Wait 1 of [8]
        Wait 1 of [7]
        Request_free of [-1]
        Request_free of [-2]
        Irecv <1xDOUBLE_PRECISION peer 0 tag 6 makes [9]
        Cancel of [9]
        Wait 1 of [9] got [(0, -5, -1)]
        Ibarrier makes [10]
        Test 1 of [10]
    """,
    "objects": """
        Comm_dup new 2
        Comm_split comm 2 new 3
        Allreduce 1xINTEGER comm 3 sum in_place
        Cart_create new 4
        Cart_sub comm 4 new 5
        Barrier comm 5
        Comm_idup makes [1] new 6
        Wait 1 of [1]
        Barrier comm 6
        Sendrecv_replace 1x peer 1 tag 3 from 1 tag 3
        Bcast 1x peer 1
        Allreduce 1xINTEGER comm 2 user in_place
        Send 1xINTEGER comm 2 peer 99 tag 0 failed 6
        Comm_create new 7
        Pcontrol peer 0
        Pcontrol peer 1
        Comm_free comm 7
        Comm_free comm 3
        Comm_free comm 5
        Comm_free comm 4
        Comm_free comm 2
    """,
}
#: Calls of "objects" that are counted only, once each but for the first.
COUNTED = (
    "Get_address Cart_get Comm_get_name Comm_group Comm_rank Comm_set_errhandler "
    "Comm_set_name Error_class Error_string Group_free Info_create Info_free Info_get "
    "Info_set Op_create Op_free Type_commit Type_create_hindexed Type_free Wtime"
).split()
OPERATIONS = {1: "max", 3: "sum", 15: "user"}
FLAGS = {IN_PLACE: "in_place", WILD_SOURCE: "any_source", WILD_TAG: "any_tag"}


def side(trace: Trace, event: Event, letter: str) -> str:
    index = "ab".index(letter)
    vector = event.vectors[index]
    if vector is None and not event.has((HAS_A, HAS_B)[index]):
        return ""
    number = event.fields[f"type_{letter}"]
    kind = f"x{trace.type_name(number).removeprefix('MPI_')}" if number else ""
    return f"{vector or event.counts[index]}{kind}"


def line(trace: Trace, event: Event) -> str:
    """Write an event the way EXPECTED does."""
    sent, received = side(trace, event, "a"), side(trace, event, "b")
    f = event.fields
    words = [
        event.function.removeprefix("MPI_"),
        sent,
        f"<{received}" if received else "",
        f"comm {f['comm']}" if f["comm"] > 0 else "",
        f"peer {f['peer']}" if f["peer"] != -1 else "",
        f"tag {f['tag']}" if f["tag"] != -1 else "",
        f"from {f['peer2']} tag {f['tag2']}" if f["peer2"] != -1 else "",
        OPERATIONS[f["op"]] if f["op"] else "",
        *(name for flag, name in FLAGS.items() if event.has(flag)),
        f"failed {event.error}" if event.has(FAILED) else "",
        f"makes {event.made}" if event.made else "",
        f"of {event.requests}" if event.requests else "",
        f"got {event.statuses}" if event.statuses else "",
        f"new {event.object}" if event.object is not None else "",
    ]
    return " ".join(filter(None, words))


def fortran_compiler(lab: Lab) -> Path:
    """Return the compiler beside mpicc."""
    mpicc = lab.mpi.compiler
    compiler = mpicc.with_name(mpicc.name.replace("mpicc", "mpif90"))
    if not compiler.exists():
        pytest.skip(f"no mpif90 beside {mpicc}")
    if not shutil.which("gfortran"):
        pytest.skip("no gfortran")
    return compiler


def program(lab: Lab, binding: str) -> str:
    """Compile the calls with the compiler beside mpicc."""
    name = f"fortran {binding}"
    if name not in lab.programs:
        compiler = fortran_compiler(lab)
        target = lab.folder / name.replace(" ", "_")
        source = str(HERE / "fortran/calls.F90")
        flag = f"-D{BINDINGS[binding]}"
        command = [str(compiler), *SHARED, flag, source, "-o", str(target)]
        subprocess.run(command, check=True)
        lab.programs[name] = target
    return str(lab.programs[name])


def launched(lab: Lab, binding: str, part: str, *, recorded: bool) -> Run:
    """Run a part once with the recorder and once without."""
    key = ("fortran", binding, part, recorded)
    if key not in lab.runs:
        lab.runs[key] = lab.launch(
            2,
            [program(lab, binding), part],
            lab.folder / f"run{len(lab.runs)}",
            preload=str(lab.shim) if recorded else None,
        )
    return lab.runs[key]


@pytest.fixture(params=BINDINGS)
def binding(request: pytest.FixtureRequest) -> str:
    chosen: str = request.param
    return chosen


@pytest.mark.parametrize("part", PARTS)
def test_fortran_programs_print_the_same_with_the_recorder(
    lab: Lab, binding: str, part: str
) -> None:
    with_it = launched(lab, binding, part, recorded=True)
    without = launched(lab, binding, part, recorded=False)
    assert (without.exit_code, with_it.exit_code) == (0, 0)
    assert with_it.errors == without.errors
    # Launchers interleave what ranks print.
    lines = sorted(without.output.splitlines())
    assert lines
    assert sorted(with_it.output.splitlines()) == lines


@pytest.mark.parametrize("part", PARTS)
def test_each_fortran_call_is_recorded_once(lab: Lab, binding: str, part: str) -> None:
    traces = launched(lab, binding, part, recorded=True).traces
    assert all(trace.clean for trace in traces)
    events = [e for e in traces[0].events if not e.has(NOT_READY)]
    lines = [line(traces[0], e) for e in events]
    begin = "Init_thread" if part == "objects" else "Init"
    expected = [text.strip() for text in EXPECTED[part].strip().splitlines()]
    assert lines == [begin, *expected, "Finalize"]


def test_fortran_calls_without_events_are_counted_once(lab: Lab, binding: str) -> None:
    for trace in launched(lab, binding, "objects", recorded=True).traces:
        counts = {n.removeprefix("MPI_"): k for n, k in trace.counts.items()}
        assert counts == {**dict.fromkeys(COUNTED, 1), "Get_address": 2}


def test_fortran_call_sites_lie_in_the_program(lab: Lab, binding: str) -> None:
    path = program(lab, binding)
    for trace in launched(lab, binding, "some", recorded=True).traces:
        sites, modules = trace.tables["sites"], trace.tables["modules"]
        assert {modules[s["module"]]["path"] for s in sites.values()} == {path}
        sends = {e.fields["site"] for e in trace.of("Send")}
        assert len(sends) == (4 if trace.header["world_rank"] == 0 else 1)


def test_error_codes_that_a_program_leaves_out_are_not_written(lab: Lab) -> None:
    run = launched(lab, "use mpi_f08", "optional", recorded=True)
    assert (run.exit_code, run.output) == (0, "size  2\n" * 2)
    assert [e.function for e in run.traces[0].events] == [
        "MPI_Init",
        "MPI_Barrier",
        "MPI_Finalize",
    ]


def test_abort_in_fortran_ends_the_files(lab: Lab, binding: str) -> None:
    run = launched(lab, binding, "abort", recorded=True)
    assert run.exit_code
    names = [e.function for trace in run.traces for e in trace.events]
    assert names.count("MPI_Abort") >= 1
    reasons = {t.tables["ends"][0]["reason"] for t in run.traces if "ends" in t.tables}
    assert 1 in reasons


def test_fortran_programs_with_sessions_only_are_recorded(
    lab: Lab, binding: str, tmp_path: Path
) -> None:
    """The Fortran functions may call those of C, which are wrapped as well."""
    compiler = fortran_compiler(lab)
    if lab.mpi.standard < 4:
        pytest.skip("this MPI is older than MPI 4")
    path = str(tmp_path / "sessions")
    source = str(HERE / "fortran/sessions.F90")
    command = [str(compiler), *SHARED, f"-D{BINDINGS[binding]}", source, "-o", path]
    subprocess.run(command, check=True)
    run = lab.launch(2, [path], tmp_path, preload=str(lab.shim))
    assert (run.exit_code, run.output.split(), run.errors) == (0, ["sum", "1"], "")
    for trace in run.traces:
        assert trace.clean
        assert trace.events[0].function == "MPI_Session_init"
        assert trace.events[-1].function == "MPI_Session_finalize"
        assert len(trace.of("Allreduce")) == 10
        (site,) = {e.fields["site"] for e in trace.events[:1]}
        module = trace.tables["sites"][site]["module"]
        assert trace.tables["modules"][module]["path"] == path


def test_wheels_without_fortran_get_no_fortran_wrappers(lab: Lab) -> None:
    """What the shim exports in Fortran is what the library's Fortran part has."""
    if not shutil.which("nm"):
        pytest.skip("no nm")
    names = exported(lab.shim)
    libraries = fortran_libraries(lab)
    assert names <= set().union(*map(exported, libraries))
    assert bool(names) == bool(libraries)


def exported(library: Path) -> set[str]:
    command = ["nm", "-D", "--defined-only", str(library)]
    lines = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    names = {text.split()[2].split("@")[0] for text in lines.splitlines()}
    return {name for name in names if re.match("mpi_.*_$", name)}


def fortran_libraries(lab: Lab) -> list[Path]:
    """Return the libraries that Fortran programs of this MPI load, if there are any."""
    run = subprocess.run(
        ["ldd", str(lab.compile("endings"))], capture_output=True, text=True, check=True
    )
    match = re.search(r"(libmpi\S*) => (\S+)", run.stdout)
    assert match
    folder, family = Path(match[2]).parent, match[1]
    patterns = ["libmpi*fort.so.*"] if "mpich" in family else []
    patterns += ["libmpi_mpifh.so.*", "libmpi_usempif08.so.*"] if "40" in family else []
    return [path for pattern in patterns for path in folder.glob(pattern)]
