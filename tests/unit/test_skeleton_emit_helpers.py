"""Which helpers a program defines: those that its pieces use, and what these need."""

from __future__ import annotations

import re
from itertools import combinations

import numpy as np
import pytest

from skelgen import _paths
from skelgen.rendering.c_template import stated
from skelgen.skeleton.emit.data.tables import ProgramTables
from skelgen.skeleton.emit.fragments import Fragment, Use, UseKind, helpers
from skelgen.skeleton.emit.helpers import followed
from skelgen.skeleton.emit.layout import call
from skelgen.skeleton.emit.skeleton_files import render
from tests.every_operation import every_operation
from tests.plans import CALIBRATION, Builder, Do, Loop

FOLDER = _paths.templates() / "skeleton"
HELPERS = sorted(
    path.name.removesuffix(".c.j2") for path in (FOLDER / "helpers").iterdir()
)


def named(*names: str) -> set[Use]:
    return set(helpers(*names))


def test_helpers_bring_what_their_own_text_needs() -> None:
    found = followed(helpers("count", "aged_all"), ProgramTables())
    assert found == named("count", "next", "series", "aged_all", "aged")


def test_tables_bring_what_their_definitions_need() -> None:
    tables = ProgramTables()
    gap = tables.quantity("gap", [np.array([[1.5, 2.5], [1.5, 3.5]])], [9], read="now")
    expected = named("now", "series", "told", "row")
    assert followed(gap.uses, tables) == {Use(UseKind.TABLE, "gap_0"), *expected}


def test_a_call_uses_what_its_arguments_use() -> None:
    words = [Fragment("a", helpers("row")), "7", Fragment("b", helpers("peer"))]
    assert call(1, "f", words).uses == helpers("row", "peer")


@pytest.mark.parametrize("name", HELPERS)
def test_what_a_helper_says_that_it_needs_is_in_its_text(name: str) -> None:
    text = (FOLDER / f"helpers/{name}.c.j2").read_text().partition("#}\n")[2]
    text += "".join(
        (FOLDER / included).read_text()
        for included in re.findall(r'include "(\w+\.c\.j2)"', text)
    )
    for need in stated(f"helpers/{name}.c.j2").get("needs", ()):
        assert need in HELPERS
        assert re.search(rf"\b{need}\b", text) or (name, need) in {
            ("out", "touched"),  # allocated in the set-up
            ("in", "touched"),
            ("serve", "touched"),
            ("answer", "serve"),  # which defines `served`
        }


@pytest.mark.parametrize("name", HELPERS)
def test_every_helper_has_its_place_in_the_program(name: str) -> None:
    layouts = [path.read_text() for path in FOLDER.glob("*.c.j2")]
    places = [text for text in layouts if f'"{name}"' in text or f"/{name}.c" in text]
    assert places


def defined(text: str) -> set[str]:
    """Return the functions and macros that a program defines."""
    heads = re.findall(r"^static [\w *]*?(\w+)\(", text, re.MULTILINE)
    return {*heads, *re.findall(r"^#define (\w+)", text, re.MULTILINE)}


def needs_nothing(text: str, names: set[str]) -> set[str]:
    return {name for name in names if len(re.findall(rf"\b{name}\b", text)) == 1}


@pytest.mark.parametrize("ranks", [1, 2, 4])
def test_a_program_defines_what_it_uses_and_nothing_else(ranks: int) -> None:
    steps = [
        Do("MPI_Barrier"),
        Do("MPI_Allreduce", size=8, datatype=8, op=3),
        Do("MPI_Bcast", size=[[8, 16, 24]] * ranks, peer=0),
        Do("MPI_Barrier", us=50.0),
    ]
    for chosen in combinations(steps, 2):
        build = Builder(ranks).program(list(range(ranks)), Loop(6, list(chosen)))
        text = render(build.plan(), calibration=CALIBRATION)["skeleton.c"]
        assert needs_nothing(text, defined(text)) == set()
        assert ("<stdlib.h>" in text) == ("calloc" in text)
        assert ("<string.h>" in text) == ("strcmp" in text or "memset" in text)


def test_the_program_with_every_operation_defines_nothing_unused() -> None:
    text = render(every_operation(), calibration=CALIBRATION)["skeleton.c"]
    assert needs_nothing(text, defined(text)) == set()


def test_no_argument_of_a_helper_has_the_name_of_what_another_one_defines() -> None:
    """They may meet in one file, and compilers warn about it."""
    texts = [path.read_text() for path in sorted((FOLDER / "helpers").iterdir())]
    defined = {"place", "persistent_place", "requests", "persistents"}  # of a ring
    for text in texts:
        defined |= set(
            re.findall(r"^static [^(]*?\*?(\w+)(?:\[.*\])?(?: =.*)?;", text, re.M)
        )
    assert {"slept_us", "request"} <= defined
    heads = [
        head
        for text in texts
        for head in re.findall(r"^static .*?\((.*?)\)\n\{", text, re.M | re.S)
    ]
    arguments = {
        re.findall(r"\w+", one)[-1] for head in heads for one in head.split(",")
    }
    assert {"nap_us", "serving"} <= arguments
    assert not arguments & defined
