"""Calls without a partner are left out, counted and named."""

from __future__ import annotations

import dataclasses

import pytest

from skelgen.signature import Signature
from skelgen.skeleton.plan import plan
from tests.skeletons import signature

TEXT = """
ranks 3
rank *
  repeat 20 {
    1000 Send to=>1 tag=1 bytes=80 mpi=300
    Recv from=<1 tag=1 bytes=80 mpi=300
    Barrier
  }
"""


def without_partners() -> Signature:
    """Return a signature in which sends and receives have different tags."""
    known = signature(TEXT)
    symbols = known.symbols.copy()
    sends = symbols["function"] == known.functions.index("MPI_Send")
    symbols["tag"][sends] += 1
    return dataclasses.replace(known, symbols=symbols)


def test_messages_that_do_not_fit_are_left_out_and_counted() -> None:
    report = plan(without_partners(), 2).report
    (dropped,) = (one for one in report.dropped if one[0] == "without a partner")
    # 20 messages from rank 0 to 1, and from 1 to 2: both ends.
    assert dropped[1] == 80
    assert dropped[2] == pytest.approx(80 * 300e-9)
    assert any("partner" in text for text in report.warnings)


def test_nothing_is_dropped_where_all_have_partners() -> None:
    report = plan(signature(TEXT), 2).report
    assert "without a partner" not in [what for what, _, _ in report.dropped]
    assert not any("partner" in text for text in report.warnings)
