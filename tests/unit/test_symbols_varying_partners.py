"""Partners that follow no pattern are kept aside; patterns stay in the structure."""

import random

import numpy as np
import pytest

from skelgen.loops import fold
from skelgen.matching import match
from skelgen.symbols.cluster import cluster
from skelgen.symbols.types import VARYING
from tests import builders
from tests.summaries import string


def master_worker(seed, tasks=400, workers=4, same_site=False):
    """Rank 0 answers whoever asks; `same_site`: a worker's calls look the same."""
    rng = random.Random(seed)
    builder = builders.EventsBuilder(workers + 1)
    for _ in range(tasks):
        worker = rng.randint(1, workers)
        builder.call(worker, "Send", peer=0, tag=1, size_bytes=8, site=3)
        builder.call(0, "Recv", peer=worker, tag=1, size_bytes=8, site=1, flags=1)
        builder.call(0, "Send", peer=worker, tag=2, size_bytes=80, site=2)
        site = 1 if same_site else 4
        builder.call(worker, "Recv", peer=0, tag=2, size_bytes=80, site=site)
    for rank in range(workers + 1):
        builder.call(rank, "Barrier")
    return builder.events()


def symbols_of(events):
    return cluster(events, match(events.calls))


def test_a_masters_receives_and_replies_keep_their_partners_aside():
    events = master_worker(1)
    symbols = symbols_of(events)
    own = string(symbols, events, 0)
    assert symbols.table["peer"][own].tolist() == [VARYING, VARYING] * 400 + [-1]
    assert len(fold(own)) == 4
    recorded = events.calls.shapes["peer"][events.calls.shape[:800]]
    np.testing.assert_array_equal(symbols.varying_peer[:800], recorded)
    assert symbols.varying_peer[800] == 0


@pytest.mark.parametrize("same_site", [False, True])
def test_a_workers_calls_name_the_master(same_site):
    events = master_worker(2, same_site=same_site)
    symbols = symbols_of(events)
    for worker in range(1, 5):
        own = string(symbols, events, worker)
        assert set(symbols.table["peer"][own].tolist()) == {5 - worker, -1}


def test_two_workers_in_any_order_are_not_a_crowd():
    events = master_worker(3, workers=2)
    symbols = symbols_of(events)
    assert not (symbols.table["peer"] == VARYING).any()


def test_a_short_run_keeps_its_partners():
    events = master_worker(4, tasks=12)
    assert not (symbols_of(events).table["peer"] == VARYING).any()


def test_many_neighbours_in_a_loop_are_a_pattern():
    ranks = 30
    builder = builders.EventsBuilder(ranks)
    for _ in range(40):
        requests = {rank: [] for rank in range(ranks)}
        for distance in range(1, 27):
            for rank in range(ranks):
                requests[rank].append(
                    builder.call(
                        rank, "Irecv", peer=(rank - distance) % ranks, tag=0, site=1
                    )
                )
        for distance in range(1, 27):
            for rank in range(ranks):
                builder.call(
                    rank, "Send", peer=(rank + distance) % ranks, tag=0, site=2
                )
        for rank in range(ranks):
            builder.call(rank, "Waitall", requests=requests[rank])
    events = builder.events()
    symbols = symbols_of(events)
    assert len(symbols.table) == 2 * 26 + 1
    assert not (symbols.table["peer"] == VARYING).any()


def random_exchange(seed, source_follows):
    """In each step all ranks exchange at a random distance."""
    rng = random.Random(seed)
    builder = builders.EventsBuilder(8)
    for _ in range(300):
        distance = rng.choice((1, 2, 3, 5))
        for rank in range(8):
            partner = (rank + distance) % 8
            source = (rank - distance) % 8
            if source_follows:
                partner = source = rank ^ distance
            builder.call(rank, "Sendrecv", peer=partner, tag=1, peer2=source, tag2=1)
    return builder.events()


def test_a_sendrecv_with_one_random_partner_varies_at_both_ends():
    # With rank ^ distance the relative partner of a rank differs, but not its two ends.
    symbols = symbols_of(random_exchange(5, source_follows=True))
    assert symbols.table["peer"].tolist() == [VARYING]
    assert symbols.table["peer2"].tolist() == [VARYING]


def test_a_sendrecv_with_two_random_partners_does_not_vary():
    symbols = symbols_of(random_exchange(6, source_follows=False))
    assert not (symbols.table["peer"] == VARYING).any()
    assert len(symbols.table) == 4
