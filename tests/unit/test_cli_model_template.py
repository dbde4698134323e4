"""Templates on the command line: formulas of users, facts, systems of the store."""

from __future__ import annotations

import json
import math
import re
import shlex
import textwrap
from pathlib import Path

import numpy as np
import pytest

from skelgen.cli.main import run
from skelgen.errors import ExitCode
from skelgen.models.formulas import evaluate, parse
from skelgen.store import Fact, Message, Run, Template, open_store
from tests.unit.test_cli_model import complained, said

#: The formula of figure 8 of the paper, in the names of the runs.
FIGURE_8 = "ADDM*n^3/(ranks-1) + 2*n*SR(L)/(ranks-1) + n*BC(L)"
#: What the figure says of the SP2, with units.
SP2 = (
    *("--fact", "ADDM=48.3 ns", "--fact", "L=1024 bytes"),
    *("--fact", "SR(L)=15.94 us + 0.0608 us*L"),
    *("--fact", "BC(L, P)=log(P)*(15.94 us + 0.0608 us*L)"),
)
AT = ("--at", "n=1200,ranks=8")
SIZES, RANKS = (100, 200, 400, 800), (2, 4, 8)


def master_slave(n, p, length=1024.0):
    sr = 1e-6 * (15.94 + 0.0608 * length)
    return 4.83e-8 * n**3 / (p - 1) + 2 * n * sr / (p - 1) + n * math.log(p) * sr


@pytest.fixture
def study(tmp_path):
    random = np.random.default_rng(4)
    lines = [
        f"{n},{p},{master_slave(n, p) * random.normal(1.0, 0.01):.9g}"
        for n in SIZES
        for p in RANKS
    ]
    path = tmp_path / "matmul.csv"
    path.write_text("\n".join(["n,ranks,time_s", *lines]) + "\n")
    return path


@pytest.fixture
def place(tmp_path):
    """Return a store with facts of two hosts."""

    def fact(name, value, cores=1):
        return Fact("n1", name, value, "1/s", value, value, cores=cores)

    found = str(tmp_path / "runs.db")
    with open_store(found) as store:
        store.add(
            [
                fact("float_multiply_add", 1 / 4.83e-8),
                fact("float_multiply_add", 1e3, cores=2),
                fact("integer_add", 1e9),
                Message(("n1",), "SR", 2, 1e-9, 1e12),
                Message(
                    ("n1", "n2"), "SR", 2, 15.94e-6, 1 / 0.02e-6,
                    knees=((0, 15.94e-6, 1 / 0.0608e-6), (4096, 1e-4, 1 / 0.02e-6)),
                ),
                Message(("n1", "n2"), "BC", 2, 2e-5, 1e8),
                Message(("n1", "n2"), "BC", 4, 5e-5, 1e8),
            ]
        )  # fmt: skip
    return found


def test_the_figure_of_the_paper_is_computed_without_a_run(capsys):
    found = said(capsys, "model", "predict", "--template", FIGURE_8, *SP2, *AT)
    assert found["value"] == pytest.approx(master_slave(1200, 8), rel=1e-12)
    for n, p in ((1200.0, 8.0), (10000.0, 64.0)):
        value = evaluate(parse(found["substituted"]), {"n": n, "ranks": p})
        assert float(value) == pytest.approx(master_slave(n, p), rel=1e-12)
    assert found["template"]["text"] == FIGURE_8
    assert "L=1024.0 bytes" in found["template"]["facts"]
    assert (found["p5"], found["p50"], found["p95"]) == (None, None, None)
    assert found["verdict"] == "do not trust"
    assert [one["code"] for one in found["doubts"]] == ["no-runs"]


def test_people_see_the_substituted_form_and_that_there_is_no_interval(capsys):
    words = ["model", "predict", "--template", FIGURE_8, *SP2, *AT]
    assert run(words) == 0
    lines = capsys.readouterr().out.splitlines()
    rows = {one.split()[0]: one.split(maxsplit=1)[1] for one in lines}
    assert "no interval" in rows["time"]
    assert rows["template"] == FIGURE_8
    assert rows["substituted"].startswith("4.83e-08*n^3/(ranks - 1) + ")
    assert rows["facts"] == "ADDM = 4.83e-08 s, L = 1024 bytes, SR(L), BC(L, P)"
    assert run([*words, "--strict"]) == ExitCode.UNTRUSTED


