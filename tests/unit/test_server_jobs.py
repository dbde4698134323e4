"""Jobs: what they are kept as, who takes turns, and what a restart makes of them."""

from __future__ import annotations

import json
import os
import signal
import stat
import subprocess
import sys
import time

import pytest

from skelgen.errors import UsageError
from skelgen.launch.bounded_command import Bounds
from skelgen.launch.process import process_name
from skelgen.server import job_queue
from skelgen.server.job_queue import JobQueue, TooManyJobsError
from skelgen.server.job_words import COMMANDS, words_of
from skelgen.server.jobs import Job, JobFolder, JobState, new_identity
from skelgen.server.tokens import Right, add_token
from tests.visitors import fill, serve

COMPARE = ("model", "compare", "--app=heat", "--inputs=n,ranks", "--family=linear")


@pytest.fixture(autouse=True)
def _state(tmp_path, monkeypatch):
    monkeypatch.setenv("SKELGEN_STATE", str(tmp_path / "state"))


@pytest.fixture
def place(tmp_path):
    found = tmp_path / "store.db"
    fill(found)
    return str(found)


@pytest.fixture
def queue(place):
    found = JobQueue(place)
    yield found
    found.stop()


def over(queue: JobQueue, job: Job) -> Job:
    """Wait until a job is over."""
    while True:
        found = queue.folder.read(job.identity)
        assert found is not None
        if found.state.is_over:
            return found
        time.sleep(0.05)


def running(queue: JobQueue, job: Job) -> Job:
    while (found := queue.folder.read(job.identity)).state is JobState.WAITING:
        time.sleep(0.02)
    return found


@pytest.fixture
def slow(monkeypatch):
    """Make commands of jobs sleep."""
    real = job_queue.run_bounded

    def sleeping(arguments, *rest, **named):
        words = [sys.executable, "-c", "import time; time.sleep(600)"]
        return real(words, *rest, **named)

    monkeypatch.setattr(job_queue, "run_bounded", sleeping)


def test_a_job_runs_a_command_and_keeps_its_answer(queue):
    job = queue.add(COMPARE, about="Compare", who="ada", back="/model/curve")
    done = over(queue, job)
    assert (done.state, done.exit_code, done.said) == (JobState.DONE, 0, "")
    assert done.progress.startswith("comparing families")
    answer = queue.answer(done)
    assert [one["family"] for one in answer["families"]] == ["linear"]
    assert done.begun >= done.asked
    assert done.ended >= done.begun


def test_what_a_command_complains_of_is_the_line_of_its_job(queue):
    words = ("model", "compare", "--app=nothing")
    done = over(queue, queue.add(words, about="x", who="ada"))
    assert done.state is JobState.FAILED
    assert done.exit_code == 3
    assert done.said.startswith("the store: 0 runs")
    assert queue.answer(done) is None


def test_only_the_owner_may_read_jobs(queue):
    over(queue, queue.add(COMPARE, about="x", who="ada"))
    assert stat.S_IMODE(queue.folder.path.stat().st_mode) == 0o700
    files = list(queue.folder.path.iterdir())
    assert files
    assert {stat.S_IMODE(one.stat().st_mode) for one in files} == {0o600}


@pytest.mark.usefixtures("slow")
def test_a_job_that_runs_is_cancelled_and_its_process_ends(queue):
    job = running(queue, queue.add(COMPARE, about="x", who="ada"))
    queue.cancel(job)
    done = over(queue, job)
    assert done.state is JobState.CANCELLED
    assert process_name(int(job.process.partition(":")[0])) != job.process


@pytest.mark.usefixtures("slow")
def test_a_few_jobs_run_at_once_and_users_take_turns(queue):
    own = [queue.add(COMPARE, about="x", who="ada") for _ in range(3)]
    for one in own[:2]:
        running(queue, one)
    other = queue.add(COMPARE, about="x", who="bob")
    states = [queue.folder.read(one.identity).state for one in (*own, other)]
    assert states.count(JobState.RUNNING) == job_queue.AT_ONCE
    queue.cancel(own[0])
    running(queue, other)  # before the third of the other user, which came first
    assert queue.folder.read(own[2].identity).state is JobState.WAITING
    queue.cancel(own[2])
    assert queue.folder.read(own[2].identity).state is JobState.CANCELLED


