"""The error of a method: how far its predictions are from the truth."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

#: Half the width of the 90 % interval of a normal distribution, in deviations.
_NORMAL = 1.645


@dataclass(frozen=True, slots=True)
class MethodError:
    """The error of a method for an application that it never saw.

    Attributes
    ----------
    method : str
    family : str
        Kind of program; empty for all.
    half_width : float
        Half the width of the 90 % interval of log(truth / prediction), beyond what the
        spread of runs explains [1].
    within : float
        The same of an application's predictions against each other [1].
    truth_over_predicted : float
        Median of the applications' medians [1].
    applications, cases : int
        From how many it was learnt.
    held : float
        Part of the cases whose interval held the truth when it was learnt from the
        other applications only [0 to 1].
    least_held : float
        The same for the application that it holds least for [0 to 1].
    least_application : str
        Its name.
    widened : bool
        Whether these were too few applications, so that it is a cautious guess.
    cores : str
        Of predictions where ranks had their cores to themselves (``own``), or where
        other processes had them, too (``shared``); empty for all.
    """

    method: str
    family: str
    half_width: float
    within: float
    truth_over_predicted: float
    applications: int
    cases: int
    held: float
    least_held: float
    least_application: str
    widened: bool
    cores: str = ""


@dataclass(frozen=True, slots=True)
class MethodErrors:
    """The errors of all methods.

    Attributes
    ----------
    entries : tuple of MethodError
    """

    entries: tuple[MethodError, ...]

    def of(self, method: str, family: str = "", cores: str = "") -> MethodError:
        """Return the error of a method, of the narrowest kind that has its own.

        Whether cores are shared counts more than the family. A method that nobody
        learnt anything about has the largest of all.
        """
        own = {
            (one.family, one.cores): one for one in self.entries if one.method == method
        }
        for kind in ((family, cores), ("", cores), (family, ""), ("", "")):
            if kind in own:
                return own[kind]
        return max(self.entries, key=lambda one: one.half_width)

    def over(self, others: MethodErrors) -> MethodErrors:
        """Return these, and for methods that they lack those of others."""
        known = {one.method for one in self.entries}
        lacking = (one for one in others.entries if one.method not in known)
        return MethodErrors((*self.entries, *lacking))


def error_draws(
    half_width: float, count: int, generator: np.random.Generator
) -> NDArray[np.float64]:
    """Draw the true time over the predicted one [1].

    Parameters
    ----------
    half_width : float
        Half the width of the 90 % interval of its logarithm [1].
    count : int
    generator : numpy.random.Generator
    """
    return np.exp(half_width / _NORMAL * generator.standard_normal(count))
