"""The page of a skeleton's folder is current after each command."""

from __future__ import annotations

import html
import json
import re
from pathlib import Path
from types import SimpleNamespace

import pytest

from skelgen.cli.main import run
from skelgen.phase_execution import execute
from skelgen.pipeline import build, call_observers, folder_predictions, measure, page
from skelgen.prediction.kept import PREDICTIONS_FILE, load_kept
from skelgen.signature import store
from skelgen.timeline.store import TIMELINE_FILE
from skelgen.trust import Doubt, Interval
from tests import fake_mpi
from tests.plans import CALIBRATION
from tests.trace_writer import RankWriter

#: Fails on the host ``bad``; takes longer on n1, and on n2 still longer.
LAUNCHER = (
    """case "$*" in *bad*) echo "ssh: no host bad" >&2; exit 255;; esac
export FACTOR=1
case "$*" in *n2*) FACTOR=3;; *n1*) FACTOR=2;; esac
"""
    + fake_mpi.RUN_PROGRAM
)
NOBODY = -2
ROUNDS = 40


def record(folder: Path) -> None:
    """Write a run whose rank 0 sends, and has no neighbour on its other side."""
    for rank in range(2):
        writer = RankWriter(rank, 2)
        writer.event("MPI_Init", 0, 5000)
        for _ in range(ROUNDS):
            size = {"count_a": 100, "type_a": 8, "tag": 1}
            writer.event("MPI_Send", 10_000, 700, peer=NOBODY, site=0x10, **size)
            writer.event(
                "MPI_Allreduce", 9_000_000, 90_000, count_a=1, type_a=8, op=3, site=0x20
            )
        writer.event("MPI_Barrier", 500, 100, site=0x30)
        writer.finish()
        writer.save(folder)


def skeleton(folder: Path, seconds: str) -> None:
    times = '\\"compute_s\\": [3, 3], \\"mpi_s\\": [1, 1]'
    body = f'echo "{{\\"seconds\\": {seconds}, {times}}}"'
    fake_mpi.script(folder / "skeleton", body)


@pytest.fixture
def skel(capsys, monkeypatch, tmp_path: Path) -> Path:
    """Give a skeleton of a recorded run that takes 0.2 s, 0.4 s or 0.6 s."""
    fake_mpi.hydra(tmp_path / "bin", body=LAUNCHER)
    fake_mpi.mpicc(tmp_path / "bin", "mpich")
    fake_mpi.only_path(monkeypatch, tmp_path, tmp_path / "bin")
    monkeypatch.setattr(
        "skelgen.pipeline.machine_mpi.calibrate", lambda *_, **__: CALIBRATION
    )
    monkeypatch.chdir(tmp_path)
    record(tmp_path / "run")
    assert run(["build", "run", "--scale", "2", "-o", "skel"]) == 0
    skeleton(tmp_path / "skel", "0.$((2 * FACTOR))")
    capsys.readouterr()
    return tmp_path / "skel"


