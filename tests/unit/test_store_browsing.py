"""Parts of the runs of a store, in their order."""

from __future__ import annotations

import math
import random

import pytest

from skelgen.errors import InputError
from skelgen.pipeline.known_systems import SystemRows
from skelgen.store import Coupling, Fact, Run, Series, condition, open_store
from skelgen.store.browsing import (
    RunOrder,
    application_names,
    chosen_runs,
    run_names,
    some_runs,
)
from skelgen.store.row_search import find
from skelgen.store.sampling import newest_samples
from tests import postgresql

LACKING = postgresql.lacking()


def made_runs(count=400):
    draw = random.Random(5)
    return [
        Run(
            f"app{at % 3}",
            1.0 + at,
            inputs=(("n", float(at)),),
            started=math.nan if at % 7 == 0 else 1e9 + draw.randrange(50),
            identity=f"run-{at:03}",
        )
        for at in range(count)
    ]


@pytest.fixture(
    params=[
        "sqlite",
        pytest.param(
            "postgresql", marks=pytest.mark.skipif(bool(LACKING), reason=LACKING)
        ),
    ]
)
def store(request, tmp_path):
    if request.param == "sqlite":
        with open_store(str(tmp_path / "store.db")) as found:
            found.add(made_runs())
            yield found
    else:
        with (
            postgresql.server() as server,
            open_store(server.create("browse")) as found,
        ):
            found.add(made_runs())
            yield found


@pytest.mark.parametrize("where", [(), ("n>=100",), ("n>=1000",)])
@pytest.mark.parametrize("application", [None, "app1"])
def test_many_runs_have_the_order_that_few_have(store, where, application):
    conditions = [condition(one) for one in where]
    asked = (store, application, conditions)
    few = run_names(*asked, order=RunOrder())
    assert run_names(*asked, order=RunOrder(), many=True) == few
    parts = [
        one.identity
        for begin in range(0, len(few) + 1, 60)
        for one in some_runs(
            *asked, order=RunOrder(), begin=begin, most=60, total=10**6
        )
    ]
    assert parts == few


def test_names_of_applications_are_those_that_have_runs(store):
    assert application_names(store) == ["app0", "app1", "app2"]
    assert application_names(store) == [one.name for one in store.applications()]


def test_series_are_found_in_either_database(store):
    store.add([Series("n1", "cpu", (1.0, 2.0), (0.5, 0.25))])
    (found,) = newest_samples(store)
    assert (found.host, found.time, found.value) == ("n1", 2.0, 0.25)


def test_a_store_without_runs_has_no_applications(tmp_path):
    with open_store(str(tmp_path / "none.db")) as found:
        assert application_names(found) == []


def test_the_first_of_many_runs_come_from_an_index(tmp_path):
    with open_store(str(tmp_path / "store.db")) as found:
        found.add(made_runs())
        seen = []
        database = found.current()
        ask = database.execute
        database.execute = lambda sql, parameters=(): (
            seen.append((sql, parameters)) or ask(sql, parameters)
        )
        some_runs(found, order=RunOrder(), total=10**6)
        sql, parameters = seen[0]
        plan = " ".join(
            str(row) for row in ask(f"EXPLAIN QUERY PLAN {sql}", parameters)
        )
    assert "runs_by_start" in plan
    assert "TEMP B-TREE" not in plan


def test_a_whole_identity_is_that_row_though_others_begin_so(tmp_path):
    with open_store(str(tmp_path / "store.db")) as found:
        rows = [Run("a", 1.0, identity="ab"), Run("a", 2.0, identity="abc")]
        found.add([*rows, Coupling("a", ("x",), 1.0)])
        assert find(found, "ab")[1].time_s == 1.0
        assert find(found, "abc")[1].time_s == 2.0
        with pytest.raises(InputError, match="ab, abc begin so"):
            find(found, "a")
        (kept,) = found.current().execute("SELECT identity FROM couplings")
        assert isinstance(find(found, kept[0])[1], Coupling)
        assert isinstance(find(found, kept[0][:12])[1], Coupling)


def test_newest_facts_are_the_last_measurements_of_each(tmp_path):
    facts = [
        Fact(host, name, value, "1/s", value, value, cores, 5, measured, "cluster")
        for host, name, cores, measured, value in (
            ("n1", "clock", 1, 1e9, 1.0),
            ("n1", "clock", 1, 3e9, 2.0),
            ("n1", "clock", 1, 2e9, 3.0),
            ("n1", "clock", 2, 1e9, 4.0),
            ("n2", "clock", 1, float("nan"), 5.0),
            ("n2", "clock", 1, 1e9, 6.0),
            ("n3", "clock", 1, float("nan"), 7.0),
        )
    ]
    with open_store(str(tmp_path / "store.db")) as store:
        store.add(facts)
        assert {one.value for one in store.newest_facts()} == {2.0, 4.0, 6.0, 7.0}
        every = SystemRows(tuple(store.facts())).newest()
        assert SystemRows(tuple(store.newest_facts())).newest() == every


@pytest.mark.parametrize("text", ["n>=100", "started>=1000000010", "n>=1000"])
@pytest.mark.parametrize("begin", [0, 50, 390, 1000])
def test_a_part_and_its_total_are_those_of_two_questions(tmp_path, text, begin):
    where = [condition(text)]
    with open_store(str(tmp_path / "store.db")) as store:
        store.add(made_runs())
        found, total = chosen_runs(
            store, None, where, order=RunOrder("time_s"), begin=begin
        )
        assert total == store.count(None, where)
        order = RunOrder("time_s")
        assert found == some_runs(store, None, where, order=order, begin=begin)
