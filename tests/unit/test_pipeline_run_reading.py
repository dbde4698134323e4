"""A large run is read in blocks, and has the same timeline."""

import random
from functools import partial

import numpy as np
import pytest

from skelgen.events import call_stream, collect
from skelgen.pipeline import run_reading
from skelgen.timeline import collect as timeline_collect
from skelgen.timeline import joined, lanes_of
from skelgen.trace import open_trace
from tests.export_samples import save_mixed, save_threads
from tests.trace_samples import anything


def save_anything(folder, seed):
    rng = random.Random(seed)
    for rank in range(3):
        anything(rng, rank, 3, 300).save(folder)


@pytest.mark.parametrize(
    "save",
    [save_mixed, save_threads, *(partial(save_anything, seed=i) for i in (1, 2))],
)
def test_the_timeline_of_a_large_run_is_that_of_one_read_whole(
    save, tmp_path, monkeypatch
):
    monkeypatch.setattr(run_reading, "MOST_MATCHED", 0)
    monkeypatch.setattr(call_stream, "BLOCK", 7)
    monkeypatch.setattr(timeline_collect, "_BLOCK", 5)
    save(tmp_path)
    run = open_trace(tmp_path)
    reading = run_reading.read_run(run)
    events = collect(run)
    lanes = lanes_of(events, range(events.calls.ranks))
    seen = reading.look()
    assert seen.timeline == joined([lanes])
    assert seen.waits == ()
    inside_ns = np.sum(events.leave_ns - events.enter_ns)
    assert reading.totals.inside_ns.sum() == inside_ns
