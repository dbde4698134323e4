"""Message sizes of a skeleton: equal at both ends, multiples of the datatype."""

from __future__ import annotations

import random
from dataclasses import replace

import numpy as np
import pytest

from skelgen.events import CallKind, function_info
from skelgen.skeleton.plan import plan
from skelgen.skeleton.types import Operation, Plan
from tests.random_programs import random_program
from tests.skeletons import signature


def operation(made: Plan, rank: int, function: str) -> tuple[Operation, int]:
    """Return a rank's first operation of a function, and the rank's row."""
    program = next(p for p in made.programs if rank in p.ranks)
    for found in program.operations:
        if made.functions[made.symbols["function"][found.symbol]] == f"MPI_{function}":
            return found, program.ranks.index(rank)
    raise AssertionError(f"no {function} on rank {rank}")


def sizes(made: Plan, rank: int, function: str) -> list[float]:
    found, row = operation(made, rank, function)
    values: list[float] = found.size_bytes.values[row].tolist()
    return values


def one_of(calls: str, *, ranks: int = 4) -> Plan:
    text = f"ranks {ranks}\nrank *\nrepeat 20 {{\n{calls}\nBarrier site=99\n}}"
    return plan(signature(text), 2)


def test_close_sizes_become_their_mean() -> None:
    lines = [
        "rank 0",
        *(f"Send to=1 tag=1 bytes={8000 + i % 3 * 8} type=8" for i in range(30)),
        "rank 1",
        *("Recv from=0 tag=1 bytes=9000 type=8" for _ in range(30)),
    ]
    made = plan(signature("\n".join(lines)), 3)
    assert sizes(made, 0, "Send") == [8008]
    assert operation(made, 1, "Recv")[0].receive_bytes.tolist() == [8008]
    assert sizes(made, 1, "Recv") == [8008]


def program_with_sizes(send_bytes: list[int]) -> str:
    """Rank 0 sends them, one after the other."""
    lines = ["rank 0", *(f"Send to=1 tag=1 bytes={one}" for one in send_bytes)]
    lines += ["rank 1", *("Recv from=0 tag=1 bytes=90000" for _ in send_bytes)]
    return "\n".join(lines)


def test_sizes_that_change_to_and_fro_do_so_in_the_skeleton() -> None:
    rng = random.Random(4)
    sent = [1024 << rng.randint(0, 4) for _ in range(1000)]
    values = sizes(plan(signature(program_with_sizes(sent)), 4), 0, "Send")
    assert len(values) == 250
    steps, own = (np.abs(np.diff(some)).mean() for some in (values, sent))
    assert steps == pytest.approx(own, rel=0.35)
    assert np.mean(values) == pytest.approx(np.mean(sent), rel=0.02)
    # Of each size as many as were sent: one or two of ten times 16, scaled to the mean.
    parts = [np.mean(np.isclose(values, 1024 << i, rtol=0.2)) for i in range(5)]
    assert min(parts) > 0.15 and sum(parts) == pytest.approx(1)
    assert min(sent) <= min(values) and max(values) <= max(sent)


def test_sizes_that_stay_for_a_while_do_so_in_the_skeleton() -> None:
    rng = random.Random(4)
    sent = np.repeat([1024 << rng.randint(0, 4) for _ in range(800)], 10).tolist()
    values = sizes(plan(signature(program_with_sizes(sent)), 8), 0, "Send")
    assert len(values) == 1000
    changes = np.count_nonzero(np.diff(values))
    assert 30 <= changes <= 150  # of 1,000; 80 in as many calls of the program
    assert np.mean(values) == pytest.approx(np.mean(sent), rel=0.03)


@pytest.mark.parametrize("steps", [0.0, 1e-300, 1e300])
def test_any_steps_between_sizes_give_a_plan(steps: float) -> None:
    rng = random.Random(4)
    sent = [1024 << rng.randint(0, 4) for _ in range(1000)]
    given = signature(program_with_sizes(sent))
    groups = [
        replace(group, size_steps=np.full_like(group.size_steps, steps))
        for group in given.groups
    ]
    values = sizes(plan(replace(given, groups=tuple(groups)), 4), 0, "Send")
    assert len(values) == (250 if steps > 1 else 16)
    assert min(sent) <= min(values) and max(values) <= max(sent)


def test_sizes_that_drift_become_a_series_in_the_order_of_time() -> None:
    lines = [
        "rank 0",
        *(f"Send to=1 tag=1 bytes={8 * (500 + 5 * i)} type=8" for i in range(200)),
        "rank 1",
        *("Recv from=0 tag=1 bytes=20000 type=8" for _ in range(200)),
    ]
    made = plan(signature("\n".join(lines)), 5)
    values = sizes(made, 0, "Send")
    assert len(values) == 16 and values == sorted(values)
    assert np.mean(values) == pytest.approx(8 * 997, rel=0.02)
    assert all(value % 8 == 0 for value in values)
    assert operation(made, 1, "Recv")[0].receive_bytes[0] == max(values)


def test_a_sendrecv_can_take_what_its_source_sends() -> None:
    text = "\n".join(
        f"rank {rank}\nrepeat 20 {{\n"
        f"Sendrecv to=+1 from=-1 tag=1 tag2=1 bytes={100 * (rank + 1)}\n}}"
        for rank in range(3)
    )
    made = plan(signature(text), 2)
    for rank in range(3):
        found, row = operation(made, rank, "Sendrecv")
        assert found.size_bytes.values[row].tolist() == [100 * (rank + 1)]
        assert found.receive_bytes[row] == 100 * ((rank - 1) % 3 + 1)


