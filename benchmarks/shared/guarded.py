"""Call something with a limit of processor time, and say how it ended."""

from __future__ import annotations

import signal
import traceback
import warnings
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import TypeVar

from skelgen.errors import SkelgenError

Value = TypeVar("Value")

#: Of one case [s of processor time].
LONGEST_S = 60.0


class Wrong(Exception):  # noqa: N818 -- it is a kind of outcome
    """A case ended as none must: the text says how, and where."""


class _TooLong(BaseException):
    """The limit was reached; no handler of errors holds it up."""


def guarded(call: Callable[[], Value], longest_s: float = LONGEST_S) -> Value:
    """Return what a call returns; a warning counts as an error.

    A library that does not return to Python at all ends the process.

    Raises
    ------
    SkelgenError
        When the call refused, in one line.
    Wrong
        When it raised anything else, or took longer.
    """

    def late(number: int, frame: FrameType | None) -> None:
        del number, frame
        raise _TooLong

    before = signal.signal(signal.SIGPROF, late)
    signal.setitimer(signal.ITIMER_PROF, longest_s)
    signal.setitimer(signal.ITIMER_VIRTUAL, 2.0 * longest_s)  # ends the process
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            return call()
    except SkelgenError as error:
        if "\n" in str(error):
            raise Wrong(f"an error of several lines: {str(error)[:200]!r}") from error
        raise
    except Exception as error:
        raise Wrong(place_of(error)) from error
    except _TooLong as error:
        raise Wrong(f"longer than {longest_s:g} s") from error
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0.0)
        signal.setitimer(signal.ITIMER_VIRTUAL, 0.0)
        signal.signal(signal.SIGPROF, before)


def place_of(error: Exception) -> str:
    """Return what was raised and the last line of ours that it came from."""
    frames = [
        frame
        for frame in traceback.extract_tb(error.__traceback__)
        if "skelgen" in Path(frame.filename).parts
    ]
    where = f"{Path(frames[-1].filename).name}:{frames[-1].lineno}" if frames else "?"
    return f"{type(error).__name__} at {where}: {str(error)[:80]}"
