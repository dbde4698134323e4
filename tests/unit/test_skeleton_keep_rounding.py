"""How many units of each type are kept."""

from __future__ import annotations

import numpy as np
import pytest

from skelgen.skeleton.keep.rounding import Demand, kept_numbers


def demand(
    number: list[int],
    *,
    whole: list[int] | None = None,
    kind: list[int] | None = None,
    classes: list[list[int]] | None = None,
) -> Demand:
    """Make a demand; `classes` lists the classes that each type is a member of."""
    kinds = kind or list(range(len(number)))
    members = classes or [[t] for t in range(len(number))]
    pairs = [(t, c) for t, own in enumerate(members) for c in own]
    size = max(c for _, c in pairs) + 1
    calls = np.zeros(size, np.int64)
    for t, c in pairs:
        calls[c] += number[t]
    return Demand(
        number=np.array(number),
        whole=np.array(whole or [0] * len(number)),
        kind=np.array(kinds),
        coarse=("c",) * (max(kinds) + 1),
        member_type=np.array([t for t, _ in pairs]),
        member_class=np.array([c for _, c in pairs]),
        member_calls=np.ones(len(pairs), np.int64),
        class_calls=calls,
        relevant=np.ones(size, bool),
    )


def test_targets_are_rounded_to_the_nearest_number() -> None:
    assert kept_numbers(demand([100, 104, 106]), 0.1).tolist() == [10, 10, 11]


def test_whole_iterations_are_left_alone_within_half_a_percent() -> None:
    wanted = demand([100_000, 100_000], whole=[1_004, 1_006])
    assert kept_numbers(wanted, 0.01).tolist() == [1_004, 1_000]


def test_kinds_too_rare_for_one_event_are_carried_together() -> None:
    assert kept_numbers(demand([1] * 40), 0.1).sum() == 4


def test_types_of_one_kind_on_different_ranks_get_one_decision() -> None:
    kept = kept_numbers(demand([7] * 8, kind=[0] * 8), 0.5)
    assert len(set(kept.tolist())) == 1


def test_a_masters_exchanges_with_its_workers_sum_to_their_target() -> None:
    # Each type is a worker's class and the master's common one, number 0.
    wanted = demand(
        [143] * 7, kind=[0] * 7, classes=[[0, worker] for worker in range(1, 8)]
    )
    kept = kept_numbers(wanted, 0.01)
    assert kept.sum() == 10
    assert set(kept.tolist()) == {1, 2}


def test_a_common_class_is_repaired_when_rounding_its_types_leaves_it_off() -> None:
    # Twenty kinds of 14 units at 0.1 round down to 1 of 1.4 each.
    wanted = demand([14] * 20, classes=[[0, kind] for kind in range(1, 21)])
    kept = kept_numbers(wanted, 0.1)
    assert kept.sum() == pytest.approx(28, abs=1)
    assert kept.min() >= 1 and kept.max() <= 2


def test_no_more_is_kept_than_there_is() -> None:
    assert kept_numbers(demand([1, 2, 3]), 0.999).tolist() == [1, 2, 3]
