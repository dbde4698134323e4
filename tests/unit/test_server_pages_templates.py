"""Pages of templates, and a template over its inputs: numbers of the command."""

from __future__ import annotations

import json
import re
import shlex
from html import unescape

import pytest

from skelgen.cli.main import run
from skelgen.errors import InputError, UsageError
from skelgen.launch.bounded_command import Bounds
from skelgen.pipeline.fit_process import fitted_apart
from skelgen.pipeline.template_curves import (
    TemplateQuestion,
    ValueRange,
    fitted_template,
    read_range,
    template_answer,
)
from skelgen.results import to_json
from skelgen.results.model_answers import ModelPredictResult
from skelgen.server import pages_templates
from skelgen.server.tokens import Right
from skelgen.store import Fact, Message, Run, Template, open_store
from tests.visitors import fill, serve

#: The formula of the 2005 paper, figure 8.
PAPER = "ADDM*N^3/(P-1) + 2*N*SR(L)/(P-1) + N*BC(L)"
FITTED = "a*n^2/ranks + b"
EVIL = "<script>alert(1)</script>"


@pytest.fixture(scope="module")
def state(tmp_path_factory):
    return str(tmp_path_factory.mktemp("state"))


@pytest.fixture(autouse=True)
def _own_state(state, monkeypatch):
    monkeypatch.setenv("SKELGEN_STATE", state)
    monkeypatch.setattr(pages_templates, "fitted_apart", fitted_template)


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """Return a store with templates, facts and runs, which nothing changes."""
    found = str(tmp_path_factory.mktemp("served") / "store.db")
    fill(found)
    with open_store(found) as store:
        rows = [
            Template("master-slave", "matmat", PAPER, ("N", "P", "L")),
            Template("mixed", "matmat", "n*1 s + 2 bytes", ("n",)),
            Template("broken", "matmat", "a*("),
            Template(EVIL, EVIL, f"a*'{EVIL}' + b", (EVIL,)),
            Message(("n1", "n2"), "BC", 2, 3e-6, 1e10),
        ]
        assert not store.add(rows).refused
    words = ["--store", found, "--app", "heat", "--template", FITTED]
    assert run(["model", "fit", *words, "--name", "fitted"]) == 0
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


def commands_in(page: str) -> list[list[str]]:
    found = re.findall(r"<code>(skelgen [^<]*)</code>", page)
    return [shlex.split(unescape(one))[1:] for one in found]


def asked(browser, **query: str):
    at = {f"at.{name}": value for name, value in json.loads(query.pop("at")).items()}
    return browser.get("/model/template", params={**query, **at})


def test_templates_are_listed_with_mathematics_names_and_units(browser):
    page = browser.get("/templates").text
    assert "<mfrac><mrow><mi>ADDM</mi>" in page
    text = text_of(page)
    assert "N, P, L ADDM, SR, BC s a row" in text
    assert "a, b" in text  # what was fitted
    assert text.count("does not fit") == 2  # units, and what is no formula
    assert EVIL not in page


def test_a_template_says_what_its_names_are_and_whether_its_units_fit(browser):
    page = browser.get("/templates").text
    texts = {}
    for link in re.findall(r'href="(/templates/[0-9a-f]+)"', page):
        answer = browser.get(link)
        assert answer.status_code == 200
        assert EVIL not in answer.text
        texts[re.search("<h1>Template ([^<]*)", answer.text)[1]] = text_of(answer.text)
    assert "inputs N, P, L facts of a system ADDM, SR, BC" in texts["master-slave"]
    assert "Its units fit" in texts["master-slave"]
    assert "Its units do not fit: the formula adds" in texts["mixed"]
    assert "It cannot be read" in texts["broken"]
    assert "fitted to runs a, b" in texts["fitted"]
    assert browser.get("/templates/none").status_code == 404


def test_a_store_without_templates_says_what_to_do(tmp_path):
    place = str(tmp_path / "empty.db")
    open_store(place).close()
    page = text_of(serve(place).browser().get("/templates").text)
    assert "There are no templates yet." in page
    assert "skelgen model fit" in page


