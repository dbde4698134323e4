"""A string of symbols stands by itself: matched again, it gives the same events."""

import dataclasses
import random

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from skelgen.errors import InputError
from skelgen.events.poll_pools import LONGEST_POLLING_GAP_NS
from skelgen.matching import match
from skelgen.symbols.cluster import cluster
from skelgen.symbols.types import OUTSIDE
from tests import builders
from tests.damage import scramble
from tests.random_programs import random_program

seeds = st.integers(0, 2**32)
HALO = """
    ranks 6
    rank *
      repeat 50 {
        1000 Irecv from=-1 tag=5 bytes=8000 as=r
        10 Isend to=+1 tag=5 bytes=8000 as=s
        20 Waitall of=r,s
        30 Allreduce bytes=8 op=1
      }
"""


def test_ranks_that_do_the_same_have_the_same_string():
    events = builders.events(HALO)
    symbols = cluster(events, match(events.calls))
    strings = symbols.symbol.reshape(6, -1)
    assert (strings == strings[0]).all()
    assert len(symbols.table) == 4
    assert symbols.table["peer"][:2].tolist() == [5, 1]


def test_times_have_no_part_in_symbols():
    events = builders.events(HALO)
    slower = dataclasses.replace(
        events,
        enter_ns=events.enter_ns * 3,
        leave_ns=events.leave_ns * 3 + 7,
        compute_ns=events.compute_ns * 2 + LONGEST_POLLING_GAP_NS,
    )
    matching = match(events.calls)
    one, other = cluster(events, matching), cluster(slower, matching)
    np.testing.assert_array_equal(one.symbol, other.symbol)


@settings(max_examples=80, deadline=None)
@given(seeds)
def test_calls_of_a_symbol_differ_at_most_in_what_it_does_not_say(seed):
    events = random_program(random.Random(seed))
    matching = match(events.calls)
    symbols = cluster(events, matching, similarity_threshold=0.0)
    inside = np.flatnonzero(symbols.symbol != OUTSIDE)
    shapes = events.calls.shapes[events.calls.shape[inside]]
    row = symbols.table[symbols.symbol[inside]]
    for column in ("op", "site"):
        np.testing.assert_array_equal(row[column], shapes[column])
    families = [one.family for one in events.calls.communicators]
    family = np.array([*families, -1])[shapes["communicator"]]
    np.testing.assert_array_equal(row["family"], family)
    # Threshold 0: the sizes that ranks send are equal within a symbol.
    functions = np.array(events.calls.functions)[shapes["function"]]
    for number in np.unique(symbols.symbol[inside]).tolist():
        same = symbols.symbol[inside] == number
        if "recv" not in functions[same][0].lower():
            assert len(set(events.calls.size_bytes[inside[same]].tolist())) == 1


@settings(max_examples=100, deadline=None)
@given(seeds)
def test_damaged_calls_are_clustered_or_refused(seed):
    rng = random.Random(seed)
    events = random_program(rng, calls=100)
    damaged = dataclasses.replace(events, calls=scramble(events.calls, rng))
    try:
        matching = match(damaged.calls)
    except InputError:
        return
    symbols = cluster(damaged, matching)
    assert len(symbols.symbol) == len(events.calls)
