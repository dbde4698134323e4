"""Rows in and out of a store."""

from __future__ import annotations

import math
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skelgen.errors import NoFileError, UsageError
from skelgen.store import (
    Condition,
    Fact,
    Message,
    Run,
    Series,
    StoredPrediction,
    condition,
    open_store,
)
from skelgen.store.kinds import kinds
from skelgen.store.lines import identity_of
from skelgen.store.tables import columns_of, table_of
from skelgen.trust import Interval
from tests.store_rows import ROWS, rows_in, same


@settings(max_examples=60)
@given(ROWS)
def test_every_row_comes_back_from_the_tables(row: object) -> None:
    with (
        tempfile.TemporaryDirectory() as folder,
        open_store(f"{folder}/runs.db") as store,
    ):
        added = store.add([row])
        assert [entry.run for entry in added.added] == [identity_of(row)]
        (found,) = rows_in(store)
        assert same(found, row)
        assert len(store.add([row]).already) == 1
        assert len(rows_in(store)) == 1
        assert store.remove([identity_of(row)]) == 1
        assert rows_in(store) == []


def test_the_tables_have_a_column_for_each_field(tmp_path: Path) -> None:
    with open_store(str(tmp_path / "runs.db")) as store:
        for kind in kinds().values():
            if kind.type is Series:
                continue
            table = table_of(kind)
            names = {
                row[1] for row in store.database.execute(f"PRAGMA table_info({table})")
            }
            fields = {field.name for field in columns_of(kind)}
            assert names == fields | {"identity", "seal"}


def test_runs_are_chosen_by_application_inputs_and_fields(tmp_path: Path) -> None:
    runs = [
        Run(
            "a" if n % 2 else "b",
            float(n),
            ranks=n,
            inputs=(("mode", "fast" if n > 5 else "50%_slow"), ("n", 100.0 * n)),
            hosts=(f"n{n}", "n_0"),
            started=1000.0 - n,
            source=f"line {n}",
        )
        for n in range(10)
    ]
    with open_store(str(tmp_path / "runs.db")) as store:
        store.add(runs)

        def times(application: str | None, *where: str) -> list[float]:
            conditions = [condition(text) for text in where]
            found = [run.time_s for run in store.runs(application, conditions)]
            assert store.count(application, conditions) == len(found)
            return found

        assert times("a") == [9, 7, 5, 3, 1]
        assert times("a", "n>=500") == [9, 7, 5]
        assert times(None, "n>=500", "ranks!=7", "time_s<9") == [8, 6, 5]
        assert times(None, "mode=fast") == [9, 8, 7, 6]
        assert times(None, "mode!=fast", "n>300") == [5, 4]
        assert times(None, "host=n3") == [3]
        assert times(None, "host=n%") == []
        assert times("b", "host!=n_0") == []
        assert times(None, "source = line 2") == [2]
        assert times(None, "input.n=0") == [0]
        assert times(None, "load.n=0") == []
        assert [run.time_s for run in store.runs(limit=2)] == [1, 0]


def test_a_condition_that_is_none_is_refused() -> None:
    assert condition("n<=1e3") == Condition("n", "<=", 1000.0)
    for text in ("n", "=3", "n>", "n>many", "", "n>=nan", "status>3", "host<n1"):
        with pytest.raises(UsageError, match="read the condition"):
            condition(text)


@pytest.mark.parametrize(
    ("text", "count"),
    [
        *(("id=12e4", 1), ("allocation=007", 1), ("allocation=7", 0), ("host=1e3", 1)),
        *(("id=1e400", 0), ("host=nan", 0), ("status!=inf", 1), ("mesh=nan", 0)),
    ],
)
def test_a_word_that_looks_like_a_number_stays_a_word(
    tmp_path: Path, text: str, count: int
) -> None:
    with open_store(str(tmp_path / "s.db")) as store:
        store.add([Run("a", 1.0, allocation="007", hosts=("1e3",), identity="12e4")])
        assert store.count(where=[condition(text)]) == count


def test_a_condition_never_becomes_sql(tmp_path: Path) -> None:
    with open_store(str(tmp_path / "runs.db")) as store:
        store.add([Run("a'; DROP TABLE runs; --", 1.0)])
        assert store.runs("a'; DROP TABLE runs; --", [Condition("x'", "=", "'")]) == []
        with pytest.raises(UsageError, match="expected <="):
            store.runs(None, [Condition("n", "= 1 OR 1 =", 1.0)])
        with pytest.raises(UsageError, match="expected a number"):
            store.runs(None, [Condition("ranks", "=", "many")])
        assert len(store.runs()) == 1


