"""Systems of several hosts: the test cluster's, whose links and load are known."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.mpis import OWN
from tests.needs import needs_own
from tests.testbed.cluster import Cluster, lacking

REASON = lacking()
ROOT = Path(__file__).parents[2]
pytestmark = [
    pytest.mark.root,
    pytest.mark.mpi,
    pytest.mark.skipif(bool(REASON), reason=REASON),
    needs_own,
]


@pytest.fixture
def cluster() -> Iterator[Cluster]:
    made = Cluster(f"systems-{os.getpid()}")
    made.up(2)
    yield made
    made.down()


def measured(cluster: Cluster, folder: Path, *words: str) -> dict[str, Any]:
    environment = {
        **os.environ,
        **cluster.environment(),
        "PATH": f"{OWN[0].compiler.parent}:{os.environ['PATH']}",
        "PYTHONPATH": str(ROOT),
        "SKELGEN_CACHE": str(folder / "cache"),
    }
    system = [sys.executable, "-m", "skelgen", "system"]
    file = str(folder / "system.json")
    line = [*system, "measure", "--budget", "4s", "-o", file, "--json", *words]
    done = cluster.run("head", line, capture_output=True, text=True, env=environment)
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def test_a_pair_has_facts_of_both_hosts_and_of_the_link_between_them(
    cluster: Cluster, tmp_path: Path
) -> None:
    cluster.link("all", "100mbit")
    found = measured(cluster, tmp_path, "--hosts", "h1,h2", "--system", "pair")
    first, second = found["hosts"]
    assert (first["host"], second["host"]) == ("h1", "h2")
    for host in (first, second):
        names = {one["name"] for one in host["facts"]}
        assert {"integer_add", "read_16mib", "platform_contribution"} <= names
        assert {one["host"] for one in host["facts"]} == {host["host"]}
        assert {one["system"] for one in host["facts"]} == {"pair"}
        # The cards of these hosts are no cards.
        assert "network_nominal" not in names
    operations = {one["operation"]: one for one in first["messages"]}
    assert operations["SR"]["hosts"] == operations["BC"]["hosts"] == ["h1", "h2"]
    assert operations["SR"]["ranks"] == 2
    bandwidth = operations["SR"]["bandwidth_bytes_per_s"]
    assert bandwidth > 0
    if not operations["SR"]["doubt"]:  # nobody else had the cores meanwhile
        # The link's rate is 12.5 MB/s, less what headers take; bursts go faster.
        assert 8e6 < bandwidth < 16e6
    # Sockets take what is sent, whether or not its receive is posted.
    assert operations["SR"]["eager_bytes"] >= 0


def test_a_busy_host_is_doubted_and_the_quiet_one_less(
    cluster: Cluster, tmp_path: Path
) -> None:
    cluster.load("h1", 2)
    found = measured(cluster, tmp_path, "--hosts", "h1,h2")
    assert "busy" in [one["code"] for one in found["doubts"]]
    first = {one["name"]: one for one in found["hosts"][0]["facts"]}
    assert first["integer_add"]["doubt"].startswith(
        "busy: other processes had the core"
    )
    assert first["cores"]["doubt"] == ""
