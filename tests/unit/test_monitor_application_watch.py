"""Applications that a monitor watches, in processes that a folder pretends."""

import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from skelgen.errors import MachineError, UsageError
from skelgen.monitor import application_watch
from skelgen.monitor import process as processes
from skelgen.monitor.application_watch import Watcher
from skelgen.monitor.launches import launch_of
from skelgen.monitor.process_search import Watched, watched_of
from skelgen.monitor.sightings import (
    Sighting,
    add_sighting,
    ended_sightings,
    sighting_of,
)
from skelgen.monitor.store_reader import Hander

TICKS = os.sysconf("SC_CLK_TCK")
BEGIN = 1764060000.0


@dataclass(slots=True)
class Kernel:
    """Processes as a kernel shows them, and its clocks."""

    proc: Path
    boot_s: float = 1000.0
    last: int = 0
    ends: dict[int, int] = field(default_factory=dict)

    def begin(
        self,
        pid: int,
        words: list[str],
        *,
        parent: int = 1,
        at_s: float | None = None,
        variables: dict[str, str] | None = None,
    ) -> None:
        """Begin a process; ``at_s`` [s since the machine was started]."""
        folder = self.proc / str(pid)
        folder.mkdir()
        start = round((self.boot_s if at_s is None else at_s) * TICKS)
        text = "\0".join(f"{n}={v}" for n, v in (variables or {}).items())
        (folder / "environ").write_text(text)
        (folder / "cmdline").write_text("\0".join(words) + "\0")
        (folder / "comm").write_text(Path(words[0]).name[:15] + "\n")
        self._figures(pid, parent, start)
        self.last = max(self.last, pid)
        (self.proc / "loadavg").write_text(f"0.1 0.1 0.1 1/99 {self.last}\n")

    def _figures(self, pid: int, parent: int, start: int) -> None:
        self.used(pid, 0.0, parent=parent, start=start)

    def used(self, pid: int, cpu_s: float, **more: Any) -> None:
        """Say what a process has used."""
        folder = self.proc / str(pid)
        before = (
            (folder / "stat").read_text().split() if more.get("start") is None else []
        )
        parent = more.get("parent") or int(before[4])
        start = more.get("start") or int(before[22])
        state, code = more.get("state", "S"), more.get("code", 0)
        fields = [state, parent, *[0] * 9, round(cpu_s * TICKS), 0]
        fields += [round(more.get("children_s", 0) * TICKS), 0, *[0] * 4, start]
        fields += [*[0] * 29, code]
        line = f"{pid} (a b) {' '.join(map(str, fields))}\n"
        (folder / "stat").write_text(line)
        (folder / "status").write_text(
            f"Name:\tx\nTgid:\t{pid}\nVmHWM:\t{more.get('kib', 100)} kB\n"
        )
        (folder / "io").write_text(
            f"rchar: 9\nread_bytes: {more.get('read', 0)}\nwrite_bytes: 7\n"
        )

    def end(self, pid: int, code: int | None, cpu_s: float = 0.0) -> None:
        """End a process; without a code somebody collected it at once."""
        if code is None:
            for name in ("stat", "status", "io"):
                (self.proc / str(pid) / name).write_text("")
        else:
            self.used(pid, cpu_s, state="Z", code=code)
        os.close(self.ends.pop(pid))

    def handle(self, pid: int) -> int:
        reading, self.ends[pid] = os.pipe()
        return reading


@pytest.fixture
def kernel(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Kernel]:
    made = Kernel(tmp_path / "proc")
    made.proc.mkdir()
    (tmp_path / "n1").mkdir()
    monkeypatch.setattr(processes, "handle_of", made.handle)
    monkeypatch.delenv("SKELGEN_INPUTS", raising=False)
    yield made
    for handle in made.ends.values():
        os.close(handle)


def watcher_of(kernel: Kernel, *names: str, host: str = "n1") -> Watcher:
    return Watcher(
        host,
        kernel.proc.parent / "n1",
        Watched(names),
        proc=str(kernel.proc),
        wall=lambda: BEGIN + kernel.boot_s,
        boot_s=lambda: kernel.boot_s,
        cost=lambda: 0.0,
    )


def woken(watcher: Watcher) -> None:
    """Let a watcher deal with what ended."""
    reading, writing = os.pipe()
    assert not watcher.waits(reading)(0.0)
    os.close(writing)
    watcher._poll.unregister(reading)
    os.close(reading)


def sightings(kernel: Kernel) -> list[Sighting]:
    found, damaged = ended_sightings(kernel.proc.parent / "n1")
    assert damaged == []
    return found


