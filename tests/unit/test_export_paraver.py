"""Paraver traces, read back by a small reader that knows only the format."""

import itertools
from collections import Counter

import pytest

from skelgen.export.paraver import write
from skelgen.export.paraver_names import STATES, event_type, event_value
from tests.export_samples import RANKS, calls_by_rank, opened, save_mixed, save_threads
from tests.paraver_reader import read_pcf, read_prv, read_row

MPI_TYPES = range(50000001, 50000006)


@pytest.fixture
def written(tmp_path):
    (tmp_path / "out").mkdir()
    run, _ = opened(save_mixed(tmp_path / "run"), tmp_path)
    return run, write(run, tmp_path / "out")


def named_calls(prv, pcf):
    """Count the calls that begin, by task and name."""
    _, values = read_pcf(pcf)
    return Counter(
        (task, values[kind][value])
        for (task, _), events in prv.events.items()
        for _, pairs in events
        for kind, value in pairs.items()
        if kind in MPI_TYPES and value
    )


def test_every_call_is_an_event_of_its_task_under_its_name(tmp_path, written):
    _, result = written
    counts = calls_by_rank(tmp_path / "run")
    expected = {(rank + 1, name): count for (rank, name), count in counts.items()}
    assert named_calls(read_prv(result.paths[0]), result.paths[1]) == expected


def test_records_are_in_order_of_time_within_the_stated_length(written):
    prv = read_prv(written[1].paths[0])
    assert prv.times == sorted(prv.times)
    assert prv.times[-1] <= prv.end


def test_each_begin_has_its_end_and_the_states_fill_the_time(written):
    prv = read_prv(written[1].paths[0])
    assert len(prv.events) == RANKS
    for thread, events in prv.events.items():
        mpi = [
            (k, v) for _, pairs in events for k, v in pairs.items() if k in MPI_TYPES
        ]
        for (begin, value), (end, zero) in zip(mpi[::2], mpi[1::2], strict=True):
            assert (begin, zero) == (end, 0)
            assert value
        states = prv.states[thread]
        assert all(begin < end for begin, end, _ in states)
        assert all(a[1] == b[0] for a, b in itertools.pairwise(states))
        assert {state for _, _, state in states} <= set(STATES)


def test_messages_name_sender_receiver_bytes_and_four_times(written):
    _run, result = written
    prv = read_prv(result.paths[0])
    sent = Counter()
    for cpu, _, task, _, begin, left, *receive, size, tag in prv.messages:
        assert begin <= left <= prv.end
        assert receive[4] < receive[5] <= prv.end
        assert cpu != receive[0]
        sent[task, receive[2], size, tag] += 1
    # Of each rank to the right: bytes and tag of the rounds, Sendrecv, persistent.
    each = {(80, 5): 1, (0, 5): 1, (80, 6): 1 + 3, (0, 6): 1, (80, 7): 1, (0, 7): 1}
    each[24, 7] = 3
    expected = Counter(
        {
            (task, task % RANKS + 1, *what): count
            for task in range(1, RANKS + 1)
            for what, count in each.items()
        }
    )
    expected.update({(2, 1, 16, 9): 3, (3, 1, 16, 9): 6, (4, 1, 16, 9): 3})
    assert sent == expected
    assert result.records["messages"] == len(prv.messages)
    assert result.notes == ()


def test_communicators_and_places_agree_in_all_three_files(written):
    _run, result = written
    prv, row = read_prv(result.paths[0]), read_row(result.paths[2])
    assert prv.communicators[1] == [1, 2, 3, 4]
    rows = [members for members in prv.communicators.values() if len(members) == 2]
    assert sorted(rows) == [[1, 3], [2, 4]]
    assert len(row["CPU"]) == sum(prv.nodes) == RANKS
    assert len(row["NODE"]) == len(prv.nodes)
    assert len(row["THREAD"]) == sum(threads for threads, _ in prv.tasks)
    cpus = [cpu for cpus in prv.cpus.values() for cpu in cpus]
    assert sorted(cpus) == list(range(1, RANKS + 1))


def test_collectives_say_their_bytes_root_and_communicator(written):
    _run, result = written
    prv = read_prv(result.paths[0])
    bcast = event_value("MPI_Bcast")
    roots = Counter()
    for (task, _), events in prv.events.items():
        for _, pairs in events:
            if pairs.get(50000002) != bcast:
                continue
            is_root = 50100003 in pairs
            assert pairs[50100001] == (16 if is_root else 0)
            assert pairs[50100002] == (0 if is_root else 16)
            roots[len(prv.communicators[pairs[50100004]]), task] += is_root
    # Rank 1 of all, and rank 1 of each row.
    assert +roots == {(4, 2): 3, (2, 3): 3, (2, 4): 3}


def test_numbers_are_those_of_extrae():
    expected = {
        "MPI_Send": (50000001, 1),
        "MPI_Irecv": (50000001, 4),
        "MPI_Waitall": (50000001, 6),
        "MPI_Allreduce": (50000002, 10),
        "MPI_Comm_split": (50000003, 23),
        "MPI_Init": (50000003, 31),
        "MPI_Init_thread": (50000003, 31),
        "MPI_Test": (50000003, 39),
        "MPI_Sendrecv": (50000001, 41),
        "MPI_Put": (50000004, 65),
        "MPI_Win_fence": (50000004, 68),
        "MPI_Reduce_scatter": (50000002, 80),
        "MPI_Abort": (50000003, 100),
        "MPI_Startall": (50000003, 124),
        "MPI_File_open": (50000005, 141),
        "MPI_Ireduce": (50000002, 154),
        "MPI_Ialltoallw": (50000002, 171),
        "MPI_Neighbor_alltoall": (50000002, 178),
        "MPI_Imrecv": (50000001, 193),
    }
    found = {name: (event_type(name), event_value(name)) for name in expected}
    assert found == expected


def test_threads_of_a_rank_are_threads_of_its_task(tmp_path):
    (tmp_path / "out").mkdir()
    run, _ = opened(save_threads(tmp_path / "run"), tmp_path)
    result = write(run, tmp_path / "out")
    prv = read_prv(result.paths[0])
    assert prv.tasks == [(2, 1)]
    assert set(prv.events) == {(1, 1), (1, 2)}
    ((*_, received, size, tag),) = prv.messages
    assert (size, tag) == (4, 1)
    ((begin, end),) = [
        (begin, end)
        for begin, end, state in prv.states[1, 2]
        if STATES[state][0] == "Wait/WaitAll"
    ]
    assert begin < received == end
