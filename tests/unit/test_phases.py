"""Phases are the iterations of a run's relevant loops, cut at the same events."""

import dataclasses
import random
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skelgen import ticks
from skelgen.phases import Parameters, extract
from tests import builders, summaries
from tests.random_programs import random_program


def phases(text, **parameters):
    return of_events(builders.events(text), **parameters)


def of_events(events, **parameters):
    built = summaries.build(events)
    clock = ticks.place(events.calls, built.matching)
    return extract(
        events, built.matching, clock, built.symbols, Parameters(**parameters)
    )


def table(found):
    """Return weight, events and functions of each relevant phase."""
    return [(p.weight, p.events, " ".join(p.calls)) for p in found.relevant]


STEPS = """
    rank 0-3
      5000 Bcast root=0 bytes=8
      repeat 100 {
        1000 Isend to=+1 tag=1 as=s
           0 Irecv from=-1 tag=1 as=r
           0 Waitall of=s,r
         500 Allreduce bytes=8 op=1
      }
      2000 Reduce root=0 bytes=8 op=1
"""


def test_an_iteration_of_the_main_loop_is_a_phase_and_its_trips_are_the_weight():
    found = phases(STEPS, longest=0.02)
    weight, events, calls = max(table(found))
    assert (weight, events) == (100, 5)
    assert calls == "MPI_Isend MPI_Irecv MPI_Waitall MPI_Allreduce"


def test_what_stands_before_and_after_a_loop_is_a_phase_of_weight_one():
    found = phases(STEPS, longest=0.02)
    assert [p.weight for p in found.phases] == [1, 100, 1]
    assert found.phases[0].calls == ("MPI_Bcast",)
    assert found.phases[2].calls == ("MPI_Reduce",)


def test_a_long_iteration_is_divided_into_the_phases_inside_it():
    text = """
    rank 0-1
      repeat 5 {
        repeat 19 {
          1000 Sendrecv to=+1 from=-1 tag=1 tag2=1 bytes=8
        }
        3000 Allreduce bytes=8 op=1
      }
    """
    divided = [(95, 1, "MPI_Sendrecv"), (5, 1, "MPI_Allreduce")]
    assert table(phases(text)) == divided
    whole = [(5, 20, "MPI_Sendrecv MPI_Allreduce")]
    assert table(phases(text, longest=0.5)) == whole


def test_a_short_inner_loop_belongs_to_what_stands_around_it():
    inner = "repeat 2 {\n 10 Barrier\n }"
    text = f"rank 0-1\n repeat 50 {{\n 1000 Allreduce bytes=8 op=1\n {inner}\n }}"
    assert table(phases(text)) == [(50, 3, "MPI_Allreduce MPI_Barrier")]


def test_the_same_loop_at_two_places_is_one_phase():
    loop = "repeat 40 {\n 1000 Allreduce bytes=8 op=1\n 0 Barrier\n }"
    text = f"rank 0-1\n {loop}\n 10 Bcast root=0\n {loop}"
    assert max(table(phases(text)))[0] == 80


def test_iterations_that_take_much_longer_are_a_phase_of_their_own():
    text = """
    rank 0-1
      repeat 20 {
        1000 Barrier
      }
      repeat 20 {
        9000 Barrier
      }
    """
    fast, slow = phases(text).relevant
    assert (fast.weight, slow.weight) == (20, 20)
    assert slow.time_s == pytest.approx(9100e-9)
    together = phases(text, time_similarity=0.0).relevant
    assert [phase.weight for phase in together] == [40]


def test_one_slow_iteration_is_noise_of_the_machine():
    text = """
    rank 0-1
      repeat 60 {
        1000 Barrier
      }
      90000 Barrier
      repeat 60 {
        1000 Barrier
      }
    """
    assert [phase.weight for phase in phases(text).relevant] == [121]


def test_polls_and_local_calls_do_not_disturb_a_phase():
    text = """
    rank 0
      repeat 30 {
        1000 Send to=1 tag=1
          10 Comm_rank
      }
    rank 1
      repeat 30 {
         500 Recv from=0 tag=1
      }
    """
    assert table(phases(text))[0][0] == 30


def test_a_run_without_repetition_is_one_phase_of_weight_one():
    found = phases("rank 0-1\n 1000 Barrier\n 2000 Bcast root=0\n 10 Reduce root=0")
    assert [phase.weight for phase in found.phases] == [1]
    assert found.phases[0].share > 0.9


def test_a_run_without_events_has_no_phases():
    found = phases("ranks 2\n rank 0-1\n tail 100")
    assert found.phases == ()
    assert found.relevant == ()


@given(st.integers(0, 2**32))
@settings(max_examples=100, deadline=None)
def test_occurrences_are_the_whole_run_of_every_rank(seed):
    events = random_program(random.Random(seed))
    found = of_events(events)
    calls = events.calls
    assert (np.diff(found.cut, axis=1) >= 0).all()
    if not found.phases:
        return
    assert (found.cut[:, 0] == 0).all()
    assert (found.cut[:, -1] == np.diff(calls.first)).all()
    spent = found.time_ns.sum(axis=1)
    for rank, (begin, end) in enumerate(pairwise(calls.first)):
        last = events.leave_ns[end - 1] if end > begin else events.begin_ns[rank]
        assert spent[rank] == last - events.begin_ns[rank]
    weights = np.bincount(found.phase, minlength=len(found.phases))
    assert weights.tolist() == [phase.weight for phase in found.phases]


@given(st.integers(0, 2**32), st.integers(2, 5))
@settings(max_examples=50, deadline=None)
def test_the_order_of_occurrences_does_not_depend_on_the_speed_of_the_machine(
    seed, factor
):
    events = random_program(random.Random(seed))
    slower = dataclasses.replace(
        events,
        **{
            name: getattr(events, name) * factor
            for name in ("enter_ns", "leave_ns", "compute_ns", "begin_ns", "end_ns")
        },
    )
    one, other = of_events(events), of_events(slower)
    assert np.array_equal(one.cut, other.cut)
    assert np.array_equal(one.phase, other.phase)
