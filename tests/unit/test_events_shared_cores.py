"""Hosts with more ranks than cores are found by what their ranks say."""

import pytest

from skelgen.events.shared_cores import SharedCores, shared_cores
from skelgen.trace import open_trace
from tests.trace_writer import RankWriter


def found(folder, *ranks):
    """Find shared cores in a run of ranks: each its host and the cores it may use."""
    for rank, (host, cores) in enumerate(ranks):
        writer = RankWriter(rank, len(ranks), host=host, boot_id="boot-" + host)
        writer.event("MPI_Init", 0, 1000)
        if cores is not None:
            writer.load(cores=sum(1 << core for core in cores))
        writer.finish()
        writer.save(folder)
    return shared_cores(open_trace(folder).files)


@pytest.mark.parametrize(
    ("ranks", "expected"),
    [
        ([("n1", {0, 1}), ("n1", {0, 1})], None),
        ([("n1", {0}), ("n1", {70})], None),
        ([("n1", {0}), ("n2", {0})], None),
        ([("n1", {0, 1})] * 3, SharedCores(3, 2)),
        ([("n1", {0}), ("n1", {0})], SharedCores(2, 1)),
        ([("n1", {9}), ("n2", {200}), ("n2", {200})], SharedCores(2, 1)),
    ],
)
def test_ranks_share_cores_where_a_host_has_fewer_than_ranks(tmp_path, ranks, expected):
    assert found(tmp_path, *ranks) == expected


def test_the_host_with_the_fewest_cores_for_each_rank_is_named(tmp_path):
    crowded = found(tmp_path, *[("n1", {0, 1})] * 3, *[("n2", {0, 1})] * 5)
    assert str(crowded) == "5 ranks of a host shared 2 cores"


@pytest.mark.parametrize("untold", [None, set()])
def test_nothing_is_said_where_a_rank_does_not_tell_its_cores(tmp_path, untold):
    assert found(tmp_path, ("n1", {0}), ("n1", {0}), ("n1", untold)) is None


def test_further_threads_of_a_rank_need_no_core(tmp_path):
    for thread in range(3):
        writer = RankWriter(0, 1, thread=thread)
        if not thread:
            writer.event("MPI_Init", 0, 1000)
            writer.load(cores=1)
        writer.event("MPI_Barrier", 10, 10)
        writer.finish()
        writer.save(tmp_path)
    assert shared_cores(open_trace(tmp_path).files) is None
