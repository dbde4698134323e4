"""How long a job will take, from runs of its configuration."""

import json
import statistics
import time
from collections.abc import Sequence
from pathlib import Path

import pytest

from skelgen.cli.main import run as skelgen
from skelgen.errors import InputError
from skelgen.monitor.day_files import DayFile
from skelgen.monitor.records import SampleRow
from skelgen.pipeline.store_expect import expected
from skelgen.store import Run, open_store


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setenv("SKELGEN_MONITOR", str(tmp_path / "state"))
    return str(tmp_path / "store.db")


def add(store: str, times_s: Sequence[float], **more: object) -> None:
    facts = {"ranks": 8, "inputs": (("n", 2000.0),), "hosts": ("n1", "n2"), **more}
    with open_store(store) as opened:
        opened.add(
            Run("lu", time_s, started=1e9 + at, source=f"{at}", **facts)  # type: ignore[arg-type]
            for at, time_s in enumerate(times_s)
        )


def codes(store: str, *hosts: str, ranks: int = 8) -> set[str]:
    found = expected(store, "lu", (("n", 2000.0),), ranks, hosts)
    return {one.code for one in found.doubts}


TIMES = [10.0, 10.2, 10.1, 9.9, 10.0, 10.1]


def test_the_answer_is_the_median_and_holds_the_next_run(store: str) -> None:
    add(store, TIMES)
    add(store, [300.0], ranks=2)
    add(store, [1.0, 99.0], status="exit 3")
    found = expected(store, "lu", (("n", 2000.0),), 8)
    assert found.time_s is not None and found.doubts == ()
    assert found.time_s.p50 == statistics.median(TIMES)
    assert 9.5 < found.time_s.p5 < 9.9 and 10.2 < found.time_s.p95 < 10.6


def test_few_runs_take_the_spread_of_other_configurations(store: str) -> None:
    add(store, [10.0])
    wide = expected(store, "lu", (("n", 2000.0),), 8)
    add(store, [20.0, 20.2, 20.1, 19.9], inputs=(("n", 4000.0),))
    narrow = expected(store, "lu", (("n", 2000.0),), 8)
    assert wide.time_s is not None and narrow.time_s is not None
    assert narrow.time_s.half_width < 0.05 < 0.2 < wide.time_s.half_width
    assert {one.code for one in narrow.doubts} == {"few-runs"}


@pytest.mark.parametrize(
    ("runs", "asked", "doubts"),
    [
        ([{}], ("n3",), {"other-hosts"}),
        ([{}, {"hosts": ("n3",), "executable": "x"}], ("n3",), set()),
        ([{"status": "unknown"}], (), {"status-unknown"}),
        ([{}, {"inputs": (("n", 2000.0), ("m", 1.0))}], (), {"other-inputs"}),
        ([{"executable": "x"}, {"executable": "y"}], (), {"other-executable"}),
        (
            [{"loads": (("cpu_avg_min", at),)} for at in (0.5, 0.9)],
            (),
            {"loads-differ"},
        ),
    ],
)
def test_what_is_different_about_the_runs_is_a_doubt(
    store: str,
    runs: list[dict[str, object]],
    asked: tuple[str, ...],
    doubts: set[str],
) -> None:
    for more in runs:
        add(store, TIMES, **more)
    assert codes(store, *asked) == doubts


def test_runs_that_differ_widely_are_a_doubt(store: str) -> None:
    add(store, [10.0, 13.0, 8.0, 12.0])
    assert codes(store) == {"interval-too-wide"}


def test_another_load_now_is_a_doubt(store: str, tmp_path: Path) -> None:
    add(store, TIMES, loads=(("cpu_avg_min", 0.95),), hosts=("n1",))
    assert codes(store) == set()
    file = DayFile(tmp_path / "state/n1", 10.0)
    file.add(SampleRow(time.time() - 5.0, (0.4,)), ("cpu",))
    file.close()
    assert codes(store) == {"other-loads"}


def test_a_configuration_that_never_ran_names_the_nearest(
    store: str, capsys: pytest.CaptureFixture[str]
) -> None:
    for n in (500.0, 2000.0, 8000.0, 100000.0):
        add(store, [n / 100], inputs=(("n", n),))
    line = ["store", "expect", "--app", "lu", "--ranks", "8", "--store", store]
    assert skelgen([*line, "--input", "n=3000", "--json"]) == 6
    said = json.loads(capsys.readouterr().out)
    assert said["expected_s"] is None and said["verdict"] is None
    assert [one["inputs"]["n"] for one in said["nearest"]] == [2000, 8000, 500]
    assert skelgen([*line, "--input", "n=3000"]) == 6
    assert "A model is needed" in capsys.readouterr().out


def test_the_command_says_what_the_interface_promises(
    store: str, capsys: pytest.CaptureFixture[str]
) -> None:
    add(store, TIMES[:2])
    line = ["store", "expect", "--app", "lu", "--input", "n=2e3", "--store", store]
    assert skelgen([*line, "--json"]) == 0
    said = json.loads(capsys.readouterr().out)
    assert said["expected_s"] == pytest.approx(10.1) and len(said["runs"]) == 2
    assert said["verdict"] == "do not trust"
    assert [one["code"] for one in said["doubts"]] == ["few-runs"]
    assert skelgen([*line, "--strict"]) == 6
    assert skelgen(["store", "expect", "--app", "nope", "--store", store]) == 3
    assert "it has: lu" in capsys.readouterr().err


def test_a_store_that_is_not_there_is_named(store: str) -> None:
    with pytest.raises(InputError, match=r"store\.db"):
        expected(store, "lu")
