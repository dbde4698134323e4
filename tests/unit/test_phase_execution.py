"""Which occurrences are measured, and what their times say of the application."""

from __future__ import annotations

import signal
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from skelgen.errors import InputError, MachineError
from skelgen.launch.command import LaunchCommand
from skelgen.phase_execution import Application, Measured, WantedOccurrence, execute
from skelgen.phase_execution.backends import choose
from skelgen.phase_execution.course import Course
from skelgen.phase_execution.criu import CriuBackend
from skelgen.phase_execution.estimate import Estimate, estimate, paet_s, uncovered
from skelgen.phase_execution.interface import BackendProbe
from skelgen.phase_execution.marks import (
    HOLD,
    PROBE,
    STOP,
    TIME,
    marks_file,
    mean_s,
    probed,
    read_times,
    timed,
    times_file,
    write_marks,
)
from skelgen.phase_execution.plan import (
    ExecutedExtent,
    by_images,
    in_one_run,
)
from skelgen.phases.stored import Occurrence, PhaseSignature, StoredPhase
from skelgen.phases.types import Parameters, Phase
from tests import summaries
from tests.method_errors import ERRORS
from tests.unit.test_trust_recording_doubts import EVERYTHING


def phase(
    number: int,
    first: int,
    weight: int,
    time_s: float,
    step: int = 10,
    *,
    site: str = "",
) -> StoredPhase:
    """Return a phase of two ranks whose occurrences follow each other."""
    occurrences = tuple(
        Occurrence(
            number=at,
            time_s=time_s,
            begin=(first + at * step,) * 2,
            end=(first + (at + 1) * step,) * 2,
        )
        for at in range(weight)
    )
    found = Phase(
        number=number,
        key="",
        site_key=site or str(number),
        calls=("MPI_Send", "MPI_Wait"),
        events=step,
        weight=weight,
        time_s=time_s,
        spread=0.01,
        drift=0.0,
        share=0.0,
    )
    return StoredPhase(found, occurrences)


def signature(*phases: StoredPhase, outside_s: float = 0.0) -> PhaseSignature:
    whole_s = outside_s + sum(one.phase.time_s * one.phase.weight for one in phases)
    shares = [one.phase.time_s * one.phase.weight / whole_s for one in phases]
    return PhaseSignature(
        provenance=summaries.PROVENANCE,
        folder="",
        environment=(),
        files=(),
        ranks=2,
        threads=1,
        application_s=whole_s,
        counts=phases[-1].occurrences[-1].end if phases else (0, 0),
        parameters=Parameters(),
        phases=tuple(
            replace(one, phase=replace(one.phase, share=share))
            for one, share in zip(phases, shares, strict=True)
        ),
        others=0,
        others_share=0.0,
    )


MAIN = phase(1, first=0, weight=50, time_s=0.1)
LATE = phase(2, first=500, weight=1, time_s=0.1)
LARGE_LATE = phase(2, first=500, weight=1, time_s=5.0)


def test_a_run_is_stopped_within_its_share_and_the_first_occurrence_warms_up():
    plan = in_one_run(signature(MAIN), ExecutedExtent(warm_up=1, fewest=1, share=0.08))
    assert [one.occurrence for one in plan.wanted] == [1, 2, 3]
    assert plan.expected_s == pytest.approx(0.4)
    assert plan.wanted[-1].end.tolist() == [40, 40]


def test_the_fewest_occurrences_are_measured_whatever_the_share():
    plan = in_one_run(signature(MAIN), ExecutedExtent(warm_up=2, fewest=10, share=0.01))
    assert [one.occurrence for one in plan.wanted] == list(range(2, 12))


def test_what_comes_once_is_measured_without_warm_up():
    once = phase(1, first=0, weight=1, time_s=1.0)
    given = signature(once, phase(2, 10, 50, 0.1))
    plan = in_one_run(given, ExecutedExtent(pays=0.0))
    assert {(one.phase, one.occurrence) for one in plan.wanted} == {(1, 0), (2, 1)}


