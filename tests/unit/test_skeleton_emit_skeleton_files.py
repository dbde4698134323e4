"""Plans as C programs: structure, tables, metadata."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from skelgen.errors import InputError
from skelgen.reference.calibration import Mix, QueryGap
from skelgen.skeleton.emit.skeleton_files import render
from skelgen.skeleton.plan import plan
from skelgen.skeleton.types import Plan
from tests.every_operation import every_operation
from tests.plans import CALIBRATION, Builder, Do, Loop
from tests.skeletons import signature
from tests.unit.test_skeleton_emit_layout import CLANG_FORMAT, formatted

MIXED = replace(
    CALIBRATION, mix=Mix(0.5, 0.25, 0.25), steps_per_us=(300.0, 100.0, 10.0)
)

WAIT_BOTH = Do("MPI_Waitall", ages=(1, 2))


def source(build: Builder, application: str = "ring") -> str:
    return render(build.plan(application), calibration=CALIBRATION)["skeleton.c"]


def functions(text: str) -> str:
    """Return the part of a program between its tables and its set-up."""
    return text.partition("/* ---- The skeleton")[2].partition("/* ---- Set-up")[0]


def test_a_rank_that_shares_a_text_need_not_be_in_all_its_communicators() -> None:
    """Ranks 1 and 2 alone make one of the calls that they share with rank 0."""
    shared = "\n".join(
        f"10 Allreduce bytes=8 op={number} site={number + 10}"
        for number in range(1, 25)
    )
    trace = f"""
        ranks 3
        comm pair members=1,2
        rank 0
          repeat 40 {{
            {shared}
            Barrier site=3
          }}
        rank 1-2
          repeat 40 {{
            {shared}
            Allgatherv comm=pair receives=8,16 site=4
            Barrier site=3
          }}
    """
    text = render(plan(signature(trace), 2), calibration=CALIBRATION)["skeleton.c"]
    assert text.count("MPI_Allgatherv(") == 1


@pytest.mark.skipif(CLANG_FORMAT is None, reason="clang-format is not installed")
@pytest.mark.parametrize("calibration", [CALIBRATION, MIXED], ids=["plain", "mixed"])
def test_a_program_is_formatted_already(calibration) -> None:
    text = render(every_operation(), calibration=calibration)["skeleton.c"]
    assert formatted(text) == text


def asking(plan: Plan, *gaps: QueryGap) -> Plan:
    """Let computation ask for the CPU time so far apart."""
    return replace(plan, query_gaps=gaps)


@pytest.mark.parametrize("calibration", [CALIBRATION, MIXED], ids=["plain", "mixed"])
def test_computation_asks_for_its_cpu_time_as_often(calibration) -> None:
    speed = replace(calibration, query_us=0.75)
    gaps = QueryGap(125.0, 0.75, asks=True), QueryGap(4000.0, 0.25, asks=False)
    known = asking(every_operation(), *gaps)
    text = render(known, calibration=speed)["skeleton.c"]
    assert "#define QUERY_US 0.7500\n#define QUERY_GAPS 2\n" in text
    assert "\t{125.000, 0.750000, 1},\n\t{4000.000, 0.250000, 0},\n" in text
    assert "#include <sys/resource.h>" in text
    body = text.partition("static void compute(double us)")[2].partition("\n}\n")[0]
    assert "\twork_and_ask(us);" in body
    assert "\twork(" not in body
    if CLANG_FORMAT is not None:
        assert formatted(text) == text


def test_computation_that_does_not_ask_has_no_code_for_it() -> None:
    text = render(every_operation(), calibration=CALIBRATION)["skeleton.c"]
    assert "rusage" not in text
    assert "QUERY" not in text


def test_the_same_plan_gives_the_same_text() -> None:
    first = render(every_operation(), calibration=CALIBRATION)
    assert render(every_operation(), calibration=CALIBRATION) == first


def test_loops_stay_loops() -> None:
    inner = Loop(4, [Do("MPI_Allreduce", size=8, datatype=8, op=3, us=10)])
    text = functions(source(Builder(1).program([0], Loop(50, [inner]))))
    assert text.count("MPI_Allreduce") == 1
    assert "for (int i = 0; i < 50; i++) {" in text
    assert "for (int j = 0; j < 4; j++) {" in text


def test_a_loop_of_one_trip_is_no_loop() -> None:
    text = functions(source(Builder(1).program([0], Loop(1, [Do("MPI_Barrier")]))))
    assert "for (" not in text and "MPI_Barrier" in text


def test_ranks_with_mirrored_partners_share_one_function() -> None:
    build = Builder(4)
    for rank, shift in enumerate((1, 3, 1, 3)):  # partner: rank ^ 1
        build.program([rank], Loop(5, [Do("MPI_Send", size=8, peer=shift, tag=1)]))
    text = functions(source(build))
    assert text.count("MPI_Send(") == 1
    assert "world.rank ^ 1" in text


def test_ranks_with_other_partners_share_a_table() -> None:
    build = Builder(4)
    for rank, shift in enumerate((1, 2, 3, 1)):
        build.program([rank], Do("MPI_Send", size=8, peer=shift, tag=1))
    text = source(build)
    assert "static const int peer_0[4] = {1, 3, 1, 0};" in text
    assert "peer_0[row]" in functions(text)


def test_nobody_can_stand_in_a_table_of_partners() -> None:
    build = Builder(3)
    for rank, shift in enumerate((1, 1, -2)):
        build.program([rank], Do("MPI_Send", size=8, peer=shift, tag=1))
    assert "{1, 2, MPI_PROC_NULL}" in source(build)


def test_nobody_can_have_a_turn() -> None:
    varying = np.array([1, -2, 1, 1, -2])
    sends = Loop(5, [Do("MPI_Send", size=8, peer=varying, tag=1)])
    build = Builder(2).program([0], sends, Do("MPI_Recv", size=8, peer=1, tag=2))
    build.program([1], Loop(3, [Do("MPI_Recv", size=8, peer=1, tag=1)]))
    text = source(build)
    assert "peer_or_nobody(&world, count(&peer_0))" in functions(text)
    assert "{1, MPI_PROC_NULL, 1}" in text


def test_ranks_with_other_trip_counts_share_one_function() -> None:
    build = Builder(2)
    build.program([0], Loop(5, [Do("MPI_Barrier", family=1)]))
    build.program([1], Loop(7, [Do("MPI_Barrier", family=1)]))
    text = functions(source(build))
    assert text.count("MPI_Barrier") == 1
    assert re.search(r"i < trips_\d+\[row\]", text)


def test_ranks_that_do_other_things_have_functions_of_their_own() -> None:
    build = Builder(4)
    build.program([0, 2], Do("MPI_Send", size=8, peer=1, tag=1))
    build.program([1, 3], Do("MPI_Recv", size=8, peer=3, tag=1))
    text = source(build)
    assert "if (world.rank % 2 == 0)\n\t\tpart_0();\n\telse\n\t\tpart_1();" in text
    assert "/* Ranks 0, 2. */" in text


def test_working_in_place_at_the_root_only_is_one_call() -> None:
    build = Builder(2)
    reduce = Do("MPI_Reduce", size=8, datatype=8, op=3, peer=0)
    build.program([0], replace(reduce, in_place=True)).program([1], reduce)
    text = functions(source(build))
    assert "MPI_Reduce(world.rank == 0 ? MPI_IN_PLACE : out, in" in text


def test_messages_that_are_gathered_in_memory_have_holes_there() -> None:
    build = Builder(2)
    send = Do("MPI_Isend", size=4096, datatype=4096, peer=1, tag=1, holes=True)
    receive = Do("MPI_Irecv", size=100, datatype=50, peer=1, tag=2, holes=True)
    text = source(build.program([0, 1], send, receive, WAIT_BOTH))
    assert "MPI_Isend(out, 512, holes_8, " in text
    assert "MPI_Irecv(in, 50, holes_2, " in text
    assert "out = touched(8192);" in text and "in = touched(256);" in text
    assert "holes_2 = with_holes(2);" in text and "holes_8 = with_holes(8);" in text


@pytest.mark.parametrize(
    ("sizes", "piece", "block"),
    [(4096, 1024, 1024), (4096, 2, 2), ([4096, 1536], 1024, 512), (4096, 0, 8),
     (4104, 1 << 30, 8), (4096, 1 << 30, 4096), (0, 1 << 29, 8)],
)  # fmt: skip
def test_pieces_of_memory_are_as_large_as_whole_messages_allow(
    sizes: object, piece: int, block: int
) -> None:
    own: dict[str, Any] = {"size": sizes, "datatype": 8, "piece": piece, "holes": True}
    send = Do("MPI_Isend", peer=1, tag=1, **own)
    receive = Do("MPI_Irecv", peer=1, tag=1, **own)
    text = source(Builder(2).program([0, 1], send, receive, WAIT_BOTH))
    assert f"holes_{block} = with_holes({block});" in text
    if isinstance(sizes, int):
        assert f"MPI_Isend(out, {sizes // block}, holes_{block}, " in text
        assert f"MPI_Irecv(in, {sizes // block}, holes_{block}, " in text


def test_messages_of_no_bytes_have_a_place() -> None:
    build = Builder(2)
    build.program([0], Do("MPI_Send", size=0, peer=1, tag=1))
    build.program([1], Do("MPI_Recv", size=0, peer=1, tag=1))
    text = source(build)
    assert "MPI_Send(out, 0, " in text and "MPI_Recv(in, 0, " in text
    assert "static char *out;" in text and "static char *in;" in text


def test_collectives_are_gathered_in_memory_like_messages() -> None:
    vectors = np.full((2, 2, 2), 24.0)
    bcast = Do("MPI_Bcast", size=40, datatype=20, peer=0, holes=True)
    calls = [
        bcast,
        Do("MPI_Alltoallv", datatype=8, vectors=vectors, holes=True),
        Do("MPI_Alltoallw", datatype=8, vectors=vectors, holes=True),
        Do("MPI_Alltoallw", vectors=vectors),
        replace(bcast, size=42),  # as others that take part may have averaged
    ]
    text = source(Builder(2).program([0, 1], *calls))
    assert "MPI_Bcast(in, 10, holes_4, 0, " in text
    assert re.search(r"MPI_Bcast\(in \+ \d+, 21, holes_2, 0, ", text)
    shared, apart, whole = "{3, 3}", "{0, 48}", "{0, 24}"
    assert f"] = {shared};" in text and f"] = {apart};" in text
    assert re.search(r"MPI_Alltoallv\(out, to_0, to_at_1, holes_8, in \+", text)
    assert re.search(r"MPI_Alltoallw\(out.*, to_0, to_at_2, each_holes_8, in", text)
    assert re.search(r"MPI_Alltoallw\(out.*, to_\d, to_at_\d, each_MPI_BYTE, in", text)
    assert f"] = {whole};" in text
    assert "each_MPI_BYTE[i] = MPI_BYTE;" in text
    assert "out = touched(" in text


def test_communicators_have_formulas_where_there_are_some() -> None:
    build = Builder(6)
    rows = build.family("split", (0, 1, 2), (3, 4, 5))
    columns = build.family("cart_sub", (0, 3), (1, 4), (2, 5))
    odd = build.family("create", (4, 1))
    calls = [Do("MPI_Barrier", family=family) for family in (rows, columns)]
    build.program([0, 2, 3, 5], *calls)
    build.program([1, 4], *calls, Do("MPI_Barrier", family=odd))
    text = source(build)
    assert "split(&split_2, world.rank / 3, world.rank);" in text
    assert "split(&cart_sub_3, world.rank % 3, world.rank);" in text
    assert re.search(r"color_\d+\[6\] = \{-1, 0, -1, -1, 0, -1\}", text)
    assert re.search(r"key_\d+\[6\] = \{0, 1, 0, 0, 0, 0\}", text)


def test_communicators_that_nothing_uses_are_not_built() -> None:
    build = Builder(2)
    build.family("dup", (0, 1))
    build.program([0, 1], Do("MPI_Barrier"))
    assert "split(" not in source(build)


def test_receives_that_overlap_have_their_own_memory() -> None:
    body = [
        Do("MPI_Irecv", size=100, peer=1, tag=1),
        Do("MPI_Irecv", size=100, peer=1, tag=2),
        Do("MPI_Recv", size=100, peer=1, tag=3),
        Do("MPI_Waitall", ages=(2, 1)),
        Do("MPI_Irecv", size=50, peer=1, tag=4),
        Do("MPI_Wait", ages=(1,)),
    ]
    text = functions(source(Builder(2).program([0, 1], Loop(9, body))))
    places = re.findall(r"MPI_I?recv\((in[ +\d]*),", text.replace("Recv", "recv"))
    assert places == ["in + 128", "in + 256", "in", "in + 128"]


def test_a_call_that_skeletons_cannot_repeat_is_refused() -> None:
    build = Builder(1).program([0], Do("MPI_File_write"))
    with pytest.raises(InputError, match="MPI_File_write"):
        source(build)


def test_messages_of_more_than_2_gib_are_refused() -> None:
    build = Builder(1).program([0], Do("MPI_Send", size=2**31, peer=0, tag=0))
    with pytest.raises(InputError, match="2147483648 bytes"):
        source(build)


def test_a_strange_name_of_the_application_stays_text() -> None:
    text = source(Builder(1).program([0], Do("MPI_Barrier")), 'a*/"b\\%s\n')
    assert 'skeleton of a_/"b_%s_ on' in text.partition("*/")[0]
    (line,) = [line for line in text.splitlines() if '"{\\"skeleton\\"' in line]
    said = r'"a\052/\134\042b\134\134\045s\134n"'
    assert line == rf'	printf("{{\"skeleton\": \"%s\", ", {said});'


def test_large_flat_programs_are_written_in_time_that_grows_with_them() -> None:
    body = [Do("MPI_Send", size=8, peer=1, tag=n % 50) for n in range(3000)]
    text = source(Builder(2).program([0, 1], Loop(3, body)))
    assert text.count("MPI_Send(") == 3000


def test_gaps_too_short_for_a_call_are_left_out() -> None:
    body = [Do("MPI_Barrier", us=0.01), Do("MPI_Barrier", us=np.array([[0.5]]))]
    text = functions(source(Builder(1).program([0], *body)))
    assert text.count("compute(") == 1


def test_calls_of_some_ranks_stand_in_the_text_of_all() -> None:
    body = [Do("MPI_Bcast", size=8, peer=0), Do("MPI_Barrier"), Do("MPI_Scan", size=8)]
    build = Builder(4)
    build.program([0, 2, 3], *body * 3)
    build.program([1], *body * 2, Do("MPI_Send", size=8, peer=0, tag=1), *body)
    text = functions(source(build))
    assert text.count("MPI_Send(") == 1
    assert "\tif (world.rank == 1) {\n\t\tMPI_Send(" in text


def test_a_stretch_at_several_places_is_written_once() -> None:
    sites = [
        Do("MPI_Bcast", size=8, peer=0, site=0, us=100),
        Do("MPI_Allreduce", size=8, datatype=8, op=3, site=0),
        Do("MPI_Scan", size=8, datatype=8, op=3, site=0),
        Do("MPI_Allgather", size=8, site=0),
    ]
    other = [replace(do, us=300) if do.us else do for do in sites]
    items = [Loop(5, sites), Do("MPI_Barrier"), Loop(7, other)]
    text = functions(source(Builder(1).program([0], *items)))
    assert text.count("MPI_Allgather(") == 1
    assert re.search(r"compute\(gap_\d+\[at\]\);", text)
    assert text.count("steps_0(0);") == text.count("steps_0(1);") == 1


@pytest.mark.parametrize(
    ("shifts", "expected"),
    [
        (((1, 1, 1, 1), (3, 3, 3, 3)), "peer(shift_0[at])"),
        (((1, 3, 1, 3), (2, 2, 2, 2)), "world.rank ^ mirror_0[at]"),
        (((1, 3, 1, 3), (1, 1, 1, 1)), "peer_0[at][row]"),
    ],
)
def test_partners_of_a_stretch_at_several_places_are_short(shifts, expected) -> None:
    build = Builder(4)
    rest = [Do("MPI_Bcast", size=8, peer=0), Do("MPI_Barrier"), Do("MPI_Allgather")]
    for rank in range(4):
        stretch = [
            [Do("MPI_Send", size=8, peer=places[rank], tag=1), *rest]
            for places in shifts
        ]
        build.program([rank], *stretch[0], Do("MPI_Scan", size=8), *stretch[1])
    text = functions(source(build))
    assert text.count("MPI_Send(") == 1
    assert expected in text


def test_sizes_that_hardly_differ_become_one() -> None:
    build = Builder(2)
    send = Do("MPI_Send", size=[[960, 1000], [1000, 1040]], peer=1, tag=1)
    receive = Do("MPI_Recv", size=1040, peer=1, tag=1)
    text = functions(source(build.program([0, 1], Loop(4, [send, receive]))))
    assert "MPI_Send(out, 1000, MPI_BYTE" in text
    (room,) = re.findall(r"MPI_Recv\(in, (\d+),", text)
    assert 1040 <= int(room) <= 1400
