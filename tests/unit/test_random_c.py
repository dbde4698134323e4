"""Random programs in C: what they are made of, before any of them runs."""

from __future__ import annotations

import fcntl
import json
import re
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

from benchmarks import random_programs
from benchmarks.random_programs import main, read, table
from tests.mpis import TestMpi
from tests.random_c import trial
from tests.random_c.draw import IN_TURN, draw
from tests.random_c.kept import comparable
from tests.random_c.parts import kinds, parts, possible
from tests.random_c.text import text_of
from tests.random_c.trial import Bench

#: Programs of each MPI in continuous integration.
PROGRAMS = 20
#: What random programs are for: a kind of step that calls these.
EXPECTED = """
    Win_fence Win_post Win_test Win_lock Win_lock_all Win_flush_local Win_create_dynamic
    Win_allocate_shared Compare_and_swap Fetch_and_op Rget_accumulate Raccumulate
    Startall Rsend_init Pready_list Parrived Neighbor_alltoallw Ineighbor_alltoall
    Neighbor_alltoall_init Intercomm_create Intercomm_merge Mprobe Improbe Imrecv Cancel
    Send_c Alltoallv_c Put_c Type_vector_c Session_init Isendrecv_replace Ibsend Irsend
    Waitsome Testsome Testany Iprobe Grequest_start Request_get_status Alltoall_init
    Ialltoallw Iscan Exscan Reduce_local Op_create Type_create_darray Pack Pcontrol
    File_write_at_all Comm_create_group Comm_idup Cart_sub Graph_create
    Dist_graph_create_adjacent Comm_create_keyval Comm_create_errhandler
""".split()


def test_there_are_at_least_74_kinds_of_step() -> None:
    assert len(kinds()) >= 74
    assert len({kind.name for kind in kinds()}) == len(kinds())
    assert len({kind.says for kind in kinds()}) == len(kinds())


def test_kinds_of_step_cover_what_mpi_programs_do() -> None:
    called = set().union(*(kind.functions for kind in kinds()))
    assert {f"MPI_{name}" for name in EXPECTED} <= called
    assert any(kind.needs == "threads" for kind in kinds())
    wild = [part.text for part in parts() if "MPI_ANY_SOURCE" in part.text]
    assert len(wild) >= 3


def test_every_kind_occurs_in_the_programs_of_a_short_campaign() -> None:
    found = {name for seed in range(PROGRAMS) for name in draw(seed, kinds()).kinds}
    assert found == {kind.name for kind in kinds()}
    assert len(kinds()) <= PROGRAMS * IN_TURN


def test_every_kind_and_every_way_to_begin_runs_in_some_program() -> None:
    names = {kind.name for kind in kinds()}
    drawn = [draw(seed, kinds(), in_sessions=names) for seed in range(100)]
    assert {one.begin for one in drawn} == {"world", "threads", "session"}
    assert {one.ranks for one in drawn} == {2, 3, 4}
    for one in drawn:
        text = text_of(one)
        for name in one.kinds:
            assert re.search(rf"act\(&step\[\d+\], {name}\)", text)


def test_kinds_that_fail_in_sessions_are_not_in_programs_of_sessions() -> None:
    names = {kind.name for kind in kinds()}
    opened = [draw(seed, kinds(), in_sessions=names) for seed in range(200)]
    (first, *_) = [one for one in opened if one.begin == "session"]
    others = names.difference(first.kinds[:1])
    assert draw(first.seed, kinds(), in_sessions=others).begin == "world"


def test_what_a_library_needs_first_is_called_before_all_else(tmp_path: Path) -> None:
    made = replace(bench_with(tmp_path, ""), name="openmpi 5.0.11")
    parts_of = {"partitioned", "partitioned_polled", "thread_parts"}
    found = set()
    for seed in range(PROGRAMS):
        program = made.program(seed)
        text = text_of(program)
        first = "(&argc, &argv);\n\tpartitioned_first();" in text
        assert first == bool(parts_of.intersection(program.kinds))
        assert ("void partitioned_first(" in text) == first
        found.add(first)
    assert found == {False, True}


