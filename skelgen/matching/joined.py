"""What both the kernel and its twin compute, before incomplete events are dropped."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, slots=True, eq=False)
class JoinedEvents:
    """Events with calls that found no partner still in them.

    Attributes
    ----------
    lonely : (n,) bool array
        Calls of which at least one message or the collective is incomplete.

    Others as in `Matching`; messages stand in the order in which the ranks, one
    after the other, sent them.
    """

    whole_event: NDArray[np.int64]
    whole_events: int
    send_call: NDArray[np.int64]
    receive_call: NDArray[np.int64]
    send_done: NDArray[np.int64]
    receive_done: NDArray[np.int64]
    message_bytes: NDArray[np.int64]
    collective_done: NDArray[np.int64]
    lonely: NDArray[np.bool_]
