"""What the recorder predicts never changes what it writes."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.shim.conftest import Lab
from tests.shim.reader import Trace

pytestmark = pytest.mark.mpi


def test_calls_in_any_order_are_read_in_that_order(lab: Lab, tmp_path: Path) -> None:
    order = tmp_path / "order"
    program = [str(lab.compile("orders")), str(order)]
    run = lab.launch(1, program, tmp_path / "run", preload=str(lab.shim))
    assert run.exit_code == 0, run.errors
    (trace,) = run.traces
    assert isinstance(trace, Trace)
    assert trace.clean
    made = list(order.read_bytes())
    sends = trace.of("Send")
    assert [event.tag for event in sends] == made
    assert [event.count_a for event in sends] == [1 if k % 2 else k % 5 for k in made]
