"""Who created a request is found in blocks as in the run as a whole."""

import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skelgen.events.creations import Creations, recent_creations, rows_of
from skelgen.symbols.pairs import ON_REQUESTS, distinct_pairs
from skelgen.symbols.requests import uses_of
from tests import builders
from tests.random_programs import random_program

REQUESTS = """
rank 0
  Isend to=0 tag=1 bytes=8
  Irecv from=0 tag=1 bytes=8
  Barrier
  Waitall ages=2,1
  Irecv from=0 tag=2 bytes=8
  Send to=0 tag=2 bytes=8
  Wait ages=1
"""


@given(st.integers(0, 2**32), st.integers(1, 50))
@settings(max_examples=100, deadline=None)
def test_uses_are_the_same_in_blocks_of_any_size(seed, size):
    calls = random_program(random.Random(seed)).calls
    pairs = distinct_pairs(calls)
    about = pairs.is_kind(*ON_REQUESTS)[pairs.of_call]
    call = np.flatnonzero(about & (calls.ages > 0))
    index, age = rows_of(calls.age_first, calls.age_values, calls.ages[call])
    creator = Creations.of(calls).named(call[index], age)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("skelgen.events.creations._BLOCK", size)
        found = list(uses_of(calls, pairs, np.ones(len(pairs), bool)))
    none = [np.empty(0, np.int64)]
    calls_found = np.concatenate([*none, *(one.call for one in found)])
    creators = np.concatenate([*none, *(one.creator for one in found)])
    assert calls_found.tolist() == call[index].tolist()
    assert creators.tolist() == creator.tolist()


def test_a_block_knows_what_its_calls_can_name(monkeypatch):
    monkeypatch.setattr("skelgen.events.creations._BLOCK", 2)
    calls = builders.events(REQUESTS).calls
    blocks = [
        (block.start, block.stop, known.plain.tolist())
        for block, known in recent_creations(calls)
    ]
    assert blocks == [(0, 2, [0, 1]), (2, 4, [0, 1]), (4, 6, [0, 1, 4]), (6, 7, [1, 4])]