def test_a_template_is_compared_with_runs_and_has_an_interval(study, capsys):
    found = said(capsys, "model", "predict", study, "--template", FIGURE_8, *SP2, *AT)
    assert found["value"] == pytest.approx(master_slave(1200, 8), rel=1e-12)
    assert found["p5"] < found["value"] < found["p95"]
    assert found["p95"] < 1.2 * found["value"]
    assert found["verdict"] == "trust"
    assert found["family"] == "template"


def test_names_that_nobody_knows_are_fitted(study, tmp_path, capsys):
    formula = "a*n^3/(ranks-1) + ADDM*c*n*log(ranks)"
    words = ("--template", formula, "--fact", "ADDM=50 ns")
    kept = tmp_path / "m.json"
    fitted = said(capsys, "model", "fit", study, *words, "-o", kept)
    values = {one["name"]: one["value"] for one in fitted["coefficients"]}
    assert values["a"] == pytest.approx(4.83e-8, rel=0.05)
    assert list(values) == ["a", "c"]
    form = fitted["substituted"]
    assert "a*n^3" in form
    assert "ADDM" not in form
    study.unlink()  # years later
    found = said(capsys, "model", "predict", kept, *AT)
    assert found["substituted"] == form
    assert found["template"] == fitted["template"]
    assert found["value"] == pytest.approx(
        float(evaluate(parse(form), {"n": 1200, "ranks": 8, **values})), rel=1e-12
    )
    assert run(["model", "predict", str(kept), *AT]) == 0
    assert "fitted       a = " in capsys.readouterr().out


def test_facts_of_a_system_are_those_of_the_store(place, capsys):
    words = ("model", "predict", "--template", FIGURE_8, "--store", place)
    words = (*words, "--system", "n1", "--fact", "L=1 KiB")
    found = said(capsys, *words, "--at", "n=1200,ranks=4")
    sr = 1e-6 * (15.94 + 0.0608 * 1024)
    bc = 5e-5 + 1024 / 1e8
    truth = 4.83e-8 * 1200**3 / 3 + 2 * 1200 * sr / 3 + 1200 * bc
    assert found["value"] == pytest.approx(truth, rel=1e-12)
    assert found["template"]["system"] == "n1"
    larger = said(capsys, *words[:-1], "L=8 KiB", "--at", "n=1200,ranks=4")
    sr, bc = 1e-4 + 0.02e-6 * 8192, 5e-5 + 8192 / 1e8
    truth = 4.83e-8 * 1200**3 / 3 + 2 * 1200 * sr / 3 + 1200 * bc
    assert larger["value"] == pytest.approx(truth, rel=1e-12)


def test_a_size_of_a_message_can_be_an_input(place, capsys):
    words = ("model", "predict", "--template", "2*SR(8*n)", "--store", place)
    for n, time_s in ((100, 15.94e-6 + 0.0608e-6 * 800), (1000, 1e-4 + 1.6e-4)):
        found = said(capsys, *words, "--system", "n1", "--at", f"n={n}")
        assert found["value"] == pytest.approx(2 * time_s, rel=1e-12)


def test_a_fact_that_is_typed_wins_over_that_of_the_system(place, capsys):
    words = ("model", "predict", "--template", "ADDM*n", "--store", place)
    words = (*words, "--system", "n1", "--at", "n=1000")
    assert said(capsys, *words)["value"] == pytest.approx(4.83e-5, rel=1e-12)
    found = said(capsys, *words, "--fact", "ADDM=2 us")
    assert found["value"] == pytest.approx(2e-3, rel=1e-12)


