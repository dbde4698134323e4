"""The words on the command lines of batch systems, and what their answers mean."""

from __future__ import annotations

from pathlib import Path

import pytest

from skelgen.launch.batch_systems import (
    BatchJob,
    BatchPhase,
    BatchSystem,
    Flux,
    Pbs,
    Slurm,
)
from skelgen.launch.hosts import Host

EVEN = (Host("n1", 2), Host("n2", 2))
UNEVEN = (Host("n1", 2), Host("n2", 1))


def job(hosts: tuple[Host, ...], limit_s: float | None = 100.0) -> BatchJob:
    ranks = sum(host.slots for host in hosts) or 3
    return BatchJob(Path("/s/job.sh"), Path("/s/log"), ranks, hosts, limit_s)


def test_slurm_asks_for_the_hosts_by_name_and_room_for_the_fullest() -> None:
    assert Slurm(("-p", "short", "-A", "acct")).submission(job(UNEVEN)) == [
        *["sbatch", "--parsable", "--job-name=skel-s", "--no-requeue"],
        *["--output=/s/log", "--nodelist=n1,n2", "--nodes=2", "--ntasks-per-node=2"],
        *["--time=3", "-p", "short", "-A", "acct", "/s/job.sh"],
    ]


def test_slurm_chooses_hosts_when_none_are_named() -> None:
    words = Slurm().submission(job((), None))
    assert words[-2:] == ["--ntasks=3", "/s/job.sh"]


@pytest.mark.parametrize("output", ["12\n", "12;cluster\n", "sbatch: lua: hello\n12\n"])
def test_slurm_prints_the_number_of_a_job(output: str) -> None:
    assert Slurm().numbers(output) == ["12"]


@pytest.mark.parametrize(
    ("output", "phase", "reason"),
    [
        ("PENDING|Priority", BatchPhase.WAITING, "Priority"),
        ("CONFIGURING|None", BatchPhase.WAITING, "None"),
        ("PENDING|BadConstraints", BatchPhase.NEVER, "BadConstraints"),
        ("RUNNING|None", BatchPhase.RUNNING, ""),
        ("COMPLETING|None", BatchPhase.RUNNING, ""),
        ("FAILED|NonZeroExitCode", BatchPhase.ENDED, "FAILED"),
        ("NODE_FAIL|None", BatchPhase.BROKEN, "NODE_FAIL"),
        ("OUT_OF_MEMORY|OutOfMemory", BatchPhase.BROKEN, "OUT_OF_MEMORY"),
    ],
)
def test_slurm_says_how_far_a_job_has_come(
    output: str, phase: BatchPhase, reason: str
) -> None:
    state = Slurm().state(f"{output}\n")
    assert state is not None
    assert (state.phase, state.reason) == (phase, reason)


def test_hosts_of_slurm_are_listed_once_for_each_partition() -> None:
    states = Slurm().host_states("n1|idle\nn1|idle\nn2|down*\nn3|mixed~\n")
    assert states == {"n1": "idle", "n2": "down*", "n3": "mixed~"}
    usable = [n for n, state in states.items() if Slurm().usable.fullmatch(state)]
    assert usable == ["n1", "n3"]


def test_pbs_asks_for_a_chunk_on_each_host() -> None:
    assert Pbs(("-q", "short")).submission(job(UNEVEN, 3600.0)) == [
        *["qsub", "-N", "skel-s", "-V", "-S", "/bin/sh", "-r", "n", "-j", "oe"],
        *["-o", "/s/log", "-l"],
        "select=1:host=n1:ncpus=2:mpiprocs=2+1:host=n2:ncpus=1:mpiprocs=1",
        *["-l", "walltime=01:01:00", "-q", "short", "/s/job.sh"],
    ]
    assert "select=3:ncpus=1:mpiprocs=1" in Pbs().submission(job(()))
    assert Pbs().numbers("1234.pbs01\n") == ["1234.pbs01"]
    assert Pbs().question("1234.pbs01") == ["qstat", "-f", "1234.pbs01"]


QSTAT = """Job Id: 3091.pbs01
    Job_Name = skelgen
    job_state = {}
    queue = workq
    comment = {}
    Submit_arguments = -N skelgen
"""


@pytest.mark.parametrize(
    ("letter", "comment", "phase"),
    [
        ("Q", "Not Running: Queue workq per-user limit reached", BatchPhase.WAITING),
        (
            "Q",
            "Can Never Run: Insufficient amount of resource: host (n9 !=\n\t n1)",
            BatchPhase.NEVER,
        ),
        (
            "R",
            "Job run at Sat Nov 21 at 10:00 on (n1:ncpus=2)+(n2:ncpus=2)",
            BatchPhase.RUNNING,
        ),
        ("E", "Job run at Sat Nov 21 at 10:00 on (n1:ncpus=2)", BatchPhase.RUNNING),
        (
            "F",
            "Job run at Sat Nov 21 at 10:00 on (n1:ncpus=2) and failed",
            BatchPhase.ENDED,
        ),
    ],
)
def test_pbs_says_how_far_a_job_has_come(
    letter: str, comment: str, phase: BatchPhase
) -> None:
    state = Pbs().state(QSTAT.format(letter, comment))
    assert state is not None and state.phase is phase
    if phase is not BatchPhase.RUNNING:
        assert state.reason == comment.replace("\n\t", "")


