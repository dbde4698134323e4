"""The pieces of memory of which datatypes consist."""

from __future__ import annotations

import pytest

from tests.shim.conftest import Record
from tests.shim.reader import HOLES

pytestmark = [pytest.mark.mpi, pytest.mark.families]

#: Size of an element and of its pieces, by the number of the type in pieces.c [bytes].
EXPECTED = {
    1: (240, 24),
    2: (80, 8),
    3: (48, 24),
    4: (48, 24),
    5: (48, 16),
    6: (41, 20),
    7: (192, 8),
    8: (32, 8),
    9: (32, 8),
    10: (192, 8),
    11: (48, 48),
    12: (480, 480),
    13: (192, 64),
    14: (96, 16),
    15: (192, 96),
    16: (480, 24),
    17: (192, 8),
    18: (8 * 70_000, 0),
}


def test_the_mean_piece_of_each_datatype_is_told(record: Record) -> None:
    (trace,) = record("pieces", 1).traces
    types = {e.tag: trace.tables["types"][e.type_a] for e in trace.of("Send")}
    found = {tag: (one["size"], one["piece"]) for tag, one in types.items()}
    assert found == EXPECTED


def test_types_for_each_rank_tell_their_pieces_in_the_shape(record: Record) -> None:
    (trace,) = record("pieces", 1).traces
    (call,) = trace.of("Alltoallw")
    assert call.has(HOLES)
    assert 1 << (call.flags >> 24) == 64
