"""The benchmark of kernel coupling: what it says of times that are known."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from pathlib import Path

import pytest

from benchmarks.models import kernels
from benchmarks.models.kernels import KERNELS, SOURCE, chains, lines, measure, table
from benchmarks.models.rows import Rows
from skelgen.errors import InputError
from skelgen.models.coupling import Chain

ALONE = dict(zip(KERNELS, (1.0, 2.0, 3.0, 5.0, 8.0, 2.0, 1.0), strict=True))


def times(factor: Mapping[int, float]) -> dict[int, dict[Chain, float]]:
    """Kernels that grow with the size, and in chains take a factor more or less."""
    return {
        size: {
            chain: size**2
            * sum(ALONE[one] for one in chain)
            * (factor[len(chain)] if len(chain) > 1 else 1.0)
            for chain in chains()
        }
        for size in (10, 20, 30, 40, 50)
    }


def test_the_kernels_of_the_example_are_measured_in_its_order() -> None:
    table = SOURCE.read_text().partition("KERNELS[] = {")[2].partition("};")[0]
    assert tuple(re.findall(r'"(\w+)"', table)) == KERNELS
    assert chains()[0] == ("copy_faces",)
    assert chains()[-1] == KERNELS
    assert len(set(chains())) == 4 * 7 + 1


def test_without_coupling_every_method_is_right() -> None:
    for one in lines(times(dict.fromkeys(range(2, 8), 1.0))):
        known = [m for m in kernels.METHODS if math.isfinite(one.said[m])]
        assert "pairs" in known
        assert [one.error(m) for m in known] == pytest.approx(
            [0.0] * len(known), abs=1e-4
        )


def test_couplings_correct_what_a_sum_does_not_see() -> None:
    found = lines(times({2: 1.2, 3: 1.1, 5: 1.2, 7: 1.2}))
    for one in found:
        assert one.error("sum") == pytest.approx(1 / 1.2 - 1)
        assert one.error("pairs") == pytest.approx(0.0)
        assert one.error("reused") == pytest.approx(0.0)
        assert one.error("chains of 3") == pytest.approx(1.1 / 1.2 - 1)
    assert math.isnan(found[1].said["models"])
    assert found[2].error("models") == pytest.approx(0.0, abs=1e-6)
    assert found[2].error("default") == pytest.approx(0.0, abs=1e-6)


def test_the_table_has_a_row_for_each_size_and_the_worst() -> None:
    rows = table(lines(times({2: 1.2, 3: 1.1, 5: 1.2, 7: 1.2}))).splitlines()
    assert [row.split()[0] for row in rows] == [
        "points",
        "20",
        "30",
        "40",
        "50",
        "worst",
    ]
    assert rows[-1].split()[1:4] == ["16.7", "0.0", "8.3"]


class Pretended:
    """A program that takes what it is told, and counts how often it ran."""

    ranks = 2
    runs = 0

    def seconds(self, size: int, steps: int, chain: Chain) -> float:
        self.runs += 1
        return steps * 1e-4 * size * len(chain)


def test_runs_that_are_known_are_not_made_again(tmp_path: Path) -> None:
    program = Pretended()
    first = measure(program, (4, 8), 2, 0.1, Rows.of(tmp_path / "kernels.jsonl"))  # type: ignore[arg-type]
    made = program.runs
    again = measure(program, (4, 8), 2, 0.1, Rows.of(tmp_path / "kernels.jsonl"))  # type: ignore[arg-type]
    assert program.runs == made >= 2 * 2 * 29
    assert first == again
    assert first[4][KERNELS] == pytest.approx(4 * 7 * 1e-4)


def test_a_file_of_something_else_is_refused_in_a_line(tmp_path: Path) -> None:
    (tmp_path / "kernels.jsonl").write_text("no results\n")
    with pytest.raises(InputError, match=r"line 1 is no result"):
        Rows.of(tmp_path / "kernels.jsonl")
