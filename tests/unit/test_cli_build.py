"""Building a skeleton from a stored signature, from the command line."""

from __future__ import annotations

import json
import random
from dataclasses import replace
from pathlib import Path

import pytest

from skelgen.cli.main import run
from skelgen.pipeline.mix import mix_text
from skelgen.pipeline.select import _shorter
from skelgen.prediction.skeleton_file import load
from skelgen.progress import NO_PROGRESS
from skelgen.reference.calibration import Mix
from skelgen.reference.mix_fit import Fit
from skelgen.signature import Provenance, Signature
from skelgen.signature.store import save
from tests import builders, fake_mpi
from tests.export_samples import save_mixed
from tests.plans import CALIBRATION
from tests.summaries import build
from tests.trace_writer import RankWriter

TEXT = """
ranks 2
rank *
  1000 Bcast root=0 bytes=8
  repeat 400 {
    5000000 Isend to=+1 tag=5 bytes=800 as=s
    0 Irecv from=-1 tag=5 bytes=800 as=r
    2500 Waitall of=s,r
    3000000 Allreduce bytes=8 op=1
  }
  tail 500
"""
KEYS = {
    "scaling_factor",
    "signature_items",
    "skeleton_events",
    "expected_s",
    "dropped_share",
    "warnings",
}


def signature() -> Signature:
    command = ("mpirun", "-n", "2", "./ring")
    origin = Provenance(
        "ring", command, "MPICH Version: 5.0.2", "ref", "2026", "0.1", (), (2,)
    )
    return build(builders.events(TEXT), provenance=origin).signature


@pytest.fixture
def stored(monkeypatch, tmp_path: Path) -> Path:
    """Give a stored signature in a machine whose speed is known."""
    fake_mpi.hydra(tmp_path / "bin")
    fake_mpi.mpicc(tmp_path / "bin", "mpich")
    fake_mpi.only_path(monkeypatch, tmp_path, tmp_path / "bin")
    monkeypatch.setattr(
        "skelgen.pipeline.machine_mpi.calibrate", lambda *_, **__: CALIBRATION
    )
    monkeypatch.chdir(tmp_path)
    save(signature(), tmp_path / "ring")
    return tmp_path / "ring"


def built(capsys, *words: str) -> dict:
    assert run(["build", "--json", *words]) == 0
    return json.loads(capsys.readouterr().out)


def refused(capsys, *words: str) -> tuple[int, str]:
    code = run(["build", *words])
    out, err = capsys.readouterr()
    assert out == ""
    assert err.count("skelgen: error: ") == 1
    return code, err


def test_build_prints_the_keys_that_others_rely_on(capsys, stored: Path):
    found = built(capsys, str(stored), "--scale", "10", "-o", "skel")
    assert set(found) >= KEYS
    assert found["scaling_factor"] == 10
    assert found["expected_s"] == pytest.approx(found["application_s"] / 10, rel=0.05)
    assert 2 * 3 * 40 <= found["skeleton_events"] <= 2 * 5 * 41
    assert found["warnings"] == []


def test_build_names_what_it_leaves_out_with_its_time(capsys, stored: Path):
    known = signature()
    dropped = (
        ("MPI_Raccumulate: function that skeletons do not reproduce", 12, 0.25),
        ("MPI_Comm_spawn: only counted by the recorder", 2, known.application_s),
    )
    save(replace(known, dropped=dropped), Path("more"))
    found = built(capsys, "more", "--scale", "10", "-o", "skel")
    assert [one["what"] for one in found["left_out"]] == [what for what, *_ in dropped]
    assert [one["calls"] for one in found["left_out"]] == [12, 2]
    assert found["left_out"][1]["share"] == pytest.approx(0.5)  # one of two ranks
    total = sum(one["share"] for one in found["left_out"])
    assert found["dropped_share"] == pytest.approx(total)
    assert run(["build", "more", "--scale", "10", "-o", "again"]) == 0
    lines = [x for x in capsys.readouterr().out.splitlines() if "left out" in x]
    share = 0.25 / (2 * known.application_s)
    assert lines[0] == (
        f"left out     12 calls, 250 ms of all ranks, {share:.2%} of the time: "
        "MPI_Raccumulate: function that skeletons do not reproduce"
    )
    assert len(lines) == 2


def test_the_folder_holds_everything(capsys, stored: Path):
    built(capsys, str(stored), "--scale", "10", "-o", "skel")
    names = {path.name for path in Path("skel").iterdir()}
    assert names == {
        *("Makefile", "report.html", "signature.yaml", "skeleton.c", "skeleton.json"),
        ".skelgen",
    }
    facts = load(Path("skel"))
    assert facts.command == ("mpirun", "-n", "2", "./ring")
    assert facts.scaling_factor == 10


def test_the_same_input_gives_the_same_bytes(capsys, stored: Path):
    for name in ("one", "two"):
        built(capsys, str(stored), "--scale", "7", "-o", name)
    for path in Path("one").iterdir():
        assert path.read_bytes() == (Path("two") / path.name).read_bytes(), path.name


