"""Competitors of a computation: they run, they measure, they never stay behind."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from skelgen.reference import competitors
from skelgen.reference.calibration import ComputeCalibration, Mix
from skelgen.reference.competitors import COMPETITORS, Bench
from tests.processes import alive, comes_true

pytestmark = pytest.mark.skipif(not shutil.which("cc"), reason="no C compiler")


def children_of(pid: int) -> list[int]:
    try:
        return [
            int(word)
            for task in Path(f"/proc/{pid}/task").iterdir()
            for word in (task / "children").read_text().split()
        ]
    except OSError:
        return []


@pytest.fixture(autouse=True)
def once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(competitors, "ROUNDS_BESIDE_COMPETITORS", 1)


def test_each_part_and_a_mixture_have_a_time_beside_each_competitor() -> None:
    bench = Bench.of("cc", 1)
    parts = bench.parts(1 << 19)
    assert len(parts) == 3
    speed = ComputeCalibration(
        Mix(0.5, 0.25, 0.25, 1 << 19), (300, 5, 50), 0, 0, 1, "h", "c"
    )
    for slowdown in (*parts, bench.mixture(speed)):
        assert len(slowdown) == len(COMPETITORS)
        assert min(slowdown) > 0


@pytest.mark.parametrize("competitor", COMPETITORS)
def test_a_competitor_ends_with_what_it_stood_beside(competitor: str) -> None:
    before, cores = set(children_of(os.getpid())), os.sched_getaffinity(0)
    with pytest.raises(ZeroDivisionError), Bench.of("cc", 1).beside(competitor):
        assert len(os.sched_getaffinity(0)) == 1
        (leader,) = set(children_of(os.getpid())) - before
        (worker,) = children_of(leader)
        assert alive(worker)
        raise ZeroDivisionError
    assert comes_true(lambda: not alive(worker))
    assert not alive(leader)
    assert os.sched_getaffinity(0) == cores


def test_competitors_come_and_go_in_turns(tmp_path: Path) -> None:
    before, cores = set(children_of(os.getpid())), os.sched_getaffinity(0)
    with Bench.of("cc", 1).in_turns(0.02) as turns:
        (leader,) = set(children_of(os.getpid())) - before
        workers = children_of(leader)
        assert len(workers) == len(COMPETITORS)
        assert len(os.sched_getaffinity(0)) == 1
        assert comes_true(lambda: len(turns().kind) >= 8)
        found = turns()
    assert found.kind[:8].tolist() == [0, 1, 0, 2] * 2
    lengths = np.diff(found.begin_ns)
    assert min(lengths) >= 0.75 * 0.02e9  # never early, however busy the machine
    assert abs(found.begin_ns[0] - time.monotonic_ns()) < 600e9
    assert comes_true(lambda: not any(map(alive, (leader, *workers))))
    assert os.sched_getaffinity(0) == cores


def referenced_bytes(pid: int) -> int:
    """Return the memory that a process used since this was last forgotten."""
    text = Path(f"/proc/{pid}/smaps").read_text()
    return (
        sum(map(int, re.findall(r"^Referenced: +(\d+) kB", text, re.MULTILINE))) << 10
    )


def test_the_competitor_for_memory_goes_on_using_it() -> None:
    if not Path("/proc/self/clear_refs").exists():
        pytest.skip("this kernel does not tell which memory was used")
    before = set(children_of(os.getpid()))
    with Bench.of("cc", 1).beside("memory"):
        (leader,) = set(children_of(os.getpid())) - before
        (worker,) = children_of(leader)
        for _ in range(2):
            Path(f"/proc/{worker}/clear_refs").write_text("1")
            assert comes_true(lambda: referenced_bytes(worker) >= 128 << 20)


def test_a_competitor_ends_when_skelgen_is_killed() -> None:
    script = (
        "from skelgen.reference.competitors import Bench\n"
        "with Bench.of('cc', 2).beside('arithmetic'): print('go', flush=True); input()"
    )
    words = [sys.executable, "-c", script]
    with subprocess.Popen(
        words, stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"go\n"
        (leader,) = children_of(process.pid)
        family = [leader, *children_of(leader)]
        assert all(alive(pid) for pid in family)
        process.send_signal(signal.SIGKILL)
        assert comes_true(lambda: not any(alive(pid) for pid in family))
