"""What is written down about the machine, and how much of it others take."""

from __future__ import annotations

import os
import platform
import subprocess
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from benchmarks.accuracy.applications import ROOT
from skelgen import __version__ as skelgen_version
from tests.testbed.cluster import Cluster

_STEAL = 7


def ticks() -> tuple[int, int]:
    """Return the time that other guests of the host took, and all time."""
    first = Path("/proc/stat").read_text().partition("\n")[0]
    fields = [int(word) for word in first.split()[1:9]]
    return fields[_STEAL], sum(fields)


def stolen(before: tuple[int, int]) -> float:
    """Return the part of this machine's time that others took since [1]."""
    steal, whole = (now - then for now, then in zip(ticks(), before, strict=True))
    return steal / whole if whole else 0.0


def provenance(
    cluster: Cluster, settings: Mapping[str, Any], mpis: Mapping[str, str]
) -> dict[str, Any]:
    """Say where and with what runs are made.

    Parameters
    ----------
    cluster : Cluster
        Up.
    settings : mapping
        What must not change within one file.
    mpis : mapping of str to str
        Launchers and what they are.
    """
    control = ["cat", "/proc/sys/net/ipv4/tcp_congestion_control"]
    said = cluster.run("h1", control, capture_output=True, text=True)
    environment = {**os.environ, **cluster.environment()}
    progress = {
        name: value
        for name, value in sorted(environment.items())
        if name.startswith(("MPICH_", "MPIR_CVAR_", "OMPI_MCA_", "UCX_", "FI_"))
        and str(cluster.state) not in value
    }
    return {
        "at": datetime.now(UTC).isoformat(timespec="seconds"),
        "settings": dict(settings),
        "congestion_control": said.stdout.strip(),
        "mpi": dict(mpis),
        "progress": "polling, unless an application's environment says otherwise",
        "mpi_variables": progress,
        "kernel": platform.release(),
        "cpu": _cpu(),
        "cores": os.cpu_count(),
        "python": platform.python_version(),
        "skelgen": skelgen_version,
        "commit": _commit(),
    }


def _cpu() -> str:
    lines = Path("/proc/cpuinfo").read_text().splitlines()
    names = (line.partition(":")[2] for line in lines if line.startswith("model name"))
    return next(names, "unknown").strip()


def _commit() -> str:
    line = ["git", "-C", str(ROOT), "describe", "--always", "--dirty"]
    done = subprocess.run(line, capture_output=True, text=True, check=False)
    return done.stdout.strip() or "unknown"
