"""How much memory a build needs for each call."""

import tracemalloc

import pytest

from benchmarks import long_runs, pipeline

CALLS = 400_000


@pytest.fixture(scope="module", autouse=True)
def loaded(tmp_path_factory):
    """Load kernels and modules before anything is measured."""
    folder = tmp_path_factory.mktemp("small")
    for rank in range(2):
        long_runs.write(folder, 1000, rank, 2)
    pipeline.compile_trace(folder)


def most_bytes(folder, ranks):
    """Return the largest memory of each stage, for each call; kernels' own is more."""
    for rank in range(ranks):
        long_runs.write(folder, CALLS // ranks, rank, ranks)
    found = {}

    def lap(stage):
        found[stage] = tracemalloc.get_traced_memory()[1] / CALLS
        tracemalloc.reset_peak()

    tracemalloc.start()
    try:
        pipeline.compile_trace(folder, lap)
    finally:
        tracemalloc.stop()
    return found


@pytest.mark.parametrize("ranks", [1, 2])
def test_no_stage_needs_much_memory_for_a_call(ranks, tmp_path):
    found = most_bytes(tmp_path, ranks)
    most = {"read": 50, "match": 39, "symbols": 50, "fold": 42, "summary": 45}
    most |= {"plan": 58, "render": 2, "write": 2}
    assert found.keys() == most.keys()
    assert {stage for stage in most if found[stage] > most[stage]} == set(), found