def test_steps_lead_from_a_kept_template_to_a_surface(browser):
    page = browser.get("/model/template").text
    kept = re.search('value="([0-9a-f]+)">master-slave of matmat', page)[1]
    second = browser.get("/model/template", params={"kept": kept, "system": "n1"})
    for name in ("N", "P", "L"):
        assert f'name="at.{name}"' in second.text
    at = json.dumps({"N": "100:10000", "P": "8:64", "L": "1024"})
    third = asked(browser, template=PAPER, system="n1", at=at)
    assert third.text.count("<polygon") == 400
    assert "computed, no interval" in text_of(third.text)
    assert third.headers["content-security-policy"].endswith("script-src 'self'")
    assert "unsafe" not in third.headers["content-security-policy"]
    assert len(third.content) < 100_000
    assert "script-src" not in second.headers["content-security-policy"]


def test_what_a_page_says_is_what_its_command_says(browser, said, place):
    at = json.dumps({"N": "100:10000", "P": "8:64", "L": "1024"})
    page = asked(browser, template=PAPER, system="n1", at=at).text
    (words,) = commands_in(page)
    found = said(*words)
    at = found["at"]
    assert at == {"N": 10000.0, "P": 64.0, "L": 1024.0}
    question = TemplateQuestion(
        place, PAPER, "n1",
        values=tuple(ValueRange(n, v, v) for n, v in at.items()),
    )  # fmt: skip
    answer = template_answer(question)
    assert answer.value == found["value"]
    assert to_json(ModelPredictResult.of_template(answer.said)) == found


def test_a_surface_has_the_numbers_of_the_command_at_its_corners(place, said):
    values = (read_range("N", "100:10000"), read_range("P", "8:64"))
    question = TemplateQuestion(place, PAPER, "n1", ("L=1 KiB",), values)
    found = template_answer(question).surface
    assert found is not None
    assert (found.x[0], found.x[-1], found.y[0], found.y[-1]) == (100, 10000, 8, 64)
    for row, ranks in ((0, 8), (-1, 64)):
        for column, size in ((0, 100), (-1, 10000)):
            wanted = said(
                *("model", "predict", "--store", place, "--system", "n1"),
                *("--template", PAPER, "--fact", "L=1 KiB"),
                *("--at", f"N={size},P={ranks}"),
            )
            assert found.values[row][column] == pytest.approx(wanted["value"], 1e-12)


def test_a_template_of_runs_has_coefficients_and_an_interval(browser, said, place):
    at = json.dumps({"n": "1000:4000", "ranks": "8"})
    page = asked(browser, template=FITTED, app="heat", at=at).text
    assert "(90 %:" in text_of(page)
    assert "<polyline" in page
    (words,) = commands_in(page)
    found = said(*words)
    values = (read_range("n", "1000:4000"), read_range("ranks", "8"))
    answer = template_answer(
        TemplateQuestion(place, FITTED, values=values, application="heat")
    )
    assert answer.interval is not None
    ends = answer.interval.p5, answer.interval.p50, answer.interval.p95
    assert ends == pytest.approx((found["p5"], found["p50"], found["p95"]), 1e-12)
    assert answer.curve[-1].value == pytest.approx(found["p50"], 1e-12)
    first = said(*words[:-4], "--at", "n=1000,ranks=8", "--store", place)
    assert answer.curve[0].interval is not None
    assert answer.curve[0].interval.p95 == pytest.approx(first["p95"], 1e-12)


@pytest.mark.parametrize(
    ("at", "missing"),
    [
        ({"N": "", "P": " ", "L": ""}, "N, P, L"),
        ({"N": "100", "P": "", "L": "1"}, "P"),
        ({"N": "100"}, "P, L"),
    ],
)
def test_a_value_that_was_left_empty_is_named(browser, at, missing):
    page = asked(browser, template=PAPER, system="n1", at=json.dumps(at)).text
    assert f"no value of {missing}; give a number" in text_of(page)
    assert "What it says" not in page


def test_values_that_nobody_was_asked_for_are_not_missing(browser):
    page = asked(browser, template=PAPER, system="n1", at="{}").text
    assert 'name="at.N"' in page
    assert "no value of" not in text_of(page)


@pytest.fixture
def two_systems(tmp_path):
    """Return a store with runs on two systems, one four times as fast."""
    place = str(tmp_path / "two.db")
    rows = [
        Run(
            "heat", n * n / (ranks * speed) + 0.1, ranks=ranks, system=system,
            inputs=(("n", float(n)),), hosts=(host,), identity=f"{host}-{n}-{ranks}",
        )
        for system, host, speed in (("slow", "s1", 1e6), ("fast", "f1", 4e6))
        for n in (1000, 2000, 3000, 4000)
        for ranks in (2, 4, 8)
    ]  # fmt: skip
    systems = (("slow", "s1"), ("fast", "f1"), ("idle", "i1"))
    rows += [
        Fact(host, "float_multiply_add", 2e9, "1/s", 1.9e9, 2.1e9, system=system)
        for system, host in systems
    ]
    with open_store(place) as store:
        assert not store.add(rows).refused
    return place


