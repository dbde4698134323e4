"""Make weather on the cluster: busy hosts and links that change, and a log of both.

What the law draws (`tests.testbed.law`) is set at its time and logged once it holds. A
host is made busy by processes that compute in a group inside its own, whose weight
leaves a new process the share that was drawn. A link is made slow by its rate, or by
traffic that really crosses it. A process of its own cleans up, whatever ends this one.
"""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, TextIO

from tests.testbed.cluster import NETWORK, Cluster, only_one, spawn
from tests.testbed.control_groups import TestbedError
from tests.testbed.law import Law, Setting, Weather
from tests.testbed.network import TRAFFIC, rate_bits_per_s

ROOT = Path(__file__).resolve().parents[2]
#: The group of what competes inside a host's, and, with the host's name, of the traffic
#: on its link: that is no load of the host.
_GROUP = "weather"
#: As many processes compete on a host.
_MOST_PROCESSES = 3
#: Above this traffic would take the cores that are measured [bit/s].
_MOST_TRAFFIC = 2e8
_SPIN = "while :; do :; done"


def made(setting: Setting, rate: str) -> dict[str, Any]:
    """Say how a setting is made.

    Parameters
    ----------
    setting : Setting
    rate : str
        Of a free link, such as ``100mbit``.

    Returns
    -------
    dict
        ``by`` is ``nothing``, ``processes`` (so many, ``weight`` being that of all of
        them against one process of the host), ``rate`` or ``traffic`` (with what it
        sends in each direction).
    """
    share = setting.share
    if setting.kind == "cpu":
        if share >= 1:
            return {"by": "nothing"}
        count = 1 + int(_MOST_PROCESSES * setting.lot)
        return {"by": "processes", "processes": count, "weight": 1 / share - 1}
    whole = rate_bits_per_s(rate)
    if share >= 1:
        return {"by": "rate", "rate": rate}
    if setting.lot < 0.5 or whole > _MOST_TRAFFIC:
        return {"by": "rate", "rate": f"{share * whole / 1e3:.0f}kbit"}
    return {"by": "traffic", "rate": rate, "bits_per_s": (1 - share) * whole}


def line_of(setting: Setting, rate: str) -> str:
    """Return the line of the log for a setting: JSON, without its end."""
    place = "host" if setting.kind == "cpu" else "link"
    said = {"time": setting.time, place: setting.host, "share": setting.share}
    return json.dumps({**said, "made": made(setting, rate)})


def head_of(seed: int, hosts: Sequence[str], rate: str, laws: Mapping[Any, Law]) -> str:
    """Return the first line of a log: what all others follow from."""
    said = {
        "weather": seed,
        "hosts": list(hosts),
        "rate": rate,
        "laws": {
            kind: [law.low, law.high, law.free, law.shortest_s, law.longest_s]
            for kind, law in laws.items()
        },
    }
    return json.dumps(said)


def blow(cluster: Cluster, weather: Weather, rate: str, log: TextIO) -> None:
    """Set all settings, each at its time, and log each when it holds.

    Parameters
    ----------
    cluster : Cluster
    weather : Weather
        Its times begin at 0.
    rate : str
        Of free links, such as ``100mbit``.
    log : file
        Gets lines of JSON, with times since 1970 in UTC [s].

    Raises
    ------
    TestbedError
        When another process makes weather there, or the cluster goes down.
    """
    refusal = f"the cluster {cluster.name} has weather already; end that first"
    with only_one(f"{cluster.state}-weather", refusal), cleaned_up(cluster):
        begin = time.monotonic()
        first = sum(one.time == 0 for one in weather.settings)
        for number, setting in enumerate(weather.settings, start=1):
            _sleep_until(begin + setting.time)
            put(cluster, setting, made(setting, rate))
            now = Setting(
                time.time(), setting.host, setting.kind, setting.share, setting.lot
            )
            print(line_of(now, rate), file=log, flush=True)
            if number == first:
                print(json.dumps({"begun": now.time}), file=log, flush=True)
        _sleep_until(begin + weather.end)
        print(json.dumps({"end": time.time()}), file=log, flush=True)


def _sleep_until(when: float) -> None:
    while (left := when - time.monotonic()) > 0:
        time.sleep(left)


