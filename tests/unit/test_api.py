"""The functions of ``import skelgen``, and the examples of docs/python.md."""

from __future__ import annotations

import doctest
import inspect
import json
import subprocess
import sys
from pathlib import Path

import pytest

import skelgen
from skelgen import api
from skelgen.cli.main import run
from skelgen.results import Result, to_json
from skelgen.results.table import RESULTS
from tests.trace_samples import save_ring
from tests.unit.test_cli_predict import folder  # noqa: F401

ROOT = Path(__file__).parents[2]
NAMES = sorted({*skelgen.__all__} - {"__version__"})


def test_importing_skelgen_loads_nothing_else():
    program = """if True:
        import sys
        import skelgen
        print(*(name for name in sys.modules if name.startswith("skelgen")))
        print("numpy" in sys.modules)
        assert callable(skelgen.predict)
    """
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert done.stdout.splitlines() == ["skelgen", "False"]


@pytest.mark.parametrize("name", NAMES)
def test_each_function_returns_the_answer_of_its_command(name):
    returned = inspect.signature(getattr(api, name)).return_annotation
    kinds = {kind.__name__: kind.result for kind in RESULTS}
    assert kinds[returned].partition("-")[0] == name
    assert callable(getattr(skelgen, name))


def test_packages_of_the_same_name_are_both():
    import skelgen.phases.compare
    from skelgen import workload

    assert skelgen.phases.compare.compare
    assert workload.next_workload
    assert callable(workload)


def test_a_name_that_is_not_there_is_said():
    with pytest.raises(AttributeError, match="no attribute 'predicts'"):
        skelgen.predicts  # noqa: B018


def test_a_function_says_what_its_command_prints(tmp_path, capsys):
    place = tmp_path / "run"
    place.mkdir()
    save_ring(place)
    for found, words in (
        (skelgen.info(place), ["info", "--no-page"]),
        (skelgen.phases(str(place)), ["phases", "show"]),
    ):
        assert isinstance(found, Result)
        assert run([*words, str(place), "--json"]) == 0
        assert json.loads(capsys.readouterr().out) == to_json(found)


def test_the_examples_of_the_page_say_what_it_says(folder: Path, monkeypatch):  # noqa: F811
    monkeypatch.chdir(folder.parent)
    Path("run").mkdir()
    save_ring(Path("run"))
    page = ROOT / "docs" / "python.md"
    failed, tried = doctest.testfile(str(page), module_relative=False)
    assert (failed, tried > 8) == (0, True)


def test_the_page_lists_all_functions():
    text = (ROOT / "docs" / "python.md").read_text()
    assert all(f"`skelgen.{name}(" in text for name in NAMES)
