"""What few programs do, but soundly: they run as without the shim, and are recorded."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tests.shim.conftest import HERE, Lab, Run
from tests.shim.reader import FAILED, NOT_READY, Event, Trace

pytestmark = pytest.mark.mpi

CONTIGUOUS, VECTOR, UNKNOWN = 2, 3, 14


def run_part(lab: Lab, part: str, ranks: int = 1) -> Run:
    """Record a part of the program, which must come to its end."""
    lab.compile("unusual", "-lpthread")
    run = lab.record("unusual", ranks, part)
    assert run.exit_code == 0, run.errors
    assert run.output.endswith("the end\n")
    for missing in ("no threads", "no sessions"):
        if missing in run.output:
            pytest.skip(f"this MPI has {missing}")
    return run


def test_a_call_without_a_path_fails_as_it_does_without_the_recorder(
    lab: Lab,
) -> None:
    assert "unlink -1 bad address" in run_part(lab, "path").output


def streams(folder: Path) -> list[Trace]:
    """Read the files of all threads, the main one's first."""
    return [Trace(path) for path in sorted(folder.glob("rank-*.skt"))]


def handles(lab: Lab) -> list[Trace]:
    """Return the traces of the threads that do strange things with handles."""
    return streams(run_part(lab, "handles").folder)


def with_tag(trace: Trace, tag: int) -> list[Event]:
    return [e for e in trace.of("Send") if e.tag == tag]


def test_requests_whose_completion_failed_are_not_taken_for_later_ones(
    lab: Lab,
) -> None:
    run = run_part(lab, "errors", 2)
    assert run.output.split()[:8] == 2 * ["failed", *3 * ["received"]]
    trace = run.traces[0]
    made = [number for e in trace.of("Irecv") for number in e.made]
    single, all_of_two = trace.of("Wait"), trace.of("Waitall")
    for waits in (single, all_of_two):
        assert [e.has(FAILED) for e in waits] == [True, False, False, False]
    assert [e.requests for e in single] == [[number] for number in made[:4]]
    pairs = [made[i : i + 2] for i in range(4, 12, 2)]
    assert [e.requests for e in all_of_two[1:]] == pairs[1:]
    # Open MPI keeps a request that Waitall found to have failed, MPICH 4.0 the others.
    assert all_of_two[0].requests in (pairs[0], pairs[0][1:], pairs[0][:1])


def test_calls_after_one_that_an_error_handler_left_by_a_jump_are_recorded(
    lab: Lab,
) -> None:
    for trace in run_part(lab, "errors", 2).traces:
        assert len(trace.of("Barrier")) == 10
        assert trace.clean


def test_an_error_handler_is_not_called_again_and_again(lab: Lab) -> None:
    said = run_part(lab, "errors", 2).output.split()
    assert int(said[said.index("errors") - 1]) == 0


def test_types_made_with_large_counts_are_described(lab: Lab) -> None:
    trace = handles(lab)[0]
    sends = with_tag(trace, 1)
    if not sends:
        pytest.skip("this MPI has no large counts")
    types = [trace.tables["types"][e.type_a] for e in sends]
    assert [t["combiner"] for t in types] == [CONTIGUOUS, VECTOR]
    assert [t["size"] for t in types] == [16, 24]


def test_a_communicator_that_a_callback_freed_is_not_taken_for_the_next(
    lab: Lab,
) -> None:
    sends = with_tag(handles(lab)[0], 2)
    assert len({e.comm for e in sends}) == len(sends) == 3


def test_a_message_outlives_its_communicator(lab: Lab) -> None:
    trace = handles(lab)[0]
    (probe,), (receive,) = trace.of("Mprobe"), trace.of("Mrecv")
    assert receive.comm == probe.comm >= 2
    assert (receive.peer, receive.tag) == (0, 3)


def test_a_type_that_a_threads_first_call_freed_is_not_taken_for_the_next(
    lab: Lab,
) -> None:
    trace = handles(lab)[0]
    types = [trace.tables["types"][e.type_a] for e in with_tag(trace, 4)]
    assert [t["size"] for t in types] == [16, 36]


def test_polls_are_written_after_their_communicator_was_freed(lab: Lab) -> None:
    main, *threads = handles(lab)
    freed = main.of("Comm_dup")[-1].object
    courses = [
        [comm for e in trace.of("Iprobe") for comm in e.polls * [e.comm]]
        for trace in threads
    ]
    assert sorted(courses, key=len) == [5 * [freed], [*5 * [freed], *5 * [0]]]
    assert all(e.has(NOT_READY) for t in threads for e in t.of("Iprobe"))


def test_polls_on_a_communicator_made_unseen_may_be_the_last_calls(lab: Lab) -> None:
    main = handles(lab)[0]
    polls = main.of("Iprobe")
    assert sum(e.polls for e in polls) == 5
    assert {main.comms[e.comm]["kind"] for e in polls} == {UNKNOWN}
    assert main.clean


def test_a_thread_that_the_end_finds_alive_has_its_file_copied(
    lab: Lab, tmp_path: Path
) -> None:
    command = [str(lab.compile("unusual", "-lpthread")), "exit"]
    node = tmp_path / "node"
    settings = {"preload": str(lab.shim), "SKELGEN_TMPDIR": str(node)}
    run = lab.launch(1, command, tmp_path, **settings)
    if "no threads" in run.output:
        pytest.skip("this MPI has no threads")
    assert [len(t.of("Send")) for t in streams(run.folder)] == [0, 3]
    assert list(node.iterdir()) == []


def test_a_thread_lives_through_two_worlds_of_sessions(
    lab: Lab, tmp_path: Path
) -> None:
    command = [str(lab.compile("unusual", "-lpthread")), "sessions"]
    if lab.launch(1, command, tmp_path).exit_code:
        pytest.skip("this MPI cannot open sessions twice without the shim")
    run = run_part(lab, "sessions")
    for folder in (run.folder, run.folder / "world-2"):
        main, thread = streams(folder)
        assert len(thread.of("Send")) == 1000
        assert main.clean and thread.clean


def test_a_tool_behind_the_shim_gets_all_arguments_of_pcontrol(
    lab: Lab, tmp_path: Path
) -> None:
    other = tmp_path / "libbehind.so"
    compiler = [str(lab.mpi.compiler), "-shared", "-fPIC", str(HERE / "behind.c")]
    subprocess.run([*compiler, "-o", str(other)], check=True)
    command = [str(lab.compile("unusual", "-lpthread")), "control"]
    run = lab.launch(1, command, tmp_path, preload=f"{lab.shim}:{other}")
    assert "level 1: region 7 2.5 second 8 3.5 third 9\n" in run.output
    assert [e.peer for e in run.traces[0].of("Pcontrol")] == [1]
