"""Communicators of different files are recognised, and what one call created."""

from skelgen.events import collect
from skelgen.trace import open_trace
from tests.trace_writer import RankWriter


def communicators(folder, ranks, define):
    """Let every rank define its communicators and call a barrier on the last."""
    for rank in range(ranks):
        writer = RankWriter(rank, ranks)
        writer.event("MPI_Init", 0, 10)
        last = define(writer, rank)
        writer.event("MPI_Barrier", 1, 1, comm=last)
        writer.finish()
        writer.save(folder)
    events = collect(open_trace(folder))
    calls = events.calls
    used = [
        calls.shapes["communicator"][calls.shape[calls.first[r + 1] - 1]]
        for r in range(ranks)
    ]
    return calls.communicators, used


def test_world_and_self_come_first(tmp_path):
    table, used = communicators(tmp_path, 3, lambda writer, rank: 1)
    assert [c.kind for c in table] == ["world", "self", "self", "self"]
    assert table[0].members == (0, 1, 2)
    assert [c.members for c in table[1:]] == [(0,), (1,), (2,)]
    assert [c.family for c in table] == [0, 1, 1, 1]
    assert used == [1, 2, 3]


def test_rows_of_a_grid_are_one_family(tmp_path):
    def define(writer, rank):
        writer.comm(2, range(4), kind="CART", dims=(2, 2), periods=(1, 0))
        row = [rank // 2 * 2, rank // 2 * 2 + 1]
        return writer.comm(3, row, kind="CART_SUB", parent=2)

    table, used = communicators(tmp_path, 4, define)
    assert len(table) == 1 + 4 + 1 + 2
    grid, first, second = table[5], *(table[i] for i in sorted(set(used)))
    assert (grid.dims, grid.periods, grid.parent) == ((2, 2), (True, False), 0)
    assert (first.members, second.members) == ((0, 1), (2, 3))
    assert first.family == second.family == 3
    assert first.parent == second.parent == 5
    assert used[0] == used[1] != used[2] == used[3]


def test_equal_groups_are_told_apart_by_their_number(tmp_path):
    def define(writer, rank):
        writer.comm(2, range(2), kind="DUP", sequence=0, twin=1)
        return writer.comm(3, range(2), kind="DUP", sequence=1, twin=2)

    table, used = communicators(tmp_path, 2, define)
    assert [c.family for c in table[3:]] == [2, 3]
    assert used == [4, 4]


def test_ids_of_files_are_independent(tmp_path):
    def define(writer, rank):
        if rank == 0:
            writer.comm(2, [0], kind="SPLIT", sequence=0)
        return writer.comm(3 - rank, range(2), kind="DUP", sequence=1, twin=1)

    table, used = communicators(tmp_path, 2, define)
    assert used[0] == used[1]
    assert table[used[0]].kind == "dup"


def test_families_of_duplicates_of_rows_are_one(tmp_path):
    def define(writer, rank):
        writer.comm(2, [rank], kind="SPLIT", sequence=0)
        return writer.comm(3, [rank], kind="DUP", parent=2, twin=1)

    table, used = communicators(tmp_path, 3, define)
    assert {table[i].family for i in used} == {3}
    assert len(set(used)) == 3


def test_an_intercommunicator_has_a_view_for_each_side(tmp_path):
    def define(writer, rank):
        groups = ([0, 1], [2])
        own, other = groups if rank < 2 else groups[::-1]
        writer.comm(2, own, kind="SPLIT", sequence=0)
        return writer.comm(3, own, remote=other, kind="INTER", parent=-1)

    table, used = communicators(tmp_path, 3, define)
    left, right = table[used[0]], table[used[2]]
    assert used[0] == used[1]
    assert (left.members, left.remote) == ((0, 1), (2,))
    assert (right.members, right.remote) == ((2,), (0, 1))
    assert left.family == right.family


def test_each_file_knows_the_neighbours_of_its_rank(tmp_path):
    def define(writer, rank):
        writer.comm(2, [2, 0, 1], kind="CART", dims=(3,), periods=(0,))
        others = {"sources": [0, 1][: rank + 1], "destinations": [2] * rank}
        return writer.comm(3, [2, 0, 1], kind="DIST_GRAPH", sequence=1, **others)

    table, used = communicators(tmp_path, 3, define)
    graph = table[used[0]]
    assert graph.sources == ((0, 1), (0,), (0, 1))
    assert graph.destinations == ((2, 2), (), (2,))
    (older,) = [one for one in table if one.kind == "cart"]
    assert older.sources == older.destinations == ()


def test_the_vectors_of_neighbourhoods_have_a_count_for_each_neighbour(tmp_path):
    for rank in range(3):
        writer = RankWriter(rank, 3)
        writer.event("MPI_Init", 0, 10)
        near = {"sources": [1, 2][:rank], "destinations": [0]}
        writer.comm(2, range(3), kind="DIST_GRAPH", **near)
        sides = {"vector_a": [5], "vector_b": list(range(7, 7 + rank))}
        words = {"type_a": 8, "type_b": 4, "comm": 2, **sides}
        writer.event("MPI_Neighbor_alltoallv", 1, 1, **words)
        writer.event("MPI_Neighbor_alltoallw_init", 1, 1, flags="PERSISTENT", **words)
        writer.finish()
        writer.save(tmp_path)
    calls = collect(open_trace(tmp_path)).calls
    assert calls.size_bytes.tolist() == [40] * 6
    received = [[], [28], [28, 32]]
    for rank in range(3):
        for sends, receives in calls.vectors[2 * rank : 2 * rank + 2]:
            assert sends.tolist() == [40]
            assert receives.tolist() == received[rank]


def test_two_communicators_of_a_rank_are_never_one_family(tmp_path):
    """A damaged file may state the same call twice."""

    def define(writer, rank):
        writer.comm(2, [0, 1], kind="SPLIT", sequence=0)
        return writer.comm(3, [rank], kind="SPLIT", sequence=0)

    table, used = communicators(tmp_path, 2, define)
    assert table[used[0]].family == table[used[1]].family != table[3].family
