"""Rows for `benchmarks/web.py` that are no runs: loads, systems, predictions."""

from __future__ import annotations

import random
import time
from collections.abc import Iterator

from skelgen.store import Fact, Message, Series, StoredPrediction
from skelgen.trust import Interval

#: Nodes and links between neighbours with loads; a sample is taken each minute.
_NODES, _LINKS = 64, 36
_INTERVAL_S, _DAY_S = 60.0, 86_400.0


def made_series(samples: int) -> Iterator[Series]:
    """Yield loads of nodes and links that end now, with a gap in each fifth."""
    draw, now = random.Random(3), time.time()
    each = samples // (_NODES + _LINKS)
    for at in range(_NODES + _LINKS):
        link = at - _NODES
        times, values, value = [], [], 0.7
        for number in range(each):
            value = min(1.0, max(0.0, value + draw.gauss(0, 0.03)))
            if at % 5 == 0 and 0.4 < number / each < 0.45:
                continue
            times.append(now - _INTERVAL_S * (each - number))
            values.append(value)
        host, quantity = (f"n{at}", "cpu") if link < 0 else (
            f"n{link}-n{link + 1}", "bandwidth"
        )  # fmt: skip
        yield Series(host, quantity, tuple(times), tuple(values))


def made_facts(days: int = 10) -> Iterator[Fact | Message]:
    """Yield values of 64 hosts on several days, and times of messages."""
    draw = random.Random(4)
    for node in range(_NODES):
        for name in ("float_multiply_add", "integer_add", "read_16mib", "clock"):
            for day in range(days):
                value = draw.uniform(1e9, 1.1e9)
                yield Fact(f"n{node}", name, value, "1/s", 0.98 * value, 1.02 * value,
                           2, 5, 1.7e9 + _DAY_S * day, "cluster")  # fmt: skip
        for operation in ("SR", "BC", "allreduce", "alltoall"):
            points = tuple((2**k, 2e-6 + 2**k / 1e9) for k in range(0, 24, 2))
            hosts = tuple(sorted((f"n{node}", f"n{(node + 1) % _NODES}")))
            yield Message(hosts, operation, 2, 2e-6, 1e9, points=points,
                          measured=1.7e9, system="cluster")  # fmt: skip


def made_predictions(count: int = 2000) -> Iterator[StoredPrediction]:
    """Yield predictions of three methods, half of which happened."""
    draw = random.Random(5)
    for at in range(count):
        predicted_s = draw.lognormvariate(2, 1)
        interval = Interval(0.9 * predicted_s, predicted_s, 1.15 * predicted_s)
        known = at % 2 == 0
        yield StoredPrediction(
            draw.choice(("model", "phases", "whole-events")),
            f"app{draw.randrange(300)}",
            interval,
            1.7e9 + _DAY_S * draw.randrange(300) + at,
            draw.choice(("trust", "trust", "do not trust")),
            inputs=(("n", float(at)),),
            truth=f"r{at}" if known else "",
            truth_s=predicted_s * draw.gauss(1.0, 0.07) if known else float("nan"),
        )
