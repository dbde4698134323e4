"""Kernel coupling: what kernels of a loop cost together, over what they cost alone.

In: times of kernels alone and in chains. Out: a weight for each kernel, by which its
model is multiplied. Weights can be used at other sizes and numbers of processes.

References
----------
Wu, Taylor, Paris 2005, section 3.3.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from skelgen.errors import InputError
from skelgen.models.families.contract import FittedFormula
from skelgen.models.formulas import Expression, Number, Product, Sum
from skelgen.models.runs import LARGEST, SMALLEST

Chain = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ChainCoupling:
    """How kernels of a chain affect each other.

    Attributes
    ----------
    chain : tuple of str
        Kernels in the order in which they run.
    together_s : float
        Time of the chain [s].
    value : float
        That time over the sum of the times alone [1]: above 1 they disturb each other.
    """

    chain: Chain
    together_s: float
    value: float


@dataclass(frozen=True, slots=True)
class LoopCoupling:
    """Weights of the kernels of a loop.

    Attributes
    ----------
    kernels : tuple of str
        In the order of the loop.
    chains : tuple of ChainCoupling
    weights : tuple of float
        Of each kernel: psi, zeta and kappa of the paper.
    """

    kernels: Chain
    chains: tuple[ChainCoupling, ...]
    weights: tuple[float, ...]

    @property
    def by_kernel(self) -> dict[str, float]:
        """The weight of each kernel by its name."""
        return dict(zip(self.kernels, self.weights, strict=True))

    def time_s(self, alone_s: Mapping[str, float]) -> float:
        """Return the time of all kernels from their times alone.

        Parameters
        ----------
        alone_s : mapping of str to float
            Of each kernel of the loop, at the size and number of processes asked for;
            kernels outside the loop count as they are [s].

        Raises
        ------
        InputError
            When a kernel of the loop has no time.
        """
        _known(self.kernels, alone_s, "time")
        weights = self.by_kernel
        return math.fsum(weights.get(k, 1.0) * one for k, one in alone_s.items())

    def formula(self, models: Mapping[str, FittedFormula]) -> FittedFormula:
        """Return T = psi modelA + zeta modelB + kappa modelC.

        Parameters
        ----------
        models : mapping of str to FittedFormula
            Of each kernel alone, by any family.
        """
        _known(self.kernels, models, "model")
        weights = self.by_kernel
        terms: list[Expression] = [
            Product((Number(weights.get(kernel, 1.0)), one.formula))
            for kernel, one in models.items()
        ]
        inputs = dict.fromkeys(i for one in models.values() for i in one.inputs)
        dropped = dict.fromkeys(i for one in models.values() for i in one.dropped)
        used = {one.name for one in inputs}
        return FittedFormula(
            "coupling",
            Sum(tuple(terms)),
            tuple(inputs),
            dropped=tuple(name for name in dropped if name not in used),
            doubts=tuple(
                dict.fromkeys(d for one in models.values() for d in one.doubts)
            ),
            coefficients=tuple(weights.items()),
        )


def chains_of(kernels: Sequence[str], length: int) -> tuple[Chain, ...]:
    """Return the chains of a loop that are measured: each kernel begins one.

    Examples
    --------
    >>> chains_of(("A", "B", "C"), 2)
    (('A', 'B'), ('B', 'C'), ('C', 'A'))
    """
    if len(set(kernels)) != len(kernels):
        raise InputError("two kernels of the loop have one name; rename one of them")
    if not 2 <= length <= len(kernels):
        raise InputError(
            f"chains of {length} of {len(kernels)} kernels; a chain has at least 2 "
            "kernels, and each of them once"
        )
    if length == len(kernels):  # the whole loop, wherever it begins
        return (tuple(kernels),)
    twice = (*kernels, *kernels)
    return tuple(tuple(twice[i : i + length]) for i in range(len(kernels)))


def couple(
    kernels: Sequence[str],
    alone_s: Mapping[str, float],
    together_s: Mapping[Chain, float],
    *,
    length: int = 2,
) -> LoopCoupling:
    """Find the weights of kernels by their times alone and in chains.

    C of a chain is its time over the sum of the times alone. The weight of a kernel is
    the mean of C over the chains that it is in, weighted by their times.

    Parameters
    ----------
    kernels : sequence of str
        In the order of the loop.
    alone_s : mapping of str to float
        Of one run of each kernel alone [s].
    together_s : mapping of tuple of str to float
        Of one run of each chain, see `chains_of` [s]; others are ignored.
    length : int
        Kernels in a chain.

    Returns
    -------
    LoopCoupling

    Raises
    ------
    InputError
        When a time is missing, or is none.

    Examples
    --------
    >>> alone_s = {"A": 1.0, "B": 3.0}
    >>> couple(("A", "B"), alone_s, {("A", "B"): 5.0}).weights
    (1.25, 1.25)
    """
    _known(kernels, alone_s, "time alone")
    wanted = chains_of(kernels, length)
    _known(wanted, together_s, "time together")
    alone = {one: _time(alone_s[one], one) for one in kernels}
    chains = []
    for chain in wanted:
        time_s = _time(together_s[chain], ", ".join(chain))
        expected = math.fsum(alone[one] for one in chain)
        chains.append(ChainCoupling(chain, time_s, time_s / expected))
    weights = tuple(
        math.fsum(c.value * c.together_s for c in chains if one in c.chain)
        / math.fsum(c.together_s for c in chains if one in c.chain)
        for one in kernels
    )
    return LoopCoupling(tuple(kernels), tuple(chains), weights)


def _known(
    wanted: Sequence[str | Chain],
    given: Mapping[str, object] | Mapping[Chain, object],
    what: str,
) -> None:
    missing = [one for one in wanted if one not in given]
    if missing:
        shown = "; ".join(
            one if isinstance(one, str) else ", ".join(one) for one in missing[:5]
        )
        raise InputError(f"no {what} of {shown}; measure it, or leave the kernel out")


def _time(time_s: float, name: str) -> float:
    if not SMALLEST <= time_s <= LARGEST:  # nan is neither
        raise InputError(
            f"the time of {name} is {time_s:g} s; times are from {SMALLEST:g} to "
            f"{LARGEST:g} s"
        )
    return float(time_s)
