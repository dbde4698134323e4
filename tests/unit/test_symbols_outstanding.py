"""A completion of all that is outstanding is one symbol, however much that is."""

from __future__ import annotations

import random
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skelgen.signature import calls_of
from skelgen.signature.expand import extent
from skelgen.signature.expand_ages import completes_all
from skelgen.skeleton.passes.whole_events import WholeEvents
from skelgen.skeleton.plan import plan
from skelgen.skeleton.proof.plain_simulation import PlainSimulation
from skelgen.skeleton.proof.simulation import simulate
from skelgen.skeleton.quantities.outstanding import with_all_outstanding
from skelgen.symbols.types import ALL_OUTSTANDING
from tests.builders import EventsBuilder, events
from tests.changing_neighbours import changing_neighbours
from tests.skeletons import draft, kept_functions, parts, script
from tests.summaries import Built, ages, build

COUNTS = [3, 5, 2, 5, 4, 1, 3, 2] * 4


def all_of(built: Built, rank: int = 0) -> bool:
    return [ALL_OUTSTANDING] in ages(built.symbols, built.events, rank)


def rows(built: Built) -> list[list[int]]:
    """Return the ages of all calls of an expanded signature."""
    calls = calls_of(built.signature)
    bounds = calls.age_first[np.stack([calls.ages, calls.ages + 1])].T.tolist()
    return [calls.age_values[slice(*bound)].tolist() for bound in bounds]


def test_a_number_of_neighbours_that_changes_is_one_loop() -> None:
    built = build(changing_neighbours(COUNTS).events())
    assert all_of(built)
    assert len(built.signature.groups[0].nest) < 10


def test_a_number_that_stays_keeps_its_ages() -> None:
    built = build(changing_neighbours([4] * 20).events())
    assert not all_of(built)


def test_ranks_with_other_numbers_of_neighbours_keep_their_ages() -> None:
    built = build(
        events("""
            ranks 3
            rank *
              repeat 9 {
                Irecv from=<1 tag=1 bytes=8 site=1 as=a
                Irecv from=>1 tag=1 bytes=8 site=1 as=b
                Isend to=<1 tag=1 bytes=8 site=2 as=c
                Isend to=>1 tag=1 bytes=8 site=2 as=d
                Waitall of=a,b,c,d site=3
              }
        """)
    )
    lengths = {
        len(row) for rank in range(3) for row in ages(built.symbols, built.events, rank)
    }
    assert lengths == {2, 4}
    assert not any(all_of(built, rank) for rank in range(3))


def test_a_site_that_varies_changes_none_that_only_differs_between_ranks() -> None:
    builder = changing_neighbours(COUNTS)
    for _ in range(20):
        for rank in range(builder.ranks):
            made = [
                builder.call(rank, "Isend", peer=rank, tag=9, size_bytes=8, site=8)
                for _ in range(rank + 1)
            ]
            for _ in made:
                builder.call(rank, "Recv", peer=rank, tag=9, size_bytes=8, site=8)
            builder.call(rank, "Waitall", requests=made, site=9)
    built = build(builder.events())
    for rank in range(builder.ranks):
        found = ages(built.symbols, built.events, rank)
        assert found.count([ALL_OUTSTANDING]) == len(COUNTS)
        assert found.count([*range(rank + 1, 0, -1)]) == 20


def test_a_completion_that_leaves_a_request_is_not_of_all() -> None:
    built = build(changing_neighbours(COUNTS, late=True).events())
    assert not all_of(built)


def test_with_a_request_that_is_freed_nothing_is_said_of_all() -> None:
    builder = EventsBuilder(3)
    for rank in range(builder.ranks):
        to, source = (rank + 1) % builder.ranks, (rank - 1) % builder.ranks
        sent = builder.call(rank, "Isend", peer=to, tag=9, size_bytes=8, site=8)
        builder.call(rank, "Request_free", requests=[sent], site=8)
        builder.call(rank, "Recv", peer=source, tag=9, size_bytes=8, site=8)
    changing_neighbours(COUNTS, builder=builder)
    assert not all_of(build(builder.events()))


@pytest.mark.parametrize("in_turn", [False, True])
def test_one_completion_that_leaves_a_request_keeps_its_ages(in_turn: bool) -> None:
    builder = changing_neighbours(COUNTS, in_turn=in_turn)
    changing_neighbours([3], builder=builder, in_turn=in_turn, late=True)
    changing_neighbours(COUNTS, builder=builder, in_turn=in_turn)
    built = build(builder.events())
    found = ages(built.symbols, built.events)
    # Two of the wait that leaves one: it, and the wait for that one at the end.
    others = [row for row in found if row != [ALL_OUTSTANDING]]
    assert found.count([ALL_OUTSTANDING]) == 2 * len(COUNTS)
    assert sum(map(len, others)) == 2 * 3
    # Which requests these were comes back from the signature.
    assert sum(map(len, rows(built))) == 3 * 2 * (2 * sum(COUNTS) + 3)


