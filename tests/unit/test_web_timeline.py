"""The page shows the timeline as a picture, a table and data for its script."""

from __future__ import annotations

import base64
import json
import re

import numpy as np
import pytest

from skelgen.timeline import RankWork, RunTimeline, collect, timeline_of
from skelgen.web.page import page_of
from skelgen.web.regions import EDGES, with_region
from skelgen.web.render import render_page
from skelgen.web.timeline import STACK, timeline_view
from tests.golden.rewrite import signature_of
from tests.timelines import FUNCTIONS, run_of, times_of

SIGNATURE = "ranks 2\nrank *\n  repeat 9 {\n    9000 Barrier mpi=1000\n  }"


def made(ranks: int = 3, calls: int = 200, **words) -> RunTimeline:
    each = [(4000 + n % 700, 900, n % 4) for n in range(calls)]
    found = timeline_of(run_of([each] * ranks, **words))
    assert found is not None
    return found


def page(timeline: RunTimeline) -> str:
    return render_page(page_of(signature_of(SIGNATURE, "made"), timeline=timeline))


def data_of(html: str) -> dict:
    (text,) = re.findall(r'id="run-timeline-data">(.*?)</script>', html, re.DOTALL)
    return json.loads(text)


def test_the_page_has_what_its_script_needs():
    timeline = made()
    known = data_of(page(timeline))
    assert base64.b64decode(known["data"]) == timeline.data
    assert known["span"] == timeline.span_ns / 1e9
    assert known["lanes"] == [[str(n), 400] for n in range(3)]
    assert known["things"][0] == [0, ""]
    assert [RankWork(kind) for kind in known["stack"]] == list(STACK)
    assert len(known["kinds"]) == len(RankWork)


def test_the_table_has_the_shares_of_each_rank():
    events = run_of([[(300, 100, 0)], [(100, 600, 1)]])
    view = timeline_view(timeline_of(events))
    names = [one.name for one in view.legend]
    assert names == ["computation", "point-to-point", "collective"]
    assert [row.name for row in view.rows] == ["0", "1"]
    assert view.rows[0].shares == ("75.0 %", "25.0 %", "0.0 %")
    assert view.rows[1].shares == ("14.3 %", "0.0 %", "85.7 %")
    assert [one.share for one in view.legend] == ["36.4 %", "9.1 %", "54.5 %"]


def areas(view) -> dict[int, int]:
    return {
        one.kind: sum(
            int(wide) * int(high)
            for wide, high in re.findall(r"h(\d+)v(\d+)h", one.path)
        )
        for one in view.shapes
    }


def test_the_picture_has_areas_as_the_ranks_have_times():
    timeline = made(4)
    view = timeline_view(timeline)
    whole = 4 * view.columns * view.lane_height
    shares = np.sum([lane.times_s for lane in timeline.lanes], axis=0)
    shares = shares / shares.sum()
    for kind, area in areas(view).items():
        assert area / whole == pytest.approx(shares[kind], abs=0.01)


def test_a_rank_that_ends_early_leaves_room_in_the_picture():
    view = timeline_view(timeline_of(run_of([[], []], tails=[1000, 250])))
    assert areas(view) == {
        int(RankWork.COMPUTATION): int(1.25 * view.columns * view.lane_height)
    }


def test_many_ranks_share_rows_and_the_page_says_so():
    view = timeline_view(made(ranks=130, calls=10))
    assert "A row is the average of 3 ranks." in view.notes
    assert [row.name for row in view.rows][:2] == ["0–2", "3–5"]
    assert view.rows[-1].name == "129"
    assert len(view.rows) == 44
    assert [one.text for one in view.names][:2] == ["0–", "6–"]


def test_the_page_says_what_is_joined_and_whether_waiting_is_known():
    assert timeline_view(made()).notes[0] == "Every call is there."
    inside = np.random.default_rng(1).integers(1, 900, 3000).tolist()
    events = run_of([[(50, time_ns, 1) for time_ns in inside]])
    small = timeline_view(timeline_of(events, np.ones(3000, int), most_bytes=500))
    assert small.notes[0].startswith("What takes less than ")
    assert small.notes[1].startswith("Waiting is its certain part")


BAD = "</script><script>alert(1)</script><!-- end of timeline, page 3 -->&\"'\u202e\x1b"


def test_a_hostile_name_of_a_function_is_text():
    html = page(made(functions=(BAD, BAD.upper(), *FUNCTIONS[2:])))
    assert "alert(1)" not in html.lower().replace("\\u003c", "<").split("</script>")[1]
    assert html.count("<script") == 2
    assert html.lower().count("</script") == 2
    assert html.count(EDGES["timeline"][1]) == 1
    names = [name for _, name in data_of(html)["things"]]
    assert any(name.startswith("</script><script>alert(1)") for name in names)
    assert not any("\u202e" in name or "\x1b" in name for name in names)


def test_a_large_run_makes_a_page_below_two_megabytes(monkeypatch):
    monkeypatch.setattr(collect, "_MOST_PIECES", 1 << 16)
    rng = np.random.default_rng(5)
    calls = [rng.integers(1, (9**6, 9**5, 4), (4000, 3)).tolist() for _ in range(40)]
    events = run_of(calls)
    html = page(timeline_of(events))
    assert len(html.encode()) < 2_000_000
    view = timeline_view(timeline_of(events))
    assert sum(len(one.path) for one in view.shapes) < 300_000
    totals = np.sum([lane.times_s for lane in timeline_of(events).lanes], axis=0)
    assert np.allclose(totals, times_of(events).sum(axis=0) / 1e9)


def test_a_page_without_a_timeline_has_no_script():
    html = render_page(page_of(signature_of(SIGNATURE, "made")))
    assert "<script" not in html
    assert "Timeline of the run" not in html


def test_a_timeline_takes_the_place_of_an_earlier_one():
    first = page(made())
    later = with_region(first, "timeline", timeline_view(made(ranks=2)))
    assert data_of(later)["lanes"] == [["0", 400], ["1", 400]]
    assert later == page(made(ranks=2))
