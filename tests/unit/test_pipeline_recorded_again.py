"""What a recorded run of the application tells of its time."""

import pytest

from skelgen.pipeline.recorded_again import recorded_run
from tests.trace_writer import RankWriter


def timed(folder, queued_us, cores):
    """Return the time of a run of two ranks that may use the same cores."""
    for rank in range(2):
        writer = RankWriter(rank, 2)
        writer.event("MPI_Init", 0, 1000)
        writer.event("MPI_Barrier", 2_000_000, 10)
        writer.load(queued_us=0, all_queued_us=queued_us[rank], cores=cores)
        writer.finish()
        writer.save(folder)
    return recorded_run(folder)


@pytest.mark.parametrize("cores", [0, 0b11])
def test_the_longest_wait_of_a_rank_for_its_core_is_told(tmp_path, cores):
    run = timed(tmp_path, (250, 400), cores)
    assert run.time_s == pytest.approx(0.001, rel=0.01)
    assert run.queued_s == pytest.approx(400e-6)


def test_ranks_that_share_a_core_wait_for_each_other(tmp_path):
    run = timed(tmp_path, (250, 400), cores=0b1)
    assert run.time_s == pytest.approx(0.001, rel=0.01)
    assert run.queued_s is None
