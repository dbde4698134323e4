"""Files of a monitor: written by day, thinned by age, read back whatever happened."""

import math
import os
from pathlib import Path
from typing import IO

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skelgen.errors import InputError, MachineError, SkelgenError, UsageError
from skelgen.monitor.averages import Curve
from skelgen.monitor.day_files import DayFile, day_of, days, thin
from skelgen.monitor.records import SampleMark, SampleRow, text_of
from skelgen.monitor.series import facts_of, history_of, read_history

NAMES = ("cpu", "run_queue")
#: The start of a day.
DAY = 1764028800.0
NOTHING = Curve([], [])


def filled(folder: Path, rows: list[SampleRow], **options: int) -> DayFile:
    file = DayFile(folder / "n1", 10.0, **options)
    for row in rows:
        file.add(row, NAMES)
    return file


def rows(count: int, begin: float = DAY, step: float = 10.0) -> list[SampleRow]:
    return [
        SampleRow(begin + step * n, (n % 10 / 10, float(n % 7))) for n in range(count)
    ]


def cpu(folder: Path, **options: float) -> list[tuple[float, float]]:
    curve = read_history("n1", within=folder, **options).curves["cpu"]
    return list(zip(curve.times, curve.values, strict=True))


def test_what_was_written_is_read_back(tmp_path: Path) -> None:
    filled(tmp_path, rows(5)).close()
    history = read_history("n1", within=tmp_path)
    assert cpu(tmp_path) == [(DAY + 10 * n, n / 10) for n in range(5)]
    assert list(history.curves["run_queue"].values) == [0.0, 1.0, 2.0, 3.0, 4.0]
    assert history.damaged == ()


def test_each_day_has_a_file_and_only_those_asked_for_are_read(tmp_path: Path) -> None:
    filled(tmp_path, rows(4, step=43200.0)).close()
    assert days(tmp_path / "n1") == ["2025-11-25", "2025-11-26"]
    (tmp_path / "n1/2025-11-25.jsonl").write_text("damaged\n")
    history = read_history("n1", DAY + 86400, math.inf, within=tmp_path)
    assert history.damaged == ()
    assert len(history.curves["cpu"].times) == 2


def test_a_time_before_or_after_all_files_has_no_samples(tmp_path: Path) -> None:
    filled(tmp_path, rows(4)).close()
    for begin, end in ((-math.inf, 0.0), (1e12, 1e308), (-1e308, -1e300)):
        assert read_history("n1", begin, end, within=tmp_path).curves == {}


