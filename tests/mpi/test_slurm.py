"""A real Slurm on the test cluster: steps of an allocation, jobs, what goes wrong."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from skelgen.launch.mpi import MpiKind, identify_compiler
from skelgen.skeleton.emit.skeleton_files import render
from tests import fake_mpi
from tests.known_skeleton import FACTS
from tests.mpis import MPIS, TestMpi
from tests.plans import CALIBRATION, Builder, Do, Loop
from tests.processes import alive, comes_true
from tests.testbed.cluster import Cluster
from tests.testbed.slurm import Slurm, lacking
from tests.unit.test_prediction_skeleton_file import save

REASON = lacking()
ROOT = Path(__file__).resolve().parents[2]
pytestmark = [
    pytest.mark.root,
    pytest.mark.mpi,
    pytest.mark.skipif(bool(REASON), reason=REASON),
]


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
    assert comes_true(lambda: not any(alive(pid) for pid in processes))
    assert not cluster.state.exists()


def sound(mpi: TestMpi) -> bool:
    """Say whether programs of an MPI end under Slurm each time.

    Debian's MPICH 4.0 over UCX hangs in MPI_Finalize now and then: a rank closes its
    connections while the other has closed them and waits for it. PyPI's Open MPI 5
    hangs in MPI_Init now and then: the PMIx of Slurm 22.05 never ends its fence.
    """
    wheel = mpi.compiler.name == "mpicc"
    if wheel and identify_compiler(mpi.compiler) is MpiKind.OPEN_MPI:
        return False
    return mpi.compiler.name != "mpicc.mpich"


SOUND = [mpi for mpi in MPIS if sound(mpi)]


@pytest.fixture(params=SOUND, ids=[mpi.name for mpi in SOUND])
def skeleton(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """Give the folder of a compiled skeleton of two ranks that takes milliseconds."""
    mpi: TestMpi = request.param
    ring = [
        Do("MPI_Irecv", size=8000, peer=1, tag=3),
        Do("MPI_Isend", size=8000, peer=1, tag=3, us=[100, 200]),
        Do("MPI_Waitall", ages=(2, 1)),
    ]
    plan = Builder(2).program([0, 1], Loop(50, ring)).plan()
    command = (mpi.launcher[0], "-n", "2", "./app")
    facts = replace(FACTS, command=command, ranks_per_host=(1, 1))
    (tmp_path / "skel").mkdir()
    save(facts, tmp_path / "skel")
    for name, text in render(plan, calibration=CALIBRATION).items():
        (tmp_path / "skel" / name).write_text(text)
    line = ["make", "-s", "-C", str(tmp_path / "skel"), f"MPICC={mpi.compiler}"]
    subprocess.run(line, check=True)
    return tmp_path / "skel"


@pytest.fixture
def scripted(tmp_path: Path) -> Callable[[str], Path]:
    """Return a function that makes a skeleton's folder whose program is a script."""

    def make(script: str) -> Path:
        fake_mpi.script(
            tmp_path / "skel/skeleton",
            f't=1\n{script}\necho "{{\\"seconds\\": $t}}"',
        )
        save(replace(FACTS, command=("srun", "-n", "2", "./app")), tmp_path / "skel")
        return tmp_path / "skel"

    return make


def line(folder: Path, *words: str) -> list[str]:
    found = ["predict", str(folder), "--json", "--budget", "0.1s", *words]
    return [sys.executable, "-m", "skelgen", *found]


def predicted(slurm: Slurm, command: list[str]) -> tuple[dict[str, Any], str]:
    done = slurm.run(command, capture_output=True, text=True)
    assert done.stdout, done.stderr
    return json.loads(done.stdout), done.stderr


def only_failure(slurm: Slurm, command: list[str]) -> str:
    """Predict where nothing can be; return the one line that is said then."""
    done = slurm.run(command, capture_output=True, text=True)
    assert done.returncode == 5
    assert "Traceback" not in done.stderr
    return str(done.stderr.splitlines()[-1])


