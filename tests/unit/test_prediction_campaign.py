"""Running a skeleton on node sets, with launchers that only look like an MPI's."""

from __future__ import annotations

import math
import os
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from skelgen.errors import ApplicationError, InputError, MachineError, UsageError
from skelgen.launch import consent
from skelgen.launch.host_runner import LocalRunner
from skelgen.launch.hosts import Host
from skelgen.launch.launchers import Hydra
from skelgen.launch.own_launches import OwnLaunch
from skelgen.launch.process import NO_RESULT, Finished
from skelgen.launch.run_end import failure_of
from skelgen.prediction import skeleton_runs
from skelgen.prediction.calibrate import calibrate, check_same_run
from skelgen.prediction.campaign import campaign
from skelgen.prediction.skeleton_output import section, section_s
from skelgen.prediction.skeleton_runs import SkeletonProgram
from skelgen.prediction.trials import Trials, blamed_hosts, explained, name_of
from skelgen.prediction.types import Timed
from skelgen.reference.compiled_program import COMPILER_FLAGS
from tests import fake_mpi
from tests.known_skeleton import FACTS
from tests.method_errors import ERRORS

PRINTS = 'echo "{\\"seconds\\": 2.0}"'
#: Fails on the host ``bad``, else runs the program; writes its words to a log.
LAUNCHER = (
    'printf "%s\\n" "$*" >> "$0.log"; case "$*" in *bad*) '
    'echo "ssh: Could not resolve hostname bad" >&2; exit 255;; esac\n'
    + fake_mpi.RUN_PROGRAM
)


@pytest.fixture
def folder(monkeypatch, tmp_path: Path) -> Path:
    """Give the folder of a compiled skeleton on a machine with an MPI."""
    fake_mpi.hydra(tmp_path / "bin", body=LAUNCHER)
    fake_mpi.only_path(monkeypatch, tmp_path, tmp_path / "bin")
    fake_mpi.script(tmp_path / "skel/skeleton", PRINTS)
    return tmp_path / "skel"


def prepare(folder: Path, facts=FACTS) -> SkeletonProgram:
    """Prepare a skeleton whose application this user has launched."""
    own = OwnLaunch(facts.command, facts.folder, facts.environment)
    return skeleton_runs.prepare(folder, facts, launch=own)


def measure(folder: Path, *node_sets: tuple[Host, ...], facts=FACTS, budget_s=0.0):
    return campaign(
        prepare(folder, facts),
        node_sets or [()],
        Trials(),
        budget_s=budget_s,
        interval_bound=0.05,
        errors=ERRORS,
        generator=np.random.default_rng(1),
    )


def test_the_skeleton_runs_three_times_even_without_budget(folder: Path):
    (only,), failures = measure(folder)
    assert only.runs_s == (2.0, 2.0, 2.0)
    assert only.time_s.p50 == pytest.approx(20.0)
    assert failures == ()


def test_runs_are_repeated_until_the_interval_is_narrow(folder: Path, tmp_path: Path):
    """Two noisy times come first, then steady ones."""
    count = tmp_path / "count"
    fake_mpi.script(
        folder / "skeleton",
        f"echo x >> {count}; n=$(wc -l < {count}); t=2.0; "
        '[ $n -eq 1 ] && t=2.4; [ $n -eq 2 ] && t=1.7; echo "{\\"seconds\\": $t}"',
    )
    (only,), _ = measure(folder, budget_s=math.inf)
    assert 6 <= len(only.runs_s) <= 60
    assert not any("too wide" in one.text for one in only.doubts)


def test_a_failing_node_set_is_named_and_the_others_go_on(folder: Path):
    good, bad = (Host("g1"), Host("g2")), (Host("g1"), Host("bad"))
    (only,), (failure,) = measure(folder, bad, good)
    assert only.hosts == good
    assert failure.hosts == bad
    assert "host bad" in failure.reason
    assert "Could not resolve" in failure.reason


