"""A model of all inputs in two steps, kept models that are fitted again, and jobs on
the overview."""

from __future__ import annotations

import json
import re
import shlex
import time
from html import unescape

import pytest

from skelgen.cli.main import run
from skelgen.pipeline import fit_request
from skelgen.server.job_queue import JobQueue
from skelgen.server.jobs import JobFolder
from skelgen.server.tokens import Right, add_token
from skelgen.store import Run, open_store
from tests.visitors import serve


def time_s(n: float, ranks: int, solver: str) -> float:
    return (1e-6 if solver == "cg" else 3e-6) * n * n / ranks + 0.02 * ranks


def rows(sizes=(1000, 2000, 4000, 6000)) -> list[Run]:
    return [
        Run(
            "heat",
            time_s(n, ranks, solver) * (1 + 0.004 * ((n // 1000 + ranks) % 3 - 1)),
            ranks=ranks,
            nodes=max(ranks // 4, 1),
            inputs=(("n", float(n)), ("solver", solver)),
            identity=f"{solver}-{n}-{ranks}",
        )
        for solver in ("cg", "mg")
        for n in sizes
        for ranks in (1, 2, 4, 8)
    ]


@pytest.fixture(autouse=True)
def _state(tmp_path, monkeypatch):
    monkeypatch.setenv("SKELGEN_STATE", str(tmp_path / "state"))


@pytest.fixture
def place(tmp_path):
    found = str(tmp_path / "store.db")
    with open_store(found) as store:
        assert not store.add(rows()).refused
    return found


@pytest.fixture
def served(place):
    return serve(place)


@pytest.fixture
def said(capsys):
    def ask(*words: str):
        capsys.readouterr()
        assert run([*words, "--json"]) == 0
        return json.loads(capsys.readouterr().out)

    return ask


def text_of(page: str) -> str:
    return " ".join(unescape(re.sub(r"<[^>]*>", " ", page)).split())


def page(browser, **fields: str) -> str:
    answer = browser.get("/model/default", params=fields)
    assert answer.status_code == 200, answer.text
    return answer.text


CHOSEN = {"app": "heat", "fixed": "solver=cg", "low-n": "1000", "high-n": "6000"}


def test_words_are_fixed_first_and_then_ranges_of_numbers_are_asked_for(served):
    browser = served.browser()
    assert "heat (32 runs)" in text_of(page(browser))
    first = page(browser, app="heat")
    assert '<option value="solver=mg"' in first
    assert "low-n" not in first
    second = page(browser, app="heat", fixed="solver=cg")
    assert "16 runs left" in text_of(second)
    for name, value in (("low-n", "1000"), ("high-n", "6000"), ("high-ranks", "8")):
        assert re.search(rf'name="{name}" value="{value}"', second)


@pytest.mark.parametrize(
    "changed",
    [{}, {"to-n": "9000", "to-ranks": "16"}, {"low-n": "2000", "to-n": "8000"},
     {"low-ranks": "2", "high-ranks": "2", "to-n": "7000"}],
)  # fmt: skip
def test_its_numbers_are_those_of_the_commands_that_it_shows(served, said, changed):
    browser = served.browser()
    text = page(browser, **{**CHOSEN, **changed})
    shown = [unescape(one) for one in re.findall(r"<code>(skelgen .*?)</code>", text)]
    words = {one[1]: one for line in shown if (one := shlex.split(line)[1:])}
    client = served.client(Authorization=f"Bearer {served.token}")
    api = client.get("/api/model/default", params={**CHOSEN, **changed}).json()
    fit = said(*words["fit"])
    for key, value in api["fit"].items():
        assert fit[key] == value, key
    assert ("predict" in words) == bool(changed)
    if changed:
        predicted = said(*words["predict"])
        head = {"format": 2, "result": "model-predict"}
        assert head | api["prediction"] == predicted
        best = said(*words["next"])["run"]
        assert ", ".join(f"{k}={v:g}" for k, v in best.items()) in text_of(text)
    for link in re.findall(r'<img src="([^"]*)"', text):
        assert browser.get(unescape(link)).text.startswith("<svg ")


@pytest.mark.parametrize(
    ("changed", "sentence"),
    [
        ({"app": "x"}, "no run that ended well"),
        ({"fixed": "solver=fft"}, "choose one of the list"),
        ({"low-n": "many"}, "the smallest n: read 'many'"),
        ({"to-n": "-1"}, "n that is predicted: read '-1'"),
        ({"low-n": "6000", "high-n": "1000"}, "exchange them"),
        ({"low-n": "7000", "high-n": "8000"}, "none that ended well"),
    ],
)
def test_what_does_not_fit_is_a_sentence(served, changed, sentence):
    assert sentence in text_of(page(served.browser(), **{**CHOSEN, **changed}))


def kept(served, browser, visitor, **changed: str) -> str:
    form = {**CHOSEN, "name": "mine", "form_token": visitor.form, **changed}
    answer = browser.post("/model/default/keep", data=form)
    assert answer.status_code == 303, answer.text
    return answer.headers["location"]


def add(place: str, sizes: tuple[int, ...]) -> None:
    with open_store(place) as store:
        store.add(rows(sizes))


def test_a_kept_model_says_that_runs_were_added_and_is_fitted_again(
    served, place, said
):
    browser, visitor = served.browser(), served.visitor()
    path = kept(served, browser, visitor)
    assert "it would be the same model" in text_of(browser.get(path).text)
    add(place, (8000,))
    text = text_of(browser.get(path).text)
    assert "Fit it again: the store has 20 runs now, it was fitted to 16" in text
    token = add_token("bob", Right.ADD)
    bob = served.browser(token)
    form = {"form_token": served.visitor(token).form}
    again = bob.post(f"{path}/again", data=form).headers["location"]
    assert again != path
    facts = said("model", "show", "mine", "--store", place)
    assert (facts["author"], facts["runs"], facts["fit_again"]) == ("bob", 20, False)
    shown = [
        shlex.split(unescape(one))[1:]
        for one in re.findall(r"<code>(skelgen .*?)</code>", bob.get(again).text)
    ]
    words = {one[1]: one for one in shown}
    for name in ("fit", "next"):
        said(*words[name])
    assert said(*words["fit"])["formula"] == said(*words["fit"])["formula"]
    assert said("model", "show", "mine", "--store", place)["runs"] == 20


def test_a_large_model_is_fitted_again_by_a_job(served, place, monkeypatch):
    browser, visitor = served.browser(), served.visitor()
    path = kept(served, browser, visitor)
    monkeypatch.setattr(fit_request, "_QUICK", 3)
    answer = browser.post(f"{path}/again", data={"form_token": visitor.form})
    (job,) = JobFolder(place).all()
    assert answer.headers["location"] == f"/jobs/{job.identity}"
    assert job.words[:3] == ("model", "fit", "--app=heat")
    assert "--name=mine" in job.words
    assert "--author=you" in job.words  # of the token's name
    while "refresh" in (shown := browser.get(f"/jobs/{job.identity}")).headers:
        time.sleep(0.05)
    assert "The model is kept." in text_of(shown.text)


def test_a_model_of_a_template_is_fitted_again_with_its_formula(served, place):
    assert (
        run(
            ["model", "fit", "--app=heat", "--where=solver=cg", "--name=form",
             "--template=a*n^2/ranks*F + b*ranks", "--fact=F=2", f"--store={place}"]
        )
        == 0
    )  # fmt: skip
    browser = served.browser()
    browser.post("/models/form/again", data={"form_token": served.visitor().form})
    (job,) = JobFolder(place).all()
    assert "--template=a*n^2/ranks*F + b*ranks" in job.words
    assert any(one.startswith("--fact=F=") for one in job.words)
    while "refresh" in (shown := browser.get(f"/jobs/{job.identity}")).headers:
        time.sleep(0.05)
    assert "The model is kept." in text_of(shown.text), shown.text


def test_a_model_for_one_system_is_fitted_again_for_it(served, place):
    there = [
        Run("heat", 2 * time_s(n, ranks, "cg"), ranks=ranks, system="sp2",
            inputs=(("n", float(n)), ("solver", "cg")), identity=f"sp2-{n}-{ranks}")
        for n in (1000, 4000) for ranks in (2, 8)
    ]  # fmt: skip
    with open_store(place) as store:
        store.add(there)
    words = ["model", "fit", "--app=heat", "--where=solver=cg", "--on=sp2"]
    assert run([*words, "--name=there", "--inputs=n,ranks", f"--store={place}"]) == 0
    browser = served.browser()
    browser.post("/models/there/again", data={"form_token": served.visitor().form})
    (job,) = JobFolder(place).all()
    assert "--on=sp2" in job.words
    while "refresh" in (shown := browser.get(f"/jobs/{job.identity}")).headers:
        time.sleep(0.05)
    assert "The model is kept." in text_of(shown.text), shown.text


def test_a_model_of_a_file_is_not_fitted_again_and_says_why(served, place, tmp_path):
    file = tmp_path / "runs.csv"
    file.write_text("n,time\n1000,1\n2000,4\n4000,16\n8000,64\n")
    words = ["model", "fit", str(file), "--name=filed", f"--store={place}"]
    assert run(words) == 0
    browser = served.browser()
    assert "/again" not in browser.get("/models/filed").text
    answer = browser.post(
        "/models/filed/again", data={"form_token": served.visitor().form}
    )
    assert answer.status_code == 400
    assert "were in the file" in text_of(answer.text)


def test_families_are_compared_on_the_runs_of_a_kept_model(served, place):
    browser, visitor = served.browser(), served.visitor()
    path = kept(served, browser, visitor)
    begun = browser.post(f"{path}/compare", data={"form_token": visitor.form})
    (job,) = JobFolder(place).all()
    assert begun.headers["location"] == f"/jobs/{job.identity}"
    assert job.words[:2] == ("model", "compare")
    assert "--where=solver=cg" in job.words
    JobQueue(place).cancel(job)
    while "refresh" in browser.get(f"/jobs/{job.identity}").headers:
        time.sleep(0.05)


def test_the_overview_says_that_there_are_jobs_while_there_are_any(served, place):
    browser = served.browser()
    assert "/jobs" not in browser.get("/").text
    queue = JobQueue(place)
    job = queue.add(("model", "compare", "--app=x"), about="x", who="you")
    assert "/jobs" in browser.get("/").text
    while not queue.folder.read(job.identity).state.is_over:
        time.sleep(0.05)
