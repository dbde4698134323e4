"""Damaged rank files: an error of one line, or what is complete with a warning.

SKELGEN_MUTATIONS sets how many files are tried; `tests/sanitize_kernels.py` runs
the same ones through kernels with address and undefined-behaviour checks.
"""

import os
import random
import resource

import numpy as np
import pytest

from skelgen.errors import InputError
from skelgen.events import collect
from skelgen.trace import open_trace
from tests.broken_bytes import broken
from tests.trace_samples import anything
from tests.trace_writer import FORMAT

FILES = int(os.environ.get("SKELGEN_MUTATIONS", "1000"))
BATCHES = 10


def check(trace, events):
    """What later stages rely on holds for every trace that is accepted."""
    calls = events.calls
    assert calls.ranks == trace.world_size
    assert np.all(np.diff(calls.first) >= 0)
    assert calls.first[-1] == len(calls) <= trace.events
    shapes = calls.shapes
    assert calls.shape.max(initial=0) < max(len(shapes), 1)
    assert calls.ages.max(initial=0) < len(calls.age_first) - 1
    assert calls.age_values.all()
    assert shapes["function"].max(initial=0) < len(calls.functions)
    assert shapes["communicator"].max(initial=-1) < len(calls.communicators)
    assert shapes["site"].max(initial=0) < len(events.sites)
    assert shapes["peer"].max(initial=0) < trace.world_size
    assert (calls.size_bytes >= 0).all()
    assert (events.enter_ns <= events.leave_ns).all()
    assert (events.compute_ns >= 0).all()
    for begin, end in zip(calls.first[:-1], calls.first[1:], strict=True):
        assert np.all(np.diff(events.enter_ns[begin:end]) >= 0)
    assert (events.begin_ns <= events.end_ns).all()


@pytest.mark.parametrize("batch", range(BATCHES))
def test_damaged_files_give_one_line_or_what_is_complete(tmp_path, batch):
    rng = random.Random(batch)
    checked = batch % 2 == 1  # as today's recorder writes, or an older one
    sound = [
        anything(random.Random(batch), rank, 2, calls, thread, checked=checked)
        for rank, calls, thread in ((0, 120, 0), (1, 120, 0), (1, 60, 1))
    ]
    header = FORMAT.header.itemsize
    outcomes = set()
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for _ in range(FILES // BATCHES):
        for writer in sound:
            writer.save(tmp_path)
        victim = rng.choice(sound)
        data = victim.data()
        whole = rng.random() < 0.1
        data = (
            broken(rng, data) if whole else data[:header] + broken(rng, data[header:])
        )
        (tmp_path / victim.name).write_bytes(data)
        try:
            trace = open_trace(tmp_path)
            events = collect(trace)
        except InputError as error:
            assert "\n" not in str(error)
            outcomes.add("error")
            continue
        check(trace, events)
        for line in (*trace.warnings, *events.warnings):
            assert "\n" not in line
        outcomes.add("warned" if trace.warnings else "read")
    assert "warned" in outcomes
    grown_kib = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    assert grown_kib < 300_000