def test_node_sets_take_turns_and_come_back_ordered(folder: Path, tmp_path: Path):
    fake_mpi.hydra(
        tmp_path / "bin",
        body='echo "$2" >> "$0.log"; t=2.0; [ "$2" = slow:2 ] && t=3.0; '
        'echo "{\\"seconds\\": $t}"',
    )
    facts = replace(FACTS, command=("mpirun", "-n", "2", "app"))
    both, _ = measure(folder, (Host("slow", 2),), (Host("fast", 2),), facts=facts)
    log = (tmp_path / "bin/mpirun.log").read_text().split()
    assert [one.hosts[0].name for one in both] == ["fast", "slow"]
    assert log[:4] == ["slow:2", "fast:2", "slow:2", "fast:2"]


def test_options_of_the_recorded_launch_are_kept(folder: Path, tmp_path: Path):
    words = ("mpirun", "-bind-to", "core", "-hosts", "a,b", "-n", "2", "app")
    measure(folder, (Host("g1"), Host("g2")), facts=replace(FACTS, command=words))
    line = (tmp_path / "bin/mpirun.log").read_text().splitlines()[0]
    assert line == f"-bind-to core -hosts g1:1,g2:1 -n 2 {folder}/skeleton"


def test_the_environment_of_the_recorded_run_is_set(folder: Path, tmp_path: Path):
    fake_mpi.script(folder / "skeleton", f'echo "$UCX_TLS" > {tmp_path}/seen; {PRINTS}')
    environment = (("OMPI_MCA_x", "1"), ("UCX_TLS", "self,sm"))
    measure(folder, facts=replace(FACTS, environment=environment))
    assert (tmp_path / "seen").read_text() == "self,sm\n"
    line = (tmp_path / "bin/mpirun.log").read_text().splitlines()[0]
    assert line == f"-genv UCX_TLS self,sm -n 2 {folder}/skeleton"


def test_settings_that_differ_from_the_recording_are_doubted(folder: Path, monkeypatch):
    monkeypatch.setenv("UCX_TLS", "tcp")
    monkeypatch.setenv("MPIR_CVAR_YIELD", "1")
    facts = replace(FACTS, environment=(("UCX_TLS", "self"), ("FI_PROVIDER", "shm")))
    (only,), _ = measure(folder, facts=facts)
    assert tuple(one.text for one in only.doubts) == (
        "MPIR_CVAR_YIELD is '1' here, was not set in the recording",
        "UCX_TLS is 'tcp' here, was 'self' in the recording",
    )


def test_a_hanging_skeleton_is_ended(folder: Path, monkeypatch):
    monkeypatch.setattr(skeleton_runs, "PATIENCE_FACTOR", 0.0)
    monkeypatch.setattr(skeleton_runs, "PATIENCE_S", 0.3)
    fake_mpi.script(folder / "skeleton", "sleep 60")
    _, (failure,) = measure(folder)
    assert "did not end" in failure.reason


@pytest.mark.parametrize(
    "body", ["exit 0", "echo hello", "echo '{}'", "echo '{\"seconds\": -1}'"]
)
def test_a_skeleton_without_a_time_fails(folder: Path, body):
    fake_mpi.script(folder / "skeleton", body)
    _, (failure,) = measure(folder)
    assert "printed no time" in failure.reason


def test_other_lines_around_the_time_do_not_matter():
    output = 'warning {\n{"seconds": 1.5, "ranks": 2}\n{"other": 1}\n'
    assert section_s(output, Path("skeleton")) == 1.5


def test_calibration_takes_turns_and_keeps_every_run(folder: Path):
    order: list[str] = []
    times = iter([19.0, 21.0, 20.0])

    def application() -> Timed:
        order.append("application")
        return Timed(next(times))

    measured = calibrate(prepare(folder, FACTS), application, runs=3)
    assert measured.application_runs_s == (19.0, 21.0, 20.0)
    assert measured.skeleton_runs_s == (2.0, 2.0, 2.0)
    assert order == ["application"] * 3
    assert not measured.recorded


