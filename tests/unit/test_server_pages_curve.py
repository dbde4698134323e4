"""Curve fitting in three steps: what each step offers, and that the numbers of the
result are those of the commands that it shows."""

from __future__ import annotations

import json
import re
import shlex
import time
from html import unescape

import numpy as np
import pytest

from skelgen.cli.main import run
from skelgen.pipeline import fit_request
from skelgen.pipeline.curve_steps import CURVES
from skelgen.pipeline.run_pool import run_pool
from skelgen.server.jobs import JobFolder
from skelgen.server.tokens import Right, add_token
from skelgen.store import Run, open_store
from tests.visitors import serve

FIRST, SECOND = "a" * 64, "b" * 64


def run_s(n: float, ranks: int) -> float:
    return 2e-9 * n**3 / ranks + 1e-6 * n * n + 0.01 * ranks


def rows() -> list[Run]:
    """Return runs of a matrix product on sizes and ranks, and of other programs."""
    noise = np.random.default_rng(1000)
    made = [
        Run(
            "matmul",
            run_s(n, ranks) * float(np.exp(noise.normal(0.0, 0.01))),
            ranks=ranks,
            executable=FIRST,
            inputs=(("layout", layout), ("n", float(n))),
            system="origin",
            identity=f"m-{layout}-{n}-{ranks}",
        )
        for layout in ("rows", "tiles")
        for n in (100, 200, 400, 600, 800, 1000, 1200, 1400)
        for ranks in (2, 4, 8, 16)
        if layout == "rows" or n <= 400
    ]
    other = Run("matmul", 9.0, ranks=4, executable=SECOND, identity="other",
                inputs=(("layout", "rows"), ("n", 700.0)), system="sp2")  # fmt: skip
    failed = Run("matmul", 1.0, ranks=4, status="exit 3", identity="failed",
                 inputs=(("n", 5000.0),))  # fmt: skip
    weak = [
        Run("weak", 1.0 + 0.1 * ranks, ranks=ranks, inputs=(("n", 1000.0 * ranks),),
            identity=f"w-{ranks}")
        for ranks in (1, 2, 4, 8)
    ]  # fmt: skip
    once = [Run("once", 3.0, ranks=4, inputs=(("n", 5.0),), identity=f"once-{i}")
            for i in range(3)]  # fmt: skip
    return [*made, other, failed, *weak, *once]


@pytest.fixture(scope="module")
def state(tmp_path_factory):
    return tmp_path_factory.mktemp("state")


@pytest.fixture(autouse=True)
def _own_state(state, monkeypatch):
    monkeypatch.setenv("SKELGEN_STATE", str(state))


@pytest.fixture(scope="module")
def filled(tmp_path_factory):
    found = str(tmp_path_factory.mktemp("served") / "store.db")
    with open_store(found) as store:
        assert not store.add(rows()).refused
    return found


@pytest.fixture
def served(filled):
    return serve(filled)


@pytest.fixture
def browser(served):
    return served.browser()


def text_of(page: str) -> str:
    return " ".join(unescape(re.sub(r"<[^>]*>", " ", page)).split())


def options(page: str, name: str) -> dict[str, str]:
    """Return the choices of a field: what is sent, and what people read."""
    found = re.search(rf'<select[^>]* name="{name}".*?</select>', page, re.S)
    if found is None:
        return {}
    pairs = re.findall(r'<option value="([^"]*)"[^>]*>(.*?)</option>', found[0], re.S)
    return {unescape(value): unescape(text) for value, text in pairs}


CHOSEN = {
    **{"app": "matmul", "exe": FIRST, "family": "cubic", "y": "time", "x": "n"},
    **{"fixed": "layout=rows, ranks=8", "low": "100", "high": "1000", "to": "1400"},
}


def page(browser, **changed: str) -> str:
    """Return a page of the steps; None leaves a field out."""
    fields = {k: v for k, v in {**CHOSEN, **changed}.items() if v is not None}
    answer = browser.get("/model/curve", params=fields)
    assert answer.status_code == 200, answer.text
    return answer.text


def up_to(step: int) -> dict[str, None]:
    """Return fields that are left out before a step is filled in."""
    names = ("app", "exe"), ("family", "y", "x"), ("fixed", "low", "high", "to")
    return {name: None for part in names[step - 1 :] for name in part}