def done(capsys, *words: str) -> dict:
    assert run([*words, "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def text_of(folder: Path) -> str:
    return (folder / page.PAGE_FILE).read_text()


def headline(folder: Path) -> str:
    (found,) = re.findall(r'<p class="answer">(.*?)</p>', text_of(folder))
    return html.unescape(re.sub(r"<[^>]+>", "", found))


def numbers(text: str) -> list[float]:
    return [float(one) for one in re.findall(r'<data value="([^"]+)">', text)]


def calibrated(capsys, skel: Path) -> None:
    words = ["calibrate", str(skel), "--application-time", "recorded", "--force"]
    done(capsys, *words)


def test_calls_and_times_are_those_of_info_and_add_up(capsys, skel: Path):
    info = done(capsys, "info", "run")
    section = text_of(skel).split("<h2>Where the time goes</h2>")[1].split("<h2>")[0]
    assert "counted as skelgen info counts them" in section
    rows = re.findall(
        r'<tr><td>([^<]+)</td><td class="n">([\d,]*)</td><td class="n">'
        r'<data value="([^"]+)">',
        section,
    )
    calls = {name: int(n.replace(",", "")) for name, n, _ in rows if n}
    times = {name: float(time_s) for name, n, time_s in rows if n}
    assert calls == {one["name"]: one["calls"] for one in info["functions"]}
    assert calls["MPI_Send"] == 2 * ROUNDS  # all of them to MPI_PROC_NULL
    for one in info["functions"]:
        assert times[one["name"]] == pytest.approx(one["time_s"], rel=1e-6)
    whole_s = 2 * info["application_s"]
    assert sum(numbers(section)) == pytest.approx(whole_s, rel=1e-5)
    (computation,) = [float(s) for name, _, s in rows if name == "computation"]
    assert computation == pytest.approx(whole_s * (1 - info["mpi_share"]), rel=1e-5)


def test_a_new_page_says_what_comes_next(skel: Path):
    assert headline(skel).startswith("No prediction yet. The recorded run took ")
    assert "skelgen calibrate" in text_of(skel)


def test_calibrate_shows_the_ratio_and_the_shares_without_a_further_run(
    capsys, skel: Path
):
    counted = "echo >> runs\n" + (skel / "skeleton").read_text()[len("#!/bin/sh\n") :]
    fake_mpi.script(skel / "skeleton", counted)
    calibrated(capsys, skel)
    assert headline(skel).startswith("No prediction yet. The application takes ")
    text = text_of(skel)
    assert "<h2>Calibrations</h2>" in text
    assert 'title="computation 75.00%"' in text
    assert len(Path("runs").read_text()) == 3
    calibrated(capsys, skel)
    assert text_of(skel).count("(newest)") == 1
    assert text_of(skel).count("<circle") == 2


def test_predict_puts_the_numbers_of_its_json_on_top(capsys, skel: Path):
    calibrated(capsys, skel)
    words = ["--hosts", "n3,n4", "--hosts", "n1,n3", "--hosts", "bad,n4"]
    found = done(capsys, "predict", str(skel), *words)
    section = text_of(skel).split("<h2>Times</h2>")[1].split("<h2>")[0]
    expected = [
        one[key] for one in found["sets"] for key in ("predicted_s", "p5_s", "p95_s")
    ]
    assert numbers(section) == expected
    assert section.count("<circle") == 2
    said = headline(skel)
    assert " on n3,n4 (" in said
    assert said.endswith("; do not trust")  # recorded on one host
    assert "the best of 3 node sets" in said
    assert "bad,n4: " in section
    assert found["sets"][0]["doubts"][0]["text"] in html.unescape(text_of(skel))


def test_the_slowdown_is_that_against_the_quiet_time(capsys, skel: Path):
    calibrated(capsys, skel)
    (only,) = done(capsys, "predict", str(skel), "--hosts", "n2:2")["sets"]
    (kept,) = load_kept(skel)
    quiet_s = json.loads((skel / "skeleton.json").read_text())["calibrations"][-1]
    assert kept.quiet_s == quiet_s["application_runs_s"][0]
    factor = only["predicted_s"] / kept.quiet_s
    assert f"{factor:.2g} times the quiet time" in headline(skel)


def test_earlier_predictions_stay_on_the_page_and_their_number_is_bounded(
    capsys, monkeypatch, skel: Path
):
    monkeypatch.setattr("skelgen.prediction.kept.MOST_PREDICTIONS", 3)
    for hosts in ("n1:2", "n2:2", "n3:2", "n4:2", "n5:2"):
        done(capsys, "predict", str(skel), "--hosts", hosts)
    assert [one.sets[0].name for one in load_kept(skel)] == ["n3:2", "n4:2", "n5:2"]
    assert " on n5:2 (" in headline(skel)
    earlier = text_of(skel).split("<h2>Earlier predictions</h2>")[1].split("<h2>")[0]
    assert earlier.index("n4:2") < earlier.index("n3:2")


def test_the_page_follows_a_choice_while_it_runs(capsys, monkeypatch, skel: Path):
    monkeypatch.setattr(folder_predictions, "_PAUSE_S", 0.0)
    monkeypatch.setattr(folder_predictions, "_TIMES", 0.0)
    seen: list[str] = []
    update = page.update_page

    def watched(folder: Path, *known) -> None:
        update(folder, *known)
        seen.append(headline(folder))

    monkeypatch.setattr(page, "update_page", watched)
    words = ["--from", "n[1-3]", "--nodes", "2", "--budget", "1h"]
    found = done(capsys, "select", str(skel), *words)
    best = found["sets"][0]["hosts"]
    assert " so far" in seen[0]
    assert len(seen) > len(found["sets"])
    assert all(" so far" in one for one in seen[:-1])
    assert f" on {','.join(best)} (" in seen[-1]
    assert " so far" not in seen[-1]
    assert [one.command for one in load_kept(skel)] == ["select"]
    assert load_kept(skel)[0].sets[0].best == found["sets"][0]["best_probability"]


def test_a_choice_is_the_same_whether_its_page_is_written_or_not(
    capsys, monkeypatch, skel: Path
):
    words = ["select", str(skel), "--from", "n[1-4]", "--nodes", "2", "--budget", "1h"]
    monkeypatch.setattr(folder_predictions, "_PAUSE_S", 0.0)
    monkeypatch.setattr(folder_predictions, "_TIMES", 0.0)
    written = done(capsys, *words)
    monkeypatch.setattr(folder_predictions.Watch, "look", lambda _: None)
    again = done(capsys, *words)
    for one in (written, again):
        assert one.pop("date") and "load" in one
        one.pop("load")
    assert again == written


def test_a_choice_that_is_ended_early_says_so(capsys, monkeypatch, skel: Path):
    def interrupted(self) -> None:
        self.write(self.contest.standing(), "running")
        raise KeyboardInterrupt

    monkeypatch.setattr(folder_predictions.Watch, "look", interrupted)
    assert run(["select", str(skel), "--from", "n[3-5]", "--nodes", "2"]) == 130
    assert "when it was ended" in headline(skel)
    assert "it ended early" in text_of(skel)


def test_what_measure_finds_comes_onto_the_page(monkeypatch, skel: Path):
    """With an execution of the phases that is made up."""
    here = SimpleNamespace(runner=None, elsewhere=False, hosts=(), mpi="")
    doubts = (Doubt("few", "only a few occurrences", "raise --occurrences"),)
    time_s = Interval(0.7, 0.8, 0.9)
    found = SimpleNamespace(doubts=doubts, time_s=time_s, measured_s=time_s)
    monkeypatch.setattr(measure, "check_phases", lambda _: None)
    monkeypatch.setattr(measure, "application_of", lambda *_, **__: (here, ()))
    monkeypatch.setattr(
        measure, "_executed", lambda *_, **__: ("live", execute.Execution((), 1.0))
    )
    monkeypatch.setattr(measure, "estimate", lambda *_: found)
    measure.measure(skel / "phases.yaml")
    assert headline(skel).startswith("800 ms on this machine (700 ms to 900 ms), ")
    assert "times the time of the recorded run; do not trust" in headline(skel)
    assert "only a few occurrences; raise --occurrences" in text_of(skel)
    assert "The time of each phase there" in text_of(skel)


def test_phases_that_are_stored_in_the_folder_come_onto_its_page(capsys, skel: Path):
    (skel / "phases.yaml").unlink()
    page.write_page(skel)
    assert "<h2>Phases</h2>" not in text_of(skel)
    assert run(["phases", "run", "-o", str(skel)]) == 0
    assert "<h2>Phases</h2>" in text_of(skel)
    assert f'<td class="n">{ROUNDS}</td>' in text_of(skel)


def test_a_page_that_is_missing_or_old_is_made_again(capsys, skel: Path):
    built = text_of(skel)
    for old in (None, "<!doctype html><p>of an older version</p>", built + built):
        (skel / page.PAGE_FILE).unlink()
        if old is not None:
            (skel / page.PAGE_FILE).write_text(old)
        done(capsys, "predict", str(skel), "--hosts", "n1:2")
        assert " on n1:2 (" in headline(skel)
        assert "Where the time goes" in text_of(skel)


def test_a_large_signature_is_not_planned_again_for_a_page(
    capsys, monkeypatch, skel: Path
):
    monkeypatch.setattr(page, "_MOST_SIGNATURE", 10)
    (skel / page.PAGE_FILE).unlink()
    done(capsys, "predict", str(skel), "--hosts", "n1:2")
    assert not (skel / page.PAGE_FILE).exists()
    assert [one.sets[0].name for one in load_kept(skel)] == ["n1:2"]


def test_no_command_fails_because_of_its_page(capsys, skel: Path):
    (skel / page.PAGE_FILE).unlink()
    (skel / page.PAGE_FILE).mkdir()
    (skel / PREDICTIONS_FILE).write_text("[")
    assert run(["predict", str(skel), "--hosts", "n1:2"]) == 0
    err = capsys.readouterr().err
    assert "the prediction was not kept for the page" in err
    assert "was not brought up to date" in err
    assert (skel / PREDICTIONS_FILE).read_text() == "["


def test_predictions_of_a_hostile_file_are_text(capsys, skel: Path):
    bad = "<script>alert(1)</script>\"'--><!-- end of answer -->"
    done(capsys, "predict", str(skel), "--hosts", "n1:2")
    known = json.loads((skel / PREDICTIONS_FILE).read_text())
    known.pop("checksum")
    (one,) = known["predictions"]
    one |= {"made": bad, "command": bad, "method": bad, "state": bad}
    one["failed"] = [[bad, bad]]
    one["sets"][0] |= {"name": bad, "doubts": [bad]}
    (skel / PREDICTIONS_FILE).write_text(json.dumps(known))
    for hosts in ("n1:2", "n3:2"):
        done(capsys, "predict", str(skel), "--hosts", hosts)
        text = text_of(skel)
        assert text.count("<script") == 2  # those of the timeline
        assert "&lt;script&gt;alert(1)" in text
        assert text.count("<!-- end of answer -->") == 1


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("format", 2),
        ("predictions", {}),
        ("predictions", [{}]),
        ("predictions", [{"made": "2026", "sets": 1}]),
    ],
)
def test_a_file_of_predictions_that_is_none_is_named_and_kept(
    capsys, skel: Path, name: str, value: object
):
    text = json.dumps({"format": 1, "predictions": []} | {name: value})
    (skel / PREDICTIONS_FILE).write_text(text)
    assert run(["predict", str(skel), "--hosts", "n1:2"]) == 0
    err = capsys.readouterr().err
    assert f"{PREDICTIONS_FILE}: {name}" in err
    assert "Traceback" not in err
    assert " on n1:2 (" in headline(skel)
    assert (skel / PREDICTIONS_FILE).read_text() == text