def rank(number: int, size: int = 2, **more: str) -> dict[str, str]:
    return {"PMI_SIZE": str(size), "PMI_RANK": str(number), **more}


PROXY = ["/opt/hydra_pmi_proxy", "--control-port", "head:40721", "--rmk", "user"]


def test_a_launch_becomes_one_part_when_its_last_process_ends(kernel: Kernel) -> None:
    watcher = watcher_of(kernel, "heat2d")
    kernel.begin(9, PROXY)
    for number in (0, 1):
        kernel.begin(
            10 + number,
            ["./heat2d", "512"],
            parent=9,
            variables=rank(number, SLURM_JOB_ID="77", SKELGEN_INPUTS="n=512"),
        )
    kernel.boot_s += 2.0
    watcher.look()
    kernel.boot_s += 5.25
    kernel.end(10, 0, cpu_s=6.0)
    woken(watcher)
    assert sightings(kernel) == []
    kernel.boot_s += 0.5
    kernel.end(11, 0, cpu_s=7.0)
    woken(watcher)
    (sighting,) = sightings(kernel)
    assert (sighting.application, sighting.host, sighting.status) == (
        "heat2d",
        "n1",
        "ok",
    )
    assert sighting.time_s == pytest.approx(7.75) and sighting.began == BEGIN + 1000.0
    assert (sighting.size, sighting.ranks, sighting.key) == (
        2,
        (0, 1),
        "hydra head:40721",
    )
    assert (sighting.costs or {})["cpu_s"] == pytest.approx(13.0)
    assert (sighting.costs or {})["memory_bytes"] == 2 * 100 * 1024
    assert sighting.inputs == "n=512" and sighting.jobs == {"SLURM_JOB_ID": "77"}
    assert sighting.complete
    assert watcher.ended == 1


def test_what_was_collected_at_once_has_the_figures_of_the_last_look(
    kernel: Kernel,
) -> None:
    kernel.begin(10, ["heat2d"])
    watcher = watcher_of(kernel, "heat2d")
    kernel.boot_s += 10.0
    kernel.used(10, 9.0)
    watcher.look()
    kernel.boot_s += 1.0
    kernel.end(10, None)
    woken(watcher)
    (sighting,) = sightings(kernel)
    assert (sighting.costs or {})["cpu_s"] == 9.0 and sighting.time_s == pytest.approx(
        11.0
    )
    assert sighting.status == "unknown" and not sighting.complete


def test_what_the_launcher_collected_counts_though_nobody_looked(
    kernel: Kernel,
) -> None:
    kernel.begin(9, PROXY)
    kernel.used(9, 0.5, children_s=1.0)
    for number in (0, 1):
        kernel.begin(10 + number, ["heat2d"], parent=9, variables=rank(number))
    watcher = watcher_of(kernel, "heat2d")
    for pid, collected_s in ((10, 5.0), (11, 9.0)):
        kernel.boot_s += 4.0
        kernel.used(9, 0.6, children_s=collected_s, read=4096)
        kernel.end(pid, None)
        woken(watcher)
    (part,) = sightings(kernel)
    assert (part.costs or {})["cpu_s"] == 8.0
    assert (part.costs or {})["read_bytes"] == 4096 and part.complete


@pytest.mark.parametrize(
    ("codes", "status"),
    [((0, 0), "ok"), ((3 << 8, 9), "exit 3"), ((0, 9), "signal 9")],
)
def test_what_failed_first_is_the_status(
    kernel: Kernel, codes: tuple[int, int], status: str
) -> None:
    kernel.begin(9, PROXY)
    for number in (0, 1):
        kernel.begin(10 + number, ["heat2d"], parent=9, variables=rank(number))
    watcher = watcher_of(kernel, "heat2d")
    for pid, code in zip((10, 11), codes, strict=True):
        kernel.boot_s += 1.0
        kernel.end(pid, code)
        woken(watcher)
    assert [sighting.status for sighting in sightings(kernel)] == [status]


def test_two_launches_at_the_same_time_are_two_runs(kernel: Kernel) -> None:
    for first in (20, 30):
        proxy = [*PROXY[:2], f"head:{first}"]
        kernel.begin(first, proxy)
        for number in (0, 1):
            kernel.begin(
                first + 1 + number, ["a"], parent=first, variables=rank(number)
            )
    watcher = watcher_of(kernel, "a")
    for pid in (21, 31, 32, 22):
        kernel.boot_s += 1.0
        kernel.end(pid, 0)
        woken(watcher)
    assert [(sighting.key, sighting.time_s) for sighting in sightings(kernel)] == [
        ("hydra head:30", pytest.approx(3.0)),
        ("hydra head:20", pytest.approx(4.0)),
    ]


