"""Numbers that look like judgements, and whether they stand where they should.

A stage has its judgements (shares, tolerances, factors, fewest, most) in
``skelgen/<stage>/thresholds.py``, each with the reason for its value. Numbers of its
other modules that look like one stand in ``tests/not_thresholds.toml`` with what they
are.
"""

from __future__ import annotations

import ast
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from pathlib import Path

from tests.readability import modules

LIST = Path(__file__).resolve().parent / "not_thresholds.toml"
#: Judgements are of this size: numbers of formats, limits of memory and what is there
#: for rounding are smaller or larger.
_SMALLEST, _LARGEST = 1e-5, 100


def constants(tree: ast.Module) -> Iterator[tuple[str, ast.expr]]:
    """Return the names and values of a module's constants, pairs one by one."""
    for node in tree.body:
        match node:
            case (
                ast.Assign(targets=[ast.Name(id=name)], value=value)
                | ast.AnnAssign(target=ast.Name(id=name), value=ast.expr() as value)
            ):
                yield name, value
            case ast.Assign(
                targets=[ast.Tuple(elts=names)], value=ast.Tuple(elts=values)
            ):
                for one, value in zip(names, values, strict=True):
                    yield ast.unparse(one), value


def looks_like_a_judgement(name: str, value: ast.expr) -> bool:
    """Tell whether a constant is a number of the size of a share, a factor or a few."""
    try:
        number = eval(compile(ast.Expression(value), "", "eval"), {"__builtins__": {}})
    except (NameError, TypeError, AttributeError):
        return False
    if not name.isupper() or type(number) not in (int, float) or number in (0, 1):
        return False
    return _SMALLEST <= abs(number) <= _LARGEST and number > 0


def elsewhere(trees: Mapping[str, ast.Module], stages: Iterable[str]) -> list[str]:
    """Return ``module NAME`` of each number that looks like a judgement elsewhere."""
    wanted = set(stages)
    return [
        f"{path} {name}"
        for path, tree in trees.items()
        if path.split("/")[0] in wanted and not path.endswith("/thresholds.py")
        for name, value in constants(tree)
        if looks_like_a_judgement(name, value)
    ]


@cache
def stages() -> tuple[str, ...]:
    """Return the stages that have a file of judgements."""
    return tuple(
        path.split("/")[0] for path in modules() if path.endswith("/thresholds.py")
    )


@cache
def listed() -> Mapping[str, str]:
    """Return what the listed numbers are, by ``module NAME``."""
    reasons = tomllib.loads(LIST.read_text())["are"]
    return {one: what for what, names in reasons.items() for one in names}
