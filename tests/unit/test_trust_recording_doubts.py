"""What a recording cannot show: how much of it matters, and what is said of it."""

from __future__ import annotations

from pathlib import Path

import pytest

from skelgen.documents import Field
from skelgen.errors import InputError
from skelgen.trust.recording_doubts import (
    Unseen,
    Used,
    hidden_doubts,
    read_unseen,
    unseen_doubts,
)
from skelgen.trust.skeleton_doubts import unlike_doubts

EVERYTHING = Unseen(
    threads=Used(5.0, 0.98),
    children=Used(2.5, 0.5),
    files=Used(0.2, 0.04),
    file_bytes=12345,
    children_left=True,
    gpu=("libcudart.so.12",),
    hidden=("libtool.so (MPI_Send)",),
)
CODES = ["threads", "children", "gpu", "file-io", "hidden-calls"]


def told(unseen: Unseen | None) -> list[str]:
    return [doubt.code for doubt in unseen_doubts(unseen)]


def words(value):
    """Return plain values as documents have them."""
    if isinstance(value, dict):
        return {name: words(inner) for name, inner in value.items()}
    if isinstance(value, list):
        return [words(inner) for inner in value]
    return str(value)


def field(value) -> Field:
    return Field(Path("file"), "unseen", words(value))


def test_each_thing_that_is_not_seen_is_a_doubt_of_its_own() -> None:
    assert told(EVERYTHING) == CODES
    text = " ".join(map(str, unseen_doubts(EVERYTHING)))
    for part in ("98.0%", "50.0%", "4.0%", "libcudart.so.12", "libtool.so (MPI_Send)"):
        assert part in text


def test_one_percent_of_a_ranks_time_is_no_doubt() -> None:
    for name in ("threads", "children", "files"):
        assert told(Unseen(**{name: Used(1.0, 0.01)})) == []
        assert len(told(Unseen(**{name: Used(1.0, 0.011)}))) == 1
        assert told(Unseen(**{name: Used(0.009, 0.9)})) == []  # of a run of 10 ms


def test_what_the_application_does_itself_is_no_doubt_of_its_phases() -> None:
    assert [one.code for one in hidden_doubts(EVERYTHING)] == ["hidden-calls"]
    assert hidden_doubts(None) == hidden_doubts(Unseen()) == ()


def test_files_are_told_once_however_often_they_were_seen() -> None:
    waits = [("slept", 0.3), ("files", 0.03)]

    def codes(unseen: Unseen | None) -> list[str]:
        return [one.code for one in unlike_doubts(unseen, waits)]

    assert codes(Unseen(files=Used(1.0, 0.04))) == ["file-io", "slept"]
    assert codes(Unseen(files=Used(1.0, 0.001))) == ["slept", "files"]
    assert codes(None) == ["slept", "files"]
    assert unlike_doubts(None, [("slept", 0.02), ("files", 0.0)]) == ()


def test_nothing_is_said_where_an_older_recorder_did_not_look() -> None:
    assert told(None) == told(Unseen()) == []


def test_facts_come_back_exactly() -> None:
    for one in (EVERYTHING, Unseen()):
        assert read_unseen(field(one.facts())) == one


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("threads", {"seconds": -1, "share": 0}),
        ("threads", {"seconds": 1}),
        ("file_bytes", "many"),
        ("children_left", 2),
        ("gpu", ["\x1b[31m"]),
        ("hidden", ["x"] * 65),
        ("hidden", ["x" * 2001]),
    ],
)
def test_wrong_facts_are_refused(name: str, value) -> None:
    with pytest.raises(InputError, match=name):
        read_unseen(field({**Unseen().facts(), name: value}))
