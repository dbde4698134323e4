"""Pages of kernels: couplings as a matrix, and a loop by its kernels as the command."""

from __future__ import annotations

import json
import re
import shlex
from html import unescape

import pytest

from skelgen.cli.main import run
from skelgen.errors import InputError
from skelgen.launch.bounded_command import Bounds
from skelgen.pipeline.kernels import (
    CouplingQuestion,
    coupled_apart,
    kernel_applications,
    known_kernels,
)
from skelgen.pipeline.model import RunSource, asked_values
from skelgen.pipeline.model_couple import LoopQuestion, model_couple
from skelgen.progress import NO_PROGRESS
from skelgen.results import to_json
from skelgen.results.model_couplings import ModelCoupleResult
from skelgen.server import pages_couplings
from skelgen.store import Coupling, Run, RunPart, open_store
from tests.kernel_rows import kernel_rows
from tests.visitors import serve

EVIL = "<script>alert(1)</script>"
STEPS = {"app": "loop", "system": "cluster", "chain": "2", "over": "n"}
VALUES = {**STEPS, "step": "4", "low": "10", "high": "80", "fixed.ranks": "2"}


def coupled_here(question: CouplingQuestion):
    """Say what the command says, in this process: others may be slow to start."""
    source = RunSource(
        store=question.store, application=question.application, where=question.where
    )
    asked = LoopQuestion(
        asked_values(question.at, "--at") if question.at else {},
        question.length,
        families=question.families,
        templates=question.templates,
    )
    found = model_couple(source, asked, progress=NO_PROGRESS)
    return to_json(ModelCoupleResult.of(found))


@pytest.fixture(autouse=True)
def _own_state(tmp_path, monkeypatch):
    monkeypatch.setenv("SKELGEN_STATE", str(tmp_path / "state"))
    monkeypatch.setattr(pages_couplings, "coupled_apart", coupled_here)


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """Return a store with kernels, which nothing changes."""
    found = str(tmp_path_factory.mktemp("served") / "store.db")
    rows = [
        *kernel_rows((10, 20, 40, 80)),
        *kernel_rows((10,), system="other"),
        *kernel_rows((10,), (2,), EVIL, EVIL, {"A": EVIL}),
        Coupling("alone", ("A",), 1.0),
        Run("unnamed", 1.0, inputs=(("n", 5.0),), identity="r1"),
    ]
    with open_store(found) as store:
        assert not store.add(rows).refused
    return found


@pytest.fixture
def browser(place):
    return serve(place).browser()


@pytest.fixture
def said(capsys):
    """Return a function that gives what a command prints with --json."""

    def ask(*words: str):
        capsys.readouterr()
        assert run([*words, "--json"]) == 0
        return json.loads(capsys.readouterr().out)

    return ask


def text_of(page: str) -> str:
    return " ".join(unescape(re.sub(r"<[^>]*>", " ", page)).split())


def test_applications_have_kernels_by_chains_inputs_and_parts(tmp_path):
    place = str(tmp_path / "store.db")
    with open_store(place) as store:
        store.add(
            [
                Coupling("chains", ("A",), 1.0),
                Run("inputs", 1.0, inputs=(("kernels", "A+B"),), identity="r1"),
                Run(
                    "parts", 1.0, identity="r2",
                    parts=(RunPart("A", "kernel", 0.1, 1.0, 1.0),),
                ),
                Run("none", 1.0, inputs=(("n", 5.0),), identity="r3"),
            ]
        )  # fmt: skip
    assert kernel_applications(place) == ["chains", "inputs", "parts"]


