"""skelgen reads from the recorder's files what the independent reader reads."""

from __future__ import annotations

import pytest

from tests.reader_agreement import agree
from tests.shim.conftest import Record

pytestmark = pytest.mark.mpi


@pytest.mark.parametrize(
    ("program", "ranks"),
    [("wildcards", 3), ("requests", 2), ("collectives", 4), ("communicators", 4)],
)
def test_both_readers_tell_the_same(record: Record, program: str, ranks: int) -> None:
    run = record(program, ranks)
    assert agree(run.folder) > 10
