"""Running the measuring program: hosts, cores, budget, what fails."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skelgen.errors import ApplicationError
from skelgen.launch.hosts import Host
from skelgen.launch.launchers import Hydra, OpenMpi, Srun
from skelgen.launch.process import Finished
from skelgen.systems.running import (
    BENCHMARK_RUNS,
    TimeBudget,
    describe_hosts,
    run_benchmark,
    run_measurement,
    unbound,
    with_all_cores,
    with_cores,
)
from skelgen.systems.types import HostFacts, Printed
from tests.unit.test_systems_program_output import HOST, RATE, TIME, text

PROGRAM = Path("/cache/measure")
BUDGET = TimeBudget.of(30)


@dataclass
class Answer:
    """A run that has ended."""

    done: Finished
    stopped: int = 0

    def poll(self) -> Finished:
        return self.done

    def stop(self) -> None:
        self.stopped += 1


@dataclass
class Answers:
    """A runner whose runs have ended when they begin."""

    outputs: list[Any]
    asked: list[dict[str, Any]] = field(default_factory=list)

    def start(self, program, **how):
        self.asked.append({"program": list(program), **how})
        said = self.outputs.pop(0)
        code = said if isinstance(said, int) else 0
        output = "" if code else said
        return Answer(Finished((), code, 1.0, output, "it broke"))


def about(host: str, cores: int) -> str:
    return json.dumps({**HOST, "host": host, "cores": cores})


def test_all_cores_are_used_or_as_many_as_slots_were_named():
    hosts = [Host("n1"), Host("n2", 4), Host("n3", 99)]
    runner = Answers([about("a", 8), about("b", 8), about("c", 8)])
    known = describe_hosts(PROGRAM, runner, hosts)
    where, ranks = with_cores(hosts, known)
    assert where == (Host("n1", 8), Host("n2", 4), Host("n3", 8))
    assert ranks == 20
    assert [one["hosts"] for one in runner.asked] == [
        (Host("n1"),), (Host("n2"),), (Host("n3"),),
    ]  # fmt: skip
    assert all(one["program"] == [str(PROGRAM), "about"] for one in runner.asked)


def test_without_hosts_this_machine_is_asked():
    runner = Answers([about("here", 2)])
    known = describe_hosts(PROGRAM, runner, [])
    assert with_cores([], known) == ((), 2)
    assert runner.asked[0]["hosts"] == ()


def test_cores_are_those_of_the_host_not_of_a_bound_rank():
    bound = HostFacts("n1", "", "", "", "", 1)
    other = HostFacts("n2", "", "", "", "", 3)
    free = HostFacts("n1", "", "", "", "", 16)
    found = with_all_cores(Printed(hosts=(bound, other)), [free])
    assert [one.cores for one in found.hosts] == [16, 3]


def test_the_program_gets_the_budget_and_a_rank_on_each_core():
    runner = Answers([text(RATE)])
    hosts = (Host("n1", 2), Host("n2", 2))
    found = run_measurement(PROGRAM, runner, hosts, 4, BUDGET)
    assert len(found.rates) == 1
    (asked,) = runner.asked
    assert asked["program"] == [str(PROGRAM), "run", *BUDGET.words]
    assert (asked["ranks"], asked["hosts"]) == (4, hosts)
    assert asked["limit_s"] > BUDGET.whole_s(2)


@pytest.mark.parametrize(
    ("output", "told"),
    [(3, "n1: the measuring program failed with exit code 3: it broke"),
     ("", "no line that says"),
     (text({**RATE, "cores": "x"}), "line 1 of its output")],
)  # fmt: skip
def test_a_run_that_fails_is_told_in_one_line(output, told):
    with pytest.raises(ApplicationError, match=told):
        run_measurement(PROGRAM, Answers([output]), [Host("n1")], 1, BUDGET)


def test_a_host_that_fails_is_named_and_no_run_is_left():
    runner = Answers([about("a", 1), 127])
    with pytest.raises(ApplicationError, match="n2: the measuring program failed"):
        describe_hosts(PROGRAM, runner, [Host("n1"), Host("n2")])
    with pytest.raises(ApplicationError, match=r"printed 0 lines.*SKELGEN_CACHE"):
        describe_hosts(PROGRAM, Answers([""]), [])


def test_the_users_benchmark_runs_five_times_on_each_host():
    runner = Answers([json.dumps(TIME)] * BENCHMARK_RUNS)
    found = run_benchmark(PROGRAM, runner, Host("n1", 8), ["./bt", "-a"])
    assert [one.values for one in found] == [(2.0,)] * 5
    assert runner.asked[0]["program"] == [str(PROGRAM), "time", "./bt", "-a"]
    assert (runner.asked[0]["ranks"], runner.asked[0]["hosts"]) == (1, [Host("n1")])
    with pytest.raises(ApplicationError, match="gave 0 times, expected one"):
        run_benchmark(PROGRAM, Answers([""]), None, ["./bt"])


def test_a_process_that_asks_for_cores_is_not_bound_to_one():
    assert unbound(Hydra(("mpirun",))).words == ("mpirun",)
    assert unbound(OpenMpi(("mpirun", "-q"))).words[-2:] == ("--bind-to", "none")
    assert unbound(Srun(("srun",))).words == ("srun", "--cpu-bind=none")


@given(st.floats(0.1, 1e5), st.integers(1, 100))
def test_a_pair_fits_into_the_budget_and_further_hosts_take_an_eighth(whole_s, hosts):
    budget = TimeBudget.of(whole_s)
    assert budget.whole_s(1) < budget.whole_s(2) <= whole_s * 5 / 6
    more = budget.whole_s(hosts + 1) - budget.whole_s(hosts)
    assert more == pytest.approx(0.12 * whole_s)
    assert all(float(word) > 0 for word in budget.words)
