"""Series of a store in short: which there are, and their averages over a time.

A store may hold millions of samples. The database averages them; only as many numbers
as a picture shows come out.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from itertools import pairwise

from skelgen.store.database import sound_in
from skelgen.store.rows import Series
from skelgen.store.store import Store
from skelgen.store.values import REAL, TEXT, as_text

#: A sample speaks for the time before it, but for no more than so many intervals.
_SPEAKS = 3.0

#: From one name to the next within the index: all samples are too many to look at.
_NAMES = """
WITH RECURSIVE hosts(host) AS (
  SELECT MIN(host) FROM samples
  UNION ALL
  SELECT (SELECT MIN(s.host) FROM samples s WHERE s.host > hosts.host)
  FROM hosts WHERE hosts.host IS NOT NULL
), names(host, quantity) AS (
  SELECT hosts.host,
    (SELECT MIN(s.quantity) FROM samples s WHERE s.host = hosts.host)
  FROM hosts WHERE hosts.host IS NOT NULL
  UNION ALL
  SELECT names.host, (SELECT MIN(s.quantity) FROM samples s
    WHERE s.host = names.host AND s.quantity > names.quantity)
  FROM names WHERE names.quantity IS NOT NULL
)
SELECT names.host, names.quantity,
  (SELECT s.time FROM samples s WHERE s.host = names.host
    AND s.quantity = names.quantity ORDER BY s.time DESC LIMIT 1),
  (SELECT s.value FROM samples s WHERE s.host = names.host
    AND s.quantity = names.quantity ORDER BY s.time DESC LIMIT 1)
FROM names WHERE names.quantity IS NOT NULL
ORDER BY names.quantity, names.host
"""
#: A time at a bin's edge belongs to the later one: databases round halves in two ways.
_BINS = (
    "SELECT ROUND((time - ?) / ? - 0.4999999), COUNT(*), MIN(time), MAX(time), "
    "MIN(value), MAX(value), AVG(value) FROM samples WHERE host = ? AND quantity = ? "
    "AND time >= ? AND time <= ? AND value IS NOT NULL GROUP BY 1 ORDER BY 1"
)


@dataclass(frozen=True, slots=True)
class NewestSample:
    """A series, and its newest sample.

    Attributes
    ----------
    host, quantity : str
    time : float
        Seconds since 1970 in UTC [s].
    value : float
        nan where it is not known.
    """

    host: str
    quantity: str
    time: float
    value: float


@dataclass(frozen=True, slots=True)
class SampleBin:
    """Samples of a short time, averaged.

    Attributes
    ----------
    first, last : float
        Of their times, seconds since 1970 in UTC [s].
    count : int
    low, high, mean : float
    """

    first: float
    last: float
    count: int
    low: float
    high: float
    mean: float


@dataclass(frozen=True, slots=True)
class ShortSeries:
    """A series in short.

    Attributes
    ----------
    host, quantity : str
    bins : tuple of SampleBin
        Those that have samples, in the order of time.
    """

    host: str
    quantity: str
    bins: tuple[SampleBin, ...]

    @property
    def interval_s(self) -> float:
        """Return what is usual between samples [s]; nan for fewer than two."""
        inside = [
            (one.last - one.first) / (one.count - 1)
            for one in self.bins
            if one.count > 1
        ]
        between = [right.first - left.last for left, right in pairwise(self.bins)]
        found = inside or between
        return statistics.median(found) if found else math.nan

    def pieces(self) -> list[tuple[SampleBin, ...]]:
        """Return the bins between gaps: no sample speaks for the time of a gap."""
        most_s = _SPEAKS * self.interval_s
        found: list[list[SampleBin]] = []
        for one in self.bins:
            if found and one.first - found[-1][-1].last <= most_s:
                found[-1].append(one)
            else:
                found.append([one])
        return [tuple(piece) for piece in found]

    def known(self, begin: float, end: float) -> float:
        """Return the part of a time that samples speak for [0 to 1]."""
        if not self.bins or end <= begin:
            return 0.0
        first = 0.0 if math.isnan(self.interval_s) else self.interval_s
        seen = math.fsum(
            min(piece[-1].last, end) - max(piece[0].first - first, begin)
            for piece in self.pieces()
        )
        return min(max(seen / (end - begin), 0.0), 1.0)

    @property
    def mean(self) -> float:
        """Return the mean of all samples; nan without any."""
        count = sum(one.count for one in self.bins)
        if not count:
            return math.nan
        return math.fsum(one.mean * one.count for one in self.bins) / count

    @property
    def ends(self) -> tuple[float, float]:
        """Return the smallest and the largest sample; nan without any."""
        return (
            min((one.low for one in self.bins), default=math.nan),
            max((one.high for one in self.bins), default=math.nan),
        )


def newest_samples(store: Store) -> list[NewestSample]:
    """Return each series of a store with its newest sample, by quantity and host."""
    database = store.current()
    with sound_in(database, "samples"):
        return [
            NewestSample(
                TEXT.load(host), TEXT.load(quantity), REAL.load(time), REAL.load(value)
            )
            for host, quantity, time, value in database.execute(_NAMES)
        ]


def known_series(
    store: Store, hosts: Collection[str], quantity: str, begin: float, end: float | None
) -> list[Series]:
    """Return a quantity of those of many hosts or links that have it.

    Parameters
    ----------
    store : Store
    hosts : collection of str
    quantity : str
    begin, end : float
        Seconds since 1970 in UTC, both included; no end: all later ones [s].
    """
    wanted = set(hosts)
    names = [
        one.host
        for one in newest_samples(store)
        if one.quantity == quantity and one.host in wanted
    ]
    return [one for name in names for one in store.series(name, quantity, begin, end)]


def short_series(
    store: Store, host: str, quantity: str, begin: float, end: float, bins: int
) -> ShortSeries:
    """Return a series of a time in short.

    Parameters
    ----------
    store : Store
    host, quantity : str
    begin, end : float
        Seconds since 1970 in UTC, both included [s].
    bins : int
        The time is divided into so many.
    """
    database = store.current()
    width_s = (end - begin) / bins
    rows = database.execute(
        _BINS, [begin, width_s, as_text(host), as_text(quantity), begin, end]
    )
    with sound_in(database, "samples"):
        return ShortSeries(host, quantity, tuple(_bin(row) for row in rows))


def _bin(row: Sequence[object]) -> SampleBin:
    _, count, first, last, low, high, mean = row
    return SampleBin(
        REAL.load(first),
        REAL.load(last),
        int(str(count)),
        REAL.load(low),
        REAL.load(high),
        REAL.load(mean),
    )
