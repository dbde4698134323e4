"""The shapes of all files as one table of calls, with what exports ask of them."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skelgen.events.functions import (
    COLLECTIVES,
    RECEIVING,
    SENDING,
    TWO_SIDED,
    CallKind,
    function_info,
)
from skelgen.events.shapes import FileShapes
from skelgen.events.types import WILDCARD_SOURCE, WILDCARD_TAG
from skelgen.export.kernel import dtype, halves
from skelgen.export.types import ExportedCall
from skelgen.trace.format import trace_format


class ExportedCalls:
    """Calls, numbered as they appear; equal ones of different files have one number.

    Attributes
    ----------
    table : list of ExportedCall
    """

    def __init__(self) -> None:
        self.table: list[ExportedCall] = []
        self._numbers: dict[bytes, int] = {}

    def numbers(self, shapes: FileShapes, functions: list[str]) -> NDArray[np.int32]:
        """Return the number of each shape of a file.

        Parameters
        ----------
        shapes : FileShapes
        functions : list of str
            By their numbers in the shapes' rows.
        """
        flags = shapes.raw["flags"]
        found = np.zeros(len(flags), np.int32)
        for shape in range(len(flags)):
            row = shapes.rows[shape]
            key = row.tobytes() + flags[shape].tobytes()
            known = self._numbers.get(key)
            if known is None:
                known = self._numbers[key] = len(self.table)
                function = functions[int(row["function"])]
                name = shapes.names[shape]
                self.table.append(_call(function, name, row, int(flags[shape])))
            found[shape] = known
        return found

    @cached_property
    def rows(self) -> NDArray[np.void]:
        """Return ``struct skelgen_half_call`` of each; no call follows any more."""
        rows = np.zeros(len(self.table), dtype("half_call"))
        for name in ("communicator", "action", "parts"):
            rows[name] = self.column(lambda call, name=name: getattr(call, name))
        rows["wild_source"] = self.column(lambda call: call.flags & WILDCARD_SOURCE)
        rows["wild_tag"] = self.column(lambda call: call.flags & WILDCARD_TAG)
        return rows

    def column(self, of: Callable[..., Any]) -> NDArray[np.int64]:
        """Return a number of each call."""
        return np.array([int(of(call)) for call in self.table], np.int64)


def _call(function: str, name: str, row: np.void, flags: int) -> ExportedCall:
    info = function_info(function)
    return ExportedCall(
        function=function,
        name=name,
        kind=info.kind,
        flags=int(row["flags"]),
        action=_action(flags),
        parts=_parts(info.kind, flags),
        communicator=int(row["communicator"]),
        rooted=info.rooted,
        site=int(row["site"]),
    )


def _action(flags: int) -> int:
    """Say what a call does with requests: the first of these that holds."""
    lib, known = halves().lib, trace_format()
    actions = {
        "CREATES": lib.SKELGEN_HALVES_CREATES,
        "PERSISTENT": lib.SKELGEN_HALVES_KEEPS,
        "STARTS": lib.SKELGEN_HALVES_STARTS,
        "RELEASES": lib.SKELGEN_HALVES_RELEASES,
        "COMPLETES": lib.SKELGEN_HALVES_ENDS,
    }
    for name, action in actions.items():
        if flags & known[f"SHAPE_{name}"]:
            return int(action)
    return int(lib.SKELGEN_HALVES_BLOCKS)


def _parts(kind: CallKind, flags: int) -> int:
    """Say what becomes half a message, or the whole of a request."""
    lib, known = halves().lib, trace_format()
    parts = 0
    if kind in SENDING:
        parts |= lib.SKELGEN_HALVES_SENDS
    if kind in RECEIVING:
        second = kind in TWO_SIDED
        parts |= (
            lib.SKELGEN_HALVES_RECEIVES_SECOND
            if second
            else lib.SKELGEN_HALVES_RECEIVES
        )
    if not parts and flags & (known["SHAPE_CREATES"] | known["SHAPE_PERSISTENT"]):
        collective = kind in COLLECTIVES
        parts = (
            lib.SKELGEN_HALVES_COLLECTIVE if collective else lib.SKELGEN_HALVES_OTHER
        )
    return int(parts)