@pytest.mark.usefixtures("slow")
def test_one_user_cannot_fill_the_queue(queue):
    for _ in range(4):
        queue.add(COMPARE, about="x", who="ada")
    with pytest.raises(TooManyJobsError, match="4 jobs of yours"):
        queue.add(COMPARE, about="x", who="ada")
    queue.add(COMPARE, about="x", who="bob")


def test_old_jobs_are_forgotten(queue, monkeypatch):
    monkeypatch.setattr(job_queue, "_KEPT", 3)
    done = [
        over(queue, queue.add(("model", "compare"), about="x", who="ada"))
        for _ in range(4)
    ]
    kept = [one.identity for one in queue.folder.all()]
    assert kept == [one.identity for one in done[:0:-1]]


def test_a_job_that_takes_too_long_is_ended_and_says_what_to_do(place, monkeypatch):
    queue = JobQueue(place, Bounds(time_s=0.5))
    done = over(queue, queue.add(COMPARE, about="x", who="ada"))
    assert done.state is JobState.FAILED
    assert "took longer than 500 ms" in done.said
    assert "command line" in done.said


@pytest.mark.usefixtures("slow")
def test_a_server_that_ends_keeps_its_jobs_for_the_next_one(place, monkeypatch):
    first = JobQueue(place)
    ran = running(first, first.add(COMPARE, about="x", who="ada"))
    first.add(COMPARE, about="y", who="ada")
    waits = first.add(COMPARE, about="z", who="ada")
    first.stop()
    kept = first.folder.all()
    assert [one.state for one in kept] == [JobState.WAITING] * 3
    assert process_name(int(ran.process.partition(":")[0])) != ran.process
    monkeypatch.undo()
    monkeypatch.setenv("SKELGEN_STATE", str(first.folder.path.parents[2]))
    for one in kept:  # as another process would find them: its server has ended
        first.folder.write(replaced(one, server="1:1:gone"))
    second = JobQueue(place)
    second.resume()
    assert over(second, ran).state is JobState.DONE
    assert over(second, waits).state is JobState.DONE
    second.stop()


def replaced(job: Job, **changed) -> Job:
    from dataclasses import replace

    return replace(job, **changed)


def left(folder: JobFolder, **changed) -> Job:
    """Keep a job as a server that was killed leaves it."""
    folder.make()
    facts = {"state": JobState.RUNNING, "tries": 1, "server": "1:1:gone", **changed}
    job = Job(new_identity(), "x", COMPARE, "ada", time.time(), **facts)
    folder.write(job)
    return job


def test_jobs_of_a_killed_server_are_run_again_but_not_for_ever(queue):
    again, gone = left(queue.folder), left(queue.folder, tries=3)
    queue.resume()
    assert over(queue, again).state is JobState.DONE
    done = over(queue, gone)
    assert done.state is JobState.GONE
    assert "begun 3 times" in done.said


def test_a_process_that_has_the_number_of_a_job_is_not_ended(queue):
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE,
                          start_new_session=True) as stranger:  # fmt: skip
        name = process_name(stranger.pid)
        pid, started, boot = name.split(":")
        other = f"{pid}:{int(started) - 1}:{boot}"
        assert over(queue, resumed(queue, other)).state is JobState.DONE
        assert process_name(stranger.pid) == name
        assert over(queue, resumed(queue, name)).state is JobState.DONE
        assert stranger.wait() == -signal.SIGKILL


def resumed(queue: JobQueue, process: str) -> Job:
    job = left(queue.folder, process=process)
    queue.resume()
    return job


