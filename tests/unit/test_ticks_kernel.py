"""Ticks respect what calls wait for, and nothing else."""

import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from skelgen._kernels._ticks import lib

from skelgen import ticks
from skelgen.errors import InputError
from skelgen.events import CallKind, function_info
from skelgen.matching import match
from skelgen.ticks.rules import ClockRole, shape_roles
from tests import builders
from tests.damage import cut_somewhere, scramble, with_polls
from tests.random_programs import random_program
from tests.twins import ticks_kernel as twin

seeds = st.integers(0, 2**32)


def test_roles_are_those_of_the_kernel():
    for one in ClockRole:
        assert getattr(lib, f"SKELGEN_TICKS_{one.name}") == one


def placed(text):
    """Return the ticks of each rank's calls."""
    calls = builders.calls(text)
    result = ticks.place(calls, match(calls))
    return [rank.tolist() for rank in np.split(result, calls.first[1:-1])]


def test_a_receive_comes_after_its_send():
    assert placed("""
        rank 0
          Barrier comm=self
          Send to=1 tag=1
          Barrier comm=self
        rank 1
          Recv from=0 tag=1
          Barrier comm=self
    """) == [[1, 2, 3], [3, 4]]


def test_a_send_does_not_wait_for_its_receive():
    assert placed("""
        rank 0
          Ssend to=1 tag=1
          Barrier comm=self
        rank 1
          repeat 5 {
            Barrier comm=self
          }
          Recv from=0 tag=1
    """) == [[1, 2], [1, 2, 3, 4, 5, 6]]


def test_a_completion_comes_after_the_sends_of_all_its_receives():
    assert placed("""
        rank 0
          Irecv from=1 tag=1 as=a
          Irecv from=1 tag=2 as=b
          Waitall of=a,b
        rank 1
          Send to=0 tag=2
          Send to=0 tag=3
          Barrier comm=self
          Send to=0 tag=1
        rank 0
          Recv from=1 tag=3
    """) == [[1, 2, 5, 6], [1, 2, 3, 4]]


def test_a_collective_has_one_tick_after_all_who_come():
    assert placed("""
        rank 0
          Bcast root=0 bytes=8
        rank 1
          repeat 3 {
            Barrier comm=self
          }
          Bcast root=0 bytes=8
          Barrier comm=self
    """) == [[4], [1, 2, 3, 4, 5]]


def test_the_completion_of_a_nonblocking_collective_waits_for_all():
    assert placed("""
        rank 0
          Ibarrier as=b
          Comm_rank
          Wait of=b
        rank 1
          repeat 4 {
            Barrier comm=self
          }
          Ibarrier as=b
          Wait of=b
    """) == [[1, 1, 6], [1, 2, 3, 4, 5, 6]]


def test_it_does_not_matter_how_messages_are_waited_for():
    begun = """
        rank 0
          Isend to=1 tag=1
          Isend to=1 tag=1
        rank 1
          Irecv from=0 tag=1 as=a
          Irecv from=0 tag=1 as=b
    """
    one, several = (
        placed(f"{begun} {end} Barrier comm=self")[1]
        for end in ("Waitall of=a,b\n", "Wait of=a\n Comm_rank\n Wait of=b\n")
    )
    assert (one[:2], one[-1]) == (several[:2], several[-1])


def test_ranks_exchange_with_sendrecv():
    assert (
        placed("""
        rank 0-2
          repeat 3 {
            Sendrecv to=+1 from=-1 tag=1 tag2=1
          }
    """)
        == [[2, 4, 6]] * 3
    )


def test_a_rank_sends_to_itself():
    assert placed("""
        rank 0
          Sendrecv to=0 from=0 tag=1 tag2=1
          Irecv from=0 tag=1 as=a
          Isend to=0 tag=1
          Wait of=a
    """) == [[2, 3, 4, 5]]


def test_communicators_are_freed_in_any_order():
    assert placed("""
        comm one members=0,1
        comm two members=0,1
        rank 0
          Comm_free comm=one
          Comm_free comm=two
        rank 1
          Comm_free comm=two
          Comm_free comm=one
    """) == [[1, 2], [1, 2]]


