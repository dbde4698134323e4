"""What the recorder saw of each rank's memory becomes one answer."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from skelgen.cli.main import run
from skelgen.events.conditions import conditions
from skelgen.events.touched_memory import Touched, touched_of
from skelgen.pipeline.compile import WantedSimilarity, signature_of_run
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
    assert found is not None
    assert found.share == pytest.approx(1, abs=0.001)
    assert replace(found, share=1.0) == Touched(400 * 1024 / 2000, 400 * 1024, 7)


def test_ranks_that_say_nothing_do_not_count(tmp_path: Path) -> None:
    found = joined(tmp_path, (), (7, 2, 300, 1000, 0, 0, 0))
    assert found is not None
    assert found.share == pytest.approx(1, abs=0.001)
    assert replace(found, share=1.0) == Touched(300 * 1024 / 1000, 150 * 1024, 2)


@pytest.mark.parametrize(
    ("gap", "extras", "share"),
    [
        (100_000, {}, 0.0),  # 50 us: the recorder looks behind longer ones
        (100_002, {}, 1.0),
        (100_002, {"lost_us": 1}, 0.0),  # others had the core
        (110_002, {"overhead": 10_002}, 0.0),
        (300_000, {"overhead": 100_000}, 1.0),
    ],
)
def test_gaps_that_may_be_looked_at_have_a_share_of_the_computation(
    tmp_path: Path, gap: int, extras: dict[str, int], share: float
) -> None:
    writer = RankWriter(0, 1)
    writer.event("MPI_Init", 0, 1000)
    for _ in range(100):
        writer.event("MPI_Barrier", gap, 10, extras=extras)
    writer.touched(7, 2, 300, 1000, 0, 0, 0)
    writer.finish()
    writer.save(tmp_path)
    found = touched_of(open_trace(tmp_path).files)
    assert found is not None
    assert found.share == pytest.approx(share, abs=0.001)
    assert found.mean_bytes_per_us == pytest.approx(300 * 1024 / 1000 * found.share)


def test_short_work_between_polls_counts_in_a_signature(tmp_path: Path) -> None:
    """Of such polls only their place among the calls tells that the rank worked."""
    writer = RankWriter(0, 1)
    writer.event("MPI_Init", 0, 1000)
    writer.event("MPI_Barrier", 300_000, 10)
    polls = {"polls": 100, "inside": 1000}
    writer.event(
        "MPI_Iprobe", 0, 900_000, flags="NOT_READY", peer=0, tag=1, extras=polls
    )
    writer.event("MPI_Barrier", 0, 10)
    writer.touched(7, 2, 300, 1000, 0, 0, 0)
    writer.finish()
    writer.save(tmp_path)
    known = touched_of(open_trace(tmp_path).files)
    found = signature_of_run(tmp_path, WantedSimilarity(None, 2.0, None)).touched
    assert known is not None
    assert found is not None
    assert known.share == pytest.approx(1, abs=0.001)
    assert found.share == pytest.approx(0.25, abs=0.001)


def test_work_between_polls_is_computation_that_nobody_looks_at(tmp_path: Path) -> None:
    writer = RankWriter(0, 1)
    writer.event("MPI_Init", 0, 1000)
    writer.event("MPI_Barrier", 300_000, 10)
    work, extras = 900_000, {"polls": 11, "inside": 1000}
    writer.event(
        "MPI_Test", 0, work + 1000, flags="NOT_READY", count_a=1, extras=extras
    )
    writer.touched(7, 2, 300, 1000, 0, 0, 0)
    writer.finish()
    writer.save(tmp_path)
    files = open_trace(tmp_path).files
    found = touched_of(files)
    assert found is not None
    assert found.share == pytest.approx(0.25, abs=0.001)
    assert conditions(files).computed_s == pytest.approx(600e-6, rel=0.001)


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
    seen = {"bytes_per_us": 2097.152, "set_bytes": 4 << 20, "looks": 4}
    assert told == seen | {"share": pytest.approx(1.0, abs=1e-4)}
    assert run(["info", str(folder)]) == 0
    said = capsys.readouterr().out
    assert "4 MiB a rank, 1.95 GiB a second in gaps with 100% of the comp" in said
    assert ", 100 us of it to see the memory, " in said
    assert run(["info", str(recorded(tmp_path / "none", ())), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["touched"] is None
