"""Phases are the iterations of a run's relevant loops, cut at the same events."""

import dataclasses
import random
import sys
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skelgen.events import CallKind, function_info
from skelgen.phases.extract import extract, extract_each
from skelgen.phases.types import Parameters
from tests import builders, summaries
from tests.random_programs import random_program

BCAST = "1000 Bcast root=0 bytes=8"


def phases(text, **parameters):
    return of_events(builders.events(text), **parameters)


def of_events(events, **parameters):
    built = summaries.build(events)
    trace = summaries.logical_trace_of(events, built)
    return extract(events, built.matching, trace, Parameters(**parameters))


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


def test_polls_that_found_nothing_are_no_calls_of_a_phase():
    text = STEPS.replace(
        "0 Waitall of=s,r",
        """10 Testall failed bytes=3
          10 Iprobe from=-1 tag=9 failed bytes=1
          10 Testall failed bytes=7
          0 Waitall of=s,r""",
    )
    _, _, calls = max(table(phases(text, longest=0.02)))
    assert calls == "MPI_Isend MPI_Irecv MPI_Waitall MPI_Allreduce"


@pytest.mark.parametrize("seed", range(3))
def test_several_ways_to_cut_a_run_are_as_each_alone(seed, monkeypatch):
    events = random_program(random.Random(seed))
    built = summaries.build(events)
    run = events, built.matching, summaries.logical_trace_of(events, built)
    ways = [Parameters(longest=longest) for longest in (0.0, 1.0, 0.01)]
    alone = [extract(*run, way).phases for way in ways]
    folded, module = [], sys.modules[extract_each.__module__]
    fold = module.fold
    monkeypatch.setattr(module, "fold", lambda s: folded.append(s) or fold(s))
    found = extract_each(*run, ways)
    assert [one.phases for one in found] == alone
    assert len(folded) == 1


def test_what_stands_before_and_after_a_loop_is_a_phase_of_weight_one():
    found = phases(STEPS, longest=0.02)
    assert [p.weight for p in found.phases] == [1, 100, 1]
    assert [p.part for p in found.phases] == ["prologue", "body", "epilogue"]
    assert found.phases[0].calls == ("MPI_Bcast",)
    assert found.phases[2].calls == ("MPI_Reduce",)


def test_ends_that_call_the_same_are_two_phases():
    text = f"rank 0-1\n 9000 Barrier\n repeat 30 {{\n {BCAST}\n }}\n 900 Barrier"
    found = phases(text)
    assert [(p.part, p.weight) for p in found.phases] == [
        ("prologue", 1),
        ("body", 30),
        ("epilogue", 1),
    ]
    assert found.phases[0].key != found.phases[2].key


def test_set_up_before_the_first_call_is_a_phase_of_its_own():
    """On one rank it waits for the other; computation of the first step is no part."""
    text = f"""
    rank 0
      500000 Bcast root=0 bytes=8 mpi=100
      repeat 39 {{
        {BCAST}
      }}
    rank 1
      1000 Bcast root=0 bytes=8 mpi=499100
      repeat 39 {{
        {BCAST}
      }}
      tail 20000
    """
    prologue, body, epilogue = phases(text).phases
    assert (prologue.part, prologue.events, prologue.calls) == ("prologue", 0, ())
    assert prologue.time_s == pytest.approx(499e-6)
    assert (body.weight, body.spread) == (40, 0)
    assert body.time_s == pytest.approx(1100e-9)
    assert (epilogue.part, epilogue.calls) == ("epilogue", ())
    assert epilogue.time_s == pytest.approx(20e-6)


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
    assert table(phases(text, longest=0.01)) == divided
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


def test_a_slow_stretch_is_drift_and_a_steady_change_is_none():
    slow = [1400 if 40 <= at < 60 else 1000 for at in range(100)]
    steady = [1000 + 4 * at for at in range(100)]
    few = slow[38:50]
    for gaps, low, high in ((slow, 0.1, 0.2), (steady, 0.0, 0.001), (few, 0.0, 0.0)):
        text = "rank 0-1\n" + "\n".join(f"{gap} Barrier" for gap in gaps)
        (phase,) = phases(text).relevant
        assert phase.weight == len(gaps)
        assert low <= phase.drift <= high


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
    assert (found.time_ns >= 0).all()
    assert (found.time_ns.sum(axis=1) == events.application_ns).all()
    whole_s = sum(phase.weight * phase.time_s for phase in found.phases)
    assert whole_s == pytest.approx(found.application_s)
    weights = np.bincount(found.phase, minlength=len(found.phases))
    assert weights.tolist() == [phase.weight for phase in found.phases]


