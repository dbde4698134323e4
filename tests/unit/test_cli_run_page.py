"""The page of a recorded run, which info and measure write into its folder."""

from __future__ import annotations

import html
import json
import os
import re
import shutil
from pathlib import Path
from types import SimpleNamespace

import pytest

from skelgen.cli.main import run
from skelgen.phase_execution import execute
from skelgen.pipeline import call_sites, measure, run_reading
from skelgen.pipeline.page import PAGE_FILE
from skelgen.trust import Interval
from tests.trace_writer import RankWriter

NOBODY = -2
ROUNDS = 40


@pytest.fixture
def recorded(monkeypatch, tmp_path: Path) -> Path:
    """Write a run whose rank 0 comes late, and sends to nobody."""
    monkeypatch.chdir(tmp_path)
    for rank in range(2):
        writer = RankWriter(rank, 2)
        writer.event("MPI_Init", 0, 5000)
        for _ in range(ROUNDS):
            size = {"count_a": 100, "type_a": 8, "tag": 1}
            writer.event("MPI_Send", 10_000, 700, peer=NOBODY, site=0x10, **size)
            before = 9_000_000 if rank == 0 else 1_000_000
            inside = 90_000 if rank == 0 else 8_090_000
            writer.event(
                "MPI_Allreduce", before, inside, count_a=1, type_a=8, op=3, site=0x20
            )
        writer.event("MPI_Barrier", 500, 100, site=0x30)
        writer.finish()
        writer.save(tmp_path / "run")
    return tmp_path / "run"


