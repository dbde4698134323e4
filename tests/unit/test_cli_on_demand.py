"""Commands that are imported when they are called."""

from __future__ import annotations

import subprocess
import sys

import pytest

from skelgen.cli.main import _Commands, run
from skelgen.cli.on_demand import load


@pytest.mark.parametrize("one", _Commands.table, ids=lambda one: one.name)
def test_the_list_of_commands_says_what_each_says_of_itself(one):
    own = load(one).help.partition("\n\n")[0]
    assert one.help == " ".join(own.split())


@pytest.mark.parametrize("one", _Commands.table, ids=lambda one: one.name)
def test_a_command_shows_its_example_and_a_group_its_commands(capsys, one):
    assert run([one.name, "--help"]) == 0
    out = " ".join(capsys.readouterr().out.split())
    assert (f"Example: {one.example[:40]}" if one.example else "Commands") in out


def test_help_and_version_import_no_command_and_no_numpy():
    program = """if True:
        import sys
        from skelgen.cli.main import run
        assert run(["--help"]) == 0 and run(["--version"]) == 0
        heavy = {"jinja2", "networkx", "numpy", "skelgen.pipeline", "yaml"}
        print(sorted(heavy & set(sys.modules)))
        parts = [name.rpartition(".") for name in sorted(sys.modules)]
        print(*(name for place, _, name in parts if place == "skelgen.cli"))
    """
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    *_, heavy, ours = done.stdout.splitlines()
    assert heavy == "[]"
    assert ours == "main on_demand options output"


def test_help_of_a_command_loads_nothing_that_works():
    """Options need no stage, no store and no model: those are loaded when called."""
    program = """if True:
        import sys
        from skelgen.cli.main import _Commands
        from skelgen.cli.on_demand import load
        for one in _Commands.table:
            load(one)
        heavy = {"jinja2", "networkx", "numpy", "pydantic", "yaml"}
        stages = {f"skelgen.{name}" for name in ("events", "models", "pipeline", "web")}
        print(sorted((heavy | stages) & set(sys.modules)))
    """
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert done.stdout == "[]\n"


def test_words_after_a_program_are_its_own(tmp_path):
    assert (
        run(["time", "--app", "a", "--store", str(tmp_path / "s.db"), "true", "-h"])
        == 0
    )
