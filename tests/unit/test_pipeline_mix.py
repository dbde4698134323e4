"""What a mix is fitted to: means of application and parts, measured in turn."""

from __future__ import annotations

import pytest

from skelgen.launch.own_launches import OwnLaunch, remember
from skelgen.launch.record import RunFacts
from skelgen.pipeline import mix as pipeline_mix
from skelgen.reference.competitors import Bench
from skelgen.reference.compute import Mix
from skelgen.reference.mix_fit import WORKING_SETS

RUNS = 3


class _Bench:
    """Its competitor for memory costs nothing, then twice the time, in turn."""

    compiler, processes = "cc", 1
    application_s, now_s = 1000.0, 0.0

    def __init__(self) -> None:
        self.seen: list[int] = []
        self.mixed: list[Mix] = []

    def parts(self, size_bytes: int) -> tuple[tuple[float, float], ...]:
        self.now_s += 10
        self.seen.append(size_bytes)
        felt = 2.0 if self.seen.count(size_bytes) % 2 == 0 else 1.0
        return (1.0, 1.0), (1.0, felt), (1.5, 3.0)


@pytest.fixture
def bench(monkeypatch: pytest.MonkeyPatch) -> _Bench:
    made = _Bench()

    def application(*_: object) -> tuple[float, float]:
        made.now_s += made.application_s
        made.seen.append(0)
        return 1.0, 1.5 if made.seen.count(0) % 2 == 0 else 1.0

    def mixture(_: object, mix: Mix) -> tuple[float, float]:
        made.mixed.append(mix)
        return 1 + mix.chasing / 2, 1 + mix.streaming / 3 + 2 * mix.chasing

    monkeypatch.setattr(Bench, "of", lambda *_: made)
    monkeypatch.setattr(pipeline_mix, "_application", application)
    monkeypatch.setattr(pipeline_mix, "perf_counter", lambda: made.now_s)
    monkeypatch.setattr(pipeline_mix, "_mixture", mixture)
    monkeypatch.setattr(pipeline_mix, "reference_compiler", lambda _: "cc")
    facts = RunFacts(("true",), ".", "", 1.0, 0, "", "", "", 1, (0.0, 0.0, 0.0), ())
    monkeypatch.setattr(pipeline_mix, "_facts", lambda *_: facts)
    remember(OwnLaunch(facts.command, facts.folder))
    return made


def test_application_and_parts_are_measured_in_turn_and_count_in_the_mean(
    bench: _Bench, tmp_path
) -> None:
    fitted = pipeline_mix.fit_mix(tmp_path, (), runs=RUNS)
    assert bench.seen == [0, *WORKING_SETS] * RUNS
    # In one of three runs: the application half as slow again, streaming twice.
    assert fitted.wanted == pytest.approx((1.0, 3.5 / 3))
    assert bench.mixed[0].shares == pytest.approx((0.5, 0.5, 0.0))
    assert pipeline_mix.fitted_mix(tmp_path) == fitted


@pytest.mark.parametrize(("application_s", "between"), [(9, 1), (19, 2), (31, 4)])
def test_a_short_application_runs_for_as_long_as_its_parts(
    bench: _Bench, tmp_path, application_s: float, between: int
) -> None:
    bench.application_s = application_s
    pipeline_mix.fit_mix(tmp_path, (), runs=1)
    runs = [at for at, size in enumerate(bench.seen) if size == 0]
    first = bench.seen[1 : 1 + between]
    assert first == list(WORKING_SETS[:between])
    assert runs[1] == 1 + between
    assert [size for size in bench.seen if size] == list(WORKING_SETS)
