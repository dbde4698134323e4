"""The communication matrix as a picture and a table, for few ranks and thousands."""

from __future__ import annotations

import re

import numpy as np
import pytest

from skelgen.web.matrix_picture import MatrixView, matrix_view
from skelgen.web.page import page_of
from skelgen.web.rank_blocks import blocks_of_ranks, blocks_of_signature
from skelgen.web.render import render_page
from tests.golden.rewrite import signature_of

SENDS = """
ranks 4
rank 0
  repeat 5 {
    10 Send to=1 tag=1 bytes=1024
  }
  10 Send to=2 tag=2 bytes=0
rank 1
  repeat 5 {
    10 Recv from=0 tag=1 bytes=1024
  }
  10 Send to=3 tag=1 bytes=1048576
rank 2
  10 Recv from=0 tag=2 bytes=0
rank 3
  10 Recv from=1 tag=1 bytes=1048576
"""


def view_of(size_bytes: np.ndarray, messages: np.ndarray | None = None) -> MatrixView:
    found = matrix_view(
        blocks_of_ranks(
            size_bytes,
            (size_bytes > 0).astype(np.uint32) if messages is None else messages,
        )
    )
    assert found is not None
    return found


def cells_of(view: MatrixView) -> int:
    paths = "".join(one.path for one in view.shades)
    return sum(map(int, re.findall(r"h(\d+)v", paths)))


def test_bytes_and_messages_of_a_signature_are_those_of_its_calls() -> None:
    found = blocks_of_signature(signature_of(SENDS, "made"))
    messages = np.zeros((4, 4))
    messages[0, 1], messages[0, 2], messages[1, 3] = 5, 1, 1
    size_bytes = np.zeros((4, 4))
    size_bytes[0, 1], size_bytes[1, 3] = 5 * 1024, 1 << 20
    assert np.array_equal(found.messages, messages)
    assert np.array_equal(found.size_bytes, size_bytes)


def test_shades_are_steps_of_the_logarithm_and_the_table_has_the_numbers() -> None:
    found = matrix_view(blocks_of_signature(signature_of(SENDS, "made")))
    assert found is not None
    assert [one.path for one in found.shades] == [
        "M2 0h1v1h-1z",
        "M1 0h1v1h-1z",
        "M3 1h1v1h-1z",
    ]
    assert found.shades[0].words == "messages without bytes"
    assert found.shades[1].opacity < found.shades[2].opacity == 1
    assert [(one.sender, one.receiver, one.messages) for one in found.pairs] == [
        ("1", "3", "1"),
        ("0", "1", "5"),
        ("0", "2", "1"),
    ]
    assert (found.each, found.hidden) == (1, "")


def test_cells_with_the_same_bytes_have_one_shade() -> None:
    found = view_of(np.full((3, 3), 64.0))
    assert [one.opacity for one in found.shades] == [1.0]
    assert cells_of(found) == 9


def test_nothing_sent_has_no_picture_and_neither_has_a_run_without_a_matrix() -> None:
    none = np.zeros((4, 4))
    assert matrix_view(blocks_of_ranks(none, none.astype(np.uint32))) is None
    none = np.zeros((0, 0))
    assert matrix_view(blocks_of_ranks(none, none.astype(np.uint32))) is None


@pytest.mark.parametrize(("ranks", "each"), [(2, 1), (129, 2), (1000, 8), (4096, 32)])
def test_ranks_are_joined_and_no_byte_or_message_is_lost(ranks: int, each: int) -> None:
    size_bytes = np.zeros((ranks, ranks))
    at = np.arange(ranks)
    size_bytes[at, (at + 1) % ranks] = 100.0
    messages = 3 * (size_bytes > 0).astype(np.uint32)
    blocks = blocks_of_ranks(size_bytes, messages)
    assert blocks.each == each
    assert blocks.size_bytes.sum() == 100 * ranks
    assert blocks.messages.sum() == 3 * ranks
    found = view_of(size_bytes, messages)
    assert found.cells == -(-ranks // each) <= 128
    assert cells_of(found) == int(np.count_nonzero(blocks.messages))


def test_the_worst_matrix_stays_small_and_says_what_its_table_leaves_out() -> None:
    rng = np.random.default_rng(1)
    found = view_of(np.exp(rng.uniform(0, 30, (128, 128))))
    assert sum(len(one.path) for one in found.shades) < 300_000
    assert len(found.pairs) == 100
    assert found.hidden.startswith("16,284 further pairs, with ")


def test_the_page_says_how_many_ranks_a_cell_has() -> None:
    ranks = 300
    text = f"""
    ranks {ranks}
    rank *
      10 Isend to=+1 tag=1 bytes=8 as=a
      10 Irecv from=-1 tag=1 bytes=8 as=b
      10 Waitall of=a,b
    """
    html = render_page(page_of(signature_of(text, "ring")))
    assert "A cell has 4 × 4 ranks." in html
    assert "<td>0–3</td><td>0–3</td>" in html
