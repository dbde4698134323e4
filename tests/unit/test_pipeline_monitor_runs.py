"""Runs that monitors watched are joined, get their loads, and go into the store."""

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skelgen.errors import SkelgenError
from skelgen.monitor.day_files import DayFile
from skelgen.monitor.folders import make_private
from skelgen.monitor.records import SampleRow
from skelgen.monitor.sightings import Sighting, add_sighting
from skelgen.pipeline.monitor_run_joins import joined
from skelgen.pipeline.monitor_runs import hand_over
from skelgen.store import Run, open_store

BEGIN = 1764028800.0
COLUMNS = ("cpu", "received_bytes_per_s:eth0", "sent_bytes_per_s:eth0")


@pytest.fixture
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("SKELGEN_MONITOR", str(tmp_path / "state"))
    monkeypatch.setenv("SKELGEN_STORE", str(tmp_path / "store.db"))
    return tmp_path / "state"


def sighting(host: str, ranks: tuple[int, ...], **more: object) -> Sighting:
    facts = {
        "identity": f"{host}-{ranks}-{more.get('began', 0)}",
        "application": "lu",
        "host": host,
        "began": BEGIN,
        "time_s": 40.0,
        "key": "slurm 7.0",
        "size": 4,
        "ranks": ranks,
        "processes": len(ranks),
        "costs": {"cpu_s": 70.0, "memory_bytes": 1000.0},
        **more,
    }
    return Sighting(**facts)  # type: ignore[arg-type]


def keep(state: Path, host: str, cpu: list[float], begin: float = BEGIN) -> None:
    file = DayFile(state / host, 10.0)
    for number, value in enumerate(cpu):
        file.add(SampleRow(begin + 10.0 * number, (value, 5.0, 2.0)), COLUMNS)
    file.close()


def stored(state: Path) -> list[Run]:
    with open_store(str(state.parent / "store.db")) as store:
        return store.runs()


def test_parts_of_a_launch_on_two_nodes_become_one_run(state: Path) -> None:
    keep(state, "n1", [0.9, 1.0, 0.5, 1.0, 0.5])
    keep(state, "n2", [0.8, 0.5, 1.0, 0.5, 1.0])
    add_sighting(
        state / "n2", sighting("n2", (2, 3), began=BEGIN + 0.5, jobs={"JOB_ID": "7"})
    )
    add_sighting(state / "n1", sighting("n1", (0, 1), inputs="n=2000,mesh=fine"))
    done = hand_over()
    assert len(done.added) == 1 and not done.waiting
    (run,) = stored(state)
    assert (run.application, run.ranks, run.nodes, run.ranks_per_node) == (
        "lu",
        4,
        2,
        2,
    )
    assert run.hosts == ("n1", "n2") and run.allocation == "7"
    assert run.time_s == pytest.approx(40.5) and run.started == BEGIN
    assert dict(run.inputs) == {"n": 2000.0, "mesh": "fine"}
    loads, costs = dict(run.loads), dict(run.costs)
    assert loads == {
        "cpu_start": 0.8,
        "cpu_avg_min": pytest.approx(0.5),
        "cpu_min_avg": pytest.approx(0.75),
    }
    assert costs["cpu_s"] == 140.0 and costs["memory_bytes"] == 2000.0
    assert costs["received_bytes"] == round(5 * 40.5) * 2
    again = hand_over()
    assert not again.added and again.already == 1 and len(stored(state)) == 1


def test_the_load_of_a_run_is_not_that_of_the_run_itself(state: Path) -> None:
    keep(state, "n1", [0.9])
    file = DayFile(state / "n1", 10.0)
    for number in range(1, 5):
        row = SampleRow(BEGIN + 10.0 * number, (0.3, 5.0, 2.0, 0.7))
        file.add(row, (*COLUMNS, "cpu_left"))
    file.close()
    add_sighting(state / "n1", sighting("n1", (0,), key=""))
    (run,) = hand_over().added
    assert dict(run.loads) == {
        "cpu_start": 0.9,
        "cpu_avg_min": pytest.approx(0.7),
        "cpu_min_avg": pytest.approx(0.7),
    }


def test_a_launch_waits_until_all_nodes_have_told(state: Path) -> None:
    make_private(state / "n1")
    make_private(state / "n2")
    add_sighting(state / "n1", sighting("n1", (0, 1)))
    done = hand_over()
    assert not done.added and [one.hosts for one in done.waiting] == [("n1",)]
    add_sighting(state / "n2", sighting("n2", (2, 3)))
    assert len(hand_over().added) == 1


def test_runs_stay_where_they_are_when_the_store_cannot_be_written(
    state: Path, tmp_path: Path
) -> None:
    make_private(state / "n1")
    add_sighting(state / "n1", sighting("n1", (0,), key="", size=0))
    (tmp_path / "file").touch()
    with pytest.raises(SkelgenError):
        hand_over(place=str(tmp_path / "file/store.db"))
    assert [run.ranks for run in hand_over().added] == [1]


def test_inputs_that_cannot_be_read_are_kept_as_a_word(state: Path) -> None:
    make_private(state / "n1")
    add_sighting(state / "n1", sighting("n1", (0,), key="", inputs="n = big, large"))
    (run,) = hand_over().added
    assert run.inputs == (("inputs", "n = big, large"),)


@pytest.mark.parametrize(
    ("found", "status"),
    [
        (("ok", "ok"), "ok"),
        (("ok", "unknown"), "unknown"),
        (("signal 9", "exit 3"), "signal 9"),
        (("unknown", "exit 3"), "exit 3"),
        (("unseen", "unknown"), "unseen"),
    ],
)
def test_the_status_of_a_run_is_that_of_the_node_that_failed_first(
    found: tuple[str, str], status: str
) -> None:
    one = sighting("n1", (0, 1), status=found[0])
    other = sighting("n2", (2, 3), status=found[1], time_s=41.0)
    assert [run.status for run in joined([other, one])] == [status]


@given(st.permutations(range(8)), st.floats(-5.0, 5.0))
def test_runs_of_one_launch_one_after_the_other_are_told_apart(
    order: list[int], skew: float
) -> None:
    """A script in each task of a job step runs the program four times."""
    sightings = [
        replace(
            sighting(
                host, ranks, began=BEGIN + 60.0 * turn + (skew if ranks[0] else 0.0)
            ),
            identity=f"{host} {turn}",
        )
        for turn in range(4)
        for host, ranks in (("n1", (0, 1)), ("n2", (2, 3)))
    ]
    runs = joined([sightings[at] for at in order])
    assert [sorted(one.identity for one in run.sightings) for run in runs] == [
        [f"n1 {turn}", f"n2 {turn}"] for turn in range(4)
    ]
    assert all(run.complete for run in runs)