def until(slurm: Slurm, wanted: str) -> None:
    """Wait until the states of all jobs are these."""
    end = time.monotonic() + 60
    while True:
        asked = ["squeue", "-h", "-o", "%T"]
        done = slurm.run(asked, capture_output=True, text=True)
        if done.returncode == 0 and done.stdout.strip() == wanted:
            return
        assert time.monotonic() < end, done.stdout + done.stderr
        time.sleep(0.05)


def line_of(pid: int) -> bytes:
    """Return the command of a process; nothing when it has ended."""
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return b""


PAIRS = ("--hosts", "h1,h2", "--hosts", "h3,h2")


def test_every_host_is_a_node(slurm: Slurm) -> None:
    names = slurm.said("srun", "-N3", "--label", "hostname").splitlines()
    assert sorted(name.split()[1] for name in names) == ["h1", "h2", "h3"]


def test_steps_of_an_allocation_run_on_its_subsets(
    slurm: Slurm, skeleton: Path
) -> None:
    words = ["salloc", "-Q", "-N3", *line(skeleton, "-vv", *PAIRS)]
    found, said = predicted(slurm, words)
    assert found["failed"] == []
    assert sorted(one["hosts"] for one in found["sets"]) == [["h1", "h2"], ["h3", "h2"]]
    assert all(len(one["runs_s"]) >= 3 for one in found["sets"])
    steps = [text for text in said.splitlines() if " -w h3,h2 " in text]
    assert len(steps) >= 3 and all("srun --overlap" in step for step in steps)


def test_jobs_run_on_the_hosts_that_are_asked_for(slurm: Slurm, skeleton: Path) -> None:
    found, said = predicted(slurm, line(skeleton, "-vv", "--through", "slurm", *PAIRS))
    assert sorted(one["hosts"] for one in found["sets"]) == [["h1", "h2"], ["h3", "h2"]]
    assert all(len(one["runs_s"]) >= 3 for one in found["sets"])
    assert said.count("sbatch --parsable") >= 6
    assert list(skeleton.glob("job-*")) == []
    until(slurm, "")  # a job that has told its end is still ending


@pytest.mark.parametrize("mpi", SOUND, ids=[mpi.name for mpi in SOUND])
def test_phases_are_measured_in_steps_and_jobs(
    slurm: Slurm, mpi: TestMpi, tmp_path: Path
) -> None:
    """Recorded with srun, measured as recorded, on other nodes, and in jobs."""
    source, program = str(ROOT / "examples/heat2d.c"), str(tmp_path / "app")
    subprocess.run([mpi.compiler, "-O2", source, "-o", program, "-lm"], check=True)
    skelgen, inside = [sys.executable, "-m", "skelgen"], ["salloc", "-Q", "-N3"]
    kind = identify_compiler(mpi.compiler)
    interface = "pmix" if kind is MpiKind.OPEN_MPI else "pmi2"
    launch = ["srun", "--overlap", f"--mpi={interface}", "-w", "h1,h2", "-N2", "-n2"]
    run, stored = str(tmp_path / "run"), str(tmp_path / "sig")
    slurm.said(*inside, *skelgen, "record", "-o", run, "--", *launch, program, "256")
    slurm.said(*skelgen, "phases", run, "-o", stored)
    steps = [*inside, *skelgen, "measure", stored, "--json"]
    for words in (steps, [*steps, "--hosts", "h3,h2"]):
        found, _ = predicted(slurm, words)
        assert 0 < found["p5_s"] < found["paet_s"] < found["p95_s"]
    words = ["select", stored, "--from", "h[1-3]", "--nodes", "2", "--json"]
    jobs = ["--through", "slurm", "--budget", "200s", "--interval", "90%"]
    jobs += ["--sets", "windows", "-v"]
    found, said = predicted(slurm, [*skelgen, *words, *jobs])
    assert sorted(one["hosts"] for one in found["sets"]) == [["h1", "h2"], ["h2", "h3"]]
    assert not found["failed"] and "Slurm job" in said
    unknown = ["--through", "slurm", "--hosts", "h1,h7"]
    said = only_failure(slurm, [*skelgen, "measure", stored, *unknown])
    assert "app did not run: Slurm refused the job: " in said
    assert said.endswith("host h7 is unknown")
    assert not [*Path(stored).glob("skelgen-phases-*"), *Path(stored).glob("job-*")]
    until(slurm, "")


