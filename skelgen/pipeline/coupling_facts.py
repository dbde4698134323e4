"""What is asked of loops by all who tell of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from skelgen.models.kernel_prediction import LoopPrediction


def error_of(found: LoopPrediction, time_s: float) -> float | None:
    """Return how far a time is from the measured one; None: it was not measured."""
    return time_s / found.measured.time_s - 1.0 if found.measured else None