def test_a_seed_is_a_program() -> None:
    texts = [text_of(draw(seed, kinds())) for seed in range(30)]
    assert texts == [text_of(draw(seed, kinds())) for seed in range(30)]
    assert len(set(texts)) == 30


def test_what_is_done_before_a_loop_is_undone_behind_it() -> None:
    for seed in range(100):
        text = text_of(draw(seed, kinds()))
        main = text[text.index("int main") :]
        for when, other in (("begin", "end"), ("end", "begin")):
            for name, step in re.findall(rf"\t(\w+)_{when}\((&step\[\d+\])\);", main):
                if f"static void {name}_{other}(" in text:
                    assert f"{name}_{other}({step});" in main


def test_a_program_holds_only_what_it_uses() -> None:
    for seed in range(20):
        text = text_of(draw(seed, kinds()))
        for name in re.findall(r"^static [^=;{]*?\b(\w+)\(", text, re.MULTILINE):
            assert len(re.findall(rf"\b{name}\b", text)) > 1


def test_kinds_that_an_mpi_lacks_are_named_with_the_reason() -> None:
    called = set().union(*(kind.functions for kind in kinds()))
    found, lacking = possible(called - {"MPI_Psend_init"}, {"counter"})
    assert {kind.name for kind in found} == {
        kind.name for kind in kinds() if kind.name not in lacking
    }
    assert lacking == {
        "partitioned": "no MPI_Psend_init",
        "partitioned_polled": "no MPI_Psend_init",
        "thread_parts": "no MPI_Psend_init",
        "counter": "broken",
    }


def test_calls_are_compared_under_the_names_that_skeletons_write() -> None:
    planned = {
        "MPI_Rsend": 2,
        "MPI_Rsend_init": 1,
        "MPI_Irsend": 3,
        "MPI_Psend_init": 4,
    }
    receives = {"MPI_Irecv": 8, "MPI_Recv": 1}
    others = {"MPI_Ineighbor_alltoall": 5, "MPI_Ineighbor_alltoallv": 6}
    left_out = {
        "MPI_Waitall": 9,
        "MPI_Win_fence": 9,
        "MPI_Reduce": 9,
        "MPI_Startall": 9,
    }
    reductions = {"MPI_Reduce_scatter": 7}
    found: Counter[str] = Counter()
    for function, count in {
        **planned,
        **receives,
        **others,
        **left_out,
        **reductions,
    }.items():
        if name := comparable(function):
            found[name] += count
    assert found == {
        **{"Send": 2, "Send_init": 5, "Isend": 3, "Recv": 9},
        **{"Ineighbor_": 11, "Reduce_scatter": 7},
    }


ROW = {
    **{"mpi": "mpich 5.0.2", "seed": 3, "text": "aa", "ranks": 2, "calls": 50},
    **{"kinds": ["barrier"], "checked": True, "skeletons": 2, "ended": 2},
    **{"refused": {"5": "too short"}, "failure": "", "detail": ""},
}


def test_a_campaign_that_was_stopped_goes_on_behind_its_last_line(
    tmp_path: Path,
) -> None:
    path = tmp_path / "programs.jsonl"
    again = {**ROW, "text": "bb"}
    path.write_text(f"{json.dumps(ROW)}\n{json.dumps(again)}\n" + json.dumps(ROW)[:40])
    assert read(path) == [again]
    assert path.read_text().count("\n") == 2 and path.read_text().endswith("\n")
    assert read(tmp_path / "none.jsonl") == []


