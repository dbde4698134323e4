"""From rank files to flat arrays of all ranks."""

import tempfile
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skelgen.events import collect
from skelgen.events.elements import piece_bytes
from skelgen.events.types import (
    FAILED_POLL,
    HOLES,
    IN_PLACE,
    NO_PEER,
    NO_TAG,
    PROC_NULL,
    WILDCARD_SOURCE,
    WILDCARD_TAG,
)
from skelgen.trace import open_trace
from skelgen.trace.definition_types import TypeDefinition
from skelgen.trace.payload import Payload
from tests.trace_samples import ring, save_ring
from tests.trace_writer import RankWriter


def begun(rank=0, ranks=1, **options) -> RankWriter:
    writer = RankWriter(rank, ranks, **options)
    writer.event("MPI_Init", 0, 1000)
    return writer


def collected(folder, *writers):
    for writer in writers:
        writer.finish()
        writer.save(folder)
    return collect(open_trace(folder))


def named(calls, index):
    """Return the shape of a call as a dict, with its function's name."""
    row = calls.shapes[calls.shape[index]]
    result = dict(zip(row.dtype.names, row.tolist(), strict=True))
    return result | {"function": calls.functions[row["function"]]}


def ages(calls, index):
    row = calls.ages[index]
    return calls.age_values[calls.age_first[row] : calls.age_first[row + 1]].tolist()


def test_a_ring_gives_each_rank_its_calls_in_order(tmp_path):
    events = collect(open_trace(save_ring(tmp_path, ranks=3, rounds=2)))
    calls = events.calls
    assert calls.first.tolist() == [0, 8, 16, 24]
    names = [calls.functions[f] for f in calls.shapes["function"][calls.shape[8:16]]]
    assert names == ["MPI_Irecv", "MPI_Send", "MPI_Wait", "MPI_Allreduce"] * 2
    assert calls.size_bytes[8:12].tolist() == [1600, 800, 0, 16]
    assert named(calls, 8) == {
        "function": "MPI_Irecv",
        "flags": 0,
        "communicator": 0,
        "peer": 0,
        "tag": 1,
        "peer2": NO_PEER,
        "tag2": NO_TAG,
        "datatype_bytes": 8,
        "piece_bytes": 0,
        "op": 0,
        "site": named(calls, 0)["site"],
    }
    assert events.sites[named(calls, 9)["site"]] == "app+0x20"
    assert named(calls, 11)["op"] == 3
    assert ages(calls, 10) == [1]
    assert ages(calls, 8) == []


def test_equal_calls_of_different_ranks_share_a_shape(tmp_path):
    calls = collect(open_trace(save_ring(tmp_path, ranks=4, rounds=3))).calls
    reductions = calls.shape[3::4]
    assert len(set(reductions.tolist())) == 1


def test_times_are_nanoseconds_since_the_first_begin(tmp_path):
    writer = begun(ticks_per_s=2_000_000_000, cost_ps=10_000)
    writer.event("MPI_Barrier", 600, 80)
    writer.event("MPI_Barrier", 600, 80, extras={"overhead": 100})
    writer.event("MPI_Barrier", 10, 80)
    events = collected(tmp_path, writer)
    assert events.begin_ns.tolist() == [500]
    assert events.enter_ns.tolist() == [800, 1140, 1185]
    assert events.leave_ns.tolist() == [840, 1180, 1225]
    assert events.compute_ns.tolist() == [290, 240, 0]  # recording costs 10 ns
    assert events.end_ns.tolist() == [1275]
    assert events.tail_ns.tolist() == [40]
    assert events.application_ns == 775


def test_what_requests_cost_the_recorder_is_no_computation(tmp_path):
    writer = begun(ticks_per_s=1_000_000_000, cost_ps=10_000, request_ps=7_000)
    writer.event("MPI_Irecv", 100, 80, flags="CREATES", peer=0, tag=1)
    writer.event("MPI_Irecv", 100, 80, flags="CREATES", peer=0, tag=1)
    writer.event("MPI_Waitall", 100, 80, flags="COMPLETES", reference=5, count_a=4)
    writer.event("MPI_Barrier", 100, 80)
    writer.event("MPI_Barrier", 100, 80)
    events = collected(tmp_path, writer)
    assert events.compute_ns.tolist() == [90, 83, 83, 62, 90]