def test_a_built_skeleton_can_be_scaled_again(capsys, stored: Path):
    """Its folder holds the signature."""
    built(capsys, str(stored), "--scale", "4", "-o", "one")
    built(capsys, "one", "--scale", "8", "-o", "two")
    built(capsys, str(stored / "signature.yaml"), "--scale", "8", "-o", "three")
    for path in Path("two").iterdir():
        assert path.read_bytes() == (Path("three") / path.name).read_bytes(), path.name


@pytest.mark.usefixtures("stored")
def test_the_phases_of_a_run_come_with_its_skeleton(capsys, tmp_path):
    recorded = str(save_mixed(tmp_path / "run"))
    assert run(["phases", recorded, "-o", "stored", "--json"]) == 0
    capsys.readouterr()
    built(capsys, recorded, "--scale", "1.5", "-o", "one")
    built(capsys, "one", "--scale", "2", "-o", "two")
    for name in ("one", "two"):
        text = Path(name, "phases.yaml").read_text()
        assert text == Path("stored", "phases.yaml").read_text()


def test_a_target_time_chooses_k(capsys, stored: Path):
    found = built(capsys, str(stored), "--target-time", "500ms", "-o", "skel")
    assert found["scaling_factor"] == pytest.approx(found["application_s"] / 0.5)


def test_without_a_name_the_folder_is_called_after_its_source(capsys, stored: Path):
    assert built(capsys, str(stored), "--scale", "10")["output"] == "ring-k10"
    assert Path("ring-k10/skeleton.c").exists()


def test_a_skeleton_too_short_for_predictions_is_named(capsys, stored: Path):
    assert run(["build", str(stored), "--scale", "20", "-o", "short"]) == 0
    assert "take a smaller K, or --target-time 300ms" in capsys.readouterr().err
    assert run(["build", str(stored), "--scale", "5", "-o", "long"]) == 0
    assert "too short" not in capsys.readouterr().err


def test_people_are_told_what_comes_next(capsys, stored: Path):
    assert run(["build", str(stored), "--scale", "10", "-o", "skel"]) == 0
    assert "make -C skel" in capsys.readouterr().out


def test_the_threshold_of_the_paper_is_raised_until_the_signature_is_short(
    capsys, stored: Path
):
    """Two clusters of sizes that vary by 4 % are shorter than five."""
    rng = random.Random(1)
    counts = [rng.choice((100, 101, 102, 103, 104)) for _ in range(300)]
    for rank in range(2):
        writer = RankWriter(rank, 2)
        writer.event("MPI_Init", 0, 5000)
        for count in counts:
            writer.event(
                "MPI_Allreduce", 90_000, 900, count_a=count, type_a=8, op=3, site=0x10
            )
            writer.event("MPI_Barrier", 90_000, 900, site=0x20)
        writer.finish()
        writer.save(Path("run"))
    words = ("run", "--scale", "100", "--similarity-threshold")
    exact = built(capsys, *words, "0", "-o", "exact")
    auto = built(capsys, *words, "auto", "-o", "auto")
    assert auto["signature_items"] < 600 / 50 < exact["signature_items"]
    text = Path("auto/signature.yaml").read_text()
    assert 'parameters: {"similarity_threshold": "0.02"}' in text
    built(capsys, *words[:3], "--method", "paper2005", "-o", "paper")
    assert Path("paper/signature.yaml").read_text() == text


def test_the_rules_of_the_paper_are_named_wherever_a_skeleton_says_what_it_is(
    capsys, stored: Path
):
    words = (str(stored), "--scale", "7", "-o")
    paper = built(capsys, *words, "paper", "--method", "paper2005")
    ours = built(capsys, *words, "ours")
    assert (paper["method"], ours["method"]) == ("paper2005", "whole-events")
    # 400 = 7 * 57 + 1 iterations; of each call one more and of Bcast one remain.
    assert paper["skeleton_events"] == 2 * (4 * 57 + 4 + 1)
    assert load(Path("paper")).method == "paper2005"
    assert load(Path("ours")).method == "whole-events"
    assert "<dd>paper2005</dd>" in Path("paper/report.html").read_text()
    assert Path("paper/skeleton.c").read_text() != Path("ours/skeleton.c").read_text()


@pytest.mark.parametrize("method", ["whole-events", "paper2005"])
def test_a_choice_shortens_a_skeleton_by_the_rules_that_it_was_built_by(
    capsys, stored: Path, method
):
    words = (str(stored), "--method", method, "--scale")
    built(capsys, *words, "2", "-o", "skel")
    built(capsys, *words, "4", "-o", "wanted")
    (shorter,) = _shorter(Path("skel"), load(Path("skel")), 3, NO_PROGRESS)
    assert load(shorter).method == method
    text = Path("wanted/skeleton.c").read_text()
    assert (shorter / "skeleton.c").read_text() == text


