"""The page about accuracy: tables and figures of a file of results."""

from __future__ import annotations

import json
import os
import shlex
import statistics
import textwrap
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import yaml

from benchmarks.accuracy.figures import bars
from benchmarks.accuracy.goals import LONG_S, answer, goals
from benchmarks.accuracy.intervals import apart, apart_by_scenario, methods
from benchmarks.accuracy.judge import Judgement, by_default, judge, reference
from benchmarks.accuracy.markdown import table
from benchmarks.accuracy.results import (
    APPLICATION,
    FITTED,
    SKELETON,
    SMALL,
    TOUCHED,
    Results,
    options_of,
)
from skelgen.rendering.templates import TextKind, filled

#: Errors beyond this are listed one by one, with their cause [1].
LARGE = 0.08

HERE = Path(__file__).parent


def _percent(values: Sequence[float]) -> str:
    return f"{100 * statistics.fmean(values):.1f} %" if values else "-"


def _ninth(values: Sequence[float]) -> str:
    return f"{100 * float(np.quantile(values, 0.9)):.1f} %" if values else "-"


def _held(found: Iterable[Judgement]) -> str:
    held = [float(one.held) for one in found if one.held is not None]
    return f"{100 * statistics.fmean(held):.0f} %" if held else "-"


def _sizes(found: Iterable[Judgement]) -> list[float]:
    return [abs(one.error) for one in found]


def _columns(found: Sequence[Judgement]) -> dict[str, list[Judgement]]:
    """Group by method; skeletons by their length, the longest first."""
    groups: dict[str, list[Judgement]] = {}
    for one in sorted(found, key=lambda one: (one.method != SKELETON, -one.length_s)):
        length = f" {one.length_s:g} s" if one.length_s else ""
        groups.setdefault(f"{one.method}{length}", []).append(one)
    return groups


Field = Callable[[Judgement], str]


def _by(found: Sequence[Judgement], key: Field, head: str) -> str:
    """Write mean errors by a field and method."""
    columns = _columns(found)
    rows = [
        [
            name,
            *(
                _percent(_sizes(one for one in group if key(one) == name))
                for group in columns.values()
            ),
        ]
        for name in dict.fromkeys(key(one) for one in found)
    ]
    whole = [_percent(_sizes(group)) for group in columns.values()]
    return table([head, *columns], [*rows, ["**all**", *whole]] if rows else [])


def _figure(title: str, found: Sequence[Judgement], key: Field) -> str:
    """Draw what `_by` writes, with the smallest and the largest error of each."""
    groups = list(dict.fromkeys(key(one) for one in found))
    series: dict[str, dict[str, tuple[float, float, float]]] = {}
    for name, judged in _columns(found).items():
        for group in groups:
            if sizes := _sizes(one for one in judged if key(one) == group):
                bar = statistics.fmean(sizes), min(sizes), max(sizes)
                series.setdefault(name, {})[group] = bar
    return bars(title, groups, series)


def _spread(found: Sequence[Judgement]) -> str:
    """Write errors and intervals by method."""
    ours = by_default(found)
    groups = {
        **_columns(found),
        f"**{LONG_S:g} s and more**": [o for o in ours if o.length_s >= LONG_S],
        "**all skeletons**": ours,
    }
    rows = []
    for name, group in groups.items():
        if not group:
            continue
        sizes = _sizes(group)
        rows.append(
            [
                name,
                str(len(group)),
                _percent(sizes),
                _ninth(sizes),
                f"{100 * max(sizes):.1f} %",
                _held(group),
            ]
        )
    head = "method, cases, mean, 90th percentile, largest, truth inside"
    return table(head.split(", "), rows)


def _by_mpi(found: Sequence[Judgement], mpis: Mapping[str, str]) -> str:
    """Write errors of ours by the MPI of the applications."""
    ours = by_default(found)
    rows = []
    for mpi in dict.fromkeys(mpis.get(one.application, "") for one in ours):
        group = [one for one in ours if mpis.get(one.application, "") == mpi]
        long = _sizes(one for one in group if one.length_s >= LONG_S)
        rows.append(
            [
                mpi or "unknown",
                ", ".join(dict.fromkeys(one.application for one in group)),
                _percent(long),
                _ninth(long),
                _percent(_sizes(one for one in group if one.length_s < LONG_S)),
                _held(group),
            ]
        )
    long_ones = f"{LONG_S:g} s and more"
    head = f"MPI; applications; {long_ones}; 90th percentile; shorter; truth inside"
    return table(head.split("; "), rows)


