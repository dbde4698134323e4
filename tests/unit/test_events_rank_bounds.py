"""Where ranks begin and end, against a plain search rank by rank."""

from types import SimpleNamespace
from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from skelgen.events.away import AWAY_DTYPE
from skelgen.events.rank_bounds import bounds_of
from skelgen.trace import EventColumns, TimeScale

CALL, BEGIN, END = range(3)
KINDS = st.lists(st.sampled_from((CALL, CALL, BEGIN, END)), max_size=6)


def file_of(reason: str | None) -> Any:
    end = None if reason is None else SimpleNamespace(reason=reason, ticks=5000)
    header = SimpleNamespace(unit_shift=0, start_ticks=1000)
    return SimpleNamespace(header=header, definitions=SimpleNamespace(end=end))


def found_of(ranks: list[list[int]]) -> Any:
    """Events of these kinds; event i begins at 10 i and takes 4."""
    variant = np.array([kind for rank in ranks for kind in rank], np.uint32)
    columns = EventColumns.of(len(variant))
    columns.variant[:] = variant
    columns.enter_ns[:] = 10 * np.arange(len(variant))
    columns.leave_ns[:] = columns.enter_ns + 4
    columns.compute_ns[:] = 6
    away = np.zeros(len(variant), AWAY_DTYPE)
    away["call"], away["asleep_ns"] = np.arange(len(variant)), np.arange(len(variant))
    return SimpleNamespace(
        columns=columns,
        first=np.concatenate([[0], np.cumsum([len(rank) for rank in ranks])]).astype(
            np.int64
        ),
        begins=np.array([False, True, False]),
        ends=np.array([False, False, True]),
        away=away,
    )


def plainly(kinds: list[int], at: int, origin_ns: int, reason: str | None) -> Any:
    """Return begin, end, tail, sleep in it, and the events that are no calls."""
    begins = [i for i, kind in enumerate(kinds) if kind == BEGIN]
    ends = [i for i, kind in enumerate(kinds) if kind == END]
    begin = 10 * (at + begins[0]) + 4 if begins else origin_ns
    if ends:
        last = ends[-1]
        gone = [at + i for i in begins if i < last]
        gone += range(at + last, at + len(kinds))
        end = 10 * (at + last)
        return begin, max(begin, end), 6, at + last, gone
    last_ns = 10 * (at + len(kinds) - 1) + 4 if kinds else begin
    end = max(last_ns, origin_ns + 2000) if reason == "exit" else last_ns
    return begin, max(begin, end), end - last_ns, 0, [at + i for i in begins]


@given(st.lists(st.tuples(KINDS, st.sampled_from((None, "exit", "finalize")))))
def test_bounds_of_many_ranks_are_those_of_each(ranks):
    kinds = [kind for kind, _ in ranks]
    found = found_of(kinds)
    scales = [TimeScale(0.5, 3 * i, 0) for i in range(len(ranks))]
    bounds = bounds_of(found, [file_of(reason) for _, reason in ranks], scales)
    gone = []
    for i, (own, reason) in enumerate(ranks):
        wanted = plainly(own, int(found.first[i]), 3 * i, reason)
        names = ("begin_ns", "end_ns", "tail_ns", "tail_asleep_ns")
        assert tuple(getattr(bounds, name)[i] for name in names) == wanted[:-1]
        gone += wanted[-1]
    assert bounds.gone.tolist() == gone
