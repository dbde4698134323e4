"""The command model couple: kernels and chains from a file or from the store."""

from __future__ import annotations

import json
import math
import random

import pytest

from skelgen.cli.main import run
from skelgen.errors import ExitCode
from skelgen.models.families import FAMILIES
from skelgen.store import Coupling, Run, RunPart, open_store
from tests.fuzz_cases import DAMAGES
from tests.unit.test_cli_model import complained, said

ALONE = {"A": 2.0, "B": 3.5, "C": 1.25}
PAIRS = {"A+B": 6.0, "B+C": 4.5, "C+A": 3.75}
LOOP = {"A+B+C": 7.0}
#: By the equations of the paper.
C_AB, C_BC, C_CA = 6.0 / 5.5, 4.5 / 4.75, 3.75 / 3.25
PSI = (C_AB * 6.0 + C_CA * 3.75) / (6.0 + 3.75)
ZETA = (C_AB * 6.0 + C_BC * 4.5) / (6.0 + 4.5)
KAPPA = (C_BC * 4.5 + C_CA * 3.75) / (4.5 + 3.75)
COUPLED = 2.0 * PSI + 3.5 * ZETA + 1.25 * KAPPA


def table(path, times, **more):
    """Write chains and their times at each size; a time grows as n^3."""
    columns = {"ranks": (2,), "n": (10,), **more}
    lines = [",".join(["kernels", *columns, "time_s"])]
    for n in columns["n"]:
        for ranks in columns["ranks"]:
            lines += [f"{k},{ranks},{n},{s * n**3!r}" for k, s in times.items()]
    path.write_text("\n".join(lines) + "\n")
    return path


@pytest.fixture
def study(tmp_path):
    return table(tmp_path / "kernels.csv", ALONE | PAIRS | LOOP)


def test_three_kernels_have_the_weights_and_the_time_of_the_paper(study, capsys):
    found = said(capsys, "model", "couple", study)
    time_s = 1e3 * COUPLED
    assert found["value"] == pytest.approx(time_s, rel=1e-12)
    weights = {one["name"]: one["weight"] for one in found["kernels"]}
    assert weights == pytest.approx({"A": PSI, "B": ZETA, "C": KAPPA}, rel=1e-12)
    values = [one["coupling"] for one in found["chains"]]
    assert values == pytest.approx([C_AB, C_BC, C_CA], rel=1e-12)
    assert found["chains"][0]["kernels"] == ["A", "B"]
    assert found["chains"][0]["alone"] == pytest.approx(5500.0, rel=1e-12)
    assert found["sum"] == pytest.approx(6750.0, rel=1e-12)
    assert found["measured"] == pytest.approx(7000.0, rel=1e-12)
    assert found["error"] == pytest.approx(time_s / 7e3 - 1, abs=1e-12)
    assert found["sum_error"] == pytest.approx(6.75 / 7 - 1, abs=1e-12)
    assert found["at"] == found["chains_at"] == {"n": 10, "ranks": 2}
    assert found["p5"] < found["p50"] == found["value"] < found["p95"]


def test_people_read_kernels_chains_and_errors_against_the_measured_loop(study, capsys):
    assert run(["model", "couple", str(study), "--at", "n=10,ranks=2"]) == 0
    out = capsys.readouterr().out
    assert "A+B" in out
    assert "1.091" in out
    assert "error -3.6%" in out
    assert "n=10, ranks=2" in out
    assert "[no-repeats]" in out


def test_the_whole_loop_as_a_chain_gives_its_own_time_back(study, capsys):
    found = said(capsys, "model", "couple", study, "--chain", 3)
    assert found["value"] == pytest.approx(7000.0, rel=1e-12)
    assert found["error"] == pytest.approx(0.0, abs=1e-12)
    assert len({one["weight"] for one in found["kernels"]}) == 1


def test_a_kernel_has_a_family_and_couplings_of_the_nearest_size(tmp_path, capsys):
    sizes = {"n": (10, 20, 30, 40, 50), "ranks": (2, 4)}
    path = table(tmp_path / "kernels.csv", ALONE | PAIRS | LOOP, **sizes)
    words = ("model", "couple", path, "--at", "n=60,ranks=4")
    own = said(capsys, "model", "couple", path, "--at", "n=50,ranks=4")
    families = ("--family", "power", "--family", "B=normal-form")
    found = said(capsys, *words, *families)
    assert found["value"] == pytest.approx(own["value"] * (60 / 50) ** 3, rel=1e-3)
    assert found["chains_at"] == {"n": 50, "ranks": 4}
    families = [one["family"] for one in found["kernels"]]
    assert families == ["power", "normal-form", "power"]
    assert [one["runs"] for one in found["kernels"]] == [0, 0, 0]
    assert "n^3" in found["kernels"][1]["formula"]
    assert any("couplings are those of n=50" in note for note in found["notes"])


