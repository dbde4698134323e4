"""The batch systems: what to write on their command lines, what their answers mean.

Each class holds the words that a user gave it (partition, account, ...) and returns
argument lists; nothing here starts a process.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path
from typing import ClassVar, Protocol

from skelgen.launch.hosts import Host, parse_hosts


class BatchPhase(Enum):
    """How far a job has come."""

    WAITING = "waiting"
    NEVER = "never"  # it waits for what it cannot get
    RUNNING = "running"
    ENDED = "ended"  # its script ended, well or not
    BROKEN = "broken"  # it was ended: cancelled, its node failed, its time was over


@dataclass(frozen=True, slots=True)
class BatchJobState:
    """What a batch system says of a job.

    Attributes
    ----------
    phase : BatchPhase
    reason : str
        In the system's words, for people.
    timed_out : bool
        Whether the system ended it because its time was over.
    """

    phase: BatchPhase
    reason: str = ""
    timed_out: bool = False


@dataclass(frozen=True, slots=True)
class BatchJob:
    """A script and what it needs.

    Attributes
    ----------
    script : Path
    log : Path
        Where the batch system writes what the script itself prints.
    ranks : int
    hosts : tuple of Host
        With the ranks of each; the system chooses when empty.
    limit_s : float or None
        Longest time it may run [s].
    """

    script: Path
    log: Path
    ranks: int
    hosts: tuple[Host, ...] = field(default=())
    limit_s: float | None = None

    @property
    def name(self) -> str:
        """Return what no other job is called; PBS takes 15 letters."""
        return f"skel-{self.script.parent.name.removeprefix('job-')}"

    @property
    def names(self) -> list[str]:
        """Return the names of its hosts."""
        return [host.name for host in self.hosts]

    @property
    def most(self) -> int:
        """Return the ranks of the fullest host."""
        return max((host.slots for host in self.hosts), default=self.ranks)

    @property
    def limit_min(self) -> int:
        """Return the time to ask for, with a minute to start in [min]."""
        return math.ceil(((self.limit_s or 0) + 60) / 60)


class BatchSystem(Protocol):
    """What takes jobs and runs them when their hosts are free."""

    title: ClassVar[str]
    silence: ClassVar[re.Pattern[str]]
    """Found in errors when the system itself does not answer."""
    unknown: ClassVar[re.Pattern[str]]
    """Found in errors when it knows no such job any more."""
    usable: ClassVar[re.Pattern[str]]
    """What the states of hosts look like that can run something."""
    failed: ClassVar[re.Pattern[str]]
    """How the states of hosts begin that run nothing before someone mends them."""

    def submission(self, job: BatchJob) -> list[str]:
        """Return the command that submits a job and prints its number."""

    def search(self, name: str) -> list[str]:
        """Return the command that prints numbers of jobs that have not ended."""

    def numbers(self, output: str) -> list[str]:
        """Find numbers of jobs in what the submission, or the search, printed."""

    def question(self, number: str) -> list[str]:
        """Return the command that asks for a job's state."""

    def state(self, output: str) -> BatchJobState | None:
        """Read the answer to the question, None when it says nothing of the job."""

    def cancellation(self, number: str) -> list[str]:
        """Return the command that ends a job."""

    def inquiry(self, hosts: Sequence[str]) -> list[str]:
        """Return the command that asks for the states of hosts."""

    def host_states(self, output: str) -> dict[str, str]:
        """Read the states of hosts; those it does not know are left out."""