@pytest.mark.parametrize("system", ["fast", "f1"])
def test_of_a_system_only_runs_on_it_count(two_systems, said, system):
    browser = serve(two_systems).browser()
    at = json.dumps({"n": "4000", "ranks": "2"})
    page = asked(browser, template=FITTED, app="heat", system=system, at=at).text
    assert "Fitted to 12 runs" in text_of(page)
    (words,) = commands_in(page)
    assert words[words.index("--where") + 1] == "system=fast"
    assert said(*words)["p50"] == pytest.approx(2.1, rel=0.02)
    page = asked(browser, template=FITTED, app="heat", at=at).text
    assert "--where" not in commands_in(page)[0]


def test_a_system_without_runs_of_the_application_is_said(two_systems):
    browser = serve(two_systems).browser()
    page = asked(browser, template=FITTED, app="heat", system="idle", at="{}").text
    assert "heat: no run with system=idle ended well" in text_of(page)


def test_the_api_says_what_the_command_says(browser, said, place, monkeypatch):
    monkeypatch.setattr("skelgen.server.api_modelling.fitted_apart", fitted_template)
    asked = {"template": FITTED, "app": "heat", "at": "n=1000:4000,ranks=8"}
    found = browser.get("/api/model/template", params=asked).json()
    wanted = said(*shlex.split(found["command"])[1:])
    names = (found["result"], wanted.pop("result"))
    assert names == ("model-template", "model-predict")
    assert {name: found[name] for name in wanted} == wanted
    assert found["curve"][-1]["p95"] == pytest.approx(wanted["p95"], rel=1e-12)
    surface = {"template": PAPER, "system": "n1", "at": "N=1:9,P=8:16,L=1"}
    found = browser.get("/api/model/template", params=surface).json()["surface"]
    assert (len(found["x"]), len(found["y"])) == (9, 9)
    names = {one["name"] for one in browser.get("/api/templates").json()["templates"]}
    assert names == {"master-slave", "mixed", "broken", "fitted", EVIL}
    for at in ("n", "n=x", "n=1:2,ranks=1:2,m=1:2"):
        bad = browser.get("/api/model/template", params={**asked, "at": at})
        assert bad.status_code == 400


def test_asking_keeps_nothing(browser, place):
    def rows():
        with open_store(place) as store:
            return len(store.models()), len(store.predictions())

    before = rows()
    at = json.dumps({"n": "2000", "ranks": "8"})
    assert asked(browser, template=FITTED, app="heat", at=at).status_code == 200
    assert rows() == before


def test_a_process_of_its_own_fits_the_same(place):
    question = TemplateQuestion(place, FITTED, application="heat")
    assert fitted_apart(question, Bounds(time_s=600.0)) == fitted_template(question)


def test_what_cannot_be_fitted_is_said_by_the_process_of_its_own(place):
    question = TemplateQuestion(place, "ADDM*n", application="heat")
    with pytest.raises(InputError, match="names ADDM, a fact of a system"):
        fitted_apart(question, Bounds(time_s=600.0))


def test_a_fit_that_takes_too_long_is_ended(place):
    costly = "+".join(f"gamma(a{i}*n/1e3)^c{i}" for i in range(40))
    question = TemplateQuestion(place, costly, application="heat")
    with pytest.raises((InputError, UsageError)):
        fitted_apart(question, Bounds(time_s=1.0))


