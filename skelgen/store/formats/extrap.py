"""Measurements as Extra-P keeps them: values of metrics of regions at points."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

#: Between the names of a call path.
ARROW = "->"
#: Names of the metric that is the time.
TIME_METRIC = "time"
#: How often a region was visited.
VISITS = "visits"
#: Parameters of a file of text.
MOST_PARAMETERS = 4
#: Where a file names no region or no metric.
NO_REGION, NO_METRIC = "<root>", "<default>"

Point = tuple[float, ...]


@dataclass(frozen=True, slots=True)
class Experiment:
    """What a file of Extra-P holds.

    Attributes
    ----------
    parameters : tuple of str
    values : dict
        Repeats of each (region, metric) at each point, which has a value for each
        parameter.

    References
    ----------
    docs/file-formats.md of Extra-P 4.2.
    """

    parameters: tuple[str, ...]
    values: dict[tuple[str, str], dict[Point, list[float]]] = field(
        default_factory=dict
    )

    def add(
        self, region: str, metric: str, point: Point, values: Iterable[float]
    ) -> None:
        """Add repeats of a metric of a region at a point."""
        points = self.values.setdefault((region, metric), {})
        points.setdefault(point, []).extend(values)

    @property
    def regions(self) -> list[str]:
        """Return the regions in the order of the file."""
        return list(dict.fromkeys(region for region, _ in self.values))

    @property
    def metrics(self) -> list[str]:
        """Return the metrics in the order of the file."""
        return list(dict.fromkeys(metric for _, metric in self.values))

    @property
    def points(self) -> list[Point]:
        """Return the points in the order of the file."""
        return list(dict.fromkeys(p for points in self.values.values() for p in points))
