"""Tables of the accuracy run, as Markdown."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence

import numpy as np

from benchmarks.accuracy.judge import Judgement, baselines, skeletons
from benchmarks.accuracy.results import Results

#: Errors beyond this are listed one by one [1].
LARGE = 0.08


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Write a table."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines) + "\n"


def _percent(errors: Sequence[float]) -> str:
    if not errors:
        return "-"
    return f"{100 * float(np.mean(np.abs(errors))):.1f} %"


def _columns(found: Sequence[Judgement]) -> dict[str, list[Judgement]]:
    """Group by method; skeletons by their length, the longest first."""
    groups: dict[str, list[Judgement]] = {}
    for one in sorted(found, key=lambda one: -one.length_s):
        name = f"skeleton {one.length_s:g} s" if one.length_s else one.method
        groups.setdefault(name, []).append(one)
    return groups


def _by(found: Sequence[Judgement], key: Callable[[Judgement], str], head: str) -> str:
    columns = _columns(found)
    names = list(dict.fromkeys(key(one) for one in found))
    rows = [
        [name, *(_errors(group, name, key) for group in columns.values())]
        for name in names
    ]
    whole = [_percent([one.error for one in group]) for group in columns.values()]
    return table([head, *columns], [*rows, ["**all**", *whole]])


def _errors(
    group: Sequence[Judgement], name: str, key: Callable[[Judgement], str]
) -> str:
    return _percent([one.error for one in group if key(one) == name])


def _spread(found: Sequence[Judgement]) -> str:
    rows = []
    for name, group in _columns(found).items():
        errors = np.abs([one.error for one in group])
        held = [one.held for one in group if one.held is not None]
        rows.append(
            [
                name,
                str(len(group)),
                f"{100 * errors.mean():.1f} %",
                f"{100 * float(np.quantile(errors, 0.9)):.1f} %",
                f"{100 * errors.max():.1f} %",
                f"{100 * float(np.mean(held)):.0f} %" if held else "-",
            ]
        )
    head = ["method", "cases", "mean", "90th percentile", "largest", "interval held"]
    return table(head, rows)


def _large(found: Sequence[Judgement]) -> str:
    rows = [
        [one.application, one.scenario, f"{one.length_s:g} s", f"{one.error:+.1%}"]
        for one in found
        if one.method == "skeleton" and abs(one.error) > LARGE
    ]
    return table(["application", "scenario", "skeleton", "error"], rows) if rows else ""


def report(results: Results) -> str:
    """Write all tables of a file of results."""
    found = skeletons(results, np.random.default_rng(1)) + baselines(results)
    slow = {(o.application, o.scenario): f"{o.slowdown:.2f}" for o in found}
    names = list(dict.fromkeys(name for name, _ in slow))
    scenarios = list(dict.fromkeys(scenario for _, scenario in slow))
    rows = [[n, *(slow.get((n, s), "-") for s in scenarios)] for n in names]
    parts = [
        "## All predictions\n",
        _spread(found),
        "## Mean error by application\n",
        _by(found, lambda one: one.application, "application"),
        "## Mean error by scenario\n",
        _by(found, lambda one: one.scenario, "scenario"),
        "## Slowdown of the applications\n",
        table(["application", *scenarios], rows),
    ]
    if large := _large(found):
        parts += [f"## Errors above {LARGE:.0%}\n", large]
    if results.provenance:
        facts = json.dumps(results.provenance[-1], indent=1)
        parts += ["## Measured on\n", f"```json\n{facts}\n```\n"]
    return "\n".join(parts)
