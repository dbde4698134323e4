"""The page shows the structure, the times and the messages of a signature."""

from __future__ import annotations

import math
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from skelgen.events.summary import added_calls, recorded_calls
from skelgen.matching.waits import WaitKind, WaitState
from skelgen.prediction.kept import (
    KeptPrediction,
    KeptSet,
    load_kept,
    save_kept,
)
from skelgen.prediction.types import Calibration, Need
from skelgen.skeleton.plan import plan
from skelgen.web.interval_picture import IntervalRow, dot_picture
from skelgen.web.kept_rows import kept_rows
from skelgen.web.loop_tree import MOST_ROWS, rows_of
from skelgen.web.newest_answer import answer_of
from skelgen.web.page import Comparison, Shares, page_of
from skelgen.web.rank_blocks import blocks_of_signature
from skelgen.web.regions import EDGES, with_region
from skelgen.web.render import render_page
from skelgen.web.run_pictures import dominant_loop
from skelgen.web.time_table import time_rows
from tests import builders
from tests.golden.rewrite import signature_of
from tests.known_skeleton import FACTS

GOLDEN = Path(__file__).resolve().parent.parent / "golden"


def golden(name: str) -> str:
    return (GOLDEN / name / "trace.txt").read_text()


def test_the_tree_holds_loops_with_their_share_of_time() -> None:
    signature = signature_of(golden("halo"), "halo")
    rows = rows_of(signature, signature.groups[0])
    outer = max(rows, key=lambda row: row.share)
    assert outer.label == "loop"
    assert outer.count == "20 ×"
    assert outer.share > 0.95
    inner = outer.children[0]
    assert (inner.count, inner.detail) == ("5 ×", "entered 20 times")
    assert "Irecv from -1" in [row.label for row in inner.children]


def test_the_dominant_loop_is_the_innermost_that_holds_most_time() -> None:
    signature = signature_of(golden("halo"), "halo")
    group = signature.groups[0]
    item = dominant_loop(group)
    assert item is not None
    trips = group.nest.trips[group.nest.trips_first[item]]
    assert trips.tolist() == [5, 20]


def test_the_matrix_counts_the_bytes_of_each_message_once() -> None:
    signature = signature_of(golden("pipeline"), "pipeline")
    expected = np.zeros((3, 3))
    expected[0, 1] = expected[1, 2] = 60 * 80_000
    assert np.array_equal(blocks_of_signature(signature).size_bytes, expected)


def test_partners_that_vary_are_counted_where_they_were() -> None:
    signature = signature_of(golden("master_worker"), "master_worker")
    matrix = blocks_of_signature(signature).size_bytes
    assert matrix[1, 0] == 25 * 8
    assert matrix[2, 0] == 13 * 8
    assert matrix[0, 1:].sum() == (25 + 13 + 2) * 4


def test_a_page_is_one_file_that_loads_nothing() -> None:
    signature = signature_of(golden("halo"), "<halo>")
    made = plan(signature, 4)
    page = page_of(
        signature,
        made.report,
        scaling_factor=4,
        measured=[Shares("skeleton, measured", 0.01, 0.9, 0.1)],
        comparisons=[Comparison("busy", 0.1, 0.4, 0.38, 0.42, 0.41)],
    )
    html = render_page(page)
    assert "&lt;halo&gt;" in html
    assert "<halo>" not in html
    assert "skeleton, measured" in html
    assert "-2.4 %" in html
    assert not re.search(r"(src|href)=|@import|url\(", html)
    assert html == render_page(page)


def test_computation_has_rows_of_its_own_and_a_call_its_own_time() -> None:
    text = "ranks 2\nrank *\n  repeat 9 {\n    9000 Barrier mpi=1000\n  }\n  tail 10000"
    signature = signature_of(text, "made")
    loop, tail = rows_of(signature, signature.groups[0])
    computation, call = loop.children
    assert (computation.label, computation.kind) == ("computation", "compute")
    assert (call.label, call.kind) == ("Barrier", "mpi")
    assert computation.share == pytest.approx(0.81)
    assert call.share == pytest.approx(0.09)
    assert loop.share == pytest.approx(0.9)
    assert (tail.label, tail.share) == ("computation", pytest.approx(0.1))


@pytest.mark.parametrize("case", ["halo", "pipeline", "master_worker"])
@pytest.mark.parametrize("is_counted", [True, False])
def test_the_parts_of_the_time_add_up_to_ranks_times_time(
    case: str, is_counted: bool
) -> None:
    events = builders.events(golden(case))
    signature = signature_of(golden(case), case)
    if is_counted:
        calls = added_calls([recorded_calls(events)])
        signature = replace(signature, recorded_calls=calls)
    rows = time_rows(signature)
    whole_s = signature.application_s * signature.ranks
    assert sum(row.time_s for row in rows) == pytest.approx(whole_s, rel=1e-3)
    assert sum(row.share for row in rows) == pytest.approx(1, rel=1e-3)
    assert [row.name for row in rows if row.kind == "compute"] == ["computation"]
    told = "of an older skelgen" in render_page(page_of(signature))
    assert told != is_counted