def test_doubts_of_facts_are_doubts_of_what_is_computed(tmp_path, capsys):
    place = str(tmp_path / "busy.db")
    with open_store(place) as store:
        store.add(
            Fact("n1", name, 1e9, "1/s", 1e9, 1e9, cores=1, doubt=f"{doubt}: much")
            for name, doubt in (("integer_add", "busy"), ("clock", "unsteady"))
        )
    words = ("model", "predict", "--template", "IADD*n", "--store", place)
    found = said(capsys, *words, "--system", "n1", "--at", "n=3")
    assert [one["code"] for one in found["doubts"]] == ["no-runs", "busy"]


def test_a_store_keeps_a_template_with_its_model(study, place, capsys):
    words = ("--template", FIGURE_8, "--system", "n1", "--fact", "L=1024 bytes")
    store = ("--store", place)
    fitted = said(capsys, "model", "fit", study, *words, *store, "--name", "mm")
    shown = said(capsys, "model", "show", "mm", *store)
    assert shown["template"] == fitted["template"]
    assert shown["substituted"] == fitted["substituted"]
    assert run(["model", "show", "mm", *store]) == 0
    text = capsys.readouterr().out
    assert FIGURE_8 in text
    assert "(system n1)" in text
    asked = said(capsys, "model", "predict", "--model", "mm", *AT, *store)
    assert asked["template"] == fitted["template"]
    again = said(capsys, "model", "predict", "--template", "mm", *SP2, *AT, *store)
    assert again["value"] == pytest.approx(master_slave(1200, 8), rel=1e-12)


def test_a_template_can_be_a_row_of_the_store(place, capsys):
    words = ("model", "predict", "--template", "mm", "--store", place)
    code, text = complained(capsys, *words, *AT)
    assert code == ExitCode.INPUT
    assert "--template: mm: there is no such model in the store" in text
    with open_store(place) as store:
        store.add([Template("mm", "matmul", FIGURE_8)])
    found = said(capsys, *words, *SP2, *AT)
    assert found["value"] == pytest.approx(master_slave(1200, 8), rel=1e-12)
    with open_store(place) as store:
        store.add([Template("mm", "other", "2*n")])
    code, text = complained(capsys, *words, *AT)
    assert code == ExitCode.INPUT
    assert "several templates of that name (of matmul, other)" in text


def test_a_template_can_be_a_file(study, tmp_path, capsys):
    path = tmp_path / "figure 8.txt"
    path.write_text("# figure 8\n" + FIGURE_8.replace(" + ", "  # more\n  + ") + "\n")
    found = said(capsys, "model", "predict", study, "--template", path, *SP2, *AT)
    assert found["value"] == pytest.approx(master_slave(1200, 8), rel=1e-12)
    path.write_text("a*(n\n")
    code, text = complained(capsys, "model", "fit", study, "--template", path)
    assert code == ExitCode.INPUT
    assert str(path) in text
    path.write_bytes(b"\xff\xfe\x00")
    assert complained(capsys, "model", "fit", study, "--template", path)[0] == 3


def test_an_input_that_a_template_names_need_not_vary(tmp_path, capsys):
    path = tmp_path / "runs.csv"
    lines = [f"{n},8,{master_slave(n, 8)}" for n in SIZES]
    path.write_text("\n".join(["n,ranks,time_s", *lines]) + "\n")
    found = said(
        capsys, "model", "predict", path, "--template", FIGURE_8, *SP2,
        "--at", "n=1200,ranks=32",
    )  # fmt: skip
    assert found["value"] == pytest.approx(master_slave(1200, 32), rel=1e-12)
    assert found["range"]["ranks"] == {"low": 8.0, "high": 8.0, "factor": 4.0}
    picture = ("model", "draw", path, "--template", FIGURE_8, *SP2)
    assert run([*map(str, picture), *AT, "-o", str(tmp_path / "x.svg")]) == 0


def test_runs_of_the_store_are_fitted_as_a_whole(tmp_path, capsys):
    place = str(tmp_path / "runs.db")
    rows = [
        Run("mm", master_slave(n, p), ranks=p, inputs=(("n", float(n)),))
        for n in SIZES
        for p in RANKS
    ]
    with open_store(place) as store:
        store.add(rows)
    words = ("model", "predict", "--app", "mm", "--store", place, "--template")
    found = said(capsys, *words, "a*n^3/(ranks-1) + b*n", *AT)
    assert found["value"] == pytest.approx(master_slave(1200, 8), rel=0.1)
    with open_store(place) as store:
        (kept,) = store.predictions()
    assert kept.family == "template"
    words = ("model", "fit", "--app", "mm", "--store", place, "--parts")
    code, text = complained(capsys, *words, "--template", "a*n")
    assert code == ExitCode.USAGE
    assert "leave out --parts" in text


