"""Write sets of ranks, for people and as conditions."""

from __future__ import annotations

from collections.abc import Sequence
from math import gcd

#: Ranges of ranks that are named; of more the first ones and the last.
_NAMED = 12


def condition(chosen: Sequence[int], among: Sequence[int]) -> str:
    """Write a C condition that holds for some of several ranks.

    Returns
    -------
    str
        Empty when there is no short one.

    Examples
    --------
    >>> condition([0, 1], range(4)), condition([1, 3], range(4))
    ('world.rank <= 1', 'world.rank % 2 == 1')
    >>> condition([0, 2, 3], range(4)), condition([0, 1, 5], range(8))
    ('world.rank != 1', '')
    """
    wanted, others = set(chosen), set(among) - set(chosen)
    low, high = min(wanted), max(wanted)
    if len(wanted) == 1:
        return f"world.rank == {low}"
    if len(others) == 1:
        return f"world.rank != {others.pop()}"
    between = {rank for rank in among if low <= rank <= high}
    if between == wanted:
        above = [f"world.rank >= {low}"] if low > min(among) else []
        below = [f"world.rank <= {high}"] if high < max(among) else []
        return " && ".join(above + below) or "1"
    apart = gcd(*(rank - low for rank in wanted))
    for step in range(2, min(apart, len(among) // 2) + 1):
        if (
            apart % step == 0
            and {rank for rank in among if rank % step == low % step} == wanted
        ):
            return f"world.rank % {step} == {low % step}"
    return ""


def ranks_text(ranks: Sequence[int]) -> str:
    """Name a set of ranks, with ranges.

    Examples
    --------
    >>> ranks_text((0, 1, 2, 5)), ranks_text((3,))
    ('ranks 0-2, 5', 'rank 3')
    >>> ranks_text(range(0, 100, 2))
    '50 ranks: 0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, ..., 98'
    """
    parts: list[list[int]] = []
    for rank in ranks:
        if parts and rank == parts[-1][-1] + 1:
            parts[-1][1:] = [rank]
        else:
            parts.append([rank])
    words = ["-".join(map(str, part)) for part in parts]
    if len(words) > _NAMED:
        named = ", ".join([*words[: _NAMED - 1], "...", words[-1]])
        return f"{len(ranks)} ranks: {named}"
    text = ", ".join(words)
    return f"ranks {text}" if len(ranks) > 1 else f"rank {text}"