STAR = """
    rank 0
      repeat 30 {
        1000 Send to=1 tag=1
        1000 Send to=2 tag=2
      }
    rank 1
      repeat 30 {
        repeat 10 {
          100 Barrier comm=self
        }
        100 Recv from=0 tag=1
      }
    rank 2
      repeat 30 {
        2000 Recv from=0 tag=2
      }
"""


def assert_all_ranks_come_to_each_cut(events, found):
    """No call before a cut waits for one behind it, even where sends are synchronous.

    The calls of a collective are on one side: ranks that wait at a cut meet there.
    """
    calls, matching = events.calls, summaries.build(events).matching
    # The first cut that each call is before.
    side = np.concatenate(
        [
            np.searchsorted(found.cut[rank], np.arange(count), "right")
            for rank, count in enumerate(np.diff(calls.first))
        ]
    )
    for done, needed in (
        (matching.receive_done, matching.send_call),
        (matching.send_done, matching.receive_call),
    ):
        known = done >= 0
        assert (side[needed[known]] <= side[done[known]]).all()
    kinds = [function_info(name).kind for name in calls.functions]
    collective = np.isin(kinds, [CallKind.COLLECTIVE, CallKind.ICOLLECTIVE])
    members = collective[calls.shapes["function"][calls.shape]] & (
        matching.whole_event >= 0
    )
    group = matching.whole_event[members]
    latest = np.zeros(matching.whole_events, np.int64)
    np.maximum.at(latest, group, side[members])
    assert (side[members] == latest[group]).all()


def test_a_rank_is_cut_where_a_slower_partner_of_its_partner_is():
    """By ticks alone rank 2 receives five messages before rank 0 sends the second."""
    events = builders.events(STAR)
    found = of_events(events)
    assert_all_ranks_come_to_each_cut(events, found)
    assert sum(phase.weight for phase in found.phases) >= 30
    assert np.array_equal(found.cut[0], 2 * found.cut[2])


