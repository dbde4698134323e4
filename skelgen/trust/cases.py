"""Predictions whose truth is known."""

from __future__ import annotations

import math
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Case:
    """A prediction and the truth that was measured for it.

    Attributes
    ----------
    method : str
        How it was predicted: ``whole-events``, ``paper2005``, ``phases``, ``workload``.
    application : str
    family : str
        Kind of program, such as the name of its MPI; empty when nothing is known.
    predicted_s, truth_s : float
        [s].
    p5_s, p95_s : float
        90 % interval of what was measured for the prediction, without the error of the
        method; both the predicted time when it is not known [s].
    cores : str
        ``own`` where the ranks had their cores to themselves, ``shared`` where other
        processes had them, too; empty when nothing is known.
    """

    method: str
    application: str
    family: str
    predicted_s: float
    truth_s: float
    p5_s: float
    p95_s: float
    cores: str = ""

    @property
    def log_error(self) -> float:
        """Return the logarithm of the truth over the prediction [1]."""
        return math.log(self.truth_s / self.predicted_s)

    def excess(self, centre: float = 0.0) -> float:
        """Return the least error of the method that explains the truth [1].

        Half the width of a 90 % interval of logarithms: with this, and with that of
        what was measured, the prediction's interval just holds the truth.

        Parameters
        ----------
        centre : float
            Part of the logarithm that is known of the application [1].

        Examples
        --------
        >>> sure = Case("phases", "a", "", 10.0, 11.0, 10.0, 10.0)
        >>> rough = Case("phases", "a", "", 10.0, 11.0, 9.0, 11.5)
        >>> round(sure.excess(), 3), rough.excess()
        (0.095, 0.0)
        """
        off = self.log_error - centre
        end_s = self.p95_s if off > 0 else self.p5_s
        measured = math.log(end_s / self.predicted_s)
        return math.sqrt(max(0.0, off**2 - measured**2))