def test_a_gap_shorter_than_the_recorders_cost_holds_no_computation(tmp_path):
    writer = begun(ticks_per_s=1_000_000_000, cost_ps=10_000, request_ps=7_000)
    writer.event("MPI_Waitall", 100, 80, flags="COMPLETES", reference=0, count_a=400)
    writer.event("MPI_Barrier", 100, 80)
    assert collected(tmp_path, writer).compute_ns.tolist() == [90, 0]


def test_init_and_finalize_are_no_calls(tmp_path):
    calls = collected(tmp_path, begun()).calls
    assert len(calls) == 0


def test_a_killed_rank_ends_with_its_last_call(tmp_path):
    ring(0, 2).save(tmp_path)
    writer = begun(1, 2)
    writer.event("MPI_Barrier", 600, 80)
    writer.save(tmp_path)
    events = collect(open_trace(tmp_path))
    assert events.end_ns[1] == events.leave_ns[-1]
    assert events.tail_ns[1] == 0


def test_a_rank_that_exits_computes_until_then(tmp_path):
    writer = begun()
    writer.event("MPI_Barrier", 600, 80)
    writer.now += 2000
    writer.finish("EXIT")
    writer.save(tmp_path)
    events = collect(open_trace(tmp_path))
    assert events.tail_ns.tolist() == [1000]
    assert events.end_ns[0] == events.leave_ns[0] + 1000


def test_a_missing_rank_has_no_calls(tmp_path):
    save_ring(tmp_path, ranks=3, rounds=2)
    (tmp_path / "rank-000001.skt").unlink()
    events = collect(open_trace(tmp_path))
    assert events.calls.first.tolist() == [0, 8, 8, 16]
    assert events.begin_ns[1] == events.end_ns[1] == events.begin_ns.min()


def irecv(writer, *, peer=-3, tag=-2, flags="CREATES WILD_SOURCE WILD_TAG"):
    writer.event(
        "MPI_Irecv", 1, 1, flags=flags, peer=peer, tag=tag, count_b=4, type_b=8
    )


def wait(writer, requests, statuses=(), function="MPI_Waitall"):
    extras = {"statuses": statuses} if statuses else {}
    writer.event(function, 1, 1, flags="COMPLETES", requests=requests, extras=extras)


def test_wildcard_receives_learn_their_source_where_they_complete(tmp_path):
    writer = begun(0, 3)
    irecv(writer)
    irecv(writer, tag=9, flags="CREATES WILD_SOURCE")
    irecv(writer, peer=1, tag=5, flags="CREATES")
    irecv(writer)
    wait(writer, [4, 3, 2], [(0, 2, 7), (1, 1, 9)])
    calls = collected(tmp_path, writer).calls
    both = WILDCARD_SOURCE | WILDCARD_TAG
    shapes = [named(calls, i) for i in range(4)]
    seen = [(s["peer"], s["tag"], s["flags"]) for s in shapes]
    assert seen == [
        (2, 7, both),
        (1, 9, WILDCARD_SOURCE),
        (1, 5, 0),
        (NO_PEER, NO_TAG, both),  # never completed
    ]
    assert ages(calls, 4) == [4, 3, 2]


def test_a_cancelled_receive_is_one_from_nobody(tmp_path):
    writer = begun(0, 2)
    irecv(writer, peer=1, tag=5, flags="CREATES")
    writer.event("MPI_Cancel", 1, 1, requests=1)
    wait(writer, 1, [(0, -5, -1)], "MPI_Wait")
    calls = collected(tmp_path, writer).calls
    assert named(calls, 0)["peer"] == PROC_NULL
    assert named(calls, 0)["tag"] == 5
    assert ages(calls, 1) == ages(calls, 2) == [1]


def persistent(writer, name="MPI_Send_init", **values):
    side = (
        {"count_a": 3, "type_a": 8} if "Send" in name else {"count_b": 3, "type_b": 8}
    )
    writer.event(name, 1, 1, flags="PERSISTENT", tag=1, **(side | {"peer": 0} | values))