def test_waits_in_a_row_for_all_are_one() -> None:
    built = build(changing_neighbours(COUNTS, in_turn=True).events())
    assert all_of(built)
    assert len(built.signature.groups[0].nest) < 10
    waits = (built.symbols.table["site"][built.symbols.symbol] == 5).sum()
    assert waits == 3 * len(COUNTS)
    # Computation between the waits stays computation.
    assert built.symbols.compute_ns.sum() == 3 * 30 * 2 * sum(COUNTS)
    assert len(built.symbols.waiting_call) == waits


@pytest.mark.parametrize("counts", [[4] * 20, [1] * 20])
def test_as_many_waits_in_a_row_each_time_stay_what_they_are(counts: list[int]) -> None:
    built = build(changing_neighbours(counts, in_turn=True).events())
    assert not all_of(built)
    assert not len(built.symbols.waiting_call)


def test_waits_in_a_row_that_leave_a_request_stay_what_they_are() -> None:
    built = build(changing_neighbours(COUNTS, in_turn=True, late=True).events())
    assert not len(built.symbols.waiting_call)


@settings(max_examples=60, deadline=None)
@given(st.randoms(use_true_random=False))
def test_the_requests_come_back_from_the_signature(rng: random.Random) -> None:
    counts = [rng.randint(1, 6) for _ in range(rng.randint(1, 30))]
    builder = changing_neighbours(counts, rng=rng, late=rng.random() < 0.3)
    built = build(builder.events())
    calls = built.events.calls
    bounds = [calls.age_first[row : row + 2].tolist() for row in calls.ages.tolist()]
    assert rows(built) == [calls.age_values[slice(*b)].tolist() for b in bounds]
    requests = sum(map(len, rows(built)))
    assert requests <= extent(built.signature)[1]


@settings(max_examples=20, deadline=None)
@given(st.randoms(use_true_random=False))
def test_skeletons_of_such_programs_finish(rng: random.Random) -> None:
    counts = [rng.randint(1, 5) for _ in range(rng.randint(10, 40))]
    in_turn = rng.random() < 0.5
    built = build(changing_neighbours(counts, rng=rng, in_turn=in_turn).events())
    made = plan(built.signature, rng.choice((1.5, 2, 3, 7)))
    for rendezvous in (True, False):
        found = simulate(script(made), rendezvous=rendezvous)
        assert found == PlainSimulation(script(made), rendezvous=rendezvous).run()
        assert found.sound


def test_skeletons_wait_for_all_by_one_operation() -> None:
    built = build(changing_neighbours(COUNTS).events())
    made = plan(built.signature, 2)
    waits = [
        one
        for program in made.programs
        for one in program.operations
        if one.ages == (ALL_OUTSTANDING,)
    ]
    assert len(waits) == len(made.programs)


def test_symbols_say_whether_they_complete_all() -> None:
    signature = build(changing_neighbours(COUNTS).events()).signature
    found = completes_all(signature, signature.functions, signature.symbols)
    names = [signature.functions[at] for at in signature.symbols["function"][found]]
    assert names == ["MPI_Waitall"]


def test_a_kept_completion_that_leaves_a_request_keeps_its_ages() -> None:
    begun = draft(changing_neighbours(COUNTS).events(), 2, WholeEvents())
    given, symbols = begun.strings, begun.symbols
    whole = with_all_outstanding(given, symbols, begun.signature)
    waits = np.flatnonzero(np.diff(given.age_first))
    assert (whole.ages == ALL_OUTSTANDING).sum() == len(waits)
    # Without one of the requests of rank 0's first completion, it is not of all.
    cut = replace(
        given,
        ages=np.delete(given.ages, given.age_first[waits[0]]),
        age_first=given.age_first - (np.arange(len(given.age_first)) > waits[0]),
    )
    found = with_all_outstanding(cut, symbols, begun.signature)
    own = waits[waits < given.first[1]]
    assert (found.ages == ALL_OUTSTANDING).sum() == len(waits) - len(own)


def test_what_is_short_of_its_target_comes_from_few_more_exchanges() -> None:
    rng = random.Random(3)
    counts = [rng.choice((2, 3, 40)) for _ in range(100)]
    found = parts(changing_neighbours(counts).events(), 10)
    kept = kept_functions(found, 0)
    sends, exchanges = kept.count("Isend"), kept.count("Waitall")
    assert abs(sends - sum(counts) / 10) <= max(1, sum(counts) / 1000)
    assert exchanges <= 14