def put(cluster: Cluster, setting: Setting, how: Mapping[str, Any]) -> None:
    """Leave so much of a host or of a link from now on; return when it holds.

    Parameters
    ----------
    cluster : Cluster
    setting : Setting
    how : mapping
        What `made` says.
    """
    if setting.kind == "cpu":
        _compete(cluster, setting.host, how)
    else:
        _slow(cluster, setting.host, how)


def _compete(cluster: Cluster, host: str, how: Mapping[str, Any]) -> None:
    groups = cluster.groups
    groups.clear(host, _GROUP, remove=how["by"] == "nothing")
    if how["by"] == "nothing":
        return
    takes = groups.compete(host, _GROUP, how["weight"])
    script = f"echo $$ > {takes} && {_SPIN}"
    for _ in range(how["processes"]):
        spawn(cluster.words(host, ["sh", "-c", script]))
    _wait_for(cluster, host, _GROUP, how["processes"])


def _slow(cluster: Cluster, host: str, how: Mapping[str, Any]) -> None:
    groups, traffic = cluster.groups, f"{_GROUP}-{host}"
    groups.clear(traffic, remove=False)
    groups.make(traffic, cpus=",".join(map(str, sorted(os.sched_getaffinity(0)))))
    if how["by"] == "rate":
        cluster.link(host, how["rate"])
        return
    rate, sent = how["rate"], how["bits_per_s"]
    cluster.divide(host, rate, sent / rate_bits_per_s(rate))
    enter = "".join(
        f"echo $$ > {folder}/cgroup.procs && " for folder in groups.folders(traffic)
    )
    ends = (
        (cluster.inside(host), f"{NETWORK}.254"),
        (cluster.at_head(), f"{NETWORK}.{host[1:]}"),
    )
    for where, peer in ends:
        words = [*where, sys.executable, "-c", TRAFFIC, peer, str(sent)]
        spawn(["sh", "-c", f'{enter} exec "$@"', "sh", *words])
    _wait_for(cluster, traffic, "", len(ends))


def _wait_for(cluster: Cluster, host: str, group: str, count: int) -> None:
    end = time.monotonic() + 60
    while len(cluster.groups.members(host, group)) != count:
        if time.monotonic() > end:
            raise TestbedError(f"{host}: what shall compete there did not start")
        time.sleep(0.01)


def calm(cluster: Cluster) -> None:
    """Undo all weather: its processes, its groups and its limits of links."""
    groups = cluster.groups
    for host in cluster.hosts:
        groups.clear(host, _GROUP)
        if groups.folders(f"{_GROUP}-{host}")[0].exists():
            cluster.link(host, "none")
            groups.clear(f"{_GROUP}-{host}")


@contextlib.contextmanager
def cleaned_up(cluster: Cluster) -> Iterator[None]:
    """Undo all weather at the end, by a process that no signal to this one ends.

    It waits for the end of its input, which the kernel closes when this process dies.
    """
    words = ["sh", "-c", 'trap "" INT TERM HUP; cat >/dev/null; exec "$@"', "sh"]
    words += [sys.executable, "-m", "tests.testbed", "calm"]
    with subprocess.Popen(
        words,
        stdin=subprocess.PIPE,
        cwd=ROOT,
        env={**os.environ, "TESTBED_NAME": cluster.name},
        start_new_session=True,
    ):
        yield


@contextlib.contextmanager
def beside(
    cluster: Cluster, log: Path, *words: str
) -> Iterator[subprocess.Popen[bytes]]:
    """Have weather by a process of its own while something else is done here.

    Parameters
    ----------
    cluster : Cluster
    log : Path
        Has the first settings when this begins.
    *words : str
        Options of ``python -m tests.testbed weather``, such as ``--seed``, ``1``.
    """
    line = [sys.executable, "-m", "tests.testbed", "weather", "--log", str(log), *words]
    environment = {**os.environ, "TESTBED_NAME": cluster.name}
    with subprocess.Popen(line, cwd=ROOT, env=environment) as process:
        try:
            _wait_for_log(process, log)
            yield process
        finally:
            process.terminate()


def _wait_for_log(process: subprocess.Popen[bytes], log: Path) -> None:
    """Wait until all that holds from the begin has been set."""
    while not log.exists() or '"begun"' not in log.read_text():
        if process.poll() is not None:
            raise TestbedError("the weather ended before it began")
        time.sleep(0.02)
