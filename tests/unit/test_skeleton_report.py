"""What a plan says about itself."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest

from skelgen.skeleton.keep.dominant_sequence import largest_good_scaling_factor
from skelgen.skeleton.plan import plan
from skelgen.trust.recording_doubts import Unseen, Used
from tests.random_programs import random_program
from tests.skeletons import signature
from tests.unit.test_skeleton_plan import STEPS


def test_classes_are_listed_with_calls_and_seconds_largest_first() -> None:
    report = plan(signature(STEPS), 5).report
    labels = [found.label for found in report.classes]
    assert labels[0] == "Irecv from -1, up to 1 KiB"
    first = report.classes[0]
    assert (first.calls, first.kept) == (1200, 240)
    assert first.seconds == pytest.approx(1200 * 8100e-9)
    assert first.kept_s == pytest.approx(first.seconds / 5, rel=0.02)
    seconds = [found.seconds for found in report.classes]
    assert seconds == sorted(seconds, reverse=True)


@pytest.mark.parametrize("factor", [2, 4, 10, 20])
def test_the_expected_time_is_that_of_the_application_over_k(factor: float) -> None:
    known = signature(STEPS)
    report = plan(known, factor).report
    assert report.expected_s == pytest.approx(known.application_s / factor, rel=0.02)


def test_the_kept_fraction_is_that_of_the_calls() -> None:
    made = plan(signature(STEPS), 10)
    kept = sum(
        operation.occurrences * len(program.ranks)
        for program in made.programs
        for operation in program.operations
    )
    assert made.report.fraction == pytest.approx(kept / made.signature.events)
    assert sum(found.kept for found in made.report.classes) == kept


def test_what_the_skeleton_does_otherwise_is_told_once() -> None:
    known = signature(STEPS)
    rank_s = known.application_s * known.ranks
    waits = replace(known, not_computed=(("files", 0.1 * rank_s),))
    (told,) = plan(waits, 10).report.warnings
    assert "waited for files for 10.0%" in told
    timed = replace(waits, unseen=Unseen(files=Used(1.0, 0.12)))
    (told,) = plan(timed, 10).report.warnings
    assert "file I/O" in told


def test_a_regular_program_is_planned_without_warning() -> None:
    assert plan(signature(STEPS), 10).report.warnings == ()


def test_the_dominant_loop_sets_the_largest_good_scale() -> None:
    known = signature(STEPS)
    assert largest_good_scaling_factor(known) == 300
    report = plan(known, 100).report
    assert report.largest_good_scaling_factor == 300
    assert report.smallest_good_s == pytest.approx(known.application_s / 300)


def test_k_beyond_the_dominant_loop_keeps_a_whole_iteration() -> None:
    known = signature(STEPS)
    report = plan(known, 400).report
    assert not any("one full iteration" in text for text in report.warnings)
    assert report.divided
    assert report.largest_good_scaling_factor == 400
    assert report.expected_s == pytest.approx(known.application_s / 400, rel=0.1)


def test_several_loops_are_dominant_together() -> None:
    phase = "repeat {n} {{\n1000 Barrier site={n}\n}}"
    text = "\n".join(phase.format(n=n) for n in (50, 60, 70, 80))
    # The three that are repeated most hold 81 % of the time, the two 58 %.
    assert largest_good_scaling_factor(signature(f"ranks 2\nrank *\n{text}")) == 60


def test_without_repetition_nothing_shorter_is_good() -> None:
    calls = "\n".join(f"1000 Barrier site={site}" for site in range(1, 9))
    assert largest_good_scaling_factor(signature(f"ranks 2\nrank *\n{calls}")) == 1


def test_classes_too_rare_to_keep_one_are_dropped_with_their_time() -> None:
    known = signature(
        """
        ranks 2
        rank *
          Alltoall bytes=4000 mpi=5000000 site=1
          repeat 1000 {
            1000 Barrier site=2
          }
        """
    )
    report = plan(known, 100).report
    assert report.dropped == (("too rare to keep one", 2, pytest.approx(0.01)),)
    assert report.dropped_share > 0.02
    assert any("not represented" in text for text in report.warnings)


def test_averages_that_lose_spread_are_listed() -> None:
    # Below 0.5 % of the time, so one average, yet with a wide spread.
    calls = "\n".join(
        f"1000000 Barrier site=1\n{1 if i % 2 else 6000} Allreduce bytes=8 op=1 site=2"
        for i in range(400)
    )
    report = plan(signature(f"ranks 2\nrank *\n{calls}"), 10).report
    [(what, calls_merged, deviation_s)] = report.merged
    assert what == "computation before Allreduce"
    assert calls_merged == 800
    assert deviation_s == pytest.approx(3e-6, rel=0.01)


def test_reports_of_random_programs_hold_together() -> None:
    for seed in range(30):
        known = signature(random_program(random.Random(seed), calls=300))
        report = plan(known, 2).report
        assert sum(found.calls for found in report.classes) == sum(
            int(group.count.sum()) * len(group.ranks) for group in known.groups
        )
        assert 0 <= report.dropped_share <= 1
        assert 0 < report.expected_s < known.application_s
        assert report.largest_good_scaling_factor >= 1