def test_phases_of_one_structure_warm_each_other_up():
    """Steps with output come rarely: their first occurrence is not wasted."""
    step = phase(1, first=0, weight=40, time_s=0.1, site="step")
    output = phase(2, first=200, weight=4, time_s=0.5, step=60, site="step")
    plan = in_one_run(signature(step, output), ExecutedExtent(share=0.0))
    assert {(one.phase, one.occurrence) for one in plan.wanted} == {
        *((1, number) for number in range(1, 26)),
        (2, 0),
    }
    images = by_images(signature(step, output), ExecutedExtent())
    assert [one.occurrence for one in images.wanted] == [1, 0]
    assert images.wanted[1].warm.tolist() == [190, 190]


def test_more_is_measured_where_few_occurrences_tell_little():
    few = phase(1, first=0, weight=40, time_s=1.0)
    plan = in_one_run(signature(few), ExecutedExtent())
    assert [one.occurrence for one in plan.wanted] == [1, 2]  # 7.5 % of the run
    even = replace(MAIN, phase=replace(MAIN.phase, spread=0.1))
    found = {
        most: in_one_run(signature(even), ExecutedExtent(most=most)).expected_s
        for most in (0.06, 0.08, 0.5, 1.0)
    }
    enough = in_one_run(signature(even), ExecutedExtent(most=1.0)).wanted
    assert 0.1 / np.sqrt(len(enough)) <= 0.025 < 0.1 / np.sqrt(len(enough) - 1)
    assert list(found.values()) == sorted(found.values())
    assert found[0.5] < 0.51 * 5.0


@pytest.mark.parametrize(("weight", "measured"), [(40, [1, 2, 3, 4]), (10, [1])])
def test_a_few_are_measured_that_differ_much_if_that_pays(weight, measured):
    """Four times here and in the recording tell the machine's part, for 12.5 %."""
    one = phase(1, first=0, weight=weight, time_s=1.0)
    differ = replace(one, phase=replace(one.phase, spread=0.4))
    plan = in_one_run(signature(differ), ExecutedExtent())
    assert [found.occurrence for found in plan.wanted] == measured
    usual = in_one_run(signature(differ), ExecutedExtent(pays=0.0))
    assert [found.occurrence for found in usual.wanted] == measured[:2]


def test_a_stretch_of_occurrences_counts_as_all_of_them():
    stretch = Occurrence(64, 1.0, (640, 640), (740, 740), repeats=10)
    long = replace(phase(1, 0, 2000, 0.1), occurrences=(*MAIN.occurrences, stretch))
    known = signature(long)
    assert Course(known).end_s(stretch) == pytest.approx(7.4)
    times = [*measured(1, [0.2] * 5), Measured(1, 64, 2.0)]
    found = estimate(known, times, np.random.default_rng(1), ERRORS)
    assert found.phases[0].occurrences == 15
    assert found.phases[0].pet_s == pytest.approx(0.2)


def test_a_small_phase_at_the_end_is_left_out_and_a_large_one_is_not():
    plan = in_one_run(signature(MAIN, LATE), ExecutedExtent())
    assert {one.phase for one in plan.wanted} == {1}
    plan = in_one_run(signature(MAIN, LARGE_LATE), ExecutedExtent())
    assert {one.phase for one in plan.wanted} == {1, 2}
    assert plan.wanted[-1].phase == 2
    assert plan.expected_s == pytest.approx(10.0)


def test_images_reach_every_phase_from_the_occurrence_before():
    plan = by_images(signature(MAIN, LATE), ExecutedExtent())
    assert [(one.phase, one.occurrence) for one in plan.wanted] == [(1, 1), (2, 0)]
    assert plan.wanted[0].warm.tolist() == [0, 0]
    assert plan.expected_s == pytest.approx(5.1)


HOSTS = LaunchCommand((), None, ("-hosts", "n1,n2"), 2, ("/bin/true",), None)
HERE = replace(HOSTS, options=())