def test_repeats_are_medians(tmp_path, capsys):
    path = table(tmp_path / "kernels.csv", ALONE | PAIRS)
    more = [f"A,2,10,{1e3 * s}" for s in (1.0, 90.0)]
    path.write_text(path.read_text() + "\n".join(more) + "\n")
    found = said(capsys, "model", "couple", path)
    assert found["kernels"][0]["alone"] == pytest.approx(2000.0)
    assert found["kernels"][0]["runs"] == 3


def test_the_store_has_kernels_as_runs_as_parts_and_as_chains(tmp_path, capsys):
    place = str(tmp_path / "runs.db")
    inputs = (("n", 10.0),)
    parts = tuple(RunPart(name, "kernel", s, 100.0) for name, s in ALONE.items())
    rows = [
        Run("abc", 900.0, ranks=2, inputs=inputs, parts=parts),
        Run("abc", 7.0, ranks=2, inputs=(("kernels", "A+B+C"), *inputs)),
        Run("abc", 1.0, ranks=2, inputs=inputs, status="exit 1"),
        *(
            Coupling("abc", tuple(chain.split("+")), s, inputs, 2)
            for chain, s in PAIRS.items()
        ),
        Run("other", 1.0),
    ]
    with open_store(place) as store:
        store.add(rows)
    words = ("model", "couple", "--store", place, "--app", "abc")
    found = said(capsys, *words)
    assert found["sum"] == pytest.approx(6.75)
    assert found["measured"] == pytest.approx(7.0)
    assert found["value"] == pytest.approx(COUPLED, rel=1e-12)
    assert said(capsys, *words, "--where", "n>=10")["value"] == found["value"]
    code, _ = complained(capsys, *words, "--where", "n>10")
    assert code == ExitCode.INPUT


def test_the_order_is_said_where_chains_leave_it_open(tmp_path, capsys):
    path = table(tmp_path / "kernels.csv", ALONE | PAIRS | {"A+C": 3.0})
    code, text = complained(capsys, "model", "couple", path)
    assert code == ExitCode.INPUT
    assert "--order a,b,c" in text
    found = said(capsys, "model", "couple", path, "--order", "B,C,A")
    assert [one["name"] for one in found["kernels"]] == ["B", "C", "A"]
    assert found["notes"][-1].endswith("do not count: A+C")


def test_strict_ends_with_six_where_the_answer_is_doubted(study, capsys):
    assert run(["model", "couple", str(study), "--strict"]) == ExitCode.UNTRUSTED
    text = study.read_text()
    study.write_text(text + text.partition("\n")[2])
    assert run(["model", "couple", str(study), "--strict"]) == 0
    assert "verdict    trust" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("times", "words", "code", "telling"),
    [
        (ALONE, (), ExitCode.INPUT, "no chain of kernels was measured"),
        (ALONE | {"A+B": 6.0, "B+C": 4.0}, (), ExitCode.INPUT, "lacks C+A; measure"),
        (ALONE | PAIRS | {"C+D": 1.0}, (), ExitCode.INPUT, "after C come A and D"),
        (ALONE | {"A+B+C+D": 1.0}, (), ExitCode.INPUT, "no run of D alone"),
        (ALONE | PAIRS, ("--chain", 4), ExitCode.USAGE, "a chain has 2 to 3"),
        (ALONE | PAIRS, ("--chain", 1), ExitCode.USAGE, "--chain"),
        (ALONE | PAIRS, ("--chain", 3), ExitCode.INPUT, "lacks A+B+C"),
        (ALONE | {"A+B+A": 1.0}, (), ExitCode.INPUT, "'A+B+A' has a kernel twice"),
        (ALONE | {"A+": 1.0}, (), ExitCode.INPUT, "read the kernels 'A+'"),
        (ALONE | {"A+B": 0.0}, (), ExitCode.INPUT, "read a time of 0 s"),
        (ALONE | PAIRS, ("--at", "n=20"), ExitCode.INPUT, "add runs of other n"),
        (ALONE | PAIRS, ("--at", "q=20"), ExitCode.INPUT, "no input q; they have"),
        (ALONE | PAIRS, ("--at", "n"), ExitCode.USAGE, "--at: read 'n'"),
        (ALONE | PAIRS, ("--family", "no"), ExitCode.USAGE, "no family 'no'"),
        (ALONE | PAIRS, ("--family", "Z=power"), ExitCode.USAGE, "no kernel 'Z'"),
        (ALONE | PAIRS, ("--order", "A,B"), ExitCode.USAGE, "has no C"),
        (ALONE | PAIRS, ("--order", "A,B,D"), ExitCode.USAGE, "no run is of D"),
        (ALONE | PAIRS, ("--order", "A,B,A"), ExitCode.USAGE, "each of them once"),
        (ALONE | PAIRS, ("--order", "A"), ExitCode.USAGE, "two kernels or more"),
    ],
)
def test_what_cannot_be_answered_is_one_line(
    times, words, code, telling, tmp_path, capsys
):
    path = table(tmp_path / "kernels.csv", times)
    found, text = complained(capsys, "model", "couple", path, *words)
    assert found == code
    assert telling in text


