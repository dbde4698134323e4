"""What a store says of its predictions, read while others add to it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skelgen.store import Run, StoredPrediction, open_store, outcomes, tables
from skelgen.store.database import DamagedError
from skelgen.store.pairing import paired
from tests.unit.test_store_pairing import MADE, PREDICTION, RUN

HOSTS = st.sampled_from([(), ("n1",), ("n1", "n2"), ("n2.x", "n1.x"), ("n1.y", "n2")])
INPUTS = st.sampled_from([(), (("n", 2000.0),), (("n", 1.0), ("mesh", "fine"))])
TIMES = st.one_of(st.floats(MADE - 50, MADE + 400), st.just(float("nan")))
RUNS = st.builds(
    lambda at, added, hosts, inputs, ranks, status, name: replace(
        RUN,
        added=added,
        application=name,
        started=at,
        hosts=hosts,
        inputs=inputs,
        ranks=ranks,
        status=status,
    ),
    TIMES,
    TIMES,
    HOSTS,
    INPUTS,
    st.sampled_from([0, 4, 8]),
    st.sampled_from(["ok", "exit 1"]),
    st.sampled_from(["cfd", "heat"]),
)
PREDICTIONS = st.builds(
    lambda made, hosts, inputs, ranks, name, known: replace(
        PREDICTION,
        application=name,
        made=made,
        hosts=hosts,
        inputs=inputs,
        ranks=ranks,
        truth=known,
    ),
    st.floats(MADE, MADE + 200),
    HOSTS,
    INPUTS,
    st.sampled_from([0, 8]),
    st.sampled_from(["cfd", "heat"]),
    st.sampled_from(["", "", "known"]),
)


def numbered(rows: list) -> list:
    return [replace(one, identity=f"{n:03d}") for n, one in enumerate(rows)]


@given(st.lists(RUNS, max_size=8), st.lists(PREDICTIONS, max_size=4))
def test_a_store_pairs_as_all_its_rows_do(tmp_path_factory, runs, predictions):
    runs, predictions = numbered(runs), numbered(predictions)
    place = tmp_path_factory.mktemp("store") / "runs.db"
    with open_store(str(place)) as store:
        store.add([*runs, *predictions])
        found = outcomes.past_predictions(store, within_s=150.0)
        expected = paired(store.predictions(), store.runs(), within_s=150.0)
        assert repr(found) == repr(expected)
        for name in ("cfd", "heat"):
            one = outcomes.past_predictions(store, name, within_s=150.0)
            assert repr(one) == repr([x for x in expected if x.application == name])


@pytest.mark.parametrize(
    ("sql", "named"),
    [
        ("UPDATE runs SET hosts = '[1'", "runs, hosts: read"),
        ("UPDATE runs SET time_s = 'x'", "runs: read"),
        ("UPDATE run_values SET name = x'ff'", "run_values: read"),
    ],
)
def test_damage_is_named(tmp_path: Path, sql: str, named: str):
    with open_store(str(tmp_path / "runs.db")) as store:
        store.add([RUN, PREDICTION])
        store.database.execute(sql)
        with pytest.raises(DamagedError, match=f"table {named}"):
            outcomes.past_predictions(store)


def added_meanwhile(place: str, monkeypatch: pytest.MonkeyPatch) -> list[Run]:
    """Read runs while another one comes between the statements of the reader."""
    parts_of_runs = tables._parts_of_runs
    with open_store(place) as reader, open_store(place) as writer:
        reader.add([RUN])

        def slowly(*words):
            found = parts_of_runs(*words)
            writer.add([replace(RUN, identity="meanwhile")])
            return found

        monkeypatch.setattr(tables, "_parts_of_runs", slowly)
        return reader.runs()


def test_a_run_that_comes_meanwhile_is_whole_or_not_there(tmp_path, monkeypatch):
    (only,) = added_meanwhile(str(tmp_path / "runs.db"), monkeypatch)
    assert only.inputs == RUN.inputs
    with open_store(str(tmp_path / "runs.db")) as store:
        assert store.count() == 2


def truth_of(place: str, monkeypatch: pytest.MonkeyPatch) -> StoredPrediction:
    """Ask what happened while a run comes between the statements that read runs."""
    inputs_of = outcomes._inputs
    with open_store(place) as reader, open_store(place) as writer:
        reader.add([PREDICTION, replace(RUN, started=MADE + 70)])

        def slowly(*words):
            writer.add([replace(RUN, identity="meanwhile", started=MADE + 1)])
            return inputs_of(*words)

        monkeypatch.setattr(outcomes, "_inputs", slowly)
        (found,) = outcomes.past_predictions(reader)
        return found


def test_a_truth_that_comes_meanwhile_counts_the_next_time(tmp_path, monkeypatch):
    place = str(tmp_path / "runs.db")
    assert truth_of(place, monkeypatch).truth == RUN.identity
    monkeypatch.undo()
    with open_store(place) as store:
        (found,) = outcomes.past_predictions(store)
    assert found.truth == "meanwhile"
