"""The benchmarks of real runs: what they make of runs whose law is known."""

from __future__ import annotations

import json
import statistics
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pytest

from benchmarks.models import multicore, real
from benchmarks.models.multicore import HOSTS, PER_HOST, PLATFORMS, SPEED, Run
from benchmarks.models.real import Study, tables, told
from benchmarks.models.real_loads import seen
from benchmarks.models.real_runs import key
from benchmarks.models.rows import Found, Rows
from skelgen.errors import ApplicationError, UsageError
from skelgen.forecasts import Samples

STUDY = Study("cubes", (*range(100, 300, 10),), (400, 500), (), "n^3", "n^2")


def weather(path: Path, settings: Mapping[float, float], hosts: str = "h1 h2") -> Path:
    """Write a log: what is left of every host, and its links free, from times on."""
    lines = [{"weather": 1, "hosts": hosts.split()}]
    for time, share in settings.items():
        for host in hosts.split():
            left = share if host == "h2" else 1.0
            lines.append({"time": time, "host": host, "share": left})
            lines.append({"time": time, "link": host, "share": 1.0})
    lines += [{"begun": min(settings)}, {"end": 1e6}]
    path.write_text("\n".join(map(json.dumps, lines)) + "\n")
    return path


def test_sensors_see_the_smallest_host_on_average_over_the_run(tmp_path: Path) -> None:
    log = weather(tmp_path / "log", {1000.0: 0.2, 1500.0: 1.0, 1600.0: 0.5})
    found = seen(log, 1500.0, 1700.0, steady=False)
    assert found.during["cpu"] == pytest.approx(0.74, abs=0.03)
    assert found.during["bandwidth"] == pytest.approx(0.97, abs=0.03)
    (one, other) = found.before["cpu"]
    assert (one.host, other.host) == ("cpu h1", "cpu h2")
    assert -300.0 <= min(other.times) <= max(other.times) < 0.0
    assert np.mean(other.values) == pytest.approx(0.2, abs=0.02)


def test_a_forecast_knows_nothing_of_the_run_itself(tmp_path: Path) -> None:
    log = weather(tmp_path / "log", {1000.0: 0.25, 1500.0: 1.0})
    found = seen(log, 1500.0, 1700.0, steady=False)
    assert found.forecast(100.0)["cpu"] == pytest.approx(0.25, abs=0.03)
    assert found.during["cpu"] > 0.9


def test_a_run_that_no_sensor_saw_has_the_load_of_the_last_look(tmp_path: Path) -> None:
    log = weather(tmp_path / "log", {1490.0: 0.3, 1500.4: 1.0})
    assert seen(log, 1500.5, 1501.0, steady=False).during["cpu"] < 0.4


def test_loads_that_stay_were_there_before_the_log(tmp_path: Path) -> None:
    log = weather(tmp_path / "log", {1490.0: 0.5})
    (_, other) = seen(log, 1500.0, 1520.0, steady=True).before["cpu"]
    assert isinstance(other, Samples)
    assert len(other.times) == 150
    (_, other) = seen(log, 1500.0, 1520.0, steady=False).before["cpu"]
    assert len(other.times) == 5


def made(folder: Path) -> Rows:
    """Return rows of runs that take n^3 over the CPU that is left."""
    rows = Rows.of(folder / "real.jsonl")

    def add(phase: str, size: int, seconds: float, **more: object) -> None:
        found: Found = {"seconds": seconds, **more}
        rows.get(key(STUDY, phase, size, 0), lambda: found)

    add("skeleton", 200, 1.0)
    random = np.random.default_rng(0)
    for phase, sizes in (("learn", STUDY.small), ("steady", STUDY.large)):
        for size in sizes:
            share = float(random.uniform(0.2, 1.0))
            log = weather(folder / f"{phase}-{size}.jsonl", {1000.0: share})
            time_s = 1e-5 * size**3 / share
            span = {"begin": 1500.0, "end": 1500.0 + max(time_s, 100.0)}
            slow = {"skeleton": 1.0 / share} if phase == "steady" else {}
            add(phase, size, time_s, log=log.name, **span, **slow)
    return rows