@pytest.mark.parametrize(
    ("query", "said"),
    [
        ({"template": "__import__('os').system('true')"}, "read"),
        ({"template": "/etc/passwd"}, "expected a number, a name"),
        ({"template": "1" + "/1" * 400}, "more than 250 operations"),
        ({"template": "(" * 100 + "n" + ")" * 100}, "more than 50 brackets"),
        ({"template": "+".join(["n"] * 500), "at.n": "1"}, "has 501 parts; at most"),
        ({"template": "n*2 s + 1 bytes", "at.n": "5"}, "the formula adds"),
        ({"template": "2 s"}, "the formula has no input"),
        ({"template": PAPER, "at.N": "1:2", "at.P": "2:3", "at.L": "4:5",
          "system": "n1"}, "have ranges; one gives a curve and two give a surface"),
        ({"template": "ADDM*n", "at.n": "5", "at.ADDM": "1"}, ""),
        ({"template": "ADDM*n", "system": "n9", "at.n": "5"}, "nothing was measured"),
        ({"template": "SR(n)", "at.n": "5"}, "calls SR, which is not known for this"),
        ({"template": "IMADD*n", "system": "n1", "app": "heat", "at.n": "5"},
         "names IMADD, a fact of a system"),
        ({"template": "n*a", "at.n": "x", "at.a": "1"}, "expected a number, such as"),
        ({"template": "n/(a-1)", "at.n": "5", "at.a": "1"}, "which is no time"),
        ({"template": "n", "at.n": "5", "facts": "L"}, "there is no name"),
        ({"template": "n", "at.n": "5", "facts": "L=4"}, "does not name L"),
        ({"kept": "none"}, "there is no such template"),
        ({"template": "n", "app": "none"}, "none that ended well"),
        ({"template": "'" + "x" * 990}, "single quotes"),
    ],
)  # fmt: skip
def test_what_cannot_be_computed_is_a_sentence(browser, query, said):
    answer = browser.get("/model/template", params=query)
    assert answer.status_code == 200
    text = text_of(answer.text)
    assert said in text
    assert "fault of skelgen" not in text
    assert "<svg" not in answer.text or not said


def test_no_file_is_read_for_a_template(browser, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "secret").write_text("n*42")
    page = browser.get(
        "/model/template", params={"template": "secret", "at.secret": "3"}
    )
    assert "n*42" not in page.text
    assert "At secret=3: 3 s" in text_of(page.text)


def test_hostile_names_are_text_in_steps_formulas_and_pictures(browser):
    name = f'"{EVIL}'
    formula = f"2*'{name}'"
    page = browser.get(
        "/model/template", params={"template": formula, f"at.{name}": "1:5"}
    )
    assert "<svg" in page.text
    assert EVIL not in page.text
    assert "&lt;script&gt;" in page.text
    other = {"template": f"'{name}'*n", f"at.{name}": "1:5", "at.n": "1:5"}
    surface = browser.get("/model/template", params=other)
    assert "data-surface" in surface.text
    assert EVIL not in surface.text


def test_who_may_add_keeps_a_model_as_a_job_of_the_same_words(place, monkeypatch):
    started = []

    def start(question, words, **about):
        started.append(words)
        raise UsageError("seen")

    monkeypatch.setattr(pages_templates, "start_job", start)
    served = serve(place)
    browser = served.browser()
    at = json.dumps({"n": "2000", "ranks": "8"})
    page = asked(browser, template=FITTED, app="heat", at=at).text
    assert 'action="/model/template/keep" method="post"' in page
    form = {"app": "heat", "template": FITTED, "facts": "b=1 ms; c=2", "name": "mine",
            "system": "n1"}  # fmt: skip
    token = {"form_token": served.visitor().form}
    assert browser.post("/model/template/keep", data=form).status_code == 403
    answer = browser.post("/model/template/keep", data={**form, **token})
    assert answer.status_code == 400
    assert started == [
        ("model", "fit", "--app=heat", "--where=system=cluster",
         f"--template={FITTED}", "--system=n1", "--fact=b=1 ms", "--fact=c=2",
         "--name=mine", "--author=you"),
    ]  # fmt: skip
    for template in ("/etc/passwd", "a*("):
        bad = browser.post(
            "/model/template/keep", data={**form, **token, "template": template}
        )
        assert bad.status_code == 422
    assert len(started) == 1


def test_who_may_only_read_sees_no_button_that_keeps(place):
    browser = serve(place, Right.READ).browser()
    at = json.dumps({"n": "2000", "ranks": "8"})
    page = asked(browser, template=FITTED, app="heat", at=at).text
    assert "Fit and keep" not in page
    assert 'method="post"' not in page.replace('action="/leave" method="post"', "")


def test_a_template_of_a_store_with_facts_of_a_system_needs_them(tmp_path):
    place = str(tmp_path / "facts.db")
    with open_store(place) as store:
        store.add(
            [
                Fact("n1", "clock", 2e9, "1/s", 2e9, 2e9),
                Run("heat", 1.0, inputs=(("n", 5.0),), identity="r1"),
            ]
        )
    page = (
        serve(place)
        .browser()
        .get(
            "/model/template",
            params={"template": "ADDM*n", "system": "n1", "at.n": "5", "at.ADDM": ""},
        )
    )
    assert 'name="at.ADDM"' in page.text  # what the system lacks is asked for
