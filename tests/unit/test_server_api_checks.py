"""The API by its own description; ``python -m tests.api_checks`` asks for longer."""

from __future__ import annotations

import importlib.util

import pytest

from tests.api_checks import check
from tests.visitors import fill, serve

needs_tool = pytest.mark.skipif(
    importlib.util.find_spec("schemathesis") is None,
    reason="no schemathesis: pip install schemathesis",
)


@needs_tool
@pytest.mark.timeout(600)
def test_random_requests_find_the_api_as_it_is_described(tmp_path, monkeypatch):
    monkeypatch.setenv("SKELGEN_STATE", str(tmp_path / "state"))
    done = check(tmp_path, 11, "--max-examples", "2", "--phases", "coverage,fuzzing")
    assert done.returncode == 0, done.stdout[-4000:]
    assert "No issues found" in done.stdout or " passed" in done.stdout


@pytest.mark.parametrize(
    ("path", "allowed"),
    [("/api/runs", "GET, HEAD, POST"), ("/api/runs/r1", "DELETE, GET, HEAD")],
)
@pytest.mark.parametrize("prefix", ["", "/skelgen"])
def test_an_address_that_does_not_take_a_request_says_what_it_takes(
    tmp_path, path, allowed, prefix
):
    fill(tmp_path / "store.db")
    answer = serve(tmp_path / "store.db", prefix=prefix).client().put(f"{prefix}{path}")
    assert answer.status_code == 405
    assert answer.headers["allow"] == allowed
