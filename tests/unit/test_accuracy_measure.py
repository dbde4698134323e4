"""How the accuracy run makes its runs, and what it keeps of them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from benchmarks.accuracy.applications import Application
from benchmarks.accuracy.machine import skelgen_identity
from benchmarks.accuracy.measure import Bench, RunError
from benchmarks.accuracy.order import Design
from benchmarks.accuracy.results import Key, Log, Run, read
from tests.testbed.cluster import Cluster
from tests.testbed.scenarios import SCENARIOS

ONE = Application("a", 2, "./a", "", "", "", "")


def bench_in(folder: Path) -> Bench:
    return Bench(
        cluster=Cluster("none"),
        hosts=(),
        folder=folder,
        design=Design((1.0,), (), SCENARIOS[1:], 1),
        stamp="",
        quiet="",
        slow="",
        limit_s=1.0,
        end_s=0.0,
        known={},
        log=Log(folder / "results.jsonl"),
    )


@pytest.mark.parametrize(
    ("steal", "made"), [([0.02], 1), ([0.4, 0.1, 0.03], 3), ([0.4, 0.3, 0.2, 0.1], 3)]
)
def test_a_run_that_other_guests_disturbed_is_made_again(
    steal: list[float], made: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    times = iter(float(number) for number in range(1, 9))
    shares = iter(steal)
    monkeypatch.setattr(Bench, "share", lambda *_: None)
    monkeypatch.setattr(Bench, "_run", lambda *_: (next(times), 0.5))
    monkeypatch.setattr("benchmarks.accuracy.measure.stolen", lambda _: next(shares))
    bench, key = bench_in(tmp_path), Key("a", "quiet", "application", 0.0, 0)
    bench._trial(ONE, SCENARIOS[0], key)
    assert bench.known == {key: Run(float(made), 0.5, steal[made - 1])}
    assert read(tmp_path / "results.jsonl").measured == bench.known
    assert (tmp_path / "results.jsonl").read_text().count("\n") == made


def test_a_command_beside_the_cluster_that_hangs_is_ended(tmp_path: Path) -> None:
    (tmp_path / "a/2-ranks").mkdir(parents=True)
    bench = bench_in(tmp_path)
    with pytest.raises(RunError, match=r"did not end within 0\.1 s and was ended"):
        bench._command(["sleep", "99"], ONE, 0.1)


SAID = '{"seconds": 1.5, "compute_s": [1.0, 2.0], "mpi_s": [0.5, 0.5]}'


@pytest.mark.parametrize("around", ["{}", "starting\n{}\nmpirun says goodbye\n"])
def test_a_launcher_may_print_around_what_a_skeleton_says(
    around: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = around.replace("{}", SAID)
    monkeypatch.setattr(Bench, "_launch", lambda *_: [])
    monkeypatch.setattr(Bench, "_at_head", lambda *_: text)
    key = Key("a", "quiet", "skeleton", 1.0, 0)
    assert bench_in(tmp_path)._run(ONE, SCENARIOS[0], key) == (1.5, 0.25)


@pytest.mark.parametrize("text", ["", "goodbye\n", '{"seconds": \n'])
def test_a_skeleton_that_says_nothing_is_left_out(
    text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Bench, "share", lambda *_: None)
    monkeypatch.setattr(Bench, "_launch", lambda *_: [])
    monkeypatch.setattr(Bench, "_at_head", lambda *_: text)
    bench, key = bench_in(tmp_path), Key("a", "quiet", "skeleton", 1.0, 0)
    bench._trial(ONE, SCENARIOS[0], key)
    (refusal,) = read(tmp_path / "results.jsonl").refused
    assert "skeleton printed no time" in refusal.why


def test_what_is_recorded_and_built_depends_on_the_stamp(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stamps: list[str] = []
    monkeypatch.setattr(Application, "make", lambda *made: stamps.append(made[2]))
    bench = replace(bench_in(tmp_path), stamp="one", design=Design((), (), (), 1))
    bench.prepare(ONE, SCENARIOS[0])
    assert stamps == ["one"]


def test_another_skelgen_has_another_identity(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("benchmarks.accuracy.machine.ROOT", tmp_path)
    seen = {skelgen_identity()}

    def write(name: str, text: str) -> None:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
        seen.add(skelgen_identity())

    write("skelgen/a.py", "1")
    write("skelgen/a.py", "2")
    for folder in ("skelgen/cli", "pmpi_shim", "templates/skeleton"):
        write(f"{folder}/a", "2")
    assert len(seen) == 6
    for folder in ("skelgen/__pycache__", "pmpi_shim/build", "templates/web"):
        write(f"{folder}/a", "2")
    assert len(seen) == 6
