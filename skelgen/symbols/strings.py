"""Turn what was decided about calls into strings of symbols."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from skelgen.columns import zero_column
from skelgen.symbols.key_numbers import combine, factorise, factorise_parts
from skelgen.symbols.pairs import Pairs
from skelgen.symbols.requests import Ages
from skelgen.symbols.sizes import SIZED, distinct_sizes, size_classes
from skelgen.symbols.tags import Tags
from skelgen.symbols.types import OUTSIDE, SYMBOL_DTYPE, VARYING


@dataclass(frozen=True, slots=True)
class Decided:
    """What was decided about calls before their sizes are clustered.

    Attributes
    ----------
    pairs : Pairs
    parts : list of slice
        All calls, one part after the other.
    inside : (n,) bool array
        Which calls have a symbol.
    ages : Ages
    size_bytes : (n,) int64 array
        What calls send, or what arrived [bytes].
    row_of_call : (n,) int32 array
        Row of the following arrays.
    pair, tag, tag2 : (rows,) int64 arrays
        Distinct pairs with their tags.
    """

    pairs: Pairs
    parts: list[slice]
    inside: NDArray[np.bool_]
    ages: Ages
    size_bytes: NDArray[np.int64]
    row_of_call: NDArray[np.int32]
    pair: NDArray[np.int64]
    tag: NDArray[np.int64]
    tag2: NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class SymbolStrings:
    """Symbols of all calls; the columns of `Symbols` with the same names."""

    symbol: NDArray[np.int32]
    table: NDArray[np.void]
    age_first: NDArray[np.int64]
    age_values: NDArray[np.int64]
    varying_peer: NDArray[np.int32]


def decide(
    pairs: Pairs,
    parts: list[slice],
    inside: NDArray[np.bool_],
    ages: Ages,
    tags: Tags,
    size_bytes: NDArray[np.int64],
) -> Decided:
    """Give calls with tags of their own rows of their own."""
    if not len(tags.call):
        pair = np.arange(len(pairs))
        row = pairs.of_call
        return Decided(
            pairs, parts, inside, ages, size_bytes, row, pair, tags.tag, tags.tag2
        )
    of_pair = pairs.of_call[tags.call].astype(np.int64)
    number, first = factorise(combine(of_pair, tags.call_tag, tags.call_tag2))
    row = pairs.of_call.copy()
    row[tags.call] = len(pairs) + number
    return Decided(
        pairs,
        parts,
        inside,
        ages,
        size_bytes,
        row,
        np.concatenate([np.arange(len(pairs)), of_pair[first]]),
        np.concatenate([tags.tag, tags.call_tag[first]]),
        np.concatenate([tags.tag2, tags.call_tag2[first]]),
    )


def strings_of(
    decided: Decided,
    varying: NDArray[np.bool_] | None,
    similarity_threshold: float | None,
) -> SymbolStrings:
    """Give calls symbols by what they have in common.

    Parameters
    ----------
    decided : Decided
    varying : (p,) bool array or None
        Pairs whose partner is kept for each call.
    similarity_threshold : float or None
        As in `cluster`.

    Returns
    -------
    SymbolStrings
    """
    structure = _structure(decided, varying)
    row = decided.row_of_call
    sized = decided.pairs.is_kind(*SIZED)[decided.pair]
    combination, keys, sizes = distinct_sizes(
        row,
        np.where(sized, structure.size_key, -1),
        decided.size_bytes,
        decided.parts,
    )
    classes = size_classes(keys, sizes, similarity_threshold)
    symbol, first = _numbered(decided, structure.key, classes, combination)
    table = structure.table[row[first]]
    table["size_class"] = classes[combination[first]]
    age_row = decided.ages.of_call[first]
    table["ages"], age_first, age_values = _age_table(age_row, decided.ages)
    peers = zero_column(len(symbol), np.int32)
    if varying is not None and varying.any():
        calls = np.flatnonzero(varying[decided.pairs.of_call] & decided.inside)
        peers[calls] = decided.pairs.peer[decided.pairs.of_call[calls]]
    return SymbolStrings(symbol, table, age_first, age_values, peers)


def _numbered(
    decided: Decided,
    structure: NDArray[np.int64],
    classes: NDArray[np.int32],
    combination: NDArray[np.int32],
) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    """Give calls with equal structure, ages and size a number; return its first call.

    Calls outside have one key in common and are taken out at the end.
    """
    age_rows = len(decided.ages.rows) + 1
    most_classes = int(classes.max(initial=0)) + 2

    def keys(part: slice) -> NDArray[np.int64]:
        key = structure[decided.row_of_call[part]]
        key *= age_rows
        key += decided.ages.of_call[part]
        key *= most_classes
        key += classes[combination[part]]
        key += 1
        key[~decided.inside[part]] = -1
        return key

    symbol, first_call = factorise_parts(decided.parts, keys)
    kept = decided.inside[first_call]
    if not kept.all():
        symbol_of = np.where(kept, np.cumsum(kept) - 1, OUTSIDE).astype(np.int32)
        for part in decided.parts:
            symbol[part] = symbol_of[symbol[part]]
    return symbol, first_call[kept]


@dataclass(frozen=True, slots=True)
class _Structure:
    """All but ages and sizes: table rows, their number, and that without tags."""

    table: NDArray[np.void]
    key: NDArray[np.int64]
    size_key: NDArray[np.int64]


def _structure(decided: Decided, varying: NDArray[np.bool_] | None) -> _Structure:
    pairs, pair = decided.pairs, decided.pair
    table = np.zeros(len(pair), SYMBOL_DTYPE)
    for column in ("flags", "datatype_bytes", "piece_bytes", "op", "site"):
        table[column] = pairs.shape[column][pair]
    table["function"] = pairs.function[pair]
    table["family"] = pairs.family[pair]
    table["tag"], table["tag2"] = decided.tag, decided.tag2
    table["peer"], table["peer2"] = pairs.peer[pair], pairs.peer2[pair]
    table["family"][table["family"] < 0] = -1
    if varying is not None:
        rows = varying[pair]
        together = rows & (pairs.peer == pairs.peer2)[pair]
        table["peer"][rows] = VARYING
        table["peer2"][together] = VARYING
    shared = [
        table[column].astype(np.int64)
        for column in (
            "function", "flags", "family", "peer", "peer2", "datatype_bytes",
            "op", "site",
        )
    ]  # fmt: skip
    size_key = combine(*shared)
    tags = (table[column].astype(np.int64) for column in ("tag", "tag2"))
    return _Structure(table, combine(size_key, *tags), size_key)


def _age_table(
    row: NDArray[np.int32], ages: Ages
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Collect rows of ages in the order of the symbols; 0 is the empty row."""
    number: dict[tuple[int, ...], int] = {(): 0}
    column = [number.setdefault(ages.rows[i], len(number)) for i in row.tolist()]
    lengths = [len(known) for known in number]
    values = [age for known in number for age in known]
    first = np.cumsum([0, *lengths], dtype=np.int64)
    return np.array(column, np.int64), first, np.array(values, np.int64)
