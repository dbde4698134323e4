"""One clock for ranks on different hosts."""

import numpy as np

from skelgen.events import collect
from skelgen.events.clock import monotonic_origin_ns
from skelgen.trace import open_trace
from tests.trace_writer import RankWriter, varint


def host(rank, ranks, folder, *, name="node1", start=1_000_000, offset=None, **options):
    """A rank that calls MPI_Barrier 500 ns after MPI_Init."""
    writer = RankWriter(
        rank, ranks, host=name, boot_id=name, start_ticks=start, **options
    )
    writer.event("MPI_Init", 0, 2000)
    if offset is not None:
        writer.offset(0, *offset)
    writer.event("MPI_Barrier", 1000, 2000)
    writer.event("MPI_Barrier", 200_000_000, 2000)
    if offset is not None:
        writer.offset(0, *offset)
    writer.finish()
    writer.save(folder)
    return writer


def enters(folder):
    events = collect(open_trace(folder))
    return events.enter_ns.reshape(2, 2), events.warnings


def test_ranks_of_one_host_share_its_clock(tmp_path):
    host(0, 2, tmp_path)
    host(1, 2, tmp_path, start=1_000_600)
    enter, warnings = enters(tmp_path)
    assert (enter[1] - enter[0]).tolist() == [300, 300]
    assert warnings == ()


def test_the_origin_is_the_begin_of_the_first_stream(tmp_path):
    for rank, start in enumerate((3_000_000, 1_000_000)):
        host(rank, 2, tmp_path, start=start)
    late, early = open_trace(tmp_path).files
    origin_ns = monotonic_origin_ns([late, early])
    assert origin_ns == monotonic_origin_ns([early])
    assert monotonic_origin_ns([late]) - origin_ns == 1_000_000
    begin = early.definitions.clocks[0]
    assert origin_ns <= begin.monotonic_ns < origin_ns + 1_000_000


def test_clocks_of_other_hosts_are_shifted_by_what_was_measured(tmp_path):
    host(0, 2, tmp_path)
    host(1, 2, tmp_path, name="node2", start=7_000_000, offset=(-2_999_900, 20))
    enter, warnings = enters(tmp_path)
    np.testing.assert_allclose(enter[1] - enter[0], [100, 100], atol=1)
    assert warnings == ()


def test_a_clock_that_is_hardly_known_is_told(tmp_path):
    host(0, 2, tmp_path)
    host(1, 2, tmp_path, name="node2", offset=(0, 5_000_000))
    assert enters(tmp_path)[1] == ("the clock of node2 is known to within 5 ms only",)


def test_clocks_that_were_not_compared_follow_their_wall_clocks(tmp_path):
    host(0, 2, tmp_path)
    host(1, 2, tmp_path, name="node2", start=5_000_000)
    enter, warnings = enters(tmp_path)
    np.testing.assert_allclose(enter[1] - enter[0], [2_000_000] * 2, atol=1)
    assert warnings == (
        "the clock of node2 was not compared with that of node1; their wall clocks "
        "are trusted",
    )


def test_time_units_and_speeds_of_hosts_may_differ(tmp_path):
    host(0, 2, tmp_path)
    options = {"unit_shift": 4, "ticks_per_s": 2_000_000_000 * 16, "start": 16_000_000}
    host(1, 2, tmp_path, name="node2", offset=(0, 1), **options)
    enter, _ = enters(tmp_path)
    np.testing.assert_allclose(enter[1] - enter[0], [0, 0], atol=2)


def test_the_measured_speed_beats_the_nominal_one(tmp_path):
    writer = host(0, 1, tmp_path)
    events = collect(open_trace(tmp_path))
    writer.save(tmp_path, ticks_per_s=int(2_000_000_000 * 1.001))
    assert collect(open_trace(tmp_path)).application_ns == events.application_ns
    writer.save(tmp_path, ticks_per_s=1_000_000_000)  # far off: then it is believed
    assert collect(open_trace(tmp_path)).application_ns == 2 * events.application_ns


def test_a_killed_run_uses_the_nominal_speed(tmp_path):
    writer = RankWriter(0, 1, ticks_per_s=1_000_000_000)
    writer.event("MPI_Init", 0, 50)
    writer.event("MPI_Barrier", 70, 10)
    writer.save(tmp_path)
    events = collect(open_trace(tmp_path))
    assert (events.enter_ns[0], events.leave_ns[0]) == (120, 130)


def test_clock_readings_that_cannot_be_do_no_harm(tmp_path):
    writer = RankWriter(0, 1)
    writer.event("MPI_Init", 0, 50)
    big = varint(2**63 - 1)
    writer.define("CLOCK", varint(2), big, big, big, big)
    writer.define("OFFSET", varint(0), big, varint(0), varint(2**62), varint(2**61))
    writer.event("MPI_Barrier", 70, 10)
    writer.finish()
    writer.save(tmp_path)
    events = collect(open_trace(tmp_path))
    assert (events.enter_ns[0], events.leave_ns[0]) == (60, 65)
