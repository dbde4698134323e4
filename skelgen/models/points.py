"""Recorded workloads and what was measured there."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skelgen.errors import InputError
from skelgen.models.types import Floats, written


@dataclass(frozen=True, slots=True)
class Points:
    """Workloads and what was measured there, each workload once.

    Attributes
    ----------
    dimensions : tuple of str
    at : (points, dimensions) float64 array
        Sorted by the first dimension, then the second, ...
    values : (points,) float64 array
    """

    dimensions: tuple[str, ...]
    at: Floats
    values: Floats

    @property
    def columns(self) -> dict[str, Floats]:
        """The values of each dimension."""
        return {name: self.at[:, i] for i, name in enumerate(self.dimensions)}

    @property
    def varied(self) -> tuple[str, ...]:
        """Dimensions with at least two values."""
        return tuple(
            name for name, column in self.columns.items() if len(np.unique(column)) > 1
        )

    def only(self, chosen: NDArray[Any]) -> Points:
        """Return some of the points."""
        return Points(self.dimensions, self.at[chosen], self.values[chosen])

    @classmethod
    def gather(
        cls,
        workloads: Sequence[Mapping[str, float]],
        values: Sequence[float],
        *,
        whole: bool = False,
    ) -> Points:
        """Check what was measured and take the mean of what was measured twice."""
        if len(workloads) != len(values) or not workloads:
            raise InputError(
                f"{len(workloads)} workloads with {len(values)} values; one value for "
                "each of at least one workload is needed"
            )
        dimensions = tuple(workloads[0])
        for workload in workloads:
            if set(workload) != set(dimensions):
                raise InputError(
                    f"workload {written(workload)} does not have the dimensions "
                    f"{', '.join(dimensions)} of the first; give each all of them"
                )
        at = np.array([[w[name] for name in dimensions] for w in workloads], float)
        measured = np.array(values, dtype=np.float64)
        if not (np.isfinite(at).all() and (at >= 0.0).all()):
            raise InputError("a workload is negative or not a number; sizes are >= 0")
        least = 0.0 if whole else np.nextafter(0.0, 1.0)
        if not (np.isfinite(measured).all() and (measured >= least).all()):
            raise InputError(
                f"values {measured.min():g} to {measured.max():g}; times must be above "
                "0 and weights not negative"
            )
        unique, group = np.unique(at, axis=0, return_inverse=True)
        group = group.reshape(-1)
        means = np.bincount(group, measured) / np.bincount(group)
        return cls(dimensions, unique, means)
