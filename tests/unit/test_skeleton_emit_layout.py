"""Text of skeletons that clang-format would not change."""

from __future__ import annotations

import random
import shutil
import subprocess
import sysconfig
from pathlib import Path

import pytest

from skelgen.skeleton.emit.layout import (
    COLUMNS,
    Statement,
    call,
    number,
    width,
    with_comments,
    wrap,
)

ROOT = Path(__file__).resolve().parents[2]
BESIDE = Path(sysconfig.get_path("scripts")) / "clang-format"
CLANG_FORMAT = str(BESIDE) if BESIDE.exists() else shutil.which("clang-format")


def formatted(text: str) -> str:
    assert CLANG_FORMAT is not None
    style = f"--style=file:{ROOT / '.clang-format'}"
    done = subprocess.run(
        [CLANG_FORMAT, style], input=text, capture_output=True, text=True, check=True
    )
    return done.stdout


@pytest.mark.skipif(CLANG_FORMAT is None, reason="clang-format is not installed")
def test_random_calls_are_formatted_already() -> None:
    rng = random.Random(1)
    lines = with_comments([random_call(rng) for _ in range(600)])
    text = "void f(void)\n{\n" + "\n".join(lines) + "\n}\n"
    assert formatted(text) == text


def random_call(rng: random.Random) -> Statement:
    words = ("in + 4096", "MPI_BYTE", "peer(&world, -1)", "12", "world.comm", "row")
    arguments = [rng.choice(words) for _ in range(rng.randint(1, 14))]
    name = rng.choice(("MPI_Send", "MPI_Reduce_scatter_block", "compute"))
    comment = rng.choice(("", "a", "liblammps.so.0+0x12fe40"))
    return Statement(call(1, name, arguments).lines, comment)


def test_no_line_is_too_long() -> None:
    text = call(3, "MPI_Sendrecv", ["peer(&world, 1)"] * 20)
    assert max(map(width, text.lines)) <= COLUMNS
    lines = wrap([str(n) for n in range(1000)], 2)
    assert max(map(width, lines)) <= COLUMNS
    words = "".join(lines).replace("\t", " ").split()
    assert [int(word.strip(",")) for word in words] == list(range(1000))


def test_a_comment_that_does_not_fit_is_left_out() -> None:
    short, long = Statement(("\tf();",), "here"), Statement(("\t" + "x" * 88,), "here")
    assert with_comments([short, long]) == ["\tf(); /* here */", "\t" + "x" * 88]


@pytest.mark.parametrize(
    ("value", "text"),
    [(0, "0"), (1e-7, "0.0000001"), (123456.7, "123460"), (3, "3"), (0.5, "0.5")],
)
def test_numbers_are_short_and_without_exponents(value: float, text: str) -> None:
    assert number(value) == text