@pytest.mark.parametrize(("slowest_s", "quiet"), [(20.2, True), (25.0, False)])
def test_an_unquiet_machine_is_told(folder: Path, caplog, slowest_s, quiet):
    times = iter([20.0, slowest_s, 20.1])
    calibrate(prepare(folder, FACTS), lambda: Timed(next(times)), runs=3)
    assert ("not quiet" in caplog.text) is not quiet


def test_what_others_took_is_taken_from_both_times(folder: Path):
    """A rank that waited half of the time for its core computed in the other half."""
    runs = iter([Timed(40.0, 20.0), Timed(30.0, 10.0), Timed(20.0, 0.0)])
    waits = iter([Timed(4.0, 2.0), Timed(3.0, 1.0), Timed(2.0, 0.0)])
    measured = calibrate(
        prepare(folder, FACTS), lambda: next(runs), skeleton=lambda: next(waits), runs=3
    )
    assert measured.application_runs_s == (20.0, 20.0, 20.0)
    assert measured.skeleton_runs_s == (2.0, 2.0, 2.0)
    assert measured.application_lost_s == (20.0, 10.0, 0.0)
    assert measured.skeleton_lost_s == (2.0, 1.0, 0.0)
    assert measured.ratio == 10.0
    assert measured.lost_share == pytest.approx(33 / 99)


@pytest.mark.parametrize(
    ("application", "skeleton"),
    [
        (Timed(40.0, 20.0), Timed(4.0)),
        (Timed(40.0), Timed(4.0, 2.0)),
        (Timed(40.0, 20.0), Timed(4.0, 4.0)),
    ],
)
def test_one_time_is_not_corrected_without_the_other(
    folder: Path, application, skeleton
):
    ready = prepare(folder, FACTS)
    measured = calibrate(ready, lambda: application, skeleton=lambda: skeleton, runs=1)
    assert measured.application_runs_s == (40.0,)
    assert measured.skeleton_runs_s == (4.0,)
    assert measured.application_lost_s == measured.skeleton_lost_s == ()


def test_a_skeleton_says_how_long_its_ranks_waited_for_cores():
    def said(queued: str) -> Timed:
        return section(f'{{"seconds": 1.5, "queued_s": {queued}}}', Path("skeleton"))

    assert said("[0.25, 0.5]") == Timed(1.5, 0.5)
    assert said("[0.25, -1.0]") == Timed(1.5)
    assert section('{"seconds": 1.5}', Path("skeleton")) == Timed(1.5)


@pytest.mark.parametrize(
    ("change", "application_s", "refused"),
    [
        ({}, 39.0, False),
        ({}, 41.0, True),
        ({}, 9.7, True),
        ({"expected_s": 0.2, "application_s": 2.0}, 79.0, False),
        ({"expected_s": 0.2, "application_s": 2.0}, 81.0, True),
        ({"method": "paper2005"}, 400.0, False),
    ],
)
def test_a_ratio_of_another_input_is_refused(change, application_s, refused):
    facts = replace(FACTS, expected_s=2.0, application_s=20.0)
    measured = replace(FACTS.calibration, application_runs_s=(application_s,))
    measured = replace(measured, skeleton_runs_s=(2.0,))
    refusal = pytest.raises(InputError, match=r"expected was 10 .*Nothing was stored")
    with refusal if refused else nullcontext():
        check_same_run(replace(facts, **change), measured)


def test_calibration_can_use_the_recorded_time(folder: Path):
    measured = calibrate(prepare(folder, FACTS), None, runs=2)
    assert measured.application_runs_s == (FACTS.application_s,)
    assert measured.recorded


