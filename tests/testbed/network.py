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

#: Of each class of a divided link; it is full of traffic in any case.
_DIVIDED_BYTES = "10k"
#: Whatever does not say where it belongs.
_OTHERS = ("default", "20")

#: Sends datagrams to the other end of a link, somewhat faster than its class of it may,
#: which is 1:10 of `divide`. The kernel cuts them (``UDP_SEGMENT``), which takes it a
#: hundredth of a core for 100 Mbit/s. Nobody reads what arrives.
TRAFFIC = """
import socket, sys, time
peer, rate = sys.argv[1], float(sys.argv[2])
own = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
own.bind(("", 9))
own.setsockopt(socket.SOL_SOCKET, socket.SO_PRIORITY, 0x10010)
own.setsockopt(socket.IPPROTO_UDP, 103, 1448)
block = bytes(22 * 1448)
due = time.monotonic()
while True:
    now = time.monotonic()
    if now < due:
        time.sleep(due - now)
    try:
        own.sendto(block, (peer, 9))
    except OSError:
        pass
    due = max(due, now - 0.1) + 22 * 1490 * 8 / rate / 1.02
"""

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
        if rate == "none":
            _free(where, device)
            continue
        burst = max(int(rate_bits_per_s(rate) / 8 * _BURST_S), _FEWEST_BYTES)
        bucket = ["tbf", "rate", rate, "burst", str(burst), "limit", str(_QUEUE_BYTES)]
        command(*where, "tc", "qdisc", "replace", "dev", device, "root", *bucket)


def divide(
    switch: Sequence[str], inside: Sequence[str], host: str, rate: str, taken: float
) -> None:
    """Limit a host's link in both directions, and keep a part of it for `TRAFFIC`.

    What that leaves is for everybody else, who may have all while there is no traffic.

    Parameters
    ----------
    switch, inside, host
        As of `limit`.
    rate : str
        Of the link.
    taken : float
        Part of it that traffic takes [1].
    """
    whole = rate_bits_per_s(rate)
    for where, device in ((inside, "eth0"), (switch, f"sw{host.lstrip('h')}")):
        _free(where, device)
        tc = (*where, "tc")
        command(*tc, *_on(device, "qdisc"), "root", "handle", "1:", "htb", *_OTHERS)
        for parent, name, bits, most in (
            ("1:", "1:1", whole, whole),
            ("1:1", "1:10", whole * taken, whole * taken),
            ("1:1", "1:20", whole * (1 - taken), whole),
        ):
            bursts = ("burst", _DIVIDED_BYTES, "cburst", _DIVIDED_BYTES)
            rates = ("rate", f"{bits:.0f}bit", "ceil", f"{most:.0f}bit", *bursts)
            words = ("parent", parent, "classid", name, "htb", *rates)
            command(*tc, *_on(device, "class"), *words)
            if parent != "1:":
                queue = ("parent", name, "bfifo", "limit", str(_QUEUE_BYTES))
                command(*tc, *_on(device, "qdisc"), *queue)


def _on(device: str, thing: str) -> tuple[str, ...]:
    return thing, "add", "dev", device


def _free(where: Sequence[str], device: str) -> None:
    line = [*where, "tc", "qdisc", "del", "dev", device, "root"]
    subprocess.run(line, capture_output=True, check=False)
