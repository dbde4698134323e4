"""What a mix is fitted to: application and parts, in turn and in few runs."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import numpy as np
import pytest

from skelgen.launch.own_launches import OwnLaunch, remember
from skelgen.launch.record import RunFacts
from skelgen.pipeline import mix as pipeline_mix
from skelgen.reference.calibration import Mix
from skelgen.reference.competitors import Bench
from skelgen.reference.mix_fit import WORKING_SETS
from skelgen.reference.turns import GAP_DTYPE, TurnsSlowdown


class _Bench:
    """Notes what is measured: the length of turns, or the working set of parts."""

    compiler, processes = "cc", 1

    def __init__(self) -> None:
        self.seen: list[float | int] = []
        self.slowdowns: list[TurnsSlowdown] = []

    def parts(self, size_bytes: int) -> tuple[tuple[float, float], ...]:
        self.seen.append(size_bytes)
        return (1.0, 1.0), (1.0, 1.5), (1.5, 3.0)

    @contextmanager
    def in_turns(self, lasting_s: float) -> Iterator[Callable[[], None]]:
        self.seen.append(lasting_s)
        yield lambda: None

    @property
    def turns(self) -> list[float | int]:
        return [one for one in self.seen if one not in WORKING_SETS]


def gaps(length_ms: int) -> np.ndarray:
    found = np.zeros(100, GAP_DTYPE)
    found["cpu_ns"] = length_ms * 1_000_000
    return found


@pytest.fixture
def bench(monkeypatch: pytest.MonkeyPatch) -> _Bench:
    made = _Bench()

    def application(*_: object) -> tuple[float, float]:
        made.seen.append(-1)
        return 1.0, 1.25

    def replace(name: str, value: object) -> None:
        monkeypatch.setattr(pipeline_mix, name, value)

    facts = RunFacts(("true",), ".", "", 10.0, 0, "", "", "", 1, (0.0, 0.0, 0.0), ())
    monkeypatch.setattr(Bench, "of", lambda *_: made)
    replace("whole_runs", application)
    replace("_mixture", lambda _, mix: (1 + mix.chasing / 2, 1 + mix.streaming / 2))
    replace("reference_compiler", lambda _: "cc")
    replace("_facts", lambda _: facts)
    replace("open_trace", lambda _: None)
    replace("collect", lambda _: None)
    replace("gaps_of", lambda _: gaps(10))
    replace("again", lambda *_, **__: None)
    replace("slowdown_in_turns", lambda *_: made.slowdowns.pop(0))
    remember(OwnLaunch(facts.command, facts.folder))
    return made


def test_one_run_is_enough_where_it_tells_enough(
    bench: _Bench, tmp_path, caplog
) -> None:
    bench.slowdowns = [TurnsSlowdown((1.0, 1.25), 0.005, 0.95)]
    fitted = pipeline_mix.fit_mix(tmp_path, (), runs=3)
    assert bench.turns == [0.2]
    assert sorted(bench.seen[1:]) == sorted(WORKING_SETS)
    assert (fitted.runs, fitted.uncertainty) == (1, 0.005)
    assert not caplog.text
    assert fitted.wanted == (1.0, 1.25)
    assert fitted.mix.shares == pytest.approx((0.5, 0.5, 0.0))
    assert pipeline_mix.fitted_mix(tmp_path) == fitted


def test_noise_takes_more_runs_but_never_more_than_allowed(
    bench: _Bench, tmp_path, caplog
) -> None:
    noisy = TurnsSlowdown((1.0, 1.25), 0.05, 0.95)
    bench.slowdowns = [noisy] * 9
    fitted = pipeline_mix.fit_mix(tmp_path, (), runs=3)
    assert bench.turns == [0.2] * 3
    assert fitted.runs == 3
    assert 0.02 < fitted.uncertainty < 0.05
    assert "known to 2.9 % only, at most 2.0 % are trusted" in caplog.text
    assert bench.seen[1] in WORKING_SETS
    assert len(bench.seen) == 3 + len(WORKING_SETS)


@pytest.mark.parametrize("length_ms", [0, 2000])
def test_long_computations_are_measured_in_whole_runs(
    bench: _Bench, tmp_path, monkeypatch, length_ms
) -> None:
    monkeypatch.setattr(pipeline_mix, "gaps_of", lambda _: gaps(length_ms))
    fitted = pipeline_mix.fit_mix(tmp_path, (), runs=3)
    assert bench.turns == [-1]
    assert (fitted.runs, fitted.wanted) == (3, (1.0, 1.25))


def test_a_run_that_turns_tell_nothing_of_is_no_evidence(
    bench: _Bench, tmp_path
) -> None:
    bench.slowdowns = [TurnsSlowdown((1.7, 1.9), 0.001, 0.2)]
    fitted = pipeline_mix.fit_mix(tmp_path, (), runs=3)
    assert bench.turns == [0.2, -1]
    assert fitted.wanted == (1.0, 1.25)


def test_older_files_say_nothing_of_runs(tmp_path) -> None:
    (tmp_path / "mix.json").write_text(
        '{"format": 1, "mix": {"arithmetic": 1, "streaming": 0, "chasing": 0, '
        '"working_set_bytes": 4096}, "wanted": [1.0, 1.1], "got": [1.0, 1.0]}'
    )
    fitted = pipeline_mix.fitted_mix(tmp_path)
    assert fitted is not None
    assert (fitted.mix, fitted.runs) == (Mix(working_set_bytes=4096), 0)