def test_couplings_are_a_matrix_of_kernels_with_the_numbers_of_the_command(
    browser, said, place
):
    page = browser.get("/couplings?app=loop&system=cluster").text
    assert "At n=10, ranks=2" in text_of(page)
    table = re.search(r"Couplings of pairs.*?</table>", page, re.DOTALL)[0]
    cells = re.findall(r"<td[^>]*>([^<]*)</td>", table)
    where = ("--where", "system=cluster", "--where", "n=10", "--where", "ranks=2")
    found = said("model", "couple", "--store", place, "--app", "loop", *where)
    values = {
        tuple(one["kernels"]): f"{one['coupling']:.3f}" for one in found["chains"]
    }
    wanted = [
        [first, *(values.get((first, after), "") for after in "ABC")] for first in "ABC"
    ]
    assert cells == [cell for row in wanted for cell in row]
    assert len(values) == 3
    assert 'class="n share1"' in table
    assert 'class="n disturb2"' in table
    assert "A+B+C" in page  # longer chains


def test_a_place_has_the_same_couplings_as_the_command(place, said):
    found = known_kernels(place, "loop", ["system=cluster"])
    assert found.loop == ("A", "B", "C")
    assert dict(found.inputs) == {"n": (10, 20, 40, 80), "ranks": (2, 4)}
    for length in (2, 3):
        at = ("--at", "n=20,ranks=4", "--chain", str(length))
        words = ("--store", place, "--app", "loop", "--where", "system=cluster")
        wanted = said("model", "couple", *words, *at)["chains"]
        (there,) = [one for one in found.places if one.shown == "n=20, ranks=4"]
        ours = {
            one.coupling.chain: (one.coupling.value, one.effect) for one in there.chains
        }
        for one in wanted:
            value, effect = ours[tuple(one["kernels"])]
            assert value == pytest.approx(one["coupling"], rel=1e-12)
            assert effect == one["effect"]


def test_three_steps_lead_to_the_loop(browser):
    first = browser.get("/model/coupling").text
    assert '<option value="loop"' in first
    second = browser.get("/model/coupling", params={"app": "loop"}).text
    assert '<option value="cluster"' in second
    assert 'name="type.A"' not in second
    chosen = {"app": "loop", "system": "cluster"}
    third = browser.get("/model/coupling", params=chosen).text
    assert 'name="type.A"' in third
    assert 'name="formula.B"' in third
    values = browser.get("/model/coupling", params={**STEPS, "step": "3"}).text
    for name in ("low", "high", "to", "fixed.ranks"):
        assert f'name="{name}"' in values
    whole = browser.get("/model/coupling", params={**VALUES, "to": "160"}).text
    assert "The loop takes" in whole
    assert "<svg" in whole


def test_a_number_of_ranks_that_never_ran_is_predicted_from_all_that_did(browser):
    page = browser.get(
        "/model/coupling", params={**VALUES, "to": "160", "fixed.ranks": "8"}
    ).text
    command = re.search(r"<code>(skelgen model couple [^<]*)</code>", page)
    assert command is not None, text_of(page)
    assert "ranks=8" in command[1]
    assert "--where ranks" not in command[1]
    assert "at n=160, ranks=8" in text_of(page)


@pytest.mark.parametrize(
    "changed",
    [
        {"to": "40"},
        {"to": "160"},
        {"to": "160", "type.A": "power", "formula.B": "a*n^3 + b"},
        {"to": "20", "chain": "3"},
        {"to": "160", "fixed.ranks": "8"},
        {"to": "8", "over": "ranks", "low": "2", "high": "4", "fixed.n": "40",
         "type.A": "inverse-1", "type.B": "inverse-1", "formula.C": "a/ranks"},
    ],
)  # fmt: skip
def test_a_page_says_what_its_command_says(browser, said, changed):
    page = browser.get("/model/coupling", params={**VALUES, **changed}).text
    command = re.search(r"<code>(skelgen model couple [^<]*)</code>", page)
    assert command is not None, text_of(page)
    found = said(*shlex.split(unescape(command[1]))[1:])
    text = text_of(page)
    for one in found["kernels"]:
        assert f"{one['weight']:.3f}" in text
    for one in found["chains"]:
        assert f"{one['coupling']:.3f}" in text
    from skelgen.units import format_seconds

    ends = [format_seconds(found[name]) for name in ("p50", "p5", "p95", "sum")]
    assert "The loop takes {} (90 %: {} to {})".format(*ends) in text
    assert f"the kernels alone add up to {ends[3]}" in text
    assert ("were measured" in text) == (found["measured"] is not None)
    for one in found["doubts"]:
        assert one["text"] in text


