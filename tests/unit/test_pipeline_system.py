"""Systems in files and stores: what is kept, the newest, comparisons."""

from __future__ import annotations

import json
import math
import random
import stat
from pathlib import Path

import pytest

from skelgen.errors import InputError, NoFileError, SkelgenError, UsageError
from skelgen.pipeline import system
from skelgen.pipeline.known_systems import (
    SystemRows,
    chosen,
    compare_systems,
    known_systems,
    read_rows,
    write_rows,
)
from skelgen.pipeline.known_systems import known_systems as run_known_systems
from skelgen.pipeline.system import measure_system
from skelgen.store import Fact, Message, open_store
from tests.unit.test_systems_program_output import (
    HOST,
    MEMORY,
    MESSAGE,
    RATE,
    TIME,
    text,
)
from tests.unit.test_systems_running import Answers


def fact(name="integer_add", value=2.0, **more) -> Fact:
    known = {
        "host": "n1", "unit": "1/s", "low": value - 0.5, "high": value + 0.5,
        "cores": 1, "measured": 1e9,
    }  # fmt: skip
    return Fact(name=name, value=value, **{**known, **more})


def message(hosts=("n1",), latency=1e-6, **more) -> Message:
    known = {
        "operation": "SR", "ranks": 2, "spread": 0.1, "measured": 1e9,
        "bandwidth_bytes_per_s": 1e9,
    }  # fmt: skip
    return Message(hosts, latency_s=latency, **{**known, **more})


ROWS = SystemRows(
    (
        fact(),
        fact("read_16mib", 9e9, unit="bytes/s", doubt="busy: yes"),
        fact(host="n2", system="big"),
    ),
    (
        message(knees=((0, 1e-6, 1e9), (4096, -1e-6, 2e9)), points=((0, 1e-6),)),
        message(("n1", "n2"), operation="barrier", bandwidth_bytes_per_s=math.nan),
    ),
)


def same(first: SystemRows, second: SystemRows) -> bool:
    return repr(first) == repr(second)  # nan equals nan


def test_a_file_gives_back_what_was_written_and_is_private(tmp_path: Path) -> None:
    path = tmp_path / "new" / "system.json"
    write_rows(ROWS, path, force=False)
    assert same(read_rows(path), ROWS)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    with pytest.raises(UsageError, match="--force"):
        write_rows(ROWS, path, force=False)
    write_rows(SystemRows(), path, force=True)
    assert read_rows(path) == SystemRows()


def test_a_file_of_somebody_else_is_never_replaced(tmp_path: Path) -> None:
    path = tmp_path / "notes.json"
    path.write_text('{"kind": "mine"}')
    with pytest.raises(UsageError, match="is no such file that skelgen wrote"):
        write_rows(ROWS, path, force=True)
    assert path.read_text() == '{"kind": "mine"}'


def test_a_store_gives_back_what_was_added(tmp_path: Path) -> None:
    place = str(tmp_path / "store.db")
    with open_store(place) as opened:
        assert len(opened.add(ROWS.rows).added) == len(ROWS.rows)
        assert not opened.add(ROWS.rows).added
    assert same(known_systems(store=place), ROWS.newest())


@pytest.mark.parametrize(
    ("content", "told"),
    [
        ("", "is not JSON"),
        ("[]", "expected a mapping"),
        ('{"kind": "skelgen run"}', "is no file of skelgen system measure -o"),
        ('{"kind": "skelgen system", "format": 2, "rows": []}', "read 2, expected 1"),
        ('{"kind": "skelgen system", "format": 1}', "'rows' is missing"),
        (
            '{"kind": "skelgen system", "format": 1, "rows": [{"row": "fact"}]}',
            r"rows\[0\].*'host' is missing",
        ),
        (
            '{"kind": "skelgen system", "format": 1, "rows": '
            '[{"row": "template", "name": "a", "application": "b", "formula": "1"}]}',
            "rows of other kinds than fact and message",
        ),
    ],
)
def test_a_file_that_is_none_is_told(tmp_path: Path, content: str, told: str) -> None:
    path = tmp_path / "system.json"
    path.write_text(content)
    with pytest.raises(InputError, match=told):
        known_systems([path])


def test_a_damaged_file_is_told_and_never_crashes(tmp_path: Path) -> None:
    path = tmp_path / "system.json"
    write_rows(ROWS, path, force=False)
    whole, generator = path.read_bytes(), random.Random(4)
    for _ in range(300):
        damaged = bytearray(whole)
        at = generator.randrange(len(damaged))
        damaged[at] = (damaged[at] + generator.randrange(1, 256)) % 256
        path.write_bytes(damaged)
        try:
            assert same(read_rows(path), ROWS)  # white space
        except SkelgenError as error:
            assert "\n" not in str(error)


def test_without_a_store_it_is_said_what_makes_one(tmp_path: Path) -> None:
    with pytest.raises(NoFileError, match="skelgen system measure makes some"):
        known_systems(store=str(tmp_path / "none.db"))


