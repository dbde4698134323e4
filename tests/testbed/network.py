"""The network of the cluster: a bridge, a link for each host, limits."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Sequence

from tests.testbed.control_groups import TestbedError

#: Bytes that wait in a limited link at most.
_QUEUE_BYTES = 1_000_000
#: What passes at once: half a millisecond at the rate, three frames at least.
_BURST_S, _FEWEST_BYTES = 0.0005, 4542

_UNITS = {"kbit": 1e3, "mbit": 1e6, "gbit": 1e9}


def command(*words: str) -> None:
    """Run a command; raise with what it wrote when it fails."""
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    if done.returncode:
        said = (done.stderr.strip() or done.stdout.strip()).splitlines()
        raise TestbedError(f"{' '.join(words)}: {said[-1] if said else 'failed'}")


def rate_bits_per_s(text: str) -> float:
    """Read ``10mbit`` [bit/s].

    Raises
    ------
    TestbedError
        When the text is no rate.
    """
    match = re.fullmatch(r"([0-9.]+)(kbit|mbit|gbit)", text)
    if not match or float(match[1]) <= 0:
        raise TestbedError(f"{text}: no rate; write one like 100mbit or 1gbit")
    return float(match[1]) * _UNITS[match[2]]


def connect(switch: Sequence[str], inside: Sequence[str], pid: int, host: str) -> None:
    """Give a host its link.

    Parameters
    ----------
    switch, inside : sequence of str
        Words before a command that run it at the switch and in the host.
    pid : int
        A process of the host.
    host : str
        With its number at the end: ``h3``.
    """
    number = host.lstrip("h")
    name = ["name", "eth0", "netns", str(pid)]
    ip = "ip", "link"
    command(*switch, *ip, "add", f"sw{number}", "type", "veth", "peer", *name)
    command(*switch, *ip, "set", f"sw{number}", "master", "br0", "up")


def limit(switch: Sequence[str], inside: Sequence[str], host: str, rate: str) -> None:
    """Limit a host's link in both directions; the rate ``none`` frees it."""
    ends = ((inside, "eth0"), (switch, f"sw{host.lstrip('h')}"))
    for where, device in ends:
        words = [*where, "tc", "qdisc"]
        if rate == "none":
            line = [*words, "del", "dev", device, "root"]
            subprocess.run(line, capture_output=True, check=False)
            continue
        burst = max(int(rate_bits_per_s(rate) / 8 * _BURST_S), _FEWEST_BYTES)
        bucket = ["tbf", "rate", rate, "burst", str(burst), "limit", str(_QUEUE_BYTES)]
        command(*words, "replace", "dev", device, "root", *bucket)