def test_persistent_receives_can_take_what_their_starts_bring() -> None:
    made = plan(
        signature(
            """
            rank 0
              Send_init to=1 tag=1 bytes=4000 as=s
              repeat 12 {
                Start of=s
                Wait of=s
              }
            rank 1
              Recv_init from=0 tag=1 bytes=9000 as=r
              repeat 12 {
                Start of=r
                Wait of=r
              }
            """
        ),
        3,
    )
    assert sizes(made, 0, "Send_init") == [4000]
    assert operation(made, 1, "Recv_init")[0].receive_bytes.tolist() == [4000]
    assert sizes(made, 1, "Start") == [0]


@pytest.mark.parametrize(
    ("call", "block"),
    [
        ("Bcast root=1 bytes=400", 400),
        ("Allreduce op=1 bytes=400 type=8", 400),
        ("Allgather bytes=400", 400),
        ("Alltoall bytes=400", 400),
        ("Scan op=1 bytes=400 type=8", 400),
        ("Reduce_scatter_block op=1 bytes=400 type=8", 400),
        ("Ialltoall bytes=400 as=q\nWait of=q", 400),
        ("Ibcast root=1 bytes=400 as=q\nWait of=q", 400),
    ],
)
def test_collectives_have_one_block_on_all_ranks(call: str, block: int) -> None:
    made = one_of(call)
    function = call.split(maxsplit=1)[0]
    assert [sizes(made, rank, function) for rank in range(4)] == [[block]] * 4


@pytest.mark.parametrize(
    ("function", "at_root", "elsewhere", "block"),
    [("Bcast", 400, 0, 400), ("Scatter", 400, 0, 400), ("Gather", 400, 400, 400)],
)
def test_what_only_the_root_knows_reaches_all(
    function: str, at_root: int, elsewhere: int, block: int
) -> None:
    text = "\n".join(
        f"rank {rank}\nrepeat 20 {{\n"
        f"{function} root=2 bytes={at_root if rank == 2 else elsewhere}\n}}"
        for rank in range(4)
    )
    made = plan(signature(text), 2)
    assert [sizes(made, rank, function) for rank in range(4)] == [[block]] * 4


def test_reductions_of_something_have_an_element_at_least() -> None:
    lines = ["ranks 2", "rank *"]
    lines += [
        f"Allreduce op=1 type=8 bytes={8 if i % 9 == 0 else 0}" for i in range(90)
    ]
    made = plan(signature("\n".join(lines)), 3)
    assert min(sizes(made, 0, "Allreduce")) >= 0
    assert max(sizes(made, 0, "Allreduce")) >= 8


def vectors_by_rank(made: Plan, function: str) -> list[np.ndarray]:
    found = []
    for rank in range(made.signature.ranks):
        own, row = operation(made, rank, function)
        found.append(own.vectors[row])
    return found


def test_both_ends_of_an_alltoallv_agree() -> None:
    rng = random.Random(4)
    lines: list[list[str]] = [[], [], []]
    for _ in range(30):
        matrix = [[8 * rng.randint(0, 90) for _ in range(3)] for _ in range(3)]
        for rank in range(3):
            sends = ",".join(str(value) for value in matrix[rank])
            receives = ",".join(str(matrix[other][rank]) for other in range(3))
            lines[rank].append(f"Alltoallv type=8 sends={sends} receives={receives}")
    text = "\n".join(f"rank {r}\n" + "\n".join(own) for r, own in enumerate(lines))
    made = plan(signature(text), 5)
    vectors = vectors_by_rank(made, "Alltoallv")
    for rank in range(3):
        for other in range(3):
            assert vectors[rank][0][other] == vectors[other][1][rank]
    assert all((vector % 8 == 0).all() for vector in vectors)
    assert np.mean(vectors) == pytest.approx(360, rel=0.15)


@pytest.mark.parametrize("function", ["Gatherv", "Allgatherv", "Scatterv"])
def test_vectors_that_all_or_the_root_know_are_equal_on_all_ranks(
    function: str,
) -> None:
    amounts = [80, 160, 240]
    listed = ",".join(map(str, amounts))
    lines = []
    for rank in range(3):
        words = [function]
        if function == "Scatterv":
            words.append(f"sends={listed}" if rank == 1 else "bytes=0")
        else:
            words.append(f"bytes={amounts[rank]}")
            if rank == 1 or function == "Allgatherv":
                words.append(f"receives={listed}")
        if function != "Allgatherv":
            words.append("root=1")
        lines.append(f"rank {rank}\nrepeat 20 {{\n{' '.join(words)}\n}}")
    made = plan(signature("\n".join(lines)), 4)
    for rank, vector in enumerate(vectors_by_rank(made, function)):
        assert vector[1].tolist() == amounts
        assert sizes(made, rank, function) == [amounts[rank]]


def test_sizes_of_random_programs_are_whole_elements() -> None:
    for seed in range(40):
        known = signature(random_program(random.Random(seed), calls=300))
        made = plan(known, 1.5)
        for program in made.programs:
            for found in program.operations:
                row = made.symbols[found.symbol]
                kind = function_info(made.functions[row["function"]]).kind
                if kind in (
                    CallKind.SEND,
                    CallKind.ISEND,
                    CallKind.SENDRECV,
                    CallKind.SEND_INIT,
                ):
                    unit = max(1, int(row["datatype_bytes"]))
                    assert (found.size_bytes.values % unit == 0).all()
