"""Looks at the status of a request are polls: those in vain are one record."""

from __future__ import annotations

import pytest

from tests.shim.conftest import Record
from tests.shim.reader import NOT_READY

pytestmark = pytest.mark.mpi


def test_looks_in_vain_are_counted_and_the_request_stays(record: Record) -> None:
    run = record("looks_at_requests", 2)
    assert run.exit_code == 0, run.errors
    trace = run.traces[0]
    looks = trace.of("Request_get_status")
    in_vain = [one for one in looks if one.has(NOT_READY)]
    assert sum(one.polls for one in in_vain) == int(run.output)
    assert len(looks) - len(in_vain) == 2
    # Each time that others have the core begins a record of its own.
    assert len([one for one in in_vain if not one.lost_us]) < 20
    assert len(trace.of("Wait")) == 1
