"""Times of kernels of a loop alone and in chains, as a store keeps them, for tests."""

from __future__ import annotations

from collections.abc import Iterable

from skelgen.store import Coupling

#: A loop of three kernels at n = 1 [s]: alone, in pairs, and whole.
TIMES_S = {
    **{"A": 2.0, "B": 3.5, "C": 1.25},
    **{"A+B": 6.0, "B+C": 4.5, "C+A": 3.75},
    "A+B+C": 7.0,
}


def kernel_rows(
    sizes: Iterable[int] = (10, 20),
    ranks: Iterable[int] = (2, 4),
    application: str = "loop",
    system: str = "cluster",
    names: dict[str, str] | None = None,
) -> list[Coupling]:
    """Return the times of kernels; they grow with n^3 and fall with the ranks."""
    called = names or {}
    return [
        Coupling(
            application,
            tuple(called.get(one, one) for one in chain.split("+")),
            time_s * n**3 / 1e3 / count,
            (("n", float(n)),),
            count,
            system,
            1.7e9 + n + count,
        )
        for n in sizes
        for count in ranks
        for chain, time_s in TIMES_S.items()
    ]
