"""Durations in place of times give the same signature."""

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skelgen.events.durations import with_durations
from skelgen.loops import fold
from skelgen.matching import match
from skelgen.signature import Provenance, summarise
from skelgen.signature import spread as spread_module
from skelgen.signature.write import signature_text
from skelgen.symbols import times
from skelgen.symbols.cluster import cluster
from tests import builders
from tests.random_programs import random_program
from tests.summaries import cut_events

NOBODY = Provenance("", (), "", "", "", "", (), ())


def text_of(events):
    """Return the signature of a run, and what was lost of its time."""
    symbols = cluster(events, match(events.calls))
    nests = [
        fold(own[own >= 0])
        for own in (
            symbols.symbol[begin:end]
            for begin, end in zip(
                events.calls.first[:-1], events.calls.first[1:], strict=True
            )
        )
    ]
    return signature_text(summarise(events, symbols, nests, NOBODY)), symbols.lost


@given(st.integers(0, 2**32), st.booleans())
@settings(max_examples=60, deadline=None)
def test_the_signature_is_the_same(seed, cut):
    rng = random.Random(seed)
    events = random_program(rng)
    if cut:
        events = cut_events(events, rng)
    narrow = with_durations(events)
    assert len(narrow.enter_ns) == len(narrow.leave_ns) == 0
    assert text_of(narrow) == text_of(events)


@given(st.integers(0, 2**32))
@settings(max_examples=25, deadline=None)
def test_the_signature_is_the_same_in_small_pieces(seed):
    events = with_durations(random_program(random.Random(seed)))
    whole = text_of(events)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(times, "PIECE", 2)
        patch.setattr("skelgen.events.parts._PART", 3)
        patch.setattr("skelgen.events.creations._BLOCK", 2)
        patch.setattr("skelgen.symbols.sizes._PART", 2)
        patch.setattr("skelgen.symbols.tags._PART", 2)
        patch.setattr(spread_module, "_BLOCK", 3)
        assert text_of(events) == whole


def test_long_computation_and_long_calls_are_kept():
    events = builders.events("rank 0\n 9000000000 Barrier mpi=7000000000\n 5 Barrier\n")
    narrow = with_durations(events)
    assert narrow.compute_ns[:].tolist() == events.compute_ns.tolist()
    assert (
        narrow.spent_ns(slice(0, 2)).tolist() == events.spent_ns(slice(0, 2)).tolist()
    )
    assert narrow.spent_ns(slice(0, 1)).tolist() == [7_000_000_000]
