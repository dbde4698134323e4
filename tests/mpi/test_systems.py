"""The program that measures systems, on each MPI, with one rank and several."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from skelgen import _paths
from skelgen.systems.facts import measurement_of
from skelgen.systems.program import MEASURING_FLAGS
from skelgen.systems.program_output import read_printed
from skelgen.systems.types import Printed
from tests.c_warnings import WARNINGS
from tests.mpis import FAMILIES, MPIS, TestMpi

pytestmark = [
    pytest.mark.mpi,
    pytest.mark.skipif(not MPIS, reason="no mpicc with its mpirun was found"),
]

ROOT = Path(__file__).parents[2]
#: Seconds for cores, grid, messages inside a host, between two, collectives.
LITTLE = ["0.2", "0.05", "0.1", "0.1", "0.2"]
COLLECTIVES = {"BC", "reduce", "allreduce", "allgather", "alltoall", "barrier"}


@pytest.fixture(scope="module", params=FAMILIES, ids=[mpi.name for mpi in FAMILIES])
def mpi(request: pytest.FixtureRequest) -> TestMpi:
    return request.param


@pytest.fixture(scope="module")
def program(mpi: TestMpi, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Compile it with all warnings and with the flags that users get."""
    made = tmp_path_factory.mktemp("systems") / "measure"
    sources = [str(path) for path in _paths.system_sources().glob("*.c")]
    for flags in (WARNINGS, MEASURING_FLAGS):
        words = [str(mpi.compiler), *flags, "-o", str(made), *sources, "-lm"]
        done = subprocess.run(words, capture_output=True, text=True, check=False)
        assert (done.returncode, done.stderr) == (0, "")
    return made


def printed(mpi: TestMpi, program: Path, ranks: int) -> Printed:
    done = mpi.run(ranks, str(program), "run", *LITTLE)
    assert done.returncode == 0, done.stderr
    return read_printed(done.stdout, program)


def test_one_rank_measures_its_core_and_sends_nothing(
    mpi: TestMpi, program: Path
) -> None:
    found = printed(mpi, program, 1)
    (host,) = found.hosts
    assert host.host == os.uname().nodename
    assert host.kernel == f"Linux {os.uname().release}"
    assert host.compiler and host.mpi and host.memory_bytes
    assert {(one.name, one.cores) for one in found.rates} == {
        ("integer_add", 1),
        ("integer_multiply_add", 1),
        ("float_multiply_add", 1),
        ("platform_contribution", 1),
    }
    assert {one.name for one in found.memory} == {"read", "write", "chase"}
    assert 16 << 20 in {one.size_bytes for one in found.memory if one.name == "read"}
    assert all(3 <= len(one.values) <= 5 for one in (*found.rates, *found.memory))
    assert not found.messages


@pytest.mark.parametrize("ranks", [2, 3])
def test_several_ranks_measure_all_numbers_of_cores_and_of_ranks(
    mpi: TestMpi, program: Path, ranks: int
) -> None:
    found = printed(mpi, program, ranks)
    assert {one.cores for one in found.rates} == set(range(1, ranks + 1))
    assert {one.cores for one in found.memory if one.name == "read"} == set(
        range(1, ranks + 1)
    )
    assert {one.cores for one in found.memory if one.name == "chase"} == {1, ranks}
    assert {one.ranks for one in found.messages if one.operation == "BC"} == set(
        range(2, ranks + 1)
    )
    assert {one.operation for one in found.messages} == {"SR", *COLLECTIVES}
    sent = [one for one in found.messages if one.operation == "SR"]
    assert {one.ranks for one in sent} == {2}
    assert [one.size_bytes for one in sent] == sorted(one.size_bytes for one in sent)
    assert {one.hosts for one in found.messages} == {(os.uname().nodename,)}
    whole = measurement_of([found])
    assert all(fact.low <= fact.value <= fact.high for fact in whole.facts)
    assert len(whole.operations) == 1 + len(COLLECTIVES) * (ranks - 1)


def test_arithmetic_is_not_left_out_by_the_compiler(
    mpi: TestMpi, program: Path
) -> None:
    """No core does more than a few dozen operations each nanosecond."""
    for one in printed(mpi, program, 1).rates:
        assert 1e4 < min(one.values) <= max(one.values) < 1e11