def test_a_child_of_its_own_is_part_of_the_run_and_counts_once(kernel: Kernel) -> None:
    kernel.begin(10, ["python3", "-u", "./solve.py"])
    kernel.begin(11, ["python3", "-u", "./solve.py"], parent=10)
    watcher = watcher_of(kernel, "solve")
    kernel.used(10, 1.0)
    kernel.used(11, 5.0)
    watcher.look()
    kernel.end(11, 9, cpu_s=6.0)
    woken(watcher)
    kernel.used(10, 2.0, state="Z", children_s=6.0)
    os.close(kernel.ends.pop(10))
    woken(watcher)
    (sighting,) = sightings(kernel)
    assert (sighting.costs or {})["cpu_s"] == 8.0 and sighting.status == "ok"


def test_a_process_that_becomes_the_program_later_is_found(kernel: Kernel) -> None:
    watcher = watcher_of(kernel, "heat2d")
    kernel.begin(10, ["sh", "-c", "exec heat2d"])
    watcher.look()
    (kernel.proc / "10/comm").write_text("heat2d\n")
    (kernel.proc / "10/cmdline").write_text("heat2d\0")
    kernel.boot_s += 2.0
    watcher.look()
    kernel.end(10, 0)
    woken(watcher)
    assert [sighting.time_s for sighting in sightings(kernel)] == [pytest.approx(2.0)]


def test_what_had_ended_before_it_was_found_is_no_run(kernel: Kernel) -> None:
    kernel.begin(10, ["heat2d"])
    kernel.used(10, 1.0, state="Z", code=3 << 8)
    watcher = watcher_of(kernel, "heat2d")
    assert not watcher._runs and sightings(kernel) == []


def test_a_thread_or_a_launcher_is_not_the_application(kernel: Kernel) -> None:
    kernel.begin(10, ["mpirun", "-n", "2", "heat2d"])
    kernel.begin(11, ["heat2d"])
    (kernel.proc / "11/status").write_text("Name:\theat2d\nTgid:\t10\n")
    assert not kernel.ends and watcher_of(kernel, "heat2d").ended == 0
    assert not kernel.ends


def test_a_node_without_new_processes_is_not_scanned(
    kernel: Kernel, monkeypatch: pytest.MonkeyPatch
) -> None:
    for pid in range(100, 150):
        kernel.begin(pid, ["sleep", "1000"])
    watcher = watcher_of(kernel, "heat2d")
    for _ in range(3):
        watcher.look()
    asked: list[str] = []
    real = application_watch.read

    def counted(path: str) -> str:
        asked.append(path)
        return real(path)

    monkeypatch.setattr("skelgen.monitor.process_search.read", counted)
    for _ in range(5):
        kernel.boot_s += 2.0
        watcher.look()
    assert asked == [f"{kernel.proc}/loadavg"] * 5
    kernel.begin(150, ["heat2d"])
    watcher.look()
    assert 150 in kernel.ends and len(asked) < 12


def test_a_monitor_that_was_killed_goes_on_with_what_still_runs(
    kernel: Kernel,
) -> None:
    kernel.begin(10, ["heat2d"])
    watcher_of(kernel, "heat2d")
    kernel.boot_s += 30.0  # nobody looks any more
    os.close(kernel.ends.pop(10))
    again = watcher_of(kernel)
    kernel.boot_s += 1.0
    kernel.end(10, 0, cpu_s=29.0)
    woken(again)
    (sighting,) = sightings(kernel)
    assert sighting.time_s == pytest.approx(31.0) and sighting.status == "ok"
    assert (sighting.costs or {})["cpu_s"] == 29.0


def test_a_run_that_ended_without_a_monitor_says_so(kernel: Kernel) -> None:
    kernel.begin(10, ["heat2d"])
    watcher = watcher_of(kernel, "heat2d")
    kernel.boot_s += 60.0
    watcher.look()
    kernel.boot_s += 600.0
    kernel.end(10, None)
    again = watcher_of(kernel, "heat2d")
    (sighting,) = sightings(kernel)
    assert sighting.status == "unseen" and sighting.time_s == pytest.approx(60.0)
    assert again.ended == 1
    watcher_of(kernel, "heat2d")
    assert len(sightings(kernel)) == 1


def test_a_number_that_another_process_has_now_is_not_taken_for_it(
    kernel: Kernel,
) -> None:
    kernel.begin(10, ["heat2d"])
    watcher_of(kernel, "heat2d")
    kernel.used(10, 0.0, start=round(1001 * TICKS), parent=1)
    (kernel.proc / "10/comm").write_text("bash\n")
    (kernel.proc / "10/cmdline").write_text("bash\0")
    watcher_of(kernel)
    assert [sighting.status for sighting in sightings(kernel)] == ["unseen"]


