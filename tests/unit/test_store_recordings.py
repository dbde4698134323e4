"""Pages of recorded runs in a store: each once, with their runs, in both databases."""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import count
from pathlib import Path

import pytest

from skelgen.cli.main import run
from skelgen.errors import InputError
from skelgen.pipeline.recordings import kept_recording
from skelgen.store import Run, StoredRecording, open_store, opening
from skelgen.store.checking import check_store
from skelgen.store.migrations import scripts, version_of
from skelgen.store.rows import MOST_RECORDING
from skelgen.web.recording_written import document_of
from skelgen.web.render import render_page
from skelgen.web.run_page import run_page
from tests import postgresql
from tests.recordings import made, save_run

LACKING = postgresql.lacking()
OLD = Run("lu", 1.5, identity="old")
_NUMBERS = count()


@pytest.fixture(scope="module")
def server() -> Iterator[postgresql.Server]:
    with postgresql.server() as found:
        yield found


@pytest.fixture(
    params=[
        "file",
        pytest.param("server", marks=pytest.mark.skipif(bool(LACKING), reason=LACKING)),
    ]
)
def place(request, tmp_path: Path) -> str:
    if request.param == "file":
        return str(tmp_path / "runs.db")
    return request.getfixturevalue("server").create(f"pages{next(_NUMBERS)}")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return save_run(tmp_path / "run")


def told(capsys, *words: str) -> dict:
    capsys.readouterr()
    assert run([*words, "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def recordings(place: str) -> list[StoredRecording]:
    with open_store(place, make=False) as store:
        return store.recordings([one.identity for one in store.runs()])


def test_a_recorded_run_is_added_with_its_page_once(place, folder, capsys):
    words = ["store", "add", str(folder), "--app", "lu", "--store", place]
    found = told(capsys, *words)
    assert (len(found["added"]), found["pages"]) == (1, 1)
    again = told(capsys, *words)
    assert (again["added"], len(again["already"]), again["pages"]) == ([], 1, 0)
    (row,) = recordings(place)
    assert row.run == found["added"][0]["run"]
    page = run_page(kept_recording(place, row.run).recording)
    assert page.title == "lu"
    assert "behind rank 0, which computes 80% longer" in page.waiting.advice
    assert check_store(place).sound
    assert run([*words]) == 0
    assert "their pages" not in capsys.readouterr().out


def test_the_page_of_the_store_says_what_info_says(place, folder, tmp_path, capsys):
    assert run(["store", "add", str(folder), "--store", place]) == 0
    (row,) = recordings(place)
    assert run(["info", str(folder)]) == 0
    written = (folder / "report.html").read_text()
    shown = render_page(run_page(kept_recording(place, row.run).recording))
    assert shown == written


def test_a_run_that_is_there_already_gets_its_page(place, folder, capsys):
    words = ["store", "add", str(folder), "--store", place]
    told(capsys, *words)
    with open_store(place) as store:
        store.database.execute("DELETE FROM recordings")
    found = told(capsys, *words)
    assert (len(found["already"]), found["pages"]) == (1, 1)
    assert len(recordings(place)) == 1


def test_a_page_goes_with_its_run(place, folder, capsys):
    identity = told(capsys, "store", "add", str(folder), "--store", place)
    identity = identity["added"][0]["run"]
    with open_store(place) as store:
        store.add([StoredRecording("other", "")])
        assert store.remove([identity]) == 1
        assert store.database.execute("SELECT run FROM recordings") == [("other",)]
    assert kept_recording(place, identity).recording is None


def test_an_export_has_the_pages_of_its_runs_alone(place, folder, tmp_path, capsys):
    told(capsys, "store", "add", str(folder), "--app", "lu", "--store", place)
    with open_store(place) as store:
        store.add([Run("cg", 1.0, identity="c"), StoredRecording("c", "AA")])
    output, other = tmp_path / "out", tmp_path / "other.db"
    words = ["store", "export", "-o", str(output), "--store", place]
    assert run([*words, "--app", "lu"]) == 0
    assert len((output / "recordings.jsonl").read_text().splitlines()) == 1
    assert run([*words, "--force"]) == 0
    assert len((output / "recordings.jsonl").read_text().splitlines()) == 2
    found = told(capsys, "store", "add", str(output), "--store", str(other))
    assert (len(found["added"]), found["pages"]) == (2, 2)
    assert recordings(str(other)) == recordings(place)


def test_damage_is_named_and_costs_no_more_than_the_page(place, folder, capsys):
    told(capsys, "store", "add", str(folder), "--store", place)
    (row,) = recordings(place)
    with open_store(place) as store:
        store.database.execute(
            "UPDATE recordings SET document = ?", (row.document[:-20],)
        )
    (problem,) = check_store(place).problems
    assert "table recordings" in problem
    assert "is not what its checksum says" in problem
    found = kept_recording(place, row.run)
    assert found.recording is None
    assert found.problem.startswith("the recording: ")
    assert "\n" not in found.problem


def test_an_older_store_gets_the_table_after_a_copy(place, monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr(opening, "scripts", lambda: scripts()[:5])
        with open_store(place) as store:
            store.add([OLD])
            assert not store.database.has_table("recordings")
    with open_store(place) as store:
        assert version_of(store.database) == len(scripts())
        assert [one.identity for one in store.runs()] == ["old"]
        assert store.recordings(["old"]) == []
        document = document_of(made())
        store.add([StoredRecording("old", document)])
    assert recordings(place) == [StoredRecording("old", document)]
    assert check_store(place).sound


def test_a_document_without_end_is_refused(place):
    rows = [OLD, StoredRecording("old", "A" * (MOST_RECORDING + 1))]
    with open_store(place) as store:
        found = store.add(rows)
    assert [one.run for one in found.added] == ["old"]
    assert "expected at most" in found.refused[0].reason
    assert recordings(place) == []


def test_a_page_that_cannot_be_made_costs_no_run(place, folder, monkeypatch, capsys):
    def fails(_):
        raise InputError("too much")

    monkeypatch.setattr("skelgen.pipeline.recordings.document_of", fails)
    assert run(["store", "add", str(folder), "--store", place]) == 0
    assert "has no page in the store: too much" in capsys.readouterr().err
    assert recordings(place) == []
