"""The example store that comes with skelgen."""

from __future__ import annotations

import gzip
import math
import time
from pathlib import Path

import pytest

from skelgen import _paths
from skelgen.errors import InputError
from skelgen.models.families import FAMILIES
from skelgen.pipeline.browsing import browse_predictions
from skelgen.pipeline.demonstration import (
    demonstration_store,
    example_rows,
    moved_to,
)
from skelgen.pipeline.model_keep import kept_models, runs_now
from skelgen.store import Coupling, Fact, Message, Run, Series, Template, open_store
from skelgen.store.checking import check_store


@pytest.fixture(scope="module")
def place():
    with demonstration_store() as found:
        yield found


def test_the_file_is_small_and_every_row_of_it_is_kept_once(place):
    assert _paths.demonstration().stat().st_size < 300_000
    kept = check_store(place)
    assert not kept.problems


def test_it_has_rows_of_every_kind(place):
    rows = example_rows()
    kinds = {type(row) for row in rows}
    assert {Run, Fact, Message, Series, Template, Coupling} <= kinds
    systems = {row.system for row in rows if isinstance(row, Fact)}
    assert systems == {"cluster-a", "cluster-b"}
    applications = {row.application for row in rows if isinstance(row, Run)}
    assert {"matrix-product", "kernels", "lammps", "conjugate-gradient"} <= applications


def test_it_has_a_model_of_every_family_that_knows_its_runs(place):
    found = kept_models(place)
    assert {one.model.family for one in found} == set(FAMILIES)
    for one in found:
        runs, same = runs_now(place, one.origin)
        assert same, one.name
        assert runs == one.origin.runs


def test_a_day_of_loads_of_nodes_and_of_a_link_says_that_it_was_drawn(place):
    days = [
        row
        for row in example_rows()
        if isinstance(row, Series) and row.times[-1] - row.times[0] > 23 * 3600
    ]
    assert {row.quantity for row in days} == {"cpu", "bandwidth"}
    assert all("drawn" in row.host for row in days)


def test_predictions_have_truths_by_which_they_are_judged(place):
    records = browse_predictions(place).records
    assert {"model", "whole-events"} <= {one.method for one in records}
    for one in records:
        assert one.happened == one.predictions
        assert 0.5 < one.inside <= 1.0


def test_its_newest_row_is_of_now_and_the_others_keep_their_distance():
    rows = example_rows()
    moved = moved_to(rows, 5e9)
    begun = [
        (old.started, new.started)
        for old, new in zip(rows, moved, strict=True)
        if isinstance(old, Run)
    ]
    assert max(new for _, new in begun) == pytest.approx(5e9, abs=86400.0)
    assert len({round(new - old, 3) for old, new in begun}) == 1
    assert all(math.isfinite(new) for _, new in begun)
    ends = [row.times[-1] for row in moved if isinstance(row, Series)]
    assert max(*ends, *(new for _, new in begun)) <= 5e9


def test_the_store_goes_with_what_was_changed_in_it():
    with demonstration_store() as found:
        assert Path(found).stat().st_mode & 0o777 == 0o600
        with open_store(found) as store:
            store.add([Run("mine", 1.0, started=time.time(), identity="mine")])
            assert store.count("mine") == 1
    assert not Path(found).parent.exists()
    with demonstration_store() as again, open_store(again) as store:
        assert store.count("mine") == 0


@pytest.mark.parametrize(
    "content",
    [b"text", gzip.compress(b'{"row": "none"}'), b""],
    ids=["text", "no row", "empty"],
)
def test_a_damaged_example_is_one_line(tmp_path, monkeypatch, content):
    path = tmp_path / "demonstration.jsonl.gz"
    path.write_bytes(content)
    monkeypatch.setattr(_paths, "demonstration", lambda: path)
    with pytest.raises(InputError, match="install skelgen again") as raised:
        example_rows()
    assert "\n" not in str(raised.value)