def test_check_and_draw_take_a_template(study, tmp_path, capsys):
    found = said(capsys, "model", "check", study, "--template", FIGURE_8, *SP2)
    assert found["met"] is True
    assert found["family"] == "template"
    assert all(abs(one["error"]) < 0.05 for one in found["configurations"])
    off = said(capsys, "model", "check", study, "--template", "2 us*n + 0*ranks*1 s")
    assert off["met"] is False
    picture = tmp_path / "x.svg"
    words = ("model", "draw", study, "--template", FIGURE_8, *SP2, "-o", picture)
    assert "4.83e-08*n^3" in said(capsys, *words)["formula"]
    assert picture.read_text().count("<circle") >= len(SIZES) * len(RANKS)


def test_a_template_is_compared_with_families_and_asked_which_run_is_next(
    study, capsys
):
    words = ("--template", "a*n^3/(ranks-1) + b*n")
    found = said(capsys, "model", "compare", study, *words, "--family", "linear")
    by = {one["family"]: one for one in found["families"]}
    assert list(by) == ["linear", "template"]
    assert by["template"]["median_error"] < 0.05 < by["linear"]["median_error"]
    found = said(capsys, "model", "next", study, *words, *AT, "--range", "n=900:1200")
    assert found["formula"].startswith("4.8")
    for command in ("compare", "next", "check"):
        code, text = complained(capsys, "model", command, study, "--family", "template")
        assert code == ExitCode.USAGE
        assert "--family template needs a formula" in text


def test_the_example_of_the_documentation_says_what_it_shows(
    tmp_path, monkeypatch, capsys
):
    page = (Path(__file__).parents[2] / "docs" / "models.md").read_text()
    section = page.split("\n## Templates\n")[1].split("\n## ")[0]
    blocks = re.findall(r"(?:^    .+\n)+", section, re.MULTILINE)
    runs, command, output = (textwrap.dedent(one) for one in blocks[:3])
    (tmp_path / "runs.csv").write_text(runs)
    monkeypatch.chdir(tmp_path)
    words = shlex.split(command.replace("\\\n", " "))
    assert words[0] == "skelgen"
    assert run(words[1:]) == 0
    assert capsys.readouterr().out == output


def test_a_formula_that_is_far_off_is_fitted_and_not_trusted(study, tmp_path, capsys):
    words = ["model", "fit", str(study), "--template", "1e307*(n/ranks)^0.1"]
    assert run([*words, "--name", "off", "--store", str(tmp_path / "runs.db")]) == 0
    assert "error        above 1000% of a run" in capsys.readouterr().out
    assert run(["model", "show", "off", "--store", str(tmp_path / "runs.db")]) == 0


DEEP = "(" * 10_000 + "n" + ")" * 9_000


