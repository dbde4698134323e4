"""A payload in every text that tells of hosts and jobs: hostfiles, batch systems.

The commands of a batch system are scripts that print what a test says. Where a command
is asked for fields, its answer is made of these, so that a new field is attacked
without anybody thinking of it.
"""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import ClusterShell.NodeSet
import pytest

from benchmarks import fuzzing
from skelgen.cli.main import run as skelgen
from skelgen.launch import batch, mpi
from skelgen.launch.batch_systems import BatchSystem, Flux, Pbs, Slurm
from skelgen.launch.launch_method import _SYSTEMS
from skelgen.launch.way import Way
from skelgen.pipeline import machine_mpi, mix
from tests import fake_mpi, fuzz_cases
from tests.adversary.payloads import OBEYED, payloads

PAYLOADS = sorted(payloads(Path("x"), Path("x")))
#: Each round of a batch system starts a dozen processes: these stand for the others.
SPOKEN = ("c", "option", "shell", "terminal")
#: Prints what a test says, and leaves what a job would.
ANSWER = """
for word; do script=$word; done
[ -d "$0.job" ] && [ -f "$script" ] && cp "$0.job/"* "${script%/*}"
cat "$0.out"; cat "$0.err" >&2
exit $(cat "$0.code")
"""


@dataclass(frozen=True)
class Machine:
    """A folder with what commands read, another one with what they start."""

    root: Path
    canary: Path
    program: Path

    @property
    def work(self) -> Path:
        return self.root / "work"

    @property
    def tools(self) -> Path:
        return self.root / "tools"

    def around(self) -> set[str]:
        inside = (self.work, self.root / "state")
        paths = self.root.rglob("*")
        return {str(path) for path in paths if not {*inside} & {path, *path.parents}}

    def answers(
        self, name: str, output: str = "", errors: str = "", code: int = 0
    ) -> None:
        """Let a command of a batch system print this."""
        fake_mpi.script(self.tools / name, ANSWER)
        for suffix, text in (("out", output), ("err", errors), ("code", str(code))):
            (self.tools / f"{name}.{suffix}").write_text(text)

    def job_leaves(self, name: str, **files: str) -> None:
        """Let a command that submits jobs leave files in the folder of the job."""
        folder = self.tools / f"{name}.job"
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        for file, text in files.items():
            (folder / file).write_text(text)