def _mpis(results: Results, launchers: Mapping[str, str]) -> dict[str, str]:
    """Return the MPI of each application, as the runs state it."""
    titles: dict[str, str] = {}
    for facts in results.provenance:
        titles |= facts.get("mpi", {})
    return {name: titles.get(launcher, "") for name, launcher in launchers.items()}


def _large(found: Sequence[Judgement], causes: Mapping[str, str]) -> str:
    """List large errors of ours with the cause found for them."""
    rows = [
        [
            one.application,
            one.scenario,
            f"{one.method} {one.length_s:g} s",
            f"{one.error:+.1%}",
            causes.get(f"{one.application}, {one.scenario}")
            or causes.get(one.application, ""),
        ]
        for one in found
        if one.method in (SKELETON, FITTED, TOUCHED) and abs(one.error) > LARGE
    ]
    return table(["application", "scenario", "skeleton", "error", "cause"], rows)


def _slowdowns(found: Sequence[Judgement]) -> str:
    slow = {(o.application, o.scenario): f"{o.slowdown:.2f}" for o in found}
    names = dict.fromkeys(name for name, _ in slow)
    scenarios = list(dict.fromkeys(scenario for _, scenario in slow))
    rows = [[n, *(slow.get((n, s), "-") for s in scenarios)] for n in names]
    return table(["application", *scenarios], rows)


def _quiet_what(results: Results) -> list[tuple[str, float]]:
    """Return all that was run with all ranks, the application first."""
    found = {(key.what, key.length_s) for key in results.measured} - {(SMALL, 0.0)}
    order = {APPLICATION: 0, SKELETON: 1}
    return sorted(found, key=lambda one: (order.get(one[0], 2), one[0], -one[1]))


def _activity(results: Results) -> tuple[str, str]:
    """Write and draw which share of its quiet time each program spends in MPI.

    References
    ----------
    Sodhi and Subhlok 2005, figure 2.
    """
    series: dict[str, dict[str, tuple[float, float, float]]] = {}
    for what, length_s in _quiet_what(results):
        column = f"{what} {length_s:g} s" if length_s else what
        for name in results.names("application"):
            if found := results.found(name, reference(""), what, length_s):
                share = statistics.median(run.mpi_share for run in found)
                series.setdefault(column, {})[name] = (share, share, share)
    names = list(dict.fromkeys(name for one in series.values() for name in one))
    rows = [
        [n, *(f"{100 * s[n][0]:.1f} %" if n in s else "-" for s in series.values())]
        for n in names
    ]
    title = "Time inside MPI, quiet; the rest is computation"
    return table(["application", *series], rows), bars(title, names, series)


def _noise(results: Results) -> str:
    """Write how quiet the quiet machine was: all hosts, and each one alone."""
    quiet = [name for name in results.names("scenario") if name == reference(name)]
    rows = []
    for name in results.names("application"):
        for scenario in quiet:
            if runs := results.runs(name, scenario, APPLICATION, 0.0):
                steal = [
                    run.steal
                    for key, run in results.measured.items()
                    if key.application == name and reference(key.scenario) == scenario
                ]
                times = ", ".join(f"{seconds:.2f}" for seconds in runs)
                spread = f"{max(runs) / min(runs) - 1:.1%}"
                share = f"{statistics.fmean(steal):.1%}, {max(steal):.1%}"
                rows.append([name, scenario, times, spread, share])
    head = "application; quiet; runs [s]; longest over shortest; steal: mean, largest"
    return table(head.split("; "), rows)


