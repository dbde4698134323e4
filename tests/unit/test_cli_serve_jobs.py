"""Jobs of a real server that ends, by a signal or killed, and of the next one."""

from __future__ import annotations

import json
import signal
import time

import httpx2 as httpx
import pytest

from skelgen.launch.process import process_name
from skelgen.server.jobs import JobFolder, JobState
from tests.servers import LONG_S, Server
from tests.visitors import fill


@pytest.fixture
def place(tmp_path, monkeypatch):
    monkeypatch.setenv("SKELGEN_STATE", str(tmp_path / "state"))
    found = tmp_path / "store.db"
    fill(found)
    return str(found)


def ask(server: Server, method: str, path: str, **named):
    headers = {"Authorization": f"Bearer {server.token}"}
    answer = httpx.request(
        method, f"{server.base}{path}", headers=headers, timeout=LONG_S, **named
    )
    assert answer.status_code == 200, answer.text
    return answer.json()


def in_state(folder: JobFolder, identity: str, *states: JobState):
    while (job := folder.read(identity)) is None or job.state not in states:
        time.sleep(0.02)
    return job


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_the_next_server_goes_on_with_the_jobs_of_one_that_has_ended(place, number):
    folder = JobFolder(place)
    with Server("--store", place, "--port", "0") as server:
        body = {"command": "model compare", "options": {"app": "heat"}}
        job = ask(server, "POST", "/api/jobs", content=json.dumps(body))
        ran = in_state(folder, job["identity"], JobState.RUNNING)
        server.process.send_signal(number)
        server.process.wait(LONG_S)
    pid = int(ran.process.partition(":")[0])
    while process_name(pid) == ran.process:  # it is told at once, and needs a moment
        time.sleep(0.02)
    left = folder.read(job["identity"])
    kept = JobState.WAITING if number is signal.SIGTERM else JobState.RUNNING
    assert left.state is kept
    with Server("--store", place, "--port", "0") as server:
        in_state(folder, job["identity"], JobState.DONE)
        found = ask(server, "GET", f"/api/jobs/{job['identity']}")
        assert found["state"] == "done"
        assert len(found["answer"]["families"]) > 13
        assert server.end()[0] == 0


def test_a_server_that_only_reads_leaves_jobs_alone(place):
    folder = JobFolder(place)
    with Server("--store", place, "--port", "0") as server:
        body = {"command": "model compare", "options": {"app": "heat"}}
        job = ask(server, "POST", "/api/jobs", content=json.dumps(body))
        in_state(folder, job["identity"], JobState.RUNNING)
        assert server.end()[0] == 0
    with Server("--store", place, "--port", "0", "--read-only") as server:
        found = ask(server, "GET", f"/api/jobs/{job['identity']}")
        assert found["state"] == "waiting"
        assert server.end()[0] == 0