@pytest.mark.parametrize(
    ("name", "phases", "launch", "kept", "works", "chosen"),
    [
        ("auto", (MAIN, LARGE_LATE), HERE, True, True, "criu"),
        ("auto", (MAIN, LARGE_LATE), HERE, False, True, None),  # as long, and more
        ("auto", (MAIN, LATE), HERE, True, True, "live"),
        ("auto", (MAIN, LARGE_LATE), HOSTS, True, True, None),
        ("auto", (MAIN, LARGE_LATE), HERE, True, False, None),
        ("live", (MAIN, LARGE_LATE), HERE, True, True, None),
        ("live", (MAIN, LATE), HERE, True, True, "live"),
        ("criu", (MAIN, LATE), HERE, False, True, "criu"),
    ],
)
def test_images_are_chosen_for_late_phases_where_they_are_kept(
    name, phases, launch, kept, works, chosen, monkeypatch, tmp_path
):
    monkeypatch.setattr(
        CriuBackend, "probe", lambda *_: BackendProbe(works, "no privilege")
    )
    known, application = signature(*phases), Application(launch, 2)
    images = tmp_path if kept else None
    if chosen is None:
        text = r"take about 10 s of its 10 s \(100%; up to 30% pays\): time a plain run"
        with pytest.raises(InputError, match=text):
            choose(name, known, ExecutedExtent(), application, images=images)
        whole = ExecutedExtent(share=1.0)  # the user agrees to it
        backend, _ = choose(name, known, whole, application, images=images)
        assert backend.name == "live"
        return
    backend, plan = choose(name, known, ExecutedExtent(), application, images=images)
    planned = by_images if chosen == "criu" else in_one_run
    assert backend.name == chosen
    assert plan.expected_s == planned(known, ExecutedExtent()).expected_s


def test_a_backend_that_was_named_and_does_not_work_is_refused(monkeypatch):
    monkeypatch.setattr(
        CriuBackend, "probe", lambda *_: BackendProbe(False, "no privilege")
    )
    with pytest.raises(MachineError, match="--backend criu: no privilege"):
        choose("criu", signature(MAIN), ExecutedExtent(), Application(HERE, 2))


@pytest.mark.parametrize(
    ("known", "text"),
    [
        (signature(phase(1, 0, 1, 1.0)), None),
        (replace(signature(MAIN), phases=()), "no relevant phases"),
        (replace(signature(MAIN), threads=4), "4 threads of a rank"),
    ],
)
def test_signatures_without_fixed_phases_are_refused(
    known: PhaseSignature, text: str | None
):
    if text is None:
        assert in_one_run(known, ExecutedExtent()).wanted
        return
    with pytest.raises(InputError, match=text):
        in_one_run(known, ExecutedExtent())


def measured(number: int, times_s: list[float]) -> list[Measured]:
    return [Measured(number, at, time_s) for at, time_s in enumerate(times_s)]


def test_the_predicted_time_is_the_sum_of_times_and_weights():
    known = signature(MAIN, phase(2, 500, 10, 0.5))
    times = [*measured(1, [0.2, 0.2]), *measured(2, [0.6])]
    found = estimate(known, times, np.random.default_rng(1), ERRORS)
    assert found.time_s.p50 == pytest.approx(50 * 0.2 + 10 * 0.6)
    assert paet_s(known, times) == found.time_s.p50
    assert found.verdict == "trust"
    assert sum(one.share for one in found.phases) == pytest.approx(1)


def restored(known: StoredPhase, times_s: list[float]) -> Estimate:
    times = [Measured(1, 1 if known.phase.weight > 1 else 0, one) for one in times_s]
    return estimate(signature(known), times, np.random.default_rng(1), ERRORS)


def test_restoring_one_occurrence_tells_nothing_of_the_others():
    uneven = replace(MAIN, phase=replace(MAIN.phase, spread=0.4))
    found = restored(uneven, [0.1] * 3)
    assert found.phases[0].occurrences == 1
    assert found.verdict == "do not trust"
    assert "interval is too wide" in found.doubts[0].text
    assert restored(MAIN, [0.1] * 3).verdict == "trust"
    two = estimate(
        signature(uneven), measured(1, [0.1] * 2), np.random.default_rng(1), ERRORS
    )
    assert two.verdict == "do not trust"
    assert restored(MAIN, [0.1, 0.15, 0.07]).verdict == "do not trust"


