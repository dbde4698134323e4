"""A draft: what passes replace, and never change."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from skelgen.skeleton.paper2005.plan import PASSES_2005
from skelgen.skeleton.plan import PASSES
from tests.skeletons import draft

#: Programs that only buffers let finish, and a master with two workers.
TEXT = """
rank 0
  repeat 20 {
    500 Send to=1 tag=7 bytes=80
    Recv from=1 tag=7 bytes=80
    Recv from=*1 tag=2 bytes=8
    Send to=1 tag=1 bytes=4
    Recv from=*2 tag=2 bytes=8
    Send to=2 tag=1 bytes=4
  }
rank 1
  repeat 20 {
    500 Send to=0 tag=7 bytes=80
    Recv from=0 tag=7 bytes=80
    900 Send to=0 tag=2 bytes=8
    Recv from=0 tag=1 bytes=4
  }
rank 2
  repeat 20 {
    900 Send to=0 tag=2 bytes=8
    Recv from=0 tag=1 bytes=4
  }
"""


def test_a_draft_begins_with_the_application_and_nothing_decided() -> None:
    begun = draft(TEXT, 2)
    assert len(begun.calls) == 20 * (6 + 4 + 2)
    assert not len(begun.strings.call)
    assert not begun.programs
    assert begun.leaves is begun.signature


def test_nobody_can_change_a_draft() -> None:
    with pytest.raises(dataclasses.FrozenInstanceError):
        draft(TEXT, 2).fraction = 1.0  # type: ignore[misc]


def test_passes_leave_the_draft_that_they_were_given_as_it_was() -> None:
    current = draft(TEXT, 2)
    for one in PASSES:
        if one.applies(current):
            table, call = current.symbols.table.copy(), current.strings.call.copy()
            programs = current.programs
            other = one.rewrite(current)
            assert np.array_equal(current.symbols.table, table)
            assert np.array_equal(current.strings.call, call)
            assert current.programs is programs
            assert isinstance(one.doubts(other), list)
            current = other
    assert current.flaw is None
    assert len(current.symbols.table) > len(current.signature.symbols)


def test_passes_of_both_methods_are_values() -> None:
    for one in (*PASSES, *PASSES_2005):
        assert dataclasses.is_dataclass(one)
        assert hash(one) == hash(dataclasses.replace(one))