def test_a_rank_that_probes_before_it_is_stopped_finds_the_message():
    """It stops when it enters a call that counts, and a probe does not."""
    text = """
    rank 0
      repeat 30 {
        100 Probe from=1 tag=1
          0 Recv from=1 tag=1
          0 Send to=1 tag=2
      }
    rank 1
      repeat 30 {
        100 Send to=0 tag=1
          0 Recv from=0 tag=2
      }
    """
    events = builders.events(text)
    found = of_events(events)
    assert_all_ranks_come_to_each_cut(events, found)
    assert len(found.phase) >= 30
    answers, sends = found.cut[:, 2:-2] - [[2], [1]]  # up to the receive, and the send
    assert (answers % 3 == 0).all()
    assert np.array_equal(answers // 3, sends // 2)


def test_ranks_that_make_a_communicator_of_their_own_do_so_on_one_side_of_a_cut():
    events = builders.events("""
    rank 0
      repeat 30 {
        100 Send to=2 tag=1
        100 Comm_create_group
      }
    rank 1
      repeat 30 {
        100 Comm_create_group
        100 Send to=2 tag=1
      }
    rank 2
      repeat 30 {
        100 Recv from=0 tag=1
        100 Recv from=1 tag=1
      }
    """)
    found = of_events(events)
    assert len(found.phase) >= 30
    first, second = (
        np.searchsorted(found.cut[rank], np.arange(1 - rank, 60, 2), "right")
        for rank in (0, 1)
    )
    assert np.array_equal(first, second)


def test_a_boundary_has_its_time_behind_the_polls_before_its_call():
    """There a rank that is measured takes it: it cannot know what a poll precedes."""
    events = builders.events("""
    rank 0-1
      repeat 30 {
        100 Iprobe from=1 tag=1 failed
        100 Barrier
      }
    """)
    found = of_events(events)
    assert len(found.phase) >= 30
    for rank, first in enumerate(events.calls.first[:-1]):
        begins = found.cut[rank, 2:-2]
        assert (begins % 2 == 1).all()
        polled_ns = events.leave_ns[first + begins - 1]
        first_ns = found.time_ns[rank, :2].sum()
        assert first_ns == polled_ns[0] - events.begin_ns[rank]
        assert np.array_equal(found.time_ns[rank, 2:-2], np.diff(polled_ns))


@given(st.integers(0, 2**32))
@settings(max_examples=50, deadline=None)
def test_all_ranks_of_a_random_program_come_to_each_cut(seed):
    events = random_program(random.Random(seed))
    found = of_events(events, longest=0.1)
    if found.phases:
        assert_all_ranks_come_to_each_cut(events, found)
        within = [found.phases[one].part == "body" for one in found.phase]
        assert np.diff(found.cut, axis=1).any(axis=0)[within].all()


RANKS = st.integers(0, 3)


@given(
    st.lists(
        st.one_of(
            st.tuples(RANKS, RANKS).filter(lambda pair: pair[0] != pair[1]),
            st.tuples(RANKS, st.integers(5, 20)),
            st.just("meet"),
        ),
        min_size=2,
        max_size=8,
    )
)
@settings(max_examples=50, deadline=None)
def test_all_ranks_of_unlike_speed_in_ticks_come_to_each_cut(steps):
    """Messages, a collective, and events of single ranks that let their ticks pass."""
    bodies = [["500 Comm_rank"] for _ in range(4)]
    for step in steps:
        if step == "meet":
            for body in bodies:
                body.append("100 Allreduce bytes=8 op=1")
        elif step[1] < 4:
            source, target = step
            bodies[source].append(f"100 Send to={target} tag=1")
            bodies[target].append(f"100 Recv from={source} tag=1")
        else:
            bodies[step[0]] += ["100 Barrier comm=self"] * step[1]
    text = "\n".join(
        f"rank {rank}\n repeat 12 {{\n" + "\n".join(body) + "\n}"
        for rank, body in enumerate(bodies)
    )
    events = builders.events(text)
    found = of_events(events, longest=0.1)
    if found.phases:
        assert_all_ranks_come_to_each_cut(events, found)


@given(st.integers(0, 2**32))
@settings(max_examples=50, deadline=None)
def test_the_order_of_occurrences_does_not_depend_on_the_speed_of_the_machine(seed):
    """Loops may be divided otherwise where time is elsewhere, but no cuts cross."""
    events = random_program(random.Random(seed))
    found = (of_events(events), of_events(at_other_speeds(events, seed)))
    cut = np.hstack([one.cut for one in found])
    cut = cut[:, np.argsort(cut.sum(axis=0), kind="stable")]
    assert (np.diff(cut, axis=1) >= 0).all()


def at_other_speeds(events, seed):
    """Return the same calls: each of each rank takes a time in no proportion to it."""
    draws = np.random.default_rng(seed)
    speed = np.repeat(
        draws.uniform(1, 50, events.calls.ranks), np.diff(events.calls.first)
    )
    gap_ns, inside_ns = (
        (draws.exponential(1000, len(events.calls)) * speed).astype(np.int64)
        for _ in range(2)
    )
    enter_ns, leave_ns = np.empty_like(gap_ns), np.empty_like(gap_ns)
    end_ns = np.array(events.begin_ns)
    for rank, (begin, end) in enumerate(pairwise(events.calls.first)):
        passed = np.cumsum(gap_ns[begin:end] + inside_ns[begin:end])
        leave_ns[begin:end] = events.begin_ns[rank] + passed
        enter_ns[begin:end] = leave_ns[begin:end] - inside_ns[begin:end]
        end_ns[rank] += (passed[-1] if end > begin else 0) + events.tail_ns[rank]
    return dataclasses.replace(
        events,
        enter_ns=enter_ns,
        leave_ns=leave_ns,
        compute_ns=gap_ns,
        end_ns=end_ns,
    )