def test_the_first_step_offers_applications_with_their_runs(browser):
    found = options(page(browser, **up_to(1)), "app")
    assert found == {
        "matmul": "matmul (46 runs)",
        "once": "once (3 runs)",
        "weak": "weak (4 runs)",
    }


def test_programs_are_offered_where_an_application_has_several(browser):
    found = options(page(browser, **up_to(1) | {"app": "matmul"}), "exe")
    assert list(found) == ["any", FIRST, SECOND]
    assert found[FIRST] == "aaaaaaaaaaaa on origin (44 runs)"
    assert options(page(browser, **up_to(1) | {"app": "weak"}), "exe") == {}


def test_the_second_step_offers_what_the_runs_allow(browser):
    text = page(browser, **up_to(2))
    assert list(options(text, "family")) == list(CURVES)
    assert options(text, "x") == {"n": "n (8 values)", "ranks": "ranks (4 values)"}
    assert list(options(text, "y")) == ["time", "rate", "speedup", "efficiency"]
    assert "44 runs that ended well" in text_of(text)
    few = page(browser, **up_to(2) | {"app": "weak", "exe": None})
    assert "poly4" not in options(few, "family")
    assert "cubic" in options(few, "family")


def test_all_thirteen_graph_types_of_the_paper_are_there():
    assert len(CURVES.keys() - {"least-error"}) == 13


def test_the_third_step_offers_what_else_is_fixed_with_the_runs_behind_it(browser):
    text = page(browser, **up_to(3))
    found = options(text, "fixed")
    assert found["layout=rows, ranks=8"] == (
        "layout=rows, ranks=8 (8 runs, 8 values from 100 to 1400)"
    )
    assert not any("tiles" in one for one in found)  # three values: too few for a cubic
    assert "4 other settings with too few values of n" in text_of(text)
    assert any("tiles" in one for one in options(
        page(browser, **up_to(3) | {"family": "linear"}), "fixed"))  # fmt: skip


def test_then_the_range_of_values_that_ran(browser):
    text = page(browser, low=None, high=None, to=None)
    assert "8 runs left. At layout=rows, ranks=8." in text_of(text)
    for name, value in (("low", "100"), ("high", "1400"), ("to", "2800")):
        assert re.search(rf'name="{name}" value="{value}"', text)


def test_a_step_can_be_changed_by_a_link_that_keeps_those_before_it(browser):
    text = page(browser)
    links = [unescape(one) for one in re.findall(r'href="(/model/curve[^"]*)"', text)]
    assert links[0] == "/model/curve"
    assert links[1] == f"/model/curve?app=matmul&exe={FIRST}"
    assert "family=cubic" in links[2]
    assert "fixed" not in links[2]


def commands(text: str) -> dict[str, list[str]]:
    found = [unescape(one) for one in re.findall(r"<code>(skelgen .*?)</code>", text)]
    return {" ".join(shlex.split(one)[1:3]): shlex.split(one)[1:] for one in found}


@pytest.fixture
def said(capsys):
    def ask(words: list[str]):
        capsys.readouterr()
        assert run([*words, "--json"]) == 0
        return json.loads(capsys.readouterr().out)

    return ask


