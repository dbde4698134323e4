"""A signature keeps the structure exactly and times and sizes as statistics."""

import random

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from tests import builders
from tests.random_programs import random_program
from tests.summaries import build, cut_events

seeds = st.integers(0, 2**32)


def signature_of(text, threshold=None):
    return build(builders.events(text), threshold).signature


def test_ranks_with_equal_strings_form_a_group():
    signature = signature_of("""
        rank 0,2
          Send to=+1 tag=1 bytes=8
          Barrier
        rank 1,3
          Recv from=-1 tag=1 bytes=8
          Barrier
    """)
    assert [group.ranks for group in signature.groups] == [(0, 2), (1, 3)]
    assert [group.count.tolist() for group in signature.groups] == [[1, 1], [1, 1]]


def test_persistent_requests_fold_beside_others_of_the_same_loop():
    signature = signature_of("""
        ranks 4
        rank *
          Send_init to=+1 tag=1 bytes=8 as=s
          Recv_init from=-1 tag=1 bytes=8 as=r
          repeat 50 {
            Startall of=r,s
            Isend to=+1 tag=2 bytes=8 as=i
            Recv from=-1 tag=2 bytes=8
            Waitall of=r,s,i
          }
          Request_free of=s
          Request_free of=r
    """)
    (group,) = signature.groups
    assert group.nest.body_items.tolist() == [0, 0, 4, 0, 0, 0, 0, 0, 0]
    assert group.nest.trips.tolist() == [[50, 1]]


def test_statistics_stand_at_their_leaf_and_rank():
    signature = signature_of("""
        rank 0
          repeat 3 {
            10 Allreduce bytes=8 mpi=100
            20 Barrier mpi=7
          }
          tail 5
        rank 1
          repeat 3 {
            40 Allreduce bytes=8 mpi=200
            80 Barrier mpi=9
          }
          tail 6
    """)
    (group,) = signature.groups
    assert group.count.tolist() == [3, 3]
    assert group.compute_ns.total.tolist() == [[30, 120], [60, 240]]
    assert group.compute_ns.squares.tolist() == [[300, 4800], [1200, 19200]]
    assert group.mpi_ns.tolist() == [[300, 600], [21, 27]]
    assert group.size_bytes.most.tolist() == [[8, 8], [0, 0]]
    assert group.tail_ns.tolist() == [5, 6]
    assert group.compute_ns.samples.tolist() == [
        [[10] * 3, [40] * 3],
        [[20] * 3, [80] * 3],
    ]
    assert signature.events == 12
    assert signature.ranks == 2


def test_receives_have_the_bytes_that_arrived():
    signature = signature_of("""
        rank 0
          repeat 4 {
            Send to=1 tag=1 bytes=80
            Isend to=1 tag=1 bytes=90 as=s
            Wait of=s
          }
        rank 1
          repeat 4 {
            Recv from=0 tag=1 bytes=1000
            Irecv from=0 tag=1 bytes=2000 as=r
            Wait of=r
          }
    """)
    for group in signature.groups:
        assert group.size_bytes.total[:, 0].tolist() == [320, 360, 0]


def test_polling_counts_as_time_inside_the_call_behind_it():
    signature = signature_of("""
        rank 0
          Irecv from=1 tag=1 bytes=8 as=r
          100 Test mpi=10
          5 Test mpi=10
          5 Test of=r mpi=10
        rank 1
          Send to=0 tag=1 bytes=8
    """)
    assert signature.groups[0].mpi_ns[1].tolist() == [40]
    assert signature.groups[0].compute_ns.total[1].tolist() == [100]


def test_only_families_in_use_and_their_ancestors_stay():
    signature = signature_of("""
        comm unused members=0,1
        comm row members=0,1
        comm cell members=0,1 parent=row kind=dup
        rank *
          Barrier comm=cell
    """)
    kinds = [family.kind for family in signature.families]
    assert kinds == ["world", "self", "split", "dup"]
    assert [family.parent for family in signature.families] == [-1, -1, 0, 2]
    assert signature.symbols["family"].tolist() == [3]


def test_sites_and_functions_are_those_in_use():
    signature = signature_of("""
        ranks 2
        rank *
          Comm_rank site=1
          Barrier site=3
          Allreduce bytes=8 site=2
    """)
    assert signature.sites == ("app+0x3", "app+0x2")
    assert signature.functions == ("MPI_Barrier", "MPI_Allreduce")


def test_vectors_are_means_for_each_rank():
    signature = signature_of("""
        rank 0
          Alltoallv sends=1,2 receives=1,3
          Alltoallv sends=3,4 receives=3,5
          Gatherv root=0 bytes=4 receives=4,6
        rank 1
          Alltoallv sends=3,4 receives=2,4
          Alltoallv sends=5,6 receives=4,6
          Gatherv root=0 bytes=6
    """)
    all_to_all, gather = signature.groups[0].vectors
    assert all_to_all.tolist() == [[[2, 3], [2, 4]], [[4, 5], [3, 5]]]
    assert np.isnan(gather[0, 0]).all()
    assert gather[0, 1].tolist() == [4, 6]
    assert np.isnan(gather[1]).all()


def test_what_is_dropped_is_kept_as_a_line():
    signature = signature_of("""
        rank 0
          Barrier
          Send to=1 tag=1 bytes=8 mpi=1000
        rank 1
          Barrier
    """)
    assert signature.dropped == (("MPI_Send: no partner in the trace", 1, 1e-6),)


def test_a_run_without_communication_is_one_group_of_nothing():
    signature = signature_of("ranks 3\nrank *\n 5 Comm_rank mpi=2\n tail 10\n")
    (group,) = signature.groups
    assert group.ranks == (0, 1, 2)
    assert len(group.nest) == 0
    assert group.tail_ns.tolist() == [17, 17, 17]


@settings(max_examples=40, deadline=None)
@given(seeds)
def test_a_signature_accounts_for_all_calls_and_times(seed):
    rng = random.Random(seed)
    events = cut_events(random_program(rng), rng)
    built = build(events)
    inside = int((built.symbols.symbol >= 0).sum())
    groups = built.signature.groups
    assert sum(int(g.count.sum()) * len(g.ranks) for g in groups) == inside
    assert sorted(r for g in groups for r in g.ranks) == list(range(events.calls.ranks))
    kept = sum(
        float(g.compute_ns.total.sum() + g.mpi_ns.sum() + g.tail_ns.sum())
        for g in groups
    )
    dropped = 1e9 * sum(time_s for _, _, time_s in built.signature.dropped)
    inner = int((events.leave_ns - events.enter_ns).sum())
    total = int(events.compute_ns.sum()) + inner + int(events.tail_ns.sum())
    assert abs(kept + dropped - total) < 1e-3
