"""Where the time of all ranks goes: functions, computation, and the rest."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from skelgen.signature import Signature
from skelgen.signature.types import COUNTED_ONLY

#: Time outside of Init and Finalize of its rank below which it has no row [1].
_SHOWN = 5e-4


@dataclass(frozen=True, slots=True)
class TimeRow:
    """A part of the time of all ranks.

    Attributes
    ----------
    name : str
    calls : int or None
        None where it is no function.
    time_s : float
        All ranks [s].
    share : float
        Of the run's time times its ranks [0 to 1].
    kind : str
        ``mpi``, ``compute`` or ``other``.
    """

    name: str
    calls: int | None
    time_s: float
    share: float
    kind: str

    @property
    def width(self) -> str:
        """Return the share as a CSS length."""
        return f"{100 * min(self.share, 1.0):.2f}%"


def time_rows(signature: Signature) -> tuple[TimeRow, ...]:
    """Divide the run's time times its ranks, largest part first.

    Functions are counted as `skelgen info` does where the signature knows it; in older
    ones calls without a partner count as computation.
    """
    whole_s = signature.application_s * signature.ranks
    functions = signature.recorded_calls or _from_leaves(signature)
    inside_s = sum(time_s for _, _, time_s in functions)
    left_out_s = sum(
        time_s
        for reason, _, time_s in signature.dropped
        if not reason.endswith(COUNTED_ONLY)
    )
    groups = signature.groups
    in_leaves_s = sum(float(group.mpi_ns.sum()) for group in groups) / 1e9
    # From the first to the last moment of each rank.
    ranks_s = signature.computed_s + in_leaves_s + left_out_s
    rows = [(name, calls, time_s, "mpi") for name, calls, time_s in functions]
    others: list[tuple[str, int | None, float, str]] = [*rows]
    if signature.recorded_calls:
        others.append(("computation", None, max(ranks_s - inside_s, 0.0), "compute"))
    else:
        others.append(("computation", None, signature.computed_s, "compute"))
        if left_out_s:
            others.append(("calls left out of the signature", None, left_out_s, "mpi"))
    return divided(others, whole_s, ranks_s)


def divided(
    parts: Sequence[tuple[str, int | None, float, str]], whole_s: float, ranks_s: float
) -> tuple[TimeRow, ...]:
    """Return rows of parts of the time, largest part first.

    Parameters
    ----------
    parts : sequence of (str, int or None, float, str)
        Name, calls, time of all ranks [s], and kind.
    whole_s : float
        Time of the run times its ranks [s].
    ranks_s : float
        From the first to the last moment of each rank, all ranks [s].
    """
    others = [*parts]
    rest_s = whole_s - ranks_s
    if rest_s > _SHOWN * whole_s:
        name = "ranks that began later or ended earlier than others"
        others.append((name, None, rest_s, "other"))
    found = [
        TimeRow(name, calls, time_s, time_s / whole_s if whole_s else 0.0, kind)
        for name, calls, time_s, kind in others
    ]
    return tuple(sorted(found, key=lambda row: (-row.time_s, row.name)))


def _from_leaves(signature: Signature) -> tuple[tuple[str, int, float], ...]:
    """Return the functions of the calls that have a symbol."""
    calls: Counter[str] = Counter()
    times_s: defaultdict[str, float] = defaultdict(float)
    for group in signature.groups:
        symbols = group.nest.symbol[group.nest.body_items == 0]
        for leaf, row in enumerate(symbols):
            name = signature.functions[signature.symbols[row]["function"]]
            calls[name] += int(group.count[leaf]) * len(group.ranks)
            times_s[name] += float(group.mpi_ns[leaf].sum()) / 1e9
    return tuple((name, calls[name], times_s[name]) for name in calls)