def test_jobs_of_a_server_that_runs_are_left_to_it(queue):
    job = left(queue.folder, server=process_name(os.getppid()))
    queue.resume()
    assert queue.folder.read(job.identity).state is JobState.RUNNING


@pytest.mark.parametrize(
    "name", ["../../x", "", "A" * 12, "0" * 13, "..", "a/b", "\udcff" * 12]
)
def test_no_name_of_a_job_is_a_path(queue, name):
    assert queue.folder.read(name) is None


def test_a_damaged_file_is_no_job(queue):
    job = left(queue.folder)
    file = queue.folder.path / f"{job.identity}.json"
    file.write_text(file.read_text().replace('"ada"', '"eve"'))
    assert queue.folder.read(job.identity) is None
    assert queue.folder.all() == []


def test_values_never_become_options():
    words = words_of("model compare", {"app": "--store=/etc/passwd", "where": ["-x"]})
    assert words == ("model", "compare", "--app=--store=/etc/passwd", "--where=-x")


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("option", ["output", "store", "skeleton", "columns", "json"])
def test_no_job_reads_or_writes_files_that_somebody_names(place, command, option):
    served = serve(place)
    bearer = {"Authorization": f"Bearer {served.token}"}
    body = {"command": command, "options": {"app": "heat", option: "x"}}
    answer = served.client().post("/api/jobs", content=json.dumps(body), headers=bearer)
    assert answer.status_code == 400
    assert option in answer.json()["detail"]


@pytest.mark.parametrize(
    "text", ["/etc/hostname", "../../access.json", "./x", "~/x", "a b", ["n", "n"]]
)
def test_a_template_of_a_job_is_a_formula_or_a_name_and_no_file(text):
    with pytest.raises(UsageError, match="give a formula"):
        words_of("model fit", {"app": "heat", "template": text})
    for good in ("a*n^3/ranks + b", "stored"):
        words = words_of("model fit", {"app": "heat", "template": good})
        assert words[-1] == f"--template={good}"


@pytest.mark.parametrize(
    "body",
    [
        b"", b"[]", b"{", b'{"command": "store add", "options": {"app": "x"}}',
        b'{"command": "model fit"}', b'{"command": 1, "options": {}}',
        b'{"command": "model fit", "options": {"app": 5}}',
        b'{"command": "model fit", "options": {"app": ["a", 5]}}',
        b'{"command": "model fit", "options": {"app": "a\\u0000b"}}',
        b'{"command": "model fit", "options": {"app": "a"}, "more": 1}',
        b"[" * 100_000,
    ],
)  # fmt: skip
def test_a_body_that_is_no_job_is_refused_in_a_sentence(place, body):
    served = serve(place)
    bearer = {"Authorization": f"Bearer {served.token}"}
    answer = served.client().post("/api/jobs", content=body, headers=bearer)
    assert answer.status_code == 400, answer.text
    assert answer.json()["detail"]
    assert served.client().get("/api/jobs", headers=bearer).json()["jobs"] == []


def test_the_api_starts_shows_and_ends_jobs(place):
    served = serve(place)
    bearer = {"Authorization": f"Bearer {served.token}"}
    client = served.client(**bearer)
    body = {"command": "model compare", "options": {"app": "heat", "family": "power"}}
    added = client.post("/api/jobs", content=json.dumps(body)).json()
    assert added["command"].startswith("skelgen model compare --app=heat")
    path = f"/api/jobs/{added['identity']}"
    while (found := client.get(path).json())["state"] in ("waiting", "running"):
        time.sleep(0.05)
    assert found["state"] == "done", found
    assert found["answer"]["families"][0]["family"] == "power"
    assert client.delete(path).json()["state"] == "done"
    assert client.get("/api/jobs/000000000000").status_code == 404