@pytest.mark.parametrize(
    ("words", "code", "told"),
    [
        (("a*(n",), 2, "--template: the formula 'a*(n': read the end, expected"),
        (("none.txt",), 2, "there is no file of that name, either"),
        (("x" * 5000 + ".txt",), 2, "there is no file of that name, either"),
        (("nothing",), 2, "'nothing' is no file and no model of the store"),
        (("n/0",), 3, "no number at run 1 (n = 100, ranks = 2): it divides by 0"),
        (("n/(ranks - 2)",), 3, "it divides by 0"),
        (("9^9^9^9*n",), 3, "grows beyond what a computer can write"),
        (("exp(exp(n))",), 3, "grows beyond what a computer can write"),
        ((DEEP,), 2, "more than 50 brackets, signs or exponents"),
        (("-" * 10_000 + "n",), 2, "more than 50 brackets, signs or exponents"),
        (("n+" * 10_000 + "n",), 2, "at most 20000 are read"),
        (("3 s*n + 4 bytes",), 3, "adds 3 s*n, which is s, and 4 bytes"),
        (("4 bytes*n",), 3, "the template is bytes, and the runs give s"),
        (("L*n + 1 s", "--fact", "L=3 bytes"), 3, "which is bytes, and 1 s"),
        (("n*SR(L)", "--fact", "L=3"), 3, "calls SR, which is not known"),
        (("n*ADDM",), 3, "names ADDM, a fact of a system: name the system with"),
        (("a*N",), 3, "names N, and the input is n; write it alike"),
        (("f*n", "--fact", "n=3"), 3, "n differs between the runs, and is given"),
        (("a*n", "--fact", "L=3"), 2, "the template does not name L; it names a, n"),
        (("L*n", "--fact", "L=3 yards"), 2, "no number with a known unit"),
        (("L*n", "--fact", "L=1", "--fact", "L=2"), 2, "L is given twice"),
        (("SR(n)", "--fact", "SR(L)=M"), 2, "names M; it can use L only"),
        (("SR(n)", "--fact", "SR(L)=1/(L - L)*1 s"), 3, "it divides by 0"),
        (("SR(2)*n", "--fact", "SR(L)=1 s/(L - L)"), 3, "SR is inf at the sizes"),
        (("a*n", "--family", "power"), 2, "--family power has another"),
        (("a*n", "--family", "default"), 2, "--family default has another"),
        (("a*b*c*d*e*f*g*h*i*j*k*l*m*n",), 3, "template has 13 coefficients"),
    ],
)
def test_formulas_that_cannot_be_meant_are_one_line(study, capsys, words, code, told):
    found, text = complained(capsys, "model", "fit", study, "--template", *words)
    assert found == code
    assert told in text
    assert len(text) < 1000


@pytest.mark.parametrize(
    ("words", "code", "told"),
    [
        (("--template", "a*n"), 3, "names a, which has no value; give it with --at"),
        (("--template", "a*n"), 3, "known: n, ranks"),
        (("--template", "n*1 us"), 3, "no input ranks; it has n"),
        (("--template", "BC(n)*ranks", "--fact", "ranks=2"), 2, "give it once"),
        (("--template", "n/(ranks-8)"), 3, "says inf s at n=1200, ranks=8"),
        (("--template", "n-ranks^9"), 3, "which is no time"),
        (("--template", "n^ranks^99"), 3, "which is no time"),
        (("--template", "n*ranks*1 bytes"), 3, "the template is bytes, and the runs"),
        (("--template", "n*ranks", "--load", "cpu=1"), 2, "--load and --skeleton need"),
        (("--template", "n*ranks", "--format", "slurm"), 2, "slurm needs runs"),
        (("--family", "template"), 2, "--family template needs a formula"),
        (("--fact", "L=3"), 2, "--fact is for a formula of yours"),
        (("--system", "n1"), 2, "--system is for a formula of yours"),
    ],
)
def test_what_cannot_be_computed_without_runs_is_one_line(capsys, words, code, told):
    found, text = complained(capsys, "model", "predict", *AT, *words)
    assert found == code
    assert told in text


def test_a_broadcast_needs_the_number_of_ranks(capsys):
    words = ("--template", "n*BC(8)", "--fact", "BC(L, P)=log2(P)*L*1 ns")
    code, text = complained(capsys, "model", "predict", "--at", "n=3", *words)
    assert code == ExitCode.INPUT
    assert "write BC(size, ranks)" in text
    found = said(capsys, "model", "predict", *words, "--at", "n=3,ranks=4")
    assert found["value"] == pytest.approx(3 * 2 * 8e-9, rel=1e-12)


def test_a_system_that_nobody_measured_is_one_line(place, capsys):
    words = ("model", "predict", "--template", "ADDM*n", "--at", "n=3")
    code, text = complained(capsys, *words, "--system", "n9", "--store", place)
    assert code == ExitCode.USAGE
    assert "nothing was measured of 'n9'; known hosts: n1" in text
    empty = place + "-none"
    code, text = complained(capsys, *words, "--system", "n1", "--store", empty)
    assert code == ExitCode.INPUT


