"""Time-independent traces: what stands in them, and that SimGrid replays all of it."""

from collections import Counter

import numpy as np
import pytest

from skelgen.export.tit import write
from skelgen.export.tit_spread import Participants, spread
from tests.export_samples import (
    RANKS,
    ROUNDS,
    opened,
    save_mixed,
    save_neighbours,
    save_threads,
)
from tests.replay import MISSING, SMPIRUN, replay, written
from tests.trace_samples import save_ring

COLLECTIVES = (
    "barrier bcast reduce allreduce scan exscan allgather gather scatter alltoall "
    "reduce_scatter_block"
).split()


def exported(tmp_path, save, **options):
    for name in ("run", "out"):
        (tmp_path / name).mkdir()
    run, events = opened(save(tmp_path / "run", **options), tmp_path)
    return run, events, write(run, tmp_path / "out")


def lines(result, rank):
    return result.paths[1 + rank].read_text().splitlines()


def test_a_ring_reads_as_it_was_programmed(tmp_path):
    _, _, result = exported(tmp_path, save_ring)
    own = [line for line in lines(result, 0) if "compute" not in line]
    assert own[:6] == [
        "0 init",
        "0 irecv 1 1 800",
        "0 send 1 1 800",
        "0 wait 1 0 1",
        "0 allreduce 16 0",
        "0 irecv 1 3 800",
    ]
    assert own[-1] == "0 finalize"
    assert result.paths[0].read_text() == "run.0.tit\nrun.1.tit\n"


def test_computation_is_a_nanosecond_for_an_operation(tmp_path):
    _, events, result = exported(tmp_path, save_ring)
    for rank in range(2):
        flops = sum(
            int(line.split()[2]) for line in lines(result, rank) if "compute" in line
        )
        begin, end = events.calls.first[rank : rank + 2]
        expected = events.compute_ns[begin:end].sum() + events.tail_ns[rank]
        assert flops == expected


def test_every_message_is_sent_and_received_once_with_its_own_tag(tmp_path):
    _, _, result = exported(tmp_path, save_mixed)
    sent, received = Counter(), Counter()
    for rank in range(RANKS):
        for line in lines(result, rank):
            _, verb, *words = line.split()
            if verb in ("send", "isend"):
                sent[rank, int(words[0]), int(words[1])] += 1
            elif verb in ("recv", "irecv"):
                received[int(words[0]), rank, int(words[1])] += 1
                assert int(words[2]) > 0
    assert sent == received
    messages = [key for key in sent if key[2] < 1 << 30]
    assert len(messages) == 60
    assert {sent[key] for key in messages} == {1}


def test_requests_are_waited_for_where_the_program_did(tmp_path):
    _, _, result = exported(tmp_path, save_mixed)
    verbs = [line.split()[1] for line in lines(result, 1) if "compute" not in line]
    # Two receives, two sends, a poll, a Waitall; a Sendrecv; a Startall, two Waitany.
    begin = "irecv irecv isend isend waitall isend irecv waitall isend irecv wait wait"
    assert verbs[1:13] == begin.split()


def test_collectives_of_some_ranks_are_messages_among_them(tmp_path):
    _, _, result = exported(tmp_path, save_mixed)
    verbs = Counter(line.split()[1] for line in lines(result, 3))
    assert verbs["allreduce"] == verbs["bcast"] == verbs["reduce"] == ROUNDS
    assert verbs["barrier"] == 2 * ROUNDS  # one of them nonblocking
    partners = {
        line.split()[2] for line in lines(result, 3) if "send" in line
        and int(line.split()[3]) >= 1 << 30
    }  # fmt: skip
    assert partners == {"1"}
    assert f"{4 * ROUNDS} calls of MPI_Bcast are written as messages" in result.notes


