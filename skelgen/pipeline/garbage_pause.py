"""Work that makes many things that all stay, without looking for garbage among them."""

from __future__ import annotations

import contextlib
import gc
from collections.abc import Iterator


@contextlib.contextmanager
def uncollected() -> Iterator[None]:
    """Stop the collector of cycles within: rows and ranks have none.

    It would go through all of them again and again while they become more, which takes
    a fifth of the time to add a hundred thousand rows, or to read as many rank files.
    """
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()