def test_a_slow_second_of_the_recording_shifts_predictions_of_steady_machines_only():
    slow = [replace(one, time_s=0.12) for one in MAIN.occurrences[:10]]
    begin = replace(MAIN, occurrences=(*slow, *MAIN.occurrences[10:]))
    noisy = [0.07, 0.14, 0.08, 0.13, 0.09]
    assert paet_s(signature(begin), measured(1, [0.1] * 5)) == pytest.approx(
        5 / 1.2, rel=0.01
    )
    assert paet_s(signature(begin), measured(1, noisy)) == pytest.approx(5.1)


def test_drift_of_the_recording_counts_as_far_as_a_machine_may_have_made_it():
    drifts = replace(MAIN, phase=replace(MAIN.phase, drift=1.1))
    steady, noisy = (
        estimate(
            signature(one), measured(1, times), np.random.default_rng(1), ERRORS
        ).measured_s.half_width
        for one, times in ((drifts, [0.1] * 10), (drifts, [0.09, 0.11] * 5))
    )
    without = estimate(
        signature(MAIN), measured(1, [0.1] * 10), np.random.default_rng(1), ERRORS
    ).measured_s.half_width
    assert without < steady < noisy < 0.2


def test_a_phase_that_comes_once_has_no_spread_that_is_known():
    once = phase(1, first=0, weight=1, time_s=0.1)
    once = replace(once, phase=replace(once.phase, spread=0.0))
    assert restored(once, [0.1]).time_s.half_width > 0.02


def test_what_no_phase_covers_is_scaled_as_the_phases_are():
    known = signature(MAIN, outside_s=0.4)
    assert paet_s(known, measured(1, [0.2, 0.2])) == pytest.approx(2 * 5.4)


def test_the_interval_holds_half_and_twice_of_what_was_not_measured():
    never = phase(2, first=500, weight=1, time_s=0.4)
    for known in (signature(MAIN, outside_s=0.4), signature(MAIN, never)):
        found = estimate(
            known, measured(1, [0.1] * 9), np.random.default_rng(1), ERRORS
        )
        assert found.time_s.p50 == pytest.approx(5.4)
        machine = estimate(
            signature(MAIN), measured(1, [0.1] * 9), np.random.default_rng(1), ERRORS
        ).time_s.half_width
        below, above = (
            abs(end / 5.4 - 1) for end in (found.time_s.p5, found.time_s.p95)
        )
        assert np.sqrt(below**2 - machine**2) == pytest.approx(0.2 / 5.4, abs=0.01)
        assert np.sqrt(above**2 - machine**2) == pytest.approx(0.4 / 5.4, abs=0.01)
        assert found.verdict == "trust"
    # Phases of which one takes as long as there and the other four times as long.
    known = signature(MAIN, phase(2, 500, 50, 0.1), outside_s=0.4)
    times = [*measured(1, [0.1] * 9), *measured(2, [0.4] * 9)]
    wide = estimate(known, times, np.random.default_rng(1), ERRORS).time_s
    assert wide.p95 / wide.p50 - 1 > 2 * 0.4 / known.application_s


def test_a_large_part_that_was_not_measured_is_not_trusted():
    known = signature(MAIN, replace(LATE, phase=replace(LATE.phase, time_s=5.0)))
    found = estimate(known, measured(1, [0.1]), np.random.default_rng(1), ERRORS)
    assert found.verdict == "do not trust"
    assert "come too late" in found.doubts[0].text


def test_calls_that_a_tool_hid_from_the_recorder_are_doubted_and_nothing_else():
    """The application itself runs: its threads, files and children are measured."""
    known = replace(signature(MAIN), unseen=EVERYTHING)
    found = estimate(known, measured(1, [0.1, 0.1]), np.random.default_rng(1), ERRORS)
    assert [one.code for one in found.doubts] == ["hidden-calls"]
    assert "libtool.so" in found.doubts[0].text
    assert uncovered(known, {1}) == found.doubts  # what predict and select ask


