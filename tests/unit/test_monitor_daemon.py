"""A monitor as a process, and what it makes of strange times."""

import contextlib
import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from skelgen.errors import InputError, MachineError, UsageError
from skelgen.monitor.daemon import Monitor, check_interval
from skelgen.monitor.day_files import DayFile
from skelgen.monitor.folders import this_host
from skelgen.monitor.sensor import Sample
from skelgen.monitor.series import read_history
from skelgen.monitor.status import (
    Status,
    holder,
    locked,
    read_status,
    write_status,
)
from tests.processes import alive, comes_true

pytestmark = pytest.mark.skipif(
    not Path("/proc/self/stat").exists(), reason="the monitor reads Linux's /proc"
)
BEGIN = 1764060000.0


class Steady:
    """A sensor that always says the same."""

    def __init__(self, cpu: float = 0.5) -> None:
        self.cpu = cpu

    def sample(self) -> Sample:
        return Sample(self.cpu, self.cpu)

    must_look = False


class Times:
    """A clock of the wall that may jump, and one that does not."""

    def __init__(self) -> None:
        self.wall, self.clock = BEGIN, 50.0

    def pass_by(self, seconds: float, *, jump: float = 0.0) -> None:
        self.wall += seconds + jump
        self.clock += seconds


Made = Callable[..., Monitor]


@pytest.fixture
def made(tmp_path: Path) -> Iterator[Made]:
    """Make monitors, which end with the test."""
    with contextlib.ExitStack() as stack:

        def make(times: Times, sensor: Any = None) -> Monitor:
            monitor = Monitor(
                "n1",
                tmp_path / "n1",
                10.0,
                sensor or Steady(),
                wall=lambda: times.wall,
                clock=lambda: times.clock,
            )
            stack.callback(monitor.end)
            return monitor

        yield make


def kinds(tmp_path: Path) -> list[tuple[str, float]]:
    marks = read_history("n1", within=tmp_path).marks
    return [(mark.kind, mark.length_s) for mark in marks[1:]]


def test_samples_in_time_leave_no_marks(tmp_path: Path, made: Made) -> None:
    times = Times()
    monitor = made(times)
    for _ in range(5):
        times.pass_by(10.0)
        monitor.take()
    history = read_history("n1", within=tmp_path)
    assert [mark.kind for mark in history.marks] == ["begin"]
    assert history.curves["cpu"].times == [BEGIN + 10 * n for n in range(1, 6)]


def test_a_node_that_slept_leaves_a_gap(tmp_path: Path, made: Made) -> None:
    times = Times()
    monitor = made(times)
    for seconds in (10.0, 610.0, 10.0):
        times.pass_by(seconds)
        monitor.take()
    assert kinds(tmp_path) == [("gap", 600.0)]
    monitor.say()
    assert read_status("n1", here=False, within=tmp_path, now=times.wall).gap_s == 600


def test_a_suspended_node_leaves_a_gap_though_its_clock_stood(
    tmp_path: Path, made: Made
) -> None:
    times = Times()
    monitor = made(times)
    for jump in (0.0, 7200.0):
        times.pass_by(10.0, jump=jump)
        monitor.take()
    assert kinds(tmp_path) == [("gap", 7200.0)]


def test_a_clock_that_jumps_back_is_noticed(tmp_path: Path, made: Made) -> None:
    times = Times()
    monitor = made(times)
    for jump in (0.0, 0.0, -3600.0, 0.0):
        times.pass_by(10.0, jump=jump)
        monitor.take()
    assert kinds(tmp_path)[-1:] == [("back", 3600.0)]
    found = read_history("n1", within=tmp_path).curves["cpu"].times
    assert found == sorted(found)


@pytest.mark.parametrize("said", [float("nan"), 1.3])
def test_a_sensor_that_says_nonsense_is_named_once(
    tmp_path: Path, made: Made, said: float
) -> None:
    times = Times()
    monitor = made(times, Steady(said))
    for _ in range(3):
        times.pass_by(10.0)
        monitor.take()
    history = read_history("n1", within=tmp_path)
    assert [mark.kind for mark in history.marks] == ["begin", "refused"]
    assert history.marks[1].reason.startswith("cpu is ")
    assert "cpu" not in history.curves


def test_a_disk_that_was_full_leaves_a_gap(
    tmp_path: Path, made: Made, monkeypatch: pytest.MonkeyPatch
) -> None:
    times = Times()
    monitor = made(times)
    times.pass_by(10.0)
    monitor.take()
    with monkeypatch.context() as full:

        def refuse(*_: object) -> None:
            raise MachineError("no room")

        full.setattr(DayFile, "_write", refuse)
        for _ in range(6):
            times.pass_by(10.0)
            monitor.take()
    times.pass_by(10.0)
    monitor.take()
    assert kinds(tmp_path) == [("gap", 60.0)]
    history = read_history("n1", within=tmp_path)
    assert history.curves["cpu"].times == [BEGIN + 10.0, BEGIN + 80.0]


def test_only_one_monitor_has_a_host(tmp_path: Path) -> None:
    with locked("n1", tmp_path) as folder:
        assert holder(folder) == os.getpid()
        with (
            pytest.raises(UsageError, match=r"runs on n1 already.*stop it first"),
            locked("n1", tmp_path),
        ):
            pass
    assert holder(folder) == 0