@pytest.fixture(scope="module")
def good(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Yield a folder with a skeleton, phases and an MPI that is a shell script."""
    folder = tmp_path_factory.mktemp("good")
    before = Path.cwd()
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(mpi, "search_path", mpi.search_path)
        for module in (machine_mpi, mix):
            patched.setattr(module, "calibrate", module.calibrate)
        kept = ("CACHE", "STATE", "TRUST", "STORE", "MONITOR", "SSH")
        for name in ("PATH", *(f"SKELGEN_{word}" for word in kept)):
            patched.setenv(name, os.environ.get(name, ""))
        os.chdir(folder)
        fuzzing.pretend(folder)
        fuzz_cases.make(folder)
        os.chdir(before)
    yield folder


@pytest.fixture
def machine(
    good: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Machine]:
    found = Machine(tmp_path, tmp_path / "canary", tmp_path / "evil")
    fake_mpi.script(found.program, f"touch {found.canary}")
    shutil.copytree(good, found.work)
    monkeypatch.chdir(found.work)
    monkeypatch.setenv("PATH", f"{found.tools}:{found.work}/bin:/usr/bin:/bin")
    monkeypatch.setattr(mpi, "search_path", lambda: [found.tools, found.work / "bin"])
    monkeypatch.setenv("SKELGEN_STATE", str(tmp_path / "state"))
    monkeypatch.setattr("skelgen.prediction.skeleton_facts.SHORTEST_TRUSTED_S", 1e-6)
    for name in ("_LOOK_S", "_FIRST_S", "_FILES_S", "_GONE_S"):
        monkeypatch.setattr(batch, name, 0.01)
    _groups(tmp_path / "groups", monkeypatch)
    mpi.find_mpi.cache_clear()  # other tests found the MPI of this machine
    yield found
    mpi.find_mpi.cache_clear()


def _groups(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let ClusterShell ask a shell for groups, as on sites with Slurm."""
    folder.mkdir()
    says = "[Main]\ndefault: s\n[s]\nmap: echo n1 # $GROUP\nlist: echo a\nall: echo n1"
    (folder / "groups.conf").write_text(f"{says}\n")
    known = ClusterShell.NodeSet.NodeUtils.GroupResolverConfig(
        [str(folder / "groups.conf")]
    )
    monkeypatch.setattr(ClusterShell.NodeSet, "RESOLVER_STD_GROUP", known)


@pytest.fixture
def attacked(machine: Machine, capfd) -> Callable[..., str]:
    """Return what runs a command and checks that no payload did anything."""
    before = None

    def run(*words: str) -> str:
        nonlocal before
        before = machine.around() if before is None else before
        capfd.readouterr()
        code = skelgen([*words])
        out, err = capfd.readouterr()
        assert code in (0, 2, 3, 5, 7), (words, err)
        assert not OBEYED.search(out + err), (words, out, err)
        assert not machine.canary.exists(), words
        assert machine.around() == before, words
        errors = [line for line in err.splitlines() if "error: " in line[:18]]
        assert len(errors) == (code != 0), (words, err)
        assert all(line.startswith("skelgen: ") for line in err.splitlines()), err
        return out + err

    return run


#: Where a hostfile, or a list of hosts, may have any text.
PLACES = (
    *("{}", "{} slots=2", "n1 slots={}", "n1 {}", "# {}", "n1:{}", "n[{}]", "n1,{}"),
    *("@{}", "@s:{}", "@{}:a", "@a[{}]", "n1!{}", "{}n1:2"),
)


@pytest.mark.parametrize("name", PAYLOADS)
def test_hostfiles_run_nothing(machine: Machine, attacked, name: str) -> None:
    text = payloads(machine.canary, machine.program)[name]
    for place in PLACES:
        # A shell needs no blanks, at which the lines of a hostfile are parted.
        line = place.format(text.replace(" ", "${IFS}"))
        (machine.work / "hosts").write_text(f"{line}\nn1 slots=2\n")
        attacked("predict", "skel", "--hostfile", "hosts", "--budget", "1ms")
        attacked("predict", "skel", "--hosts", line, "--budget", "1ms")
    words = ("--from", "hosts", "--nodes", "1", "--budget", "1ms")
    attacked("select", "skel", *words)
    attacked("measure", "phases", "--hostfile", "hosts", "--", "mpirun", "./app")
    attacked("calibrate", "skel", "--hostfile", "hosts", "--", "mpirun", "./app")


def test_a_group_of_hosts_that_the_site_knows_is_one(machine: Machine) -> None:
    (machine.work / "hosts").write_text("@s:rack-1.a slots=4\n")
    words = ["predict", "skel", "--hostfile", "hosts", "--budget", "1ms"]
    assert skelgen(words) == 0


#: What fields of Slurm's and Flux's questions say of a job that waits.
WAITING = {
    **{"%A": "7", "%T": "PENDING", "%r": "Resources", "%N": "n1"},
    **{"{state}": "SCHED", "{result}": "", "{exception.note}": "", "{nodelist}": "n1"},
    "{id.f58}": "f7",
}
QSTAT = """Job Id: 7.pbs
    Job_Name = skelgen
    job_state = Q
    Variable_List = PBS_O_HOME=/home/me,
\tPBS_O_LANG=C
    comment = Not Running: Insufficient
\tresources
"""
PBSNODES = "n1\n     Mom = n1\n     state = free\n     comment = fine\n"
FORMAT = re.compile(r"%[A-Za-z]|\{[a-z0-9_.]+\}")
#: The values in an answer that is no list of fields.
VALUE = re.compile(r"(?<= = ).*(?:\n\t.*)*|^\S+$|(?<=: ).*", re.M)


def asked(words: list[str], state: str) -> Iterator[tuple[str, str]]:
    """Yield answers to a question with ``\\0`` in one of its fields after another."""
    form = words[words.index("-o") + 1]
    values = WAITING | ({"%T": state} if state else {})
    fields = FORMAT.findall(form)
    assert fields and {*fields} <= {*values}, f"no answer is known to {form}"
    for attacked_field in fields:
        yield (
            attacked_field,
            FORMAT.sub(
                lambda found, this=attacked_field: (
                    "\0" if found[0] == this else values[found[0]]
                ),
                form,
            ),
        )


def listed(text: str) -> Iterator[tuple[str, str]]:
    """Yield an answer with ``\\0`` in one of its values after another."""
    for value in VALUE.finditer(text):
        yield value[0], text[: value.start()] + "\0" + text[value.end() :]


@dataclass(frozen=True)
class Commands:
    """The commands of a batch system, and good answers of all of them."""

    system: BatchSystem
    good: dict[str, str]

    def answers(self) -> Iterator[tuple[str, str]]:
        """Yield commands and their answers with ``\\0`` where a payload belongs."""
        if isinstance(self.system, Pbs):
            yield from (("qstat", text) for _, text in listed(QSTAT))
            yield from (("pbsnodes", text) for _, text in listed(PBSNODES))
        else:
            hosts = self.system.inquiry(["n1"])
            for words, state in (
                (self.system.question("7"), ""),
                (hosts, "idle"),
                (self.system.search("skel"), ""),
            ):
                # Flux has one command for all of it; what it reads is told apart.
                yield from ((words[0], text) for _, text in asked(words, state))
        for number in ("{}", "7;{}", "7.{}", "7\n{}", "f{}"):
            yield self.system.submission(JOB)[0], number.format("\0")


JOB = batch.BatchJob(Path("/s/job.sh"), Path("/s/log"), 4)
SYSTEMS = {
    Way.SLURM: Commands(
        Slurm(),
        {
            "sbatch": "7",
            "squeue": "PENDING|Resources",
            "scancel": "",
            "sinfo": "n1|idle",
        },
    ),
    Way.PBS: Commands(
        Pbs(),
        {
            "qsub": "7.pbs",
            "qselect": "7.pbs",
            "qstat": QSTAT,
            "qdel": "",
            "pbsnodes": PBSNODES,
        },
    ),
    Way.FLUX: Commands(Flux(), {"flux": "f7"}),
}


def test_all_batch_systems_are_attacked() -> None:
    assert {*SYSTEMS} == {*_SYSTEMS}


def predicted(way: Way) -> list[str]:
    words = ["predict", "skel", "--hosts", "n1:4", "--through", way.value]
    return [*words, "--budget", "1ms", "--queue-limit", "20ms"]


@pytest.mark.parametrize("name", SPOKEN)
@pytest.mark.parametrize("way", SYSTEMS)
def test_answers_of_batch_systems_run_nothing(
    machine: Machine, attacked, way: Way, name: str
) -> None:
    text = payloads(machine.canary, machine.program)[name]
    one = SYSTEMS[way]
    for command, answer in one.answers():
        for known, fine in one.good.items():
            machine.answers(known, fine)
        machine.answers(command, answer.replace("\0", text))
        attacked(*predicted(way))


@pytest.mark.parametrize("name", SPOKEN)
@pytest.mark.parametrize("way", SYSTEMS)
def test_complaints_of_batch_systems_run_nothing(
    machine: Machine, attacked, way: Way, name: str
) -> None:
    text = payloads(machine.canary, machine.program)[name]
    one = SYSTEMS[way]
    for attacked_command in one.good:
        for known, fine in one.good.items():
            machine.answers(known, fine)
        machine.answers(attacked_command, errors=text, code=1)
        attacked(*predicted(way))


@pytest.mark.parametrize("name", SPOKEN)
def test_what_jobs_leave_runs_nothing(machine: Machine, attacked, name: str) -> None:
    text = payloads(machine.canary, machine.program)[name]
    for known, fine in SYSTEMS[Way.SLURM].good.items():
        machine.answers(known, fine)
    left = {"status": "1\n", "out": "", "err": "", "log": ""}
    for file in left:
        for status in ("0\n", "1\n"):
            files = left | {"status": status, file: text}
            machine.job_leaves("sbatch", **files)
            attacked(*predicted(Way.SLURM))
