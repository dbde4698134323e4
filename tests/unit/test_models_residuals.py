"""Residuals are measured over said, at the runs where the model says something."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from skelgen.models.residuals import residuals_of
from skelgen.models.runs import Meaning, ModelInput, RunTable

N = ModelInput("n", Meaning.SIZE)


@dataclass(frozen=True)
class Formula:
    """A model that says what a function says."""

    function: Any

    def at(self, columns: Any) -> Any:
        return self.function(columns["n"])


def table(times: list[float]) -> RunTable:
    return RunTable.gather((N,), [{"n": i + 1.0} for i in range(len(times))], times)


def test_an_error_is_measured_over_said() -> None:
    runs = table([2.0, 3.0, 12.0])
    found = residuals_of(Formula(lambda n: 2.0 * n), runs)  # type: ignore[arg-type]
    assert [one.error for one in found] == pytest.approx([0.0, -0.25, 1.0])
    assert [one.said for one in found] == [2.0, 4.0, 6.0]
    assert found[2].at == (("n", 3.0),)
    assert found[2].measured == 12.0


def test_a_model_that_says_one_number_says_it_everywhere() -> None:
    found = residuals_of(Formula(lambda _: 2.0), table([2.0, 3.0]))  # type: ignore[arg-type]
    assert [one.error for one in found] == [0.0, 0.5]


def test_runs_where_a_model_says_nothing_are_left_out() -> None:
    def said(n: Any) -> Any:
        return np.where(n == 2.0, np.nan, np.where(n == 3.0, 0.0, n))

    found = residuals_of(Formula(said), table([1.0, 2.0, 3.0, 4.0]))  # type: ignore[arg-type]
    assert [one.at[0][1] for one in found] == [1.0, 4.0]
