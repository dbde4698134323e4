"""Is what `skelgen system measure` finds true? Links and caches whose size is known.

``python benchmarks/systems.py [--rates 10mbit 100mbit 1gbit] [--budget 30s]``

Two hosts of the test cluster (root, control groups, tc) are measured with links of
several rates: the time of the command, the bandwidth of messages between the hosts
against the rate of the link, latency and eager limit. Then this machine's caches
against what its C library says (getconf). Needs a quiet machine.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from skelgen import _paths  # noqa: F401  (installed: not the checkout's)

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from tests.testbed.cluster import Cluster, lacking
from tests.testbed.network import rate_bits_per_s

ROOT = Path(__file__).resolve().parent.parent
SYSTEM = [sys.executable, "-m", "skelgen", "system", "measure", "--json"]
CACHES = ("LEVEL1_DCACHE_SIZE", "LEVEL2_CACHE_SIZE", "LEVEL3_CACHE_SIZE")


def pair(cluster: Cluster, budget: str, file: str) -> tuple[dict[str, Any], float]:
    """Measure both hosts; return what is said and the time of the command [s]."""
    environment = {**os.environ, **cluster.environment(), "PYTHONPATH": str(ROOT)}
    words = [*SYSTEM, "--hosts", "h1,h2", "--budget", budget, "-o", file, "--force"]
    begin = time.perf_counter()
    done = cluster.run("head", words, capture_output=True, text=True, env=environment)
    took_s = time.perf_counter() - begin
    if done.returncode:
        sys.exit(f"systems: {done.stderr}")
    return json.loads(done.stdout), took_s


def links(rates: list[str], budget: str, folder: Path) -> None:
    """Print a line for each rate of the links."""
    print("link      took  bandwidth   of the link  latency  eager limit  doubts")
    cluster = Cluster(f"systems-{os.getpid()}")
    with cluster.used():
        pair(cluster, "1s", str(folder / "first.json"))  # compiles the program
        for rate in rates:
            cluster.link("all", rate)
            found, took_s = pair(cluster, budget, str(folder / f"{rate}.json"))
            sent = next(
                one
                for one in found["hosts"][0]["messages"]
                if one["operation"] == "SR" and len(one["hosts"]) == 2
            )
            bandwidth = sent["bandwidth_bytes_per_s"]
            share = 8 * bandwidth / rate_bits_per_s(rate)
            codes = ",".join(one["code"] for one in found["doubts"]) or "none"
            print(
                f"{rate:8} {took_s:4.1f} s {bandwidth / 1e6:8.2f} MB/s {share:12.1%} "
                f"{1e6 * sent['latency_s']:5.1f} us {sent['eager_bytes']:10} B  {codes}"
            )


def caches(budget: str, folder: Path) -> None:
    """Print the caches of this machine as measured and as its C library knows them."""
    words = [*SYSTEM, "--budget", budget, "-o", str(folder / "here.json")]
    begin = time.perf_counter()
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"systems: {done.stderr}")
    print(f"\nthis machine: {time.perf_counter() - begin:.1f} s")
    print("cache     measured, one core   measured, all cores   getconf")
    (host,) = json.loads(done.stdout)["hosts"]
    for level, name in enumerate(CACHES, start=1):
        sizes = [
            f"{one['value'] / 1024:.0f} to {one['high'] / 1024:.0f} KiB"
            for one in host["facts"]
            if one["name"] == f"cache_{level}"
        ]
        known = subprocess.run(
            ["getconf", name], capture_output=True, text=True, check=False
        ).stdout
        alone, *others = sizes or ["not found"]
        shared = others[0] if others else "not found"
        size = f"{int(known) // 1024} KiB" if known.strip().isdecimal() else "unknown"
        print(f"{level:<9} {alone:20} {shared:21} {size}")


def main() -> None:
    """Print both tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rates", nargs="+", default=["10mbit", "100mbit", "1gbit"])
    parser.add_argument("--budget", default="30s")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        if reason := lacking():
            print(f"no links: {reason}")
        else:
            links(options.rates, options.budget, Path(name))
        caches(options.budget, Path(name))


if __name__ == "__main__":
    main()
