"""Call sites: a return address, or what SKELGEN_CALLSTACK asks for."""

from __future__ import annotations

import re
import subprocess
from itertools import pairwise

import pytest

from skelgen.pipeline.info import info
from tests.shim.conftest import Lab, Record, Run

pytestmark = pytest.mark.mpi


def sites(run: Run) -> list[int]:
    """Return the number of each Send's call site."""
    (trace,) = run.traces
    assert trace.clean
    return [event.site for event in trace.of("Send")]


def test_a_call_site_is_where_the_call_returns_to(record: Record) -> None:
    assert len(set(sites(record("sites", 1)))) == 1


def test_two_frames_tell_who_called_the_function_with_the_call(record: Record) -> None:
    left, right, again, *rest = sites(record("sites", 1, SKELGEN_CALLSTACK="2"))
    assert left == again != right
    assert rest == [left, right, again]


def test_three_frames_tell_more(record: Record) -> None:
    left, right, again, *rest = sites(record("sites", 1, SKELGEN_CALLSTACK="3"))
    assert len({left, right, again}) == 3
    assert rest == [left, right, again]


def test_more_frames_than_there_are_end_with_the_program(record: Record) -> None:
    numbers = sites(record("sites", 1, SKELGEN_CALLSTACK="64"))
    assert len(set(numbers)) == 6  # main calls both() at two places


def test_repeated_polls_stay_one_record(record: Record) -> None:
    (trace,) = record("sites", 1, SKELGEN_CALLSTACK="3").traces
    polls = trace.of("Iprobe")
    assert sum(event.polls for event in polls) == 5
    unit_ns = 2 ** trace.header["unit_shift"] * 1e9 / trace.header["ticks_per_s"]
    # Only a rank that loses its core between two polls begins another record.
    assert all((b.begin - a.end) * unit_ns > 49_000 for a, b in pairwise(polls))


def test_info_names_functions_of_a_stack(record: Record, lab: Lab) -> None:
    run = record("sites", 1, SKELGEN_CALLSTACK="3")
    found = info(run.folder)
    summary, text = found.summary, found.text
    found = {one.where: one.calls for one in summary.sites if "Send" in one.function}
    assert sorted(found.values()) == [2, 2, 2]
    where = next(iter(found))
    frames = where.split(" < ")
    assert len(frames) == 3
    program = str(lab.compile("sites"))
    addresses = [hex(int(frame.rpartition("+")[2], 16) - 1) for frame in frames]
    command = ["addr2line", "-f", "-e", program, *addresses]
    said = subprocess.run(command, capture_output=True, text=True, check=False)
    if not said.returncode:
        assert said.stdout.splitlines()[::2] in (
            ["send", "left", "both"],
            ["send", "right", "both"],
        )
    offsets = re.sub(r"(\+0x[0-9a-f]+) \w+", r"\1", text)  # without functions
    assert where in offsets