@pytest.mark.parametrize(
    "words",
    [[], ["run"], ["run", *LITTLE[:4]], ["run", "0", *LITTLE[1:]], ["time"], ["moon"]],
)
def test_words_that_do_not_fit_are_told(program: Path, words: list[str]) -> None:
    done = subprocess.run(
        [program, *words], capture_output=True, text=True, check=False
    )
    assert done.returncode == 2
    assert done.stderr.startswith("usage: measure run")
    assert not done.stdout


def test_the_kernels_files_say_what_a_host_has(program: Path, tmp_path: Path) -> None:
    for name, speed, is_card in (
        ("eth0", "10000", True), ("ib0", "-1", True), ("br0", "40000", False),
        ("eth1", "", True),
    ):  # fmt: skip
        card = tmp_path / "sys/class/net" / name
        card.mkdir(parents=True)
        (card / "speed").write_text(speed)
        if is_card:
            (card / "device").mkdir()
    (tmp_path / "proc").mkdir()
    cpu = 'processor\t: 0\nmodel name\t: A "fast\\CPU"\ncpu MHz\t\t: 2500.5\n'
    (tmp_path / "proc/cpuinfo").write_text(cpu)
    (tmp_path / "proc/meminfo").write_text("MemTotal:   2048 kB\n")
    words = [program, "about", tmp_path]
    done = subprocess.run(words, capture_output=True, text=True, check=True)
    (host,) = read_printed(done.stdout, program, whole=False).hosts
    assert host.networks == (("eth0", 1.25e9),)
    assert (host.cpu, host.clock_hz) == ("A ?fast?CPU?", 2500.5e6)
    assert host.memory_bytes == 2048 << 10
    assert host.cores == len(os.sched_getaffinity(0))


def test_a_program_of_the_user_is_timed_and_its_end_told(program: Path) -> None:
    script = 'echo \'{"system": "end"}\'; exec sleep 0.2'
    words = [program, "time", "sh", "-c", script]
    done = subprocess.run(words, capture_output=True, text=True, check=True)
    (time,) = read_printed(done.stdout, program, whole=False).times
    assert 0 < time.values[0] <= 1 / 0.2
    assert "end" in done.stderr and "end" not in done.stdout
    for script, code in (("exit 3", 3), ("kill -9 $$", 137)):
        words = [program, "time", "sh", "-c", script]
        done = subprocess.run(words, capture_output=True, text=True, check=False)
        assert (done.returncode, done.stdout) == (code, "")
    words = [program, "time", "./no-such-program"]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.returncode == 127
    assert "cannot run ./no-such-program: No such file" in done.stderr


def test_a_machine_is_measured_and_shown_from_the_command_line(
    mpi: TestMpi, tmp_path: Path
) -> None:
    folder = mpi.compiler.parent
    environment = {
        **os.environ,
        "PYTHONPATH": str(ROOT),
        "PATH": f"{folder}:{os.environ['PATH']}",
        "SKELGEN_STORE": str(tmp_path / "store.db"),
        "SKELGEN_CACHE": str(tmp_path / "cache"),
    }
    kind = "openmpi" if len(mpi.launcher) > 1 else "mpich"
    name = os.uname().nodename
    said = {}
    for words in (
        [
            "measure",
            "--budget",
            "1s",
            "--mpi",
            kind,
            "--benchmark",
            "--json",
            "--",
            "true",
        ],
        ["show", name, "--json"],
        ["list", "--json"],
    ):
        done = subprocess.run(
            [sys.executable, "-m", "skelgen", "system", *words],
            capture_output=True, text=True, check=False, env=environment, cwd=tmp_path,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        said[words[0]] = json.loads(done.stdout)
    assert said["measure"]["kept"] == str(tmp_path / "store.db")
    facts = {one["name"]: one for one in said["show"]["facts"]}
    assert facts["cores"]["value"] == len(os.sched_getaffinity(0))
    assert facts["platform_contribution:true"]["repeats"] == 5
    assert facts["platform_contribution"]["value"] > 0
    assert facts["read_16mib"]["unit"] == "bytes/s"
    assert [one["host"] for one in said["list"]["hosts"]] == [name]
