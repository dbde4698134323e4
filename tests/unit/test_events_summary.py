"""What `skelgen info` tells about a run."""

import json

import numpy as np
import pytest

from skelgen.events.describe import describe
from skelgen.pipeline.compile import WantedSimilarity, signature_of_run
from skelgen.results import to_json
from skelgen.results.recorded import InfoResult
from tests.run_totals import agreed_summary
from tests.trace_samples import save_ring
from tests.trace_writer import RankWriter, string, varint


def facts_of(run):
    return to_json(InfoResult.of_summary(run))


def recorded(folder, body, ranks=2, **options):
    for rank in range(ranks):
        writer = RankWriter(rank, ranks, **options)
        writer.event("MPI_Init", 0, 1000)
        body(writer, rank)
        writer.finish()
        writer.save(folder)
    return agreed_summary(folder)


def sent(run):
    return {one.name: one.sent_bytes for one in run.functions}


def test_a_ring_is_summed_up(tmp_path):
    save_ring(tmp_path, ranks=4, rounds=10)
    run = agreed_summary(tmp_path)
    assert run.events == 4 * 42
    assert run.trace_bytes == sum(p.stat().st_size for p in tmp_path.iterdir())
    assert run.clean
    assert run.warnings == ()
    assert run.hosts == (("node1", 4),)
    calls = {one.name: one.calls for one in run.functions}
    assert calls == dict.fromkeys(
        ("MPI_Irecv", "MPI_Send", "MPI_Wait", "MPI_Allreduce"), 40
    )
    assert run.functions[0].name == "MPI_Allreduce"
    inside = (60 + 900 + 400 + 2000) / 2
    assert sum(one.time_s for one in run.functions) == pytest.approx(40 * inside * 1e-9)
    outside = (3000 + 40 + 20 + 70_000) / 2
    share = 10 * inside / (10 * (inside + outside) + 50)
    assert run.mpi_share == pytest.approx(share)
    assert run.application_s == pytest.approx((10 * (inside + outside) + 50) * 1e-9)
    expected = np.zeros((4, 4))
    for rank in range(4):
        expected[rank, (rank + 1) % 4] = 10 * 800
    np.testing.assert_array_equal(run.matrix, expected)
    assert [(c.kind, c.size, c.count, c.calls) for c in run.communicators] == [
        ("world", 4, 1, 120)
    ]


def test_json_has_the_keys_that_others_rely_on(tmp_path):
    save_ring(tmp_path)
    facts = json.loads(json.dumps(facts_of(agreed_summary(tmp_path))))
    assert {"ranks", "events", "application_s", "mpi_share", "trace_bytes"} <= set(
        facts
    )
    assert facts["matrix_bytes"] == [[0, 16000], [16000, 0]]
    assert facts["functions"][0]["name"] == "MPI_Allreduce"


def test_collectives_send_what_their_definition_says(tmp_path):
    counts = {"count_a": 5, "type_a": 8, "count_b": 5, "type_b": 8}

    def body(writer, rank):
        for name in ("Bcast", "Scatter", "Gather"):
            writer.event(f"MPI_{name}", 1, 1, peer=1, **counts)
        for name in ("Alltoall", "Allgather"):
            writer.event(f"MPI_{name}", 1, 1, **counts)
        for name in ("Allreduce", "Reduce_scatter_block"):
            writer.event(f"MPI_{name}", 1, 1, count_a=5, type_a=8, op=3)
        vector = [1] * 4
        root = {"vector_a": vector} if rank == 1 else {}
        writer.event(
            "MPI_Scatterv", 1, 1, type_a=8, type_b=8, count_b=1, peer=1, **root
        )
        writer.event(
            "MPI_Alltoallv", 1, 1, type_a=8, type_b=8, vector_a=vector, vector_b=vector
        )

    run = recorded(tmp_path, body, ranks=4)
    assert sent(run) == {
        "MPI_Bcast": 40,
        "MPI_Scatter": 160,
        "MPI_Gather": 160,
        "MPI_Alltoall": 640,
        "MPI_Allgather": 160,
        "MPI_Allreduce": 160,
        "MPI_Reduce_scatter_block": 640,
        "MPI_Scatterv": 32,
        "MPI_Alltoallv": 128,
    }
    assert not run.matrix.any()


