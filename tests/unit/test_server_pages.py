"""Pages: what they show, hostile names as text, and the API as the commands say it."""

from __future__ import annotations

import json
import re
from html import unescape
from html.parser import HTMLParser
from urllib.parse import urlencode

import pytest

from skelgen.cli.main import run
from skelgen.server.routes import ROUTES
from skelgen.store import Run, open_store
from tests.hostile import HOSTILE, hostile_rows
from tests.visitors import fill, serve


@pytest.fixture(scope="module")
def state(tmp_path_factory):
    return str(tmp_path_factory.mktemp("state"))


@pytest.fixture(autouse=True)
def _own_state(state, monkeypatch):
    monkeypatch.setenv("SKELGEN_STATE", state)


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """Return a store with a model, which nothing changes."""
    found = str(tmp_path_factory.mktemp("served") / "store.db")
    fill(found)
    words = ["--store", found, "--app", "heat", "--name", "heat"]
    assert run(["model", "fit", *words, "--family", "normal-form"]) == 0
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


class Tags(HTMLParser):
    """Names of elements and attributes, and what links lead to."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.names: set[str] = set()
        self.attributes: set[str] = set()
        self.links: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.names.add(tag)
        self.attributes |= {name for name, _ in attrs}
        self.links += [
            value for name, value in attrs if name in ("href", "src", "action")
        ]


def text_of(page: str) -> str:
    return " ".join(unescape(re.sub(r"<[^>]*>", " ", page)).split())


def test_there_are_two_hundred_injections():
    assert len(set(HOSTILE)) >= 190
    assert len(HOSTILE) == 200


def test_no_name_of_a_store_becomes_an_element_or_an_attribute(tmp_path, place):
    hostile = str(tmp_path / "hostile.db")
    rows = [row for at, one in enumerate(HOSTILE) for row in hostile_rows(one, at)]
    with open_store(hostile) as store:
        added = store.add(rows)
    assert len(added.added) >= 4 * 180
    paths = ["/", "/applications", "/models", "/systems", "/ask"]
    paths += [
        f"/{name}?part={n}" for name in ("runs", "predictions") for n in range(1, 5)
    ]
    paths += [f"/runs/evil-{at}" for at in range(0, 200, 7)]
    clean = "".join(
        serve(place).browser().get(path).text
        for path in ("/", "/runs", "/runs/run-1000-2", "/models", "/predictions",
                     "/systems", "/ask", "/models/heat")
    )  # fmt: skip
    known = Tags(clean)
    browser = serve(hostile).browser()
    seen = 0
    for path in paths:
        answer = browser.get(path)
        assert answer.status_code == 200, (path, answer.text)
        found = Tags(answer.text)
        assert found.names <= known.names
        assert found.attributes <= known.attributes
        assert all(re.match("/[^/]|/$|#(main|end)$", link) for link in found.links)
        seen += answer.text.count("alert(1)")
    assert seen > 1000  # they were there, as text


@pytest.mark.parametrize("text", HOSTILE[::9])
def test_nothing_that_is_asked_for_becomes_an_element(place, text):
    browser = serve(place).browser()
    for one in ROUTES:
        for name in one.query:
            if one.is_api:
                continue
            query = urlencode({name: text}, errors="surrogateescape")
            page = browser.get(f"{one.path}?{query}")
            found = Tags(page.text)
            drawn = set() if one.path.endswith(".svg") else {"svg"}
            assert not found.names & {"script", "iframe", "style", "base", *drawn}
            assert not [name for name in found.attributes if name.startswith("on")]


def test_hostile_names_of_inputs_are_text_in_pictures(tmp_path):
    hostile = str(tmp_path / "hostile.db")
    name = "<script>alert(1)</script>"
    runs = [
        Run(name, n * 1e-3, inputs=(("n", float(n)),), identity=f"r{n}")
        for n in (100, 200, 400, 800, 1600)
    ]
    with open_store(hostile) as store:
        store.add(runs)
    words = ["--app", name, "--name", name, "--family", "normal-form"]
    assert run(["model", "fit", "--store", hostile, *words]) == 0
    browser = serve(hostile).browser()
    (kept,) = browser.get("/api/models").json()["models"]
    for path in (f"/models/{kept['id']}", f"/models/{kept['id']}/picture.svg"):
        assert "<script" not in browser.get(path).text


def test_the_first_page_says_what_there_is_and_leads_to_it(browser):
    page = browser.get("/").text
    assert "applications 1 runs 12 models 1 predictions 1" in text_of(page)
    for link in Tags(page).links:
        assert browser.get(link).status_code in (200, 405), link


def test_an_empty_store_says_what_to_do_first(tmp_path):
    place = str(tmp_path / "empty.db")
    open_store(place).close()
    browser = serve(place).browser()
    for path, words in (
        ("/", "skelgen time --input"),
        ("/runs", "skelgen store add"),
        ("/applications", "skelgen time --input"),
        ("/models", "skelgen model fit"),
        ("/predictions", "skelgen model predict"),
        ("/systems", "skelgen system measure"),
    ):
        answer = browser.get(path)
        assert answer.status_code == 200
        assert words in text_of(answer.text)


def test_runs_are_filtered_and_sorted_as_the_command_does(browser, said, place):
    asked = {"app": "heat", "where": "n>=2000, ranks=8", "host": "n2",
             "system": "cluster", "since": "2001-01-01", "order": "time_s"}  # fmt: skip
    found = browser.get("/api/runs", params=asked).json()
    assert [one["inputs"]["n"] for one in found["runs"]] == [2000, 3000, 4000]
    wanted = said("store", "list", "--store", place, "--where", "n>=2000",
                  "--where", "ranks=8")  # fmt: skip
    assert sorted(one["id"] for one in wanted["runs"]) == sorted(
        one["id"] for one in found["runs"]
    )
    page = browser.get("/runs", params=asked).text
    assert "1 to 3 of 3" in text_of(page)
    assert 'aria-sort="ascending"' in page
    assert "No run is like this" in browser.get("/runs?app=none").text


@pytest.mark.parametrize(
    ("query", "said"),
    [
        ("where=n", "expected a name, one of"),
        ("where=ranks>=x", "expected a number"),
        ("order=time_s;DROP", "expected one of started"),
        ("part=0", "expected 1 to"),
        ("part=1e9", "expected an integer"),
        ("since=yesterday", "expected a date"),
    ],
)
def test_what_cannot_be_asked_for_is_said_in_a_sentence(browser, query, said):
    for path in ("/runs", "/api/runs"):
        answer = browser.get(f"{path}?{query}")
        assert answer.status_code == 400
        assert said in unescape(answer.text)


def test_a_list_has_parts(tmp_path):
    place = str(tmp_path / "many.db")
    with open_store(place) as store:
        store.add(
            Run("a", 1.0 + n, started=1e9 + n, identity=f"r{n}") for n in range(120)
        )
    browser = serve(place).browser()
    seen: list[str] = []
    link = "/runs"
    for _ in range(3):
        page = browser.get(link).text
        seen += re.findall(r'href="/runs/(r\d+)"', page)
        after = re.search(r'rel="next" href="([^"]*)"', page)
        link = unescape(after[1]) if after else ""
    assert seen == [f"r{n}" for n in range(119, -1, -1)]
    assert not link


@pytest.mark.parametrize(
    ("path", "words"),
    [
        ("/api/runs/run-1000-2", ("store", "show", "run-1000-2")),
        ("/api/models", ("model", "list")),
        ("/api/models/heat", ("model", "show", "heat")),
        ("/api/systems", ("system", "list")),
        ("/api/systems/n1", ("system", "show", "n1")),
        (
            "/api/ask?app=heat&at=n=2000,ranks=8",
            ("store", "expect", "--app", "heat", "--input", "n=2000", "--ranks", "8"),
        ),
        (
            "/api/ask?model=heat&at=n=2500,ranks=8&load=cpu=0.5",
            ("model", "predict", "--model", "heat", "--at", "n=2500,ranks=8", "--load",
             "cpu=0.5"),
        ),
    ],
)  # fmt: skip
def test_the_api_says_what_the_command_says(
    browser, said, tmp_path, place, path, words
):
    found = browser.get(path).json()
    wanted = said(*words, "--store", place)
    found = {name: value for name, value in found.items() if name in wanted}
    assert found == wanted


def test_the_command_of_an_answer_gives_the_same_answer(browser, said):
    import shlex

    model = "app=heat&at=n=2500,ranks=8"
    hosts = [f"{model}&hosts={one}" for one in ("n1", "nosuch")]
    system = "app=heat&at=n=2000,ranks=8&system=cluster"
    for asked in ("app=heat&at=n=2000,ranks=8", system, model, *hosts):
        found = browser.get(f"/api/ask?{asked}").json()
        again = said(*shlex.split(found["command"])[1:])
        assert {name: found[name] for name in again} == again


@pytest.mark.parametrize("load", ["", "&load=cpu=0.5"])
def test_a_model_is_doubted_on_a_host_where_none_of_its_runs_was(browser, load):
    asked = f"model=heat&at=n=2500,ranks=8{load}&hosts="
    far = text_of(browser.get(f"/ask?{asked}N1,nosuch").text)
    assert "Do not trust: no run of this model was on nosuch;" in far
    assert "do not trust." in far
    assert "of 12 runs on cluster (n1, n2)" in far
    found = browser.get(f"/api/ask?{asked}N1,nosuch").json()
    assert found["verdict"] == "do not trust"
    assert found["doubts"][-1]["code"] == "other-hosts"
    near = text_of(browser.get(f"/ask?{asked}N1,n2").text)
    assert "no run of this model" not in near


def test_only_runs_and_models_of_a_system_answer_for_it(browser, said):
    asked = "app=heat&at=n=2000,ranks=8&system="
    there = browser.get(f"/api/ask?{asked}cluster").json()
    assert there["runs"]
    assert "--system cluster" in there["command"]
    assert (
        "from the model heat"
        in browser.get("/ask?app=heat&at=n=2500,ranks=8&system=cluster").text
    )
    elsewhere = text_of(browser.get(f"/ask?{asked}other").text)
    assert "Nobody knows yet." in elsewhere
    assert "no run of this configuration was on other" in elsewhere
    model = text_of(browser.get("/ask?model=heat&at=n=2500,ranks=8&system=other").text)
    assert "Do not trust: no run of this model was on other;" in model


def test_an_answer_has_its_interval_its_verdict_and_its_doubts(browser):
    page = text_of(browser.get("/ask?app=heat&at=n=2500,ranks=8").text)
    assert re.search(r"\(90 %: [\d.]+ m?s to [\d.]+ m?s\); (do not )?trust\.", page)
    assert "from the model heat" in page
    page = text_of(browser.get("/ask?app=heat&at=n=2000,ranks=8").text)
    assert "Do not trust: only one run of this configuration" in page


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ("app=&model=&at=&hosts=&load=", "Choose an application or a model."),
        ("at=n=2000", "Choose an application or a model."),
        ("app=none&at=n=5", "no run of 'none'"),
        ("app=heat&at=n", "is not an input and its value"),
        ("model=heat&at=n=5", "ranks"),
        ("model=none&at=n=5", "there is no such model"),
        ("model=heat&at=n=2000,ranks=2&load=../../x", "expected cpu=0.5"),
        ("model=heat&at=n=2000,ranks=2&load=forecast&hosts=../../etc", "etc"),
        ("model=heat&at=n=2000,ranks=2&load=forecast", "of which nodes"),
        ("app=heat&at=ranks=0.5", "expected a number of ranks"),
    ],
)
def test_a_question_without_an_answer_says_why(browser, asked, said):
    page = browser.get(f"/ask?{asked}")
    assert page.status_code == 200
    assert said in text_of(page.text)
    assert browser.get(f"/api/ask?{asked}").status_code in (400, 422)


def test_a_question_that_nobody_asked_yet_has_no_problem(browser):
    assert "Choose an application" not in text_of(browser.get("/ask").text)


def test_a_model_has_its_formula_its_ranges_and_a_table_next_to_its_picture(browser):
    (kept,) = browser.get("/api/models").json()["models"]
    page = browser.get(f"/models/{kept['id']}").text
    assert kept["formula"] in text_of(page)
    assert "The same as a table" in page
    picture = browser.get(f"/models/{kept['id']}/picture.svg")
    assert picture.headers["content-type"] == "image/svg+xml"
    assert picture.text.count("<circle") >= 12  # the runs


def test_a_typed_run_is_added_and_shown_and_removed(tmp_path):
    place = str(tmp_path / "typed.db")
    open_store(place).close()
    served = serve(place)
    browser, form = served.browser(), served.visitor().form
    typed = {"app": "heat", "time": "2min", "inputs": "n=5,solver=cg", "ranks": "4",
             "hosts": "n1,n2", "status": "ok", "form_token": form}  # fmt: skip
    added = browser.post("/runs", data=typed)
    assert added.status_code == 303
    page = text_of(browser.get(added.headers["location"]).text)
    assert "heat took 120 s." in page
    assert "hosts n1, n2" in page
    asked = text_of(browser.get(f"{added.headers['location']}/remove").text)
    assert "What is removed is gone" in asked
    assert browser.get(added.headers["location"]).status_code == 200
    removed = browser.post(
        f"{added.headers['location']}/remove", data={"form_token": form}
    )
    assert removed.status_code == 303
    gone = browser.get(added.headers["location"])
    assert gone.status_code == 404
    assert "there is no such row" in gone.text


@pytest.mark.parametrize(
    "changed",
    [{"app": ""}, {"time": "x"}, {"time": "-1"}, {"ranks": "1e3"}, {"inputs": "n"},
     {"status": "burnt"}, {"started": "x"}, {"app": "a" * 1001}, {"app": "a\0"}],
)  # fmt: skip
def test_a_run_that_cannot_be_is_refused_with_a_sentence(tmp_path, changed):
    place = str(tmp_path / "typed.db")
    open_store(place).close()
    served = serve(place)
    typed = {"app": "heat", "time": "2", "form_token": served.visitor().form}
    answer = served.browser().post("/runs", data={**typed, **changed})
    assert answer.status_code in (400, 422), answer.headers
    assert "Traceback" not in answer.text
    with open_store(place) as store:
        assert not store.runs()


def test_lines_are_added_as_the_command_adds_them(tmp_path, said, capsys, place):
    other = str(tmp_path / "other.db")
    open_store(other).close()
    said("store", "export", "-o", str(tmp_path / "out"), "--store", place)
    lines = (tmp_path / "out/runs.jsonl").read_bytes()
    served = serve(other)
    client = served.client(Authorization=f"Bearer {served.token}")
    first = client.post("/api/runs", content=lines).json()
    assert (len(first["added"]), first["refused"]) == (12, [])
    again = client.post("/api/runs", content=lines).json()
    assert (again["added"], len(again["already"])) == ([], 12)
    broken = client.post("/api/runs", content=b'{"row": "run"}\n\xff').json()
    assert broken["status"] == 422 or broken["refused"]
    models = (tmp_path / "out/models.jsonl").read_bytes()
    sent = client.post("/api/runs", content=models).json()
    assert (len(sent["added"]), sent["refused"]) == (1, [])


def test_a_store_that_went_away_is_a_sentence(tmp_path):
    place = tmp_path / "gone.db"
    fill(place)
    browser = serve(place).browser()
    place.unlink()
    answer = browser.get("/runs")
    assert answer.status_code == 422
    assert "there is no store yet" in answer.text


def test_behind_a_prefix_all_links_have_it(place):
    browser = serve(place, prefix="/p/q").browser()
    page = browser.get("/p/q/runs").text
    links = Tags(page).links
    assert len(links) > 20
    assert all(link.startswith(("/p/q/", "#main", "#end")) for link in links)
    assert browser.get("/runs").status_code == 404


def test_the_description_names_every_address_of_the_api(browser):
    found = browser.get("/api/openapi.json").json()
    assert found["openapi"].startswith("3.1")
    described = {
        (method.upper(), path) for path, one in found["paths"].items() for method in one
    }
    assert described == {(one.method, one.path) for one in ROUTES if one.is_api}
    names = [
        one["operationId"] for path in found["paths"].values() for one in path.values()
    ]
    assert len(names) == len(set(names))


def test_problems_of_the_api_are_json_with_what_to_do(browser):
    for path, status in (("/api/runs/none", 404), ("/api/runs?part=x", 400)):
        answer = browser.get(path)
        assert answer.headers["content-type"] == "application/problem+json"
        problem = answer.json()
        assert problem["status"] == answer.status_code == status
        assert problem["detail"]