def test_phases_that_only_differ_in_their_time_are_known_by_one_of_them():
    slower = phase(2, 500, 50, 0.4, site="1")
    known = signature(MAIN, slower, phase(3, 1000, 20, 0.1))
    plan = in_one_run(known, ExecutedExtent())
    assert {one.phase for one in plan.wanted} == {1}
    found = estimate(known, measured(1, [0.2] * 9), np.random.default_rng(1), ERRORS)
    assert found.verdict == "trust"
    assert found.time_s.p50 == pytest.approx(2 * known.application_s)
    assert [phase.number for phase, _ in found.known] == [1, 2]
    assert [time_s for _, time_s in found.known] == pytest.approx([0.2, 0.8])
    times = [*measured(1, [0.2, 0.2]), *measured(3, [0.1, 0.1])]
    assert paet_s(known, times) == pytest.approx(2 * 50 * (0.1 + 0.4) + 20 * 0.1)


def test_occurrences_that_were_slow_in_the_recording_are_no_fair_sample():
    slow = replace(
        MAIN,
        occurrences=tuple(
            replace(one, time_s=0.2 if one.number < 4 else 0.1)
            for one in MAIN.occurrences
        ),
    )
    assert paet_s(signature(slow), measured(1, [0.4] * 4)) == pytest.approx(
        10.0, rel=0.01
    )


def test_marks_are_written_in_order_and_times_read(tmp_path: Path):
    one = in_one_run(signature(MAIN), ExecutedExtent()).wanted[0]
    marks = [(20, STOP), *probed([one], 1), *timed([one], 1), (10, HOLD)]
    write_marks(tmp_path, 1, marks)
    assert marks_file(tmp_path, 1).read_text() == (
        f"10 {TIME}\n10 {PROBE}\n10 {HOLD}\n20 {TIME}\n20 {STOP}\n"
    )
    assert read_times(tmp_path, 1) is None
    times_file(tmp_path, 1).write_text(
        "10 5000 MPI_Send\n10 700 probe\n20 9000 MPI_Send\nstopped 20"
    )
    found = read_times(tmp_path, 1)
    assert found is not None
    assert (found.end, found.count, found.function[10]) == ("stopped", 20, "MPI_Send")
    assert found.probes_s == (7e-7,)
    assert mean_s([found, found], one) == pytest.approx(4e-6)
    assert mean_s([found, replace(found, time_ns={10: 1})], one) is None


def test_probes_are_spread_over_what_is_measured():
    plan = in_one_run(signature(MAIN), ExecutedExtent(fewest=40))
    found = probed(plan.wanted, 0)
    assert [count for count, _ in found] == [10 + 50 * at for at in range(8)]
    assert len(probed(plan.wanted[:3], 0)) == 3


class Kept:
    """A session and its backend in which a signal comes while one phase is restored."""

    name = "imagined"
    probes_s = ()

    def __init__(self) -> None:
        self.restored = 0
        self.stopped = False

    def launch(self, *_: object, **__: object) -> Kept:
        return self

    def request(self, wanted: WantedOccurrence) -> None:
        pass

    def restore(self, wanted: WantedOccurrence) -> Measured:
        self.restored += 1
        signal.raise_signal(signal.SIGINT)
        return Measured(wanted.phase, wanted.occurrence, 1.0)

    def stop(self) -> None:
        self.stopped = True


def test_an_interrupt_ends_measuring_behind_the_phase_that_is_restored(
    monkeypatch: pytest.MonkeyPatch,
):
    for name in ("shim", "mpi_of"):
        monkeypatch.setattr(execute, name, lambda _: None)
    launch = LaunchCommand((), None, (), 2, ("/bin/app",), None)
    plan = by_images(signature(MAIN, LATE), ExecutedExtent())
    session = Kept()
    with pytest.raises(KeyboardInterrupt):
        execute.execute(session, Application(launch, 2), plan, restores=3)
    assert session.stopped
    assert session.restored == 1
