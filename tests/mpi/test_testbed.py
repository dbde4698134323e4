"""The test cluster: hosts of their own, links with limits, load, and nothing left."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path

import pytest

from tests.mpis import MPIS, TestMpi
from tests.processes import alive, comes_true
from tests.testbed.cluster import Cluster, lacking
from tests.testbed.control_groups import Groups, TestbedError, find_groups
from tests.testbed.network import rate_bits_per_s
from tests.testbed.scenarios import SCENARIOS

REASON = lacking()
needs_cluster = [
    pytest.mark.root,
    pytest.mark.skipif(bool(REASON), reason=REASON),
]

#: Sends 1 MiB to and fro, prints where it ran and how fast that was [bit/s].
PING = Path(__file__).with_name("ping.c")


@pytest.fixture
def cluster() -> Iterator[Cluster]:
    made = Cluster(f"test-{os.getpid()}")
    made.up(2)
    yield made
    made.down()
    assert not made.state.exists()
    assert not any(folder.exists() for folder in made.groups.folders())


def said(cluster: Cluster, host: str, script: str) -> str:
    done = cluster.run(host, ["sh", "-c", script], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return str(done.stdout).strip()


def test_one_run_has_a_cluster_for_itself_and_leaves_no_file() -> None:
    cluster = Cluster(f"test-{os.getpid()}")
    for _ in range(2):
        with (
            cluster.alone(),
            pytest.raises(TestbedError, match="another run uses"),
            cluster.alone(),
        ):
            pass
    assert not list(cluster.state.parent.glob(f"{cluster.state.name}*"))


@pytest.mark.parametrize(
    ("before", "then"),
    [
        (signal.SIG_DFL, signal.default_int_handler),
        (signal.SIG_IGN, signal.SIG_IGN),  # by nohup
    ],
)
def test_a_lost_session_takes_the_cluster_down(
    before: signal.Handlers, then: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    down: list[Cluster] = []
    monkeypatch.setattr(Cluster, "up", lambda *_, **__: None)
    monkeypatch.setattr(Cluster, "down", lambda *one: down.extend(one))
    cluster = Cluster(f"test-{os.getpid()}")
    ends = pytest.raises(KeyboardInterrupt) if callable(then) else nullcontext()
    numbers = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
    kept = [signal.getsignal(number) for number in numbers]
    signal.signal(signal.SIGHUP, before)
    try:
        with ends, cluster.used():
            assert signal.getsignal(signal.SIGHUP) is then
            assert not down
            if callable(then):
                then(signal.SIGHUP, None)
    finally:
        for number, handler in zip(numbers, kept, strict=True):
            signal.signal(number, handler)
    assert down == [cluster]


class TestHosts:
    pytestmark = needs_cluster

    def test_each_host_has_name_address_core_and_processes_of_its_own(
        self, cluster: Cluster
    ) -> None:
        assert cluster.hosts == ["h1", "h2"]
        cores = sorted(os.sched_getaffinity(0))
        for number, host in enumerate(cluster.hosts, 1):
            assert said(cluster, host, "hostname") == host
            assert f"inet 10.77.0.{number}/24" in said(cluster, host, "ip addr")
            allowed = said(cluster, host, "taskset -pc $$").rpartition(": ")[2]
            assert allowed == str(cores[(number - 1) % len(cores)])
            assert int(said(cluster, host, "ls /proc | grep -c '^[0-9]'")) < 9
            assert said(cluster, host, "ls /dev/shm") == ""

    def test_down_takes_every_process_with_it(self, cluster: Cluster) -> None:
        cluster.load("all", 2)
        busy = [pid for host in cluster.hosts for pid in cluster.competing(host)]
        assert len(busy) == 4
        cluster.down()
        assert comes_true(lambda: not any(alive(pid) for pid in busy))
        cluster.down()

    def test_a_start_that_fails_leaves_nothing(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        started: list[int] = []

        def unwired(_: object, __: object, pid: int, ___: str) -> None:
            started.append(pid)
            raise TestbedError("no bridge")

        monkeypatch.setattr("tests.testbed.cluster.connect", unwired)
        made = Cluster(f"fails-{os.getpid()}")
        with pytest.raises(TestbedError, match="no bridge"):
            made.up(1)
        assert len(started) == 1
        assert comes_true(lambda: not alive(started[0]))
        assert not made.state.exists()

    def test_a_scenario_replaces_the_one_before(self, cluster: Cluster) -> None:
        both = next(s for s in SCENARIOS if s.busy == "h1" and s.slow == "h1")
        both.apply(cluster, quiet="1gbit", slow="100mbit")
        assert "rate 100Mbit" in said(cluster, "h1", "tc qdisc show dev eth0")
        assert "rate 1Gbit" in said(cluster, "h2", "tc qdisc show dev eth0")
        assert [len(cluster.competing(host)) for host in cluster.hosts] == [1, 0]
        SCENARIOS[0].apply(cluster, quiet="1gbit", slow="100mbit")
        assert "rate 1Gbit" in said(cluster, "h1", "tc qdisc show dev eth0")
        assert cluster.competing("h1") == []

    def test_an_unknown_host_is_named_with_those_there_are(
        self, cluster: Cluster
    ) -> None:
        with pytest.raises(TestbedError, match=r"no host h7; there are: h1, h2"):
            cluster.link("h7", "1gbit")
        done = cluster.run("h7", ["true"], capture_output=True, text=True)
        assert done.returncode == 255
        assert done.stderr == "ssh: no host h7\n"

    @pytest.mark.mpi
    @pytest.mark.parametrize("mpi", MPIS, ids=[mpi.name for mpi in MPIS])
    def test_messages_of_any_mpi_cross_the_limited_link(
        self, cluster: Cluster, mpi: TestMpi, tmp_path: Path
    ) -> None:
        program = tmp_path / "ping"
        compile_line = [str(mpi.compiler), str(PING), "-o", str(program)]
        subprocess.run(compile_line, check=True)
        SCENARIOS[4].apply(cluster, quiet="1gbit", slow="100mbit")
        hosts = "-hosts" if len(mpi.launcher) == 1 else "--host"
        line = [mpi.launcher[0], hosts, "h1,h2", "-n", "2", str(program)]
        for _ in range(2):  # one of some hundred launches was seen to hang
            limited = ["timeout", "--kill-after=5", "100", *line]
            done = cluster.run("head", limited, capture_output=True, text=True)
            if done.returncode not in (124, 137):
                break
        assert done.returncode == 0, done.stderr
        *names, speed = done.stdout.split()
        assert sorted(names) == ["h1", "h2"]
        assert 0 < float(speed) < 105e6


def test_by_hand_an_impossible_wish_is_one_line_with_the_kind_of_failure() -> None:
    line = [sys.executable, "-m", "tests.testbed", "link", "h1", "fast"]
    environment = {**os.environ, "TESTBED_NAME": "nowhere"}
    done = subprocess.run(
        line, capture_output=True, text=True, env=environment, check=False
    )
    assert done.returncode == (4 if REASON else 5)
    assert done.stderr.startswith("testbed: ")
    assert done.stderr.count("\n") == 1


@pytest.mark.parametrize("text", ["fast", "10", "mbit", "0mbit", "-1gbit"])
def test_what_is_no_rate_is_refused(text: str) -> None:
    with pytest.raises(TestbedError, match="no rate; write one like"):
        rate_bits_per_s(text)


class TestControlGroups:
    def test_version_1_has_a_tree_for_each_controller(self, tmp_path: Path) -> None:
        for tree in ("cpu", "cpuset"):
            (tmp_path / tree).mkdir()
            (tmp_path / tree / "cgroup.procs").touch()
        (tmp_path / "cpuset/cpuset.cpus").write_text("0-3")
        (tmp_path / "cpuset/cpuset.mems").write_text("0")
        groups = find_groups("x", mounted=tmp_path)
        groups.make("h1", cpus="2", share=0.5, period_us=20000)
        assert groups.version == 1
        assert (tmp_path / "cpuset/x/cpuset.cpus").read_text() == "0-3"
        assert (tmp_path / "cpuset/x/h1/cpuset.cpus").read_text() == "2"
        assert (tmp_path / "cpuset/x/h1/cpuset.mems").read_text() == "0"
        assert (tmp_path / "cpu/x/h1/cpu.cfs_period_us").read_text() == "20000"
        assert (tmp_path / "cpu/x/h1/cpu.cfs_quota_us").read_text() == "10000"

    @pytest.mark.parametrize(("modest", "weight"), [("", "10000"), ("0", "200")])
    def test_version_2_has_one_tree_that_hands_on_controllers(
        self, modest: str, weight: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("TESTBED_MODEST", modest)
        (tmp_path / "cgroup.procs").touch()
        (tmp_path / "cgroup.controllers").write_text("cpuset cpu io memory")
        groups = find_groups("x", mounted=tmp_path)
        groups.make("h1", cpus="2", share=0.5)
        assert groups == Groups((tmp_path,), 2, "x")
        for folder in (tmp_path, tmp_path / "x"):
            assert (folder / "cgroup.subtree_control").read_text() == "+cpu +cpuset"
        assert (tmp_path / "x/cpu.weight").read_text() == weight
        assert (tmp_path / "x/h1/cpuset.cpus").read_text() == "2"
        assert (tmp_path / "x/h1/cpu.max").read_text() == "5000 10000"

    @pytest.mark.parametrize("version", [1, 2])
    def test_a_group_inside_a_hosts_has_the_weight_of_so_many_processes(
        self, tmp_path: Path, version: int
    ) -> None:
        groups = Groups((tmp_path,), version, "x")
        host = tmp_path / "x/h1"
        host.mkdir(parents=True)
        takes = groups.compete("h1", "weather", 2.5)
        if version == 1:
            assert (host / "weather/cpu.shares").read_text() == "2560"
            assert takes == host / "weather/cgroup.procs"
        else:
            assert (host / "weather/cgroup.type").read_text() == "threaded"
            assert (host / "cgroup.subtree_control").read_text() == "+cpu"
            assert (host / "weather/cpu.weight").read_text() == "250"
            assert takes == host / "weather/cgroup.threads"
        takes.write_text("17\n18\n")
        assert groups.members("h1", "weather") == [17, 18]
        assert groups.members("h2") == []

    def test_a_tree_that_hands_nothing_on_is_lacking_with_the_reason(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        (tmp_path / "cgroup.procs").touch()
        (tmp_path / "cgroup.controllers").write_text("cpuset cpu")
        (tmp_path / "cgroup.subtree_control").mkdir()  # writing fails, as if busy
        found = find_groups("x", mounted=tmp_path)
        monkeypatch.setattr("tests.testbed.cluster.find_groups", lambda _: found)
        monkeypatch.setattr("os.geteuid", lambda: 0)
        monkeypatch.setattr("shutil.which", lambda name: name)
        assert "cannot hand on cpu and cpuset" in lacking()

    def test_a_machine_without_them_is_told_what_to_do(self, tmp_path: Path) -> None:
        with pytest.raises(TestbedError, match="no control groups with cpu and cpuset"):
            find_groups("x", mounted=tmp_path)
