"""What is given away builds the same skeleton and says nothing about its origin."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skelgen.cli.main import run
from skelgen.events.touched_memory import Touched
from skelgen.phases import store as phase_store
from skelgen.phases.share import share_phases
from skelgen.reference.calibration import ComputeCalibration, Mix
from skelgen.signature import Provenance, Signature, store
from skelgen.signature.share import share_signature, shared_month, shared_mpi
from skelgen.signature.write import signature_text
from skelgen.skeleton.emit.skeleton_files import render
from skelgen.skeleton.plan import plan
from skelgen.trust.recording_doubts import Unseen

ROOT = Path(__file__).resolve().parents[2]
STORED = ROOT / "signatures/lammps-lj-2r"
#: Of a part of a text that may stand in a file all the same, such as a number.
SECRET = st.text(
    st.characters(codec="utf-8", exclude_characters="\r"), min_size=6, max_size=30
)
SMALL = store.load(ROOT / "tests/golden/halo/signature.yaml")
PHASES = phase_store.load(STORED)
SPEED = ComputeCalibration(Mix(), (400.0, 0.0, 0.0), 0.05, 0.03, 2, "", "")


def is_told(secret: str, text: str) -> bool:
    """Say whether a text can be read in a file, as it is or as YAML writes it."""
    written = json.dumps(secret)[1:-1]
    return any(form in text for form in (secret, written, written.encode().decode()))


def with_secrets(signature: Signature, words: list[str]) -> Signature:
    """Return a signature all whose texts about its origin are these."""
    one, two, three, four, five, six = words
    known = Provenance(
        application=one,
        command=(two, f"--token={three}", one),
        mpi=f"Open MPI v5.0.3, package: Open MPI {four} Distribution",
        host=five,
        recorded=f"2026-11-21T{six}",
        skelgen=two,
        parameters=(("similarity_threshold", three), (four, five)),
        ranks_per_host=signature.provenance.ranks_per_host,
    )
    sites = tuple(
        f"/home/{words[i % 6]}+0x{i:x} < {words[(i + 1) % 6]}"
        for i in range(len(signature.sites))
    )
    unseen = Unseen(gpu=(five,), hidden=(f"{six} (MPI_Send)",))
    return replace(signature, provenance=known, sites=sites, unseen=unseen)


@given(words=st.lists(SECRET, min_size=6, max_size=6))
def test_no_text_about_the_origin_is_in_what_is_given_away(words: list[str]):
    plain, always = share_signature(SMALL, "app")
    before = signature_text(plain) + " ".join((*always.left_out, *always.kept))
    words = [word for word in words if not is_told(word, before)]
    if len(words) < 6:
        return  # drawn by chance: it stands in every such file
    shared, given_away = share_signature(with_secrets(SMALL, words), "app")
    said = " ".join((*given_away.left_out, *given_away.kept))
    text = signature_text(shared)
    assert not [word for word in words if is_told(word, text) or is_told(word, said)]
    assert shared.provenance.recorded == "2026-11"
    assert shared.provenance.mpi == "Open MPI v5.0.3"


@given(words=st.lists(SECRET, min_size=6, max_size=6))
def test_no_text_about_the_origin_is_in_shared_phases(words: list[str]):
    before = phase_store.text_of(share_phases(PHASES, "app")[0])
    words = [word for word in words if not is_told(word, before)]
    if len(words) < 6:
        return
    secret = replace(
        PHASES,
        provenance=with_secrets(SMALL, words).provenance,
        folder=f"/home/{words[0]}",
        environment=(("UCX_TLS", words[1]), (words[2], words[3])),
        files=((f"/data/{words[4]}", words[5]),),
        unseen=Unseen(hidden=(f"{words[0]} (MPI_Send)",), gpu=(words[1],)),
    )
    shared, given_away = share_phases(secret, "app")
    text = phase_store.text_of(shared)
    assert not [word for word in words if is_told(word, text)]
    assert {"working folder", "names of GPU runtimes and tools"} <= {
        *given_away.left_out
    }
    assert shared.unseen is not None and len(shared.unseen.hidden) == 1
    assert shared.phases == PHASES.phases


def test_what_is_given_away_builds_the_same_program(tmp_path: Path):
    signature = store.load(STORED)
    words = ["one", "two", "three", "four", "five", "six"]
    signature = with_secrets(signature, words)
    shared = share_signature(signature, "lmp")[0]
    (tmp_path / "shared.yaml").write_text(signature_text(shared))
    programs = []
    for one in (signature, store.load(tmp_path / "shared.yaml")):
        text = dict(render(plan(one, 50.0), calibration=SPEED))["skeleton.c"]
        text = text.replace(f'", "{one.provenance.application}");', "")  # its name
        programs.append(re.sub(r"(?s)\s*/\*.*?\*/", "", text))  # call sites
    assert programs[0] == programs[1]
    assert "MPI_Allreduce" in programs[0]


@pytest.mark.parametrize(
    ("library", "told"),
    [
        ("MPICH Version:      5.0.2", "MPICH Version: 5.0.2"),
        ("Open MPI v4.1.4, package: Debian OpenMPI, ident: 4.1.4", "Open MPI v4.1.4"),
        (
            "Intel(R) MPI Library for joe Version: 2021.9",
            "MPICH Version: 2021.9",
        ),
        ("joe's MPI 7", ""),
    ],
)
def test_a_library_is_told_by_name_and_version(library: str, told: str):
    assert shared_mpi(library) == told


@pytest.mark.parametrize(
    ("date", "month"),
    [("2026-11-21T11:27:29+00:00", "2026-11"), ("2026-11", "2026-11"), ("joe", "")],
)
def test_a_date_is_told_by_its_month(date: str, month: str):
    assert shared_month(date) == month


def test_sharing_twice_changes_nothing():
    once = share_signature(store.load(STORED), "lmp")[0]
    again, _ = share_signature(once, "lmp")
    assert signature_text(again) == signature_text(once)


def test_the_command_writes_one_file_for_all_and_says_what_is_in_it(
    capsys, tmp_path: Path
):
    file = tmp_path / "lj.yaml"
    store.save(store.load(STORED), tmp_path / "mine")
    words = ["share", str(tmp_path / "mine"), "-o", str(file), "--name", "lj"]
    assert run([*words, "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert any("call sites" in phrase for phrase in told["left_out"])
    assert "name: lj" in told["kept"]
    assert store.load(file).provenance.application == "lj"
    assert run(words) == 2
    assert "--force" in capsys.readouterr().err
    assert run([*words, "--force"]) == 0
    assert "left out" in capsys.readouterr().out


def test_a_file_of_somebody_else_is_not_replaced(capsys, tmp_path: Path):
    (tmp_path / "thesis.yaml").write_text("mine: 1\n")
    words = ["share", str(STORED), "-o", str(tmp_path / "thesis.yaml"), "--force"]
    assert run(words) == 2
    assert "skelgen wrote" in capsys.readouterr().err
    assert (tmp_path / "thesis.yaml").read_text() == "mine: 1\n"


def test_the_file_that_is_read_is_not_replaced(capsys, tmp_path: Path):
    file = store.save(store.load(STORED), tmp_path / "a.yaml")
    assert run(["share", str(file), "-o", str(file), "--force"]) == 2
    assert "is read" in capsys.readouterr().err


def test_phases_alone_are_shared_as_phases(capsys, tmp_path: Path):
    (tmp_path / "phases.yaml").write_text((STORED / "phases.yaml").read_text())
    file = tmp_path / "shared.yaml"
    assert run(["share", str(tmp_path), "-o", str(file), "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert any("phases of 2 ranks" in phrase for phrase in told["kept"])
    assert phase_store.load(file).provenance.command == ()


@pytest.mark.parametrize("name", ["", "a b", "../x", "x" * 65, 'x"; system("ls")'])
def test_a_name_is_one_plain_word(capsys, tmp_path: Path, name: str):
    words = ["share", str(STORED), "-o", str(tmp_path / "a.yaml"), f"--name={name}"]
    assert run(words) == 2
    assert "--name" in capsys.readouterr().err


@pytest.mark.parametrize(
    "file", sorted((ROOT / "signatures").rglob("*.yaml")), ids=lambda file: file.name
)
def test_stored_signatures_say_nothing_about_their_origin(file: Path):
    text = file.read_text()
    assert not re.search(r"(^|[\s\"'=:])[/~][\w.]|@|0x[0-9a-f]+/|sha256", text)
    known = phase_store.load(file) if file.name == "phases.yaml" else store.load(file)
    assert known.provenance.command == ()
    assert known.provenance.host == ""
    assert re.fullmatch(r"\d{4}-\d{2}", known.provenance.recorded)
    if isinstance(known, Signature):
        again = share_signature(known, known.provenance.application)[0]
        assert signature_text(again) == text
    else:
        again = share_phases(known, known.provenance.application)[0]
        assert phase_store.text_of(again) == text


def test_the_memory_that_computation_touches_is_kept_and_named():
    seen = replace(SMALL, touched=Touched(1000.0, 1 << 20, 20))
    shared, given_away = share_signature(seen, "app")
    assert shared.touched == seen.touched
    assert "how much memory computation touches" in given_away.kept
    assert "memory" not in " ".join(share_signature(SMALL, "app")[1].kept)
