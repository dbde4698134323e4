"""What the recorder saw of each rank's memory becomes one answer."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from skelgen.cli.main import run
from skelgen.events.touched_memory import Touched, touched_of
from skelgen.trace import open_trace
from tests.trace_writer import RankWriter


def recorded(folder: Path, *ranks: tuple[int, ...]) -> Path:
    """Write a run whose ranks saw these numbers; none: no record."""
    for rank, numbers in enumerate(ranks):
        writer = RankWriter(rank, len(ranks))
        writer.event("MPI_Init", 0, 1000)
        writer.event("MPI_Barrier", 2_000_000, 10, extras={"overhead": 1_000_000})
        if numbers:
            writer.touched(*numbers)
        writer.finish()
        writer.save(folder)
    return folder


def joined(folder: Path, *ranks: tuple[int, ...]) -> Touched | None:
    return touched_of(open_trace(recorded(folder, *ranks)).files)


def test_speed_is_of_gaps_and_the_set_of_broad_looks(tmp_path: Path) -> None:
    found = joined(
        tmp_path, (7, 2, 300, 1000, 3, 1200, 60_000), (8, 1, 100, 1000, 1, 400, 1)
    )
    assert found == Touched(400 * 1024 / 2000, 400 * 1024, 7)


def test_ranks_that_say_nothing_do_not_count(tmp_path: Path) -> None:
    found = joined(tmp_path, (), (7, 2, 300, 1000, 0, 0, 0))
    assert found == Touched(300 * 1024 / 1000, 150 * 1024, 2)


@pytest.mark.parametrize(
    "numbers", [(), (9, 0, 0, 0, 0, 0, 0), (9, 3, 300, 0, 1, 1, 1)]
)
def test_where_nothing_was_seen_nothing_is_said(
    tmp_path: Path, numbers: tuple[int, ...]
) -> None:
    assert joined(tmp_path, numbers) is None


def test_looks_without_a_count_are_no_crash(tmp_path: Path) -> None:
    """A file can say anything: time without looks."""
    assert joined(tmp_path, (9, 0, 300, 1000, 0, 5, 7)) is None


def test_info_tells_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = recorded(tmp_path / "run", (100, 2, 2048, 1000, 2, 8192, 40_000))
    assert run(["info", str(folder), "--json"]) == 0
    told = json.loads(capsys.readouterr().out)["touched"]
    assert told == {"bytes_per_us": 2097.152, "set_bytes": 4 << 20, "looks": 4}
    assert run(["info", str(folder)]) == 0
    said = capsys.readouterr().out
    assert "4 MiB a rank, 1.95 GiB a second between calls" in said
    assert ", 100 us of it to see the memory, " in said
    assert run(["info", str(recorded(tmp_path / "none", ())), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["touched"] is None
