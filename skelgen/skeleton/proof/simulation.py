"""Run a skeleton without times, to prove that it finishes.

Sends wait for their receives (rendezvous), or they do not (eager). Receives name their
sources, so nothing depends on the order in which ranks are taken: what happens here
happens under every MPI. Collectives, rooted ones too, wait for all participants.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from skelgen._kernels._simulate import ffi, lib
from skelgen.skeleton.proof.script import Script


@dataclass(frozen=True, slots=True)
class SimulationOutcome:
    """How far the ranks got.

    Attributes
    ----------
    position : tuple of int
        Steps that each rank finished.
    steps : tuple of int
        Steps that each rank has.
    truncated : int
        Messages longer than their receive.
    mismatched : int
        Calls of collectives that do not fit those of other ranks.
    misused : int
        Requests named that do not exist, are complete or already started.
    unreceived, unsent : int
        Messages sent but never received, and receives without a message.
    """

    position: tuple[int, ...]
    steps: tuple[int, ...]
    truncated: int
    mismatched: int
    misused: int
    unreceived: int
    unsent: int

    @property
    def stalled(self) -> bool:
        """Return whether a rank waits for ever."""
        return self.position != self.steps

    @property
    def sound(self) -> bool:
        """Return whether all ranks finish and every call fits."""
        return not (
            self.stalled
            or self.truncated
            or self.mismatched
            or self.misused
            or self.unreceived
            or self.unsent
        )


_SCALARS = ("ranks", "rows", "channels", "streams", "members")
_ARRAYS = {
    "first": ("int64_t[]", np.int64),
    "row": ("int32_t[]", np.int32),
    "kind": ("uint8_t[]", np.uint8),
    "mode": ("uint8_t[]", np.uint8),
    "partner_first": ("int64_t[]", np.int64),
    "send_channel": ("int32_t[]", np.int32),
    "receive_channel": ("int32_t[]", np.int32),
    "size_first": ("int64_t[]", np.int64),
    "size_bytes": ("int64_t[]", np.int64),
    "occurrences": ("int64_t[]", np.int64),
    "capacity_bytes": ("int64_t[]", np.int64),
    "age_first": ("int64_t[]", np.int64),
    "ages": ("int64_t[]", np.int64),
    "stream": ("int32_t[]", np.int32),
    "member": ("int32_t[]", np.int32),
    "fit": ("int32_t[]", np.int32),
    "stream_size": ("int32_t[]", np.int32),
    "request_first": ("int64_t[]", np.int64),
}


def simulate(script: Script, *, rendezvous: bool) -> SimulationOutcome:
    """Run a script (C kernel).

    Parameters
    ----------
    script : Script
    rendezvous : bool
        Whether a send waits for its receive.
    """
    given = ffi.new("struct skelgen_script *")
    sizes = [len(ranks) for ranks in script.streams]
    counts = (
        script.ranks,
        len(script.kind),
        len(script.channels),
        len(sizes),
        sum(sizes),
    )
    for name, count in zip(_SCALARS, counts, strict=True):
        setattr(given, name, count)
    kept_alive = []
    for name, (kind, dtype) in _ARRAYS.items():
        values = sizes if name == "stream_size" else getattr(script, name)
        array = np.ascontiguousarray(values, dtype)
        buffer = ffi.from_buffer(kind, array)
        kept_alive.append((array, buffer))
        setattr(given, name, buffer)
    position: NDArray[np.int64] = np.empty(script.ranks, np.int64)
    found = ffi.new("struct skelgen_outcome *")
    error = lib.skelgen_simulate(
        given,
        int(rendezvous),
        ffi.from_buffer("int64_t[]", position, require_writable=True),
        found,
    )
    if error:
        raise MemoryError
    return SimulationOutcome(
        tuple(position.tolist()),
        tuple(np.diff(script.first).tolist()),
        found.truncated,
        found.mismatched,
        found.misused,
        found.unreceived,
        found.unsent,
    )
