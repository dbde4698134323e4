"""Threads that work are followed; others are not read again."""

from pathlib import Path

import pytest

from skelgen.monitor.sharing import Rival
from skelgen.monitor.threads import Threads
from tests.kernel_files import Machine


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path)


class Cost:
    """CPU time of a process to which each look at all threads costs so much."""

    def __init__(self, each_s: float) -> None:
        self.each_s, self.spent_s = each_s, 0.0

    def __call__(self) -> float:
        self.spent_s += self.each_s
        return self.spent_s


def threads_of(
    machine: Machine, listed: dict[str, list[int]], each_s: float
) -> Threads:
    return Threads(
        lambda: listed,
        proc=f"{machine.root}/proc",
        cost=Cost(each_s),
        own=frozenset([9]),
    )


def test_a_thread_that_works_is_found_and_measured(machine: Machine) -> None:
    for thread in (1, 2, 9):
        machine.thread(thread, 100)
    threads = threads_of(machine, {"a": [1, 9], "b": [2]}, 0.0)
    threads.search(0.0)
    machine.thread(1, 600, nice=5)
    machine.thread(9, 600)
    (rival,) = threads.measure(10.0)["a"]
    assert rival == Rival(pytest.approx(1.25**-5), pytest.approx(0.5))


def test_a_thread_that_sleeps_is_no_longer_read(machine: Machine) -> None:
    machine.thread(1, 100)
    threads = threads_of(machine, {"a": [1]}, 0.0)
    threads.search(0.0)
    for _ in range(3):
        assert threads.measure(10.0) == {}
    machine.thread(1, 900)
    assert threads.measure(10.0) == {}  # not until it is searched for
    threads.search(50.0)
    machine.thread(1, 1400)
    assert threads.measure(10.0)["a"][0].used == pytest.approx(0.5)


def test_searches_are_as_rare_as_their_cost_demands(machine: Machine) -> None:
    machine.thread(1, 100)
    threads = threads_of(machine, {"a": [1]}, 0.01)
    threads.search(0.0)
    for _ in range(3):
        threads.measure(10.0)  # it sleeps
    machine.thread(1, 200)
    threads.search(10.0)  # 10 ms allow the next one after 50 s
    machine.thread(1, 300)
    assert threads.measure(10.0) == {}
    threads.search(51.0)
    machine.thread(1, 400)
    assert threads.measure(10.0)["a"]


def test_new_threads_are_looked_at_between_searches(machine: Machine) -> None:
    listed = {"a": [1]}
    machine.thread(1, 100)
    threads = threads_of(machine, listed, 0.01)
    threads.search(0.0)
    listed["a"].append(2)
    machine.thread(2, 50)
    threads.search(10.0)
    machine.thread(2, 1050)
    assert threads.measure(10.0)["a"][0].used == pytest.approx(1.0)


def test_threads_on_other_cores_do_not_compete(machine: Machine) -> None:
    machine.thread(1, 100, core=1)
    threads = threads_of(machine, {"a": [1]}, 0.0)
    threads.search(0.0)
    machine.thread(1, 1100, core=1)
    assert threads.measure(10.0, frozenset([0])) == {}


def test_a_thread_that_ended_is_forgotten(machine: Machine) -> None:
    machine.thread(1, 100)
    threads = threads_of(machine, {"a": [1]}, 0.0)
    threads.search(0.0)
    (machine.root / "proc/1/task/1/stat").unlink()
    assert threads.measure(10.0) == {}


def test_what_only_takes_the_rest_weighs_next_to_nothing(machine: Machine) -> None:
    machine.thread(1, 100)
    threads = threads_of(machine, {"a": [1]}, 0.0)
    threads.search(0.0)
    machine.thread(1, 1100, policy=5)
    assert threads.measure(10.0)["a"][0].weight == pytest.approx(3 / 1024)
