"""Do mutated formulas, runs and model files ever end in a traceback, or not at all?

``python -m benchmarks.models mutated [--formulas 10000] [--files 10000] [--seed 0]
[--jobs 1] [--results FILE]``. A formula is read, written in all ways, read back,
computed, checked for units and fitted as a template. A file is a CSV file of runs, or a
model, with which one of the commands of `skelgen model` runs in this process. A refusal
in one line is fine. Wrong is anything else that is raised, a warning, an exit code
that there is not, an error of several lines, more than 20 s of processor time. FILE
keeps blocks of 100 cases; the command goes on where it ended. Exits with 1 when
anything was wrong. ``--only N`` shows what formula and file N are.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import math
import os
import random
import re
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.models.rows import Found
from benchmarks.shared.blocks import Blocks
from benchmarks.shared.guarded import Wrong, guarded
from skelgen.cli.main import run
from skelgen.errors import ExitCode, InputError, SkelgenError
from skelgen.models.families import FAMILIES, FamilySettings
from skelgen.models.formulas import (
    calls,
    evaluate,
    names,
    parse,
    to_latex,
    to_python,
    to_text,
)
from skelgen.models.formulas.dimensions import dimension
from skelgen.models.runs import table_of
from tests.fuzz_cases import DAMAGES

#: Of one case [s of processor time].
_LONGEST_S = 20.0

#: Examples that are shown.
_SHOWN = 20

FORMULAS = (
    "ADDM*N^3/(P-1) + 2*N*SR(L)/(P-1) + N*BC(L)",
    "1.9e-09*n^3/ranks + 1.9e-09*n^2.5/ranks^0.6667 + 4.2e-05*n*log2(ranks)",
    "a*n^b + c*exp(-n/d)",
    "(0.1 + 0.9*cpu)*max(n, 2*p)/min(n, p) - floor(sqrt(n))",
    "12 ms + 3 us*n + gamma(p) + 8 KiB*n*log10(p)",
    "'n^2'^0.5*(a + -b)**2 / ('it''s' - 1)",
    "2^-n^2/3/4/5",
)
_PIECES = (
    *("(", ")", "^", "**", "*", "/", "+", "-", ",", "'", '"', "e", ".", " ", "\n"),
    *("0", "1e308", "1e-320", "1e400", "9" * 400, "-0", ".5", "5.", "1.2.3", "0x1"),
    *("n", "p", "log", "log(", "exp(", "max(n)", "gamma(1e9)", "SR", "SR(L)", "class"),
    *("ms", "s", "KiB", "1 ms", "'n^2'", "''", "'", "é", "²", "٣", "\udcff", "\x1b[2J"),
    *("__import__('os')", "lambda: 0", "n.real", "[n]", "{n}", "%s", "1/0", "0/0"),
    *("(" * 60, ")" * 60, "-" * 60, "^2" * 60, "/n" * 300, "exp(" * 60, "1+" * 5000),
    "\0",
)
#: Pieces of formulas that leave a formula where they are put after a name or number.
_SOUND = ("*n", "+ p", "^2", "^-0.5", "/n", "/(n - p)", "- 1e308", "*1e-320", "*log(p)")
_END = re.compile(r"\w+\b(?!')|\)")
_UNITS = ("s", "bytes", "1/s", "bytes/s", "", "ms")

COMMANDS = (
    "fit {} --family {}",
    "fit {} --family {} --format python",
    "fit {} --family {} --format latex",
    "fit {} --family {} -o out.json",
    "predict {} --at AT --family {}",
    "predict {} --at AT --family {} --json",
    "predict {} --at AT --load cpu=0.5 --family {} --format slurm",
    "compare {} --family {} --json",
    "check {} --family {} --json",
    "next {} --family {} --json",
    "draw {} -o out.svg --family {}",
)
_ASK = ("predict {} --at n=800,ranks=8 --json", "predict {} --at n=1e-300,ranks=1")
_ASKED = ("800", "8", "3200", "64", "1", "1e6", "1e30", "1e-30", "1e300", "0", "nan")
_CELLS = (
    *("0", "-1", "1", "1e30", "1e-30", "1e150", "1e-320", "nan", "inf", "12 ms", "8"),
    *("", "a", "1,5", "n", "time", "ranks", "n^2", "log(n)", "a=b", "0.5", "1e9", "'"),
)
#: The default is what most people use.
_FAMILIES = (*FAMILIES, *["default"] * 8)
_CODES = frozenset(int(one) for one in ExitCode) - {1, 130}


def main(arguments: Sequence[str]) -> None:
    """Print how many cases ended how, and what was wrong."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.models mutated")
    parser.add_argument("--formulas", type=int, default=10_000)
    parser.add_argument("--files", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--results", type=Path, help="File, to go on later.")
    parser.add_argument("--only", type=int, help="Show formula and file N.")
    options = parser.parse_args(arguments)
    if options.only is not None:
        print(repr(formula(options.seed, options.only)))
        print(*map(repr, damaged(options.seed, options.only)), sep="\n")
        return
    wrong = []
    for what, cases, call in (
        ("formula", options.formulas, try_formula),
        ("file", options.files, try_file),
    ):
        of = Blocks(what, options.seed, cases, options.jobs, options.results)
        counts: Counter[str] = Counter()
        for found in of.run(partial(block, call)):
            counts.update(found["counts"])
            wrong += [[what, *one] for one in found["wrong"]]
        said = ", ".join(f"{count} {kind}" for kind, count in sorted(counts.items()))
        print(f"{sum(counts.values())} cases of a {what}: {said or 'none'}")
    for what, number, told in wrong[:_SHOWN]:
        print(f"{what} {number}: {told}")
    sys.exit(1 if wrong else 0)


def block(call: Callable[[int, int], str], seed: int, numbers: Sequence[int]) -> Found:
    """Try cases; return how many ended how, and what was wrong."""
    counts: Counter[str] = Counter()
    wrong: list[list[Any]] = []
    here = Path.cwd()
    with tempfile.TemporaryDirectory(prefix="skelgen-mutated-") as folder:
        os.chdir(folder)
        try:
            for number in numbers:
                try:
                    counts[guarded(partial(call, seed, number), _LONGEST_S)] += 1
                except SkelgenError:
                    counts["refused"] += 1
                except Wrong as error:
                    counts["wrong"] += 1
                    wrong.append([number, str(error)])
        finally:
            os.chdir(here)
    return {"counts": dict(counts), "wrong": wrong}


def formula(seed: int, number: int) -> str:
    """Return a mutated formula, the same each time."""
    rng = random.Random(f"formula {seed} {number}")
    text = rng.choice(FORMULAS)
    for _ in range(rng.choice((1, 1, 1, 2, 3, 6))):
        at = rng.randrange(len(text) + 1)
        end = min(len(text), at + rng.choice((0, 0, 1, 1, 3, 10)))
        kind = rng.random()
        if kind < 0.4:  # after a name, a number or a bracket
            places = [one.end() for one in _END.finditer(text)]
            at = end = rng.choice(places or [0])
            piece = rng.choice(_SOUND)
        elif kind < 0.7:
            piece = rng.choice(_PIECES)
        elif kind < 0.85:  # a part of another formula, or of this one
            other = rng.choice((*FORMULAS, text))
            begin = rng.randrange(len(other) + 1)
            piece = other[begin : begin + rng.choice((1, 5, 20))]
        else:
            piece = ""
        text = text[:at] + piece + text[end:]
    return text


def try_formula(seed: int, number: int) -> str:
    """Do all with a mutated formula that skelgen does with formulas."""
    text = formula(seed, number)
    rng = random.Random(f"values {seed} {number}")
    try:
        expression = parse(text)
    except InputError:
        return "no formula"
    written = to_text(expression)
    if parse(to_text(parse(written))) != parse(written):
        raise ValueError(f"is not read back: {written[:80]!r}")
    to_latex(expression)
    compile(to_python(expression), "formula", "exec")
    known = names(expression)
    values = {name: 10.0 ** rng.uniform(-30, 30) for name in known}
    functions = dict.fromkeys(calls(expression), _first)
    here = evaluate(expression, values, functions)
    there = evaluate(parse(written), values, functions)
    if not (
        here == there or math.isclose(here, there) or np.isnan([here, there]).all()
    ):
        raise ValueError(f"{written[:80]!r} is {there}, was {here}")
    units = {name: rng.choice(_UNITS) for name in (*known, *functions)}
    with contextlib.suppress(SkelgenError):
        dimension(expression, units, known[:1])
    rows = [{name: 2.0 + i + j for j, name in enumerate(known[:2])} for i in range(6)]
    settings = FamilySettings(template=expression, functions=functions)
    try:
        FAMILIES["template"].fit(table_of(rows, [1.0 + i for i in range(6)]), settings)
    except InputError:
        return "formulas"
    return "formulas, fitted"


def _first(*arguments: Any) -> Any:
    """Be a fact that depends on sizes."""
    return arguments[0]


def damaged(seed: int, number: int) -> tuple[str, bytes, str]:
    """Return a file's name, its damaged content, and the words of a command."""
    rng = random.Random(f"file {seed} {number}")
    family = rng.choice(_FAMILIES)
    if rng.random() < 0.3:
        content = rng.choice(DAMAGES)(rng, _model(family))
        return "model.json", content, rng.choice(_ASK).format("model.json")
    text = _runs(rng)
    asked = [name for name in text.partition("\n")[0].split(",")[:-1] if name != "cpu"]
    at = ",".join(f"{name}={rng.choice(_ASKED)}" for name in asked)
    content = text.encode()
    for _ in range(rng.choice((0, 1, 1, 2))):
        damage = rng.choice((*DAMAGES, *[_cell_replaced] * 7))
        content = damage(rng, content.decode("utf-8", "surrogateescape"))
    words = rng.choice(COMMANDS).format("runs.csv", family).replace("AT", at)
    return "runs.csv", content, words


def _cell_replaced(rng: random.Random, text: str) -> bytes:
    """Replace a cell by a number or a word that may be meant."""
    lines = text.split("\n")
    at = rng.randrange(len(lines))
    cells = lines[at].split(",")
    cells[rng.randrange(len(cells))] = rng.choice(_CELLS)
    lines[at] = ",".join(cells)
    return "\n".join(lines).encode("utf-8", "surrogateescape")


def _runs(rng: random.Random) -> str:
    inputs = rng.choice(("n", "n,ranks", "n,ranks,cpu", "n,m,nodes", "ranks,n^2"))
    time = rng.choice(("time", "time_s", "time_ms", "time"))
    lines = [f"{inputs},{time}"]
    for _ in range(rng.choice((2, 4, 8, 16))):
        cells = [_cell(rng, name) for name in inputs.split(",")]
        value = math.prod(cells) * rng.uniform(0.9, 1.1) * 1e-3
        lines.append(",".join(f"{one:g}" for one in (*cells, value)))
    return "\n".join(lines) + "\n"


def _cell(rng: random.Random, name: str) -> float:
    if name == "cpu":
        return rng.choice((0.2, 0.5, 0.8, 1.0))
    if name in ("ranks", "nodes"):
        return float(rng.choice((1, 2, 4, 8)))
    return rng.choice((100.0, 200.0, 400.0, 800.0, 1600.0))


_KNOWN: dict[str, str] = {}


def _model(family: str) -> str:
    """Return the file of a model without its checksum."""
    from skelgen.models.model import fit_model
    from skelgen.models.model_file import model_facts

    if family not in _KNOWN:
        sizes = (100.0, 200.0, 400.0, 800.0, 1600.0, 3200.0, 6400.0, 12800.0)
        rows = [{"n": n, "ranks": p} for n in sizes for p in (1.0, 2.0, 4.0, 8.0)]
        rows += [{"n": n, "ranks": 16.0} for n in sizes for p in range(3)]
        table = table_of(rows, [1e-6 * row["n"] ** 2 / row["ranks"] for row in rows])
        try:
            _KNOWN[family] = json.dumps(model_facts(fit_model(table, family)))
        except SkelgenError:
            _KNOWN[family] = _model("default")
    return _KNOWN[family]


def try_file(seed: int, number: int) -> str:
    """Run a command on a damaged file in the folder where this is."""
    name, content, words = damaged(seed, number)
    for old in Path().iterdir():
        old.unlink()
    Path(name).write_bytes(content)
    out, errors = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(errors):
        code = run(["model", *words.split()])
    said = errors.getvalue().splitlines()
    lines = [one for one in said if one.startswith("skelgen: error:")]
    others = [one for one in said if not one.startswith("skelgen: ")]
    if code not in _CODES or len(lines) != (code != 0) or others:
        raise ValueError(f"skelgen model {words}: code {code}, {(others or said)[:2]}")
    if code == 0 and "--json" in words:
        _check_numbers(json.loads(out.getvalue(), parse_constant=_no_number))
    return "answered" if code == 0 else f"exit code {code}"


def _no_number(text: str) -> None:
    raise ValueError(f"JSON has {text}")


def _check_numbers(found: dict[str, Any]) -> None:
    ends = [found[name] for name in ("p5", "p50", "p95") if name in found]
    if ends and not 0.0 <= ends[0] <= ends[1] <= ends[2]:
        raise ValueError(f"interval {ends}")
