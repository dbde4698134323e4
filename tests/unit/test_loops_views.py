"""Looking at nests."""

from __future__ import annotations

import numpy as np

from skelgen.loops import Nest, children, fold, same

STRING = np.array([5, *[0, 1, 1, 0, 1, 1, 2] * 3, 6], np.int32)


def below(nest: Nest, item: int) -> list[int]:
    """Return the items of a body, all levels."""
    if item >= 0 and not nest.body_items[item]:
        return []
    return [i for child in children(nest, item) for i in (child, *below(nest, child))]


def test_children_of_all_items_are_all_items_in_order() -> None:
    nest = fold(STRING)
    assert below(nest, -1) == list(range(len(nest)))
    assert children(nest) == [0, 1, len(nest) - 1]


def test_nests_are_the_same_only_when_every_column_is() -> None:
    nest = fold(STRING)
    columns = [nest.body_items, nest.symbol, nest.trips_first, nest.trips]
    assert same(nest, Nest(*(column.copy() for column in columns)))
    for number, column in enumerate(columns):
        changed = [other.copy() for other in columns]
        changed[number] = column + 1
        assert not same(nest, Nest(*changed))
    assert not same(nest, fold(STRING[:-1]))
