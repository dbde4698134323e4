"""Turns of pairs of hosts, and the limit of what probes cost."""

import itertools
import json
import math
import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skelgen.errors import UsageError
from skelgen.monitor.budget import Account
from skelgen.monitor.link_files import LinkFile, LinkRate, read_links
from skelgen.monitor.links import Links, Schedule, agreed, partner, rounds
from skelgen.monitor.probing import LinkProbe

counts = st.integers(2, 40)


def names(count: int) -> tuple[str, ...]:
    return tuple(f"n{number:03}" for number in range(count))


@given(counts, st.integers(0, 10**9))
def test_in_a_slot_no_host_has_two_partners(count: int, slot: int) -> None:
    for host in range(count):
        other = partner(host, slot, count)
        assert other != host
        assert other is None or partner(other, slot, count) == host


@given(counts, st.integers(0, 10**9))
def test_in_a_round_each_pair_has_one_turn(count: int, first: int) -> None:
    turns = [
        (host, other)
        for slot in range(first, first + rounds(count))
        for host in range(count)
        if (other := partner(host, slot, count)) is not None and host < other
    ]
    assert sorted(turns) == list(itertools.combinations(range(count), 2))


@given(
    st.integers(2, 9),
    st.integers(10**6, 10**7),
    st.lists(st.floats(-0.125, 0.125), min_size=9, max_size=9),
)
def test_turns_do_not_overlap_while_clocks_differ_by_less_than_a_quarter_of_a_slot(
    count: int, start: int, skews: list[float]
) -> None:
    links = Links(names(count))
    slot_s, busy = links.slot_s, {}
    for host, skew in zip(links.hosts, skews, strict=False):
        schedule, now, done = Schedule(links, host), start * slot_s, None
        while turn := schedule.next(now, done):
            begin, done = turn.begin - skew * slot_s, turn.slot
            now = turn.begin
            if turn.slot >= start + rounds(count):
                break
            latest_end = begin + 5 / 8 * slot_s  # an eighth late, then half a slot
            for one in (host, turn.peer):
                busy.setdefault(one, []).append((begin, latest_end))
    for times in busy.values():
        ordered = sorted(times)
        for before, after in itertools.pairwise(ordered):
            assert before[1] <= after[0] + 1e-6


def test_the_last_host_calls_nobody_and_a_clock_may_jump_back() -> None:
    links = Links(names(3))
    assert Schedule(links, "n002").next(0.0, None) is None
    schedule = Schedule(links, "n000")
    turn = schedule.next(1e9, None)
    assert turn is not None and turn.begin >= 1e9 - links.slot_s
    earlier = schedule.next(1e8, turn.slot)
    assert earlier is not None and earlier.begin < 1e8 + links.round_s + links.slot_s


@pytest.mark.parametrize(
    ("hosts", "budget", "every_s", "port", "named"),
    [
        (["n1"], 1e8, math.nan, 0, "two or more"),
        (["n1", "../n2"], 1e8, math.nan, 0, "not the name of a host"),
        (["n1", "n2", "n3"], 5e5, math.nan, 0, "--link-budget: 0.5 MB/h"),
        (["n1", "n2"], math.nan, math.nan, 0, "--link-budget"),
        (["n1", "n2"], 1e8, 0.5, 0, "--link-interval"),
        (["n1", "n2"], 1e8, math.nan, 80, "--link-port"),
    ],
)
def test_what_cannot_be_agreed_on_is_a_mistake(
    hosts: list[str], budget: float, every_s: float, port: int, named: str
) -> None:
    with pytest.raises(UsageError, match=named):
        agreed(hosts, budget, every_s, port)


class Clock:
    """A time that passes when told to."""

    now = 5000.0


@settings(max_examples=60)
@given(
    st.lists(
        st.tuples(
            st.floats(0, 2000),
            st.integers(0, 1500),
            st.floats(0, 1),
            st.floats(0, 30),
            st.booleans(),
        ),
        max_size=15,
    )
)
def test_probes_of_any_hour_cost_no_more_than_the_limit(
    tmp_path_factory: pytest.TempPathFactory,
    steps: list[tuple[float, int, float, float, bool]],
) -> None:
    path, clock = tmp_path_factory.mktemp("account") / "links.json", Clock()
    jump = 1e9

    def account() -> Account:
        return Account(
            1000, path, wall=lambda: clock.now + jump, clock=lambda: clock.now
        )

    ours, spent = account(), []
    for wait_s, wanted, part, takes_s, again in steps:
        clock.now += wait_s
        ours = account() if again else ours
        taken = ours.take(wanted)
        begin = clock.now
        clock.now += takes_s
        used = int(taken * part)
        ours.give_back(taken, used)
        spent.append((begin, clock.now, used))
    for _, end, _ in spent:
        inside = [used for b, e, used in spent if e > end - 3600 and b <= end]
        # Times in the file are rounded; a probe on the edge counts in part.
        edge = [used for b, e, used in spent if abs(e - end + 3600) < 0.2]
        assert sum(inside) - sum(edge) <= 1000


def test_the_limit_is_used(tmp_path: Path) -> None:
    account = Account(1000, tmp_path / "links.json")
    assert (account.take(700), account.take(700), account.take(700)) == (700, 300, 0)


@pytest.mark.parametrize("text", ["", "{", "[[1]]", "[[1, -5]]", '{"a": 1}', "null"])
def test_an_account_that_nobody_can_read_counts_as_spent(
    tmp_path: Path, text: str
) -> None:
    path = tmp_path / "links.json"
    path.write_text(text)
    assert Account(1000, path).take(10) == 0


def test_one_odd_probe_is_not_the_rate_of_a_link() -> None:
    rate = LinkRate()
    assert [rate.share(found) for found in (50.0, 100.0, 400.0, 100.0)] == [
        1.0,
        1.0,
        1.0,
        1.0,
    ]
    assert rate.share(25.0) == 0.25


def test_probes_are_kept_as_series_of_the_link(tmp_path: Path) -> None:
    times = itertools.count(time.time())
    for rates in ([100e6, 101e6], [25e6]):  # a monitor that starts again knows the rate
        file = LinkFile(tmp_path / "n1", "n2", 120.0, 1, wall=lambda: next(times))
        for number, rate in enumerate(rates):
            file.keep(LinkProbe(2e-5 + 1e-6 * number, rate))
        file.refuse("no answer")
        file.refuse("no answer")
        file.close()
    (found,) = read_links("n1", within=tmp_path)
    assert found.host == "n1-n2"
    assert found.curves["bandwidth_bytes_per_s"].values == [100e6, 101e6, 25e6]
    assert found.curves["bandwidth"].values == [1.0, 1.0, 0.25]
    assert found.curves["latency_s"].values == [2e-5, 2.1e-5, 2e-5]
    assert [mark.reason for mark in found.marks] == ["probe: no answer"] * 2
    assert json.dumps(found.damaged) == "[]"
    assert read_links("n2", within=tmp_path) == []
