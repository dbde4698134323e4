"""Bring the cluster up, run programs on it, make it busy or slow, take it down."""

from __future__ import annotations

import contextlib
import os
import shlex
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.testbed.control_groups import Groups, TestbedError, find_groups
from tests.testbed.network import command, connect, divide, limit, rate_bits_per_s

NETWORK = "10.77.0"
HEAD = "head"

#: What competes with an application: arithmetic in registers, or streaming memory.
LOADS = {
    "arithmetic": "while True: pass",
    "memory": "import numpy as n\na = n.ones(1 << 24)\nwhile True: a *= 1.0000001",
}

#: The processes of a host: PID 1 of its own, which takes all others with it. TCP shall
#: fill the queue of a limited link, as it does at a real one, not guess its speed.
_HOST = """
exec >/dev/null 2>&1 </dev/null
hostname {host}
mount -t proc proc /proc
mkdir -p {state}/groups && mount --rbind /sys/fs/cgroup {state}/groups
mount -t sysfs sysfs /sys && mount --move {state}/groups /sys/fs/cgroup
mount -t tmpfs -o mode=1777 tmpfs /dev/shm
mount --bind {hosts} /etc/hosts
ip link set lo up
sysctl -qw net.ipv6.conf.all.disable_ipv6=1
for control in cubic reno; do
	sysctl -qw net.ipv4.tcp_congestion_control=$control 2>/dev/null && break
done
touch {state}/ready
trap 'exit 0' TERM
while :; do sleep 2147483647 & wait $!; done
"""

#: What launchers use for ssh, and how everything else gets into a host.
_REMOTE_SHELL = """#!/bin/sh
# [options] HOST COMMAND...
while [ "${{1#-}}" != "$1" ]; do
	case $1 in -l|-p|-o) shift 2 ;; *) shift ;; esac
done
host=$1
shift
[ -f "{state}/$host/enter" ] || {{ echo "ssh: no host $host" >&2; exit 255; }}
for group in {groups}; do echo $$ > "$group/$host/cgroup.procs"; done
exec nsenter $(cat "{state}/$host/enter") -- env -C "$PWD" TMPDIR=/dev/shm sh -c "$*"
"""


def lacking() -> str:
    """Say in one line why this machine cannot hold a cluster; empty when it can."""
    if os.geteuid() != 0:
        return "the test cluster needs root (namespaces, control groups, tc)"
    for program, package in (
        ("ip", "iproute2"),
        ("tc", "iproute2"),
        ("nsenter", "util-linux"),
        ("unshare", "util-linux"),
    ):
        if not shutil.which(program):
            return f"the test cluster needs {program} (Debian's {package})"
    try:
        find_groups("skelgen").hand_on()
    except TestbedError as error:
        return str(error)
    probe = ["unshare", "--net", "--uts", "--ipc", "--mount", "--pid", "--fork", "true"]
    if subprocess.run(probe, capture_output=True, check=False).returncode:
        return "the test cluster needs namespaces, which this container forbids"
    return ""