@pytest.mark.parametrize("mpi", SOUND, ids=[mpi.name for mpi in SOUND])
def test_systems_are_measured_in_steps_and_jobs(
    slurm: Slurm, mpi: TestMpi, tmp_path: Path
) -> None:
    kind = "openmpi" if len(mpi.launcher) > 1 else "mpich"
    measure = [sys.executable, "-m", "skelgen", "system", "measure", "--json", "-v"]
    words = [*measure, "--mpi", kind, "--budget", "2s", "--hosts", "h1,h3"]
    cache = {"SKELGEN_CACHE": str(tmp_path / "cache"), "PYTHONPATH": str(ROOT)}
    places = f"{mpi.compiler.parent}:{os.environ['PATH']}"
    environment = [
        *(f"{name}={text}" for name, text in cache.items()),
        f"PATH={places}",
    ]
    for before, after in (
        (["salloc", "-Q", "-N3"], []),
        ([], ["--through", "slurm", "--batch-options=-t 5"]),
    ):
        file = ["-o", str(tmp_path / f"{len(after)}.json")]
        line = [*before, "env", *environment, *words, *file, *after]
        found, _ = predicted(slurm, line)
        assert [one["host"] for one in found["hosts"]] == ["h1", "h3"]
        (sent,) = (
            one for one in found["hosts"][0]["messages"] if one["operation"] == "SR"
        )
        assert sent["hosts"] == ["h1", "h3"]
    assert list((tmp_path / "cache/systems/jobs").iterdir()) == []
    until(slurm, "")


def test_ranks_are_placed_as_the_user_says(slurm: Slurm, scripted) -> None:
    """Three ranks on two hosts; each prints where it is, the last one its time."""
    folder = scripted('echo "$SLURM_PROCID=$(hostname)" >> "$0.ranks"')
    facts = replace(FACTS, ranks=3, command=("srun", "-n", "3", "./app"))
    save(facts, folder)
    words = line(folder, "--through", "slurm", "--hosts", "h2:2,h3:1")
    predicted(slurm, words)
    ranks = set((folder / "skeleton.ranks").read_text().split())
    assert ranks == {"0=h2", "1=h2", "2=h3"}


def test_words_of_the_best_set_put_a_job_there(slurm: Slurm, scripted) -> None:
    folder = scripted("case $SLURM_JOB_NODELIST in *1*) t=3;; esac")
    save(replace(FACTS, ranks=4), folder)
    words = ["--from", "h[1-3]:2", "--nodes", "2", "--format", "slurm"]
    command = [sys.executable, "-m", "skelgen", "select", str(folder), *words]
    best = slurm.said(*command, "--budget", "200s", "--through", "slurm")
    assert best == "--nodes=2 --ntasks=4 --ntasks-per-node=2 --nodelist=h2,h3"
    job = fake_mpi.script(folder / "job.sh", "srun hostname")
    slurm.said("sh", "-c", f"sbatch --wait -o {folder}/where {best} {job}")
    assert sorted((folder / "where").read_text().split()) == ["h2", "h2", "h3", "h3"]


