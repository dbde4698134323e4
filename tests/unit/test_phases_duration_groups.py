"""Occurrences of one structure fall apart where their times jump."""

from __future__ import annotations

import numpy as np

from skelgen.phases.duration_groups import alike


def numbers(structure: list[int], time_ns: list[float], similarity: float) -> list[int]:
    found = alike(np.array(structure, np.int32), np.array(time_ns, float), similarity)
    return found.tolist()


def test_a_jump_divides_and_phases_are_numbered_as_they_occur() -> None:
    times = [900.0, 100.0, 910.0, 105.0, 905.0, 95.0]
    assert numbers([0] * 6, times, 0.5) == [0, 1, 0, 1, 0, 1]
    assert numbers([0] * 6, times, 0.1) == [0] * 6


def test_times_that_grow_steadily_stay_together() -> None:
    assert numbers([0] * 8, [100 * 1.5**i for i in range(8)], 0.5) == [0] * 8


def test_one_interrupted_occurrence_stays_with_its_neighbours() -> None:
    assert numbers([0] * 5, [100.0, 100.0, 5000.0, 100.0, 100.0], 0.5) == [0] * 5


def test_a_rare_cluster_of_many_occurrences_is_noise() -> None:
    many = [100.0] * 400
    assert set(numbers([0] * 404, [*many, *[900.0] * 4], 0.5)) == {0}
    assert set(numbers([0] * 420, [*many, *[900.0] * 20], 0.5)) == {0, 1}


def test_structures_never_share_a_phase() -> None:
    assert numbers([3, 7, 3, 7], [100.0] * 4, 0.0) == [0, 1, 0, 1]


def test_times_of_nothing_are_similar() -> None:
    assert numbers([0] * 4, [0.0, 0.5, 0.0, 1.0], 0.9) == [0] * 4
