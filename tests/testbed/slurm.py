"""A real Slurm on the hosts of the cluster: one slurmd each, slurmctld at the head.

Everything it needs lies in the cluster's folder and everything it runs in the
cluster's control groups, so that `Cluster.down` leaves nothing of it: the machine's
own Slurm, munge and ``/etc`` are not touched. Ranks are started with ``srun
--mpi=pmi2`` (MPICH) or ``--mpi=pmix`` (Open MPI), or with mpirun in an allocation.
"""

from __future__ import annotations

import os
import secrets
import shutil
import subprocess
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.testbed import cluster as machine
from tests.testbed.cluster import HEAD, NETWORK, Cluster
from tests.testbed.control_groups import TestbedError

#: Ranks that a host can take; its one core is shared by them.
_CPUS = 4

#: Jobs stay in the queue's list for a minute after they ended; commands give up after
#: five seconds when there is no controller.
_CONFIGURATION = """
ClusterName=testbed
SlurmctldHost=head({network}.254)
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket
CryptoType=crypto/munge
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool-%n
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd-%n.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd-%n.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
MailProg=/bin/true
MpiDefault=none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SchedulerType=sched/backfill
SchedulerParameters=sched_interval=1,batch_sched_delay=0,sched_min_interval=0
SlurmdParameters=config_overrides
ReturnToService=1
MessageTimeout=15
SlurmdTimeout=30
SlurmctldTimeout=30
InactiveLimit=0
KillWait=2
MinJobAge=60
NodeName=h[1-{hosts}] NodeAddr={network}.[1-{hosts}] CPUs={cpus} State=UNKNOWN
PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP
PartitionName=small Nodes=h1 MaxNodes=1 MaxTime=INFINITE State=UP
"""


def lacking() -> str:
    """Say in one line why there can be no Slurm here; empty when there can."""
    if reason := machine.lacking():
        return reason
    for program, package in (
        ("slurmctld", "slurmctld"),
        ("slurmd", "slurmd"),
        ("srun", "slurm-client"),
        ("munged", "munge"),
    ):
        if not shutil.which(program):
            return f"the test cluster's Slurm needs {program} (Debian's {package})"
    return ""


@dataclass(frozen=True, slots=True)
class Slurm:
    """The Slurm of a cluster that is up.

    Attributes
    ----------
    cluster : Cluster
    """

    cluster: Cluster

    @property
    def folder(self) -> Path:
        """Return the folder with configuration, state and logs."""
        return self.cluster.state / "slurm"

    @property
    def configuration(self) -> Path:
        """Return the file that ``SLURM_CONF`` names."""
        return self.folder / "slurm.conf"

    @property
    def is_up(self) -> bool:
        """Say whether it was started."""
        return self.configuration.exists()

    def up(self) -> None:
        """Start it and wait until every host is idle."""
        hosts = self.cluster.hosts
        (self.folder / "state").mkdir(parents=True)
        for host in hosts:
            (self.folder / f"spool-{host}").mkdir()
        text = _CONFIGURATION.format(
            network=NETWORK, folder=self.folder, hosts=len(hosts), cpus=_CPUS
        )
        self.configuration.write_text(text)
        # Hosts share /tmp, and the PMIx servers of two hosts must not meet there.
        (self.folder / "mpi.conf").write_text("PMIxCliTmpDirBase=/dev/shm\n")
        self._start_munge()
        self.start_controller("-c")
        for host in hosts:
            self._daemon(host, "slurmd", "-N", host)
        self._wait(len(hosts))

    def _start_munge(self) -> None:
        key = self.folder / "munge.key"
        key.write_bytes(secrets.token_bytes(128))
        key.chmod(0o400)
        files = {
            "key-file": key,
            "socket": self.folder / "munge.socket",
            "pid-file": self.folder / "munge.pid",
            "log-file": self.folder / "munge.log",
            "seed-file": self.folder / "munge.seed",
        }
        words = [f"--{name}={path}" for name, path in files.items()]
        # --force: the folder belongs to root, not to a user of its own.
        self._daemon(HEAD, "munged", "--force", "--num-threads=2", *words)

    def start_controller(self, *words: str) -> None:
        """Start slurmctld; ``-c`` forgets all earlier jobs."""
        self._daemon(HEAD, "slurmctld", *words)

    def stop_controller(self) -> None:
        """Stop slurmctld, as when the machine it runs on has gone."""
        pid = int((self.folder / "slurmctld.pid").read_text())
        self.cluster.run(HEAD, ["kill", "-KILL", str(pid)])

    def _daemon(self, host: str, *words: str) -> None:
        """Start a daemon, which leaves its parent at once."""
        program = shutil.which(words[0])
        line = ["env", f"SLURM_CONF={self.configuration}", str(program), *words[1:]]
        with (self.folder / f"{words[0]}.said").open("ab") as said:
            done = self.cluster.run(
                host, line, stdin=subprocess.DEVNULL, stdout=said, stderr=said
            )
        if done.returncode:
            text = (self.folder / f"{words[0]}.said").read_text().strip()
            last = text.splitlines()[-1] if text else "failed"
            raise TestbedError(f"{words[0]} on {host}: {last}")

    def _wait(self, hosts: int) -> None:
        end = time.monotonic() + 60
        while self.said("sinfo", "-h", "-t", "idle", "-o", "%D") != str(hosts):
            if time.monotonic() > end:
                states = self.said("sinfo", "-h", "-N", "-o", "%N %T") or "no answer"
                raise TestbedError(
                    f"Slurm's nodes are not idle after 60 s: {states}; its logs lie "
                    f"in {self.folder}"
                )
            time.sleep(0.1)

    def run(self, program: Sequence[str], **options: Any) -> Any:
        """Run a program at the head, where Slurm's commands find their way.

        Parameters
        ----------
        program : sequence of str
        **options
            Of :func:`subprocess.run`.
        """
        options.setdefault("env", {**os.environ, **self.environment()})
        return self.cluster.run(HEAD, program, **options)

    def said(self, *program: str) -> str:
        """Return what a program prints at the head."""
        done = self.run(program, capture_output=True, text=True)
        return str(done.stdout).strip()

    def environment(self) -> dict[str, str]:
        """Return what Slurm and MPIs below it need; mpirun finds hosts through it."""
        shell = str(self.cluster.shell)
        kept = {
            name: value
            for name, value in self.cluster.environment().items()
            if value != shell and name != "HYDRA_LAUNCHER"
        }
        return {**kept, "SLURM_CONF": str(self.configuration)}