def test_a_step_that_hangs_is_ended_with_its_ranks_and_what_was_measured_stays(
    slurm: Slurm, scripted
) -> None:
    hangs = '[ $(hostname) != h3 ] || [ -e "$0.mended" ] || exec sleep 98765'
    folder = scripted(f'hostname >> "$0.ran"\n{hangs}')
    sets = ["--hosts", "h1,h2", "--hosts", "h1,h3", "--limit", "30s"]
    line = [sys.executable, "-m", "skelgen", "select", str(folder), "--json", *sets]
    found, said = predicted(slurm, ["salloc", "-Q", "-N3", *line])
    assert [one["hosts"] for one in found["sets"]] == [["h1", "h2"]]
    assert found["failed"][0]["hosts"] == ["h1", "h3"]
    assert "did not end within 30" in said

    pids = slurm.cluster.groups.processes
    assert comes_true(lambda: not any(b"98765" in line_of(pid) for pid in pids()))
    ran = (folder / "skeleton.ran").read_text().split()
    (folder / "skeleton.mended").touch()
    found, said = predicted(slurm, ["salloc", "-Q", "-N3", *line, "--resume"])
    assert len(found["sets"]) == 2 and not found["failed"]
    assert "going on after 3 runs of the call before" in said
    again = (folder / "skeleton.ran").read_text().split()
    assert ran.count("h2") == again.count("h2") == 3


def test_an_unknown_node_is_named_and_other_sets_go_on(slurm: Slurm, scripted) -> None:
    words = ["--through", "slurm", "--hosts", "h1,h7", "--hosts", "h1,h2"]
    found, said = predicted(slurm, line(scripted("true"), *words))
    assert [one["hosts"] for one in found["sets"]] == [["h1", "h2"]]
    assert "host h7: " in found["failed"][0]["reason"]
    assert "Slurm refused the job: sbatch: error: " in said


def test_a_node_outside_the_allocation_is_named(slurm: Slurm, scripted) -> None:
    words = ["--hosts", "h1,h3", "--hosts", "h1,h2"]
    inside = ["salloc", "-Q", "-w", "h1,h2", *line(scripted("true"), *words)]
    found, _ = predicted(slurm, inside)
    assert [one["hosts"] for one in found["sets"]] == [["h1", "h2"]]
    assert "host h3: " in found["failed"][0]["reason"]


def test_a_full_partition_is_waited_for_as_long_as_allowed(
    slurm: Slurm, scripted
) -> None:
    slurm.said(
        "sbatch", "-w", "h2", "--exclusive", "-o", "/dev/null", "--wrap=sleep 99"
    )
    until(slurm, "RUNNING")
    words = ["--through", "slurm", "--queue-limit", "1s", "--hosts", "h1,h2"]
    said = only_failure(slurm, line(scripted("true"), *words))
    # Slurm may not have had the time to say why it waits.
    assert "still waited after 1 s" in said and "and was cancelled; raise" in said
    slurm.said("scancel", "--state=RUNNING", "--user=root")
    until(slurm, "")


def test_what_a_partition_never_gives_is_not_waited_for(slurm: Slurm, scripted) -> None:
    options = ["--batch-options", "-p small", "--hosts", "h1,h2"]
    words = line(scripted("true"), "--through", "slurm", *options)
    said = only_failure(slurm, words)
    assert said.startswith("skelgen: error: h1,h2: host h2: Slurm refused the job: ")
    assert said.endswith("Requested node configuration is not available")


def test_a_host_that_is_down_is_named_and_other_sets_go_on(
    slurm: Slurm, scripted
) -> None:
    slurm.said("scontrol", "update", "nodename=h3", "state=down", "reason=test")
    words = ["--through", "slurm", "--hosts", "h1,h3", "--hosts", "h1,h2"]
    found, said = predicted(slurm, line(scripted("true"), *words))
    slurm.said("scontrol", "update", "nodename=h3", "state=resume")
    assert [one["hosts"] for one in found["sets"]] == [["h1", "h2"]]
    assert "host h3: Slurm job" in found["failed"][0]["reason"]
    assert "can never run" in said and "host h3 is down" in said