def test_a_model_has_its_own_formula(study, tmp_path, capsys):
    kept = tmp_path / "m.json"
    assert run(["model", "fit", str(study), "--family", "power", "-o", str(kept)]) == 0
    capsys.readouterr()
    more = ("--template", "a*n")
    for words in (
        ("predict", kept, *AT, *more),
        ("draw", kept, *more, "-o", tmp_path / "x.svg"),
    ):
        code, text = complained(capsys, "model", *words)
        assert code == ExitCode.USAGE
        assert "leave --template out" in text


def test_a_damaged_template_in_the_file_of_a_model_is_one_line(study, tmp_path, capsys):
    kept = tmp_path / "m.json"
    words = ["model", "fit", str(study), "--template", "a*n", "-o", str(kept)]
    assert run(words) == 0
    facts = json.loads(kept.read_text())
    facts.pop("checksum")
    for change in ({"substituted": "a*("}, {"facts": 3}, {"text": None}, {"more": 1}):
        damaged = facts | {"template": facts["template"] | change}
        kept.write_text(json.dumps(damaged))
        capsys.readouterr()
        code, _ = complained(capsys, "model", "predict", kept, "--at", "n=100")
        assert code == ExitCode.INPUT


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("--quantity", "speedup"), "--quantity needs runs"),
        (("--on", "n1"), "--on needs runs"),
        (("--where", "n>1"), "--where needs runs"),
        (("--format", "slurm"), "--format slurm needs runs"),
    ],
)
def test_what_needs_runs_is_refused_without_them(capsys, words, told):
    formula = ("--template", "1e-9 s*n^3/ranks")
    assert run(["model", "predict", *formula, *AT, *words]) == ExitCode.USAGE
    text = capsys.readouterr().err
    assert told in text
    assert text.count("\n") == 1


def test_as_many_coefficients_as_runs_are_doubted(tmp_path, capsys):
    path = tmp_path / "one.csv"
    path.write_text("n,ranks,time_s\n100,2,1\n")
    words = ("--template", "a*n^3/ranks", "--at", "n=100,ranks=2", "--json")
    assert run(["model", "predict", str(path), *words]) == 0
    found = json.loads(capsys.readouterr().out)
    assert "too-few-runs" in {one["code"] for one in found["doubts"]}


def test_ranks_are_no_coefficient_where_runs_have_nodes(tmp_path, capsys):
    path = tmp_path / "nodes.csv"
    rows = [f"{n},{k},2,{n * n / k}" for n in (10, 20, 40) for k in (1, 2, 4)]
    path.write_text("\n".join(["n,nodes,ranks_per_node,time_s", *rows]) + "\n")
    words = ["model", "predict", str(path), "--at", "n=80,nodes=8,ranks_per_node=2"]
    assert run([*words, "--template", "a*n^2/ranks"]) == ExitCode.INPUT
    text = capsys.readouterr().err
    assert "nodes*ranks_per_node" in text
    assert text.count("\n") == 1
    assert run([*words, "--template", "a*n^2/(nodes*ranks_per_node)"]) == 0


def test_coefficients_that_are_one_are_named(study, capsys):
    words = ["model", "predict", str(study), *AT, "--json"]
    assert run([*words, "--template", "a*n^3/(b*ranks) + c*n"]) == 0
    doubts = json.loads(capsys.readouterr().out)["doubts"]
    (told,) = [one["text"] for one in doubts if one["code"] == "not-separable"]
    assert told.endswith("a, b")


def test_an_input_that_never_varied_is_doubted_elsewhere(tmp_path, capsys):
    path = tmp_path / "two.csv"
    rows = [f"{n},2,{n * n}" for n in (10, 20, 40, 80)]
    path.write_text("\n".join(["n,ranks,time_s", *rows]) + "\n")
    words = ["model", "predict", str(path), "--template", "a*n^2/ranks", "--json"]
    for ranks, doubted in ((2, False), (4, True)):
        assert run([*words, "--at", f"n=40,ranks={ranks}"]) == 0
        doubts = json.loads(capsys.readouterr().out)["doubts"]
        assert ("extrapolation" in {one["code"] for one in doubts}) is doubted
