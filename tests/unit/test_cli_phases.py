"""The phases command: its table, its JSON, its picture, and what it refuses."""

import json
import xml.etree.ElementTree as ET

import pytest

from skelgen.cli.main import run
from tests.export_samples import save_mixed
from tests.trace_writer import RankWriter


@pytest.fixture
def recorded(tmp_path):
    return save_mixed(tmp_path / "run")


def test_json_gives_weight_time_and_share_of_each_phase(capsys, recorded):
    assert run(["phases", str(recorded), "--json"]) == 0
    result = json.loads(capsys.readouterr().out)
    assert result["phases"]
    shares = [phase["share"] for phase in result["phases"]]
    assert shares == sorted(shares, reverse=True)
    assert sum(shares) == pytest.approx(result["covered_share"])
    paet_s = sum(phase["time_s"] * phase["weight"] for phase in result["phases"])
    assert paet_s == pytest.approx(result["paet_s"])


def test_the_table_names_functions_and_compares_with_the_application(capsys, recorded):
    assert run(["phases", str(recorded)]) == 0
    out = capsys.readouterr().out
    assert "weight" in out
    assert "time x weight" in out


def test_the_picture_shows_every_rank(capsys, recorded, tmp_path):
    target = tmp_path / "phases.svg"
    assert run(["phases", str(recorded), "--picture", str(target)]) == 0
    root = ET.fromstring(target.read_text())
    lanes = [g for g in root if g.tag.endswith("}g")]
    ranks = len(list(recorded.glob("*.skt")))
    assert len(lanes) == ranks
    assert all(any(one.tag.endswith("}rect") for one in lane) for lane in lanes)


def test_a_picture_that_exists_is_replaced_with_force_only(capsys, recorded, tmp_path):
    target = tmp_path / "phases.svg"
    target.write_text("mine")
    words = ["phases", str(recorded), "--picture", str(target)]
    assert run(words) == 2
    assert "--force" in capsys.readouterr().err
    assert target.read_text() == "mine"
    assert run([*words, "--force"]) == 2
    assert target.read_text() == "mine"
    target.unlink()
    assert run(words) == 0
    drawn = target.read_text()
    target.write_text(drawn[:400])
    assert run([*words, "--force"]) == 0
    assert target.read_text() == drawn


@pytest.mark.parametrize("value", ["0", "100%", "much"])
def test_a_share_that_is_none_is_refused(capsys, recorded, value):
    assert run(["phases", str(recorded), "--relevance", value]) == 2
    assert "--relevance" in capsys.readouterr().err


def test_a_missing_run_is_named(capsys, tmp_path):
    assert run(["phases", str(tmp_path / "none")]) == 3
    assert "does not exist" in capsys.readouterr().err


def test_what_was_stored_is_shown_without_the_trace(capsys, recorded, tmp_path):
    stored = tmp_path / "signature"
    words = ["--json", "--relevance", "2%"]
    assert run(["phases", str(recorded), "-o", str(stored), *words]) == 0
    made = capsys.readouterr().out
    assert run(["phases", str(stored), "--json"]) == 0
    assert capsys.readouterr().out == made


def test_stored_phases_are_replaced_with_force_only(capsys, recorded, tmp_path):
    words = ["phases", str(recorded), "-o", str(tmp_path / "signature")]
    assert run(words) == 0
    assert run(words) == 2
    assert "--force" in capsys.readouterr().err
    assert run([*words, "--force"]) == 0


@pytest.mark.parametrize("option", ["--longest=3%", "--picture=x.svg"])
def test_what_needs_the_trace_says_so(capsys, recorded, tmp_path, option):
    stored = str(tmp_path / "signature")
    assert run(["phases", str(recorded), "-o", stored]) == 0
    assert run(["phases", stored, option]) == 2
    assert "trace" in capsys.readouterr().err


def test_two_runs_are_compared_side_by_side(capsys, recorded, tmp_path):
    stored = str(tmp_path / "signature")
    assert run(["phases", str(recorded), "-o", stored]) == 0
    capsys.readouterr()
    assert run(["phases", "diff", str(recorded), stored]) == 0
    assert "+0.0%" in capsys.readouterr().out
    assert run(["phases", "diff", str(recorded), stored, "--json"]) == 0
    pairs = json.loads(capsys.readouterr().out)["phases"]
    assert pairs
    assert all(pair["before"] == pair["after"] for pair in pairs)


def test_phases_found_with_other_thresholds_are_compared_with_a_warning(
    capsys, recorded, tmp_path
):
    stored = str(tmp_path / "signature")
    assert run(["phases", str(recorded), "-o", stored, "--relevance", "30%"]) == 0
    capsys.readouterr()
    assert run(["phases", "diff", str(recorded), stored]) == 0
    assert "different thresholds" in capsys.readouterr().err


def test_a_run_that_repeats_nothing_is_told_to_take_a_skeleton(capsys, tmp_path):
    for rank in range(2):
        writer = RankWriter(rank, 2)
        writer.event("MPI_Init", 0, 9)
        writer.event("MPI_Barrier", 90000, 9)
        writer.event("MPI_Bcast", 90000, 9, peer=0, count_a=1, type_a=8)
        writer.finish()
        writer.save(tmp_path / "run")
    stored = str(tmp_path / "signature")
    for words in (
        ["phases", str(tmp_path / "run"), "-o", stored],
        ["phases", stored],
        ["measure", stored],
        ["predict", stored],
        ["select", stored, "--from", "n[1-4]"],
    ):
        # Of a run that was recorded by hand there is nothing to launch.
        assert run(words) == (0 if words[0] == "phases" else 2)
        assert capsys.readouterr().err.count("build a skeleton") == 1


def test_the_logical_trace_shows_messages_from_earlier_to_later_ticks(capsys, recorded):
    assert run(["phases", "ticks", str(recorded), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    calls = found["calls"]
    assert {call["rank"] for call in calls} == set(range(found["ranks"]))
    assert [call["tick"] for call in calls] == sorted(call["tick"] for call in calls)
    assert max(call["tick"] for call in calls) < 40
    assert any(call["to"] == (call["rank"] + 1) % 4 for call in calls)
    assert run(["phases", "ticks", str(recorded)]) == 0
    assert "Isend>1" in capsys.readouterr().out


def test_the_logical_trace_is_drawn_from_any_tick(capsys, recorded, tmp_path):
    target = tmp_path / "ticks.svg"
    words = ["--first", "5", "--count", "10", "--picture", str(target)]
    assert run(["phases", "ticks", str(recorded), *words]) == 0
    root = ET.fromstring(target.read_text())
    assert root.findall(".//{*}rect")
    lines = root.findall(".//{*}line")
    steps = [float(line.get("x2")) - float(line.get("x1")) for line in lines]
    assert min(steps) == 0  # a Sendrecv begins to send when it begins to receive
    assert max(steps) > 0
