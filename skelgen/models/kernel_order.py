"""In which order the kernels of a loop run, by the chains that were measured."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence

from skelgen.errors import InputError
from skelgen.models.coupling import Chain

_REMEDY = "say it: --order a,b,c"


def loop_of(chains: Iterable[Chain]) -> Chain:
    """Return the kernels of a loop in the order in which they run.

    A chain of all kernels says it. Else each chain says what follows what, and one
    link may be missing: the loop is closed.

    Parameters
    ----------
    chains : iterable of tuple of str
        Those of one kernel say nothing.

    Raises
    ------
    InputError
        When there is no chain, or when chains leave more than one order.

    Examples
    --------
    >>> loop_of([("B", "C"), ("A", "B")])
    ('A', 'B', 'C')
    """
    longer = list(dict.fromkeys(one for one in chains if len(one) > 1))
    if not longer:
        raise InputError(
            "no chain of kernels was measured, only kernels alone; measure chains, "
            "such as those of two: a+b, b+c, c+a"
        )
    kernels = tuple(dict.fromkeys(name for one in longer for name in one))
    whole = [one for one in longer if len(one) == len(kernels)]
    if len({turned(one, kernels[0]) for one in whole}) > 1:
        raise InputError(
            f"chains of all kernels have different orders, {'+'.join(whole[0])} and "
            f"{'+'.join(whole[1])}; {_REMEDY}"
        )
    return whole[0] if whole else _walked(kernels, _followers(longer))


def turned(chain: Chain, first: str) -> Chain:
    """Return a whole loop so that it begins with a kernel of it.

    Examples
    --------
    >>> turned(("B", "C", "A"), "A")
    ('A', 'B', 'C')
    """
    begin = chain.index(first)
    return (*chain[begin:], *chain[:begin])


def _followers(chains: Sequence[Chain]) -> dict[str, str]:
    """Return what runs after each kernel."""
    found: dict[str, str] = {}
    for chain in chains:
        for one, after in itertools.pairwise(chain):
            if found.setdefault(one, after) != after:
                raise InputError(
                    f"the order of the loop is not known: after {one} come "
                    f"{found[one]} and {after}; {_REMEDY}"
                )
    return found


def _walked(kernels: Chain, followers: dict[str, str]) -> Chain:
    """Go from kernel to kernel until all were seen."""
    followed = set(followers.values())
    first = next((one for one in kernels if one not in followed), kernels[0])
    walk = [first]
    while (after := followers.get(walk[-1])) is not None and after not in walk:
        walk.append(after)
    if lost := [one for one in kernels if one not in walk]:
        raise InputError(
            f"the order of the loop is not known: {'+'.join(walk)} is a part of it, "
            f"and no chain says where {lost[0]} is; measure that chain, or {_REMEDY}"
        )
    return tuple(walk)
