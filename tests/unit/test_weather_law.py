"""The law of the test cluster's weather, and the reader of its log: without root."""

from __future__ import annotations

import json
import math
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.testbed.control_groups import TestbedError
from tests.testbed.law import HOSTS, LAWS, LINKS, Law, Setting, Weather, draw, read_log
from tests.testbed.weather import line_of, made

SEEDS = st.integers(0, 2**32)


@given(SEEDS, st.floats(1.0, 7200.0))
def test_weather_depends_on_its_seed_and_on_the_names_of_hosts_alone(
    seed: int, length_s: float
) -> None:
    alone = draw(seed, ["h1"], length_s)
    assert alone == draw(seed, ["h1"], length_s)
    longer = draw(seed, ["h2", "h1"], 2 * length_s)
    known = [one for one in longer.settings if one.host == "h1"]
    assert [one for one in known if one.time < length_s] == list(alone.settings)


@given(SEEDS, st.sampled_from(["cpu", "bandwidth"]))
def test_shares_and_times_are_within_the_bounds_of_the_paper(
    seed: int, kind: str
) -> None:
    law = LAWS[kind]
    assert law in (Law(0.065, 0.72), Law(0.02, 0.80))
    found = draw(seed, ["h1"], 36000.0, {kind: law}).settings
    assert all(one.share == 1 or law.low <= one.share <= law.high for one in found)
    gaps = np.diff([one.time for one in found])
    assert found[0].time == 0 and gaps.min() >= 180 and gaps.max() <= 480


def test_a_host_is_free_about_half_of_the_time() -> None:
    hosts = [f"h{number}" for number in range(1, 65)]
    weather = draw(1, hosts, 36000.0)
    times = np.arange(0.0, 36000.0, 60.0)
    free = np.mean([weather.shares(host, times) == 1.0 for host in hosts])
    assert abs(free - 0.5) < 0.02
    busy = np.concatenate([weather.shares(host, times) for host in hosts])
    assert abs(busy[busy < 1].mean() - (HOSTS.low + HOSTS.high) / 2) < 0.01


@given(SEEDS, st.lists(st.floats(0.0, 3000.0), min_size=2, max_size=2, unique=True))
def test_the_mean_over_a_time_is_that_of_what_was_left_at_each_moment(
    seed: int, ends: list[float]
) -> None:
    weather = draw(seed, ["h1"], 3000.0)
    begin, end = sorted(ends)
    for kind in LAWS:
        middles = begin + (np.arange(3000) + 0.5) / 3000 * (end - begin)
        shares = weather.shares("h1", middles, kind)
        assert shares[7] == weather.share("h1", middles[7], kind)
        assert math.isclose(
            weather.mean("h1", begin, end, kind), shares.mean(), abs_tol=0.02
        )


@given(SEEDS)
def test_what_makes_a_setting_leaves_its_share(seed: int) -> None:
    for one in draw(seed, ["h1"], 20000.0).settings:
        how = made(one, "100mbit")
        if one.share == 1:
            assert how in ({"by": "nothing"}, {"by": "rate", "rate": "100mbit"})
        elif how["by"] == "processes":
            assert how["processes"] in (1, 2, 3)
            assert math.isclose(1 / (1 + how["weight"]), one.share)
        elif how["by"] == "traffic":
            assert math.isclose(1e8 - how["bits_per_s"], one.share * 1e8)
        else:
            rate = float(how["rate"].removesuffix("kbit"))
            assert math.isclose(1e3 * rate, one.share * 1e8, rel_tol=1e-3)


def test_fast_links_are_slowed_by_their_rate_for_traffic_would_take_cores() -> None:
    one = Setting(0.0, "h1", "bandwidth", 0.5, lot=0.9)
    assert made(one, "100mbit")["by"] == "traffic"
    assert made(one, "1gbit") == {"by": "rate", "rate": "500000kbit"}


def test_a_log_gives_back_what_was_set(tmp_path: Path) -> None:
    drawn = draw(3, ["h1", "h2"], 1000.0)
    log = tmp_path / "weather.jsonl"
    lines = [line_of(one, "100mbit") for one in drawn.settings]
    log.write_text("\n".join(['{"weather": 3}', *lines, '{"end": 1000.0}']) + "\n")
    found = read_log(log)
    assert found.hosts == ["h1", "h2"]
    for kind in LAWS:
        for time in (0.0, 500.0, 1000.0):
            share = found.share("h2", time, kind)
            assert share == drawn.share("h2", time, kind)
    with pytest.raises(TestbedError, match=r"no weather at 1001\.000"):
        found.share("h1", 1001.0)
    with pytest.raises(TestbedError, match="no weather of h3, cpu; there is: h1, h2"):
        found.share("h3", 1.0)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "nothing was set"),
        ('{"weather": 1}\n{"time": 1.0, "host": ', "line 2: not a line of a log"),
        ('{"time": "soon", "host": "h1", "share": 1}', "line 1: not a line of a log"),
        ('{"time": 1.0, "share": 1}', "line 1: not a line of a log"),
    ],
)
def test_what_is_no_log_is_told_with_its_line(
    text: str, said: str, tmp_path: Path
) -> None:
    log = tmp_path / "weather.jsonl"
    log.write_text(text)
    with pytest.raises(TestbedError, match=said):
        read_log(log)


def test_weather_that_still_blows_has_no_end() -> None:
    weather = Weather((Setting(5.0, "h1", "cpu", 0.3),))
    assert weather.share("h1", 1e9) == 0.3
    with pytest.raises(TestbedError, match=r"there is some from 5\.000"):
        weather.share("h1", 4.9)


@pytest.mark.parametrize(
    "words",
    [(0.0, 0.5), (0.6, 0.5), (0.1, 1.1), (0.1, 0.5, 2.0), (0.1, 0.5, 0.5, 9.0, 8.0)],
)
def test_a_law_that_cannot_be_is_refused(words: tuple[float, ...]) -> None:
    with pytest.raises(ValueError, match="<= "):
        Law(*words)


def test_a_dry_run_prints_the_schedule_and_needs_no_cluster() -> None:
    line = [sys.executable, "-m", "tests.testbed", "weather", "--dry-run"]
    line += ["--seed", "7", "--hosts", "h1,h9", "--for", "30m"]
    done = subprocess.run(line, capture_output=True, text=True, check=True)
    head, *lines = [json.loads(one) for one in done.stdout.splitlines()]
    assert (head["weather"], head["hosts"]) == (7, ["h1", "h9"])
    assert head["laws"]["bandwidth"][:2] == [LINKS.low, LINKS.high]
    drawn = draw(7, ["h1", "h9"], 1800.0).settings
    assert [(one["time"], one["share"]) for one in lines] == [
        (one.time, one.share) for one in drawn
    ]