def test_ages_of_persistent_requests_count_the_creation_of_persistent_ones(tmp_path):
    writer = begun()
    persistent(writer, "MPI_Recv_init")
    persistent(writer)
    for _ in range(2):
        writer.event("MPI_Startall", 1, 1, flags="STARTS", count_a=2, requests=[-1, -2])
        writer.event(
            "MPI_Isend", 1, 1, flags="CREATES", peer=0, tag=2, count_a=1, type_a=1
        )
        wait(writer, [3, 2, 1])
    writer.event("MPI_Request_free", 1, 1, flags="RELEASES", requests=-2)
    events = collected(tmp_path, writer)
    lists = [ages(events.calls, i) for i in range(len(events.calls))]
    assert lists == [[], [], *[[-2, -1], [], [-2, -1, 1]] * 2, [-1]]
    assert events.warnings == ()


def test_a_persistent_wildcard_with_one_source_is_resolved(tmp_path):
    def run(folder, sources):
        writer = begun(0, 3)
        writer.event(
            "MPI_Recv_init",
            1,
            1,
            flags="PERSISTENT WILD_SOURCE",
            peer=-3,
            tag=4,
            count_b=1,
            type_b=8,
        )
        for source in sources:
            writer.event("MPI_Start", 1, 1, flags="STARTS", count_a=1, requests=-1)
            wait(writer, 1, [(0, source, 4)], "MPI_Wait")
        return named(collected(folder, writer).calls, 0)["peer"]

    assert run(tmp_path / "same", [2, 2]) == 2
    assert run(tmp_path / "other", [2, 1]) == NO_PEER


def test_references_to_requests_that_do_not_exist_are_dropped_and_told(tmp_path):
    writer = begun()
    irecv(writer, peer=0, tag=1, flags="CREATES")
    wait(writer, [1, 5])
    wait(writer, [1])
    events = collected(tmp_path, writer)
    assert ages(events.calls, 1) == [1]
    assert ages(events.calls, 2) == []
    assert events.warnings == (
        "the trace is damaged: 2 completions name a request that does not exist",
    )


def test_requests_of_functions_that_are_local_here_do_not_count(tmp_path):
    writer = begun()
    writer.event("MPI_Ifuture", 1, 1, flags="CREATES")
    irecv(writer, peer=0, tag=1, flags="CREATES")
    wait(writer, [2, 1])
    events = collected(tmp_path, writer)
    assert ages(events.calls, 2) == [1]
    assert events.warnings == ()


def test_failed_polls_have_a_flag_and_their_number(tmp_path):
    writer = begun()
    irecv(writer, peer=0, tag=1, flags="CREATES")
    for polls in (7, 1):
        extras = {"polls": polls} if polls > 1 else {}
        writer.event("MPI_Test", 1, 1, flags="NOT_READY", count_a=1, extras=extras)
    writer.event("MPI_Test", 1, 1, flags="COMPLETES", count_a=1, requests=1)
    calls = collected(tmp_path, writer).calls
    flags = [named(calls, i)["flags"] for i in range(4)]
    assert flags == [0, FAILED_POLL, FAILED_POLL, 0]
    assert calls.size_bytes[1:].tolist() == [7, 1, 0]
    assert [ages(calls, i) for i in (1, 2, 3)] == [[], [], [1]]


def test_calls_that_returned_an_error_are_local_functions(tmp_path):
    writer = begun()
    writer.event("MPI_Send", 1, 1, flags="FAILED", peer=0, tag=1, count_a=1, type_a=8)
    calls = collected(tmp_path, writer).calls
    assert named(calls, 0)["function"] == "MPI_Send (failed)"
    assert calls.size_bytes.tolist() == [0]


COUNTS = {"count_a": 5, "type_a": 8, "count_b": 7, "type_b": 4}


@pytest.mark.parametrize(
    ("function", "values", "size"),
    [
        ("Bcast", {"count_a": 5, "type_a": 8, "peer": 1}, 40),
        ("Gather", COUNTS | {"peer": 0}, 40),
        ("Gather", {"count_b": 7, "type_b": 4, "peer": 0, "flags": "IN_PLACE"}, 28),
        ("Scatter", COUNTS | {"peer": 0}, 40),
        ("Scatter", COUNTS | {"peer": 1}, 28),
        ("Iscatter", {"count_b": 7, "type_b": 4, "peer": 1, "flags": "CREATES"}, 28),
        ("Allgather", COUNTS, 40),
        ("Alltoall", COUNTS, 40),
        ("Alltoall", {"count_b": 7, "type_b": 4, "flags": "IN_PLACE"}, 28),
        ("Allreduce_c", {"count_a": 5, "type_a": 8}, 40),
        ("Barrier", {}, 0),
        ("Sendrecv", COUNTS | {"peer": 1, "peer2": 1, "tag": 0, "tag2": 0}, 40),
        ("Recv", {"count_b": 7, "type_b": 4, "peer": 1, "tag": 0}, 28),
        ("Probe", {"peer": 1, "tag": 0}, 0),
        ("Comm_split", {}, 0),
    ],
)
def test_size_is_that_of_the_side_that_counts(tmp_path, function, values, size):
    writer = begun(0, 2)
    writer.event(f"MPI_{function}", 1, 1, **values)
    calls = collected(tmp_path, writer).calls
    assert calls.size_bytes.tolist() == [size]
    in_place = bool(named(calls, 0)["flags"] & IN_PLACE)
    assert in_place == (values.get("flags") == "IN_PLACE")