def test_the_newest_of_each_value_counts_and_they_have_an_order() -> None:
    facts = (
        fact("read_16mib"), fact("read_4kib"), fact("moon"), fact("cache_1"),
        fact(value=3.0, measured=2e9), fact(value=1.0), fact(measured=math.nan),
        fact(cores=2), fact("cores", host="n0"),
    )  # fmt: skip
    messages = (
        message(operation="BC", measured=1.0, latency=5.0), message(("a", "b")),
        message(operation="BC", measured=2.0, latency=6.0), message(ranks=4), message(),
    )  # fmt: skip
    found = SystemRows(facts, messages).newest()
    assert [(one.name, one.cores, one.value) for one in found.facts] == [
        ("cores", 1, 2.0),
        ("integer_add", 1, 3.0),
        ("integer_add", 2, 2.0),
        ("cache_1", 1, 2.0),
        ("read_4kib", 1, 2.0),
        ("read_16mib", 1, 2.0),
        ("moon", 1, 2.0),
    ]
    assert [(one.operation, one.ranks, one.hosts) for one in found.messages] == [
        ("SR", 2, ("n1",)),
        ("SR", 4, ("n1",)),
        ("BC", 2, ("n1",)),
        ("SR", 2, ("a", "b")),
    ]
    assert found.messages[2].latency_s == 6.0
    assert found.measured == 2e9


def test_a_name_is_a_host_or_a_system() -> None:
    assert chosen(ROWS, "n1").hosts == ["n1"]
    assert len(chosen(ROWS, "n1").messages) == 2
    assert chosen(ROWS, "big").hosts == ["n2"]
    with pytest.raises(UsageError, match=r"nothing was measured of 'n9'.*n1, n2"):
        chosen(ROWS, "n9")


def test_values_differ_when_their_ranges_do_not_overlap() -> None:
    first = SystemRows(
        (fact(value=4.0), fact("cores", 4.0, low=4.0, high=4.0)), (message(),)
    )
    second = SystemRows(
        (fact(value=4.8), fact("cores", 8.0, low=8.0, high=8.0), fact("clock")),
        (message(latency=2e-6),),
    )
    found = {one.name: one for one in compare_systems(first, second)}
    assert set(found) == {
        "integer_add", "cores", "SR inside hosts, latency",
        "SR inside hosts, bandwidth",
    }  # fmt: skip
    assert found["integer_add"].ratio == pytest.approx(1.2)
    assert not found["integer_add"].differs
    assert (found["cores"].ratio, found["cores"].differs) == (2.0, True)
    assert found["SR inside hosts, latency"].differs
    assert not found["SR inside hosts, bandwidth"].differs


def test_a_system_is_compared_by_the_median_of_its_hosts() -> None:
    first = SystemRows(tuple(fact(host=f"n{n}", value=n) for n in (1.0, 2.0, 9.0)))
    (one,) = compare_systems(first, SystemRows((fact(value=4.0),)))
    assert (one.first, one.second, one.differs) == (2.0, 4.0, False)


@pytest.fixture
def measured(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Answers:
    """Put in place of hosts what they print."""
    answers = Answers(
        [json.dumps(HOST), text(HOST, RATE, MEMORY, MESSAGE), *[json.dumps(TIME)] * 5]
    )
    monkeypatch.setenv("SKELGEN_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(system, "find_mpi", lambda kind: None)
    monkeypatch.setattr(system, "launcher_of", lambda mpi: None)
    monkeypatch.setattr(
        "skelgen.pipeline.system.measuring_program", lambda mpi: Path("measure")
    )
    monkeypatch.setattr(
        "skelgen.launch.launch_method.Through.runner",
        lambda self, launcher, folder: answers,
    )
    return answers


def test_what_was_measured_is_kept_in_the_store(
    measured: Answers, tmp_path: Path
) -> None:
    place = str(tmp_path / "store.db")
    found = measure_system(
        [], budget_s=30, system="big", benchmark=["./bt.A"], store=place
    )
    assert found.kept == place and found.added is not None
    assert len(found.added.added) == len(found.rows.rows)
    kept = run_known_systems(store=place)
    assert same(kept, found.rows)
    names = {one.name for one in kept.facts}
    assert {"integer_add", "read_4kib", "platform_contribution:bt.A", "cores"} <= names
    assert {one.system for one in kept.rows} == {"big"}
    assert all(one.measured > 1e9 for one in kept.rows)
    (one,) = kept.messages
    assert (one.operation, one.eager_bytes, one.points) == ("SR", 4096, ((8, 1e-6),))


def test_a_file_that_may_not_be_replaced_is_told_before_anything_is_measured(
    measured: Answers, tmp_path: Path
) -> None:
    path = tmp_path / "system.json"
    write_rows(ROWS, path, force=False)
    with pytest.raises(UsageError, match="--force"):
        measure_system([], budget_s=30, output=path)
    assert not measured.asked
    found = measure_system([], budget_s=30, output=path, force=True)
    assert (found.kept, found.added) == (str(path), None)
    assert same(known_systems([path]), found.rows)
