"""Completions of all that is outstanding, in a skeleton."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from skelgen.events import CallKind
from skelgen.signature import Signature
from skelgen.signature.expand_ages import completes_all
from skelgen.skeleton.quantities.strings import RankStrings
from skelgen.skeleton.quantities.symbols import PlanSymbols
from skelgen.symbols.types import ALL_OUTSTANDING


def with_all_outstanding(
    strings: RankStrings, symbols: PlanSymbols, signature: Signature
) -> RankStrings:
    """Let completions say that they are of all that is outstanding, where they are.

    Those whose symbol says so in the signature, and which leave no request of the
    skeleton either. Others keep the ages of their requests.

    Parameters
    ----------
    strings : RankStrings
        With the ages of all requests.
    symbols : PlanSymbols
    signature : Signature
    """
    every = completes_all(signature, symbols.functions, symbols.table)
    wanted = every[strings.symbol]
    wanted &= np.diff(strings.age_first) > 0
    if not wanted.any():
        return strings
    wanted &= _left(strings, symbols) == 0
    kept = ~np.repeat(wanted, np.diff(strings.age_first))
    lengths = np.where(wanted, 1, np.diff(strings.age_first))
    first = np.cumsum([0, *lengths], dtype=np.int64)
    ages = np.full(first[-1], ALL_OUTSTANDING, np.int64)
    ages[~np.repeat(wanted, lengths)] = strings.ages[kept]
    return replace(strings, age_first=first, ages=ages)


def _left(strings: RankStrings, symbols: PlanSymbols) -> NDArray[np.int64]:
    """Return how many plain requests are outstanding after each step."""
    infos = [symbols.info(symbol) for symbol in range(len(symbols.table))]
    creates = np.array([one.creates and not one.persistent for one in infos], np.int64)
    completes = np.array([one.kind is CallKind.COMPLETE for one in infos], bool)
    named = np.concatenate([[0], np.cumsum(strings.ages > 0)])[strings.age_first]
    symbol = strings.symbol
    left = np.cumsum(creates[symbol] - np.where(completes[symbol], np.diff(named), 0))
    before = np.concatenate([[0], left])[strings.first[:-1]]
    return np.asarray(left - np.repeat(before, np.diff(strings.first)))
