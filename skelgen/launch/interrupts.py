"""Signals that end skelgen, and when they may."""

from __future__ import annotations

import signal
import threading
import time
from types import FrameType
from typing import Any, Self


def _restorable(kind: signal.Signals, handler: Any) -> Any:
    """Return what to set again for a signal.

    A handler in C, of a library that was preloaded into this process (such as a tool
    for MPI programs), Python does not know and cannot set again.
    """
    if handler is not None:
        return handler
    return signal.default_int_handler if kind is signal.SIGINT else signal.SIG_DFL


class Interrupts:
    """Signals that end skelgen, turned into an interrupt where that can be handled.

    While a command starts or ends they are held back: nothing may be left behind.
    What it was started to ignore, by nohup or in the background, it goes on to ignore.
    """

    _KINDS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)

    def __init__(self) -> None:
        self._through = False
        self._pending = ""
        self._previous: dict[signal.Signals, Any] = {}

    def __enter__(self) -> Self:
        if threading.current_thread() is threading.main_thread():
            self._previous = {
                kind: _restorable(kind, signal.signal(kind, self._receive))
                for kind in self._KINDS
                if signal.getsignal(kind) is not signal.SIG_IGN
            }
        return self

    def __exit__(self, *_: object) -> None:
        for kind, handler in self._previous.items():
            signal.signal(kind, handler)
        self._raise_pending()

    def let_through(self) -> None:
        """Interrupt from now on, and at once when a signal has come already."""
        self._through = True
        self._raise_pending()

    def hold_back(self) -> None:
        """Keep signals until the command has ended."""
        self._through = False

    def pause(self, time_s: float) -> None:
        """Sleep, and interrupt only meanwhile."""
        try:
            self.let_through()
            time.sleep(time_s)
        finally:
            self.hold_back()

    def _receive(self, number: int, _: FrameType | None) -> None:
        self._pending = signal.Signals(number).name
        if self._through:
            self._raise_pending()

    def _raise_pending(self) -> None:
        if self._pending:
            name, self._pending = self._pending, ""
            raise KeyboardInterrupt(name)