def test_a_node_that_died_shows_a_growing_gap(tmp_path: Path) -> None:
    (tmp_path / "n1").mkdir()
    status = Status("n1", True, 7, BEGIN, BEGIN + 100, 10, 10.0, 0.001, 10**7, 5.0)
    write_status(tmp_path / "n1", status)
    alive_still = read_status("n1", here=False, within=tmp_path, now=BEGIN + 120)
    assert alive_still == status
    dead = read_status("n1", here=False, within=tmp_path, now=BEGIN + 1100)
    assert not dead.running and dead.gap_s == 1005.0


@pytest.mark.parametrize("text", ["", "[]", "7", '{"pid": 1}', '{"pid": "x"}', "\0"])
def test_a_damaged_status_is_refused_in_one_line(tmp_path: Path, text: str) -> None:
    (tmp_path / "n1").mkdir()
    (tmp_path / "n1/status.json").write_text(text)
    with pytest.raises(InputError, match="is damaged, expected what a monitor writes"):
        read_status("n1", here=False, within=tmp_path)


@pytest.mark.parametrize("interval_s", [0.0, -1.0, float("nan"), 1e9])
def test_an_interval_that_nobody_wants_is_refused(interval_s: float) -> None:
    with pytest.raises(UsageError, match="--interval"):
        check_interval(interval_s)


def test_a_monitor_loads_only_the_standard_library() -> None:
    code = (
        "import sys; before = set(sys.modules); import skelgen.monitor.__main__; "
        "print(*sorted(set(sys.modules) - before))"
    )
    said = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    ).stdout.split()
    strange = [
        name
        for name in said
        if name.partition(".")[0] not in {*sys.stdlib_module_names, "skelgen"}
    ]
    ours = [name for name in said if name.startswith("skelgen.")]
    assert strange == []
    assert {name for name in ours if not name.startswith("skelgen.monitor")} == {
        "skelgen.errors",
        "skelgen.units",
    }


@pytest.fixture
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder for a real monitor, which ends with the test."""
    monkeypatch.setenv("SKELGEN_MONITOR", str(tmp_path))
    yield tmp_path
    if pid := holder(tmp_path / this_host()):
        os.kill(pid, signal.SIGKILL)


def run(*words: str) -> tuple[int, Any, str]:
    done = subprocess.run(
        [sys.executable, "-m", "skelgen.monitor", *words],
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    return done.returncode, json.loads(done.stdout or "null"), done.stderr


def test_a_real_monitor_starts_keeps_samples_and_stops(state: Path) -> None:
    code, said, _ = run("start", "--interval", "0.2s")
    assert code == 0 and alive(said["pid"])
    host = this_host()
    assert comes_true(lambda: len(_cpu(state, host)) >= 3)
    assert all(0 <= value <= 1 for value in _cpu(state, host))

    code, again, complaint = run("start")
    assert (code, again) == (2, None)
    assert complaint.count("\n") == 1 and "runs on" in complaint

    code, status, _ = run("status")
    assert code == 0 and status["running"] and status["pid"] == said["pid"]
    assert 0 < status["rss_bytes"] < 40e6

    code, stopped, _ = run("stop")
    assert code == 0 and stopped["pid"] == said["pid"]
    assert comes_true(lambda: not alive(said["pid"]))
    marks = read_history(host, within=state).marks
    assert [mark.kind for mark in marks if mark.kind != "refused"] == ["begin", "end"]
    code, _, complaint = run("stop")
    assert code == 2 and "no monitor of yours runs" in complaint


def test_a_monitor_that_was_killed_makes_room_for_another(state: Path) -> None:
    host = this_host()
    first = run("start", "--interval", "0.2s")[1]["pid"]
    assert comes_true(lambda: len(_cpu(state, host)) >= 1)
    os.kill(first, signal.SIGKILL)
    assert comes_true(lambda: not holder(state / host))
    assert not read_status(host, here=True, within=state).running
    code, said, _ = run("start", "--interval", "0.2s")
    assert code == 0 and said["pid"] != first
    run("stop")
    marks = read_history(host, within=state).marks
    assert [mark.kind for mark in marks if mark.kind != "refused"].count("begin") == 2


def test_a_monitor_in_the_foreground_ends_when_it_is_told(state: Path) -> None:
    line = [sys.executable, "-m", "skelgen.monitor", "run", "--interval", "0.2s"]
    with subprocess.Popen(line, stdout=subprocess.PIPE, text=True) as process:
        assert comes_true(lambda: holder(state / this_host()) == process.pid)
        process.terminate()
        assert process.wait(60) == 0


def test_one_sample_needs_no_monitor(state: Path) -> None:
    code, said, _ = run("once", "--interval", "0.2s")
    assert code == 0 and 0 <= said["cpu"] <= 1
    assert list(state.iterdir()) == []


def _cpu(state: Path, host: str) -> list[float]:
    try:
        curve = read_history(host, within=state).curves.get("cpu")
    except InputError:
        return []
    return list(curve.values) if curve else []
