"""Each address of the API answers a result, and that is what its schema says."""

from __future__ import annotations

import json
import sys

import jsonschema_rs
import pytest

from skelgen.cli.main import run
from skelgen.results.table import RESULTS
from skelgen.server import job_queue
from skelgen.server.jobs import Job, JobFolder, JobState
from skelgen.server.openapi import described
from skelgen.server.routes import ROUTES, Route
from skelgen.store import Series, Template, open_store
from tests.kernel_rows import kernel_rows
from tests.visitors import Served, fill, serve

#: What is JSON and no result, and why.
OTHERS = {"GET /api/openapi.json": "OpenAPI has a schema of its own"}
API = [one for one in ROUTES if one.is_api]
JOB = "0123456789ab"
NAMED = {
    "DELETE /api/runs/{identity}": "run-4000-4",
    "/api/runs/{identity}": "run-1000-2",
    "/api/rows/{identity}": "run-1000-2",
    "/api/models/{identity}": "heat",
    "/api/systems/{name}": "n1",
    "/api/systems/{name}/history": "n1",
    "/api/jobs/{identity}": JOB,
}
CURVE = "app=heat&family=quadratic&y=time&x=n&fixed=ranks%3D8&low=1000&high=4000"
#: What is asked of those that answer nothing otherwise, or different things.
ASKED = {
    "/api/ask": ("app=heat&at=n=2000,ranks=8", "app=heat&model=heat&at=n=2500,ranks=8"),
    "/api/compare": ("run=run-1000-2&run=run-2000-2",),
    "/api/model/coupling": ("app=loop&where=system=cluster,ranks=2&at=n=20,ranks=2",),
    "/api/model/curve": (CURVE,),
    "/api/model/default": ("app=heat&low-n=1000&high-n=4000",),
    "/api/model/template": ("template=a*n%5E2/ranks%2Bb&app=heat&at=n=1000,ranks=4",),
    "/api/systems": ("", "with=n1&with=cluster"),
    "/api/systems/{name}/history": ("fact=float_multiply_add",),
}
LINE = json.dumps({"row": "run", "application": "new", "time_s": 1.0, "source": "s"})
BODIES = {
    "/api/known": '"run-1000-2"',
    "/api/runs": LINE,
    "/api/jobs": json.dumps({"command": "model compare", "options": {"app": "heat"}}),
}


def shown(route: Route) -> str:
    return f"{route.method} {route.path}"


@pytest.fixture(scope="module")
def served(tmp_path_factory):
    """Return a server of a store with rows of each kind, and a job that is done."""
    folder = tmp_path_factory.mktemp("answers")
    place = str(folder / "store.db")
    fill(place)
    rows = [*kernel_rows((10, 20, 40)), Template("mine", "heat", "a*n", ("n",))]
    with open_store(place) as store:
        assert not store.add([*rows, Series("n1", "cpu", (1.7e9,), (0.5,))]).refused
    words = ["--store", place, "--app", "heat", "--name", "heat"]
    assert run(["model", "fit", *words, "--family", "normal-form"]) == 0
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SKELGEN_STATE", str(folder / "state"))
        jobs = JobFolder(place)
        jobs.make()
        jobs.write(
            Job(JOB, "Compare", ("model", "compare"), "you", 1.7e9, state=JobState.DONE)
        )
        jobs.keep_answer(
            JOB, b'{"format": 2, "result": "model-compare", "rest": 1e999}'
        )
        real = job_queue.run_bounded

        def sleeping(arguments, *rest, **named):
            asleep = [sys.executable, "-c", "import time; time.sleep(600)"]
            return real(asleep, *rest, **named)

        patch.setattr(job_queue, "run_bounded", sleeping)
        yield serve(place)


def answers(served: Served, route: Route) -> list[dict]:
    """Return what an address answers to all that is asked of it here."""
    client = served.client(Authorization=f"Bearer {served.token}")
    named = NAMED.get(shown(route), NAMED.get(route.path))
    path = route.path.format(identity=named, name=named)
    sent = {"content": BODIES[path]} if path in BODIES and route.changes else {}
    if route.takes_files:
        sent = {"files": {"file": ("runs.jsonl", LINE)}}
    found = []
    for query in ASKED.get(route.path, ("",)):
        answer = client.request(route.method, f"{path}?{query}", **sent)
        assert answer.status_code == 200, answer.text
        found.append(answer.json())
    if shown(route) == "POST /api/jobs":
        client.delete(f"{path}/{found[0]['identity']}")
    return found


def test_each_address_of_the_api_has_a_typed_answer():
    untyped = {shown(one) for one in API if not one.answers}
    assert untyped == {*OTHERS}
    assert {kind for one in API for kind in one.answers} <= {*RESULTS}


@pytest.mark.parametrize("route", [one for one in API if one.answers], ids=shown)
def test_what_an_address_answers_is_what_the_description_says(served, route):
    description = described(ROUTES, "")
    found = answers(served, route)
    kinds = {kind.result: kind.__name__ for kind in route.answers}
    assert {one["result"] for one in found} == {*kinds}
    for one in found:
        schema = {
            "$ref": f"#/components/schemas/{kinds[one['result']]}",
            "components": description["components"],
        }
        jsonschema_rs.validator_for(schema).validate(one)


def test_the_description_is_as_it_says_itself(served):
    (found,) = answers(served, next(one for one in API if shown(one) in OTHERS))
    content = found["paths"]["/api/openapi.json"]["get"]["responses"]["200"]["content"]
    schema = {
        **content["application/json"]["schema"],
        "components": found["components"],
    }
    jsonschema_rs.validator_for(schema).validate(found)
    assert "format" not in found


def test_a_job_has_the_answer_of_its_command(served):
    (found,) = answers(
        served, next(one for one in API if one.path in NAMED and "jobs" in one.path)
    )
    assert found["answer"] == {"format": 2, "result": "model-compare", "rest": None}
    (every,) = answers(served, next(one for one in API if one.path == "/api/jobs"))
    assert "answer" not in every["jobs"][-1]


def test_past_predictions_are_shown_with_their_records(served):
    (found,) = answers(
        served, next(one for one in API if one.path == "/api/predictions")
    )
    (one,) = found["predictions"]
    assert one["row"] == "prediction"
    assert one["interval"] == {"p5": 0.9, "p50": 1.0, "p95": 1.2}
    assert (one["id"], one["measured"]) == (one["identity"], None)
    assert found["applications"][0]["application"] == "heat"
    assert found["months"][0]["month"] == "2023-11"
    assert found["months"][0]["predictions"] == found["total"] == 1
