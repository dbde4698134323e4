"""A workspace that decoded a file leaves nothing of it to the next."""

import random

import numpy as np
import pytest

from skelgen.trace import stream
from skelgen.trace.rank_file import read_header
from skelgen.trace.workspace import Workspace
from tests.broken_bytes import broken
from tests.trace_samples import anything, ring
from tests.trace_writer import RankWriter


def same(one, other):
    assert (one.stop, one.position, one.facts) == (
        other.stop,
        other.position,
        other.facts,
    )
    np.testing.assert_array_equal(one.definitions, other.definitions)
    assert one.shapes.tobytes() == other.shapes.tobytes()


@pytest.mark.parametrize("seed", range(6))
def test_files_are_scanned_as_by_a_new_workspace(tmp_path, seed):
    rng, used = random.Random(seed), Workspace()
    for _ in range(20):
        writer = rng.choice((anything(rng, 1, 4, rng.randrange(200)), ring(0, 2)))
        header, data = read_header(writer.save(tmp_path)), writer.data()
        if rng.random() < 0.6:
            data = data[: header.header_bytes] + broken(
                rng, data[header.header_bytes :]
            )
        same(
            stream.scan(data, header, len(data), used),
            stream.scan(data, header, len(data)),
        )


def test_large_tables_are_given_back(tmp_path):
    writer = RankWriter(0, 1)
    for call in range(20_000):
        writer.define("NOTE", bytes([call % 100 + 1]))
    header, data = read_header(writer.save(tmp_path)), writer.data()
    used = Workspace()
    small = len(used.tables.definitions)
    found = stream.scan(data, header, len(data), used)
    assert len(found.definitions) >= 20_000
    assert len(used.tables.definitions) == small