@pytest.mark.parametrize(
    ("text", "words", "telling"),
    [
        ("n,time_s\n1,2\n2,3\n", (), "no run says which kernels it is of"),
        ("kernels,n,time_s\nA,1,2\nB,,3\nA+B,1,5\n", (), "1 of 3 runs have no n"),
        (
            "kernels,n,m,time_s\nA,1,x,2\nB,1,y,3\nA+B,1,x,5\n",
            (),
            "m is x, y; a model takes numbers",
        ),
        ("kernels,n,time_s\nA,1,2\nA,2,2\nB,1,3\nA+B,1,5\n", (), "--at: give n"),
        (
            "kernels,n,time_s\nA,1,2\nA,2,2\nB,1,3\nA+B,1,5\n",
            ("--at", "n=2"),
            "kernel B ran at n=1 only",
        ),
        (
            "kernels,n,time_s\nA,1,2\nA,2,2\nB,1,3\nA+B,1,5\n",
            ("--at", "n=-2"),
            "expected a number above 0",
        ),
    ],
)
def test_tables_that_lack_something_are_one_line(
    text, words, telling, tmp_path, capsys
):
    path = tmp_path / "kernels.csv"
    path.write_text(text)
    code, found = complained(capsys, "model", "couple", path, *words)
    assert code in (ExitCode.INPUT, ExitCode.USAGE)
    assert telling in found


def test_kernels_may_be_called_like_numbers(tmp_path, capsys):
    path = table(tmp_path / "kernels.csv", {"1": 1.0, "2": 2.0, "1+2": 3.0})
    found = said(capsys, "model", "couple", path)
    assert [one["name"] for one in found["kernels"]] == ["1", "2"]
    assert found["value"] == pytest.approx(3000.0, rel=1e-12)


@pytest.mark.parametrize("family", [one for one in FAMILIES if one != "template"])
def test_every_family_answers_or_says_in_one_line_why_not(family, tmp_path, capsys):
    path = table(tmp_path / "k.csv", ALONE | PAIRS, n=(10, 20, 30, 40))
    code = run(["model", "couple", str(path), "--at", "n=60", "--family", family])
    out, err = capsys.readouterr()
    assert code in (0, ExitCode.INPUT)
    assert ("time " in out) if code == 0 else (err.count("\n") == 1)


@pytest.mark.parametrize("number", range(60))
def test_damaged_tables_are_an_answer_or_one_line(number, study, capsys):
    rng = random.Random(f"couple {number}")
    study.write_bytes(rng.choice(DAMAGES)(rng, study.read_text()))
    code = run(["model", "couple", str(study), "--json"])
    out, errors = capsys.readouterr()
    lines = [one for one in errors.splitlines() if one.startswith("skelgen: error:")]
    assert len(lines) == (code != 0)
    assert code in set(ExitCode) - {ExitCode.INTERNAL}
    if code == 0:
        found = json.loads(out)
        assert 0 <= found["p5"] <= found["p50"] <= found["p95"]
        assert math.isfinite(found["p95"])


def test_a_kernel_has_a_formula_of_its_own(tmp_path, capsys):
    path = table(tmp_path / "kernels.csv", ALONE | PAIRS | LOOP, n=(10, 20, 40, 80))
    words = ("--at", "n=160,ranks=2", "--template", "B=a*n^3 + b")
    found = said(capsys, "model", "couple", path, *words)
    kernels = {one["name"]: one for one in found["kernels"]}
    assert kernels["B"]["family"] == "template"
    assert kernels["B"]["alone"] == pytest.approx(3.5 * 160**3, rel=1e-6)
    assert kernels["A"]["family"] == "default"


@pytest.mark.parametrize(
    ("template", "told"),
    [
        ("D=a*n", "expected a kernel and its formula, such as A=a*n^3 + b"),
        ("a*n^3", "expected a kernel and its formula"),
        ("A=a*(", "--template A: the formula"),
        ("A=ADDM*n", "kernel A: the template names ADDM, a fact of a system"),
    ],
)
def test_a_formula_that_is_none_is_said(tmp_path, capsys, template, told):
    path = table(tmp_path / "kernels.csv", ALONE | PAIRS | LOOP, n=(10, 20, 40))
    words = [str(path), "--at", "n=80,ranks=2", "--template", template]
    assert run(["model", "couple", *words]) in (ExitCode.USAGE, ExitCode.INPUT)
    err = " ".join(capsys.readouterr().err.split())
    assert told in err
