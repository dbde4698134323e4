"""The commands about monitors, on hosts that a pretended ssh reaches."""

import json
import os
import time
from pathlib import Path

import pytest

from skelgen.cli.main import run
from skelgen.errors import MachineError, UsageError
from skelgen.launch.launchers import Srun
from skelgen.launch.remote import Remote
from skelgen.monitor.day_files import DayFile
from skelgen.monitor.folders import make_private, this_host
from skelgen.monitor.link_files import LinkFile
from skelgen.monitor.links import agreed
from skelgen.monitor.probing import LinkProbe
from skelgen.monitor.records import SampleRow
from skelgen.monitor.sightings import Sighting, add_sighting
from skelgen.monitor.status import Status, locked, write_status
from skelgen.pipeline import monitor, monitor_series
from skelgen.pipeline.monitor_links import link_series

BEGIN = 1764028800.0


@pytest.fixture
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "state"
    monkeypatch.setenv("SKELGEN_MONITOR", str(folder))
    for name in ("SLURM_JOB_ID", "FLUX_URI", "PBS_JOBID"):
        monkeypatch.delenv(name, raising=False)
    return folder


@pytest.fixture
def ssh(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A remote shell; it keeps what it was asked."""
    script, log = tmp_path / "ssh", tmp_path / "asked"
    script.write_text(
        "#!/bin/sh\n"
        '[ "$1" = n9 ] && { echo "ssh: n9: No route to host" >&2; exit 255; }\n'
        f'echo "$1 $2" >> {log}\n'
        'echo "Welcome to $1"\n'
        'exec sh -c "$2"\n'
    )
    script.chmod(0o755)
    monkeypatch.setenv("SKELGEN_SSH", str(script))
    return log


def keep(state: Path, host: str, values: list[float], begin: float = BEGIN) -> None:
    file = DayFile(state / host, 10.0)
    for number, value in enumerate(values):
        file.add(SampleRow(begin + 10.0 * number, (value,)), ("cpu",))
    file.close()


def test_series_of_hosts_are_those_of_a_store(state: Path) -> None:
    keep(state, "n1", [0.5, 1.0])
    keep(state, "n2", [1.0, 0.25])
    one, two = monitor_series.series(["n1", "n2"], "cpu", BEGIN, BEGIN + 10)
    assert (one.host, one.quantity, one.values) == ("n1", "cpu", (0.5, 1.0))
    assert two.times == (BEGIN, BEGIN + 10)
    with pytest.raises(UsageError, match="no series of 'nothing'; there are: cpu"):
        monitor_series.series(["n1"], "nothing")


def test_show_gives_the_series_of_each_node_and_both_averages(
    state: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    keep(state, "n1", [1.0, 0.5, 1.0])
    keep(state, "n2", [1.0, 1.0, 0.5])
    assert run(["monitor", "show", "--last", "100000h", "--json"]) == 0
    said = json.loads(capsys.readouterr().out)
    assert [one["host"] for one in said["series"]] == ["n1", "n2"]
    assert said["series"][0]["quantity"] == "cpu"
    assert said["series"][0]["values"] == [1.0, 0.5, 1.0]
    assert said["series"][0]["times"][0] == BEGIN
    (average,) = said["averages"]
    assert (average["avg_min"], average["min_avg"]) == (0.5, 0.75)
    assert run(["monitor", "show", "--last", "100000h"]) == 0
    assert "avg-min" in capsys.readouterr().out


def test_show_says_what_is_not_there(
    state: Path, ssh: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["monitor", "show", "--hosts", this_host()]) == 3
    assert "no series of" in capsys.readouterr().err
    assert run(["monitor", "show", "--hosts", "n9"]) == 5
    assert "n9: ssh: n9: No route to host" in capsys.readouterr().err


def test_status_has_the_keys_that_are_part_of_the_interface(
    state: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (state / "n1").mkdir(parents=True)
    status = Status("n1", True, 7, BEGIN, BEGIN + 100, 10, 10.0, 0.001, 10**7, 5.0)
    write_status(state / "n1", status)
    assert run(["monitor", "status", "--json"]) == 0
    (node,) = json.loads(capsys.readouterr().out)["nodes"]
    wanted = "host since samples interval_s cpu_share rss_bytes gap_s".split()
    assert set(wanted) <= set(node)
    assert node["host"] == "n1" and node["gap_s"] > 10**6
    assert run(["monitor", "status"]) == 0
    assert "0.100%" in capsys.readouterr().out


def test_hosts_are_asked_by_a_remote_shell_and_those_that_fail_are_named(
    state: Path, ssh: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    line = ["monitor", "once", "--hosts", "n[1-2],n9", "--interval", "0.2s", "--json"]
    assert run(line) == 5
    said = capsys.readouterr()
    facts = json.loads(said.out)
    assert [0 <= one["cpu"] <= 1 for one in facts["nodes"]] == [True, True]
    assert facts["refused"] == [{"host": "n9", "reason": "ssh: n9: No route to host"}]
    assert said.err == "skelgen: error: n9: ssh: n9: No route to host\n"
    asked = ssh.read_text().splitlines()
    assert sorted(line.partition(" ")[0] for line in asked) == ["n1", "n2"]
    assert f"SKELGEN_MONITOR={state}" in asked[0]


def test_a_monitor_is_started_and_stopped_through_a_remote_shell(
    state: Path, ssh: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    line = ["monitor", "start", "--hosts", "n1", "--interval", "0.5s"]
    assert run(line) == 0
    assert capsys.readouterr().out.startswith("n1: monitor started (process ")
    try:
        for again in (line, ["monitor", "start"]):  # through ssh, and here
            assert run(again) == 2
            complaint = capsys.readouterr().err
            assert "runs on" in complaint and "stop it first" in complaint
    finally:
        assert run(["monitor", "stop", "--hosts", "n1"]) == 0


def test_a_monitor_that_was_stopped_is_told_also_where_the_store_is_broken(
    state: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    store = tmp_path / "broken.db"
    store.write_text("no store")
    folder = make_private(state / this_host())
    facts = {"time_s": 1.0, "key": "", "size": 1, "ranks": (0,), "processes": 1}
    more = {"application": "lu", "host": this_host(), "began": BEGIN}
    add_sighting(folder, Sighting(identity="x", **facts, **more))  # type: ignore[arg-type]
    assert run(["monitor", "start", "--interval", "0.5s"]) == 0
    capsys.readouterr()
    assert run(["monitor", "stop", "--store", str(store)]) == 3
    said = capsys.readouterr()
    assert "monitor stopped (process" in said.out and str(store) in said.err
    assert run(["monitor", "stop"]) == 2  # it runs no longer


def test_series_are_fetched_from_hosts_whose_files_are_not_seen_here(
    state: Path, ssh: Path
) -> None:
    keep(state, this_host(), [0.5, 0.75])  # what n1 says of itself
    (found,) = monitor_series.series(["n1"], "cpu", BEGIN, BEGIN + 100)
    assert (found.host, found.values) == ("n1", (0.5, 0.75))


@pytest.mark.parametrize("said", ["[1]", "{}", '{"curves": 7}', "nothing", ""])
def test_a_host_that_says_something_else_is_refused(
    state: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, said: str
) -> None:
    script = tmp_path / "ssh"
    script.write_text(f"#!/bin/sh\necho '{said}'\n")
    script.chmod(0o755)
    monkeypatch.setenv("SKELGEN_SSH", str(script))
    assert run(["monitor", "show", "--hosts", "n1"]) in (3, 5)
    assert run(["monitor", "status", "--hosts", "n1"]) == 5


def test_the_secret_of_links_is_on_no_command_line(
    state: Path,
    ssh: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("SKELGEN_MONITOR_SECRET", "correct horse battery")
    assert run(["monitor", "start", "--hosts", "n1,n2", "--links"]) == 2
    asked = ssh.read_text()
    assert "--links n1,n2" in asked and "horse" not in asked
    assert "expected one of n1, n2" in capsys.readouterr().err  # it is another host


def test_steps_of_an_allocation_are_given_the_secret_by_a_variable(
    state: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun: list[tuple[list[str], dict[str, str]]] = []

    def begin(command: list[str], log: Path, variables: dict[str, str]) -> int:
        begun.append((command, variables))
        raise MachineError("seen")

    monkeypatch.setattr("skelgen.pipeline.monitor.leave_running", begin)
    monkeypatch.setattr(
        "skelgen.pipeline.monitor.remote", lambda way: Remote(Srun(("srun",)))
    )
    with pytest.raises(MachineError, match="seen"):
        monitor.monitor_start(["n1", "n2"], 10, links=agreed(["n1", "n2"], 5e7))
    ((command, variables),) = begun
    assert "--links n1,n2 --link-budget=50000000.0" in " ".join(command)
    (secret,) = variables.values()
    assert len(secret) == 64 and not any(secret in word for word in command)


@pytest.mark.parametrize(
    ("words", "named"),
    [
        (["--links"], "--hosts n1,n2"),
        (["--links", "--hosts", "n1"], "expected two or more"),
        (["--links", "--hosts", "n1,n2", "--link-budget", "x"], "such as 50MB/h"),
        (["--links", "--hosts", "n1,n2", "--link-budget", "1kB/h"], "or more for 2"),
        (["--links", "--hosts", "n1,n2", "--link-port", "80"], "--link-port"),
    ],
)
def test_links_that_cannot_be_probed_are_a_mistake(
    state: Path, words: list[str], named: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["monitor", "start", *words]) == 2
    assert named in capsys.readouterr().err


def test_links_are_shown_and_forecast_where_they_are_known(
    state: Path, ssh: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    now = time.time()
    for host in ("n1", "n2", "n3"):
        keep(state, host, [0.5, 0.25] * 100, now - 3000)
    times = iter(now - 3000 + 20.0 * number for number in range(100))
    file = LinkFile(state / "n1", "n2", 20.0, 2, wall=lambda: next(times))
    for number in range(100):
        file.keep(LinkProbe(1e-4, 1e8 if number % 4 else 5e7))
    file.close()
    assert run(["monitor", "show", "--quantity", "bandwidth", "--json"]) == 0
    (found,) = json.loads(capsys.readouterr().out)["series"]
    assert found["host"] == "n1-n2" and set(found["values"]) == {1.0, 0.5}
    words = ["forecast", "--horizon", "5min", "--json", "--nodes"]
    assert run([*words, "n1,n2"]) == 0
    said = json.loads(capsys.readouterr().out)
    assert said["bandwidth"]["covariate"] == "avg-min" and said["missing"] == ""
    low, middle, high = (said["bandwidth"][name] for name in ("p5", "p50", "p95"))
    assert 0.5 <= low <= middle <= high <= 1.0
    assert middle == pytest.approx(0.875, abs=0.1)
    assert run([*words, "n2,n3"]) == 0
    said = json.loads(capsys.readouterr().out)
    assert said["bandwidth"] is None and said["cpu"]["p50"] > 0
    assert said["missing"].startswith("no bandwidth of n2-n3; ")
    assert run([*words[:-2], "--nodes", "n2,n3"]) == 0
    assert "skelgen monitor start --links" in capsys.readouterr().out


def test_hosts_elsewhere_tell_the_series_of_their_links(
    state: Path, ssh: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    here = this_host()
    file = LinkFile(state / here, "zz", 120.0, 1)
    file.keep(LinkProbe(1e-4, 1e8))
    file.close()
    monkeypatch.setattr("skelgen.pipeline.monitor_links.known", lambda: [])
    for module in ("links", "asking"):
        place = f"skelgen.pipeline.monitor_{module}.this_host"
        monkeypatch.setattr(place, lambda: "another")
    (found,) = link_series([here, "zz"], "bandwidth_bytes_per_s")
    assert (found.host, found.values) == (f"{here}-zz", (1e8,))
    assert "skelgen.monitor links" in ssh.read_text()


def test_a_batch_system_is_used_only_inside_its_allocation(
    state: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["monitor", "stop", "--hosts", "n1", "--through", "slurm"]) == 2
    assert "put the command into the job script" in capsys.readouterr().err


def inside_slurm(folder: Path, monkeypatch: pytest.MonkeyPatch, more: str = "") -> None:
    """Have a pretended allocation, whose step is one task on this node."""
    tools = folder / "bin"
    tools.mkdir()
    (tools / "sbatch").write_text("#!/bin/sh\n")
    (tools / "srun").write_text(
        f'#!/bin/sh\necho "$@" > {folder}/step\n'
        f'while [ "$1" != env ]; do shift; done\n{more}exec "$@"\n'
    )
    for tool in tools.iterdir():
        tool.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tools}:{os.environ['PATH']}")
    monkeypatch.setenv("SLURM_JOB_ID", "12")


def test_inside_an_allocation_monitors_are_one_step_that_goes_on(
    state: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    inside_slurm(tmp_path, monkeypatch)
    monkeypatch.setattr(monitor, "_runs_since", lambda host, when: host == "n1")
    monkeypatch.setattr(monitor, "_BEGIN_S", 1.0)
    answers = monitor.monitor_start(["n1", "n2"], 0.5)
    try:
        assert [bool(one.error) for one in answers] == [False, True]
        words = (tmp_path / "step").read_text()
        assert "--overlap" in words and "-w n1,n2" in words and "-n 2" in words
        assert "-m skelgen.monitor run --interval 0.5s" in words
    finally:
        step = int(answers[0].facts["step"])
        os.kill(step, 15)
        os.waitpid(step, 0)


def test_a_monitor_that_runs_is_refused_alike_here_by_ssh_and_in_a_step_that_goes_on(
    state: Path,
    ssh: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    here = this_host()
    said = []
    with locked(here):
        for ways in (["--json"], ["--hosts", "n1", "--json"]):
            assert run(["monitor", "start", *ways]) == 2
            said.append(json.loads(capsys.readouterr().out)["refused"][0]["reason"])
        # another task of the step has begun, so the step does not end
        inside_slurm(tmp_path, monkeypatch, '"$@"; exec sleep 60 # ')
        monkeypatch.setattr(monitor, "_runs_since", lambda host, when: host == "n2")
        answers = monitor.monitor_start([here, "n2"], 0.5)
    step = int(answers[1].facts["step"])
    os.kill(step, 15)
    os.waitpid(step, 0)
    assert answers[0].code == 2 and not answers[1].error
    assert {*said, answers[0].error} == {said[0]}
    assert "runs on" in said[0] and "stop it first" in said[0]


def test_a_unit_runs_the_monitor_of_this_python(
    state: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SKELGEN_STATE", "/home/a b/50%")
    assert run(["monitor", "unit", "--interval", "30s"]) == 0
    unit = capsys.readouterr().out
    assert "-m skelgen.monitor run --interval 30s\n" in unit
    assert 'Environment="SKELGEN_STATE=/home/a b/50%%"\n' in unit
    assert "WantedBy=default.target" in unit


@pytest.mark.parametrize("interval", ["0s", "-1s", "x", "1ms", "9999h", "nan"])
def test_an_interval_that_makes_no_sense_is_a_mistake(
    state: Path, interval: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["monitor", "start", f"--interval={interval}"]) == 2
    assert "--interval" in capsys.readouterr().err
