"""Does any family ever answer with what is no time, or with a traceback?

``python -m benchmarks.models random [--fits 100000] [--seed 0] [--jobs 1]
[--results FILE]``. Each fit is of random runs by a random family, asked at eight random
places; every tenth model is written and read back as well. A refusal in one line is
fine. Wrong is an answer that is negative or no finite number, an interval without its
value in it, a warning, an error that is none of ours, more than a minute of processor
time. FILE keeps blocks of 100 fits; the command goes on where it ended. Exits with 1
when anything was wrong. ``--only N`` makes fit N again and shows it.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
from collections import Counter
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks.models.drawn import Drawn, drawn
from benchmarks.models.rows import Found
from benchmarks.shared.blocks import Blocks
from benchmarks.shared.guarded import Wrong, guarded
from skelgen.documents import json_field
from skelgen.errors import InputError
from skelgen.models.families import FAMILIES
from skelgen.models.formulas import to_latex, to_python
from skelgen.models.model import Model, fit_model, predict_with
from skelgen.models.model_file import model_facts, model_of

#: One model of so many is written and read back.
_WRITTEN = 10

#: Examples that are shown.
_SHOWN = 20

_HEAD = ("fits", "refused", "answers", "no answer", "wrong")


def main(arguments: Sequence[str]) -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.models random")
    parser.add_argument("--fits", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--results", type=Path, help="File, to go on later.")
    parser.add_argument("--only", type=int, help="Make this fit again, and show it.")
    options = parser.parse_args(arguments)
    if options.only is not None:
        print(drawn(options.seed, options.only))
        print(fitted(drawn(options.seed, options.only), written=True))
        return
    of = Blocks("fit", options.seed, options.fits, options.jobs, options.results)
    counts: dict[str, Counter[str]] = {name: Counter() for name in FAMILIES}
    wrong: list[list[Any]] = []
    for found in of.run(block):
        for family, count in found["counts"].items():
            counts.setdefault(family, Counter()).update(count)
        wrong += found["wrong"]
    _print(counts, wrong)
    sys.exit(1 if wrong else 0)


def block(seed: int, numbers: Sequence[int]) -> Found:
    """Fit and ask cases; return counts for each family, and what was wrong."""
    counts: dict[str, Counter[str]] = {}
    wrong: list[list[Any]] = []
    for number in numbers:
        case = drawn(seed, number)
        count = counts.setdefault(case.family, Counter())
        count["fits"] += 1
        try:
            count.update(fitted(case, written=number % _WRITTEN == 0))
        except Wrong as error:
            count["wrong"] += 1
            wrong.append([number, f"{case.family}: {error}"])
    return {"counts": {name: dict(one) for name, one in counts.items()}, "wrong": wrong}


def fitted(case: Drawn, *, written: bool) -> Counter[str]:
    """Fit a model and ask it; return how often it answered.

    Raises
    ------
    Wrong
    """
    try:
        model = guarded(partial(fit_model, case.runs, case.family, case.settings))
    except InputError:
        return Counter(refused=1)
    count: Counter[str] = Counter()
    for place in case.places:
        count[guarded(partial(_asked, model, place))] += 1
    if written:
        guarded(partial(_written, model, case.places[0]))
    return count


def _asked(model: Model, place: dict[str, float]) -> str:
    try:
        said = predict_with(model, place)
    except InputError as error:
        if "\n" in str(error):
            raise
        return "no answer"
    ends = said.interval
    numbers = (ends.p5, ends.p50, ends.p95)
    if not all(math.isfinite(one) and one >= 0.0 for one in numbers):
        raise ValueError(f"answer {numbers} at {place}")
    if not ends.p5 <= ends.p50 <= ends.p95:
        raise ValueError(f"interval {numbers} at {place}")
    return "answers"


def _written(model: Model, place: dict[str, float]) -> None:
    """Write a model in all ways; its file must say the same."""
    text = json.dumps(model_facts(model), allow_nan=False)
    again = model_of(json_field(text, Path("model.json")))
    to_latex(model.formula)
    compile(to_python(model.formula), "model", "exec")
    try:
        here = predict_with(model, place).interval.p50
    except InputError:
        return
    there = predict_with(again, place).interval.p50
    if not math.isclose(here, there, rel_tol=1e-6):
        raise ValueError(f"says {here}, and its file {there}, at {place}")


def _print(counts: dict[str, Counter[str]], wrong: list[list[Any]]) -> None:
    print(f"{'family':18}" + "".join(f"{name:>11}" for name in _HEAD))
    total: Counter[str] = Counter()
    for name, one in counts.items():
        total.update(one)
        print(f"{name:18}" + "".join(f"{one[column]:11}" for column in _HEAD))
    print(f"{'all':18}" + "".join(f"{total[column]:11}" for column in _HEAD))
    for number, what in sorted(wrong)[:_SHOWN]:
        print(f"--only {number}: {what}")