@pytest.mark.usefixtures("slow")
def test_the_author_of_a_model_is_the_name_of_the_token(place):
    served = serve(place)
    token = add_token("ada", Right.ADD)
    client = served.client(Authorization=f"Bearer {token}")
    body = {"command": "model fit", "options": {"app": "heat", "author": "bob"}}
    answer = client.post("/api/jobs", content=json.dumps(body))
    assert answer.status_code == 400
    assert "leave author out" in answer.json()["detail"]
    body["options"].pop("author")
    added = client.post("/api/jobs", content=json.dumps(body)).json()
    assert "--author=ada" in added["command"]


@pytest.mark.usefixtures("slow")
def test_the_page_of_a_job_looks_again_by_itself_until_it_is_over(place):
    served = serve(place)
    browser = served.browser()
    job = JobQueue(place).add(COMPARE, about="Compare <b>", who="you")
    path = f"/jobs/{job.identity}"
    page = browser.get(path)
    assert page.headers["refresh"] == "2"
    assert "Compare &lt;b&gt;" in page.text
    assert browser.get("/jobs").headers["refresh"] == "2"
    form = {"form_token": served.visitor().form}
    ended = browser.post(f"{path}/cancel", data=form)
    assert ended.headers["location"] == path
    while "refresh" in (page := browser.get(path)).headers:
        time.sleep(0.05)
    assert "The job is cancelled." in page.text


@pytest.mark.usefixtures("slow")
def test_a_job_is_cancelled_by_who_started_it_or_administers(place):
    served = serve(place)
    queue = JobQueue(place)
    job = queue.add(COMPARE, about="x", who="ada")
    token = add_token("bob", Right.ADD)
    bob = served.browser(token)
    form = {"form_token": served.visitor(token).form}
    refused = bob.post(f"/jobs/{job.identity}/cancel", data=form)
    assert refused.status_code == 403
    assert "Cancel" not in bob.get(f"/jobs/{job.identity}").text
    token = add_token("ada", Right.ADD)
    form = {"form_token": served.visitor(token).form}
    ada = served.browser(token)
    assert "Cancel" in ada.get(f"/jobs/{job.identity}").text
    assert ada.post(f"/jobs/{job.identity}/cancel", data=form).status_code == 303
    assert over(queue, job).state is JobState.CANCELLED


@pytest.mark.usefixtures("slow")
def test_too_many_jobs_are_refused_with_what_to_do(place):
    served = serve(place)
    bearer = {"Authorization": f"Bearer {served.token}"}
    body = json.dumps({"command": "model compare", "options": {"app": "heat"}})
    client = served.client(**bearer)
    codes = [client.post("/api/jobs", content=body).status_code for _ in range(5)]
    assert codes == [200, 200, 200, 200, 429]
    for one in client.get("/api/jobs").json()["jobs"]:
        client.delete(f"/api/jobs/{one['identity']}")


def test_a_password_of_a_store_is_in_no_words_of_a_job(monkeypatch):
    queue = JobQueue("postgresql://ada:secret@h/db?password=secret2")
    seen = {}

    def told(arguments, bounds, *, environment, **named):
        seen["words"], seen["store"] = arguments, environment["SKELGEN_STORE"]
        raise OSError("not today")

    monkeypatch.setattr(job_queue, "run_bounded", told)
    done = over(queue, queue.add(COMPARE, about="x", who="ada"))
    assert "secret" not in " ".join(seen["words"])
    assert "secret" in seen["store"]
    kept = "".join(one.read_text() for one in queue.folder.path.glob("*.json"))
    assert "secret" not in kept + str(queue.folder.path)
    assert done.said == "not today"


def test_a_job_that_could_not_be_read_again_is_refused():
    texts = ["\u0101" * 1000] * 100
    with pytest.raises(UsageError, match="65536 characters in all"):
        words_of("model compare", {"app": "heat", "where": texts})


def test_a_file_of_a_job_counts_under_its_own_name_only(place):
    folder = JobFolder(place)
    job = JobQueue(place).add(COMPARE, about="", who="you")
    text = (folder.path / f"{job.identity}.json").read_text()
    (folder.path / "000000000000.json").write_text(text)
    assert folder.read("000000000000") is None
