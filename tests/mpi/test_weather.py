"""Weather on the test cluster: shares hold, the log is true, nothing is left."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.processes import alive, comes_true
from tests.testbed.cluster import Cluster, lacking
from tests.testbed.law import Setting, draw, read_log
from tests.testbed.weather import calm, made, put

ROOT = Path(__file__).resolve().parents[2]
pytestmark = [
    pytest.mark.root,
    pytest.mark.skipif(bool(lacking()), reason=lacking()),
]

#: Has a core for a while; prints the part that it got of what it and its rivals got.
SPIN = """
import sys, time
from pathlib import Path
def theirs():
    return sum(
        int(Path(f"/proc/{pid}/schedstat").read_text().split()[0])
        for pid in Path(sys.argv[1]).read_text().split()
    )
before, had = theirs(), time.process_time_ns()
while time.process_time_ns() - had < 0.08e9:
    pass
mine = time.process_time_ns() - had
print(mine / (mine + theirs() - before))
"""


@pytest.fixture(scope="module")
def cluster() -> Iterator[Cluster]:
    made = Cluster(f"weather-{os.getpid()}")
    made.up(2)
    try:
        yield made
    finally:
        made.down()


def left_over(cluster: Cluster) -> list[str]:
    """Return what weather has made and not taken away."""
    groups = [str(found) for found in cluster.groups.folders()[0].rglob("*weather*")]
    words = [*cluster.at_head(), "tc", "qdisc"]
    queues = subprocess.run(words, capture_output=True, text=True, check=True).stdout
    return groups + [one for one in queues.splitlines() if "tbf" in one or "htb" in one]


@pytest.mark.parametrize(("share", "lot"), [(0.065, 0.0), (0.3, 0.5), (0.72, 0.9)])
def test_a_new_process_gets_the_share_that_was_drawn(
    cluster: Cluster, share: float, lot: float
) -> None:
    setting = Setting(0.0, "h1", "cpu", share, lot)
    how = made(setting, "100mbit")
    put(cluster, setting, how)
    rivals = cluster.groups.members("h1", "weather")
    assert len(rivals) == how["processes"]
    listed = cluster.groups.folders("h1")[0] / "weather/cgroup.procs"
    line = [sys.executable, "-c", SPIN, str(listed)]
    done = cluster.run("h1", line, capture_output=True, text=True)
    # Of what both get: other tests use the core as well.
    assert abs(float(done.stdout) - share) < 0.04, done.stderr
    calm(cluster)
    assert not left_over(cluster) and not any(alive(pid) for pid in rivals)


def sent_bytes(classes: str, name: str) -> int:
    """Return what a class sent, from what tc prints."""
    found = re.search(rf"class htb {name} .*\n *Sent (\d+) bytes", classes)
    assert found
    return int(found[1])


def test_traffic_crosses_the_link_in_both_directions(cluster: Cluster) -> None:
    setting = Setting(0.0, "h1", "bandwidth", 0.25, lot=0.9)
    put(cluster, setting, made(setting, "100mbit"))

    for where, device in ((cluster.inside("h1"), "eth0"), (cluster.at_head(), "sw1")):
        line = [*where, "tc", "-s", "class", "show", "dev", device]

        def said(line: list[str] = line) -> str:
            return subprocess.check_output(line, text=True)

        assert comes_true(lambda said=said: sent_bytes(said(), "1:10") > 1e5)
        assert "rate 75Mbit ceil 75Mbit" in said()
        assert "rate 25Mbit ceil 100Mbit" in said()
    # Traffic is no load of the host.
    assert not cluster.groups.members("h1")
    calm(cluster)
    assert not left_over(cluster)


def weather(cluster: Cluster, *words: str) -> subprocess.Popen[str]:
    line = [sys.executable, "-m", "tests.testbed", "weather", "--hold", "0.2s,0.4s"]
    environment = {**os.environ, "TESTBED_NAME": cluster.name}
    return subprocess.Popen(
        [*line, *words], cwd=ROOT, env=environment, text=True, stderr=subprocess.PIPE
    )


@pytest.mark.parametrize("number", [None, signal.SIGINT, signal.SIGKILL])
def test_weather_leaves_a_true_log_and_nothing_else_whatever_ends_it(
    cluster: Cluster, tmp_path: Path, number: signal.Signals | None
) -> None:
    log = tmp_path / "weather.jsonl"
    length = "1h" if number else "1s"
    with weather(cluster, "--for", length, "--log", str(log), "--seed", "3") as blows:
        assert comes_true(lambda: log.exists() and log.read_text().count("\n") > 8)
        if number:
            assert left_over(cluster)
            with weather(cluster) as other:
                assert other.wait() == 5
                said = other.communicate()[1]
                assert said.endswith("has weather already; end that first\n")
                assert said.count("\n") == 1
            blows.send_signal(number)
        _, said = blows.communicate()
    assert said == ""
    assert blows.returncode == {None: 0, signal.SIGINT: 130}.get(number, -9)
    assert comes_true(lambda: not left_over(cluster))
    found = read_log(log).settings
    drawn = draw(3, cluster.hosts, 3600.0).settings
    assert {one.share for one in found} <= {one.share for one in drawn}
    assert [one.time for one in found] == sorted(one.time for one in found)
