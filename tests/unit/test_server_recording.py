"""What a server shows of recorded runs: the page of `info`, from data of strangers."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from html.parser import HTMLParser

import pytest

from skelgen.cli.main import run
from skelgen.pipeline import recordings, server_client
from skelgen.server import tokens
from skelgen.server.tokens import Right
from skelgen.store import Run, StoredRecording, open_store
from skelgen.web.recording_written import document_of
from tests.archives import tar_of
from tests.listening_server import listening
from tests.recordings import made, packed, plain_of, save_run
from tests.unit.test_server_uploads import send
from tests.visitors import fill, serve

BAD = "</script><script>alert(1)</script><img src=x onerror=alert(2)>"
POLICY = "content-security-policy"
HASH = r"'sha256-[A-Za-z0-9+/]{43}='"


@pytest.fixture
def place(tmp_path, monkeypatch):
    monkeypatch.setenv("SKELGEN_STATE", str(tmp_path / "state"))
    monkeypatch.setattr(server_client, "_WAITS_S", (0.0,) * 5)
    found = tmp_path / "store.db"
    fill(found)
    return found


def keep(place, document: str, identity: str = "run-2000-2") -> None:
    with open_store(str(place)) as store:
        store.add([StoredRecording(identity, document)])


def attributes(text: str) -> set[str]:
    """Return the names of all attributes of a page."""
    found: set[str] = set()

    class Reader(HTMLParser):
        def handle_starttag(self, tag, attrs):
            found.update(name for name, _ in attrs)

    Reader().feed(text)
    return found


def test_a_run_without_a_recording_says_how_to_get_it(place):
    browser = serve(place).browser()
    page = browser.get("/runs/run-2000-2").text
    assert "The store has no recording of this run." in page
    assert "skelgen store add run/" in page
    answer = browser.get("/runs/run-2000-2/recording")
    assert answer.status_code == 404
    assert "skelgen store add run/" in answer.text


def test_a_run_with_one_shows_where_its_time_went_and_leads_to_all_of_it(place):
    keep(place, document_of(made()))
    served = serve(place, prefix="/p")
    page = served.browser().get("/p/runs/run-2000-2").text
    assert "The recorded run took" in page
    assert "is waiting in heat (wait at collective)" in page
    assert 'href="/p/runs/run-2000-2/recording"' in page
    assert "Loads of its nodes" in page
    whole = served.browser().get("/p/runs/run-2000-2/recording").text
    assert 'href="/p/runs/run-2000-2"' in whole
    for title in (
        "Where the time goes",
        "Call sites",
        "Waiting and load imbalance",
        "Timeline of the run",
        "Communication matrix",
    ):
        assert f"{title}</h2>" in whole


def test_its_policy_lets_our_script_and_style_run_and_nothing_else(place):
    keep(place, document_of(made(BAD)))
    answer = serve(place).browser().get("/runs/run-2000-2/recording")
    policy = answer.headers[POLICY]
    assert "unsafe" not in policy
    assert "default-src 'none'" in policy and "frame-ancestors 'none'" in policy
    (script,) = re.findall(f"script-src ({HASH});", policy)
    (style,) = re.findall(f"style-src ({HASH});", policy)
    for tag, wanted in (("script", script), ("style", style)):
        (text,) = re.findall(rf"<{tag}>(.*?)</{tag}>", answer.text, re.DOTALL)
        found = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
        assert wanted == f"'sha256-{found}'"
    names = attributes(answer.text)
    assert "style" not in names
    assert not [one for one in names if one.startswith("on")]
    assert "<img" not in answer.text
    other = serve(place).browser().get("/runs/run-2000-2")
    assert "sha256" not in other.headers[POLICY]
    assert "<img src=x" not in other.text


def test_the_same_is_a_file_to_keep_that_needs_nothing(place):
    keep(place, document_of(made()))
    answer = serve(place).browser().get("/runs/run-2000-2/recording.html")
    assert 'filename="run-run-2000-2.html"' in answer.headers["content-disposition"]
    assert not re.search(r"(src|href)=|@import|url\(", answer.text)


@pytest.mark.parametrize(
    "document",
    [
        "",
        "AAAA",
        document_of(made())[:-40],
        packed({}),
        packed({**plain_of(document_of(made())), "ranks": 10**12}),
        packed({**plain_of(document_of(made())), "application_s": BAD}),
    ],
)
def test_a_damaged_recording_is_one_line_and_the_rest_of_the_page_stays(
    place, document
):
    keep(place, document)
    browser = serve(place).browser()
    page = browser.get("/runs/run-2000-2")
    assert page.status_code == 200
    assert page.text.count("The recording of this run cannot be shown: ") == 1
    assert "Loads of its nodes" in page.text and "run.jsonl" in page.text
    assert "<img src" not in page.text
    answer = browser.get("/runs/run-2000-2/recording")
    assert answer.status_code == 404
    assert "the recording" in answer.text


def test_an_archive_brings_its_page_without_opening_what_it_names(
    place, tmp_path, monkeypatch
):
    folder = save_run(tmp_path / "run")
    members = {f"run/{one.name}": one.read_bytes() for one in folder.iterdir()}
    page = send(serve(place), [("run.tar.gz", tar_of(members))], app="lu").text
    assert "1 added, 0 known already, 0 refused." in page
    with open_store(str(place), make=False) as store:
        (row,) = store.runs("lu")
    text = serve(place).browser().get(f"/runs/{row.identity}/recording").text
    assert "skelgen push looks where the program is" in text
    assert "Timeline of the run" in text
    assert str(tmp_path) not in text


def test_a_large_run_in_an_archive_is_added_without_a_page(
    place, tmp_path, monkeypatch, capsys
):
    import tarfile

    folder = save_run(tmp_path / "run")
    with tarfile.open(tmp_path / "run.tar.gz", "w:gz") as archive:
        archive.add(folder, "run")
    monkeypatch.setattr(recordings, "_MOST_SENT", 100)
    words = ["store", "add", str(tmp_path / "run.tar.gz"), "--app", "lu", "--json"]
    assert run([*words, "--store", str(place)]) == 0
    told = capsys.readouterr()
    assert (len(json.loads(told.out)["added"]), json.loads(told.out)["pages"]) == (1, 0)
    assert "use skelgen push" in told.err


@pytest.fixture
def url(place, monkeypatch):
    token = tokens.add_token("bob", Right.ADD)
    monkeypatch.setenv("SKELGEN_TOKEN", token)
    with listening(serve(place)) as name:
        yield f"http://{name}"


def test_push_sends_the_page_and_pull_gets_it(url, place, tmp_path, capsys):
    folder, other = save_run(tmp_path / "run"), tmp_path / "other.db"
    words = ["push", url, str(folder), "--app", "lu", "--json"]
    assert run(words) == 0
    told = json.loads(capsys.readouterr().out)
    assert (len(told["added"]), told["pages"], told["refused"]) == (1, 1, [])
    identity = told["added"][0]["run"]
    assert told["address"] == f"{url}/runs/{identity}"
    assert run(words) == 0
    again = json.loads(capsys.readouterr().out)
    assert (again["added"], len(again["already"]), again["pages"]) == ([], 1, 0)
    lines = tmp_path / "runs.jsonl"
    assert run(["pull", url, identity, "-o", str(lines)]) == 0
    assert len(lines.read_text().splitlines()) == 2
    capsys.readouterr()
    assert run(["store", "add", str(lines), "--store", str(other), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["pages"] == 1
    with open_store(str(other)) as store, open_store(str(place)) as first:
        assert store.recordings([identity]) == first.recordings([identity]) != []


def test_a_page_that_was_cut_off_is_sent_by_the_same_command(
    url, place, tmp_path, capsys
):
    folder = save_run(tmp_path / "run")
    words = ["push", url, str(folder), "--app", "lu", "--json"]
    assert run(words) == 0
    with open_store(str(place)) as store:
        store.database.execute("DELETE FROM recordings")
    capsys.readouterr()
    assert run(words) == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["added"], len(told["already"]), told["pages"]) == ([], 1, 1)


def test_who_may_add_replaces_nobodys_page(place):
    keep(place, document_of(made("first")))
    token = tokens.add_token("bob", Right.ADD)
    line = {"row": "recording", "run": "run-2000-2", "document": "AA"}
    answer = (
        serve(place)
        .client()
        .post(
            "/api/runs",
            content=json.dumps(line),
            headers={"Authorization": f"Bearer {token}"},
        )
    )
    assert (answer.json()["added"], answer.json()["pages"]) == ([], 0)
    page = serve(place).browser().get("/runs/run-2000-2/recording").text
    assert "<h1>first</h1>" in page


def test_a_run_that_is_removed_takes_its_page_with_it(place):
    with open_store(str(place)) as store:
        store.add([Run("lu", 1.0, identity="one")])
    keep(place, document_of(made()), "one")
    served = serve(place)
    form = {"form_token": served.visitor().form}
    assert served.browser().post("/runs/one/remove", data=form).status_code == 303
    with open_store(str(place)) as store:
        assert store.recordings(["one"]) == []
