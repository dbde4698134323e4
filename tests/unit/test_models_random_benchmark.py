"""Random fits, mutated formulas and files: short runs, and what they would notice."""

from __future__ import annotations

import os
import signal
import time
import warnings
from dataclasses import replace
from pathlib import Path

import pytest

from benchmarks.models import mutated, random_fits
from benchmarks.models.drawn import drawn
from benchmarks.shared import blocks
from benchmarks.shared.blocks import Blocks
from benchmarks.shared.guarded import Wrong, guarded
from skelgen.errors import InputError
from skelgen.models.families import FAMILIES
from skelgen.trust import Interval


def test_no_random_fit_answers_with_what_is_no_time():
    found = random_fits.block(7, range(200))
    assert found["wrong"] == []
    counts = found["counts"]
    assert sum(one["fits"] for one in counts.values()) == 200
    assert set(counts) == set(FAMILIES)
    assert sum(one.get("answers", 0) for one in counts.values()) > 200


def test_mutated_formulas_are_computed_or_refused():
    found = mutated.block(mutated.try_formula, 7, range(150))
    assert found["wrong"] == []
    assert found["counts"]["formulas, fitted"] > 20
    assert found["counts"]["no formula"] > 20


def test_mutated_runs_and_models_are_an_answer_or_one_line():
    found = mutated.block(mutated.try_file, 7, range(60))
    assert found["wrong"] == []
    assert found["counts"]["answered"] > 5
    assert found["counts"]["exit code 3"] > 5


def test_a_case_is_the_same_each_time():
    first, second = drawn(3, 5), drawn(3, 5)
    assert first.family == second.family
    assert first.places == second.places
    assert (first.runs.values == second.runs.values).all()
    assert mutated.formula(1, 2) == mutated.formula(1, 2)
    assert mutated.damaged(1, 2) == mutated.damaged(1, 2)


@pytest.mark.parametrize(
    "interval",
    [
        Interval(-1.0, 1.0, 2.0),
        Interval(1.0, float("nan"), 2.0),
        Interval(1.0, 2.0, float("inf")),
        Interval(2.0, 1.0, 3.0),
        Interval(0.5, 2.0, 1.0),
    ],
)
def test_an_answer_that_is_no_time_is_noticed(interval, monkeypatch):
    number = next(n for n in range(100) if drawn(0, n).family == "power")
    real = random_fits.predict_with

    def wrong(*words):
        return replace(real(*words), interval=interval)

    monkeypatch.setattr(random_fits, "predict_with", wrong)
    found = random_fits.block(0, [number])
    assert found["counts"]["power"]["wrong"] == 1
    assert found["wrong"][0][0] == number


def _warns():
    warnings.warn("numpy says", RuntimeWarning, stacklevel=1)


def _spins():
    while True:
        time.process_time()


def _says_two_lines():
    raise InputError("one\ntwo")


@pytest.mark.parametrize(
    ("call", "told"),
    [
        (_warns, "RuntimeWarning"),
        (_spins, "longer than 0.2 s"),
        (_says_two_lines, "several lines"),
        (lambda: 1 / 0, "ZeroDivisionError"),
    ],
)
def test_what_must_not_be_is_noticed(call, told):
    with pytest.raises(Wrong, match=told):
        guarded(call, 0.2)


def test_a_refusal_is_passed_on():
    def refuses():
        raise InputError("n is 0")

    with pytest.raises(InputError, match="n is 0"):
        guarded(refuses)


def _counted(seed, numbers):
    return {"counts": {"made": len(numbers)}, "wrong": [], "process": os.getpid()}


def _not_again(seed, numbers):
    raise AssertionError("it was kept")


def _dies(seed, numbers):
    if numbers[0]:
        os.kill(os.getpid(), signal.SIGKILL)
    return _counted(seed, numbers)


def test_blocks_are_kept_and_not_made_again(tmp_path: Path, monkeypatch):
    monkeypatch.setattr(blocks, "SIZE", 4)
    asked = Blocks("fit", 0, 10, 1, tmp_path / "results.jsonl")
    first = [one["counts"]["made"] for one in asked.run(_counted)]
    assert sorted(first) == [2, 4, 4]
    again = [one["counts"]["made"] for one in asked.run(_not_again)]
    assert sorted(again) == [2, 4, 4]
    more = replace(asked, cases=14)
    assert sum(one["counts"]["made"] for one in more.run(_counted)) == 14


def test_a_process_that_dies_is_told_and_others_are_made(monkeypatch):
    monkeypatch.setattr(blocks, "SIZE", 4)
    found = list(Blocks("fit", 0, 8).run(_dies))
    assert [one["wrong"] for one in found if one["counts"]] == [[]]
    ((told,),) = [one["wrong"] for one in found if not one["counts"]]
    assert told[0] == 4
    assert "died" in told[1]


def test_the_command_says_how_many_and_ends_with_1_if_wrong(monkeypatch, capsys):
    with pytest.raises(SystemExit) as ended:
        random_fits.main(["--fits", "20"])
    assert ended.value.code == 0
    assert "all" in capsys.readouterr().out
    monkeypatch.setattr(mutated, "try_formula", lambda seed, number: str(1 / 0))
    assert mutated.block(mutated.try_formula, 0, [3])["wrong"][0][0] == 3
