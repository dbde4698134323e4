"""What is written down about machine and programs, and how much of it others take."""

from __future__ import annotations

import os
import platform
import subprocess
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from hashlib import blake2b
from pathlib import Path
from typing import Any

from benchmarks.accuracy.applications import ROOT
from skelgen import __version__ as skelgen_version
from skelgen.errors import UsageError
from skelgen.launch.record import mpi_environment
from tests.testbed.cluster import Cluster

_STEAL = 7

#: What must not change within one file, and what to call a change of it.
_OTHER = {
    "mpi": "another MPI of the name",
    "entries": "another entry of the name",
    "machine": "another machine's",
    "builds": "another build of",
}

#: Folders that decide what is recorded and built, and what in them does not.
_BUILDING = ("skelgen", "pmpi_shim", "templates")
_LEFT_OUT = {"__pycache__", "build", "web"}


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
    cluster: Cluster,
    settings: Mapping[str, Any],
    programs: Mapping[str, Mapping[str, Any]],
    words: Sequence[str],
) -> dict[str, Any]:
    """Say where and with what runs are made.

    Parameters
    ----------
    cluster : Cluster
        Up.
    settings : mapping
        What must not change within one file.
    programs : mapping of str to mapping
        Which MPIs (``mpi``) and which applications (``entries``) are run, and what
        builds their skeletons (``builds``), by their names; none may change within one
        file. And what applications set for themselves (``environments``).
    words : sequence of str
        The command line.
    """
    control = ["cat", "/proc/sys/net/ipv4/tcp_congestion_control"]
    said = cluster.run("h1", control, capture_output=True, text=True)
    variables = mpi_environment({**os.environ, **cluster.environment()})
    return {
        "at": datetime.now(UTC).isoformat(timespec="seconds"),
        "words": list(words),
        "settings": dict(settings),
        "congestion_control": said.stdout.strip(),
        **programs,
        "mpi_variables": {n: v for n, v in variables if str(cluster.state) not in v},
        **_machine(),
        "python": platform.python_version(),
        "skelgen": skelgen_version,
        "commit": _commit(),
    }


def check_same(
    provenance: Iterable[Mapping[str, Any]],
    programs: Mapping[str, Mapping[str, Any]],
    path: Path,
) -> None:
    """Refuse to add runs of other programs, or of another machine, to those of a file.

    What older lines do not name is taken to be the same.

    Raises
    ------
    UsageError
        When the machine, an application's entry, an MPI or skelgen has changed since.
    """
    now = {**programs, "machine": _machine()}
    for facts in provenance:
        for kind, what in _OTHER.items():
            before = facts if kind == "machine" else facts.get(kind, {})
            for name, one in now.get(kind, {}).items():
                if before.get(name, one) != one:
                    raise UsageError(
                        f"{path} was measured with {what} {name}; take another file "
                        "with --results"
                    )


def skelgen_identity() -> str:
    """Return what tells skelgen's files, as they are now, from those of others."""
    digest = blake2b(digest_size=8)
    for name in _BUILDING:
        for path in sorted((ROOT / name).rglob("*")):
            inside = path.relative_to(ROOT)
            if path.is_file() and not _LEFT_OUT & set(inside.parts):
                digest.update(f"{inside}\0".encode() + path.read_bytes())
    return digest.hexdigest()


def _machine() -> dict[str, Any]:
    kernel, cores = platform.release(), os.cpu_count()
    return {"kernel": kernel, "cpu": _cpu(), "cores": cores}


def _cpu() -> str:
    lines = Path("/proc/cpuinfo").read_text().splitlines()
    names = (line.partition(":")[2] for line in lines if line.startswith("model name"))
    return next(names, "unknown").strip()


def _commit() -> str:
    line = ["git", "-C", str(ROOT), "describe", "--always", "--dirty"]
    done = subprocess.run(line, capture_output=True, text=True, check=False)
    return done.stdout.strip() or "unknown"