@pytest.mark.parametrize(
    "body",
    [
        """Irecv from=-1 tag=1 as=a
           Isend to=+1 tag=1 as=b
           Waitall of=a,b""",
        """Sendrecv to=+1 from=-1 tag=1 tag2=1
           Allreduce bytes=8 op=1""",
        """Recv from=<1 tag=1
           Send to=>1 tag=1
           Barrier""",
        """Recv from=<1 tag=1
           Send to=>1 tag=1""",
    ],
)
@pytest.mark.parametrize("ranks", [2, 3, 8])
def test_equal_iterations_advance_by_equal_ticks(body, ranks):
    trips = 20
    calls = builders.calls(f"rank 0-{ranks - 1}\nrepeat {trips} {{\n{body}\n}}\n")
    result = ticks.place(calls, match(calls)).reshape(ranks, trips, -1)
    advance = np.diff(result, axis=1)
    # A pipeline has filled after as many iterations as there are ranks.
    steady = advance[:, ranks:]
    assert (steady == steady[:1, :1, :1]).all()


def test_calls_that_wait_for_each_other_are_named():
    with pytest.raises(InputError) as caught:
        placed("""
            rank 0
              Recv from=1 tag=1
              Send to=1 tag=1
            rank 1
              Barrier comm=self
              Recv from=0 tag=1
              Send to=0 tag=1
        """)
    message = str(caught.value)
    assert "MPI_Recv (rank 0 call 0), MPI_Recv (rank 1 call 1);" in message
    assert "\n" not in message


def test_collectives_in_opposite_order_are_named():
    with pytest.raises(InputError, match=r"MPI_Bcast \(rank 0 call 0\)"):
        placed("""
            comm one members=0,1
            comm two members=0,1
            rank 0
              Bcast root=0 comm=one
              Bcast root=0 comm=two
            rank 1
              Bcast root=0 comm=two
              Bcast root=0 comm=one
        """)


@given(seeds)
@settings(max_examples=150, deadline=None)
def test_kernel_and_twin_agree(seed):
    rng = random.Random(seed)
    calls = random_program(rng).calls
    if rng.random() < 0.5:
        calls = cut_somewhere(calls, rng)
    matching = match(calls)
    assert np.array_equal(ticks.place(calls, matching), twin.place(calls, matching))


@given(seeds)
@settings(max_examples=300, deadline=None)
def test_kernel_and_twin_agree_on_damaged_calls(seed):
    rng = random.Random(seed)
    calls = scramble(random_program(rng, calls=100).calls, rng)
    matching = match(calls)
    results = []
    for place in (ticks.place, twin.place):
        try:
            results.append(place(calls, matching).tolist())
        except InputError as error:
            results.append(str(error))
    assert results[0] == results[1]


@given(seeds)
@settings(max_examples=100, deadline=None)
def test_polls_that_find_nothing_do_not_move_the_clock(seed):
    """How many there are is all that the machine's speed can change in a trace."""
    rng = random.Random(seed)
    calls = random_program(rng).calls
    known = ticks.place(calls, match(calls))
    polled, own = with_polls(calls, rng)
    found = ticks.place(polled, match(polled))
    assert np.array_equal(found[own], known)


@given(seeds)
@settings(max_examples=150, deadline=None)
def test_ticks_respect_program_order_messages_and_collectives(seed):
    rng = random.Random(seed)
    calls = cut_somewhere(random_program(rng).calls, rng)
    matching = match(calls)
    result = ticks.place(calls, matching)
    role = shape_roles(calls)[calls.shape]
    for rank, roles in zip(
        np.split(result, calls.first[1:-1]),
        np.split(role, calls.first[1:-1]),
        strict=True,
    ):
        assert (np.diff(rank) >= 0).all()
        assert (np.diff(rank, prepend=0)[roles != ClockRole.ENDS] > 0).all()
    kinds = [function_info(name).kind for name in calls.functions]
    kind = np.array(kinds)[calls.shapes["function"]][calls.shape]
    # The rest of a Sendrecv may be later than the send in it.
    plain_send = kind[matching.send_call] != CallKind.SENDRECV
    done = (matching.receive_done >= 0) & plain_send
    sends, ends = matching.send_call[done], matching.receive_done[done]
    assert (result[ends] > result[sends]).all()
    meets = kind == CallKind.COLLECTIVE
    for event in np.unique(matching.whole_event[meets]):
        if event >= 0:  # a fence's event holds the operations of its epoch as well
            together = result[meets & (matching.whole_event == event)]
            assert len(set(together.tolist())) == 1
