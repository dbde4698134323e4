"""The page shows the structure, the times and the messages of a signature."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np

from skelgen.skeleton.plan import plan
from skelgen.web import Comparison, Shares, page_of, render_page
from skelgen.web.pictures import communication_matrix, dominant_loop
from skelgen.web.tree import MOST_ROWS, rows_of
from tests.golden.rewrite import signature_of

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
    assert np.array_equal(communication_matrix(signature), expected)


def test_partners_that_vary_are_counted_where_they_were() -> None:
    signature = signature_of(golden("master_worker"), "master_worker")
    matrix = communication_matrix(signature)
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


def test_a_huge_nest_is_cut_with_a_line_that_says_so() -> None:
    lines = ["ranks 2", "rank *"]
    lines += [f"  10 Barrier site={i}" for i in range(MOST_ROWS + 500)]
    signature = signature_of("\n".join(lines), "long")
    rows = rows_of(signature, signature.groups[0])
    assert len(rows) == MOST_ROWS + 1
    assert rows[-1].count == "500 more items"