def test_beside_a_recorded_time_nothing_is_taken_from_the_skeletons(folder: Path):
    measured = calibrate(
        prepare(folder, FACTS), None, runs=2, skeleton=lambda: Timed(2.0, 1.0)
    )
    assert measured.skeleton_runs_s == (2.0, 2.0)
    assert measured.lost_share == 0


def test_a_failing_skeleton_ends_the_calibration(folder: Path):
    fake_mpi.script(folder / "skeleton", "echo broken >&2; exit 3")
    with pytest.raises(ApplicationError, match="exit code 3: broken"):
        calibrate(prepare(folder, FACTS), None, runs=1)


def test_a_skeleton_is_compiled_when_it_is_not(folder: Path, tmp_path: Path):
    (folder / "skeleton").unlink()
    (folder / "skeleton.c").touch()
    (folder / "Makefile").write_text("$(shell touch canary)\n")
    body = (
        f'case $* in *skeleton.c) echo "$@" > {tmp_path}/words; '
        f"echo '#!/bin/sh' > skeleton; echo '{PRINTS}' >> skeleton; "
        "chmod +x skeleton;; esac"
    )
    fake_mpi.mpicc(tmp_path / "bin", "mpich", body=body)
    assert prepare(folder, FACTS).on_reference().time_s == 2.0
    flags = " ".join(COMPILER_FLAGS)
    assert (tmp_path / "words").read_text() == f"{flags} -o skeleton skeleton.c\n"
    assert not list(tmp_path.rglob("canary"))


def test_a_skeleton_that_cannot_be_compiled_is_named(folder: Path):
    (folder / "skeleton").unlink()
    (folder / "skeleton.c").touch()
    with pytest.raises(MachineError, match="not compiled and there is no mpicc"):
        prepare(folder, FACTS)


def test_of_a_launch_that_is_not_the_users_nothing_is_executed(
    folder: Path, tmp_path: Path
):
    evil = fake_mpi.hydra(tmp_path / "evil", body=f"touch {tmp_path}/ran")
    fake_mpi.script(tmp_path / "evil/mpirun", f"touch {tmp_path}/ran")
    settings = (("UCX_TLS", "self"),)
    words = (str(evil), "-bind-to", "core", "-n", "2", "app")
    facts = replace(FACTS, command=words, environment=settings)
    ready = skeleton_runs.prepare(folder, facts)
    mpirun, binary = str(tmp_path / "bin/mpirun"), str(folder / "skeleton")
    assert ready.reference == (mpirun, "-n", "2", binary)
    assert ready.on_reference().time_s == 2.0
    assert not (tmp_path / "ran").exists()
    (doubt,) = ready.doubts
    assert doubt.text == "UCX_TLS was 'self' in the recording and is not set"


@pytest.mark.parametrize("name", ["", "skeleton", "skeleton.c", "Makefile"])
def test_the_skeleton_of_another_user_is_not_run_unless_allowed(
    folder: Path, name: str, monkeypatch
):
    (folder / "skeleton.c").touch()
    (folder / "Makefile").touch()
    os.utime(folder / "skeleton.c", (1, 1))
    others = (folder / name).absolute()
    owner = consent.owner_of
    monkeypatch.setattr(
        consent, "owner_of", lambda path: 4242 if path == others else owner(path)
    )
    with pytest.raises(UsageError, match=r"belongs to user 4242.*--allow-command"):
        skeleton_runs.prepare(folder, FACTS)
    allowed = skeleton_runs.prepare(folder, FACTS, consent=consent.Consent(True))
    assert allowed.on_reference().time_s == 2.0


def test_an_empty_folder_has_no_skeleton(folder: Path):
    (folder / "skeleton").unlink()
    with pytest.raises(InputError, match=r"neither skeleton nor skeleton\.c"):
        prepare(folder, FACTS)


def test_a_machine_without_the_recorded_launcher_uses_its_own(
    folder: Path, tmp_path: Path
):
    facts = replace(FACTS, command=("/elsewhere/mpiexec", "-n", "2", "app"))
    ready = prepare(folder, facts)
    assert ready.reference[0] == str(tmp_path / "bin/mpirun")


