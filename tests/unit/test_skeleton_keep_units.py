"""Units: what a skeleton keeps or leaves out as a whole."""

from __future__ import annotations

import dataclasses
import random

import numpy as np

from tests.random_programs import random_program
from tests.skeletons import Parts, kept_functions, parts, signature


def functions_of(found: Parts, unit: int) -> list[str]:
    calls = np.flatnonzero(found.units.unit == unit)
    rows = found.calls.shapes["function"][found.calls.shape[calls]]
    return [found.calls.functions[row].removeprefix("MPI_") for row in rows]


def test_a_message_and_a_collective_are_a_unit_each() -> None:
    found = parts(
        """
        rank 0
          Send to=1 tag=1 bytes=8
          Barrier
        rank 1
          Recv from=0 tag=1 bytes=8
          Barrier
        """,
        2,
    )
    assert len(found.units) == 2
    assert functions_of(found, 0) == ["Send", "Recv"]
    assert functions_of(found, 1) == ["Barrier", "Barrier"]


def test_sendrecvs_around_a_ring_are_one_unit() -> None:
    found = parts(
        """
        ranks 5
        rank *
          Sendrecv to=+1 from=-1 tag=1 tag2=1 bytes=8
        """,
        2,
    )
    assert len(found.units) == 1
    assert functions_of(found, 0) == ["Sendrecv"] * 5


def test_one_start_of_several_requests_joins_their_messages() -> None:
    found = parts(
        """
        ranks 3
        rank *
          Send_init to=+1 tag=1 bytes=8 as=s
          Recv_init from=-1 tag=1 bytes=8 as=r
          repeat 4 {
            Startall of=s,r
            Waitall of=s,r
          }
        """,
        2,
    )
    assert len(found.units) == 4
    assert functions_of(found, 0) == ["Startall"] * 3


def test_units_are_anchored_at_the_first_call_of_their_smallest_rank() -> None:
    for seed in range(30):
        found = parts(random_program(random.Random(seed), calls=150), 2)
        units = found.units
        for unit, anchor in enumerate(units.anchor.tolist()):
            assert anchor == np.flatnonzero(units.unit == unit)[0]


def test_units_of_one_type_hold_the_same_symbols_on_the_same_ranks() -> None:
    found = parts(
        """
        ranks 3
        rank *
          repeat 6 {
            Irecv from=-1 tag=1 bytes=8 as=r site=1
            Send to=+1 tag=1 bytes=8 site=2
            Wait of=r site=3
            Allreduce bytes=8 op=1 site=4
          }
        """,
        2,
    )
    # Three messages, by their ranks, and one collective; six times each.
    assert np.bincount(found.units.type).tolist() == [6, 6, 6, 6]


def test_units_with_a_call_that_lost_its_partner_are_never_kept() -> None:
    known = signature(
        """
        rank 0
          repeat 8 {
            Send to=1 tag=1 bytes=8
            Barrier
          }
        rank 1
          repeat 8 {
            Recv from=0 tag=1 bytes=8
            Barrier
          }
        """
    )
    symbols = known.symbols.copy()
    receives = symbols["function"] == known.functions.index("MPI_Recv")
    symbols["tag"][receives] += 1
    found = parts(dataclasses.replace(known, symbols=symbols), 2)
    assert kept_functions(found, 0) == ["Barrier"] * 4
    assert kept_functions(found, 1) == ["Barrier"] * 4