def test_persistent_sends_count_each_time_they_are_started(tmp_path):
    def body(writer, rank):
        values = {"peer": 1 - rank, "tag": 1, "count_a": 3, "type_a": 8}
        writer.event("MPI_Send_init", 1, 1, flags="PERSISTENT", **values)
        for _ in range(5):
            writer.event("MPI_Start", 1, 1, flags="STARTS", count_a=1, requests=-1)
            writer.event("MPI_Wait", 1, 1, flags="COMPLETES", requests=1)

    run = recorded(tmp_path, body)
    assert run.matrix.tolist() == [[0, 120], [120, 0]]
    assert run.messages.tolist() == [[0, 5], [5, 0]]
    assert sum(sent(run).values()) == 240


def test_collectives_of_all_forms_count_what_they_send(tmp_path):
    def body(writer, rank):
        writer.comm(2, [0, 1], kind="CART", sources=[0, 1], destinations=[1, 0])
        ring = {"vector_a": [2, 3], "vector_b": [3, 2]}
        writer.event("MPI_Neighbor_alltoallv", 1, 1, comm=2, type_a=8, **ring)
        both = {"type_a": 8, "type_b": 8, "count_a": 4, "count_b": 4}
        writer.event("MPI_Alltoall_init", 1, 1, flags="PERSISTENT", **both)
        for _ in range(3):
            writer.event("MPI_Start", 1, 1, flags="STARTS", count_a=1, requests=-1)
            writer.event("MPI_Wait", 1, 1, flags="COMPLETES", requests=1)
        ends = {"peer": 1 - rank, "tag": 1, "peer2": 1 - rank, "tag2": 1}
        writer.event("MPI_Isendrecv", 1, 1, flags="CREATES", **ends, **both)
        writer.event("MPI_Wait", 1, 1, flags="COMPLETES", requests=1)

    run = recorded(tmp_path, body)
    assert sent(run)["MPI_Neighbor_alltoallv"] == 2 * 40
    assert sent(run)["MPI_Alltoall_init"] == 2 * 3 * 2 * 32
    assert sent(run)["MPI_Isendrecv"] == 2 * 32
    assert run.matrix.tolist() == [[0, 32], [32, 0]]
    assert run.messages.tolist() == [[0, 1], [1, 0]]


def test_messages_to_nobody_send_nothing(tmp_path):
    def body(writer, rank):
        for peer in (-2, 0):
            writer.event("MPI_Send", 1, 1, peer=peer, tag=1, count_a=3, type_a=8)

    run = recorded(tmp_path, body, ranks=1)
    assert sent(run) == {"MPI_Send": 24}
    assert run.matrix.tolist() == [[24]]
    assert run.messages.tolist() == [[1]]


def test_polls_count_each(tmp_path):
    def body(writer, rank):
        writer.event(
            "MPI_Iprobe", 1, 1, flags="NOT_READY", peer=-3, extras={"polls": 700}
        )
        writer.event("MPI_Iprobe", 1, 1, peer=0, tag=1)

    (row,) = recorded(tmp_path, body, ranks=1).functions
    assert (row.name, row.calls, row.sent_bytes) == ("MPI_Iprobe", 701, 0)


def test_calls_that_were_passed_on_are_named(tmp_path):
    def body(writer, rank):
        writer.function("MPI_Put", "OTHER")
        writer.passed(Comm_rank=3, Put=2)

    run = recorded(tmp_path, body)
    assert [(one.name, one.calls, one.time_s) for one in run.passed] == [
        ("MPI_Put", 4, 0.0)
    ]
    assert [(one.name, one.calls) for one in run.local] == [("MPI_Comm_rank", 6)]
    assert "not recorded    4 MPI_Put, 6 MPI_Comm_rank" in describe(run).splitlines()
    assert run.warnings == (
        "4 calls of MPI_Put (0 s) communicate but are not recorded; a skeleton does "
        "not have them",
    )