def test_two_campaigns_do_not_share_a_folder(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with (tmp_path / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        with pytest.raises(SystemExit, match="2"):
            main(["run", "--results", str(tmp_path)])
    assert "a campaign runs there" in capsys.readouterr().err


def run_with(
    results: Path, monkeypatch: pytest.MonkeyPatch, *words: str
) -> list[tuple[int, str]]:
    """Run a campaign without MPI; return which programs were tried."""
    made, found = bench_with(results.parent, "exit 1"), list[tuple[int, str]]()

    def tried(bench: Bench, seed: int, _: Path) -> dict[str, object]:
        found.append((seed, bench.name))
        failure = "skeleton" if seed == 1 else ""
        return {
            **ROW,
            "seed": seed,
            "text": bench.fingerprint(seed),
            "failure": failure,
        }

    monkeypatch.setattr(random_programs, "_benches", lambda *_: [made])
    monkeypatch.setattr(random_programs, "tried", tried)
    code = main(["run", "--results", str(results), *words])
    assert code == 1  # the second program failed
    return found


def test_a_campaign_tries_what_it_has_not_tried_and_on_request_what_failed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    results = tmp_path / "results"
    name = ROW["mpi"]
    assert run_with(results, monkeypatch, "--programs", "2") == [(0, name), (1, name)]
    assert run_with(results, monkeypatch, "--programs", "3") == [(2, name)]
    assert run_with(results, monkeypatch, "--programs", "3") == []
    again = run_with(results, monkeypatch, "--programs", "3", "--retry")
    assert again == [(1, name)]


@pytest.mark.parametrize(
    ("failure", "whose"), [("checksum", "skelgen's"), ("program", "not skelgen's")]
)
def test_failures_of_the_mpi_are_shown_apart(failure: str, whose: str) -> None:
    bad = {**ROW, "seed": 4, "failure": failure, "detail": "exit 1", "refused": {}}
    text = table([ROW, bad])
    columns = text.splitlines()[1].split()[-2:]
    assert columns == (["0", "1"] if "not" in whose else ["1", "0"])
    assert "refused 1 x: too short" in text
    last = text.splitlines()[-1]
    assert last.startswith("mpich 5.0.2, seed 4: ") and last.endswith("exit 1")
    assert ("not skelgen's" in last) == ("not" in whose)


def bench_with(tmp_path: Path, launcher: str, *, compiler: str = "exit 0") -> Bench:
    """Return a bench whose compiler and launcher are scripts; both do what they do."""
    made = []
    for name, text in (("mpicc", compiler), ("mpirun", launcher)):
        path = tmp_path / name
        path.write_text(f"#!/bin/sh\n{text}\n")
        path.chmod(0o755)
        made.append(path)
    mpi = TestMpi(made[0], (str(made[1]),))
    recorder = tmp_path / "recorder.so"
    return Bench(mpi, "mpich 5.0.2", kinds(), {}, frozenset(), recorder)


@pytest.mark.parametrize(
    ("stage", "launcher", "compiler", "said"),
    [
        ("compile", "exit 0", "echo unused >&2; exit 1", "unused"),
        ("program", "echo checksum 1; exit 3", "exit 0", "exit 3"),
        ("program", "sleep 60", "exit 0", "no end in"),
        ("program", "echo nothing", "exit 0", "nothing"),
        ("recorded", "echo checksum 1; exit ${SKELGEN_DIR:+4}", "exit 0", "exit 4"),
        ("unsteady", "echo checksum $$", "exit 0", "alone"),
        ("checksum", 'echo checksum "${SKELGEN_DIR:+2}1"', "exit 0", "21 recorded"),
    ],
)
def test_a_trial_names_the_stage_that_failed(
    stage: str,
    launcher: str,
    compiler: str,
    said: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(trial, "LIMIT_S", 1.0 if "sleep" in launcher else 60.0)
    monkeypatch.delenv("SKELGEN_DIR", raising=False)
    folder = tmp_path / "program"
    folder.mkdir()
    # A recorder that is not there is told of by the loader, which goes on.
    outcome = trial.trial(bench_with(tmp_path, launcher, compiler=compiler), 0, folder)
    assert (outcome.failure, outcome.checked) == (stage, False), outcome.detail
    assert said in outcome.detail
    assert text_of(draw(0, kinds())) == (folder / "program.c").read_text()