@pytest.mark.parametrize(
    "changed",
    [
        {"family": family}
        for family in (
            *("least-residual", "linear", "quadratic", "cubic", "poly4"),
            *("inverse-1", "inverse-4"),
        )
    ]
    + [{"family": "poly6", "high": "1400"}]
    + [
        {"x": "ranks", "family": "inverse-1", "y": y, "amount": amount, "low": "2",
         "high": "16", "to": "32", "fixed": "layout=rows, n=1200"}
        for y, amount in (
            ("time", ""), ("speedup", ""), ("efficiency", ""), ("rate", "2*n^3"),
        )
    ]
    + [
        {"fixed": "layout=rows, ranks=32", "family": family, "high": "1400"}
        for family in ("least-error", "quadratic", "inverse-1")
    ]
    + [
        {
            "fixed": "layout=rows, ranks=32, system=origin",
            **{"exe": "any", "family": "quadratic"},
        },
        {"x": "ranks", "family": "inverse-1", "y": "speedup", "low": "2",
         "high": "16", "to": "32", "fixed": "layout=rows, n=1300"},
    ],
    ids=lambda one: "-".join(one.values()).replace("=", " "),
)  # fmt: skip
def test_the_numbers_are_those_of_the_commands_that_it_shows(
    served, browser, said, tmp_path, changed
):
    text = page(browser, **changed)
    words = commands(text)
    store = tmp_path / "copy.db"
    with open_store(str(store)) as copy:
        copy.add(rows())
    here = [f"--store={store}"]
    for name in ("model fit", "model predict", "model next"):
        assert words[name][-1] == f"--store={served.settings.store}"
    fit = said([*words["model fit"][:-1], *here])
    predicted = said([*words["model predict"][:-1], *here])
    client = served.client(Authorization=f"Bearer {served.token}")
    fields = {**CHOSEN, **changed}
    api = client.get("/api/model/curve", params=fields).json()
    for key, value in api["fit"].items():
        assert fit[key] == value, key
    head = {"format": 2, "result": "model-predict"}
    assert head | api["prediction"] == predicted
    shown = fit.get("says", fit)
    interval = [predicted[name] for name in ("p50", "p5", "p95")]
    unit = predicted["unit"]
    assert shown["unit"] == unit
    from skelgen.web.site_models import quantity_text

    middle, low, high = (quantity_text(one, unit) for one in interval)
    assert f"{middle} (90 %: {low} to {high})" in text_of(text)
    best = said([*words["model next"][:-1], *here])
    assert (best["run"] is None) == ("The most useful next run" not in text)
    run_next = ", ".join(f"{k}={v:g}" for k, v in (best["run"] or {}).items())
    assert run_next in text_of(text)


def test_a_number_that_never_ran_is_an_input_of_the_curve(browser, served):
    """What is fixed may be typed: the curve is then one of that number, too."""
    typed = {"typed": "ranks=32, layout=rows", "fixed": "layout=rows, ranks=8"}
    text = page(browser, **typed, low=None, high=None, to=None)
    assert 'name="fixed" value="layout=rows, ranks=32"' in text
    text = page(browser, **typed)
    assert "No run has enough values of n at ranks=32" in text_of(text)
    assert "with ranks as further input" in text_of(text)
    words = commands(text)["model predict"]
    assert {"--inputs=n,ranks", "--at=n=1400,ranks=32"} <= {*words}
    assert not any("ranks=32" in one for one in words if "where" in one)
    client = served.client(Authorization=f"Bearer {served.token}")
    found = client.get("/api/model/curve", params={**CHOSEN, **typed}).json()
    assert len(found["residuals"]) == 24  # four numbers of ranks, six sizes
    known = page(browser, typed="layout=rows, ranks=16")
    assert "further input" not in text_of(known)
    assert "--inputs=n" in commands(known)["model predict"]


def test_the_curve_of_the_paper_is_found_again(browser, served):
    """A matrix product on 8 processors, 100 to 1000, predicted at 1200."""
    client = served.client(Authorization=f"Bearer {served.token}")
    found = client.get("/api/model/curve", params={**CHOSEN, "to": "1200"}).json()
    truth = run_s(1200, 8)
    assert abs(found["prediction"]["value"] / truth - 1) < 0.1
    names = [one["name"] for one in found["fit"]["coefficients"]]
    assert names == ["constant", "n^1", "n^2", "n^3"]


def test_residuals_are_a_picture_and_a_table(browser, served):
    text = page(browser)
    links = {unescape(one) for one in re.findall(r'<img src="([^"]*)"', text)}
    assert len(links) == 2
    for link in links:
        picture = browser.get(link)
        assert picture.headers["content-type"] == "image/svg+xml"
        assert picture.text.startswith("<svg ")
    (residuals,) = [browser.get(one).text for one in links if "residuals" in one]
    assert residuals.count("<circle") == 6
    client = served.client(Authorization=f"Bearer {served.token}")
    found = client.get("/api/model/curve", params=CHOSEN).json()["residuals"]
    assert len(found) == 6
    for one in found:
        assert one["error"] == pytest.approx(one["measured"] / one["said"] - 1)
        assert f"{one['error']:+.1%}" in text_of(text)


