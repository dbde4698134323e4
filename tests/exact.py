"""Least squares in exact arithmetic, to compare with."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction


def least_squares(
    rows: Sequence[Sequence[float | Fraction]], values: Sequence[float]
) -> list[Fraction]:
    """Solve the normal equations by elimination, without any rounding."""
    a = [[Fraction(x) for x in row] for row in rows]
    b = [Fraction(y) for y in values]
    count = len(a[0])
    system = [
        [sum((r[i] * r[j] for r in a), Fraction(0)) for j in range(count)]
        + [sum((r[i] * y for r, y in zip(a, b, strict=True)), Fraction(0))]
        for i in range(count)
    ]
    for i in range(count):
        pivot = next(k for k in range(i, count) if system[k][i])
        system[i], system[pivot] = system[pivot], system[i]
        system[i] = [x / system[i][i] for x in system[i]]
        for k in range(count):
            if k != i:
                times = system[k][i]
                system[k] = [
                    x - times * y for x, y in zip(system[k], system[i], strict=True)
                ]
    return [row[-1] for row in system]