@pytest.mark.parametrize("ranks", [2, 3, 4, 7, 8])
@pytest.mark.parametrize("name", COLLECTIVES)
def test_messages_of_a_collective_pair_in_order_and_never_block(name, ranks):
    root = ranks // 2
    programs = [
        list(spread(name, Participants(ranks, rank, root, 100, None)))
        for rank in range(ranks)
    ]
    on_the_way: Counter[tuple[int, int]] = Counter()
    sizes: dict[tuple[int, int], list[int]] = {}
    sent = [0] * ranks
    done = [0] * ranks
    while True:
        moved = False
        for rank, program in enumerate(programs):
            while done[rank] < len(program):
                step = program[done[rank]]
                if step.to >= 0 and sent[rank] == done[rank]:
                    on_the_way[rank, step.to] += 1
                    sizes.setdefault((rank, step.to), []).append(step.sent)
                    moved = True
                sent[rank] = done[rank] + 1
                if step.source >= 0:
                    if not on_the_way[step.source, rank]:
                        break
                    on_the_way[step.source, rank] -= 1
                    assert sizes[step.source, rank].pop(0) == step.received
                done[rank] += 1
                moved = True
        if not moved:
            break
    assert done == [len(program) for program in programs]
    assert not +on_the_way


def test_parts_of_different_size_go_where_they_belong():
    sends = np.array([10, 20, 30])
    steps = list(spread("scatterv", Participants(3, 0, 0, 10, (sends, None))))
    assert [(step.to, step.sent) for step in steps] == [(1, 20), (2, 30)]
    receives = np.array([7, 8, 9])
    steps = list(spread("gatherv", Participants(3, 0, 0, 10, (None, receives))))
    assert [(step.source, step.received) for step in steps] == [(1, 8), (2, 9)]
    steps = list(spread("alltoallv", Participants(3, 1, -1, 0, (sends, receives))))
    assert [tuple(step) for step in steps] == [(2, 0, 30, 7), (0, 2, 10, 9)]


def test_neighbours_get_a_message_each(tmp_path):
    _, _, result = exported(tmp_path, save_neighbours)
    own = [line for line in lines(result, 1) if "compute" not in line]
    tag = own[1].split()[3]
    once = [f"1 isend 0 {tag} 40"] * 2 + [f"1 recv 0 {tag} 40"] * 2
    assert own[1:7] == [*once, *[f"1 wait 1 0 {tag}"] * 2]
    assert own[7:13] == own[1:7]


def test_a_persistent_collective_is_done_as_often_as_it_is_started(tmp_path):
    _, _, result = exported(tmp_path, save_neighbours)
    own = [line for line in lines(result, 0) if "reduce" in line]
    assert own == ["0 allreduce 24 0"] * 2


def test_what_a_replay_cannot_hold_is_named(tmp_path):
    _, _, result = exported(tmp_path, save_mixed, killed=3)
    said = "\n".join(result.notes)
    assert "halves of messages without the other half" in said
    assert "did not end cleanly" in said


def test_calls_of_threads_are_one_sequence_and_said_to_be(tmp_path):
    _, _, result = exported(tmp_path, save_threads)
    verbs = [line.split()[1] for line in lines(result, 0) if "compute" not in line]
    assert verbs == ["init", "irecv", "send", "wait", "finalize"]
    assert any("threads" in line for line in result.notes)


@pytest.mark.skipif(not SMPIRUN, reason=MISSING)
@pytest.mark.parametrize(
    ("save", "ranks"),
    [(save_ring, 2), (save_mixed, RANKS), (save_threads, 1), (save_neighbours, 2)],
)
def test_simgrid_replays_every_action(tmp_path, save, ranks):
    _, _, result = exported(tmp_path, save)
    actions, time_s = replay(result.paths[0], ranks)
    assert actions == written(result.paths[0])
    assert sum(actions.values()) > 2
    assert time_s > 0


@pytest.mark.skipif(not SMPIRUN, reason=MISSING)
def test_the_replay_takes_at_least_the_computation(tmp_path):
    _, events, result = exported(tmp_path, save_ring)
    _, time_s = replay(result.paths[0], 2)
    compute_ns = events.compute_ns[: events.calls.first[1]].sum() + events.tail_ns[0]
    assert compute_ns / 1e9 <= time_s < 2 * compute_ns / 1e9
