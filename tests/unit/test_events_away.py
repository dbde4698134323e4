"""Gaps of three kinds: from rank files, and from text through to the skeleton."""

import re

import numpy as np
import pytest

from skelgen.events import collect
from skelgen.events.away import AWAY_DTYPE, moved, without
from skelgen.events.reorder import move
from skelgen.skeleton.emit.skeleton_files import render
from skelgen.skeleton.plan import plan
from skelgen.trace import open_trace
from tests import builders
from tests.golden.rewrite import REFERENCE
from tests.skeletons import signature
from tests.trace_writer import RankWriter

#: Units of the writer in a microsecond.
US = 2000


def collected(folder, *gaps, tail=None, threads=1):
    """Read a rank with a barrier behind each gap: its length [us], and extras."""
    for thread in range(threads):
        writer = RankWriter(0, 1, thread=thread)
        if not thread:
            writer.event("MPI_Init", 0, 1000)
        for gap_us, extras in gaps:
            writer.event("MPI_Barrier", gap_us * US, 100, extras=extras)
        if tail is not None:
            writer.event("MPI_Finalize", 1000 * US, 100, extras=tail)
        writer.finish(finalize=not thread and tail is None)
        writer.save(folder)
    return collect(open_trace(folder))


def test_a_gap_is_on_a_core_in_the_queue_and_asleep(tmp_path):
    events = collected(
        tmp_path,
        (1000, {"lost_us": 700, "queued_us": 300}),
        (1000, {}),
        (1000, {"lost_us": 200, "queued_us": 0}),
        (1000, {"lost_us": 200, "queued_us": 200}),
    )
    assert events.compute_ns.tolist() == [300_000, 1_000_000, 800_000, 800_000]
    assert events.away.tolist() == [
        (0, 300_000, 400_000),
        (2, 0, 200_000),
        (3, 200_000, 0),
    ]
    gaps_ns = np.diff(events.enter_ns)
    assert gaps_ns.min() > 1_000_000  # when calls were made is what it was


def test_sleep_after_the_last_call_is_known(tmp_path):
    events = collected(tmp_path, (10, {}), tail={"lost_us": 900, "queued_us": 100})
    assert events.tail_asleep_ns.tolist() == [800_000]
    assert events.tail_ns.tolist() == [100_000]


def test_what_an_older_recorder_wrote_is_all_computation(tmp_path):
    events = collected(tmp_path, (1000, {"lost_us": 700}))
    assert events.compute_ns.tolist() == [1_000_000]
    assert len(events.away) == 0


def test_no_more_is_taken_out_of_a_gap_than_it_has(tmp_path):
    extras = {"lost_us": 5000, "queued_us": 4000}
    events = collected(tmp_path, (1000, extras), (0, {}))
    assert events.compute_ns.tolist() == [0, 0]
    assert events.away.tolist() == [(0, 1_000_000, 0)]


def test_tables_follow_calls_that_are_taken_out_or_moved():
    table = np.array([(1, 5, 0), (4, 6, 7)], AWAY_DTYPE)
    assert without(table, np.array([0, 4])).tolist() == [(0, 5, 0)]
    assert moved(table, np.array([0, 4, 2, 3, 1])).tolist() == [(1, 6, 7), (4, 5, 0)]
    events = builders.events("ranks 1\nrank 0\n5 Barrier sleep=7\n5 Barrier")
    assert move(events, np.array([1, 0])).away.tolist() == [(1, 0, 7)]


STEPS = """
ranks 2
rank *
repeat 100 {
  2000000 Allreduce bytes=8 op=1 queued=500000 sleep=SLEEP
}
tail 1000000 sleep=TAIL
"""


def text_of(sleep_ns, tail_ns, factor=10):
    text = STEPS.replace("SLEEP", f"{sleep_ns}").replace("TAIL", f"{tail_ns}")
    made = plan(signature(text), factor)
    return made, render(made, calibration=REFERENCE)["skeleton.c"]


def test_a_skeleton_computes_and_sleeps_as_long_and_leaves_the_queue_out():
    made, text = text_of(3_000_000, 4_000_000)
    assert re.search(r"compute\(2000(\.0)?\);\n\t+idle\(3000(\.0)?\);", text)
    assert re.search(r"compute\(100(\.0)?\);\n\tidle\(400(\.0)?\);", text)
    group = made.signature.groups[0]
    assert group.idle_ns.tolist() == [[3e8, 3e8]]
    assert group.compute_ns.total.tolist() == [[2e8, 2e8]]
    without_queue_s = made.signature.application_s * (5.0001 / 5.5)
    assert made.report.expected_s * 10 == pytest.approx(without_queue_s, rel=0.2)


@pytest.mark.parametrize("sleep_ns", [0, 20_000])
def test_a_program_that_hardly_sleeps_has_a_skeleton_that_never_does(sleep_ns):
    _, text = text_of(sleep_ns, 0)
    assert "idle" not in text
    assert "nanosleep" not in text
    assert re.search(rf"compute\({2000 + sleep_ns // 1000}(\.0)?\);", text)
