"""The phases of programs whose structure is known."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skelgen.phases.extract import extract
from skelgen.phases.types import Parameters, Phases
from tests import builders, phase_programs, summaries


def phases(text: str, times: int = 1, **parameters) -> Phases:
    """Find the phases of a trace all of whose times are some times as long."""
    events = builders.longer(builders.events(text), times)
    built = summaries.build(events)
    trace = summaries.logical_trace_of(events, built)
    return extract(events, built.matching, trace, Parameters(**parameters))


def weights(found: Phases) -> list[tuple[str, int]]:
    return [(phase.part, phase.weight) for phase in found.relevant]


@pytest.mark.parametrize(
    "number", [*range(20, 40), 50, 77, 87, 100, 101, 250, 300, 400]
)
def test_a_program_of_n_steps_has_a_phase_of_weight_n(number: int) -> None:
    found = phases(phase_programs.steps(number, noise=0.0))
    assert weights(found) == [("body", number)]
    assert found.levels[0].chosen


@given(st.integers(20, 400), st.integers(1, 9))
@settings(max_examples=6, deadline=None)
def test_noise_of_the_machine_does_not_change_that(number: int, seed: int) -> None:
    found = phases(phase_programs.steps(number, seed=seed, noise=0.02))
    chosen = next(level for level in found.levels if level.chosen)
    assert chosen.error <= max(level.error for level in found.levels)
    if chosen is found.levels[0]:
        assert weights(found) == [("body", number)]
    else:  # interrupted steps tell less than their parts do
        assert {weight % number for _, weight in weights(found)} == {0}


def test_levels_of_a_multigrid_are_phases_where_cycles_are_few() -> None:
    few = phases(phase_programs.multigrid(6))
    found = {(phase.weight, round(phase.time_s * 1e7)) for phase in few.relevant}
    assert {weight for weight, _ in found} == {24, 96}
    assert len(found) == 5
    assert weights(phases(phase_programs.multigrid(40))) == [("body", 40)]


@pytest.mark.parametrize("number", [30, 100])
def test_even_and_odd_steps_are_two_phases(number: int) -> None:
    found = phases(phase_programs.even_and_odd(number))
    assert weights(found) == [("body", number // 2)] * 2
    assert [phase.stratum for phase in found.relevant] == [
        "number mod 2 = 0",
        "number mod 2 = 1",
    ]


@pytest.mark.parametrize("number", [40, 100, 300])
def test_steps_with_output_are_a_phase_of_their_own(number: int) -> None:
    usual, output = phases(phase_programs.output(number)).relevant
    assert (usual.weight, output.weight) == (number * 9 // 10, number // 10)
    assert output.stratum == "number mod 10 = 9"
    assert output.time_s > 3 * usual.time_s


def test_long_set_up_and_a_long_end_belong_to_no_step() -> None:
    prologue, body, epilogue = phases(phase_programs.set_up(40)).relevant
    assert (prologue.part, body.weight, epilogue.part) == ("prologue", 40, "epilogue")
    assert prologue.time_s == pytest.approx(39 * 10e-6, rel=0.1)
    assert epilogue.time_s == pytest.approx(120e-6)


@pytest.mark.parametrize(
    "make",
    [
        phase_programs.convergence,
        phase_programs.task_farm,
        phase_programs.factorisation,
        phase_programs.adaptive_mesh,
        phase_programs.multigrid,
        phase_programs.set_up,
    ],
)
def test_all_times_are_those_of_the_run_and_their_unit_does_not_matter(make) -> None:
    text = make(25)
    found, slower = phases(text), phases(text, times=1000)
    assert weights(found) == weights(slower)
    assert np.array_equal(found.phase, slower.phase)
    whole_s = sum(phase.weight * phase.time_s for phase in found.phases)
    assert whole_s == pytest.approx(found.application_s)
    assert slower.application_s == pytest.approx(1000 * found.application_s)
    for one, other in zip(found.levels, slower.levels, strict=True):
        assert one.error == pytest.approx(other.error, abs=1e-6)


def test_a_level_next_to_the_chosen_one_is_found_by_its_longest() -> None:
    text = phase_programs.steps(40)
    _, finer = phases(text).levels
    found = phases(text, longest=finer.longest)
    chosen = next(level for level in found.levels if level.chosen)
    assert dataclasses.replace(chosen, chosen=False) == finer
    assert sum(phase.weight for phase in found.relevant) == finer.occurrences


def test_a_solver_is_found_whatever_number_of_iterations_it_takes() -> None:
    """Either its iterations or the time steps."""
    found = phases(phase_programs.convergence(60))
    body = max(found.relevant, key=lambda phase: phase.share)
    iterations = phase_programs.convergence(60).count("Allreduce")
    assert body.weight in (60, iterations)
