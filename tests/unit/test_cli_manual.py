"""The manual pages are those of the commands."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from skelgen.cli.main import _Commands
from skelgen.cli.manual import _roff, main

PAGES = Path(__file__).parents[2] / "docs" / "man"


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    folder = tmp_path_factory.mktemp("man")
    main(folder)
    return {file.name: file.read_text() for file in folder.iterdir()}


def test_the_files_are_those_of_the_commands(pages):
    kept = {file.name: file.read_text() for file in PAGES.iterdir()}
    assert pages == kept, "run: make manuals"


@pytest.mark.parametrize("one", _Commands.table, ids=lambda one: one.name)
def test_every_command_has_a_page_with_its_example(pages, one):
    text = pages[f"skelgen-{one.name}.1"]
    assert _roff(one.help.partition(".")[0]) in text
    assert _roff(one.example) in text
    assert f"skelgen\\-{one.name}(1)" in pages["skelgen.1"]


def test_options_stand_with_their_help(pages):
    text = pages["skelgen-predict.1"]
    assert ".B \\-\\-hosts" in text
    assert ".SH SYNOPSIS\n.B skelgen predict\n" in text


@pytest.mark.skipif(shutil.which("groff") is None, reason="no groff")
def test_groff_has_nothing_to_complain_of(pages):
    for name, text in pages.items():
        done = subprocess.run(
            ["groff", "-man", "-ww", "-z"],
            input=text,
            capture_output=True,
            text=True,
            check=False,
        )
        assert (done.returncode, done.stderr) == (0, ""), name