def test_runs_without_a_start_come_last(tmp_path: Path) -> None:
    with open_store(str(tmp_path / "runs.db")) as store:
        store.add(
            [Run("a", 1.0), Run("a", 2.0, started=5.0), Run("a", 3.0, started=2.0)]
        )
        assert [run.time_s for run in store.runs()] == [3, 2, 1]
        (about,) = store.applications()
        assert (about.name, about.runs, about.last) == ("a", 3, 5.0)


def test_series_of_one_host_are_joined_and_cut(tmp_path: Path) -> None:
    with open_store(str(tmp_path / "runs.db")) as store:
        store.add([Series("n1", "cpu", (1.0, 3.0), (0.1, math.nan))])
        overlap = Series("n1", "cpu", (2.0, 3.0, 4.0), (0.2, 0.9, 0.4))
        assert (
            len(store.add([overlap, Series("n1", "memory", (1.0,), (5.0,))]).added) == 2
        )
        assert len(store.add([overlap]).already) == 1
        (cpu,) = store.series("n1", "cpu")
        assert cpu.times == (1.0, 2.0, 3.0, 4.0)
        assert same(cpu.values, (0.1, 0.2, math.nan, 0.4))
        (part,) = store.series("n1", "cpu", begin=2.0, end=3.0)
        assert part.times == (2.0, 3.0)
        assert store.series("n2") == []


def test_other_rows_are_chosen_by_what_they_are_of(tmp_path: Path) -> None:
    interval = Interval(1.0, 2.0, 3.0)
    with open_store(str(tmp_path / "runs.db")) as store:
        store.add(
            [
                Fact("n1", "float", 1.0, "1/s", 1.0, 1.0, measured=2.0),
                Fact("n1", "float", 2.0, "1/s", 2.0, 2.0, measured=1.0),
                Fact("n2", "integer", 3.0, "1/s", 3.0, 3.0),
                Message(("n1", "n2"), "SR", 2, 1e-6, 1e9),
                StoredPrediction("skeleton", "a", interval, 5.0),
                StoredPrediction("model", "a", interval, 4.0),
            ]
        )
        assert [fact.value for fact in store.facts("n1")] == [2.0, 1.0]
        assert [fact.value for fact in store.facts(name="integer")] == [3.0]
        assert len(store.messages("n2", "SR")) == 1
        assert store.messages("n3") == store.messages(operation="BC") == []
        assert [one.made for one in store.predictions("a")] == [4.0, 5.0]
        assert len(store.predictions(method="model")) == 1


def test_rows_that_cannot_be_kept_do_not_keep_others_out(tmp_path: Path) -> None:
    with open_store(str(tmp_path / "runs.db")) as store:
        added = store.add([Run("a", math.inf, source="line 1"), Run("b", 1.0)])
        assert len(added.added) == 1
        (refused,) = added.refused
        assert refused.source == "line 1"
        assert "finite" in refused.reason
        assert store.add([]).added == ()


def test_no_store_is_made_by_who_only_reads(tmp_path: Path) -> None:
    with pytest.raises(NoFileError, match="there is no store yet"):
        open_store(str(tmp_path / "runs.db"), make=False)
    assert list(tmp_path.iterdir()) == []


@given(st.text(max_size=20))
def test_any_text_is_a_condition_or_refused(text: str) -> None:
    try:
        condition(text)
    except UsageError as error:
        assert str(error)


def test_a_reader_sees_no_run_without_its_inputs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = str(tmp_path / "runs.db")
    with open_store(place) as store, open_store(place) as other:
        execute = store.database.execute

        def meanwhile(sql: str, parameters: Sequence[Any] = ()) -> list[Any]:
            found = execute(sql, parameters)
            if "FROM run_values" in sql:
                other.add([Run("a", 1.0, inputs=(("n", 1.0),))])
            return found

        monkeypatch.setattr(store.database, "execute", meanwhile)
        assert store.runs() == []
        monkeypatch.undo()
        assert [run.inputs for run in store.runs()] == [(("n", 1.0),)]
