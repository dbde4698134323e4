"""What the benchmark of choices computes from times."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest

from benchmarks.choosing import (
    Bench,
    Pattern,
    agreement,
    check_same_run,
    kendall,
    report,
    times_of,
    turns,
)
from skelgen.errors import UsageError
from skelgen.launch.json_lines import JsonLines
from tests.testbed.cluster import Cluster

TRUE_S = {"a": 10.0, "b": 10.2, "c": 20.0}


def test_an_application_agrees_with_itself_as_far_as_its_runs_do() -> None:
    same = {"a": [1.0, 4.0], "b": [2.0, 5.0], "c": [3.0, 6.0]}
    assert agreement(same) == 1
    assert agreement({**same, "c": [3.0, 1.0]}) == pytest.approx(-1 / 3)


@pytest.mark.parametrize(
    ("order", "every", "apart"),
    [
        ("abc", 1.0, 1.0),
        ("bac", 1 / 3, 1.0),
        ("cba", -1.0, -1.0),
        ("ab", 1 / 3, 0.0),  # c was not predicted
        ("c", 0.0, 0.0),
    ],
)
def test_rank_correlation_can_leave_equal_times_out(order, every, apart) -> None:
    assert kendall(order, TRUE_S) == pytest.approx(every)
    assert kendall(order, TRUE_S, 0.05) == pytest.approx(apart)


def test_a_pattern_is_the_same_in_every_run() -> None:
    assert Pattern.drawn(3) == Pattern.drawn(3)
    assert len({str(Pattern.drawn(number)) for number in range(10)}) == 10


def test_the_second_round_goes_backwards_and_on_after_a_stop() -> None:
    assert "".join(turns("abc", 2, {})) == "abccba"
    assert "".join(turns("abc", 2, {"a": [1.0], "b": [1.0]})) == "ccba"
    assert (
        "".join(turns("abc", 2, {one: [1.0] for one in "ab"} | {"c": [1.0] * 2}))
        == "ba"
    )
    assert not list(turns("abc", 1, {one: [1.0] for one in "abc"}))


def test_the_truth_is_the_median_of_all_runs_of_a_pair(capsys) -> None:
    pairs = ["h1,h2", "h1,h3", "h1,h4", "h2,h3", "h2,h4", "h3,h4"]
    order = [{"pair": pair, "p5_s": 8.0, "p95_s": 13.0} for pair in pairs]
    lines = [
        {"pattern": 0, "select": {"order": order, "seconds": 6.0}},
        *({"pattern": 0, "pair": p, "seconds": 9.0 + i} for i, p in enumerate(pairs)),
        *({"pattern": 0, "pair": p, "seconds": 11.0 + i} for i, p in enumerate(pairs)),
    ]
    assert times_of(lines, 0)["h1,h3"] == [10.0, 12.0]
    assert times_of(lines, 1) == {}
    report(lines, 2)
    row = f"| {Pattern.drawn(0)} | h1,h2 | h1,h2 | 0.0% | 1.00 | 1.00 | yes | 8.0% |"
    assert row in capsys.readouterr().out
    with pytest.raises(SystemExit, match="no complete pattern yet"):
        report(lines[:-1], 2)


SETTINGS = {"steps": 1500, "length_s": 0.32, "budget": "8s", "share": 0.5}
TODAY = {"steps": 1500, "length_s": 0.32, "share": 0.5}  # before budgets were kept


@pytest.mark.parametrize(
    ("settings", "mpi", "said"),
    [
        (SETTINGS, "MPICH 5", ""),
        (TODAY, "MPICH 5", ""),
        ({**SETTINGS, "budget": "16s"}, "MPICH 5", "--length 0.32 --budget 16s: give"),
        ({**TODAY, "steps": 9}, "MPICH 5", "--steps 9 --length 0.32 --budget 8s: give"),
        (SETTINGS, "MPICH 4", "another MPI of the name mpirun; take another file"),
    ],
)
def test_runs_of_other_settings_or_programs_are_not_added_to_a_file(
    settings: dict[str, object], mpi: str, said: str, tmp_path: Path
) -> None:
    log = JsonLines(tmp_path / "results.jsonl")
    log.append({"provenance": {"settings": settings, "mpi": {"mpirun": mpi}}})
    now = {"mpi": {"mpirun": "MPICH 5"}}
    if not said:
        check_same_run(log, SETTINGS, now)
        return
    with pytest.raises(UsageError, match=said):
        check_same_run(log, SETTINGS, now)


def test_a_skeleton_of_other_steps_length_or_skelgen_is_built_afresh(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[str] = []
    mpi = SimpleNamespace(title="MPI 1", compiler="true")
    monkeypatch.setattr("benchmarks.choosing.find_mpi", lambda: mpi)
    monkeypatch.setattr("benchmarks.choosing.skelgen_identity", lambda: "1")
    times_s = {"run-0": 3.0, "run-1": 1.0, "run-2": 2.0}

    def record(_: Bench, pair: str, target: str) -> float:
        made.append("record")
        return times_s[target]

    monkeypatch.setattr(Bench, "record", record)
    monkeypatch.setattr(Bench, "at_head", lambda _, words: made.extend(words[1:3]))
    bench = Bench(Cluster("none"), tmp_path, ("./heat2d", "9"))

    def steps(bench: Bench, length_s: float) -> list[str]:
        made.clear()
        bench.prepare(length_s)
        return list(made)

    every = [*["record"] * len(times_s), "build", "run-1", "calibrate", "skel"]
    assert steps(bench, 0.3) == every
    assert steps(bench, 0.3) == []
    assert steps(bench, 0.4) == every
    assert steps(replace(bench, program=("./heat2d", "8")), 0.4) == every
    monkeypatch.setattr("benchmarks.choosing.skelgen_identity", lambda: "2")
    assert steps(bench, 0.4) == every

    def stopped(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as meanwhile, pytest.raises(KeyboardInterrupt):
        meanwhile.setattr(Bench, "record", stopped)
        bench.prepare(0.3)
    assert steps(bench, 0.4) == every