def test_hosts_of_pbs_are_listed_with_their_attributes() -> None:
    listed = """n1
     Mom = n1.cluster
     ntype = PBS
     state = free

n2
     Mom = n2.cluster
     state = down,offline
     pcpus = 8
"""
    assert Pbs().host_states(listed) == {"n1": "free", "n2": "down,offline"}


def test_flux_asks_for_the_hosts_by_name() -> None:
    assert Flux(("-q", "debug")).submission(job(EVEN)) == [
        *["flux", "batch", "--job-name=skel-s", "--output=/s/log", "--error=/s/log"],
        *["-N", "2", "-n", "4", "--requires=host:n1,n2", "-t", "3m", "-q", "debug"],
        "/s/job.sh",
    ]
    assert "--requires" not in " ".join(Flux().submission(job(())))


@pytest.mark.parametrize("number", ["ƒ3ETxsR9H", "f3ETxsR9H", "1521171"])
def test_flux_prints_the_number_of_a_job(number: str) -> None:
    assert Flux().numbers(f"{number}\n") == [number]


@pytest.mark.parametrize(
    ("output", "phase", "reason"),
    [
        ("SCHED||", BatchPhase.WAITING, "SCHED"),
        ("RUN||", BatchPhase.RUNNING, ""),
        ("INACTIVE|COMPLETED|", BatchPhase.ENDED, "COMPLETED"),
        ("INACTIVE|FAILED|", BatchPhase.ENDED, "FAILED"),
        ("INACTIVE|FAILED|unsatisfiable", BatchPhase.BROKEN, "FAILED: unsatisfiable"),
        ("INACTIVE|CANCELED|by bob", BatchPhase.BROKEN, "CANCELED: by bob"),
        ("INACTIVE|TIMEOUT|resource allocation expired", BatchPhase.BROKEN, None),
    ],
)
def test_flux_says_how_far_a_job_has_come(
    output: str, phase: BatchPhase, reason: str | None
) -> None:
    state = Flux().state(f"{output}\n")
    assert state is not None and state.phase is phase
    if reason is None:
        assert state.timed_out
    else:
        assert state.reason == reason


def test_hosts_of_flux_are_those_that_are_up() -> None:
    assert Flux().host_states("n[1-2]\n") == {"n1": "up", "n2": "up"}


@pytest.mark.parametrize("system", [Slurm(), Pbs(), Flux()])
def test_an_answer_that_says_nothing_of_a_job_is_told_apart(
    system: BatchSystem,
) -> None:
    assert system.state("\n") is None
    assert system.numbers("no job today\n") == []


def test_jobs_are_found_by_a_name_that_is_short_enough() -> None:
    one = BatchJob(Path("/s/job-abcd_123/job.sh"), Path("/s/log"), 1)
    assert one.name == "skel-abcd_123" and len(one.name) <= 15
    assert Slurm().search("x") == ["squeue", "-h", "--name", "x", "-o", "%A"]
    assert Pbs().search("x") == ["qselect", "-N", "x"]
    assert Flux().search("x")[:4] == ["flux", "jobs", "-n", "--name"]


@pytest.mark.parametrize(
    ("system", "text"),
    [
        (Slurm(), "slurm_load_jobs error: Unable to contact slurm controller"),
        (Slurm(), "sbatch: error: Batch job submission failed: Socket timed out on"),
        (Pbs(), "Connection refused\nqsub: cannot connect to server pbs (errno=111)"),
        (Flux(), "flux-jobs: ERROR: Unable to connect to Flux: broker socket"),
    ],
)
def test_silence_of_a_system_is_told_from_refusal(
    system: BatchSystem, text: str
) -> None:
    assert system.silence.search(text)
    assert not system.silence.search("invalid partition specified: nosuch")
    assert not system.unknown.search(text)


@pytest.mark.parametrize(
    ("system", "text"),
    [
        (Slurm(), "slurm_load_jobs error: Invalid job id specified"),
        (Pbs(), "qstat: Unknown Job Id 256.pbs01"),
        (Pbs(), "qstat: 256.pbs01 Job has finished, use -x or -H to obtain it"),
        (Flux(), "flux-jobs: ERROR: JobID ƒ3ETxsR9H unknown"),
    ],
)
def test_jobs_that_a_system_has_forgotten_are_told_apart(
    system: BatchSystem, text: str
) -> None:
    assert system.unknown.search(text) and not system.silence.search(text)