def info(capsys, *words: str) -> dict:
    assert run(["info", *words, "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def part(folder: Path, title: str) -> str:
    text = (folder / PAGE_FILE).read_text()
    return html.unescape(text.split(f"<h2>{title}")[1].split("<h2>")[0])


def test_info_writes_a_page_that_loads_nothing_and_says_where(capsys, recorded: Path):
    assert info(capsys, "run")["page"] == "run/report.html"
    assert run(["info", "run"]) == 0
    assert capsys.readouterr().out.endswith("page: run/report.html\n")
    text = (recorded / PAGE_FILE).read_text()
    assert not re.search(r"(src|href)=|@import|url\(", text)
    assert "The recorded run took " in text
    assert "Loop structure" not in text
    assert "What the skeleton keeps" not in text


def test_its_counts_are_those_of_info_and_its_times_add_up(capsys, recorded: Path):
    found = info(capsys, "run")
    section = part(recorded, "Where the time goes")
    rows = re.findall(
        r'<tr><td>([^<]+)</td><td class="n">([\d,]*)</td><td class="n">'
        r'<data value="([^"]+)">',
        section,
    )
    calls = {name: int(n.replace(",", "")) for name, n, _ in rows if n}
    assert calls == {one["name"]: one["calls"] for one in found["functions"]}
    assert calls["MPI_Send"] == 2 * ROUNDS  # all of them to MPI_PROC_NULL
    whole_s = 2 * found["application_s"]
    assert sum(float(s) for _, _, s in rows) == pytest.approx(whole_s, rel=1e-5)


def test_it_says_who_waits_for_whom_and_how_even_ranks_compute(capsys, recorded: Path):
    info(capsys, "run")
    section = part(recorded, "Waiting and load imbalance")
    assert "behind rank 0, which computes 80% longer than the average" in section
    assert "(rank 0): load imbalance 79.8%" in section
    assert "wait at collective" in section


def test_call_sites_have_the_calls_of_info(capsys, recorded: Path):
    found = info(capsys, "run")
    section = part(recorded, "Call sites")
    rows = re.findall(
        r'<tr><td>([^<]+)</td><td class="site" title="([^"]+)">([^<]+)</td>'
        r'<td class="n">([\d,]+)</td>',
        section,
    )
    assert [(name, where, int(n)) for name, _, where, n in rows] == [
        (one["function"], one["where"], one["calls"]) for one in found["sites"]
    ]
    assert "Lines are not known: /opt/app is not on this machine." in section


def test_a_skeletons_page_names_call_sites_and_keeps_the_lines_of_its_run(
    capsys, monkeypatch, recorded: Path
):
    known = {("/opt/app", "", 0x20): call_sites.SourceLine("/src/heat.c", 42, "step")}
    (recorded / call_sites.LINES_FILE).write_text(call_sites.FoundLines(known).text)
    found = info(capsys, "run")
    places = {one["where"]: one["source"][0] for one in found["sites"]}
    assert places["app+0x20"] == {
        "file": "/src/heat.c",
        "line": 42,
        "function": "step",
    }
    assert "heat.c:42 step" in part(recorded, "Call sites")
    words = ["--scale", "2", "-o", "skel", "--compute-mix", "100,0,0", "--json"]
    assert run(["build", "run", *words]) == 0
    assert "heat.c:42 step" in part(Path("skel"), "Call sites")
    assert call_sites.kept_lines(Path("skel")).lines == known


@pytest.mark.parametrize(
    "text",
    ["", "{", "[]", '{"format": 1, "lines": [{}]}', '{"format": 9, "lines": []}'],
)
def test_damaged_lines_are_as_good_as_none(capsys, recorded: Path, text: str):
    (recorded / call_sites.LINES_FILE).write_text(text)
    found = info(capsys, "run")
    assert all(one["source"][0]["line"] == 0 for one in found["sites"])


def test_no_page_leaves_the_folder_as_it_is(capsys, recorded: Path):
    before = sorted(recorded.iterdir())
    assert info(capsys, "run", "--no-page")["page"] is None
    assert sorted(recorded.iterdir()) == before


def test_a_folder_that_is_not_ours_gets_no_page(capsys, recorded: Path):
    (recorded / "notes.txt").write_text("mine")
    before = sorted(recorded.iterdir())
    assert info(capsys, "run")["page"] is None
    assert sorted(recorded.iterdir()) == before


def test_a_folder_that_cannot_be_written_gets_no_page_and_no_failure(
    capsys, monkeypatch, recorded: Path
):
    monkeypatch.setattr("skelgen.pipeline.page_file.writable", lambda folder: False)
    assert info(capsys, "run")["page"] is None


def test_a_page_that_cannot_be_replaced_is_a_warning(capsys, recorded: Path):
    (recorded / PAGE_FILE).mkdir()
    (recorded / ".skelgen").write_text("skelgen run 1\n")
    assert run(["info", "run", "--json"]) == 0
    found = capsys.readouterr()
    assert json.loads(found.out)["page"] is None
    assert "was not written" in found.err
    os.rmdir(recorded / PAGE_FILE)  # noqa: PTH106


def test_the_page_and_the_lines_belong_to_a_run_that_force_may_replace(
    capsys, recorded: Path
):
    from skelgen.launch.own_folders import FolderKind, made_as

    info(capsys, "run")
    assert made_as(recorded) is FolderKind.RUN
    shutil.copy(recorded / PAGE_FILE, recorded / "copy.html")
    assert made_as(recorded) is None


def measured(monkeypatch, source: Path) -> None:
    """Measure with an execution of the phases that is made up."""
    here = SimpleNamespace(runner=None, elsewhere=False, hosts=(), mpi="")
    time_s = Interval(0.7, 0.8, 0.9)
    found = SimpleNamespace(doubts=(), time_s=time_s, measured_s=time_s)
    monkeypatch.setattr(measure, "check_phases", lambda _: None)
    monkeypatch.setattr(measure, "application_of", lambda *_, **__: (here, ()))
    monkeypatch.setattr(
        measure, "_executed", lambda *_, **__: ("live", execute.Execution((), 1.0))
    )
    monkeypatch.setattr(measure, "estimate", lambda *_: found)
    measure.measure(source)


@pytest.mark.parametrize("has_page", [True, False])
def test_what_measure_finds_of_a_run_comes_onto_its_page(
    capsys, monkeypatch, recorded: Path, has_page: bool
):
    if has_page:
        info(capsys, "run")
    measured(monkeypatch, recorded)
    text = (recorded / PAGE_FILE).read_text()
    (found,) = re.findall(r'<p class="answer">(.*?)</p>', text)
    assert found.startswith("800 ms on this machine (700 ms to 900 ms), ")
    assert "Where the time goes" in text
    info(capsys, "run")  # does not forget it
    assert found in (recorded / PAGE_FILE).read_text()


def test_phases_that_are_stored_in_a_run_come_onto_its_page(capsys, recorded: Path):
    info(capsys, "run")
    assert "<h2>Phases</h2>" not in (recorded / PAGE_FILE).read_text()
    assert run(["phases", "run", "-o", "run"]) == 0
    assert "<h2>Phases</h2>" in (recorded / PAGE_FILE).read_text()
    assert "The recorded run took " in (recorded / PAGE_FILE).read_text()


def test_a_large_run_is_described_alike_but_for_waiting(
    capsys, recorded: Path, monkeypatch
):
    small = info(capsys, "run")
    assert "Waiting is not known here" not in (recorded / PAGE_FILE).read_text()
    monkeypatch.setattr(run_reading, "MOST_MATCHED", 10)
    assert info(capsys, "run") == small
    assert "Waiting is not known here" in (recorded / PAGE_FILE).read_text()
