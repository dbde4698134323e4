"""When reading a store has to end, for servers that answer many.

Databases of a thread that are opened within `deadline` stop what they are asked when it
is over. Without one, as on the command line, reading takes what it takes.
"""

from __future__ import annotations

import contextlib
import math
import time
from collections.abc import Iterator
from contextvars import ContextVar

from skelgen.errors import MachineError

_END_S: ContextVar[float] = ContextVar("end of reading", default=math.inf)


class LateError(MachineError):
    """Reading took longer than it may."""


@contextlib.contextmanager
def deadline(limit_s: float) -> Iterator[None]:
    """Let reading within take so long at most [s]."""
    token = _END_S.set(min(_END_S.get(), time.monotonic() + limit_s))
    try:
        yield
    finally:
        _END_S.reset(token)


def left_s() -> float:
    """Return the time that is left; infinite without a deadline [s]."""
    return _END_S.get() - time.monotonic()


def late(shown: str) -> LateError:
    """Return the error of a read that took too long."""
    return LateError(
        f"{shown}: reading took longer than it may; ask for less, such as one "
        "application, or use the command line"
    )


def check_deadline(shown: str) -> None:
    """Stop where the time is over.

    Raises
    ------
    LateError
    """
    if left_s() <= 0.0:
        raise late(shown)