@pytest.mark.parametrize(
    ("function", "holes", "expected"),
    [
        ("Send", True, HOLES),
        ("Send", False, 0),
        ("Allgather", True, HOLES),
        ("Allreduce", True, 0),
    ],
)
def test_messages_that_do_not_lie_in_one_piece_are_known(
    tmp_path, function, holes, expected
):
    writer = begun(0, 2)
    to = {"peer": 1, "tag": 0} if function == "Send" else {}
    writer.event(f"MPI_{function}", 1, 1, holes=holes, count_a=1, type_a=4096, **to)
    assert named(collected(tmp_path, writer).calls, 0)["flags"] == expected


@pytest.mark.parametrize(
    ("piece", "expected"),
    [(None, 0), (0, 0), (1, 0), (2, 2), (1000, 512), (2**43, 2**29)],
)
def test_pieces_of_memory_are_known_to_a_power_of_two(tmp_path, piece, expected):
    writer = begun(0, 2)
    words = {"count_a": 1, "peer": 1, "tag": 0, "piece": piece}
    writer.event("MPI_Send", 1, 1, holes=True, type_a=4096, **words)
    writer.event("MPI_Send", 1, 1, made=True, type_a=4096, **words)
    calls = collected(tmp_path, writer).calls
    assert [named(calls, i)["piece_bytes"] for i in (0, 1)] == [expected, 0]


def test_of_two_types_the_smaller_pieces_count():
    types = {n: TypeDefinition(4096, "", False, False, 32 * n) for n in (1, 2, 4)}
    file = SimpleNamespace(definitions=SimpleNamespace(types=types))
    shapes = [(0, 4, 2), (0, 1, 4), (0, 0, 4), (0, 4, 0), (0, 0, 0)]
    raw = np.array(shapes, [("flags", "u4"), ("type_a", "u4"), ("type_b", "u4")])
    assert piece_bytes(file, raw).tolist() == [64, 32, 128, 128, 0]


@pytest.mark.parametrize(("piece", "expected"), [(1, 0), (64, 64), (2**31, 2**29)])
def test_pieces_of_alltoallw_are_told_by_its_shape(tmp_path, piece, expected):
    writer = begun(0, 1)
    words = {"flags": "HOLES", "vector_a": [8], "vector_b": [8]}
    writer.event("MPI_Alltoallw", 1, 1, piece=piece, **words)
    first = named(collected(tmp_path, writer).calls, 0)
    assert (first["flags"], first["piece_bytes"]) == (HOLES, expected)


A, B = [1, 2, 3], [4, 5, 6]


@pytest.mark.parametrize(
    ("function", "values", "sides", "size"),
    [
        ("Alltoallv", {"vector_a": A, "vector_b": B}, ([8, 16, 24], [16, 20, 24]), 48),
        ("Alltoallv", {"vector_b": B, "flags": "IN_PLACE"}, ([16, 20, 24],) * 2, 60),
        ("Allgatherv", {"vector_b": B, "count_a": 2}, (None, [16, 20, 24]), 16),
        ("Allgatherv", {"vector_b": B, "flags": "IN_PLACE"}, (None, [16, 20, 24]), 20),
        ("Gatherv", {"vector_b": B, "count_a": 2, "peer": 1}, (None, [16, 20, 24]), 16),
        ("Scatterv", {"vector_a": A, "count_b": 2, "peer": 1}, ([8, 16, 24], None), 8),
        (
            "Scatterv",
            {"vector_a": A, "peer": 1, "flags": "IN_PLACE"},
            ([8, 16, 24], None),
            16,
        ),
        ("Reduce_scatter", {"vector_a": A}, (None, [8, 16, 24]), 48),
    ],
)
def test_vectors_become_bytes_for_each_rank(tmp_path, function, values, sides, size):
    writer = begun(1, 3)
    writer.event("MPI_Barrier", 1, 1)
    for _ in range(2):
        writer.event(f"MPI_{function}", 1, 1, type_a=8, type_b=4, **values)
    calls = collected(tmp_path, writer).calls
    assert calls.vector_call.tolist() == [1, 2]
    for row in calls.vectors:
        got = tuple(None if side is None else side.tolist() for side in row)
        assert got == sides
    assert calls.size_bytes[1:].tolist() == [size, size]