@pytest.mark.parametrize(
    ("what", "why"),
    [
        # Slurm ends the job's script, unless srun has ended before, and well.
        (
            ["scontrol", "update", "nodename=h3", "state=down", "reason=test"],
            r"\(NODE_FAIL\); host h3 is down|Node failure on h3",
        ),
        (
            ["scancel", "--state=RUNNING", "--user=root"],
            r"was ended from outside \(CANCELLED\)|failed with exit code",
        ),
    ],
    ids=["node", "job"],
)
def test_a_job_that_is_ended_from_outside_leaves_the_other_sets(
    slurm: Slurm, scripted, what: list[str], why: str, tmp_path: Path
) -> None:
    begun = tmp_path / "begun"
    script = f"[ $(hostname)-$SLURM_NNODES = h3-2 ] && touch {begun} && sleep 99"
    words = ["--through", "slurm", "--hosts", "h1,h3", "--hosts", "h1,h2"]
    command = slurm.cluster.words("head", line(scripted(script), *words))
    environment = {**os.environ, **slurm.environment()}
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment
    ) as running:
        # A job that runs, but whose script does not yet, is queued again.
        assert comes_true(begun.exists)
        slurm.said(*what)
        out, err = (text.decode() for text in running.communicate())
    slurm.said("scontrol", "update", "nodename=h3", "state=resume")
    found = json.loads(out)
    assert [one["hosts"] for one in found["sets"]] == [["h1", "h2"]]
    assert re.search(why, err)
    until(slurm, "")


def test_an_interrupt_cancels_the_job(slurm: Slurm, scripted) -> None:
    folder = scripted("sleep 99")
    words = line(folder, "--through", "slurm", "--hosts", "h1,h2")
    environment = {**os.environ, **slurm.environment()}
    command = ["nsenter", *(slurm.cluster.state / "head/enter").read_text().split()]
    with subprocess.Popen([*command, "--", *words], env=environment) as running:
        until(slurm, "RUNNING")
        running.send_signal(signal.SIGINT)
        assert running.wait(60) == 130
    until(slurm, "")
    assert comes_true(lambda: not [*folder.glob("job-*")])  # its script may still end


SILENCE = """
import os, sys, time
from pathlib import Path
from skelgen.launch.batch import BatchRunner, Patience
from skelgen.launch.batch_systems import Slurm
from skelgen.launch.hosts import Host
from skelgen.launch.launchers import Srun
patience = Patience(60, silence_s=float(sys.argv[2]))
runner = BatchRunner(Slurm(), Srun(("srun",)), Path(sys.argv[1]), patience)
run = runner.start(["echo", "fine"], ranks=1, hosts=[Host("h1")], environment={},
                   limit_s=None)
while (done := run.poll()) is None:
    time.sleep(0.01)
    if patience.silent_since is not None and patience.silence_s:
        os.environ["SLURM_CONF"] = sys.argv[3]
        Path(sys.argv[1], "silent").touch()
print(done.output or done.errors)
"""


def test_a_controller_that_is_down_is_named_or_waited_for(
    slurm: Slurm, tmp_path: Path
) -> None:
    slurm.stop_controller()
    # Commands that find no controller ask it for as long as this says.
    text, short = slurm.configuration.read_text(), tmp_path / "slurm.conf"
    short.write_text(text.replace("MessageTimeout=15", "MessageTimeout=2"))
    environment = {**os.environ, **slurm.environment(), "SLURM_CONF": str(short)}
    script = [sys.executable, "-c", SILENCE, str(tmp_path)]
    done = slurm.run([*script, "0"], env=environment, capture_output=True, text=True)
    assert done.stdout.startswith("Slurm has not answered for 0 s: sbatch: error: ")
    command = slurm.cluster.words("head", [*script, "100", str(slurm.configuration)])
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, text=True, env=environment
    ) as running:
        end = time.monotonic() + 60
        while not (tmp_path / "silent").exists() and time.monotonic() < end:
            time.sleep(0.05)
        slurm.start_controller()
        assert running.communicate()[0] == "fine\n\n"
