"""What the benchmark of unmeasured time computes from runs and from ratios."""

from __future__ import annotations

import math

import numpy as np
import pytest

from benchmarks import unmeasured_time
from benchmarks.accuracy.measure import RunError
from skelgen.models.kernel_times import students
from skelgen.phases.counts import event_counts
from skelgen.phases.extract import extract
from tests import builders, phase_programs, summaries


def case(application: str, phases: int, spread: float, log_ratio: float):
    return unmeasured_time.Case(
        application, "busy", phases, spread, 0.1, float(log_ratio)
    )


def test_phases_are_found_again_in_another_run() -> None:
    text = phase_programs.multigrid(6)
    first = builders.events(text)
    built = summaries.build(first)
    trace = summaries.logical_trace_of(first, built)
    found = extract(first, built.matching, trace)
    counts = event_counts(first.calls, found.cut)
    times_s = unmeasured_time.phase_times_s(found, counts, first)
    body = [phase.part == "body" for phase in found.phases]
    expected_s = [phase.time_s * phase.weight for phase in found.phases]
    # What the first iteration takes more belongs to the prologue there.
    assert times_s[body] == pytest.approx(np.array(expected_s)[body], rel=0.1)
    slower_s = unmeasured_time.phase_times_s(found, counts, builders.longer(first, 3))
    assert slower_s == pytest.approx(3 * times_s)
    with pytest.raises(RunError, match="differ from run to run"):
        other = builders.events(phase_programs.multigrid(5))
        unmeasured_time.phase_times_s(found, counts, other)


def test_the_likeliest_knowledge_is_that_of_the_programs() -> None:
    generator = np.random.default_rng(5)
    cases = []
    for number in range(400):
        own = 0.2 * math.sqrt(4 / generator.chisquare(4))
        ratios = own * generator.standard_normal(4)
        rest = own * generator.standard_normal()
        cases.append(case(f"p{number}", 4, float(ratios.std(ddof=1)), rest))
    spread, worth = unmeasured_time.fitted(cases)
    assert spread == pytest.approx(0.2, rel=0.25)
    assert 2.5 < worth < 7
    hits = unmeasured_time.inside(cases, lambda _: (spread, worth))
    assert hits == pytest.approx(0.9, abs=0.05)


def test_equal_ratios_make_the_rest_known_better() -> None:
    equal, one = case("p", 5, 0.01, 0.0), case("p", 1, 0.0, 0.0)
    assert unmeasured_time.known(equal, 0.4, 2.0)[0] == pytest.approx(0.231, abs=0.001)
    assert unmeasured_time.known(one, 0.4, 2.0) == (pytest.approx(0.4), 2.0)
    assert students(2.0) == pytest.approx(2.92, rel=0.02)


def test_one_program_alone_is_judged_but_nothing_is_fitted(capsys) -> None:
    unmeasured_time.show_fit([case("p", 3, 0.1, 0.5), case("p", 3, 0.1, 1.0)])
    said = capsys.readouterr().out
    assert "interval: 1 of 2" in said
    assert "nothing is fitted" in said
    unmeasured_time.show_fit([])
    unmeasured_time.show_fit([case(name, 3, 0.1, 0.5) for name in "pq"])
    assert "each program by the others: 100%" in capsys.readouterr().out
