"""A run that is added up block by block has the totals of one that is read whole."""

import random

import pytest

from skelgen.events import call_stream
from tests.export_samples import save_mixed, save_neighbours, save_threads
from tests.run_totals import agreed_summary
from tests.trace_samples import anything, save_ring
from tests.trace_writer import FORMAT, RankWriter


def save_anything(folder, seed):
    rng = random.Random(seed)
    for rank in range(3):
        anything(rng, rank, 3, 300).save(folder)


def save_killed(folder):
    save_mixed(folder, killed=3)


@pytest.mark.parametrize("block", [1, 7, 1 << 16])
@pytest.mark.parametrize(
    "save", [save_ring, save_mixed, save_killed, save_neighbours, save_threads]
)
def test_sums_do_not_depend_on_blocks(save, block, tmp_path, monkeypatch):
    monkeypatch.setattr(call_stream, "BLOCK", block)
    save(tmp_path)
    agreed_summary(tmp_path)


@pytest.mark.parametrize("seed", range(40))
def test_sums_of_any_calls_do_not_depend_on_blocks(seed, tmp_path, monkeypatch):
    monkeypatch.setattr(call_stream, "BLOCK", 1 + seed * 3 % 50)
    save_anything(tmp_path, seed)
    agreed_summary(tmp_path)


def test_ends_pauses_and_cancelled_messages_are_the_same_across_blocks(
    tmp_path, monkeypatch
):
    """Sessions end before MPI_Finalize does, and calls may come between."""
    monkeypatch.setattr(call_stream, "BLOCK", 2)
    message = {"peer": 0, "tag": 3, "count_a": 5, "type_a": 8}
    lasting = {"flags": "PERSISTENT", **message}
    writer = RankWriter(0, 1)
    writer.event("MPI_Barrier", 5, 5)
    writer.event("MPI_Init", 0, 1000)
    writer.event("MPI_Send_init", 10, 10, **lasting)
    for number in range(6):
        writer.event("MPI_Isend", 10, 10, flags="CREATES", **message)
        cancelled = [(0, FORMAT["CANCELLED"], -1)] if number % 2 else []
        extras = {"statuses": cancelled} if cancelled else None
        ends = {"flags": "COMPLETES", "requests": 1}
        writer.event("MPI_Wait", 10, 10, **ends, extras=extras)
        writer.event("MPI_Wait", 10, 10, **ends)
        writer.event("MPI_Start", 10, 10, flags="STARTS", count_a=1, requests=-1)
        writer.event("MPI_Wait", 10, 10, **ends)
        writer.event("MPI_Pcontrol", 70, 10, peer=number % 2)
    writer.event("MPI_Session_finalize", 40, 20)
    writer.event("MPI_Barrier", 5, 5)
    writer.event("MPI_Pcontrol", 70, 10, peer=0)
    writer.finish()
    writer.save(tmp_path)
    run = agreed_summary(tmp_path)
    calls = {one.name: one.calls for one in run.functions}
    assert calls["MPI_Barrier"] == 2
    assert calls["MPI_Session_finalize"] == 1
    sent = {one.name: one.sent_bytes for one in run.functions}
    assert sent["MPI_Isend"] == 3 * 40
    assert sent["MPI_Send_init"] == 6 * 40
    assert any("6 completions name a request" in text for text in run.warnings)
    assert any("MPI_Pcontrol(0) paused" in text for text in run.warnings)