def test_alltoallw_counts_bytes(tmp_path):
    writer = begun(0, 3)
    writer.event("MPI_Alltoallw", 1, 1, vector_a=A, vector_b=B)
    calls = collected(tmp_path, writer).calls
    assert [side.tolist() for side in calls.vectors[0]] == [A, B]
    assert calls.size_bytes.tolist() == [6]


@pytest.mark.parametrize(
    ("sent", "received", "common"),
    [([16, 0, 800], [8, 8, 8], 8), ([12, 4, 0], [8, 8, 8], 4), ([3, 8, 8], [8], 1)],
)
def test_parts_of_alltoallw_that_have_holes_consist_of_what_divides_them(
    tmp_path, sent, received, common
):
    writer = begun(0, 3)
    words = {"vector_a": sent, "vector_b": received}
    writer.event("MPI_Alltoallw", 1, 1, flags="HOLES", **words)
    writer.event("MPI_Alltoallw", 1, 1, **words)
    calls = collected(tmp_path, writer).calls
    first, second = named(calls, 0), named(calls, 1)
    assert (first["flags"], first["datatype_bytes"]) == (HOLES, common)
    assert second["flags"] == 0
    assert calls.size_bytes.tolist() == 2 * [sum(sent)]


def test_gatherv_outside_the_root_has_no_vector(tmp_path):
    writer = begun(0, 3)
    writer.event("MPI_Gatherv", 1, 1, type_a=8, count_a=2, peer=1)
    calls = collected(tmp_path, writer).calls
    assert len(calls.vector_call) == 0
    assert calls.vectors.shape == (0, 2)
    assert calls.size_bytes.tolist() == [16]


def test_partners_outside_the_communicator_become_nobody_and_are_told(tmp_path):
    writer = begun(0, 2)
    writer.event("MPI_Send", 1, 1, peer=5, tag=1, count_a=1, type_a=8)
    writer.event("MPI_Send", 1, 1, peer=1, tag=1, count_a=1, type_a=8, comm=1)
    events = collected(tmp_path, writer)
    assert [named(events.calls, i)["peer"] for i in (0, 1)] == [PROC_NULL, PROC_NULL]
    assert events.warnings == (
        "the trace is damaged: 2 calls name a rank outside of their communicator",
    )


def test_threads_are_merged_by_time_and_share_their_requests(tmp_path):
    main = begun(0, 1, start_ticks=1_000_000)
    main.event("MPI_Isend", 1000, 10, flags="CREATES", peer=0, tag=1)
    main.event("MPI_Irecv", 5000, 10, flags="CREATES", peer=0, tag=1)
    wait(main, 1, function="MPI_Wait")
    other = RankWriter(0, 1, thread=1, start_ticks=1_004_000)
    other.event("MPI_Isend", 0, 10, flags="CREATES", peer=0, tag=2, comm=1)
    other.event("MPI_Wait", 3050, 10, flags="COMPLETES", extras={"foreign": [(0, 1)]})
    other.event("MPI_Wait", 10, 10, flags="COMPLETES", requests=1)
    other.finish("THREAD")
    other.save(tmp_path)
    events = collected(tmp_path, main)
    calls = events.calls
    names = [named(calls, i)["function"] for i in range(len(calls))]
    assert names == [
        "MPI_Isend", "MPI_Isend", "MPI_Irecv", "MPI_Wait", "MPI_Wait", "MPI_Wait"
    ]  # fmt: skip
    assert [named(calls, i)["communicator"] for i in (0, 1)] == [0, 1]
    assert [ages(calls, i) for i in (3, 4, 5)] == [[1], [3], [2]]
    assert np.all(np.diff(events.enter_ns) > 0)
    assert events.compute_ns[1] == events.enter_ns[1] - events.leave_ns[0]


