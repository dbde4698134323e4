"""Neighbourhood and persistent collectives, Isendrecv, intercommunicators in plans."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

from skelgen.errors import InputError
from skelgen.events import Calls
from skelgen.matching import Matching, match
from skelgen.matching.roles import shape_table
from skelgen.signature import store
from skelgen.skeleton.emit.skeleton_files import render
from skelgen.skeleton.plan import plan
from skelgen.skeleton.types import Operation, Plan
from tests.builders import calls, events
from tests.plans import CALIBRATION
from tests.skeletons import signature
from tests.twins import matching_kernel as twin

RING = """
    comm ring members=0,1,2 kind=cart sources=2,1;0,2;1,0 destinations=2,1;0,2;1,0
"""


def matched(text: str) -> tuple[Calls, Matching]:
    """Match the calls of a text, with the kernel and its twin."""
    known = calls(text)
    found = match(known)
    joined = twin.join(known, shape_table(known))
    np.testing.assert_array_equal(joined.whole_event, found.whole_event)
    np.testing.assert_array_equal(joined.collective_done, found.collective_done)
    return known, found


def operations(made: Plan, name: str) -> list[Operation]:
    """Return the operations of a function, rank after rank."""
    return [
        operation
        for program in made.programs
        for operation in program.operations
        if made.functions[made.symbols[operation.symbol]["function"]] == f"MPI_{name}"
    ]


def text_of(made: Plan) -> str:
    return render(made, calibration=CALIBRATION)["skeleton.c"]


def test_starts_of_persistent_collectives_meet_in_their_order() -> None:
    known, found = matched("""
        rank 0
          Allreduce_init bytes=8 op=3 as=a
          Barrier_init as=b
          Start of=a
          Wait of=a
          Start of=b
          Wait of=b
          Start of=a
          Wait of=a
        rank 1
          Allreduce_init bytes=8 op=3 as=a
          Barrier_init as=b
          Startall of=a,b
          Waitall of=a,b
          Start of=a
          Wait of=a
    """)
    first, second = (found.whole_event[slice(*known.first[r : r + 2])] for r in (0, 1))
    created = [first[0], first[1]]
    assert created == second[:2].tolist()
    # The two starts of rank 0 are one event with the Startall that they meet.
    assert first[2] == first[4] == second[2]
    assert first[6] == second[4] != first[2]
    assert found.problems == ()
    assert found.collective_done[[0, 2, 4, 6]].tolist() == [0, 3, 5, 7]


def test_creations_in_different_orders_match_nothing() -> None:
    _, found = matched("""
        rank 0
          Allreduce_init bytes=8 op=3 as=a
          Barrier_init as=b
          Start of=a
          Wait of=a
        rank 1
          Barrier_init as=b
          Allreduce_init bytes=8 op=3 as=a
          Start of=a
          Wait of=a
    """)
    assert found.whole_events == 0
    assert any("meets" in problem for problem in found.problems)


def test_a_start_that_not_all_ranks_make_matches_nothing() -> None:
    _, found = matched("""
        rank 0
          Barrier_init as=b
          Start of=b
          Wait of=b
          Start of=b
        rank 1
          Barrier_init as=b
          Start of=b
          Wait of=b
    """)
    assert found.whole_events == 2
    assert found.unmatched.tolist() == [3]


def test_a_persistent_collective_is_kept_with_its_starts() -> None:
    made = plan(
        signature("""
        rank 0-2
          Allreduce_init bytes=64 type=8 op=3 as=a
          repeat 30 {
            1000 Start of=a
            Wait of=a
          }
          Request_free of=a
    """),
        3,
    )
    (init,) = operations(made, "Allreduce_init")
    assert init.occurrences == 1
    assert init.size_bytes.values.tolist() == [[64.0]] * 3
    assert [o.occurrences for o in operations(made, "Start")] == [10]
    text = text_of(made)
    assert "MPI_Allreduce_init(out, in, 8, MPI_DOUBLE, MPI_SUM, world.comm," in text
    assert "MPI_INFO_NULL, &request[0])" in text
    assert "MPI_Start(&request[0])" in text


def test_neighbours_keep_what_they_send_to_each(tmp_path: Path) -> None:
    known = signature(f"""
        {RING}
        rank 0
          repeat 20 {{
            1000 Neighbor_alltoallv sends=8,16 receives=24,32 comm=ring
          }}
        rank 1
          repeat 20 {{
            1000 Neighbor_alltoallv sends=32,40 receives=16,48 comm=ring
          }}
        rank 2
          repeat 20 {{
            1000 Neighbor_alltoallv sends=48,24 receives=40,8 comm=ring
          }}
    """)
    made = plan(known, 4)
    vectors = [
        rank for one in operations(made, "Neighbor_alltoallv") for rank in one.vectors
    ]
    assert [rank.tolist() for rank in vectors] == [
        [[8, 16], [24, 32]],
        [[32, 40], [16, 48]],
        [[48, 24], [40, 8]],
    ]
    text = text_of(made)
    assert "with_neighbours(&cart_2, sources_" in text
    assert "{2, 1, -1}, {0, 2, -1}, {1, 0, -1}" in text
    store.save(known, tmp_path / "signature.yaml")
    assert 'sources: ["2,1*3"]' in (tmp_path / "signature.yaml").read_text()
    again = store.load(tmp_path / "signature.yaml")
    assert again.families == known.families
    assert text_of(plan(again, 4)) == text


def test_a_gather_from_neighbours_sends_one_block_to_all() -> None:
    made = plan(
        signature(f"""
        {RING}
        rank 0-2
          repeat 20 {{
            1000 Ineighbor_allgather sends=80,80 receives=80,80 comm=ring as=r
            Wait of=r
          }}
    """),
        4,
    )
    text = text_of(made)
    assert "MPI_Ineighbor_allgatherv(out, 80, MPI_BYTE, in," in text


def test_neighbours_that_contradict_each_other_are_refused() -> None:
    known = signature("""
        comm odd members=0,1 kind=dist_graph sources=1;- destinations=-;-
        rank 0
          repeat 20 {
            1000 Neighbor_alltoall sends= receives=8 comm=odd
          }
        rank 1
          repeat 20 {
            1000 Neighbor_alltoall sends= receives= comm=odd
          }
    """)
    with pytest.raises(InputError, match="contradict each other"):
        plan(known, 2)


def test_isendrecv_stays_one_call() -> None:
    made = plan(
        signature("""
        ranks 3
        rank *
          repeat 40 {
            500 Isendrecv to=+1 from=-1 tag=3 tag2=3 bytes=800 as=r
            Wait of=r
          }
    """),
        4,
    )
    (both,) = operations(made, "Isendrecv")
    assert both.occurrences == 10
    text = text_of(made)
    assert "MPI_Isendrecv(out, 800, MPI_BYTE, peer(1), 0, in, 800, MPI_BYTE," in text


def test_messages_of_an_intercommunicator_are_those_of_all_its_ranks() -> None:
    known = signature("""
        comm bridge members=2,0 remote=1,3 kind=inter
        comm bridge members=1,3 remote=2,0 kind=inter
        rank 2
          repeat 20 {
            900 Send to=1 tag=1 bytes=64 comm=bridge
          }
        rank 3
          repeat 20 {
            Recv from=0 tag=1 bytes=64 comm=bridge
          }
        rank 0
          Barrier
        rank 1
          Barrier
        rank 2
          Barrier
        rank 3
          Barrier
    """)
    (bridge,) = [family for family in known.families if family.kind == "inter"]
    assert bridge.instances == ((1, 3, 2, 0),)
    assert known.dropped == ()
    made = plan(known, 2)
    assert [o.occurrences for o in operations(made, "Send")] == [10]


def test_the_report_says_that_partitioned_messages_are_sent_whole() -> None:
    made = plan(
        signature("""
        rank 0
          Psend_init to=1 tag=1 bytes=4000 as=p
          repeat 20 {
            700 Start of=p
            Wait of=p
          }
        rank 1
          Precv_init from=0 tag=1 bytes=4000 as=p
          repeat 20 {
            Start of=p
            Parrived
            Wait of=p
          }
    """),
        2,
    )
    assert made.report.warnings == (
        "the skeleton sends partitioned messages whole, when they are started",
    )
    assert "MPI_Send_init(out, 4000, MPI_BYTE, " in text_of(made)


def test_polls_for_partitions_are_waiting() -> None:
    known = signature("""
        ranks 2
        rank 0
          Precv_init from=0 tag=1 bytes=8 as=p
          Psend_init to=0 tag=1 bytes=8 as=q
          Startall of=p,q
          Parrived mpi=5000
          Waitall of=p,q mpi=100
    """)
    assert known.groups[0].mpi_ns.sum() == pytest.approx(5000 + 4 * 100)
    assert events("rank 0\n  Parrived").calls.functions == ("MPI_Parrived",)


def test_a_rank_without_neighbours_passes_lists_all_the_same() -> None:
    """Open MPI refuses NULL for the counts of nobody."""
    known = signature("""
        comm pair members=0,1,2 kind=dist_graph sources=1;0;- destinations=1;0;-
        rank 0,1
          Neighbor_allgatherv comm=pair bytes=8 type=8 sends=8 receives=8
          Neighbor_alltoallw comm=pair bytes=8 type=8 holes sends=8 receives=8
        rank 2
          Neighbor_allgatherv comm=pair bytes=0 sends= receives=
          Neighbor_alltoallw comm=pair bytes=0 sends= receives=
    """)
    text = text_of(plan(known, 1.01))
    assert text.count("MPI_Neighbor_allgatherv(") == 2  # of those two and of rank 2
    for types in ("each_MPI_BYTE", "each_holes_8"):
        assert re.search(rf"MPI_Neighbor_alltoallw\(.*, \w+, to_at_3, {types}", text)
    assert "= {0};" in text and "NULL, NULL" not in text