@dataclass(frozen=True, slots=True)
class Slurm:
    """Slurm: sbatch, squeue, scancel.

    Attributes
    ----------
    words : tuple of str
        Options of the user for sbatch.
    """

    words: tuple[str, ...] = ()
    title: ClassVar[str] = "Slurm"
    silence: ClassVar[re.Pattern[str]] = re.compile(
        r"Unable to contact slurm controller|Socket timed out|Connection refused|"
        r"Zero Bytes were transmitted|Transport endpoint|in standby mode",
        re.IGNORECASE,
    )
    unknown: ClassVar[re.Pattern[str]] = re.compile("Invalid job id")
    usable: ClassVar[re.Pattern[str]] = re.compile(
        "(idle|allocated|mixed|completing|planned|reserved)[+~#@^-]?"
    )
    failed: ClassVar[re.Pattern[str]] = re.compile("down|drain|fail|inval")
    _WAITING: ClassVar = frozenset(
        "PENDING CONFIGURING REQUEUED REQUEUE_FED REQUEUE_HOLD RESV_DEL_HOLD".split()
    )
    _RUNNING: ClassVar = frozenset(
        "RUNNING COMPLETING RESIZING SIGNALING STAGE_OUT STOPPED SUSPENDED".split()
    )
    _ENDED: ClassVar = frozenset(["COMPLETED", "FAILED"])
    #: Reasons to wait that only the user or an administrator can mend.
    _NEVER: ClassVar = re.compile(
        "BadConstraints|PartitionNodeLimit|PartitionTimeLimit|InvalidAccount|"
        "InvalidQOS|AccountNotAllowed|QOSNotAllowed|JobHeldAdmin"
    )

    def submission(self, job: BatchJob) -> list[str]:
        """Return the command; a failed node ends the job, it is not begun again."""
        where = [f"--ntasks={job.ranks}"]
        if job.hosts:
            where = [
                f"--nodelist={','.join(job.names)}",
                f"--nodes={len(job.hosts)}",
                f"--ntasks-per-node={job.most}",
            ]
        limit = [f"--time={job.limit_min}"] if job.limit_s is not None else []
        fixed = [f"--job-name={job.name}", "--no-requeue", f"--output={job.log}"]
        line = ["sbatch", "--parsable", *fixed, *where, *limit, *self.words]
        return [*line, str(job.script)]

    def search(self, name: str) -> list[str]:
        """Return the command."""
        return ["squeue", "-h", "--name", name, "-o", "%A"]

    def numbers(self, output: str) -> list[str]:
        """Find ``12``, also in ``12;cluster``."""
        return re.findall(r"^(\d+)(?:;.*)?$", output, re.M)

    def question(self, number: str) -> list[str]:
        """Return the command; jobs that ended are known for a while (MinJobAge)."""
        return ["squeue", "-h", "-t", "all", "-j", number, "-o", "%T|%r"]

    def state(self, output: str) -> BatchJobState | None:
        """Read ``PENDING|Resources``."""
        word, bar, reason = output.strip().partition("|")
        if not bar:
            return None
        if word in self._WAITING:
            never = self._NEVER.search(reason) is not None
            return BatchJobState(
                BatchPhase.NEVER if never else BatchPhase.WAITING, reason
            )
        if word in self._RUNNING:
            return BatchJobState(BatchPhase.RUNNING)
        if word in self._ENDED:
            return BatchJobState(BatchPhase.ENDED, word)
        return BatchJobState(BatchPhase.BROKEN, word, timed_out=word == "TIMEOUT")

    def cancellation(self, number: str) -> list[str]:
        """Return the command."""
        return ["scancel", number]

    def inquiry(self, hosts: Sequence[str]) -> list[str]:
        """Return the command."""
        return ["sinfo", "-h", "-N", "-o", "%N|%T", "-n", ",".join(hosts)]

    def host_states(self, output: str) -> dict[str, str]:
        """Read ``n1|idle``, a line for each partition of a host."""
        return dict(re.findall(r"^(\S+)\|(\S+)$", output, re.M))


@dataclass(frozen=True, slots=True)
class Pbs:
    """PBS Professional and OpenPBS: qsub, qstat, qdel.

    Attributes
    ----------
    words : tuple of str
        Options of the user for qsub.
    """

    words: tuple[str, ...] = ()
    title: ClassVar[str] = "PBS"
    silence: ClassVar[re.Pattern[str]] = re.compile(
        "cannot connect to server|Connection refused|too busy to service",
        re.IGNORECASE,
    )
    unknown: ClassVar[re.Pattern[str]] = re.compile(
        "Unknown Job|has finished", re.IGNORECASE
    )
    usable: ClassVar[re.Pattern[str]] = re.compile("free|busy|(job|resv)-.*")
    failed: ClassVar[re.Pattern[str]] = re.compile("down|offline")

    def submission(self, job: BatchJob) -> list[str]:
        """Return the command: one chunk for each host, all that is set here handed on.

        Without ``-V`` a job begins with the environment of a new login, and without
        ``-S`` the user's login shell reads it.
        """
        chunks = [
            f"1:host={host.name}:ncpus={host.slots}:mpiprocs={host.slots}"
            for host in job.hosts
        ] or [f"{job.ranks}:ncpus=1:mpiprocs=1"]
        limit: list[str] = []
        if job.limit_s is not None:
            hours, minutes = divmod(job.limit_min, 60)
            limit = ["-l", f"walltime={hours:02}:{minutes:02}:00"]
        fixed = ["-N", job.name, "-V", "-S", "/bin/sh", "-r", "n", "-j", "oe"]
        fixed += ["-o", str(job.log)]
        where = ["-l", f"select={'+'.join(chunks)}"]
        return ["qsub", *fixed, *where, *limit, *self.words, str(job.script)]

    def search(self, name: str) -> list[str]:
        """Return the command."""
        return ["qselect", "-N", name]

    def numbers(self, output: str) -> list[str]:
        """Find ``12.server``."""
        return re.findall(r"^(\d+\.\S+|\d+)$", output, re.M)

    def question(self, number: str) -> list[str]:
        """Return the command; with ``-x`` it fails where no history is kept."""
        return ["qstat", "-f", number]

    def state(self, output: str) -> BatchJobState | None:
        """Read ``job_state = Q`` and the comment, which may go on in further lines."""
        whole = output.replace("\n\t", "")
        facts = dict(re.findall(r"^ +(\w+) = (.*)$", whole, re.M))
        letter, comment = facts.get("job_state", ""), facts.get("comment", "")
        if not letter:
            return None
        if letter in "HMQTW":
            never = "can never run" in comment.lower()
            return BatchJobState(
                BatchPhase.NEVER if never else BatchPhase.WAITING, comment
            )
        if letter in "BERSU":
            return BatchJobState(BatchPhase.RUNNING)
        over = "walltime" in comment and "exceeded" in comment
        return BatchJobState(BatchPhase.ENDED, comment, timed_out=over)

    def cancellation(self, number: str) -> list[str]:
        """Return the command."""
        return ["qdel", number]

    def inquiry(self, hosts: Sequence[str]) -> list[str]:
        """Return the command."""
        return ["pbsnodes", *hosts]

    def host_states(self, output: str) -> dict[str, str]:
        """Read a host's name and, below it, ``state = free``."""
        return dict(re.findall(r"^(\S+)\n(?:\s+.*\n)*?\s+state = (.*)$", output, re.M))