def test_the_api_says_what_the_command_says(browser, said, monkeypatch):
    monkeypatch.setattr("skelgen.pipeline.kernels.coupled_apart", coupled_here)
    asked = {
        "app": "loop",
        "where": "system=cluster,ranks=2",
        "at": "n=160,ranks=2",
        "family": "A=power",
        "template": "B=a*n^3",
    }
    found = browser.get("/api/model/coupling", params=asked).json()
    wanted = said(*shlex.split(found["command"])[1:])
    assert {name: found[name] for name in wanted} == wanted
    assert browser.get("/api/model/coupling").status_code == 400
    bad = browser.get("/api/model/coupling", params={**asked, "chain": "x"})
    assert bad.status_code == 400


def test_a_process_of_its_own_says_the_same(place):
    question = CouplingQuestion(
        place, "loop", ("system=cluster", "ranks=2"), "n=20,ranks=2"
    )
    found = dict(coupled_apart(question, Bounds(time_s=600.0)))
    assert found == json.loads(json.dumps(coupled_here(question)))


def test_what_the_process_of_its_own_refuses_is_a_sentence(place):
    question = CouplingQuestion(place, "alone")
    with pytest.raises(InputError, match="no chain of kernels was measured"):
        coupled_apart(question, Bounds(time_s=600.0))


@pytest.mark.parametrize(
    ("query", "said"),
    [
        ({"app": "alone"}, "no chain of kernels was measured, only kernels alone"),
        ({"app": "unnamed"}, "no run says which kernels it is of"),
        ({"app": "none"}, "none that ended well"),
        ({"app": "loop", "system": "nowhere"}, "none that ended well"),
        ({**VALUES, "to": "x"}, "read 'x', expected a number"),
        ({**VALUES, "to": "-5"}, "expected a number above 0"),
        ({**VALUES, "to": "160", "chain": "9"}, "a chain has 2 to 3"),
        ({**VALUES, "to": "160", "chain": "x"}, "expected 2 or more"),
        ({**VALUES, "to": "160", "type.A": "oval"}, "there is no graph type 'oval'"),
        ({**VALUES, "to": "160", "formula.A": "a*("}, "expected a number, a name"),
        ({**VALUES, "to": "160", "formula.A": "__import__('os')"}, "calls __import__"),
        ({**VALUES, "to": "160", "over": "m"}, "no input 'm' that differs"),
        ({**VALUES, "to": "160", "low": "70", "high": "75"}, "none that ended well"),
    ],
)
def test_what_cannot_be_predicted_is_a_sentence(browser, query, said):
    answer = browser.get("/model/coupling", params=query)
    assert answer.status_code == 200
    assert said in text_of(answer.text)
    assert "fault of skelgen" not in answer.text


def test_a_store_without_kernels_says_what_to_do(tmp_path):
    place = str(tmp_path / "empty.db")
    open_store(place).close()
    browser = serve(place).browser()
    for path in ("/couplings", "/model/coupling"):
        assert "kernels=a+b" in text_of(browser.get(path).text)


def test_hostile_names_of_kernels_and_systems_are_text(browser):
    listed = browser.get("/couplings", params={"app": EVIL}).text
    assert "1.091" in listed
    chosen = {"app": EVIL, "system": EVIL, "step": "3"}
    values = browser.get("/model/coupling", params=chosen).text
    whole = browser.get("/model/coupling", params={**chosen, "step": "4"}).text
    assert "The loop takes" in whole
    for page in (listed, values, whole):
        assert EVIL not in page
        assert "&lt;script&gt;" in page
