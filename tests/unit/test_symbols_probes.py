"""Receives of what a probe for any source found count as from any source."""

from __future__ import annotations

import numpy as np
import pytest

from skelgen.events.types import WILDCARD_SOURCE
from skelgen.symbols.probes import with_sources_of_probes
from tests import builders
from tests.skeletons import signature

SENDS = "rank 1\nrepeat 3 {\nSend to=0 tag=2 bytes=8\n}\n"


def from_any(text: str) -> list[bool]:
    """Return which calls of rank 0 receive from any source."""
    calls = with_sources_of_probes(builders.calls(text))
    flags = calls.shapes["flags"][calls.shape[: calls.first[1]]]
    found: list[bool] = ((flags & WILDCARD_SOURCE) != 0).tolist()
    return found


@pytest.mark.parametrize("probe", ["Probe", "Mprobe"])
def test_the_receive_behind_a_probe_is_from_any_source(probe: str) -> None:
    turn = f"{probe} from=*1 tag=2\nRecv from=1 tag=2 bytes=8\n"
    assert from_any(f"rank 0\n{turn * 3}{SENDS}") == [True] * 6


def test_a_receive_that_no_probe_comes_before_stays_what_it_is() -> None:
    text = f"""
    rank 0
      Probe from=*1 tag=2
      Recv from=1 tag=2 bytes=8
      Recv from=1 tag=2 bytes=8
      Probe from=1 tag=2
      Recv from=1 tag=2 bytes=8
    {SENDS}"""
    assert from_any(text) == [True, True, False, False, False]


def test_a_receive_from_another_rank_or_of_another_one_stays() -> None:
    text = """
    rank 0
      Probe from=*1 tag=2
      Recv from=2 tag=2 bytes=8
      Recv from=1 tag=2 bytes=8
      Probe from=*1 tag=2
    rank 1
      Recv from=2 tag=3 bytes=8
      Send to=0 tag=2 bytes=8
      Send to=0 tag=2 bytes=8
    rank 2
      Send to=1 tag=3 bytes=8
      Send to=0 tag=2 bytes=8
    """
    calls = builders.calls(text)
    changed = with_sources_of_probes(calls)
    assert np.array_equal(changed.shape, calls.shape)


def test_calls_without_such_probes_are_the_same_object() -> None:
    calls = builders.calls(f"rank 0\nrepeat 3 {{\nRecv from=*1 tag=2\n}}\n{SENDS}")
    assert with_sources_of_probes(calls) is calls


def test_a_signature_says_so() -> None:
    turn = "Probe from=*1 tag=2\nRecv from=1 tag=2 bytes=8\n"
    found = signature(f"rank 0\n{turn * 3}{SENDS}")
    receives = [
        int(row["flags"]) & WILDCARD_SOURCE
        for row in found.symbols
        if found.functions[row["function"]] == "MPI_Recv"
    ]
    assert receives == [WILDCARD_SOURCE]
