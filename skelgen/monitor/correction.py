"""When to spin, and what two spins that agree say of the passive estimate."""

from __future__ import annotations

import math
from collections import deque

from skelgen.monitor.spin import Spin
from skelgen.monitor.thresholds import (
    LEAST_DIFFERENCE,
    LONGEST_SPIN_CPU_S,
    SPINNING_COST,
)


class Correction:
    """Corrects estimates of the available CPU by what spins got.

    Spins count as long as the estimate stays where it was: another load has another
    error. One that differs may have met a moment; two are a reason.

    Parameters
    ----------
    begin_s : float
        Of a clock that does not jump [s].
    """

    def __init__(self, begin_s: float) -> None:
        self._allowed_s = LONGEST_SPIN_CPU_S
        self._last_s = begin_s
        self._about = math.nan
        self._spins: deque[tuple[float, Spin]] = deque(maxlen=4)

    def wants(self, passive: float, now_s: float) -> bool:
        """Say whether it is time for a spin.

        Parameters
        ----------
        passive : float
            The estimate [0 to 1].
        now_s : float
        """
        self._allowed_s += SPINNING_COST * max(0.0, now_s - self._last_s)
        self._allowed_s = min(self._allowed_s, 3 * LONGEST_SPIN_CPU_S)
        self._last_s = now_s
        if not abs(passive - self._about) <= LEAST_DIFFERENCE:
            self._about = passive
            self._spins.clear()
        return self._allowed_s >= LONGEST_SPIN_CPU_S

    def learn(self, passive: float, found: Spin) -> None:
        """Take a spin into account."""
        self._allowed_s -= found.cost_s
        self._spins.append((found.share - passive, found))

    @property
    def error(self) -> float:
        """Return what is to be added to the estimate."""
        counted = [
            (by, one) for by, one in self._spins if one.within <= 4 * LEAST_DIFFERENCE
        ]
        far = [by for by, one in counted if abs(by) > LEAST_DIFFERENCE + one.within]
        if len(far) < 2 or len(far) < len(counted):
            return 0.0
        if min(far) < 0 < max(far):
            return 0.0  # they do not agree
        return math.fsum(far) / len(far)

    def corrected(self, passive: float) -> float:
        """Return the estimate with what spins say of it [0 to 1]."""
        return min(max(passive + self.error, 0.0), 1.0)