@pytest.mark.parametrize(
    ("changed", "sentence"),
    [
        ({"app": "nothing"}, "no run that ended well"),
        ({"exe": "c" * 64}, "choose one of its 2 programs"),
        ({"app": "once", "exe": None}, "a curve needs runs of at least two sizes"),
        ({"family": "septic"}, "choose one of the list"),
        ({"y": "beauty"}, "choose one of the list"),
        ({"x": "m"}, "choose one of n, ranks"),
        ({"x": "layout"}, "choose one of n, ranks"),
        ({"y": "speedup"}, "choose time, or a curve over ranks"),
        ({"y": "rate"}, "type it, such as n^3"),
        ({"x": "ranks", "family": "poly4"}, "choose cubic, or add runs"),
        ({"fixed": "any"}, "a curve has one range, that of n"),
        ({"fixed": "layout=round, ranks=8"}, "choose rows or tiles"),
        ({"fixed": "ranks=8"}, "layout: not said"),
        ({"typed": "layout=rows, ranks"}, "expected a value of layout or ranks"),
        ({"typed": "layout=rows, ranks=many"}, "expected a number above 0"),
        ({"typed": "layout=tiles, ranks=32"}, "needs 4 values of n, and there are 3"),
        (
            {"typed": "layout=rows, ranks=32", "family": "poly4"},
            "ranks=32 did not run; the curve needs 5 values of ranks",
        ),
        ({"low": "many"}, "expected a number above 0"),
        ({"low": "-5"}, "expected a number above 0"),
        ({"low": "100:1000"}, "expected a number above 0"),
        ({"to": "nan"}, "expected a number above 0"),
        ({"low": "1000", "high": "100"}, "exchange them"),
        ({"low": "500"}, "and from 500 to 1000 there are 3; widen the range"),
        ({"y": "rate", "amount": "n^"}, "--quantity"),
        ({"y": "rate", "amount": "secret"}, "there is no secret"),
    ],
)
def test_what_does_not_fit_is_one_sentence_that_says_what_to_do(
    browser, changed, sentence
):
    text = text_of(page(browser, **changed))
    assert sentence in text
    assert "Keep as a model" not in text


def test_what_goes_along_with_an_input_is_said(browser):
    changed = {"app": "weak", "exe": None, "x": "ranks", "family": "linear"}
    text = page(browser, **changed, **{"fixed": None, "low": None, "high": None})
    assert "n varies with ranks in these runs" in text_of(text)
    assert "4 runs left." in text_of(text)


def test_a_curve_that_falls_below_zero_is_drawn_as_far_as_it_is_one(browser):
    changed = {"x": "ranks", "family": "linear", "low": "2", "high": "16",
               "to": "64", "fixed": "layout=rows, n=1200"}  # fmt: skip
    text = page(browser, **changed)
    assert "that is no time" in text_of(text)
    for link in re.findall(r'<img src="([^"]*)"', text):
        assert browser.get(unescape(link)).status_code == 200


@pytest.fixture
def own(tmp_path):
    """Return a server of a store that may be changed."""
    place = str(tmp_path / "own.db")
    with open_store(place) as store:
        store.add(rows())
    return serve(place)


def test_a_curve_is_kept_with_the_name_of_the_token(own, said):
    token = add_token("ada-of-curves", Right.ADD)
    browser = own.browser(token)
    form = {**CHOSEN, "name": "mine", "form_token": own.visitor(token).form}
    kept = browser.post("/model/curve/keep", data=form)
    assert kept.status_code == 303
    shown = browser.get(kept.headers["location"])
    assert "ada-of-curves" in shown.text
    store = ["--store", own.settings.store]
    facts = said(["model", "show", "mine", *store])
    assert facts["author"] == "ada-of-curves"
    assert facts["runs"] == 6
    at = ["--at", "n=1400"]
    asked = said(["model", "predict", "--model", "mine", *at, *store])
    client = own.client(Authorization=f"Bearer {own.token}")
    api = client.get("/api/model/curve", params=CHOSEN).json()
    assert asked["value"] == api["prediction"]["value"]


def test_who_may_only_read_sees_no_button_that_changes_something(own):
    token = add_token("eve-of-curves", Right.READ)
    text = page(own.browser(token))
    assert "Keep as a model" not in text
    assert "At n=1400" in text_of(text)