def test_wait_states_of_the_run_stay_when_the_page_is_made_again(skel: Path):
    section = text_of(skel).split("Waiting and load imbalance")[1].split("<h2>")[0]
    assert "load imbalance 0.0%" in section
    facts = json.loads((skel / "skeleton.json").read_text())
    state = {"function": "MPI_Barrier", "kind": "late sender", "calls": 3}
    facts |= {"waits": [{**state, "time_s": 0.1, "behind": 1, "behind_s": 0.1}]}
    facts.pop("checksum")
    (skel / "skeleton.json").write_text(json.dumps(facts))
    page.write_page(skel)
    assert "is waiting in MPI_Barrier (late sender)" in text_of(skel)


def test_a_signature_has_the_calls_of_the_recording(capsys, skel: Path):
    known = store.load(skel / "signature.yaml")
    info = done(capsys, "info", "run")
    assert {name: calls for name, calls, _ in known.recorded_calls} == {
        one["name"]: one["calls"] for one in info["functions"]
    }


def timeline_data(folder: Path) -> dict:
    (data,) = re.findall(r'id="run-timeline-data">(.*?)</script>', text_of(folder))
    return json.loads(data)


def test_the_timeline_of_the_build_stays_on_the_page_whatever_comes(capsys, skel: Path):
    built = timeline_data(skel)
    assert [name for _, name in built["things"][2:]] == [
        "MPI_Send",
        "MPI_Allreduce",
        "MPI_Barrier",
    ]
    assert "Waiting is its certain part" in text_of(skel)
    calibrated(capsys, skel)
    done(capsys, "predict", str(skel), "--hosts", "n1:2")
    assert timeline_data(skel) == built
    (skel / page.PAGE_FILE).unlink()
    done(capsys, "predict", str(skel), "--hosts", "n2:2")
    assert timeline_data(skel) == built


