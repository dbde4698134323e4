"""Communicators and datatypes keep their identity when handles come back."""

from __future__ import annotations

import pytest

from tests.shim.conftest import Record, Run

pytestmark = pytest.mark.mpi

WORLD, SELF, DUP, SPLIT, CREATE, CREATE_GROUP, CART, CART_SUB = 0, 1, 2, 3, 5, 6, 7, 8
INTER, MERGE = 11, 12


@pytest.fixture
def run(record: Record) -> Run:
    return record("communicators", 4)


def of_kind(run: Run, kind: int) -> list[list[dict]]:
    return [[c for c in t.comms.values() if c["kind"] == kind] for t in run.traces]


def test_members_are_world_ranks_in_the_communicators_order(run: Run) -> None:
    halves = of_kind(run, SPLIT)
    assert [c[0]["members"] for c in halves] == [[1, 0], [1, 0], [3, 2], [3, 2]]
    assert [c[0]["rank"] for c in halves] == [1, 0, 1, 0]
    assert [c[0]["members"] for c in of_kind(run, CREATE_GROUP)[1::2]] == 2 * [[3, 1]]
    assert of_kind(run, CREATE_GROUP)[0] == []
    assert [len(c) for c in of_kind(run, CREATE)] == [0, 1, 0, 1]


def test_one_creating_call_has_one_sequence_number_on_all_ranks(run: Run) -> None:
    for kind in (DUP, SPLIT, CART, CART_SUB):
        numbers = [
            [(c["parent"], c["sequence"]) for c in r] for r in of_kind(run, kind)
        ]
        shortest = min(map(len, numbers))
        assert shortest
        if kind in (CART, CART_SUB):
            assert numbers == [numbers[0]] * 4
    # A rank that gets no communicator from a call counts the call.
    again = [c[1:] for c in of_kind(run, SPLIT)]
    even, odd = again[0], again[1]
    first = even[0]["sequence"]
    assert [c["sequence"] for c in even] == [first, first + 2]
    assert [c["sequence"] for c in odd] == [first + 1]


def test_twins_count_communicators_of_equal_members(run: Run) -> None:
    for trace in run.traces:
        seen: dict[tuple, int] = {}
        for comm in trace.comms.values():
            sides = tuple(sorted([tuple(comm["members"]), tuple(comm["remote"])]))
            assert comm["twin"] == seen.get(sides, 0)
            seen[sides] = comm["twin"] + 1


def test_cartesian_communicators_hold_their_shape(run: Run) -> None:
    for carts, rows in zip(of_kind(run, CART), of_kind(run, CART_SUB), strict=True):
        assert carts[0]["cart"] == [(2, 1), (2, 0)]
        assert rows[0]["cart"] == [(2, 0)]
        assert len(rows[0]["members"]) == 2


def test_intercommunicators_hold_both_groups(run: Run) -> None:
    for rank, (inter, merged) in enumerate(
        zip(of_kind(run, INTER), of_kind(run, MERGE), strict=True)
    ):
        groups = [[1, 0], [3, 2]]
        assert inter[0]["members"] == groups[rank // 2]
        assert inter[0]["remote"] == groups[1 - rank // 2]
        assert merged[0]["members"] == [3, 2, 1, 0]


def test_a_handle_that_comes_back_is_a_new_communicator(run: Run) -> None:
    trace = run.traces[0]
    first, second = trace.of("Bcast")
    assert first.comm != second.comm
    created = [e.object for e in trace.of("Comm_split") if e.object is not None]
    assert [first.comm, second.comm] == created[-2:]


def test_a_handle_that_comes_back_is_a_new_datatype(run: Run) -> None:
    sizes = [
        [t.tables["types"][e.type_a]["size"] for e in t.of("Bcast")] for t in run.traces
    ]
    assert sizes == [[4, 12], [8], [4, 12], [8]]


def test_idup_is_known_when_its_request_completes(run: Run) -> None:
    for trace in run.traces:
        (idup,) = trace.of("Comm_idup")
        barrier = trace.of("Barrier")[-1]
        assert idup.made
        assert idup.object == barrier.comm
        assert trace.of("Wait")[-1].requests == idup.made
        assert trace.comms[barrier.comm]["kind"] == DUP