@dataclass(frozen=True, slots=True)
class Flux:
    """Flux: flux batch, flux jobs, flux cancel.

    Attributes
    ----------
    words : tuple of str
        Options of the user for ``flux batch``.
    """

    words: tuple[str, ...] = ()
    title: ClassVar[str] = "Flux"
    silence: ClassVar[re.Pattern[str]] = re.compile(
        "Unable to connect to Flux|Connection refused|Function not implemented"
    )
    unknown: ClassVar[re.Pattern[str]] = re.compile("unknown", re.IGNORECASE)
    usable: ClassVar[re.Pattern[str]] = re.compile("up")
    failed: ClassVar[re.Pattern[str]] = re.compile("(?!)")  # such are not listed

    def submission(self, job: BatchJob) -> list[str]:
        """Return the command; with hosts named, one slot for each of their ranks."""
        where = ["-n", str(job.ranks)]
        if job.hosts:
            where = ["-N", str(len(job.hosts)), *where]
            where += [f"--requires=host:{','.join(job.names)}"]
        limit = ["-t", f"{job.limit_min}m"] if job.limit_s is not None else []
        fixed = [f"--job-name={job.name}", f"--output={job.log}", f"--error={job.log}"]
        return ["flux", "batch", *fixed, *where, *limit, *self.words, str(job.script)]

    def search(self, name: str) -> list[str]:
        """Return the command."""
        return ["flux", "jobs", "-n", "--name", name, "-o", "{id.f58}"]

    def numbers(self, output: str) -> list[str]:
        """Find ``ƒ3ETxsR9H``, written with an f where ƒ cannot be."""
        return re.findall(r"^([ƒf][1-9A-HJ-NP-Za-km-z]+|\d+)$", output, re.M)

    def question(self, number: str) -> list[str]:
        """Return the command."""
        fields = "{state}|{result}|{exception.note}"
        return ["flux", "jobs", "-n", "-o", fields, number]

    def state(self, output: str) -> BatchJobState | None:
        """Read ``INACTIVE|CANCELED|why``."""
        word, bar, rest = output.strip().partition("|")
        result, _, note = rest.partition("|")
        if not bar:
            return None
        if word in ("NEW", "DEPEND", "PRIORITY", "SCHED"):
            return BatchJobState(BatchPhase.WAITING, word)
        if word in ("RUN", "CLEANUP"):
            return BatchJobState(BatchPhase.RUNNING)
        reason = f"{result}: {note}" if note else result
        # A job that was refused has an exception, one whose script failed has none.
        ended = result == "COMPLETED" or (result == "FAILED" and not note)
        phase = BatchPhase.ENDED if ended else BatchPhase.BROKEN
        return BatchJobState(phase, reason, timed_out=result == "TIMEOUT")

    def cancellation(self, number: str) -> list[str]:
        """Return the command."""
        return ["flux", "cancel", number]

    def inquiry(self, hosts: Sequence[str]) -> list[str]:
        """Return the command."""
        return ["flux", "resource", "list", "-n", "-s", "up", "-o", "{nodelist}"]

    def host_states(self, output: str) -> dict[str, str]:
        """Read ``n[1-4]``, the hosts that are up."""
        lines = [line for line in output.splitlines() if line.strip()]
        return {host.name: "up" for line in lines for host in parse_hosts(line)}
