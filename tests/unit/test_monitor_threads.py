"""Threads that work are followed; others are not read again."""

from pathlib import Path

import pytest

from skelgen.monitor.threads import Competitor, Found, Threads
from tests.kernel_files import Machine

CORES = frozenset([0])


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
        affinity=lambda thread: machine.affinity.get(thread, {0}),
    )


def measured(threads: Threads) -> Found:
    return threads.measure(10.0, CORES)


def test_a_thread_that_works_is_found_and_measured(machine: Machine) -> None:
    for thread in (1, 2, 9):
        machine.thread(thread, 100)
    threads = threads_of(machine, {"a": [1, 9], "b": [2]}, 0.0)
    threads.search(0.0, 10.0, CORES)
    machine.thread(1, 600, nice=5)
    machine.thread(9, 600)
    (rival,) = measured(threads)["a"]
    assert rival == Competitor(pytest.approx(1.25**-5), pytest.approx(0.5))


def test_a_thread_that_sleeps_is_no_longer_read(machine: Machine) -> None:
    machine.thread(1, 100)
    threads = threads_of(machine, {"a": [1]}, 0.0)
    threads.search(0.0, 10.0, CORES)
    for _ in range(3):
        assert measured(threads) == {}
    machine.thread(1, 900)
    assert measured(threads) == {}  # not until it is searched for
    threads.search(50.0, 10.0, CORES)
    machine.thread(1, 1400)
    assert measured(threads)["a"][0].used == pytest.approx(0.5)


def test_searches_are_as_rare_as_their_cost_demands(machine: Machine) -> None:
    machine.thread(1, 100)
    threads = threads_of(machine, {"a": [1]}, 0.01)
    threads.search(0.0, 10.0, CORES)
    for _ in range(3):
        measured(threads)  # it sleeps
    machine.thread(1, 200)
    threads.search(10.0, 10.0, CORES)  # 10 ms allow the next one after 67 s
    machine.thread(1, 300)
    assert measured(threads) == {}
    threads.search(68.0, 10.0, CORES)
    machine.thread(1, 400)
    assert measured(threads)["a"]


def test_new_threads_are_looked_at_between_searches(machine: Machine) -> None:
    listed = {"a": [1]}
    machine.thread(1, 100)
    threads = threads_of(machine, listed, 0.01)
    threads.search(0.0, 10.0, CORES)
    listed["a"].append(2)
    machine.thread(2, 50)
    threads.search(10.0, 10.0, CORES)
    machine.thread(2, 1050)
    assert measured(threads)["a"][0].used == pytest.approx(1.0)


def test_a_thread_counts_as_far_as_it_may_use_our_cores(machine: Machine) -> None:
    machine.affinity |= {1: {1}, 2: {0, 1}}
    for thread in (1, 2):
        machine.thread(thread, 100)
    threads = threads_of(machine, {"a": [1, 2]}, 0.0)
    threads.search(0.0, 10.0, CORES)
    for thread in (1, 2):
        machine.thread(thread, 1100)
    assert measured(threads) == {"a": [Competitor(1.0, 1.0, 0.5, False)]}


def test_what_is_found_counts_at_once(machine: Machine) -> None:
    listed = {"a": [1]}
    machine.thread(1, 100)
    threads = threads_of(machine, listed, 0.0)
    assert threads.search(0.0, 10.0, CORES) == {}  # nobody knows since when
    listed["a"].append(2)
    machine.thread(1, 600)
    machine.thread(2, 250)
    for _ in range(3):
        threads.measure(10.0, frozenset([7]))
    found = threads.search(20.0, 10.0, CORES)
    assert found == {"a": [Competitor(1.0, 0.25)]}


def test_a_thread_that_ended_is_forgotten(machine: Machine) -> None:
    machine.thread(1, 100)
    threads = threads_of(machine, {"a": [1]}, 0.0)
    threads.search(0.0, 10.0, CORES)
    (machine.root / "proc/1/task/1/stat").unlink()
    assert measured(threads) == {}


def test_what_only_takes_the_rest_weighs_next_to_nothing(machine: Machine) -> None:
    machine.thread(1, 100)
    threads = threads_of(machine, {"a": [1]}, 0.0)
    threads.search(0.0, 10.0, CORES)
    machine.thread(1, 1100, policy=5)
    assert measured(threads)["a"][0].weight == pytest.approx(3 / 1024)


def test_looks_at_new_threads_are_as_rare_as_their_cost_demands(
    machine: Machine,
) -> None:
    listed = {"a": [1]}
    machine.thread(1, 100)
    threads = threads_of(machine, listed, 0.01)
    threads.search(0.0, 10.0, CORES)
    threads.search(10.0, 10.0, CORES)  # 10 ms, as each
    listed["a"].append(2)
    machine.thread(2, 50)
    assert threads.search(20.0, 10.0, CORES) == {}
    assert threads.search(80.0, 10.0, CORES)


def test_cores_are_crowded_where_each_has_a_bound_thread(machine: Machine) -> None:
    both = frozenset([0, 1])
    machine.affinity |= {1: {0}, 2: {1}, 3: {0, 1}}
    for thread in (1, 2, 3):
        machine.thread(thread, 100)
    threads = threads_of(machine, {"a": [1, 2, 3]}, 0.0)
    threads.search(0.0, 10.0, both)
    for thread, ticks in ((1, 600), (2, 1100), (3, 600)):  # 1 waits for 3
        machine.thread(thread, ticks)
    threads.measure(10.0, both)
    assert threads.crowded({0: 1.0, 1: 1.0}) == 1.0
    machine.thread(1, 605)
    machine.thread(2, 2100)
    threads.measure(10.0, both)  # 1 hardly runs: it does not want to
    assert threads.crowded({0: 1.0, 1: 1.0}) < 0.05
