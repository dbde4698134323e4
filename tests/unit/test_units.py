"""Times and sizes as people write and read them."""

from __future__ import annotations

import math

import pytest

from skelgen import units


@pytest.mark.parametrize(
    ("text", "expected_s"),
    [("500ms", 0.5), (" 2 min ", 120.0), ("2m", 120.0), (".5", 0.5), ("1.5h", 5400.0)],
)
def test_durations_are_read_with_and_without_unit(text: str, expected_s: float) -> None:
    assert units.parse_seconds(text) == expected_s


@pytest.mark.parametrize("text", ["", "0", "-5s", "5 years", "1e9", "99999999999999d"])
def test_what_is_no_duration_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="is not a duration"):
        units.parse_seconds(text)


@pytest.mark.parametrize(
    ("text", "expected"),
    [("64MiB", 64 << 20), ("1.5 GB", 1_500_000_000), ("4096", 4096), ("2k", 2000)],
)
def test_sizes_are_powers_of_1000_but_for_an_i(text: str, expected: int) -> None:
    assert units.parse_bytes(text) == expected


@pytest.mark.parametrize("text", ["", "iB", "4iB", "4 miles", "-1kB", "1" * 40])
def test_what_is_no_size_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="expected a size"):
        units.parse_bytes(text)


def test_rates_are_bytes_per_hour() -> None:
    assert units.parse_bytes_per_hour("1.5 GB") == 1.5e9
    assert units.parse_bytes_per_hour("50kB/h") == 50e3
    with pytest.raises(ValueError, match="bytes per hour"):
        units.parse_bytes_per_hour("50MB/s")


@pytest.mark.parametrize(
    ("time_s", "shown"),
    [
        (2.5, "2.5 s"), (0.0025, "2.5 ms"), (2.5e-7, "0.25 us"), (-0.5, "-500 ms"),
        (0.0, "0 s"), (59.0, "59 s"), (142.3, "142 s"), (7200.0, "2 h"),
        (5400.0, "1 h 30 min"), (86400.0 * 250, "250 d"), (math.inf, "inf s"),
    ],
)  # fmt: skip
def test_times_have_a_unit_that_fits(time_s: float, shown: str) -> None:
    assert units.format_seconds(time_s) == shown


@pytest.mark.parametrize(
    ("size", "shown"),
    [(1023, "1023 B"), (1024, "1 KiB"), (1536, "1.5 KiB"), (1 << 41, "2048 GiB")],
)
def test_sizes_are_shown_with_binary_prefixes(size: float, shown: str) -> None:
    assert units.format_bytes(size) == shown
