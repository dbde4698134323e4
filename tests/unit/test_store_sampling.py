"""Series in short: the database averages them, gaps stay gaps."""

from __future__ import annotations

import math

import pytest

from skelgen.errors import InputError
from skelgen.store import Series, open_store
from skelgen.store.sampling import known_series, newest_samples, short_series

BEGIN = 1.7e9


@pytest.fixture
def store(tmp_path):
    with open_store(str(tmp_path / "store.db")) as found:
        yield found


def add(store, host: str, quantity: str, times, values) -> None:
    moments = tuple(BEGIN + one for one in times)
    store.add([Series(host, quantity, moments, tuple(values))])


def test_each_series_is_named_with_its_newest_sample(store):
    assert newest_samples(store) == []
    for host in ("n2", "n1", "n1-n2"):
        for quantity in ("cpu", "bandwidth"):
            add(store, host, quantity, (0.0, 10.0), (0.5, float(len(host))))
    found = newest_samples(store)
    assert [(one.quantity, one.host) for one in found] == [
        (quantity, host)
        for quantity in ("bandwidth", "cpu")
        for host in ("n1", "n1-n2", "n2")
    ]
    assert {one.time for one in found} == {BEGIN + 10.0}
    assert [one.value for one in found] == [2.0, 5.0, 2.0] * 2


def test_bins_average_what_is_within_them(store):
    times = [10.0 * at + 1 for at in range(60)]
    add(store, "n1", "cpu", times, [at / 60 for at in range(60)])
    found = short_series(store, "n1", "cpu", BEGIN, BEGIN + 600, 10)
    assert [one.count for one in found.bins] == [6] * 10
    first = found.bins[0]
    assert (first.first, first.last) == (BEGIN + 1, BEGIN + 51)
    assert (first.low, first.high) == (0.0, pytest.approx(5 / 60))
    assert first.mean == pytest.approx(2.5 / 60)
    assert found.mean == pytest.approx(29.5 / 60)
    assert found.interval_s == pytest.approx(10.0)
    assert len(found.pieces()) == 1
    assert found.known(BEGIN, BEGIN + 600) == pytest.approx(591 / 600)


def test_a_gap_divides_a_series_and_is_not_known(store):
    times = [10.0 * at for at in range(61) if not 20 < at < 40]
    add(store, "n1", "cpu", times, [0.5] * len(times))
    found = short_series(store, "n1", "cpu", BEGIN, BEGIN + 600, 60)
    assert len(found.pieces()) == 2
    assert found.known(BEGIN, BEGIN + 600) == pytest.approx(410 / 600)


def test_rare_samples_are_no_gaps(store):
    times = [120.0 * at for at in range(10)]
    add(store, "n1-n2", "bandwidth", times, [0.5] * 10)
    found = short_series(store, "n1-n2", "bandwidth", BEGIN, BEGIN + 1200, 120)
    assert len(found.pieces()) == 1


def test_a_value_that_is_not_known_is_no_sample(store):
    add(store, "n1", "cpu", (0.0, 10.0, 20.0), (0.5, math.nan, 0.7))
    found = short_series(store, "n1", "cpu", BEGIN, BEGIN + 60, 1)
    assert [(one.count, one.mean) for one in found.bins] == [(2, pytest.approx(0.6))]


def test_a_series_that_is_not_there_is_empty(store):
    found = short_series(store, "none", "cpu", BEGIN, BEGIN + 60, 10)
    assert found.bins == ()
    assert found.pieces() == []
    assert found.known(BEGIN, BEGIN + 60) == 0.0
    assert math.isnan(found.mean)


def test_only_those_that_there_are_are_read(store):
    add(store, "n1-n2", "bandwidth", (0.0, 10.0), (0.5, 0.6))
    add(store, "n1-n2", "latency_s", (0.0,), (0.5,))
    names = [f"n{one}-n{other}" for one in range(9) for other in range(9)]
    (found,) = known_series(store, names, "bandwidth", BEGIN + 5, None)
    assert (found.host, found.values) == ("n1-n2", (0.6,))


def test_damage_is_named(store):
    add(store, "n1", "cpu", (0.0, 10.0), (0.5, 0.6))
    with store.database.transaction():
        store.database.execute("UPDATE samples SET value = 'x' WHERE time > ?", [BEGIN])
    with pytest.raises(InputError, match="samples"):
        short_series(store, "n1", "cpu", BEGIN, BEGIN + 60, 1)
    with pytest.raises(InputError, match="samples"):
        newest_samples(store)