def test_the_time_inside_calls_that_were_passed_on_is_told(tmp_path):
    def body(writer, rank):
        writer.function("MPI_Put", "OTHER")
        writer.passed(0, 500_000 + rank, Comm_rank=3, Put=2)

    (put,) = recorded(tmp_path, body).passed
    assert (put.calls, put.time_s) == (4, pytest.approx(5e-4, rel=1e-4))


def test_gaps_between_queries_of_all_ranks_are_added(tmp_path):
    def body(writer, rank):
        writer.event("MPI_Barrier", 2_000_000, 10)
        writer.usage(120, [rank + power for power in range(16)])

    recorded(tmp_path, body)
    signature = signature_of_run(tmp_path, WantedSimilarity(None, 2.0, None))
    assert signature.usage_queries == 240
    assert signature.usage_gaps == tuple(1 + 2 * power for power in range(16))


def test_queries_of_the_cpu_time_are_told(tmp_path):
    def body(writer, rank):
        writer.event("MPI_Barrier", 2_000_000, 10)  # after 1 ms
        writer.usage(10 * (rank + 1))

    run = recorded(tmp_path, body)
    assert facts_of(run)["usage_queries"] == 30
    (told,) = [line for line in describe(run).splitlines() if "asked" in line]
    rate = round(30 / run.taken.computed_s)
    assert rate == pytest.approx(15_000, rel=0.01)
    assert told == f"CPU time asked for  30 times, {rate} in each second of computation"


def test_what_no_event_shows_is_told_with_the_share_of_the_rank_that_did_most(tmp_path):
    second = 10**9

    def body(writer, rank):
        threads = second // 4 if rank else 0
        hidden = (("lib\x1btool.so", 5, "MPI_Send, MPI_Recv"),)
        writer.unseen(second, threads, 0, 0, 10**6, 99, hidden=hidden)

    run = recorded(tmp_path, body)
    assert facts_of(run)["unseen"] == {
        "threads": {"seconds": 0.25, "share": 0.25},
        "children": {"seconds": 0.0, "share": 0.0},
        "files": {"seconds": 0.002, "share": 0.001},
        "file_bytes": 198,
        "children_left": 0,
        "gpu": [],
        "hidden": ["lib?tool.so (MPI_Send, MPI_Recv and 3 more functions)"],
    }
    lines = [line for line in describe(run).splitlines() if "warning: " in line]
    assert len(lines) == 2
    assert "250 ms of CPU time (up to 25.0% of a rank's time)" in lines[0]
    assert "lib?tool.so (MPI_Send, MPI_Recv and 3 more functions)" in lines[1]


def test_traces_of_older_recorders_tell_nothing_of_what_no_event_shows(tmp_path):
    run = recorded(tmp_path, lambda writer, rank: writer.note("one"))
    assert facts_of(run)["unseen"] is None


def without_core(tmp_path, **totals):
    """Summarise a run of two ranks that were without a core for 250 of 1000 us."""

    def body(writer, rank):
        writer.event("MPI_Barrier", 2_000_000, 10, extras={"lost_us": 250})
        if totals:
            writer.load(**totals)

    run = recorded(tmp_path, body)
    assert run.taken.lost_share == pytest.approx(0.25, rel=0.01)
    return run


def test_a_loaded_machine_is_told(tmp_path):
    run = without_core(tmp_path, queued_us=250)
    (warning,) = run.warnings
    assert "taken on a loaded machine: the ranks waited for a core for" in warning
    assert "(25% lost)" in warning
    assert "25.0% without a core, taken by others" in describe(run)