def test_a_long_fit_is_a_job_that_keeps_the_model(own, monkeypatch):
    monkeypatch.setattr(fit_request, "_QUICK_CURVE", 3)
    browser = own.browser()
    text = text_of(page(browser))
    assert "Fitting 6 runs takes longer than a page may" in text
    client = own.client(Authorization=f"Bearer {own.token}")
    assert client.get("/api/model/curve", params=CHOSEN).status_code == 422
    form = {**CHOSEN, "name": "long", "form_token": own.visitor().form}
    begun = browser.post("/model/curve/keep", data=form)
    path = begun.headers["location"]
    assert path.startswith("/jobs/")
    while "refresh" in (shown := browser.get(path)).headers:
        time.sleep(0.05)
    (link,) = re.findall(r'href="(/models/[0-9a-f-]+)"', shown.text)
    assert "Model long" in text_of(browser.get(link).text)


def test_families_are_compared_by_a_job(own):
    browser = own.browser()
    form = {**CHOSEN, "family": "linear", "form_token": own.visitor().form}
    begun = browser.post("/model/curve/compare", data=form)
    (job,) = JobFolder(own.settings.store).all()
    assert begun.headers["location"] == f"/jobs/{job.identity}"
    assert job.words[:3] == ("model", "compare", "--app=matmul")
    assert "--inputs=n" in job.words
    browser.post(
        f"/jobs/{job.identity}/cancel", data={"form_token": form["form_token"]}
    )
    while "refresh" in browser.get(f"/jobs/{job.identity}").headers:
        time.sleep(0.05)


def test_runs_that_are_too_many_for_steps_are_for_the_command_line(
    browser, monkeypatch
):
    from skelgen.pipeline import run_pool as pool

    monkeypatch.setattr(pool, "MOST_RUNS", 10)
    assert "use skelgen model fit with --where" in text_of(page(browser))


def test_names_that_no_condition_can_say_are_not_offered(tmp_path):
    place = str(tmp_path / "odd.db")
    odd = [
        Run("odd", 1.0 + i, ranks=1, identity=f"o{i}", inputs=(
            ("a<b", float(i + 1)), ("n", float(i + 1)), ("mpi", float(i + 1)),
            ("word", f"w {i} = x")))
        for i in range(4)
    ]  # fmt: skip
    with open_store(place) as store:
        assert not store.add(odd).refused
    pool = run_pool(place, "odd")
    assert list(pool.numbers()) == ["n"]


def on_hosts(nodes: int, each: int) -> Run:
    inputs = (("n", 100.0),)
    return Run(
        "hosts",
        9.0 / (nodes * each) + nodes,
        ranks=nodes * each,
        nodes=nodes,
        ranks_per_node=each,
        inputs=inputs,
        identity=f"h-{nodes}-{each}",
    )


def test_one_number_of_processes_goes_along_where_two_others_say_it(tmp_path):
    place = str(tmp_path / "hosts.db")
    with open_store(place) as store:
        store.add(
            [on_hosts(nodes, each) for nodes in (1, 2, 3, 4) for each in (1, 2, 4)]
        )
    pool = run_pool(place, "hosts")
    found = {x: [one.text for one in pool.settings(x)] for x in pool.numbers()}
    assert found["ranks"] == [f"ranks_per_node={each}" for each in (1, 2, 4)]
    assert found["nodes"] == [f"ranks_per_node={each}" for each in (1, 2, 4)]
    assert found["ranks_per_node"] == [f"nodes={nodes}" for nodes in (1, 2, 3, 4)]
    assert len(pool.settings("ranks")[0].values) == 4


def test_what_is_fixed_is_said_once(tmp_path):
    place = str(tmp_path / "said.db")
    runs = [
        Run("said", n / ranks, ranks=ranks, nodes=ranks // 2, inputs=(("n", float(n)),),
            identity=f"s-{n}-{ranks}")
        for n in (10, 20, 30) for ranks in (2, 4)
    ]  # fmt: skip
    unknown = Run("said", 4.0, ranks=4, inputs=(("n", 10.0),), identity="no nodes")
    with open_store(place) as store:
        store.add([*runs, unknown])
    found = [one.text for one in run_pool(place, "said").settings("n")]
    assert sorted(found) == ["ranks=2", "ranks=4"]