def test_names_of_a_hostile_recording_are_text() -> None:
    bad = "<script>alert(1)</script>"
    signature = signature_of(golden("halo"), bad)
    known = replace(
        signature.provenance, command=(bad,), mpi=bad, host=bad, recorded=bad
    )
    signature = replace(signature, provenance=known, dropped=((bad, 1, 1e-9),))
    used = Calibration((9.0,), (1.0,), bad, bad, (1.0,), False, date=bad, hosts=(bad,))
    facts = replace(FACTS, calibration=used, calibrations=(used,))
    kept = KeptSet(bad, 1.0, 0.9, 1.2, doubts=(bad,), notes=(bad,))
    one = KeptPrediction(bad, bad, bad, bad, 1.0, True, (kept,), ((bad, bad),))
    waits = [WaitState(WaitKind.LATE_SENDER, bad, 1, 9.0, 1, 9.0)]
    answer = answer_of(facts, (one, one))
    html = render_page(page_of(signature, answer=answer, waits=waits))
    assert bad not in html
    assert html.count("&lt;script&gt;alert(1)") > 15


def test_the_page_tells_of_disturbed_runs_and_of_what_it_takes(tmp_path: Path) -> None:
    need, note = str(Need(340, 170.0, 1.7)), "run 2 of 4 was disturbed"
    kept = KeptSet("n1", 1.0, 0.7, 1.4, doubts=(need,), notes=(note,))
    one = KeptPrediction("2026", "predict", "", "done", 1.0, True, (kept,))
    save_kept(tmp_path, [one])
    answer = answer_of(FACTS, load_kept(tmp_path))
    assert answer.notes == (need, note)
    html = render_page(page_of(signature_of(golden("halo"), "halo"), answer=answer))
    assert "run 2 of 4 was disturbed" in html
    assert "about 340 more runs (170 s) would do; running the application" in html


def test_what_the_skeleton_keeps_adds_up_to_all_classes() -> None:
    report = plan(signature_of(golden("halo"), "halo"), 4).report
    rows = kept_rows(report)
    whole_s = sum(one.seconds for one in report.classes)
    assert sum(row.time_s for row in rows) == pytest.approx(whole_s)
    assert rows[0].calls is None
    many = [replace(report.classes[0], label=str(n)) for n in range(60)]
    cut = kept_rows(replace(report, classes=tuple(many)))
    assert len(cut) == 42
    assert cut[-1].label == "20 further classes"
    assert sum(row.calls or 0 for row in cut) == 60 * many[0].calls


def test_a_picture_keeps_dots_within_it_and_leaves_out_what_is_no_number() -> None:
    dots = [
        IntervalRow("a", "1 s", 0.9, 1.0, 1.1),
        IntervalRow("b", "90 s", 80, 90, 100),
    ]
    picture = dot_picture("title", dots, " s", (5.0, "quiet"))
    assert picture is not None
    assert [0 < row.dot < 100 for row in picture.rows] == [True, True]
    assert all(row.left + row.width <= 100 for row in picture.rows)
    assert dot_picture("title", []) is None
    assert dot_picture("title", [IntervalRow("a", "", 0.0, 1.0, math.inf)]) is None


def test_a_region_is_replaced_only_in_a_page_that_has_it_once() -> None:
    html = render_page(page_of(signature_of(golden("halo"), "halo")))
    changed = with_region(html, "measured", (Shares("twice", 2.0, 0.5, 0.5),))
    assert changed is not None
    assert "twice, 2 s" in changed
    assert with_region(changed, "measured", ()) == html
    begin, _ = EDGES["measured"]
    assert with_region(html.replace(begin, ""), "measured", ()) is None
    assert with_region(html + html, "measured", ()) is None


def test_a_page_of_many_unlike_ranks_and_long_loops_stays_below_2_mb() -> None:
    lines = ["ranks 40"]
    for rank in range(40):
        lines += [f"rank {rank}", "  repeat 3 {"]
        lines += [f"  90000 Barrier site={site} mpi=900" for site in range(300)]
        lines += ["  }"]
        lines += [f"  90000 Comm_rank site={n}" for n in range(rank)]
        lines += [f"  9 Send to=0 tag={rank} bytes=8"] if rank else []
        if not rank:
            lines += [f"  9 Recv from={n} tag={n} bytes=8" for n in range(1, 40)]
    signature = signature_of("\n".join(lines), "long")
    assert len(signature.groups) > 20
    html = render_page(page_of(signature, plan(signature, 2).report))
    assert "further groups of ranks" in html
    assert "more items" in html
    assert len(html.encode()) < 2_000_000


def test_a_huge_nest_is_cut_with_a_line_that_says_so() -> None:
    lines = ["ranks 2", "rank *"]
    lines += [f"  10 Barrier site={i}" for i in range(MOST_ROWS + 500)]
    signature = signature_of("\n".join(lines), "long")
    rows = rows_of(signature, signature.groups[0])
    assert len(rows) == MOST_ROWS + 1
    assert rows[-1].count == "500 more items"
