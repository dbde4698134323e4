"""Choosing among node sets, on a cluster whose clock and times are made up."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skelgen.errors import NodesError, UsageError
from skelgen.launch.hosts import Host
from skelgen.launch.process import NO_RESULT, Finished
from skelgen.prediction.choosing import Contest, halvings
from skelgen.prediction.node_sets import node_sets
from skelgen.prediction.skeleton_runs import SkeletonProgram
from skelgen.prediction.trials import NodeSet, Trials
from skelgen.prediction.types import Choice
from tests.known_skeleton import FACTS, MEASURED
from tests.method_errors import ERRORS


@dataclass
class MadeUp:
    """A Runner whose runs take as long as the slowest of their hosts says.

    A refused host is named by the launcher, a mute one is not; a hanging one never
    ends anything.
    """

    slow: dict[str, float]
    refused: frozenset[str] = frozenset()
    mute: frozenset[str] = frozenset()
    hanging: frozenset[str] = frozenset()
    noise: Callable[[], float] = lambda: 1.0
    now_s: float = 0.0
    running: list[MadeUpRun] = field(default_factory=list)
    begun: list[tuple[str, frozenset[str], float]] = field(default_factory=list)
    most: int = 0

    def start(self, program, *, ranks, hosts, environment, limit_s) -> MadeUpRun:
        names = frozenset(host.name for host in hosts)
        for other in self.running:
            assert not names & other.names, "two runs at once on one node"
        self.begun.append((program[0], names, self.now_s))
        run = MadeUpRun(self, names, *self._fate(program[0], names, limit_s))
        self.running.append(run)
        self.most = max(self.most, len(self.running))
        return run

    def _fate(self, program: str, names: frozenset[str], limit_s: float):
        if bad := sorted(names & self.refused):
            done = Finished((), 255, 0.1, "", f"ssh: connect to {bad[0]}: refused")
            return self.now_s + 0.1, done
        if names & self.mute:
            return self.now_s + 0.1, Finished((), 1, 0.1, "", "lost a rank")
        if names & self.hanging:
            done = Finished((), 143, limit_s, "", "", timed_out=True)
            return self.now_s + limit_s, done
        if program == "true":
            return self.now_s + 0.1, Finished((), 0, 0.1, "", "")
        time_s = float(program) * max(self.slow[name] for name in names) * self.noise()
        done = Finished((), 0, time_s, f'{{"seconds": {time_s!r}}}', "")
        return self.now_s + time_s + 0.1, done

    def pause(self, _) -> None:
        ends = [run.end_s for run in self.running]
        self.now_s = max(self.now_s + 0.001, min(ends, default=0.0))


@dataclass(eq=False)
class MadeUpRun:
    cluster: MadeUp
    names: frozenset[str]
    end_s: float
    done: Finished
    stopped: bool = False

    def poll(self) -> Finished | None:
        if self.cluster.now_s < self.end_s:
            return None
        self.stop()
        return self.done

    def stop(self) -> None:
        self.stopped = True
        if self in self.cluster.running:
            self.cluster.running.remove(self)


def skeletons(cluster: MadeUp, *lengths_s: float) -> tuple[SkeletonProgram, ...]:
    """Return skeletons of an application of 100 s, the shortest first."""
    made = []
    for length_s in lengths_s:
        known = replace(
            MEASURED, application_runs_s=(100.0,) * 3, skeleton_runs_s=(length_s,) * 3
        )
        facts = replace(
            FACTS,
            application_s=100.0,
            expected_s=length_s,
            smallest_good_s=0.0,
            scaling_factor=100.0 / length_s,
            ranks_per_host=(1, 1),
            calibration=known,
        )
        made.append(
            SkeletonProgram(Path(f"{length_s}"), facts, (), cluster, "MPICH 5.0.2")
        )
    return tuple(made)


def choose(
    cluster: MadeUp,
    sets: Sequence[NodeSet],
    *lengths_s: float,
    budget_s: float = math.inf,
    parallel: int = 1,
) -> Choice:
    trials = Trials(
        parallel=parallel,
        limit_s=30.0,
        end_s=budget_s,
        clock=lambda: cluster.now_s,
        pause=cluster.pause,
    )
    programs = skeletons(cluster, *lengths_s or (0.5, 1.0, 2.0))
    generator = np.random.default_rng(1)
    return Contest(programs, tuple(sets), trials, 0.05, ERRORS, generator).choose()


@dataclass
class Shown:
    """A progress bar as it moves."""

    done: float = 0.0
    moved: list[float] = field(default_factory=list)
    said: list[str] = field(default_factory=list)

    def start(self, what: str, total: float) -> None:
        """The pipeline does this."""

    def advance(self, amount: float) -> None:
        self.done += amount
        self.moved.append(self.done)

    def say(self, found: str) -> None:
        self.said.append(found)

    def finish(self) -> None:
        """The pipeline does this."""


def pool(*slow: float) -> tuple[dict[str, float], list[Host]]:
    names = [f"n{number}" for number in range(1, len(slow) + 1)]
    return dict(zip(names, slow, strict=True)), [Host(name) for name in names]


def hosts_of(choice: Choice) -> list[str]:
    return [",".join(h.name for h in one.prediction.hosts) for one in choice.candidates]


def true_s(cluster: MadeUp, hosts: NodeSet) -> float:
    return 100.0 * max(cluster.slow[host.name] for host in hosts)


slownesses = st.lists(
    st.integers(10, 60).map(lambda tenths: tenths / 10), min_size=3, max_size=6
)


@given(slow=slownesses, nodes=st.integers(2, 3), parallel=st.integers(1, 3))
@settings(max_examples=20, deadline=None)
def test_without_noise_the_best_set_comes_first(slow, nodes, parallel) -> None:
    named, hosts = pool(*slow)
    cluster = MadeUp(named)
    sets = node_sets(hosts, nodes)
    choice = choose(cluster, sets, parallel=parallel)
    best = choice.candidates[0].prediction
    assert best.time_s.p50 == pytest.approx(min(true_s(cluster, s) for s in sets))
    assert len(choice.candidates) == len(sets)
    assert math.isclose(sum(one.best_probability for one in choice.candidates), 1.0)
    assert cluster.most <= parallel


@given(
    slow=slownesses,
    fates=st.lists(st.sampled_from(["", "", "refused", "mute", "hanging"]), min_size=6),
    parallel=st.integers(1, 4),
    seed=st.integers(0, 99),
)
@settings(max_examples=20, deadline=None)
def test_a_failing_node_is_named_and_never_stops_the_rest(slow, fates, parallel, seed):
    """The made-up cluster refuses a second run on a busy node."""
    named, hosts = pool(*slow)
    bad = {
        kind: frozenset(name for name, fate in zip(named, fates) if fate == kind)  # noqa: B905
        for kind in ("refused", "mute", "hanging")
    }
    spread = np.random.default_rng(seed)
    cluster = MadeUp(named, **bad, noise=lambda: float(spread.uniform(0.9, 1.1)))
    sets = node_sets(hosts, 2)
    choice = choose(cluster, sets, parallel=parallel)
    dead = frozenset().union(*bad.values())
    works = {s for s in sets if not dead & {host.name for host in s}}
    assert {one.prediction.hosts for one in choice.candidates} == works
    assert {one.hosts for one in choice.failures} == set(sets) - works
    for one in choice.failures:
        assert any(f"host {host.name}" in one.reason for host in one.hosts)
    assert cluster.running == []


def test_half_of_the_sets_go_on_to_each_longer_skeleton() -> None:
    slow, hosts = pool(1.0, 1.5, 2.0, 2.5)
    cluster = MadeUp(slow)
    choice = choose(cluster, node_sets(hosts, 2))
    lengths = [program for program, _, _ in cluster.begun]
    assert lengths[:18] == ["0.5"] * 12 + ["1.0"] * 6
    assert set(lengths[18:]) == {"2.0"}
    assert hosts_of(choice)[0] == "n1,n2"
    assert [one.stage for one in choice.candidates] == [2, 2, 1, 0, 0, 0]


def test_a_clear_winner_alone_runs_until_its_time_is_known() -> None:
    slow, hosts = pool(1.0, 1.2, 3.0, 4.0)
    cluster = MadeUp(slow)
    choice = choose(cluster, node_sets(hosts, 2))
    runs = [len(one.prediction.runs_s) for one in choice.candidates]
    assert runs == [3, 1, 2, 2, 2, 2]
    assert choice.candidates[0].prediction.verdict == "trust"
    assert choice.candidates[1].prediction.verdict == "do not trust"


def test_dropped_sets_are_predicted_on_the_scale_of_the_longest_skeleton() -> None:
    """Short skeletons take longer than they should: start-up does not shrink."""
    slow, hosts = pool(1.0, 2.0, 4.0)
    cluster = MadeUp(slow)
    fate = cluster._fate

    def biased(program, names, limit_s):
        return fate("0.75" if program == "0.5" else program, names, limit_s)

    cluster._fate = biased  # type: ignore[method-assign]
    choice = choose(cluster, node_sets(hosts, 2), 0.5, 2.0)
    dropped = choice.candidates[-1].prediction
    assert dropped.time_s.p50 == pytest.approx(400.0)
    assert dropped.verdict == "do not trust"
    (doubt,) = dropped.doubts
    assert doubt.text == "only ordered, by 2 runs of a skeleton of 500 ms"


def test_equal_sets_share_the_probability_and_a_better_one_takes_it() -> None:
    slow, hosts = pool(1.0, 1.0, 3.0)
    cluster = MadeUp(slow)
    first, second = (hosts[0], hosts[2]), (hosts[1], hosts[2])
    choice = choose(cluster, [first, second])
    assert choice.candidates[0].best_probability == pytest.approx(0.5, abs=0.02)
    choice = choose(cluster, [first, (hosts[0], hosts[1])])
    assert hosts_of(choice)[0] == "n1,n2"
    assert choice.candidates[0].best_probability > 0.99


def test_one_burst_does_not_drop_the_best_set_when_there_is_time() -> None:
    slow, hosts = pool(1.0, 1.5, 2.0, 2.5)
    for budget_s, best in ((math.inf, "n1,n2"), (20.0, "n1,n3")):
        bursts = itertools.chain([5.0], itertools.repeat(1.0))
        cluster = MadeUp(slow, noise=lambda bursts=bursts: next(bursts))
        choice = choose(cluster, node_sets(hosts, 2), budget_s=budget_s)
        assert hosts_of(choice)[0] == best


def test_no_run_begins_after_the_budget_and_unmeasured_sets_are_told() -> None:
    slow, hosts = pool(1.0, 1.5, 2.0, 2.5)
    cluster = MadeUp(slow)
    choice = choose(cluster, node_sets(hosts, 2), budget_s=3.0)
    assert max(begin_s for _, _, begin_s in cluster.begun) < 3.0
    assert len(choice.candidates) + len(choice.failures) == 6
    assert len(choice.candidates) == len(cluster.begun) > 0
    assert all("budget was spent" in one.reason for one in choice.failures)


@pytest.mark.parametrize("parallel", [1, 2])
def test_a_node_that_hangs_takes_no_time_from_the_others(parallel: int) -> None:
    """Its run takes 30 s, and 30 s more the one that tells which node is the cause."""
    slow, hosts = pool(1.0, 1.5, 2.0, 2.5)
    cluster = MadeUp(slow, hanging=frozenset({"n1"}))
    sets = node_sets(hosts, 2)
    choice = choose(cluster, sets, budget_s=28.0, parallel=parallel)
    assert hosts_of(choice)[0] == "n2,n3"
    assert len(choice.candidates) == 3
    shortest = [program for program, names, _ in cluster.begun if "n1" not in names]
    assert shortest.count("0.5") == 6  # each twice: time was left for that
    assert cluster.now_s < 28.0 + 60.0 + 5.1


def test_a_crash_of_the_program_itself_leaves_its_nodes_in() -> None:
    """Nobody is named and each host starts programs: only that set is left out."""
    slow, hosts = pool(1.0, 2.0, 3.0)
    cluster = MadeUp(slow)
    fate = cluster._fate

    def crashing(program, names, limit_s):
        if names == {"n1", "n2"}:
            return cluster.now_s + 0.1, Finished((), 11, 0.1, "", "segfault")
        return fate(program, names, limit_s)

    cluster._fate = crashing  # type: ignore[method-assign]
    choice = choose(cluster, node_sets(hosts, 2))
    assert hosts_of(choice) == ["n1,n3", "n2,n3"]
    assert [one.reason for one in choice.failures] == [
        "failed with exit code 11: segfault"
    ]


@pytest.mark.parametrize(
    "said",
    [
        "=   BAD TERMINATION OF ONE OF YOUR APPLICATION PROCESSES\n"
        "=   PID 71 RUNNING AT n2\n=   EXIT CODE: 11",
        "mpirun noticed that process rank 1 with PID 71 on node n2 exited on signal 11",
    ],
)
def test_a_host_that_a_launcher_names_for_a_crash_is_tried_before_it_is_left_out(
    said: str,
) -> None:
    slow, hosts = pool(1.0, 2.0, 3.0)
    cluster = MadeUp(slow)
    fate = cluster._fate

    def crashing(program, names, limit_s):
        if names == {"n1", "n2"}:
            return cluster.now_s + 0.1, Finished((), 11, 0.1, said, "")
        return fate(program, names, limit_s)

    cluster._fate = crashing  # type: ignore[method-assign]
    choice = choose(cluster, node_sets(hosts, 2))
    assert hosts_of(choice) == ["n1,n3", "n2,n3"]
    probed = [names for program, names, _ in cluster.begun if program == "true"]
    assert probed == [{"n2"}]
    assert choice.failures[0].reason.startswith("failed with exit code 11")


def test_what_a_batch_system_says_of_a_host_is_believed() -> None:
    slow, hosts = pool(1.0, 2.0, 3.0)
    cluster = MadeUp(slow)
    fate = cluster._fate

    def refused(program, names, limit_s):
        if "n2" in names:
            said = "Slurm job 7 can never run (Resources); host n2 is down*"
            return cluster.now_s + 0.1, Finished((), NO_RESULT, 0.1, "", said)
        return fate(program, names, limit_s)

    cluster._fate = refused  # type: ignore[method-assign]
    choice = choose(cluster, node_sets(hosts, 2))
    assert hosts_of(choice) == ["n1,n3"]
    assert not [names for program, names, _ in cluster.begun if program == "true"]


def test_a_full_queue_and_a_silent_system_say_nothing_of_hosts() -> None:
    slow, hosts = pool(1.0, 2.0, 3.0)
    cluster = MadeUp(slow)
    fate = cluster._fate

    def waiting(program, names, limit_s):
        if names == {"n1", "n2"} or program == "true":
            said = "Slurm job 7 still waited after 600 s (Resources)"
            done = Finished((), NO_RESULT, 600.0, "", said, begun=False)
            return cluster.now_s + 600.0, done
        return fate(program, names, limit_s)

    cluster._fate = waiting  # type: ignore[method-assign]
    choice = choose(cluster, node_sets(hosts, 2))
    assert hosts_of(choice) == ["n1,n3", "n2,n3"]
    assert not [names for program, names, _ in cluster.begun if program == "true"]
    assert "still waited" in choice.failures[0].reason


def test_a_set_that_the_launcher_cannot_place_is_left_out_alone() -> None:
    slow, hosts = pool(1.0, 2.0, 3.0)
    cluster = MadeUp(slow)
    fate = cluster._fate

    def uneven(program, names, limit_s):
        if names == {"n1", "n2"}:
            raise UsageError("flux run puts the same number on each")
        return fate(program, names, limit_s)

    cluster._fate = uneven  # type: ignore[method-assign]
    choice = choose(cluster, node_sets(hosts, 2))
    assert hosts_of(choice) == ["n1,n3", "n2,n3"]
    assert [one.reason for one in choice.failures] == [
        "flux run puts the same number on each"
    ]


def test_sets_that_were_dropped_step_in_when_all_better_ones_fail_later() -> None:
    slow, hosts = pool(1.0, 1.2, 2.0, 3.0)
    cluster = MadeUp(slow)
    fate = cluster._fate

    def dying(program, names, limit_s):
        if program == "2.0" and "n1" in names:
            return cluster.now_s + 0.1, Finished((), 1, 0.1, "", "n1: out of memory")
        return fate(program, names, limit_s)

    cluster._fate = dying  # type: ignore[method-assign]
    choice = choose(cluster, node_sets(hosts, 2))
    assert hosts_of(choice)[0] == "n2,n3"
    assert choice.candidates[0].stage == 2


def test_an_interrupt_stops_what_runs() -> None:
    slow, hosts = pool(1.0, 2.0, 1.0, 2.0)
    cluster = MadeUp(slow)
    started: list[MadeUpRun] = []

    def interrupted(_) -> None:
        started.extend(cluster.running)
        raise KeyboardInterrupt

    trials = Trials(parallel=2, clock=lambda: 0.0, pause=interrupted)
    (program,) = skeletons(cluster, 1.0)
    sets = [(hosts[0], hosts[1]), (hosts[2], hosts[3])]
    with pytest.raises(KeyboardInterrupt):
        trials.make(program, sets, 1)
    assert [run.stopped for run in started] == [True, True]


def test_candidates_of_a_pool() -> None:
    hosts = [Host(f"n{number}") for number in range(1, 5)]
    assert node_sets(hosts, 3) == list(itertools.combinations(hosts, 3))
    assert node_sets(hosts, 2, "pairs") == node_sets(hosts, 2, "all")
    assert node_sets(hosts, 3, "windows") == [tuple(hosts[:3]), tuple(hosts[1:])]


def test_too_many_candidates_become_windows_unless_all_are_wanted(caplog) -> None:
    hosts = [Host(f"n{number}") for number in range(1, 17)]
    with caplog.at_level("INFO"):
        assert len(node_sets(hosts, 4)) == 13
    assert "1820 sets of 4 of 16 nodes are too many" in caplog.text
    with pytest.raises(UsageError, match=r"1820 sets .* take --sets windows"):
        node_sets(hosts, 4, "all")


def test_wishes_that_cannot_be_met_are_one_line_each() -> None:
    hosts = [Host("n1"), Host("n2")]
    with pytest.raises(NodesError, match="sets of 3 nodes are wanted from 2"):
        node_sets(hosts, 3)
    with pytest.raises(UsageError, match="pairs have 2 nodes"):
        node_sets(hosts, 1, "pairs")
    with pytest.raises(UsageError, match="expected all, pairs, windows"):
        node_sets(hosts, 1, "rings")


@given(st.integers(1, 500))
def test_halving_ends_with_two(count: int) -> None:
    for _ in range(halvings(count)):
        assert count > 2
        count = max(2, (count + 1) // 2)
    assert count <= 2


@pytest.mark.parametrize("budget_s", [math.inf, 20.0])
def test_the_bar_moves_with_each_planned_run_and_shows_the_best_so_far(budget_s):
    slow, hosts = pool(1.0, 1.1, 1.2, 1.3, 1.4, 1.5)
    cluster, bar = MadeUp(slow), Shown()
    trials = Trials(
        end_s=budget_s,
        progress=bar,
        clock=lambda: cluster.now_s,
        pause=cluster.pause,
    )
    sets, programs = tuple((one,) for one in hosts), skeletons(cluster, 0.5, 1.0, 2.0)
    generator = np.random.default_rng(1)
    contest = Contest(programs, sets, trials, 0.05, ERRORS, generator)
    # Six sets, then three, run a shorter one twice; two run the longest three times.
    assert (contest.planned_runs, contest.made_runs) == (2 * 6 + 2 * 3 + 3 * 2, 0)
    contest.choose()
    assert bar.moved == sorted(bar.moved)
    assert len(bar.said) == contest.made_runs > 0
    assert bar.done >= contest.made_runs
    assert 0.5 * contest.planned_runs < bar.done <= contest.planned_runs
    assert bar.said[0] == "n1: 500 ms"
    assert all("; best n1: " in one for one in bar.said[1:6])


def noisy(spread: float, seed: int = 4) -> Callable[[], float]:
    generator = np.random.default_rng(seed)
    return lambda: math.exp(spread * generator.standard_normal())


def test_noisy_sets_are_given_up_before_the_budget_is_spent() -> None:
    slow, hosts = pool(1.0, 1.0)
    cluster = MadeUp(slow, noise=noisy(0.3))
    choice = choose(cluster, [(one,) for one in hosts], 2.0, budget_s=120.0)
    assert cluster.now_s < 90.0
    need = choice.candidates[0].prediction.need
    assert need is not None
    assert need.stopped


def test_runs_go_on_where_the_best_can_still_be_found() -> None:
    """No interval becomes narrow enough in time, but the faster set shows."""
    slow, hosts = pool(1.0, 1.25)
    cluster = MadeUp(slow, noise=noisy(0.12))
    choice = choose(cluster, [(one,) for one in hosts], 2.0, budget_s=120.0)
    assert choice.candidates[0].prediction.hosts == (hosts[0],)
    assert choice.candidates[0].best_probability > 0.95
