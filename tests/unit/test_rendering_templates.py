"""Templates: every hole has a value, and markup is escaped where it would be markup."""

from __future__ import annotations

from pathlib import Path

import pytest
from jinja2 import UndefinedError

from skelgen import _paths
from skelgen.rendering.c_template import stated
from skelgen.rendering.templates import TextKind, filled, first_line

PACKAGE = Path(_paths.__file__).parent


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "x.j2").write_text("a\n  {% if true %}\n{{ word }}\n{% endif %}\n")
    return tmp_path


@pytest.mark.parametrize("kind", TextKind)
def test_markup_is_escaped_in_pages_only(kind: TextKind, folder: Path) -> None:
    text = filled(kind, folder, "x.j2", {"word": "<b>"})
    assert text == ("a\n&lt;b&gt;\n" if kind is TextKind.HTML else "a\n<b>\n")


@pytest.mark.parametrize("kind", TextKind)
def test_a_hole_without_a_value_is_an_error(kind: TextKind, folder: Path) -> None:
    with pytest.raises(UndefinedError, match="word"):
        filled(kind, folder, "x.j2", {})


def test_a_helper_says_in_its_first_line_what_it_needs() -> None:
    line = first_line(TextKind.C, "skeleton", "helpers/prepare_compute.c.j2")
    assert line == "{# needs: fail; includes: stdlib.h #}"
    said = stated("helpers/prepare_compute.c.j2")
    assert said == {"needs": ("fail",), "includes": ("stdlib.h",)}
    assert stated("helpers/peer.c.j2") == {}


def test_one_module_makes_what_reads_templates() -> None:
    makers = [
        path.relative_to(PACKAGE).as_posix()
        for path in PACKAGE.rglob("*.py")
        if "jinja2" in path.read_text()
    ]
    assert makers == ["rendering/templates.py"]
