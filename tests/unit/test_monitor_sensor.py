"""Samples of pretended machines: version 2, version 1, containers."""

import math
import os
from pathlib import Path

import pytest

from skelgen.monitor import sensor as sensors
from skelgen.monitor.cgroups import find_tree, memory_left, quota_of, weight_of
from skelgen.monitor.sensor import Sample, Sensor
from skelgen.monitor.spin import Spin
from tests.kernel_files import V2, Machine, v1_mounts


class Watched:
    """A sensor on a pretended machine, and its clock."""

    def __init__(self, machine: Machine, spins: Spin | None = None) -> None:
        self.now = 100.0
        self.used: list[tuple[int, float]] = []
        self.sensor = Sensor(
            str(machine.root),
            clock=lambda: self.now,
            own=lambda: 0.0,
            spins=None if spins is None else lambda: spins,
            affinity=lambda thread: set(machine.affinity.get(thread, machine.cores)),
            watched=lambda: self.used,
        )

    def after(self, seconds: float = 10.0) -> Sample:
        self.now += seconds
        return self.sensor.sample()


@pytest.fixture(autouse=True)
def ordinary(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have an ordinary priority, however the tests are run."""
    monkeypatch.setattr(os, "getpriority", lambda which, who: 0)


@pytest.fixture
def v2(tmp_path: Path) -> V2:
    return V2(tmp_path).up()


def idle(machine: Machine, *cores: int) -> None:
    for core in cores:
        machine.use(core, idle=1000)


def test_an_idle_machine_of_version_2_gives_a_whole_core(v2: V2) -> None:
    watched = Watched(v2)
    idle(v2, 0, 1, 2, 3)
    sample = watched.after()
    assert sample.cpu == pytest.approx(1.0)
    assert sample.steal == 0.0 and sample.pressure == 0.0


def test_what_runs_on_other_cores_than_ours_does_not_count(v2: V2) -> None:
    watched = Watched(v2)
    idle(v2, 0, 1)
    for core in (2, 3):
        v2.use(core, user=1000)
    v2.used("user.slice", 20.0)
    v2.write(f"{v2.TOP}/user.slice/cpuset.cpus.effective", "2-3\n")
    assert watched.after().cpu == pytest.approx(1.0)


def test_threads_of_our_own_group_share_its_cores(v2: V2) -> None:
    v2.thread(100, 500)
    v2.thread(101, 500)
    v2.affinity |= {100: {0, 1}, 101: {0, 1}}
    watched = Watched(v2)
    for _ in range(2):
        for core in (0, 1):
            v2.use(core, user=1000)
        v2.thread(100, 1500)
        v2.thread(101, 1500)
        for group in ("system.slice", "system.slice/slurmstepd.scope"):
            v2.used(group, 20.0)
        v2.write(f"{v2.JOB}/cpu.stat", "usage_usec 20000000\n")
        sample = watched.after()
        idle(v2, 2, 3)
        v2.thread(100, 2500)
        v2.thread(101, 2500)
    # two cores for two busy threads and a new one
    assert sample.cpu == pytest.approx(2 / 3, abs=0.01)


def test_a_core_is_shared_where_threads_are_bound_to_each(v2: V2) -> None:
    v2.thread(100, 500)
    v2.thread(101, 500)
    v2.affinity |= {100: {0}, 101: {1}}
    watched = Watched(v2)
    for step in (1, 2):
        for core in (0, 1):
            v2.use(core, user=1000)
        idle(v2, 2, 3)
        v2.thread(100, 500 + 1000 * step)
        v2.thread(101, 500 + 1000 * step)
        for group in ("system.slice", "system.slice/slurmstepd.scope"):
            v2.used(group, 20.0 * step)
        v2.write(f"{v2.JOB}/cpu.stat", f"usage_usec {20_000_000 * step}\n")
        sample = watched.after()
    assert sample.cpu == pytest.approx(0.5, abs=0.01)  # not 2/3


def busy_in_our_group(v2: V2, step: int) -> None:
    """Have threads 100 and 101 use both of our cores for 10 s."""
    for core in (0, 1):
        v2.use(core, user=1000)
    idle(v2, 2, 3)
    for thread in (100, 101):
        v2.thread(thread, 500 + 1000 * step)
        (v2.root / f"proc/{thread}/task/{thread}").mkdir(parents=True, exist_ok=True)
    for group in ("system.slice", "system.slice/slurmstepd.scope"):
        v2.used(group, 20.0 * step)
    v2.write(f"{v2.JOB}/cpu.stat", f"usage_usec {20_000_000 * step}\n")


@pytest.mark.parametrize("bound", [True, False])
def test_what_is_watched_is_no_load_of_others(v2: V2, bound: bool) -> None:
    for thread, core in ((100, 0), (101, 1)):
        v2.thread(thread, 500)
        v2.affinity[thread] = {core} if bound else {0, 1}
    watched = Watched(v2)
    assert math.isnan(watched.after().cpu_left)
    for step, used in ((1, {100: 10.0}), (2, {100: 10.0, 101: 10.0})):
        busy_in_our_group(v2, step)
        watched.used = list(used.items())
        sample = watched.after()
    assert sample.cpu == pytest.approx(0.5 if bound else 2 / 3, abs=0.01)
    assert sample.cpu_left == pytest.approx(1.0)


def test_others_next_to_what_is_watched_are_load(v2: V2) -> None:
    v2.write(f"{v2.JOB}/cpuset.cpus.effective", "0\n")
    for thread in (100, 101):
        v2.thread(thread, 500)
        v2.affinity[thread] = {0}
    watched = Watched(v2)
    for step in (1, 2):
        v2.use(0, user=1000)
        idle(v2, 1, 2, 3)
        for thread in (100, 101):
            v2.thread(thread, 500 + 500 * step)
            folder = v2.root / f"proc/{thread}/task/{thread}"
            folder.mkdir(parents=True, exist_ok=True)
        for group in ("system.slice", "system.slice/slurmstepd.scope"):
            v2.used(group, 10.0 * step)
        v2.write(f"{v2.JOB}/cpu.stat", f"usage_usec {10_000_000 * step}\n")
        watched.used = [(100, 5.0)]
        sample = watched.after()
    assert sample.cpu == pytest.approx(1 / 3, abs=0.01)
    assert sample.cpu_left == pytest.approx(0.5, abs=0.01)


def test_a_watched_process_in_another_group_is_taken_out_of_it(v2: V2) -> None:
    v2.write(f"{v2.TOP}/user.slice/cpu.weight", "300\n")
    v2.write("proc/200/cgroup", "0::/user.slice/run\n")
    (v2.root / f"{v2.TOP}/user.slice/run").mkdir()
    watched = Watched(v2)
    for core in range(4):
        v2.use(core, user=1000)
    v2.used("user.slice", 40.0)
    watched.used = [(200, 40.0)]
    sample = watched.after()
    assert sample.cpu == pytest.approx(0.8, abs=0.01)
    assert sample.cpu_left == pytest.approx(1.0)


def test_a_busy_sibling_of_an_outer_group_shares_by_weight(v2: V2) -> None:
    watched = Watched(v2)
    for core in range(4):
        v2.use(core, user=1000)
    v2.used("user.slice", 40.0)
    v2.write(f"{v2.TOP}/user.slice/cpu.weight", "300\n")
    sample = watched.after()
    # of two cores, for a weight of 100 and half of 300
    assert sample.cpu == pytest.approx(2 * 100 / 250, abs=0.01)


@pytest.mark.parametrize("quota", ["20000 100000", "50000 100000"])
def test_a_quota_of_version_2_is_a_limit(tmp_path: Path, quota: str) -> None:
    machine = V2(tmp_path).up(quota=quota)
    watched = Watched(machine)
    idle(machine, 0, 1, 2, 3)
    assert watched.after().cpu == pytest.approx(int(quota.partition(" ")[0]) / 1e5)


def test_processes_that_live_for_moments_count_in_their_group(v2: V2) -> None:
    v2.write(f"{v2.TOP}/system.slice/cpu.weight", "1000\n")
    v2.write(f"{v2.JOB}/cpuset.cpus.effective", "0\n")
    watched = Watched(v2)
    v2.use(0, user=1000)
    idle(v2, 1, 2, 3)
    for group in ("system.slice", "system.slice/slurmstepd.scope"):
        v2.used(group, 10.0)
    v2.write(f"{v2.JOB}/cpu.stat", "usage_usec 10000000\n")
    assert watched.after().cpu == pytest.approx(0.5, abs=0.01)


def test_a_quota_of_an_ancestor_is_a_limit(v2: V2) -> None:
    v2.write(f"{v2.TOP}/system.slice/cpu.max", "30000 100000\n")
    watched = Watched(v2)
    idle(v2, 0, 1, 2, 3)
    assert watched.after().cpu == pytest.approx(0.3)


def test_an_idle_group_only_gets_what_is_left(v2: V2) -> None:
    v2.write(f"{v2.TOP}/system.slice/cpu.idle", "1\n")
    watched = Watched(v2)
    for core in range(4):
        v2.use(core, user=1000)
    v2.used("user.slice", 40.0)
    assert watched.after().cpu < 0.02


def test_what_the_hypervisor_steals_is_not_available(v2: V2) -> None:
    watched = Watched(v2)
    for core in range(4):
        v2.use(core, user=500, steal=500)
    v2.used("user.slice", 20.0)
    sample = watched.after()
    assert sample.steal == pytest.approx(0.5)
    # half of two cores, for our weight and half of theirs; no more than half of one
    assert sample.cpu == pytest.approx(0.5, abs=0.01)


def test_memory_is_what_the_limit_of_our_group_leaves(v2: V2) -> None:
    watched = Watched(v2)
    idle(v2, 0, 1, 2, 3)
    assert watched.after().memory_bytes == 3_000_000_000


def test_bytes_and_pressure_are_those_since_the_last_sample(v2: V2) -> None:
    watched = Watched(v2)
    idle(v2, 0, 1, 2, 3)
    v2.network(1000 + 50_000, 2000 + 10_000)
    v2.pressure(2_500_000)
    sample = watched.after()
    assert sample.received == (("eth0", 5000.0),)
    assert sample.sent == (("eth0", 1000.0),)
    assert sample.pressure == pytest.approx(0.25)


def test_the_run_queue_is_added_up_by_the_kernel_where_it_can(v2: V2) -> None:
    line = "cpu{} 0 0 0 0 0 0 {} {} 9"
    v2.write("proc/schedstat", "\n".join(line.format(n, 0, 0) for n in range(4)))
    watched = Watched(v2)
    idle(v2, 0, 1, 2, 3)
    v2.write(
        "proc/schedstat",
        "\n".join(line.format(n, 10 * 10**9, 15 * 10**9) for n in range(4)),
    )
    assert watched.after().run_queue == pytest.approx(5.0)  # on cores 0 and 1


def test_the_run_queue_is_looked_at_where_the_kernel_does_not_add_up(v2: V2) -> None:
    watched = Watched(v2)
    watched.sensor.look()
    idle(v2, 0, 1, 2, 3)
    v2.write("proc/loadavg", "0 0 0 7/9 1\n")
    assert watched.after().run_queue == pytest.approx((2 + 6) / 2)


def test_what_a_kernel_lacks_is_left_open(v2: V2) -> None:
    (v2.root / "proc/pressure/cpu").unlink()
    (v2.root / "proc/meminfo").write_text("nothing\n")
    watched = Watched(v2)
    idle(v2, 0, 1, 2, 3)
    sample = watched.after()
    assert math.isnan(sample.pressure) and math.isnan(sample.memory_bytes)
    assert math.isnan(sample.traffic_bytes_per_s)
    assert sample.cpu == pytest.approx(1.0)


def test_memory_traffic_is_read_where_counters_are_mounted(v2: V2) -> None:
    at = "sys/fs/resctrl/mon_data/mon_L3_0{}/mbm_total_bytes"
    for part in (0, 1):
        v2.write(at.format(part), "1000\n")
    watched = Watched(v2)
    idle(v2, 0, 1, 2, 3)
    for part in (0, 1):
        v2.write(at.format(part), "51000\n")
    assert watched.after().traffic_bytes_per_s == pytest.approx(10_000)


def test_without_the_cpu_controller_our_group_has_no_share_of_its_own(v2: V2) -> None:
    for path in ("system.slice", "system.slice/slurmstepd.scope", "user.slice"):
        (v2.root / v2.TOP / path / "cpu.weight").unlink()
    (v2.root / v2.JOB / "cpu.weight").unlink()
    text = "0::/system.slice/slurmstepd.scope/job_7\n"
    mounts = (v2.root / "proc/self/mountinfo").read_text()
    tree = find_tree(text, mounts, root=str(v2.root))
    assert len(tree.folders) == 1 and tree.leaf.endswith("job_7")
    v2.thread(100, 500)
    v2.affinity |= {100: {0, 1}, 101: {0, 1}}
    watched = Watched(v2)
    for step in (1, 2):
        for core in (0, 1):
            v2.use(core, user=1000)
        idle(v2, 2, 3)
        v2.thread(100, 500 + 1000 * step)
        v2.thread(101, 500 + 1000 * step)
        sample = watched.after()
    assert sample.cpu == pytest.approx(2 / 3, abs=0.01)


def test_a_thread_of_the_root_ran_elsewhere_when_there_was_no_room_here(
    v2: V2,
) -> None:
    v2.affinity |= {100: {0}, 2: {0, 1, 2, 3}}
    v2.write(f"{v2.JOB}/cpuset.cpus.effective", "0\n")
    watched = Watched(v2)
    for step in (1, 2):
        for core in (0, 1):
            v2.use(core, user=1000)
        idle(v2, 2, 3)
        for thread in (100, 2):
            v2.thread(thread, 500 + 1000 * step)
        for group in ("system.slice", "system.slice/slurmstepd.scope"):
            v2.used(group, 10.0 * step)
        v2.write(f"{v2.JOB}/cpu.stat", f"usage_usec {10_000_000 * step}\n")
        sample = watched.after()
    assert sample.cpu == pytest.approx(0.5, abs=0.01)


def container(machine: Machine, quota: str) -> None:
    """A container that sees its own group as the root of version 2."""
    machine.begin(
        groups="0::/\n",
        mounts="29 22 0:26 / /sys/fs/cgroup ro - cgroup2 cgroup rw\n",
    )
    machine.group(
        "sys/fs/cgroup",
        {
            "cgroup.type": "domain",
            "cpu.max": quota,
            "cpu.weight": "100",
            "cpu.stat": "usage_usec 0",
            "cpuset.cpus.effective": "0-1",
        },
    )
    for core in (0, 1):
        machine.use(core, idle=100)


def test_neighbours_of_a_container_are_seen_by_what_they_use(tmp_path: Path) -> None:
    machine = Machine(tmp_path)
    container(machine, "max 100000")
    watched = Watched(machine)
    for core in (0, 1):
        machine.use(core, user=1000)
    assert watched.after().cpu == pytest.approx(2 / 3, abs=0.02)


def test_the_quota_of_a_container_counts(tmp_path: Path) -> None:
    machine = Machine(tmp_path)
    container(machine, "40000 100000")
    watched = Watched(machine)
    idle(machine, 0, 1)
    assert watched.after().cpu == pytest.approx(0.4)


def v1(machine: Machine, path: str = "/", **files: str) -> None:
    machine.begin(
        groups=f"4:memory:/\n3:cpuset:{path}\n2:cpu,cpuacct:{path}\n0::/\n",
        mounts=v1_mounts(),
    )
    root = {"cpu.shares": "1024", "cpuacct.usage_percpu": "0 0"}
    top = "sys/fs/cgroup/cpu,cpuacct"
    machine.group(top, {**root, "release_agent": ""})
    machine.group(f"{top}{path}", {**root, **files})
    for place in ("", path):
        machine.group(f"sys/fs/cgroup/cpuset{place}", {"cpuset.cpus": "0-1"})
    machine.group("sys/fs/cgroup/unified", {})
    machine.group("sys/fs/cgroup/memory", {})
    for core in (0, 1):
        machine.use(core, idle=100)


def test_version_1_counts_use_on_our_cores_only(tmp_path: Path) -> None:
    machine = Machine(tmp_path)
    v1(machine, "/batch", **{"cpu.shares": "1024"})
    beside = "sys/fs/cgroup/cpu,cpuacct/other"
    machine.group(beside, {"cpu.shares": "1024", "cpuacct.usage_percpu": "0 0"})
    machine.write("sys/fs/cgroup/cpuset/batch/cpuset.cpus", "1\n")
    watched = Watched(machine)
    for core in (0, 1):
        machine.use(core, user=1000)
    machine.write(f"{beside}/cpuacct.usage_percpu", "10000000000 10000000000\n")
    # half of its weight is on our core
    assert watched.after().cpu == pytest.approx(2 / 3, abs=0.01)


def test_version_1_has_quotas_and_shares(tmp_path: Path) -> None:
    machine = Machine(tmp_path)
    files = {"cpu.cfs_quota_us": "5000", "cpu.cfs_period_us": "10000"}
    v1(machine, "/batch", **files, **{"cpu.shares": "2048"})
    folder = f"{tmp_path}/sys/fs/cgroup/cpu,cpuacct/batch"
    assert quota_of(folder, 1) == 0.5 and weight_of(folder, 1) == 2.0
    watched = Watched(machine)
    idle(machine, 0, 1)
    assert watched.after().cpu == pytest.approx(0.5)


def test_a_machine_without_control_groups_is_watched_too(tmp_path: Path) -> None:
    machine = Machine(tmp_path)
    machine.begin(groups="", mounts="")
    machine.use(0, idle=100)
    machine.thread(50, 10)
    watched = Watched(machine)
    for step in (1, 2):
        machine.use(0, user=1000)
        machine.thread(50, 10 + 1000 * step)
        sample = watched.after()
    assert sample.cpu == pytest.approx(0.5, abs=0.01)


def test_sessions_share_evenly_where_the_kernel_says_so(tmp_path: Path) -> None:
    machine = Machine(tmp_path)
    machine.begin(groups="", mounts="")
    machine.write("proc/sys/kernel/sched_autogroup_enabled", "1\n")
    machine.use(0, idle=100)
    for thread in (50, 51, 52):
        machine.thread(thread, 10, session=50)
    watched = Watched(machine)
    for step in (1, 2):
        machine.use(0, user=999)
        for thread in (50, 51, 52):
            machine.thread(thread, 10 + 333 * step, session=50)
        sample = watched.after()
    assert sample.cpu == pytest.approx(0.5, abs=0.01)  # not a quarter


def test_spins_that_differ_correct_the_estimate(tmp_path: Path) -> None:
    machine = V2(tmp_path).up()
    watched = Watched(machine, spins=Spin(0.4, 0.02, 0.0))
    found = []
    for _ in range(4):
        idle(machine, 0, 1, 2, 3)
        found.append(watched.after())
    assert found[0].cpu == pytest.approx(1.0)  # one spin is no reason
    assert found[-1].cpu == pytest.approx(0.4)
    assert found[-1].passive == pytest.approx(1.0)


def test_memory_limits_of_version_1_are_read(tmp_path: Path) -> None:
    machine = Machine(tmp_path)
    machine.group(
        "memory/a",
        {
            "memory.limit_in_bytes": "1000000",
            "memory.usage_in_bytes": "900000",
            "memory.stat": "cache 5\ntotal_inactive_file 300000",
        },
    )
    machine.group("memory", {"memory.limit_in_bytes": "9223372036854771712"})
    folders = [f"{tmp_path}/memory", f"{tmp_path}/memory/a"]
    assert memory_left(folders, 1) == 400_000


def test_a_mount_of_a_part_of_the_tree_is_understood(tmp_path: Path) -> None:
    machine = Machine(tmp_path)
    machine.group("sys/fs/cgroup/cpu,cpuacct/inner", {"cpu.shares": "512"})
    tree = find_tree(
        "2:cpu,cpuacct:/docker/abc/inner\n",
        v1_mounts(seen_from="/docker/abc"),
        root=str(tmp_path),
    )
    assert [Path(f).name for f in tree.folders] == ["cpu,cpuacct", "inner"]
    assert not tree.whole


def test_interfaces_without_a_device_are_left_out_where_some_have_one(
    tmp_path: Path,
) -> None:
    machine = V2(tmp_path).up()
    machine.write("sys/class/net/eth0/device/vendor", "1")
    machine.write("sys/class/net/docker0/mtu", "1")
    assert sensors._counted_interfaces(str(tmp_path)) == {"eth0"}


def test_a_new_process_has_the_priority_of_the_monitor(
    v2: V2, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "getpriority", lambda which, who: 5)
    v2.write(f"{v2.JOB}/cpuset.cpus.effective", "0\n")
    v2.affinity |= {100: {0}}
    v2.thread(100, 500)
    watched = Watched(v2)
    for step in (1, 2):
        v2.use(0, user=1000)
        idle(v2, 1, 2, 3)
        v2.thread(100, 500 + 1000 * step)
        for group in ("system.slice", "system.slice/slurmstepd.scope"):
            v2.used(group, 10.0 * step)
        v2.write(f"{v2.JOB}/cpu.stat", f"usage_usec {10_000_000 * step}\n")
        sample = watched.after()
    weight = 1.25**-5
    assert sample.cpu == pytest.approx(weight / (1 + weight), abs=0.01)


def brief_at_the_root(machine: Machine, queue: int) -> float:
    """Return the estimate where others that nobody sees fill both cores.

    Our group has four times the weight of a thread.
    """
    v1(machine, "/batch", **{"cpu.shares": "4096"})
    machine.write("proc/loadavg", f"0 0 0 {queue + 1}/9 1\n")
    watched = Watched(machine)
    for core in (0, 1):
        machine.use(core, user=1000)
    return watched.after().cpu


def test_the_run_queue_says_how_many_there_are_that_nobody_sees(tmp_path: Path) -> None:
    # two cores for a weight of 4 and two or eight of 1, of which we want one core
    assert brief_at_the_root(Machine(tmp_path / "2"), 2) == pytest.approx(1.0)
    assert brief_at_the_root(Machine(tmp_path / "8"), 8) == pytest.approx(8 / 12)


@pytest.mark.parametrize(("queue", "cpu"), [(2, 2 / 3), (4, 1 / 2), (9, 1 / 2)])
def test_a_known_thread_is_one_of_those_that_wait(
    tmp_path: Path, queue: int, cpu: float
) -> None:
    machine = Machine(tmp_path)
    machine.begin(groups="", mounts="")
    machine.write("proc/loadavg", f"0 0 0 {queue + 1}/9 1\n")
    for core in (0, 1):
        machine.use(core, idle=100)
    machine.thread(50, 10)
    watched = Watched(machine)
    for step in (1, 2):
        for core in (0, 1):
            machine.use(core, user=1000)
        machine.thread(50, 10 + 1000 * step)
        sample = watched.after()
    # those that nobody sees had one core: as one thread, as three, and as eight
    assert sample.cpu == pytest.approx(cpu, abs=0.01)


def test_who_waits_in_a_counted_group_is_nobody_unseen(tmp_path: Path) -> None:
    machine = Machine(tmp_path)
    v1(machine, "/batch")
    beside = "sys/fs/cgroup/cpu,cpuacct/other"
    machine.group(beside, {"cpu.shares": "1024", "cpuacct.usage_percpu": "0 0"})
    machine.write("proc/loadavg", "0 0 0 9/9 1\n")
    watched = Watched(machine)
    for core in (0, 1):
        machine.use(core, user=1000)
    machine.write(f"{beside}/cpuacct.usage_percpu", "6000000000 6000000000\n")
    # 1.2 cores in a group of eight, perhaps, and 0.8 of one thread that nobody sees
    assert watched.after().cpu == pytest.approx(2 / 3, abs=0.01)
