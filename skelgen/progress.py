"""Progress of long work, shown only where a person is looking."""

from __future__ import annotations

from typing import Protocol


class Progress(Protocol):
    """Receives how far a long piece of work has come."""

    def start(self, what: str, total: float) -> None:
        """Begin a piece of work of `total` units (0 when unknown)."""

    def advance(self, amount: float) -> None:
        """Report `amount` further units as done."""

    def finish(self) -> None:
        """End the piece of work that was started last."""


class _NoProgress:
    """Show nothing."""

    def start(self, what: str, total: float) -> None:
        """Ignore the start."""

    def advance(self, amount: float) -> None:
        """Ignore the step."""

    def finish(self) -> None:
        """Ignore the end."""


NO_PROGRESS: Progress = _NoProgress()
