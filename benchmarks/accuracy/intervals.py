"""Tables of the errors that intervals have, by leaving one application out."""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence

from benchmarks.accuracy.judge import Judgement, cases, default_method
from benchmarks.accuracy.markdown import table
from benchmarks.accuracy.results import PAPER
from skelgen.prediction.known_cases import cores_in
from skelgen.trust.learning import ENOUGH, half_width_without, held_apart, learn
from skelgen.trust.thresholds import FEWEST_APPLICATIONS
from skelgen.trust.types import OWN_CORES, SHARED_CORES


def methods(found: Sequence[Judgement]) -> str:
    """Write the error that each method has for an application that it never saw."""
    ours = default_method(found)
    known = [one for method in (ours, PAPER) for one in cases(found, method)]
    if len({one.application for one in known}) < FEWEST_APPLICATIONS:
        return table([], [])
    rows = [
        [
            f"{one.method}, {one.cores} cores" if one.cores else one.method,
            f"{one.applications}, {one.cases}",
            f"-{-100 * math.expm1(-one.half_width):.1f}, "
            f"+{100 * math.expm1(one.half_width):.1f} %",
            f"{100 * (one.truth_over_predicted - 1):+.1f} %",
            f"{100 * one.held:.1f} %",
            f"{100 * one.least_held:.0f} % ({one.least_application})",
        ]
        for one in learn(known).entries
    ]
    head = "method; applications, cases; error in 90 %; truth against prediction; "
    head += "truth inside; least of an application"
    return table(head.split("; "), rows)


def apart(found: Sequence[Judgement]) -> str:
    """Write how often intervals held, by the application that was left out."""
    ours = default_method(found)
    known = cases(found, ours)
    rows = []
    if len({one.application for one in known}) <= ENOUGH:
        return ""
    for name, held in held_apart(known).items():
        widths = (
            100 * math.expm1(half_width_without(known, name, cores=cores))
            for cores in (OWN_CORES, SHARED_CORES)
        )
        told = f"{sum(held)} of {len(held)}", f"{100 * statistics.fmean(held):.0f} %"
        rows.append([name, *(f"{width:.1f} %" for width in widths), *told])
    head = "left out; error of the others, own cores; shared cores; truth inside; share"
    return table(head.split("; "), rows)


def apart_by_scenario(found: Sequence[Judgement]) -> str:
    """Write how often intervals held in each scenario, by the error that was used."""
    ours = default_method(found)
    known = cases(found, ours)
    if len({one.application for one in known}) <= ENOUGH:
        return ""
    rows = []
    for scenario in dict.fromkeys(one.scenario for one in found):
        cores = cores_in(scenario)
        alike = [one for one in known if one.cores == cores]
        judged = [o for o in found if o.scenario == scenario and o.method == ours]
        here = cases(judged, ours)
        inside = [
            [one.excess() <= half_width_without(some, one.application) for one in here]
            for some in (known, alike)
        ]
        inside.append([one.held is True for one in judged])
        shares = (f"{100 * statistics.fmean(own):.1f} %" for own in inside)
        rows.append([scenario, cores, f"{len(here)}", *shares])
    head = "scenario; cores; cases; error of all; error of such cores; larger of both"
    return table(head.split("; "), rows)