def test_paused_calls_leave_a_local_call(tmp_path):
    writer = begun()
    writer.event("MPI_Pcontrol", 1, 1, peer=0)
    writer.event("MPI_Pcontrol", 1, 1, peer=1)
    calls = collected(tmp_path, writer).calls
    assert [named(calls, i)["peer"] for i in (0, 1)] == [NO_PEER, NO_PEER]


def test_the_time_without_recording_is_told(tmp_path):
    writer = begun()
    writer.event("MPI_Barrier", 1, 1)
    writer.event("MPI_Pcontrol", 1, 1, peer=0)
    writer.event("MPI_Pcontrol", 30_000_000, 1, peer=1)
    writer.event("MPI_Pcontrol", 70_000_000, 1, peer=2)
    (warning,) = collected(tmp_path, writer).warnings
    assert "MPI_Pcontrol(0) paused recording for 15 ms (30% of the time" in warning


def test_a_pause_lasts_to_the_end_where_nothing_ends_it(tmp_path):
    writer = begun()
    writer.event("MPI_Pcontrol", 1, 1, peer=0)
    writer.event("MPI_Finalize", 5_000_000, 1)
    writer.finish(finalize=False)
    writer.save(tmp_path)
    (warning,) = collect(open_trace(tmp_path)).warnings
    assert "paused recording for 2.5 ms (100% of the time" in warning


def test_a_call_site_with_its_callers_is_told_apart_from_others(tmp_path):
    writer = RankWriter(0, 1)
    writer.event("MPI_Init", 0, 10)
    sites = [0x20, (0x20, 0x300), (0x20, 0x400), (0x20, 0x300)]
    for site in sites:
        writer.event("MPI_Barrier", 1, 1, site=site)
    writer.finish()
    writer.save(tmp_path)
    events = collect(open_trace(tmp_path))
    found = events.calls.shapes["site"][events.calls.shape]
    assert [events.sites[site] for site in found] == [
        "app+0x20",
        "app+0x20 < app+0x300",
        "app+0x20 < app+0x400",
        "app+0x20 < app+0x300",
    ]


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(*[st.integers(0, 2)] * 4), min_size=2, max_size=5))
def test_ranks_keep_their_own_definitions(differences):
    """Numbers of functions, types and sites mean what each file says of them."""
    names = ("MPI_Bcast", "MPI_Allreduce", "MPI_Barrier")
    ranks = len(differences)
    writers = [begun(rank, ranks) for rank in range(ranks)]
    for writer, (function, size, site, peer) in zip(writers, differences, strict=True):
        writer.event(names[function], count_a=5, type_a=1 << size, site=8 * site)
        writer.event("MPI_Send", peer=peer % ranks, tag=1, count_a=3, type_a=1 << size)
    with tempfile.TemporaryDirectory() as folder:
        events = collected(Path(folder), *writers)
    calls = events.calls
    for rank, (function, size, site, peer) in enumerate(differences):
        first, second = (named(calls, 2 * rank + i) for i in range(2))
        assert first["function"] == names[function]
        assert first["datatype_bytes"] == 1 << size
        assert events.sites[first["site"]] == f"app+{8 * site:#x}"
        assert second["peer"] == peer % ranks
        assert calls.size_bytes[2 * rank + 1] == 3 << size


@pytest.mark.parametrize(
    ("size", "made", "element"),
    [(16, False, 16), (32, False, 32), (16, True, 8), (4224, True, 8), (12, True, 4),
     (7, True, 1), (2**33, True, 8)],
)  # fmt: skip
def test_a_datatype_that_the_program_made_is_many_elements(
    tmp_path, size, made, element
):
    writer = begun(0, 1)
    writer.event("MPI_Bcast", count_a=1, type_a=size, made=made)
    calls = collected(tmp_path, writer).calls
    assert named(calls, 0)["datatype_bytes"] == element
    assert calls.size_bytes[0] == size


def test_records_that_equal_others_are_read_once():
    read = []

    def number(payload):
        read.append(payload.varint())
        return read[-1]

    records = [bytes([5]), bytes([6]), bytes([5]), bytes([7]) * 300, bytes([7]) * 300]
    assert [Payload(data).whole(number) for data in records] == [5, 6, 5, 7, 7]
    assert read == [5, 6, 7, 7]