def test_ranks_that_share_cores_are_told_instead(tmp_path):
    run = without_core(tmp_path, queued_us=250, cores=0b100)
    (warning,) = run.warnings
    assert warning.startswith("2 ranks of a host shared 1 core: the ranks waited")
    assert "(25% lost)" in warning
    assert "record with a core for each rank" in warning
    assert "loaded" not in warning
    assert "25.0% without a core, taken by other ranks" in describe(run)


@pytest.mark.parametrize(("threads_us", "named"), [(100, False), (400, True)])
def test_threads_of_the_ranks_themselves_may_have_had_the_cores(
    tmp_path, threads_us, named
):
    def body(writer, rank):
        writer.event("MPI_Barrier", 2_000_000, 10, extras={"lost_us": 250})
        writer.load(queued_us=250)
        writer.unseen(10**6, 1000 * threads_us, 0, 0, 0, 0)

    (loaded,) = [w for w in recorded(tmp_path, body).warnings if "loaded machine" in w]
    assert ("other threads of the ranks computed, too" in loaded) is named
    assert ("with one thread in each rank (OMP_NUM_THREADS=1)" in loaded) is named


def test_sleep_and_files_are_told_apart_from_load(tmp_path):
    run = without_core(tmp_path, queued_us=10, devices_us=100, all_queued_us=10)
    (warning,) = run.warnings
    assert "the ranks slept for 280 us (14%) and waited for files for 200 us (10%)" in (
        warning
    )
    assert "14.0% asleep, 10.0% waiting for files" in describe(run)
    facts = facts_of(run)
    names = ("queued_s", "devices_s", "slept_s", "unknown_s")
    assert [facts[name] for name in names] == pytest.approx([2e-5, 2e-4, 2.8e-4, 0.0])


def test_a_trace_that_does_not_say_why_blames_nobody(tmp_path):
    (warning,) = without_core(tmp_path / "older").warnings
    assert "other processes had them, or the ranks slept" in warning
    assert "pressure" not in warning
    run = without_core(tmp_path / "pressed", pressure_us=10**9)
    assert "does not say which (CPU pressure of the machine: 100%)" in run.warnings[0]


def test_more_in_the_queue_than_was_lost_counts_as_what_was_lost(tmp_path):
    taken = without_core(tmp_path, queued_us=400, devices_us=400).taken
    assert taken.queued_s == taken.lost_s
    assert taken.devices_s == taken.slept_s == 0


def test_the_recorders_own_cost_is_summed_up(tmp_path):
    def body(writer, rank):
        writer.event("MPI_Barrier", 2_000_000, 10, extras={"overhead": 2000})
        writer.event("MPI_Irecv", 50, 10, flags="CREATES", peer=0, tag=1)
        writer.event("MPI_Waitall", 50, 10, flags="COMPLETES", reference=5, count_a=3)

    run = recorded(
        tmp_path, body, ranks=1, cost_ps=20_000, inside_ps=4_000, request_ps=8_000
    )
    taken_s = 5 * 24e-9 + 4 * 8e-9 + 1000e-9
    assert run.recorder_s == pytest.approx(taken_s)
    elapsed_s = (2_000_000 + 2 * 10 + 2 * 50) * 0.5e-9
    assert run.recorder_share == pytest.approx(taken_s / elapsed_s, rel=0.01)
    assert "of the ranks' time" in describe(run)


@pytest.mark.parametrize(
    ("overhead_ms", "cost_ps", "cause"),
    [
        (100, 0, "100 ms of it defined calls that were new"),
        (0, 10_000_000, "there are 5002 calls, with little between them"),
    ],
)
def test_a_recording_that_cost_much_says_why(tmp_path, overhead_ms, cost_ps, cause):
    def body(writer, rank):
        extras = {"overhead": overhead_ms * 2_000_000}
        writer.event("MPI_Barrier", 2_000_000_000, 10, extras=extras)
        for _ in range(5000 - 1):
            writer.event("MPI_Barrier", 50, 10)

    run = recorded(tmp_path, body, ranks=1, cost_ps=cost_ps)
    (warning,) = run.warnings
    assert warning.startswith("recording took ")
    assert cause in warning
    assert "MPI_Pcontrol(0) pauses" in warning


