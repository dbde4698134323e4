"""Occurrences that are much longer than others of their leaf are kept one by one."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from skelgen.errors import InputError
from skelgen.signature import long_occurrences as module
from skelgen.signature import spread as spread_module
from skelgen.signature.join import joined
from skelgen.signature.long_occurrences import long_occurrences
from skelgen.signature.spread import sampled_positions, spread_of
from skelgen.signature.store import load, save
from skelgen.signature.thresholds import LEAST_LONG_SHARE
from tests.builders import events, rarely_long
from tests.summaries import assert_same, build

#: So many samples have the leaves of these tests: others are known.
SAMPLES = 3
#: Most are short, few long.
times = st.one_of(st.integers(0, 100), st.integers(10_000, 10**9))
values_at_leaves = st.lists(
    st.tuples(st.integers(0, 2), times, times), min_size=1, max_size=60
)


def found_of(leaf, values, ranks=2):
    """Find those of some ranks."""
    leaves = int(leaf.max()) + 1
    count = np.bincount(leaf, minlength=leaves)
    sampled = sampled_positions(leaf, count, SAMPLES)
    spread = spread_of(leaf, leaves, values, sampled)
    return long_occurrences(leaf, count, spread, values, ranks)


def plainly(leaf, values):
    """Find them one by one."""
    rows = []
    for rank, of_rank in enumerate(values):
        for one in np.unique(leaf).tolist():
            own = of_rank[leaf == one]
            if len(own) > SAMPLES:
                limit = own.mean() + LEAST_LONG_SHARE * of_rank.sum()
                at = np.flatnonzero(own > limit).tolist()
                rows += [(one, rank, turn, float(own[turn])) for turn in at]
    return sorted(rows, key=lambda row: (row[0], row[2], row[1]))


@given(values_at_leaves)
def test_those_are_found_that_are_much_longer_than_the_mean(rows):
    rows = [*((leaf, 1, 1) for leaf in range(3)), *rows]
    leaf = np.array([row[0] for row in rows], np.int32)
    values = [np.array([row[1 + rank] for row in rows], np.int64) for rank in (0, 1)]
    assert found_of(leaf, values).tolist() == plainly(leaf, values)


def test_they_are_counted_from_one_block_to_the_next(monkeypatch):
    monkeypatch.setattr(spread_module, "_BLOCK", 7)
    leaf = np.tile(np.arange(2, dtype=np.int32), 40)
    values = np.ones(80, np.int64)
    values[[11, 50, 77]] = 1000
    expected = [(0, 0, 25, 1000.0), (1, 0, 5, 1000.0), (1, 0, 38, 1000.0)]
    assert found_of(leaf, [values], ranks=1).tolist() == expected


def test_of_very_many_the_longest_are_kept(monkeypatch):
    monkeypatch.setattr(module, "MOST_LONG_OCCURRENCES", 6)
    leaf = np.zeros(200, np.int32)
    values = np.ones(200, np.int64)
    values[::20] = np.arange(10) * 100 + 10_000
    kept = found_of(leaf, [values, values], ranks=2)
    assert sorted(kept["occurrence"].tolist()) == [140, 140, 160, 160, 180, 180]


def test_they_come_back_from_a_file(tmp_path):
    signature = build(events(rarely_long())).signature
    (group,) = signature.groups
    assert group.long_occurrences["occurrence"].tolist() == [7, 7, 50, 50, 110, 110]
    path = save(signature, tmp_path / "one.yaml")
    assert_same(load(path), signature)
    text = path.read_text()
    text = text[text.index("\n") + 1 :]
    line = "    0 0 7 900000\n"
    assert line in text
    for wrong in (
        "    0 0 7\n",
        "    1 0 7 900000\n",
        "    0 2 7 900000\n",
        "    0 0 120 900000\n",
        "    0 0 7 -1\n",
        "    0 0 7 nan\n",
        line + line,
        "    0 0 60 900000\n",
    ):
        path.write_text(text.replace(line, wrong))
        with pytest.raises(InputError, match="long_ns"):
            load(path)


def test_parts_of_a_group_have_those_of_the_whole():
    both = build(events(rarely_long())).signature
    (part,) = build(events(rarely_long(1))).signature.groups
    (whole,) = both.groups
    rows = joined([part, part]).long_occurrences
    assert rows.tolist() == whole.long_occurrences.tolist()
