"""Ways of synchronising are told apart by the order of a rank's calls."""

from __future__ import annotations

import numpy as np

from skelgen.events.epochs import sort_out
from skelgen.events.rows import RowTable
from skelgen.events.types import COMPLETED, EXPOSED, SHAPE_DTYPE, WINDOW_KINDS

WINDOW = 10  # its epochs have the communicators behind it


def sorted_out(text: str) -> tuple[list[str], list[int], list[int]]:
    """Return the ways of a rank's calls, their tags, and their rows of partners.

    ``Win_start/3`` has row 3.
    """
    words = [word.partition("/") for word in text.split()]
    names = [name for name, _, _ in words]
    functions = list(dict.fromkeys(names))
    rows = np.zeros(len(names), SHAPE_DTYPE)
    rows["function"] = [functions.index(name) for name in names]
    others = ("Barrier", "Wait", "Send")
    rows["communicator"] = [0 if name in others else WINDOW for name in names]
    rows["tag"] = -1
    table = RowTable(SHAPE_DTYPE, "tag")
    shape = table.number(rows)
    ages = np.array([int(row or 0) for _, _, row in words], np.uint32)
    sort_out(shape, ages, table, tuple(f"MPI_{name}" for name in functions))
    found = table.at(shape)
    kinds = {WINDOW + i: kind.partition("_")[0] for i, kind in enumerate(WINDOW_KINDS)}
    ways = [kinds.get(number, "-") for number in found["communicator"].tolist()]
    return ways, found["tag"].tolist(), ages.tolist()


def test_operations_belong_to_the_epoch_that_they_stand_in():
    ways, _, _ = sorted_out(
        "Win_fence Put Win_fence "
        "Win_lock Put Win_flush Win_unlock "
        "Win_post Win_start Get Win_complete Win_wait"
    )
    assert ways == ["fence"] * 3 + ["lock"] * 4 + ["pscw"] * 5


def test_an_epoch_in_which_a_rank_meets_others_lasts():
    ways, _, _ = sorted_out("Win_lock_all Put Barrier Win_flush_all Win_unlock_all")
    assert ways == ["open", "open", "-", "open", "open"]


def test_waiting_for_an_operation_is_no_meeting():
    with_request = "Win_lock Rput Wait Win_unlock"
    assert sorted_out(with_request)[0] == ["lock", "lock", "-", "lock"]
    without = "Win_lock Put Wait Win_unlock"
    assert sorted_out(without)[0] == ["open", "open", "-", "open"]


def test_locks_that_overlap_are_one_epoch():
    ways, _, _ = sorted_out(
        "Win_lock Win_lock Put Win_unlock Send Win_unlock Win_lock Put Win_unlock"
    )
    assert ways == ["open"] * 4 + ["-", "open"] + ["lock"] * 3


def test_a_lock_that_is_never_undone_lasts():
    assert sorted_out("Win_lock Put")[0] == ["open", "open"]


def test_the_end_of_a_round_has_the_partners_of_its_beginning():
    _, tags, rows = sorted_out(
        "Win_post/1 Win_start/2 Win_complete Win_wait Win_start/3 Win_complete"
    )
    assert tags == [EXPOSED, EXPOSED, COMPLETED, COMPLETED, EXPOSED, COMPLETED]
    assert rows == [1, 2, 2, 1, 3, 3]


def test_other_calls_stay_as_they_are():
    assert sorted_out("Send Barrier Wait") == (["-"] * 3, [-1] * 3, [0] * 3)
