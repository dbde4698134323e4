"""Each shape of a call has the kind of its function."""

from __future__ import annotations

from skelgen.events import CallKind, shape_kinds
from tests.builders import events


def test_each_shape_has_the_kind_of_its_function() -> None:
    calls = events("""
        rank 0
          Send to=1 tag=1 bytes=8
          Send to=1 tag=2 bytes=8
          Comm_rank
          Barrier
        rank 1
          Recv from=0 tag=1 bytes=8
          Recv from=0 tag=2 bytes=8
          Barrier
    """).calls
    kinds = shape_kinds(calls)
    assert kinds.shape == calls.shapes.shape
    send, local, barrier = CallKind.SEND, CallKind.LOCAL, CallKind.COLLECTIVE
    receive = CallKind.RECEIVE
    assert kinds[calls.shape].tolist() == [
        *(send, send, local, barrier),
        *(receive, receive, barrier),
    ]
