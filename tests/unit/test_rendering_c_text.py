"""Text that nobody has checked, in C: it is data, whatever compiles it."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skelgen.errors import InputError
from skelgen.reference.compiled_program import COMPILER_FLAGS
from skelgen.rendering.c_text import c_comment, c_name, c_string, checked

COMPILERS = [name for name in ("gcc", "clang") if shutil.which(name)]
#: What ended a string or a comment somewhere, sometime.
NASTY = [
    'x??/"); abort(); //',
    '"); abort(); ("',
    '\\"); abort(); //',
    "*/ abort(); /*",
    "line\nabort();",
    "continued \\",
    "continued ??/",
    "100 %s%n",
    "\0nul",
    "é\udc80\ud800 \u2028",
    "1\0602",
]
TEXTS = st.one_of(st.sampled_from(NASTY), st.text(max_size=30))


@pytest.mark.skipif(not COMPILERS, reason="no C compiler")
@pytest.mark.parametrize("compiler", COMPILERS or ["gcc"])
@pytest.mark.parametrize("flags", [COMPILER_FLAGS, ("-std=c11",), ("-trigraphs",)])
def test_a_compiled_string_is_the_text_and_a_comment_is_nothing(
    compiler: str, flags: tuple[str, ...], tmp_path: Path
) -> None:
    """Strings and comments hold also where a user turns trigraphs on."""
    texts = [*NASTY, "".join(map(chr, range(1, 256))), "0123" * 5]
    lines = []
    for text in texts:
        size = len(text.encode("utf-8", "surrogatepass"))
        lines.append(f"\t/* {c_comment(text)} */")
        lines.append(f"\tfwrite({c_string(text)}, 1, {size}, stdout); // x")
        lines.append(f"\tint {c_name(text, 'comm')}_{len(lines)} = 0;")
        lines.append(f"\tputchar({c_name(text, 'comm')}_{len(lines) - 1});")
    body = "\n".join(lines)
    source = f"#include <stdio.h>\nint main(void)\n{{\n{body}\n}}\n"
    (tmp_path / "x.c").write_text(checked(source))
    words = [compiler, *flags, "-Wall", "-Werror", "-o", "x", "x.c"]
    subprocess.run(words, cwd=tmp_path, check=True)
    said = subprocess.run([tmp_path / "x"], capture_output=True, check=True).stdout
    assert said == b"".join(t.encode("utf-8", "surrogatepass") + b"\0" for t in texts)


@given(TEXTS)
def test_strings_and_comments_have_nothing_that_ends_them(text: str) -> None:
    inside = c_string(text)[1:-1]
    assert inside.isascii()
    assert inside.isprintable()
    assert not set(inside) & set("\"?%*'`#$")
    assert "??" not in c_comment(text)
    assert not set(c_comment(text)) & set("*\\\n\r?")
    assert checked(f"/* {c_comment(text)} */ {c_string(text)}\n")


@given(TEXTS)
def test_names_are_names(text: str) -> None:
    name = c_name(text, "comm")
    assert name.isascii()
    assert name.isidentifier()


@pytest.mark.parametrize("text", ["a ??/ b", "// x \\\nabort();", "é", "\x1b", "\0"])
def test_a_program_with_what_we_never_write_is_refused(text: str) -> None:
    with pytest.raises(InputError, match="line 2 of the C program"):
        checked(f"int a;\n{text}\n")


def test_skeletons_are_compiled_without_trigraphs(tmp_path: Path) -> None:
    (tmp_path / "x.c").write_text('char c[] = "??/";\n')  # no string with trigraphs
    words = ["gcc", *COMPILER_FLAGS, "-c", "-o", "x.o", "x.c"]
    if shutil.which("gcc") is None:
        pytest.skip("no gcc")
    subprocess.run(words, cwd=tmp_path, check=True, stderr=subprocess.DEVNULL)
