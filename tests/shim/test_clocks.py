"""Clocks that differ, drift or cannot be read cheaply, and cores that are shared."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from skelgen.events import collect
from skelgen.events.conditions import conditions
from skelgen.events.shared_cores import SharedCores
from skelgen.events.thresholds import LOADED_SHARE
from skelgen.matching import match
from skelgen.trace import open_trace
from tests.shim.conftest import HERE, Lab, Record, preloaded
from tests.shim.reader import read_run

pytestmark = [pytest.mark.mpi, pytest.mark.families]

TSC, MONOTONIC = 1, 2


@pytest.fixture
def other_hosts(lab: Lab, tmp_path: Path) -> str:
    """Return what to preload so that two ranks each are on a machine of their own."""
    library = tmp_path / "libotherhost.so"
    command = ["cc", "-shared", "-fPIC", str(HERE / "otherhost.c"), "-o", str(library)]
    subprocess.run([*command, "-ldl"], check=True)
    return f"{lab.shim}:{library}"


def test_clock_offsets_between_hosts_are_bounded(
    lab: Lab, tmp_path: Path, other_hosts: str
) -> None:
    command = [str(lab.compile("communicators"))]
    run = lab.launch(4, command, tmp_path, preload=other_hosts)
    assert (run.exit_code, run.output) == (0, "done\n"), run.errors
    offsets = [list(t.tables.get("offsets", {}).values()) for t in run.traces]
    # Ranks 0 and 1 are on one machine, 2 and 3 on the other, whose leader is 2.
    assert [len(rows) for rows in offsets] == [0, 0, 2, 0]
    assert len({t.header["boot_id"] for t in run.traces}) == 2
    for row, place in zip(offsets[2], (0, 1), strict=True):
        assert (row["place"], row["reference"]) == (place, 0)
        assert abs(row["offset_ns"] + 6_000_000_000) <= row["error_ns"]
    taken = conditions(open_trace(run.folder).files)
    assert taken.clocks == 2
    assert taken.clock_error_s == max(r["error_ns"] for r in offsets[2]) / 1e9
    assert "of 2 hosts, known to within" in str(taken)


@pytest.mark.parametrize("clock", ["tsc", "monotonic"])
def test_no_receive_ends_before_its_send_begins_although_clocks_drift(
    lab: Lab, tmp_path: Path, other_hosts: str, clock: str
) -> None:
    command = [str(lab.compile("clocks")), "exchange", "300"]
    settings = {
        "SKELGEN_CLOCK": clock,
        "DRIFT_PPM": "2000",  # 600 us in 300 ms: far more than the error bound
        "DRIFT_BASE": str(time.monotonic_ns()),
    }
    run = lab.launch(4, command, tmp_path, preload=other_hosts, **settings)
    assert run.exit_code == 0, run.errors
    trace = open_trace(run.folder)
    events = collect(trace)
    matching = match(events.calls)
    sends, receives = matching.send_call, matching.receive_call
    assert len(sends) >= 4 * 20  # a busy machine has time for one round only
    latency_ns = events.leave_ns[receives] - events.enter_ns[sends]
    error_s = conditions(trace.files).clock_error_s
    assert error_s is not None
    # What the bound allows; both directions count, so a wrong offset would show.
    assert latency_ns.min() >= -1e9 * error_s
    # And without what the offsets tell the clocks would be far apart.
    offsets = [o.offset_ns for f in trace.files for o in f.definitions.offsets]
    drifted_ns = abs(offsets[1] - offsets[0])
    assert drifted_ns > 300_000 - 2e9 * error_s
    assert all("is known to within" in warning for warning in events.warnings)
    assert bool(events.warnings) == (error_s > 1e-3)
    if drifted_ns < 3e9 * error_s:
        pytest.skip(f"too busy a machine: clocks are known to within {error_s:.1e} s")


def test_without_the_time_stamp_counter_the_kernels_clock_is_taken(
    record: Record,
) -> None:
    setting = {"SKELGEN_CLOCK": "monotonic"}
    begin = time.monotonic_ns()
    run = record("endings", 1, "many", "1000", **setting)
    end = time.monotonic_ns()
    (trace,) = run.traces
    assert trace.header["clock_kind"] == MONOTONIC
    assert trace.header["ticks_per_s"] == 1_000_000_000
    assert begin <= trace.header["start_ticks"] <= end
    sends = trace.of("Send")
    assert len(sends) == 1000
    assert all(a.end <= b.begin for a, b in pairwise(sends))
    assert str(conditions(open_trace(run.folder).files)) == (
        "CLOCK_MONOTONIC, one for all ranks"
    )


def test_a_clock_that_does_not_exist_is_told(record: Record) -> None:
    run = record("endings", 1, "many", "10", SKELGEN_CLOCK="sundial")
    assert "SKELGEN_CLOCK=sundial is neither tsc nor monotonic" in run.errors


def test_what_a_call_waits_is_not_lost_between_calls(record: Record) -> None:
    taken = conditions(open_trace(record("clocks", 1, "sleep", "2").folder).files)
    assert taken.computed_s > 0.04
    assert taken.computed_s / 2 < taken.lost_s <= taken.computed_s


def needs_queues() -> None:
    """Skip where the kernel does not tell who stands in the run queue."""
    if not Path("/proc/thread-self/schedstat").exists():
        pytest.skip("this kernel has no /proc/thread-self/schedstat")


def test_sleep_is_not_taken_for_load(record: Record) -> None:
    run = record("clocks", 1, "naps", "10")
    needs_queues()
    taken = conditions(open_trace(run.folder).files)
    assert taken.unknown_s == taken.devices_s == 0
    assert taken.slept_s > 0.9 * 20 * 0.01
    assert taken.lost_s == pytest.approx(taken.slept_s + taken.queued_s)
    assert any(" the ranks slept for " in warning for warning in taken.warnings)
    (trace,) = run.traces
    told = [event for event in trace.events if event.lost_us]
    assert all(event.queued_us is not None for event in told)
    asleep_us = sum(event.lost_us - event.queued_us for event in told)
    assert asleep_us == pytest.approx(taken.slept_s * 1e6, rel=0.01)
    events = collect(open_trace(run.folder))
    assert int(events.away["asleep_ns"].sum()) > 0.9 * 20 * 10_000_000
    assert int(events.compute_ns.sum()) < 0.5 * 20 * 10_000_000
    if taken.queued_share < LOADED_SHARE:  # it was a quiet machine
        assert len(taken.warnings) == 1


def test_each_rank_tells_which_cores_it_may_use(lab: Lab, tmp_path: Path) -> None:
    core = max(os.sched_getaffinity(0))
    program = [str(lab.compile("clocks")), "naps", "1"]
    command = ["taskset", "-c", str(core), *program]
    run = lab.launch(2, command, tmp_path, preload=str(lab.shim))
    assert run.exit_code == 0, run.errors
    files = open_trace(run.folder).files
    loads = [file.definitions.load for file in files]
    assert [load.cores for load in loads if load] == [1 << core] * 2
    assert conditions(files).shared_cores == SharedCores(2, 1)


def test_waiting_for_a_file_is_neither_sleep_nor_load(lab: Lab, tmp_path: Path) -> None:
    needs_queues()
    path = tmp_path / "direct.bin"
    command = [str(lab.compile("clocks")), "files", str(path)]
    run = lab.launch(1, command, tmp_path, preload=str(lab.shim))
    if run.exit_code == 77:
        pytest.skip(f"{tmp_path} lies on no device that counts its blocks")
    assert run.exit_code == 0, run.errors
    taken = conditions(open_trace(run.folder).files)
    assert taken.devices_s > 0.5 * (taken.lost_s - taken.queued_s)
    assert taken.slept_s < taken.lost_s / 2
    assert not any(" slept for " in warning for warning in taken.warnings)


def test_without_a_run_queue_nobody_is_blamed(record: Record) -> None:
    run = record("clocks", 1, "naps", "10")
    (file,) = open_trace(run.folder).files
    older = replace(
        file,
        definitions=replace(file.definitions, load=None),
        facts=replace(file.facts, told_us=0, queued_us=0),
    )
    taken = conditions([older])
    assert taken.unknown_s == taken.lost_s > 0.1
    (warning,) = taken.warnings
    assert "or the ranks slept; the trace does not say which" in warning


def test_a_shared_core_is_noticed(lab: Lab, tmp_path: Path) -> None:
    """A rank and a busy process on one core have half of it each."""
    # Without a launcher, which would wait for the core as well.
    command = [str(lab.compile("clocks")), "compute", "10"]
    environment = dict(os.environ)
    preloaded(environment, str(lab.shim), tmp_path / "run")
    cores = os.sched_getaffinity(0)
    try:
        os.sched_setaffinity(0, {min(cores)})  # inherited by what is started
        spin = [sys.executable, "-uc", "print()\nwhile True: pass"]
        hogs = [subprocess.Popen(spin, stdout=subprocess.PIPE) for _ in range(2)]
        try:
            for hog in hogs:
                assert hog.stdout is not None
                hog.stdout.readline()  # it has begun
            subprocess.run(command, env=environment, cwd=tmp_path, check=True)
            environment |= {
                "SKELGEN_DIR": str(tmp_path / "unsampled"),
                "SKELGEN_CPU_TIME": "0",
            }
            subprocess.run(command, env=environment, cwd=tmp_path, check=True)
        finally:
            for hog in hogs:
                hog.kill()
                hog.communicate()
    finally:
        os.sched_setaffinity(0, cores)
    (unsampled,) = read_run(tmp_path / "unsampled")
    assert not any(event.lost_us for event in unsampled.of("Barrier"))
    (trace,) = read_run(tmp_path / "run")
    assert sum(event.lost_us > 0 for event in trace.of("Barrier")) > 10
    taken = conditions(open_trace(tmp_path / "run").files)
    assert taken.lost_share > 5 * LOADED_SHARE
    needs_queues()
    assert taken.queued_s > 0.9 * taken.lost_s
    (warning,) = taken.warnings
    assert warning.startswith("this trace was taken on a loaded machine: ")
    events = collect(open_trace(tmp_path / "run"))
    queued_ns = int(events.away["queued_ns"].sum())
    assert queued_ns > 0.9e9 * taken.lost_s
    assert events.compute_ns.sum() < 1.1e9 * (taken.computed_s - taken.lost_s)
    computed = np.array([e.begin for e in trace.of("Barrier")])
    assert (np.diff(computed) > 0).all()