def test_options_for_the_launcher_of_another_mpi_are_not_used(
    folder: Path, tmp_path: Path
):
    """The mpirun of this machine is MPICH's, the recorded one was Open MPI's."""
    words = ("mpirun", "--mca", "btl", "tcp", "-n", "2", "app")
    facts = replace(FACTS, command=words, mpi="Open MPI v5.0.11")
    (only,), _ = measure(folder, facts=facts)
    assert any("recorded with Open MPI" in one.text for one in only.doubts)
    line = (tmp_path / "bin/mpirun.log").read_text().splitlines()[0]
    assert line == f"-n 2 {folder}/skeleton"


@pytest.mark.parametrize("launch", ["-n 1 a : -n 1 b", "a : b", "-n 4 a"])
def test_a_launch_of_other_ranks_lends_its_options_only(
    folder: Path, tmp_path: Path, launch: str
):
    words = ("mpirun", "-bind-to", "core", *launch.split())
    reference = prepare(folder, replace(FACTS, command=words)).reference
    mpirun, binary = str(tmp_path / "bin/mpirun"), str(folder / "skeleton")
    assert reference == (mpirun, "-bind-to", "core", "-n", "2", binary)


def test_an_old_skeleton_is_compiled_again_where_that_is_possible(
    folder: Path, tmp_path: Path, caplog
):
    (folder / "skeleton.c").touch()
    os.utime(folder / "skeleton", (1, 1))
    prepare(folder, FACTS)
    assert "used as it is" in caplog.text
    fake_mpi.mpicc(tmp_path / "bin", "mpich", body=f"touch {tmp_path}/made")
    prepare(folder, FACTS)
    assert (tmp_path / "made").exists()


def test_only_hosts_of_the_set_are_blamed():
    done = Finished(("mpirun",), 1, 0.1, "", "n10: no route; also n1.")
    assert blamed_hosts(done, [Host("n1"), Host("n2"), Host("n10")]) == ["n10"]


def test_a_node_set_is_written_as_the_user_could():
    assert name_of((Host("a"), Host("b", 2))) == "a,b:2"
    assert name_of(()) == "this machine"


def test_a_run_without_result_says_why_in_place_of_an_exit_code():
    why = "Slurm job 7 was ended from outside (NODE_FAIL)"
    assert failure_of(Finished((), NO_RESULT, 1.0, "", why)) == why


def test_a_run_that_lost_a_node_failed_though_srun_ended_well():
    said = "srun: error: Node failure on n3\nsrun: Job step aborted\n"
    done = Finished(("srun",), 0, 1.0, '{"seconds": 1}', said)
    assert failure_of(done) == "was not run whole: Node failure on n3"


@pytest.mark.parametrize(
    ("reason", "text"),
    [
        ("ssh: no host n2", "ssh: no host n2"),
        ("Launch proxy failed.", "host n2 cannot be used: Launch proxy failed."),
    ],
)
def test_hosts_that_a_launcher_does_not_name_are_found(
    tmp_path: Path, reason: str, text: str
) -> None:
    refuses = 'case "$*" in *n2*) exit 255;; esac'
    runner = LocalRunner(Hydra((str(fake_mpi.script(tmp_path / "mpirun", refuses)),)))
    assert explained(reason, runner, [Host("n1"), Host("n2")]) == text


def test_a_launch_recorded_in_a_batch_job_starts_all_ranks_here(folder: Path):
    """Without a number the launcher took that of the job; here it would start one."""
    facts = replace(FACTS, command=("mpirun", "-bind-to", "core", "./app"))
    mpirun, binary = str(folder.parent / "bin/mpirun"), str(folder / "skeleton")
    ready = prepare(folder, facts)
    assert ready.reference == (mpirun, "-bind-to", "core", "-n", "2", binary)
    assert ready.on_reference().time_s == 2.0