@dataclass(frozen=True, slots=True)
class Cluster:
    """A cluster by its name; its state lies in a folder, so any process can use it.

    Attributes
    ----------
    name : str
    """

    name: str = "skelgen"

    @property
    def state(self) -> Path:
        """Return the folder with what is known about the cluster."""
        return Path(f"/run/testbed-{self.name}")

    @property
    def groups(self) -> Groups:
        """Return the cluster's control groups."""
        return find_groups(f"testbed-{self.name}")

    @property
    def hosts(self) -> list[str]:
        """Return the names of the hosts, in order; empty when it is down."""
        names = [path.parent.name for path in self.state.glob("h*/enter")]
        return sorted((n for n in names if n != HEAD), key=lambda name: int(name[1:]))

    @property
    def shell(self) -> Path:
        """Return the program that runs a command in a host, as ssh would."""
        return self.state / "rsh"

    @contextlib.contextmanager
    def alone(self) -> Iterator[None]:
        """Keep other processes that ask for this off the cluster.

        By a name that goes with the process, whatever ends it: a file would have to be
        removed, and one may be locking it right then.

        Raises
        ------
        TestbedError
            When another process has it.
        """
        with only_one(
            str(self.state),
            f"another run uses the cluster {self.name}; wait for its end, or name "
            "another cluster: TESTBED_NAME=...",
        ):
            yield

    @contextlib.contextmanager
    def used(self, hosts: int = 2, *, share: float = 1.0) -> Iterator[None]:
        """Have it up for this process alone; take it down at the end, whatever ends it.

        See :meth:`up`. In the background, too, SIGINT and SIGTERM are interrupts; a
        lost session is one, unless it shall do no harm (``nohup``).
        """
        interrupted_by_signals()
        with self.alone():
            try:
                self.up(hosts, share=share)
                yield
            finally:
                self.down()

    def up(self, hosts: int = 2, *, share: float = 1.0) -> None:
        """Make hosts h1, h2, ... with one core each; an older cluster goes first.

        Parameters
        ----------
        hosts : int
        share : float
            Part of its core that each host gets at most [1].
        """
        self.down()
        cores = sorted(os.sched_getaffinity(0))
        try:
            self._prepare(hosts)
            for number in range(1, hosts + 1):
                core = cores[(number - 1) % len(cores)]
                self._start(f"h{number}", str(core), share)
        except BaseException:
            self.down()
            raise

    def _prepare(self, hosts: int) -> None:
        """Make the head: the bridge, from which launchers reach the hosts."""
        state, groups = self.state, self.groups
        state.mkdir(parents=True)
        names = ["127.0.0.1 localhost", f"{NETWORK}.254 {HEAD}"]
        names += [f"{NETWORK}.{n} h{n}" for n in range(1, hosts + 1)]
        (state / "hosts").write_text("\n".join(names) + "\n")
        quoted = " ".join(shlex.quote(str(folder)) for folder in groups.folders())
        self.shell.write_text(_REMOTE_SHELL.format(state=state, groups=quoted))
        self.shell.chmod(0o755)
        everywhere = ",".join(str(core) for core in sorted(os.sched_getaffinity(0)))
        groups.make(HEAD, cpus=everywhere)
        (state / HEAD).mkdir()
        spaces = [f"--{kind}={state}/{HEAD}/{kind}" for kind in ("net", "uts")]
        for space in spaces:
            Path(space.partition("=")[2]).touch()
        bridge = (
            f"hostname {HEAD}; ip link set lo up; "
            "ip link add br0 type bridge stp_state 0 forward_delay 0 mcast_snooping 0; "
            f"ip link set br0 up; ip addr add {NETWORK}.254/24 dev br0; "
            "sysctl -qw net.ipv6.conf.all.disable_ipv6=1"
        )
        command("unshare", *spaces, "--", "sh", "-ec", bridge)
        (state / HEAD / "enter").write_text(" ".join(spaces))

    def _start(self, host: str, core: str, share: float) -> None:
        """Start a host and wire it to the bridge."""
        state = self.state / host
        state.mkdir()
        self.groups.make(host, cpus=core, share=share)
        script = _HOST.format(host=host, state=state, hosts=self.state / "hosts")
        spaces = "--net --uts --ipc --mount --pid --fork --kill-child".split()
        words = ["unshare", *spaces, "--propagation", "private", "sh", "-c", script]
        # It says its number itself: nothing can come between its start and that.
        told = ["sh", "-c", 'echo $$ >"$0" && exec "$@"', str(state / "holder")]
        holder = spawn([*told, *words])
        end = time.monotonic() + 60
        while not (state / "ready").exists():
            if not Path(f"/proc/{holder}").exists() or time.monotonic() > end:
                raise TestbedError(f"host {host} did not start")
            time.sleep(0.02)
        children = Path(f"/proc/{holder}/task/{holder}/children").read_text()
        pid = int(children.split()[0])
        inside = ("nsenter", "-t", str(pid), "-n", "--")
        connect(self.at_head(), inside, pid, host)
        address = f"{NETWORK}.{host[1:]}/24"
        command(*inside, "ip", "addr", "add", address, "dev", "eth0")
        command(*inside, "ip", "link", "set", "eth0", "up")
        (state / "enter").write_text(f"-t {pid} -n -u -i -m -p")

    def at_head(self) -> list[str]:
        """Return the words that run a command where the bridge is."""
        return ["nsenter", f"--net={self.state}/{HEAD}/net", "--"]

    def words(self, host: str, program: Sequence[str]) -> list[str]:
        """Return the command that runs a program in a host, or at the ``head``."""
        return [str(self.shell), host, shlex.join(program)]

    def run(self, host: str, program: Sequence[str], **options: Any) -> Any:
        """Run a program in a host or at the head, where launchers find their way.

        Parameters
        ----------
        host : str
        program : sequence of str
        **options
            Of :func:`subprocess.run`.
        """
        options.setdefault("env", {**os.environ, **self.environment()})
        return subprocess.run(self.words(host, program), check=False, **options)

    def environment(self) -> dict[str, str]:
        """Return what makes ``mpirun -hosts h1,h2`` of any MPI work at the head."""
        shell = str(self.shell)
        return {
            "HYDRA_LAUNCHER": "ssh",
            "HYDRA_LAUNCHER_EXEC": shell,
            "HYDRA_IFACE": "br0",
            "PRTE_MCA_plm_ssh_agent": shell,
            "PRTE_MCA_hwloc_default_binding_policy": "none",
            "PRTE_MCA_rmaps_default_mapping_policy": "node:oversubscribe",
            "PRTE_ALLOW_RUN_AS_ROOT": "1",
            "PRTE_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
            "OMPI_ALLOW_RUN_AS_ROOT": "1",
            "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
            "OMPI_MCA_plm_rsh_agent": shell,
            "OMPI_MCA_hwloc_base_binding_policy": "none",
            "OMPI_MCA_pml": "ob1",
            "OMPI_MCA_btl_tcp_if_include": "eth0",
        }

    def link(self, host: str, rate: str) -> None:
        """Limit the link of a host, or of ``all``; the rate ``none`` frees it."""
        if rate != "none":
            rate_bits_per_s(rate)
        for name in self.chosen(host):
            limit(self.at_head(), self.inside(name), name, rate)

    def divide(self, host: str, rate: str, taken: float) -> None:
        """Limit the link of a host, and keep a part of it [1] for `network.TRAFFIC`."""
        for name in self.chosen(host):
            divide(self.at_head(), self.inside(name), name, rate, taken)

    def inside(self, host: str) -> list[str]:
        """Return the words that run a command in the network of a host."""
        pid = (self.state / host / "enter").read_text().split()[1]
        return ["nsenter", "-t", pid, "-n", "--"]

    def load(self, host: str, count: int, kind: str = "arithmetic") -> None:
        """Have processes compete on a host, or on ``all``; 0 stops them."""
        for name in self.chosen(host):
            listed = self.state / name / "load"
            for pid in listed.read_text().split() if listed.exists() else ():
                _kill_group(int(pid))
            words = self.words(name, [sys.executable, "-c", LOADS[kind]])
            started = [spawn(words) for _ in range(count)]
            listed.write_text(" ".join(str(pid) for pid in started))
            end = time.monotonic() + 60
            while len(self.competing(name)) != count:
                if time.monotonic() > end:
                    raise TestbedError(f"host {name}: the load did not change")
                time.sleep(0.02)

    def competing(self, host: str) -> list[int]:
        """Return the processes that `load` keeps running on a host."""
        begin = f"{sys.executable}\0-c\0".encode()
        ends = tuple(f"{text}\0".encode() for text in LOADS.values())
        found = []
        for word in (self.groups.folders(host)[0] / "cgroup.procs").read_text().split():
            try:
                line = Path(f"/proc/{word}/cmdline").read_bytes()
            except OSError:  # it has ended
                continue
            if line.startswith(begin) and line.endswith(ends):
                found.append(int(word))
        return found

    def chosen(self, host: str) -> list[str]:
        """Return the host of this name, or ``all``.

        Raises
        ------
        TestbedError
            When there is no such host; the message names those there are.
        """
        if host != "all" and host not in self.hosts:
            known = ", ".join(self.hosts) or "the cluster is down"
            raise TestbedError(f"no host {host}; there are: {known}")
        return self.hosts if host == "all" else [host]

    def down(self) -> None:
        """Remove everything; does no harm when there is nothing."""
        for holder in self.state.glob("h*/holder"):
            if number := holder.read_text().strip():
                _kill_group(int(number))
        self.groups.remove()
        for kind in ("net", "uts"):
            mounted = self.state / HEAD / kind
            if mounted.exists():
                words = ["umount", str(mounted)]
                subprocess.run(words, capture_output=True, check=False)
        shutil.rmtree(self.state, ignore_errors=True)


@contextlib.contextmanager
def only_one(name: str, otherwise: str) -> Iterator[None]:
    """Have a name that one process has at a time, until it ends.

    Raises
    ------
    TestbedError
        When another process has it; what it says is given.
    """
    with socket.socket(socket.AF_UNIX) as taken:
        try:
            taken.bind(f"\0{name}")
        except OSError as error:
            raise TestbedError(otherwise) from error
        yield


def interrupted_by_signals() -> None:
    """Have what would end this process be an interrupt, in the background, too."""
    numbers = [signal.SIGINT, signal.SIGTERM]
    if signal.getsignal(signal.SIGHUP) is not signal.SIG_IGN:
        numbers.append(signal.SIGHUP)
    for number in numbers:
        signal.signal(number, signal.default_int_handler)


def spawn(words: Sequence[str]) -> int:
    """Start a process that outlives us, in a session of its own; return its number."""
    script = 'setsid "$@" </dev/null >/dev/null 2>&1 & echo $!'
    line = ["sh", "-c", script, "sh", *words]
    return int(subprocess.run(line, stdout=subprocess.PIPE, check=True).stdout)


def _kill_group(leader: int) -> None:
    try:
        os.killpg(leader, signal.SIGKILL)
    except ProcessLookupError:
        return
