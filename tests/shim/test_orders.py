"""What the recorder predicts never changes what it writes."""

from __future__ import annotations

from array import array
from pathlib import Path

import pytest

from tests.reader_agreement import agree
from tests.shim.conftest import Lab
from tests.shim.reader import Trace

pytestmark = [pytest.mark.mpi, pytest.mark.families]


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


def test_calls_that_hardly_repeat_are_read_as_they_were_made(
    lab: Lab, tmp_path: Path
) -> None:
    made = tmp_path / "made"
    program = [str(lab.compile("irregular")), str(made)]
    run = lab.launch(1, program, tmp_path / "run", preload=str(lab.shim))
    assert run.exit_code == 0, run.errors
    (trace,) = run.traces
    assert trace.clean
    numbers = array("i", made.read_bytes())
    sends = trace.of("Send")
    assert [event.tag for event in sends] == list(numbers[::2])
    assert [event.count_a for event in sends] == list(numbers[1::2])
    waited = [event.requests for event in trace.of("Wait")]
    assert sorted(number for (number,) in waited) == list(range(1, len(waited) + 1))
    assert agree(run.folder) > 10


def test_calls_that_come_in_an_order_now_and_then_are_read_as_they_returned(
    lab: Lab, tmp_path: Path
) -> None:
    made = tmp_path / "made"
    program = [str(lab.compile("disorder")), str(made)]
    run = lab.launch(1, program, tmp_path / "run", preload=str(lab.shim))
    assert run.exit_code == 0, run.errors
    (trace,) = run.traces
    assert trace.clean
    numbers = array("i", made.read_bytes())
    receives = trace.of("Recv")
    assert [event.tag for event in receives] == list(numbers[::3])
    assert [event.count_b for event in receives] == list(numbers[1::3])
    failed = [event.error is not None for event in receives]
    assert failed == [bool(number) for number in numbers[2::3]]
    assert sum(failed) > 300
    assert agree(run.folder) > 10