def test_a_skeleton_from_a_stored_signature_has_the_timeline_beside_it(skel: Path):
    assert run(["build", str(skel), "--scale", "3", "-o", "other"]) == 0
    assert timeline_data(Path("other")) == timeline_data(skel)
    (skel / TIMELINE_FILE).unlink()
    assert run(["build", str(skel), "--scale", "3", "-o", "without"]) == 0
    assert "run-timeline" not in text_of(Path("without")).split("</style>")[1]
    assert not (Path("without") / TIMELINE_FILE).exists()


def test_phases_bring_a_page_its_timeline(skel: Path):
    built = timeline_data(skel)
    (skel / TIMELINE_FILE).unlink()
    page.write_page(skel)
    assert "run-timeline-data" not in text_of(skel)
    assert run(["phases", "run", "-o", str(skel), "--force"]) == 0
    assert timeline_data(skel) == built
    assert (skel / TIMELINE_FILE).is_file()


def test_a_damaged_timeline_is_a_warning(capsys, skel: Path):
    (skel / TIMELINE_FILE).write_text("[")
    (skel / page.PAGE_FILE).unlink()
    done_words = ["predict", str(skel), "--hosts", "n1:2"]
    assert run(done_words) == 0
    assert "the page has no timeline: " in capsys.readouterr().err
    assert "run-timeline-data" not in text_of(skel)
    assert "Where the time goes" in text_of(skel)


def test_a_large_run_has_a_timeline_without_waiting(monkeypatch, skel: Path):
    built = timeline_data(skel)
    monkeypatch.setattr(call_observers, "MOST_MATCHED", 10)
    monkeypatch.setattr(build, "MOST_MATCHED", 10)
    assert run(["build", "run", "--scale", "2", "-o", "large"]) == 0
    large = timeline_data(Path("large"))
    assert "Waiting is not known here" in text_of(Path("large"))
    assert {**large, "data": "", "things": []} == {**built, "data": "", "things": []}
