"""What the benchmark of choices computes from times."""

from __future__ import annotations

import pytest

from benchmarks.choosing import Pattern, kendall

TRUE_S = {"a": 10.0, "b": 10.2, "c": 20.0}


@pytest.mark.parametrize(
    ("order", "every", "apart"),
    [("abc", 1.0, 1.0), ("bac", 1 / 3, 1.0), ("cba", -1.0, -1.0)],
)
def test_rank_correlation_can_leave_equal_times_out(order, every, apart) -> None:
    assert kendall(order, TRUE_S) == pytest.approx(every)
    assert kendall(order, TRUE_S, 0.05) == pytest.approx(apart)


def test_a_pattern_is_the_same_in_every_run() -> None:
    assert Pattern.drawn(3) == Pattern.drawn(3)
    assert len({str(Pattern.drawn(number)) for number in range(10)}) == 10
