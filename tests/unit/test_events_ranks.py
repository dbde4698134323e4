"""Ranks that are read together are read as each of them would be alone."""

import random
import sys
from dataclasses import fields, replace
from pathlib import Path

import numpy as np
import pytest

from skelgen.errors import InputError
from skelgen.events import collect
from skelgen.trace import open_trace
from tests.trace_samples import anything, ring, save_ring
from tests.trace_writer import RankWriter

RANKS = 12


def alltoallv(rng: random.Random, rank: int) -> RankWriter:
    """A rank with vectors, time without its core, and no end or several begins."""
    writer = RankWriter(rank, RANKS, cost_ps=17_000)
    if rng.random() < 0.8:
        writer.event("MPI_Init", 0, 1000)
    for _ in range(rng.randrange(6)):
        counts = [rng.randrange(5) for _ in range(RANKS)]
        writer.event(
            "MPI_Alltoallv",
            500,
            90,
            type_a=8,
            type_b=8,
            vector_a=counts,
            vector_b=counts,
            extras={"lost_us": 9, "queued_us": 4} if rng.random() < 0.3 else None,
        )
        if rng.random() < 0.3:
            writer.event("MPI_Barrier", 40, 9)
        if rng.random() < 0.1:
            writer.event("MPI_Pcontrol", 5, 1, peer=rng.randrange(2))
    if rng.random() < 0.8:
        writer.finish()
    return writer


def save(folder: Path, seed: int) -> Path:
    """Write ranks of which some can be read together and others cannot."""
    rng = random.Random(seed)
    for rank in range(RANKS):
        kind = rng.choice(("ring", "ring", "vectors", "anything", "threads", "none"))
        if kind == "ring":
            ring(rank, RANKS, rng.randrange(5)).save(folder)
        elif kind == "vectors":
            alltoallv(rng, rank).save(folder)
        elif kind != "none" or rank == 0:
            anything(rng, rank, RANKS, rng.randrange(30)).save(folder)
        if kind == "threads":
            anything(rng, rank, RANKS, 20, thread=1).save(folder)
    return folder


def same(one, other):
    """Compare two dataclasses column by column."""
    for name in (field.name for field in fields(one)):
        values = getattr(one, name), getattr(other, name)
        if name == "calls":
            same(*values)
        elif name == "vectors":
            assert [[str(v) for v in row] for row in values[0]] == [
                [str(v) for v in row] for row in values[1]
            ]
        else:
            np.testing.assert_equal(*values)


@pytest.mark.parametrize("seed", range(25))
def test_ranks_together_are_as_ranks_alone(tmp_path, seed, monkeypatch):
    trace = open_trace(save(tmp_path, seed))
    together = collect(trace)
    monkeypatch.setattr(sys.modules["skelgen.events.collect"], "_BATCH_EVENTS", 0)
    same(together, collect(trace))


def test_the_file_that_changed_is_named(tmp_path):
    trace = open_trace(save_ring(tmp_path, ranks=20))
    path = tmp_path / "rank-000013.skt"
    path.write_bytes(path.read_bytes()[:-40])
    with pytest.raises(InputError, match=r"rank-000013\.skt changed while it was read"):
        collect(trace)


def test_a_file_of_another_run_is_named(tmp_path):
    trace = open_trace(save_ring(tmp_path, ranks=20))
    path = tmp_path / "rank-000004.skt"
    other = tmp_path / "rank-000005.skt"
    path.write_bytes(other.read_bytes() + bytes(8))
    with pytest.raises(InputError, match=r"rank-000004\.skt changed while it was read"):
        collect(trace)


def test_ranks_without_calls_stand_between_others(tmp_path):
    trace = open_trace(save_ring(tmp_path, ranks=5, rounds=3))
    few = replace(trace, files=tuple(trace.files[i] for i in (0, 2, 4)))
    counts = np.diff(collect(few).calls.first)
    assert counts.tolist() == [12, 0, 12, 0, 12]
