"""Every kind of record, read by `collect` and by the independent reader."""

import random

import pytest

from tests.reader_agreement import agree
from tests.trace_samples import anything, save_ring


@pytest.mark.parametrize("seed", range(12))
def test_both_readers_tell_the_same_of_random_files(tmp_path, seed):
    rng = random.Random(seed)
    for rank in range(3):
        anything(rng, rank, 3, 250).save(tmp_path)
    assert agree(tmp_path) > 600


def test_both_readers_tell_the_same_of_a_ring(tmp_path):
    assert agree(save_ring(tmp_path, ranks=4, rounds=10)) == 4 * 40