def test_polls_in_vain_are_named_where_they_cost_most(tmp_path):
    def body(writer, rank):
        writer.event("MPI_Barrier", 2_000_000_000, 10)
        extras = {"polls": 1_000_000, "inside": 10}
        writer.event("MPI_Test", 50, 10, flags="NOT_READY", count_a=1, extras=extras)

    run = recorded(tmp_path, body, ranks=1, cost_ps=50_000)
    (warning,) = run.warnings
    assert "50 ms of it counted 1000000 polls that found nothing" in warning


def test_a_recording_that_cost_little_says_nothing(tmp_path):
    def body(writer, rank):
        extras = {"overhead": 2_000_000}
        writer.event("MPI_Barrier", 2_000_000_000, 10, extras=extras)

    assert recorded(tmp_path, body, ranks=1).warnings == ()


def test_the_description_shows_all_of_it(tmp_path):
    save_ring(tmp_path, ranks=2)
    text = describe(agreed_summary(tmp_path))
    lines = text.splitlines()
    assert "ranks           2 on node1 (2)" in lines
    assert any(line.startswith("MPI_Allreduce") for line in lines)
    assert any(line.split() == ["1", "15.6", "KiB", "-"] for line in lines)
    assert all(line == line.rstrip() for line in lines)
    assert "warning" not in text
    (tmp_path / "rank-000001.skt").unlink()
    text = describe(agreed_summary(tmp_path))
    assert "did not end cleanly, see below" in text
    assert text.splitlines()[-1] == "warning: 1 of 2 ranks have no usable file: 1"


def test_a_large_matrix_is_summed_up_in_a_line(tmp_path):
    save_ring(tmp_path, ranks=20, rounds=1)
    text = describe(agreed_summary(tmp_path))
    assert "messages: 15.6 KiB between 20 pairs of ranks (--json has them)" in text


def test_windows_and_files_are_named_with_their_calls_and_bytes(tmp_path):
    def body(writer, rank):
        for number, kind in ((2, "WIN_CREATE"), (3, "WIN_ALLOCATE"), (4, "FILE")):
            writer.comm(number, range(2), kind=kind, sequence=number, twin=number)
        for number, size in ((2, 64), (3, 100 + rank)):
            writer.define("WINDOW", varint(number), varint(size), varint(8))
        writer.define("FILE", varint(4), varint(6), string("data.bin"))
        counts = {"count_a": 5, "type_a": 8}
        for number in (2, 2, 3):
            writer.event("MPI_Put", 1, 10, comm=number, peer=0, **counts)
            writer.event("MPI_Win_fence", 1, 10, comm=number)
        for number in (2, 3):
            writer.event("MPI_Get", 1, 10, comm=number, peer=0, count_b=1, type_b=8)
        writer.event("MPI_File_write_at_all", 1, 1000, comm=4, **counts)

    run = recorded(tmp_path, body)
    assert [(c.kind, c.size) for c in run.communicators] == [("world", 2)]
    file, window = run.objects
    assert (file.kind, file.name, file.count) == ("file", "data.bin", 1)
    assert (file.calls, file.moved_bytes) == (2, 80)
    assert file.time_s == pytest.approx(1000e-9)
    assert (window.kind, window.ranks, window.count) == ("window", 2, 2)
    assert window.memory_bytes == 2 * 64 + 201
    assert (window.calls, window.moved_bytes) == (16, 2 * (3 * 40 + 2 * 8))
    text = describe(run)
    assert "file data.bin" in text
    assert json.loads(json.dumps(facts_of(run)))["objects"][0]["name"] == "data.bin"