def test_loads_of_all_three_sources_give_the_time(tmp_path: Path) -> None:
    rows = made(tmp_path)
    learnt, asked = (told(rows, tmp_path, STUDY, one) for one in ("learn", "steady"))
    assert (len(learnt), len(asked)) == (20, 2)
    found = real.errors(STUDY, learnt, asked, "default", None)
    given = real.errors(STUDY, learnt, asked, real.GIVEN, None)
    for source in ("measured", "forecast", "skeleton"):
        assert statistics.mean(map(abs, found[source])) < 0.06, source
        assert statistics.mean(map(abs, given[source])) < 0.1, source


def test_a_phase_without_runs_has_no_errors_in_its_table(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(real, "not_told", lambda: ("default", "power"))
    lines = tables(made(tmp_path), tmp_path, (STUDY,), None).splitlines()
    begin = next(i for i, line in enumerate(lines) if line.startswith("steady"))
    empty = [line.split()[1:] for line in lines[2:begin]]
    assert all(cells[-3:] == ["-", "-", "-"] for cells in empty)
    assert [line.split()[0] for line in lines[begin + 2 :]][:2] == ["default", "power"]
    assert "cubes: 20 -> 2" in lines[begin]


def test_a_program_that_there_is_not_is_told_in_a_line(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no program nothing; there are pdsyev, fft"):
        real.main(["--results", str(tmp_path), "--apps", "nothing"])


def law(hosts: int, per_host: int, speed: float) -> float:
    return (1.0 + 7.0 / hosts) * (1.0 + 3.0 / per_host) * 10.0 / speed


def runs(speed: float) -> list[Run]:
    return [Run(n, k, law(n, k, speed), speed) for n in HOSTS for k in PER_HOST]


def test_a_product_of_sums_is_found_between_ahead_and_on_another_platform() -> None:
    one, other = runs(10.0), runs(5.0)
    for found in (
        multicore.left_out("product-of-sums", one),
        multicore.ahead("product-of-sums", one),
        multicore.platform("product-of-sums", one, other),
        multicore.factor("product-of-sums", one, other),
    ):
        assert max(map(abs, found)) < 0.01


def test_what_is_asked_is_not_among_what_is_learnt() -> None:
    odd = [Run(n, k, 1.0 if n <= 2 else 100.0, 1.0) for n in HOSTS for k in PER_HOST]
    assert len(multicore.ahead("power", odd)) == 2 * len(PER_HOST)
    assert max(multicore.ahead("power", odd)) < -0.9


def test_a_run_is_the_median_of_its_repeats_and_a_missing_one_is_told(
    tmp_path: Path,
) -> None:
    rows = Rows.of(tmp_path / "multicore.jsonl")
    (first, _) = PLATFORMS
    with pytest.raises(ApplicationError, match="no run of half, kernels, 1 x 1 yet"):
        multicore.runs_of(rows, first, "heat2d")
    every = [(SPEED[0], 1, 1)]
    every += [("heat2d", n, k) for n in HOSTS for k in PER_HOST]
    for name, hosts, per_host in every:
        for repeat, seconds in enumerate((2.0, 9.0, 3.0)):
            run = {"platform": "half", "program": name, "hosts": hosts}
            run |= {"per_host": per_host, "repeat": repeat}
            rows.get(run, lambda seconds=seconds: {"seconds": seconds})
    found = multicore.runs_of(Rows.of(tmp_path / "multicore.jsonl"), first, "heat2d")
    assert [(one.hosts, one.per_host) for one in found] == [
        (n, k) for n in HOSTS for k in PER_HOST
    ]
    assert {one.time_s for one in found} == {3.0}
    assert {one.speed for one in found} == {SPEED[2] / 3.0}
