"""A real Slurm on the test cluster: steps of an allocation, jobs, what goes wrong."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.testbed.cluster import Cluster
from tests.testbed.slurm import Slurm, lacking

REASON = lacking()
pytestmark = [
    pytest.mark.root,
    pytest.mark.mpi,
    pytest.mark.skipif(bool(REASON), reason=REASON),
]


def alive(pid: int) -> bool:
    """Say whether a process runs; one that nobody has collected yet does not."""
    try:
        text = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return False
    return text.rpartition(")")[2].split()[0] != "Z"


@pytest.fixture(scope="module")
def slurm() -> Iterator[Slurm]:
    cluster = Cluster(f"slurm-{os.getpid()}")
    cluster.up(3)
    try:
        made = Slurm(cluster)
        made.up()
        yield made
        processes = cluster.groups.processes()
    finally:
        cluster.down()
    assert len(processes) > 4  # munged, slurmctld, slurmd on each host
    assert [pid for pid in processes if alive(pid)] == []
    assert not cluster.state.exists()


def test_every_host_is_a_node(slurm: Slurm) -> None:
    names = slurm.said("srun", "-N3", "--label", "hostname").splitlines()
    assert sorted(name.split()[1] for name in names) == ["h1", "h2", "h3"]
