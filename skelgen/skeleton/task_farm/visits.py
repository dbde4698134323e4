"""Divide what a rank executes where it turns to another partner."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from skelgen.events import CallKind, function_info
from skelgen.events.types import NO_PEER, PROC_NULL, WILDCARD_SOURCE
from skelgen.loops import expand
from skelgen.skeleton.quantities.symbols import PlanSymbols
from skelgen.skeleton.types import Program
from skelgen.symbols.types import VARYING

#: Calls that a visit consists of.
PLAIN = (CallKind.SEND, CallKind.RECEIVE)
#: What calls at the same place of equal visits have in common. Tags may differ.
_COMMON = ("function", "family", "datatype_bytes", "flags")


@dataclass(frozen=True, slots=True, eq=False)
class FarmPrograms:
    """Programs and the symbols of their calls.

    Attributes
    ----------
    programs : tuple of Program
    symbols : PlanSymbols
    """

    programs: tuple[Program, ...]
    symbols: PlanSymbols


@dataclass(frozen=True, slots=True, eq=False)
class Visits:
    """Calls that follow each other with the same partner, or one other call.

    Attributes
    ----------
    first, calls : (n,) int64 arrays
        First call of each visit, a place in the program's string, and how many.
    asks : (n,) bool array
        Whether a visit begins with a receive from any source.
    kind, peer, family : (steps,) int64 arrays
        `CallKind`, relative partner and family of communicators of each call.
    key, plain_key : (steps,) int64 arrays
        Equal where calls have in common what those of equal visits must; with and
        without their tags.
    """

    first: NDArray[np.int64]
    calls: NDArray[np.int64]
    asks: NDArray[np.bool_]
    kind: NDArray[np.int64]
    peer: NDArray[np.int64]
    family: NDArray[np.int64]
    key: NDArray[np.int64]
    plain_key: NDArray[np.int64]


def visits_of(
    program: Program, symbols: PlanSymbols, goes_on: NDArray[np.bool_] | None = None
) -> Visits | None:
    """Divide what a program executes.

    Parameters
    ----------
    program : Program
    symbols : PlanSymbols
    goes_on : (steps,) bool array, optional
        Receives from any source that go on with the partner before.

    Returns
    -------
    Visits, or None
        None when the program receives nothing from any source.
    """
    rows = symbols.table[[operation.symbol for operation in program.operations]]
    kinds = np.array([function_info(name).kind for name in symbols.functions], np.int64)
    kind = kinds[rows["function"]]
    asks = ((rows["flags"] & WILDCARD_SOURCE) != 0) & (kind == CallKind.RECEIVE)
    if not asks.any():
        return None
    string = expand(program.nest)
    peer = _peers(program, rows["peer"], string)
    kind, asks = kind[string], asks[string]
    family = rows["family"][string].astype(np.int64)
    asks &= (peer != PROC_NULL) & (peer != NO_PEER)
    if goes_on is not None:
        asks &= ~goes_on
    same = np.append(False, (peer[1:] == peer[:-1]) & (family[1:] == family[:-1]))
    first = np.flatnonzero(asks | ~same | ~np.isin(kind, PLAIN))
    calls = np.diff(np.append(first, len(string)))
    keys = [_numbered(rows, names)[string] for names in ((*_COMMON, "tag"), _COMMON)]
    return Visits(first, calls, asks[first], kind, peer, family, *keys)


def _numbered(rows: NDArray[np.void], names: Sequence[str]) -> NDArray[np.int64]:
    """Return a number of each row, equal where some columns are."""
    columns = np.stack([rows[name].astype(np.int64) for name in names], axis=1)
    _, number = np.unique(columns, axis=0, return_inverse=True)
    return np.asarray(number.ravel(), np.int64)


def _peers(
    program: Program, peer: NDArray[np.int32], string: NDArray[np.int32]
) -> NDArray[np.int64]:
    """Return the relative partner of each call."""
    found = peer[string].astype(np.int64)
    for number in np.flatnonzero(peer == VARYING).tolist():
        at = np.flatnonzero(string == number)
        peers = program.operations[number].peers
        found[at] = peers[np.arange(len(at)) % len(peers)] if len(peers) else NO_PEER
    return found