def test_a_full_disk_delays_a_part_and_loses_none(
    kernel: Kernel, monkeypatch: pytest.MonkeyPatch
) -> None:
    kernel.begin(10, ["heat2d"])
    watcher = watcher_of(kernel, "heat2d")

    def refuse(*_: object) -> None:
        raise MachineError("no room")

    with monkeypatch.context() as full:
        full.setattr(application_watch, "add_sighting", refuse)
        kernel.end(10, 0)
        woken(watcher)
        watcher.look()
    assert sightings(kernel) == [] and watcher.ended == 0
    watcher.look()
    assert len(sightings(kernel)) == 1 and watcher.ended == 1


def test_a_part_that_was_cut_costs_that_line_only(tmp_path: Path) -> None:
    one = Sighting("i1", "a", "n1", BEGIN, 1.0)
    add_sighting(tmp_path, one)
    path = tmp_path / "runs.jsonl"
    path.write_text(path.read_text()[:-20])
    add_sighting(tmp_path, sighting_of({**_plain(one), "identity": "i2"}))
    found, damaged = ended_sightings(tmp_path)
    assert [sighting.identity for sighting in found] == ["i2"]
    assert len(damaged) == 1 and "line 1: its checksum" in damaged[0]


def _plain(sighting: Sighting) -> dict[str, Any]:
    return {name: getattr(sighting, name) for name in Sighting.__slots__}


@pytest.mark.parametrize(
    ("variables", "key", "place"),
    [
        ({"PMIX_NAMESPACE": "prterun-vm-1@1", "OMPI_COMM_WORLD_SIZE": "4",
          "OMPI_COMM_WORLD_RANK": "3"}, "pmix prterun-vm-1@1", (4, 3)),
        ({"SLURM_JOB_ID": "7", "SLURM_STEP_ID": "2", "SLURM_STEP_NUM_TASKS": "8",
          "SLURM_PROCID": "0", "SLURM_NTASKS": "16"}, "slurm 7.2", (8, 0)),
        ({"SLURM_JOB_ID": "7", "SLURM_NTASKS": "16"}, "", (0, -1)),
        ({"PMI_SIZE": "2", "PMI_RANK": "x"}, "", (0, -1)),
    ],
)  # fmt: skip
def test_variables_say_which_launch_a_process_belongs_to(
    variables: dict[str, str], key: str, place: tuple[int, int]
) -> None:
    found = launch_of(variables, lambda _: [])
    assert (found.key, (found.size, found.rank)) == (key, place)


@pytest.mark.parametrize("word", ["", "a,,b", "./a", "cgroup:x", "cgroup:/"])
def test_what_cannot_be_watched_is_refused(word: str) -> None:
    with pytest.raises(UsageError, match=r"--watch .*expected (a path|the name)"):
        watched_of([word])


def test_a_group_is_watched_with_all_below_it(kernel: Kernel, tmp_path: Path) -> None:
    inner = tmp_path / "groups/job/step"
    inner.mkdir(parents=True)
    kernel.begin(10, ["sh", "job.sh"])
    kernel.begin(11, ["any"], parent=10)
    (inner.parent / "cgroup.procs").write_text("10\n")
    (inner / "cgroup.procs").write_text("11\n")
    watcher = Watcher(
        "n1",
        tmp_path / "n1",
        Watched((), (str(inner.parent),)),
        proc=str(kernel.proc),
        wall=lambda: BEGIN,
        boot_s=lambda: kernel.boot_s,
        cost=lambda: 0.0,
    )
    assert sorted(kernel.ends) == [10, 11]
    for pid in (11, 10):
        kernel.boot_s += 1.0
        kernel.end(pid, 0)
        woken(watcher)
    (sighting,) = sightings(kernel)
    assert (sighting.application, sighting.processes) == ("job", 2)
    assert sighting.time_s == pytest.approx(2.0)


def test_a_store_that_refuses_is_asked_again_later(tmp_path: Path) -> None:
    clock = [0.0]
    asked, sound = tmp_path / "asked", tmp_path / "sound"
    script = f"echo >> {asked}; test -e {sound}"
    hander = Hander(["/bin/sh", "-c", script], clock=lambda: clock[0])

    def step() -> int:
        hander.step(1)
        if hander._child:
            os.waitid(os.P_PID, hander._child, os.WEXITED | os.WNOWAIT)
        return len(asked.read_text().splitlines())

    assert step() == 1
    clock[0] += 30.0
    assert step() == 1
    clock[0] += 70.0
    sound.touch()
    assert step() == 2
    clock[0] += 5000.0
    assert step() == 2