def test_an_existing_folder_is_not_overwritten(capsys, stored: Path):
    Path("skel").mkdir()
    Path("skel/mine").write_text("mine")
    code, line = refused(capsys, str(stored), "--scale", "10", "-o", "skel")
    assert code == 2
    assert "--force" in line
    assert [path.name for path in Path("skel").iterdir()] == ["mine"]
    words = [str(stored), "--scale", "10", "-o", "skel", "--force"]
    code, line = refused(capsys, *words)
    assert code == 2
    assert "skel holds mine, which skelgen did not make" in line
    Path("skel/mine").unlink()
    built(capsys, *words)
    Path("skel/report.html").unlink()
    built(capsys, *words)
    assert Path("skel/report.html").exists()


def test_what_is_read_is_not_overwritten(capsys, stored: Path):
    built(capsys, str(stored), "--scale", "10", "-o", "skel")
    again = ["--scale", "20", "-o", "skel", "--force"]
    for source in ("skel", "skel/signature.yaml"):
        code, line = refused(capsys, source, *again)
        assert code == 2
        assert "which is read" in line
    assert load(Path("skel")).scaling_factor == 10


@pytest.mark.parametrize(
    ("words", "code", "telling"),
    [
        (["--scale", "2", "--method", "paper"], 2, "whole-events or paper2005"),
        (["--scale", "1.2", "--method", "paper2005"], 2, "whole numbers from 2 on"),
        (["--target-time", "1h"], 2, "not shorter than the application"),
        (["--scale", "2", "--similarity-threshold", "0.5"], 2, "needs the trace"),
        (["--scale", "2", "-o", "file"], 2, "not a folder"),
        (["--scale", "2", "-o", "file/skel"], 2, "cannot be created"),
    ],
)
def test_what_cannot_be_built_is_refused(capsys, stored: Path, words, code, telling):
    Path("file").touch()
    found, line = refused(capsys, str(stored), *words)
    assert found == code
    assert telling in line


def test_a_wrongly_edited_signature_is_named(capsys, stored: Path):
    path = stored / "signature.yaml"
    path.write_text(path.read_text().replace("ranks: 2", "ranks: two", 1))
    code, line = refused(capsys, str(stored), "--scale", "2", "-o", "skel")
    assert code == 3
    assert "signature.yaml" in line
    assert not Path("skel").exists()


@pytest.mark.parametrize("name", ["none", "empty"])
def test_a_source_that_holds_nothing_is_named(capsys, stored: Path, name):
    Path("empty").mkdir()
    code, line = refused(capsys, name, "--scale", "2", "-o", "skel")
    assert code == 3
    assert name in line


def test_of_a_k_that_is_not_met_there_is_a_warning(capsys, stored: Path):
    words = ["build", str(stored), "--scale", "1e9", "-o", "skel", "--json"]
    assert run(words) == 0
    out, err = capsys.readouterr()
    assert json.loads(out)["warnings"]
    assert "skelgen: warning: " in err
    code, line = refused(capsys, *words[1:-2], "strict", "--strict")
    assert code == 6
    assert "--strict" in line
    assert not Path("strict").exists()


def test_a_mix_that_was_fitted_is_used_and_its_error_kept(
    capsys, stored: Path, monkeypatch
):
    asked: list[Mix | None] = []

    def calibrate(*_, mix: Mix | None, **__):
        asked.append(mix)
        return CALIBRATION

    monkeypatch.setattr("skelgen.pipeline.machine_mpi.calibrate", calibrate)
    mix = Mix(0.5, 0.25, 0.25, 4 << 20)
    (stored / "mix.json").write_text(mix_text(Fit(mix, (1.0, 2.0), (1.0, 1.8))))
    facts = built(capsys, str(stored), "--scale", "10", "-o", "one")
    assert facts["fitted_mix"] == "50,25,25,4"
    assert load(Path("one")).mix_error == pytest.approx(0.1)
    built(capsys, "one", "--scale", "20", "-o", "two")
    facts = built(
        *(capsys, str(stored), "--scale", "10", "-o", "three"),
        *("--compute-mix", "60,20,20,8"),
    )
    assert facts["fitted_mix"] == ""
    assert load(Path("three")).mix_error is None
    assert asked == [mix, mix, Mix(0.6, 0.2, 0.2, 8 << 20)]


@pytest.mark.parametrize("text", ["{", "[]", '{"format": 2}', '{"format": 1}'])
def test_a_damaged_mix_is_named(capsys, stored: Path, text):
    (stored / "mix.json").write_text(text)
    code, line = refused(capsys, str(stored), "--scale", "2", "-o", "skel")
    assert code == 3
    assert "mix.json is not what skelgen mix writes" in line


@pytest.mark.parametrize("text", ["1,2", "1,2,3,4,5", "0,0,0", "1,x,2", "1,-1,1"])
def test_shares_that_are_no_mix_are_refused(capsys, stored: Path, text):
    words = [str(stored), "--scale", "2", "--compute-mix", text]
    code, line = refused(capsys, *words)
    assert code == 2
    assert "expected three shares" in line


def test_a_machine_without_a_compiler_is_told(capsys, stored: Path, monkeypatch):
    (stored.parent / "bin/mpicc").unlink()
    fake_mpi.only_path(monkeypatch, stored.parent, stored.parent / "bin")
    code, line = refused(capsys, str(stored), "--scale", "2", "-o", "skel")
    assert code == 4
    assert "mpicc" in line