def _merged(provenance: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return each fact once, those that differ between calls as lists."""
    merged = {}
    names = dict.fromkeys(name for facts in provenance for name in facts)
    for name in names:
        values = [facts[name] for facts in provenance if name in facts]
        found = [one for at, one in enumerate(values) if one not in values[:at]]
        merged[name] = found[0] if len(found) == 1 else found
    left_out = ("words", "entries", "builds")
    return {name: merged[name] for name in names if name not in left_out}


def _commands(provenance: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """Yield the command lines of a page's runs, folded."""
    for words in dict.fromkeys(tuple(one.get("words", ())) for one in provenance):
        line = shlex.join(["python", "-m", "benchmarks.accuracy", *words])
        folded = textwrap.wrap(
            line, 110, break_on_hyphens=False, break_long_words=False
        )
        yield " \\\n        ".join([f"    {folded[0]}", *folded[1:]]) if words else ""


def _causes(path: Path) -> dict[str, str]:
    return (yaml.safe_load(path.read_text()) or {}) if path.exists() else {}


def sections(
    results: Results,
    causes: Mapping[str, str],
    launchers: Mapping[str, str],
    *,
    took_part: bool = True,
) -> tuple[dict[str, str], ...]:
    """Return all tables, and all figures, by the names that the page gives them."""
    everything = judge(results, took_part=took_part)
    found = [one for one in everything if not one.alone]
    sixth = [one for one in everything if one.alone and one.method != "average"]
    activity, shares = _activity(results)
    last = results.provenance[-1] if results.provenance else {}
    refused = [
        [one.application, one.scenario, one.what, f"{one.length_s:g} s", one.why]
        for one in results.refused
        if not results.found(one.application, one.scenario, one.what, one.length_s)
    ]
    tables = {
        "answer": answer(found),
        "goals": table(["what", "goal", "measured", "met"], goals(found, sixth)),
        "spread": _spread(found),
        "by_mpi": _by_mpi(found, _mpis(results, launchers)),
        "by_application": _by(found, lambda one: one.application, "application"),
        "by_scenario": _by(found, lambda one: one.scenario, "scenario"),
        "sixth": _by(sixth, lambda one: one.application, "application"),
        "slowdowns": _slowdowns(everything),
        "large": _large(everything, causes),
        "refused": table(
            ["application", "scenario", "method", "length", "why"], refused
        ),
        "activity": activity,
        "noise": _noise(results),
        "methods": methods(found),
        "apart": apart(found) if took_part else "",
        "apart_by_scenario": apart_by_scenario(found),
        "unjudged": ", ".join(_unjudged(results, everything)),
        "options": options_of(last.get("settings", {})),
        "measured_on": json.dumps(_merged(results.provenance), indent=1),
        "commands": "\n".join(_commands(results.provenance)),
    }
    return tables, {"activity": shares, **_figures(found)}


def _unjudged(results: Results, judged: Sequence[Judgement]) -> list[str]:
    """Return the applications that ran, but not in all that a prediction needs."""
    known = {one.application for one in judged}
    return [name for name in results.names("application") if name not in known]


def _figures(found: Sequence[Judgement]) -> dict[str, str]:
    """Draw the errors; without any there is nothing to draw."""
    if not found:
        return {}
    ours = by_default(found)
    return {
        "applications": _figure(
            "Error by application", ours, lambda one: one.application
        ),
        "scenarios": _figure("Error by scenario", ours, lambda one: one.scenario),
        "baselines": _figure(
            "Error of all methods", _shortest(found), lambda one: one.scenario
        ),
    }


def _shortest(found: Sequence[Judgement]) -> list[Judgement]:
    """Take each method once, at its shortest length, as the paper's figure 7 does."""
    shortest = {
        method: min(one.length_s for one in found if one.method == method)
        for method in {one.method for one in found}
    }
    return [one for one in found if one.length_s == shortest[one.method]]


def write(
    results: Results,
    folder: Path,
    launchers: Mapping[str, str],
    *,
    took_part: bool = True,
) -> list[Path]:
    """Write accuracy.md and its figures into a folder; return their paths.

    Parameters
    ----------
    results : Results
    folder : Path
    launchers : mapping of str to str
        Of each application, as in applications.yaml.
    took_part : bool
        Whether rules and errors were chosen while these applications were known.
    """
    causes = _causes(HERE / "causes.yaml")
    tables, figures = sections(results, causes, launchers, took_part=took_part)
    values = {
        "tables": tables,
        "figures": list(figures),
        "took_part": took_part,
        "trust": os.path.relpath(HERE.resolve().parents[1] / "docs/trust.md", folder),
    }
    page = filled(TextKind.MARKDOWN, HERE.resolve(), "accuracy.md.j2", values)
    written = {folder / "accuracy.md": page}
    for name, drawing in figures.items():
        written[folder / f"figures/accuracy-{name}.svg"] = drawing
    for path, text in written.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return list(written)
