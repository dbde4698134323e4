"""Different polls that take turns and find nothing are one record each."""

from __future__ import annotations

import pytest

from tests.shim.conftest import Record
from tests.shim.reader import NOT_READY, Event

pytestmark = pytest.mark.mpi


def failed_polls(record: Record, tags: int) -> tuple[list[Event], list[int]]:
    """Return the records of a rank's failed polls, and how many it says it made."""
    run = record("polls_in_turn", 2, str(tags))
    assert run.exit_code == 0, run.errors
    trace = run.traces[0]
    assert trace.clean
    polls = [one for one in trace.of("Iprobe", "Test") if one.has(NOT_READY)]
    return polls, [int(word) for word in run.output.split()]


@pytest.mark.parametrize("tags", [1, 3, 4])
def test_all_polls_are_counted(record: Record, tags: int) -> None:
    polls, said = failed_polls(record, tags)
    counted = [
        sum(one.polls for one in polls if one.function == name)
        for name in ("MPI_Iprobe", "MPI_Test")
    ]
    assert counted == said
    for one in polls:
        assert (one.polls > 1) <= one.inside <= one.end - one.begin


@pytest.mark.parametrize("tags", [1, 3])
def test_up_to_four_kinds_in_turn_are_few_records(record: Record, tags: int) -> None:
    polls, said = failed_polls(record, tags)
    assert min(said) > 1000
    # A rank that loses its core between two polls begins other records.
    assert len(polls) < sum(said) / 20
    assert {one.tag for one in polls if one.function == "MPI_Iprobe"} == {
        *range(1, tags + 1)
    }
