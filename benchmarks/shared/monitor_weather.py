"""Monitors of two hosts under weather, against what the weather's log says was left."""

from __future__ import annotations

import itertools
import json
import os
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from tests.testbed.cluster import HEAD, Cluster
from tests.testbed.law import Weather, read_log
from tests.testbed.weather import beside

ROOT = Path(__file__).resolve().parents[2]
HOSTS = ("h1", "h2")
MONITOR = [sys.executable, "-m", "skelgen", "monitor"]


@dataclass(frozen=True, slots=True)
class Compared:
    """A sample and what was true.

    Attributes
    ----------
    host : str
    said : float
        The available CPU of the monitor [1].
    truth : float
        What the weather left, on average over the time of the sample [1].
    steady : bool
        The weather of this host did not change since the sample before the last one.
    """

    host: str
    said: float
    truth: float
    steady: bool

    @property
    def error(self) -> float:
        """Return how far off the sample is [1]."""
        return abs(self.said - self.truth)


def compared(
    weather: Weather, host: str, times: Sequence[float], values: Sequence[float]
) -> list[Compared]:
    """Compare the samples of a host with what was left of it.

    Parameters
    ----------
    weather : Weather
    host : str
    times : sequence of float
        Ends of samples, seconds since 1970 in UTC [s].
    values : sequence of float
        Available CPU since the sample before [1].
    """
    begin = min(one.time for one in weather.settings if one.host == host)
    changes = [one.time for one in weather.settings if one.host == host]
    known = [(t, v) for t, v in zip(times, values, strict=True) if t <= weather.end]
    found = []
    for (first, _), (before, _), (end, said) in zip(
        known, known[1:], known[2:], strict=False
    ):
        if first < begin:
            continue
        steady = not any(first < change < end for change in changes)
        truth = weather.mean(host, before, end)
        found.append(Compared(host, said, truth, steady))
    return found


def watch(
    seconds: float, hold: str, interval: str, seed: int
) -> tuple[Weather, dict[str, tuple[list[float], list[float]]]]:
    """Have monitors on two hosts under weather; return the truth and their samples."""
    cluster = Cluster("monitor")
    with tempfile.TemporaryDirectory() as name, cluster.used(len(HOSTS)):
        log = Path(name) / "weather.jsonl"
        known = {
            **os.environ,
            "PYTHONPATH": str(ROOT),
            "SKELGEN_MONITOR": f"{name}/monitor",
            "SKELGEN_SSH": str(cluster.shell),
        }

        def ask(*words: str) -> dict[str, Any]:
            line = [*MONITOR, *words, "--json"]
            done = cluster.run(HEAD, line, env=known, capture_output=True, text=True)
            if done.returncode:
                sys.exit(f"monitor: {done.stderr}")
            said: dict[str, Any] = json.loads(done.stdout)
            return said

        hosts = ["--hosts", ",".join(HOSTS)]
        ask("start", *hosts, "--interval", interval)
        length = ["--for", f"{seconds}s", "--seed", str(seed), "--hold", hold]
        with beside(cluster, log, *length, "--only", "cpu") as blows:
            blows.wait()
        series = ask("show", *hosts, "--quantity", "cpu")["series"]
        ask("stop", *hosts)
        return read_log(log), {
            one["host"]: (one["times"], one["values"]) for one in series
        }


def under_weather(seconds: float, hold: str, interval: str, seed: int) -> None:
    """Print how far monitors were from the truth."""
    weather, series = watch(seconds, hold, interval, seed)
    found = list(
        itertools.chain.from_iterable(
            compared(weather, host, *series[host]) for host in HOSTS
        )
    )
    print(
        f"{len(weather.settings)} settings held for {hold}, samples of {interval}\n"
        f"{'samples':>24}{'number':>8}{'mean error':>12}{'90th':>7}{'worst':>7}"
        f"{'within 5 points':>17}"
    )
    for name, some in (
        *((host, [one for one in found if one.host == host]) for host in HOSTS),
        ("steady", [one for one in found if one.steady]),
        ("all", found),
    ):
        errors = 100 * np.array([one.error for one in some])
        print(
            f"{name:>24}{len(errors):>8}{errors.mean():>12.1f}"
            f"{np.quantile(errors, 0.9):>7.1f}{errors.max():>7.1f}"
            f"{np.mean(errors <= 5):>17.0%}"
        )
    bias = np.mean([one.said - one.truth for one in found])
    print(f"mean of said - truth: {100 * bias:+.1f} points")
