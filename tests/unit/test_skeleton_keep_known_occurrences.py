"""Rows stand for occurrences whose computation is known, or for many of a leaf."""

from __future__ import annotations

import numpy as np
import pytest

from skelgen.skeleton.keep.alike_occurrences import alike_occurrences
from skelgen.skeleton.keep.expansion import expand
from skelgen.skeleton.keep.known_occurrences import KnownOccurrences
from skelgen.skeleton.keep.merged_leaves import merged_leaves
from tests.builders import events, rarely_long
from tests.summaries import build

LONG = (7, 50, 110)


def signature_of_both():
    """Return one with a leaf that is known, and one with three long occurrences."""
    return build(events(rarely_long(before="20 Barrier"))).signature


def test_long_occurrences_have_rows_of_their_own() -> None:
    (group,) = signature_of_both().groups
    rows = KnownOccurrences.of(group)
    assert rows.leaf.tolist() == [0, 1, 1, 1, 1]
    assert rows.turn.tolist() == [0, -1, *LONG]
    assert rows.often.tolist() == [1, 117, 1, 1, 1]
    compute_ns, squares = rows.computation(group)
    assert compute_ns[:, 0].tolist() == [20, 1000, 900_000, 900_000, 900_000]
    assert squares[:, 0] == pytest.approx([400, 117e6, *[81e10] * 3])


def test_positions_have_the_row_of_their_occurrence() -> None:
    (group,) = signature_of_both().groups
    rows = KnownOccurrences.of(group)
    leaf = np.array([0] + [1] * 120, np.int32)
    expected = np.ones(121, np.int64)
    expected[0] = 0
    expected[[1 + turn for turn in LONG]] = [2, 3, 4]
    assert rows.at(leaf).tolist() == expected.tolist()


def test_merged_leaves_keep_all_computation_and_have_the_long_ones_apart() -> None:
    signature = signature_of_both()
    alike = alike_occurrences(signature, 100)
    merged, _ = merged_leaves(signature, expand(signature, 0.5), alike)
    (group,), (before,) = merged.groups, signature.groups
    assert group.compute_ns.total.sum() == pytest.approx(before.compute_ns.total.sum())
    assert group.compute_ns.squares.sum() == pytest.approx(
        before.compute_ns.squares.sum()
    )
    assert group.count.sum() == before.count.sum()
    assert not len(group.long_occurrences)