def test_files_are_for_their_owner_alone(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        filled(tmp_path / "new", rows(1)).close()
    finally:
        os.umask(before)
    (file,) = (tmp_path / "new/n1").iterdir()
    modes = [p.stat().st_mode & 0o777 for p in (file, file.parent, tmp_path / "new")]
    assert modes == [0o600, 0o700, 0o700]


def test_a_line_that_was_cut_costs_that_line_only(tmp_path: Path) -> None:
    filled(tmp_path, rows(3)).close()
    (path,) = (tmp_path / "n1").glob("*.jsonl")
    path.write_bytes(path.read_bytes()[:-15])
    file = DayFile(tmp_path / "n1", 10.0)
    file.add(SampleRow(DAY + 100, (5.0, 0.5)), ("run_queue", "cpu"))
    file.close()
    history = read_history("n1", within=tmp_path)
    assert cpu(tmp_path) == [(DAY, 0.0), (DAY + 10, 0.1), (DAY + 100, 0.5)]
    (damaged,) = history.damaged
    assert damaged.endswith("line 4: its checksum does not fit")


def test_a_line_that_a_full_disk_cut_does_not_spoil_the_next(tmp_path: Path) -> None:
    file = filled(tmp_path, rows(1))
    whole = file._file
    assert whole is not None
    file._file = _Full(whole)  # type: ignore[assignment]
    with pytest.raises(MachineError, match="No space left"):
        file.add(rows(2)[1], NAMES)
    file._file = whole
    file.add(rows(3)[2], NAMES)
    file.close()
    assert cpu(tmp_path) == [(DAY, 0.0), (DAY + 20, 0.2)]


class _Full:
    """A file on a disk with room for a few bytes."""

    def __init__(self, file: IO[bytes]) -> None:
        self.file = file

    def write(self, data: bytes) -> int:
        return self.file.write(data[:7])


def test_a_clock_that_jumped_back_corrects_what_was_ahead(tmp_path: Path) -> None:
    file = filled(tmp_path, rows(3, DAY + 3600))
    file.mark(SampleMark("back", DAY + 10, length_s=3600.0))
    file.add(SampleRow(DAY + 10, (0.9, 1.0)), NAMES)
    file.close()
    assert cpu(tmp_path) == [(DAY + 10, 0.9)]
    (mark,) = read_history("n1", within=tmp_path).marks
    assert (mark.kind, mark.length_s) == ("back", 3600.0)


def test_values_that_cannot_be_true_are_not_read(tmp_path: Path) -> None:
    file = filled(tmp_path, rows(2))
    file.add(SampleRow(DAY + 20, (1.3, 0.0)), NAMES)
    file.close()
    history = read_history("n1", within=tmp_path)
    assert len(history.curves["cpu"].times) == 2
    assert "cpu is 130 %, expected 0 to 100 %" in history.damaged[0]


def test_a_full_file_keeps_the_whole_day_at_half_its_size(tmp_path: Path) -> None:
    most = 20_000
    file = filled(tmp_path, rows(3000), most_bytes=most)
    file.close()
    (path,) = (tmp_path / "n1").glob("*.jsonl")
    assert path.stat().st_size <= most
    found = cpu(tmp_path)
    assert found[0][0] <= DAY + 640 and found[-1][0] == DAY + 29990
    assert len(found) > 100


def test_a_day_of_samples_takes_less_than_a_megabyte(tmp_path: Path) -> None:
    names = ("cpu", "run_queue", "pressure", "steal", "memory_bytes", "traffic")
    names += tuple(f"{way}_bytes_per_s:eth0" for way in ("received", "sent"))
    row = SampleRow(
        DAY + 0.1, (0.1234, 12.34, 0.1234, 0.1234, 2.379e10, 1.234e10, 1e9, 1e9)
    )
    lines = 8640 * len(text_of(row, names))
    assert lines < 1_000_000


def test_a_mean_keeps_time_count_and_average(tmp_path: Path) -> None:
    filled(tmp_path, rows(60)).close()
    before = cpu(tmp_path)
    (path,) = (tmp_path / "n1").glob("*.jsonl")
    thin(path, 60.0)
    after = cpu(tmp_path)
    assert len(after) == 10
    mean = sum(v for _, v in before) / len(before)
    assert sum(v for _, v in after) / len(after) == pytest.approx(mean, abs=1e-4)
    thin(path, 120.0)
    whole = cpu(tmp_path)
    assert len(whole) == 5
    assert sum(v for _, v in whole) / len(whole) == pytest.approx(mean, abs=1e-4)


def test_old_days_are_thinned_and_very_old_ones_removed(tmp_path: Path) -> None:
    ages = {0: 360, 3: 60, 20: 6}  # days, samples in an hour
    for age in (500, *ages):
        begin = DAY - age * 86400
        filled(tmp_path, rows(360, begin)).close()
        os.utime(tmp_path / f"n1/{day_of(begin)}.jsonl", (begin, begin))
    (tmp_path / f"n1/{day_of(DAY)}.jsonl").unlink()
    filled(tmp_path, rows(360)).close()
    for age, count in ages.items():
        begin = DAY - age * 86400
        assert len(cpu(tmp_path, begin=begin, end=begin + 3600)) == count
    assert len(days(tmp_path / "n1")) == 3


def test_marks_survive_thinning(tmp_path: Path) -> None:
    file = filled(tmp_path, rows(10))
    file.mark(SampleMark("gap", DAY + 500, length_s=400.0))
    file.close()
    (path,) = (tmp_path / "n1").glob("*.jsonl")
    thin(path, 600.0)
    assert [mark.kind for mark in read_history("n1", within=tmp_path).marks] == ["gap"]


def test_a_host_without_files_is_named_with_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no series of n7; start its monitor"):
        read_history("n7", within=tmp_path)


@pytest.mark.parametrize("host", ["../etc", "a/b", "", "n 1", "-n", "a\n"])
def test_a_name_is_no_way_into_other_folders(tmp_path: Path, host: str) -> None:
    with pytest.raises(UsageError, match="not the name of a host"):
        read_history(host, within=tmp_path)


def test_a_folder_that_cannot_be_made_is_said_in_one_line(tmp_path: Path) -> None:
    (tmp_path / "n1").write_text("a file")
    with pytest.raises(SkelgenError) as refused:
        DayFile(tmp_path / "n1", 10.0)
    assert "n1" in str(refused.value) and "\n" not in str(refused.value)


def test_a_history_comes_back_from_json(tmp_path: Path) -> None:
    file = filled(tmp_path, rows(5))
    file.mark(SampleMark("gap", DAY + 50, length_s=400.0))
    file.close()
    history = read_history("n1", within=tmp_path)
    assert history_of("n1", facts_of(history)) == history
    only = facts_of(history, ["cpu"])
    assert list(history_of("n1", only).curves) == ["cpu"]


@given(st.binary(max_size=30), st.integers(0, 10**6), st.integers(0, 40))
def test_no_damage_does_more_than_cost_lines(
    tmp_path: Path, bytes_put: bytes, at: int, removed: int
) -> None:
    folder = tmp_path / "n1"
    for path in folder.glob("*.jsonl") if folder.exists() else ():
        path.unlink()
    filled(tmp_path, rows(20)).close()
    (path,) = folder.glob("*.jsonl")
    whole = path.read_bytes()
    at %= len(whole)
    path.write_bytes(whole[:at] + bytes_put + whole[at + removed :])
    history = read_history("n1", within=tmp_path)
    for curve in history.curves.values():
        assert list(curve.times) == sorted(set(curve.times))
    assert all(0 <= v <= 1 for v in history.curves.get("cpu", NOTHING).values)
