"""Measure and report: ``python -m benchmarks.accuracy --help``."""

from __future__ import annotations

import argparse
import math
import os
import shlex
import sys
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from skelgen import _paths  # noqa: F401  (installed: not the checkout's)

sys.path.insert(0, str(Path(__file__).resolve().parent.parent.parent))

from benchmarks.accuracy.applications import ROOT, Application, read_applications
from benchmarks.accuracy.machine import check_same, provenance, skelgen_identity
from benchmarks.accuracy.measure import Bench, BudgetSpentError, RunError, tell
from benchmarks.accuracy.order import Design
from benchmarks.accuracy.report import write
from benchmarks.accuracy.results import (
    METHODS,
    SETTINGS,
    Log,
    Results,
    options_of,
    read,
    read_all,
)
from skelgen._paths import method_errors
from skelgen.errors import SkelgenError, UsageError
from skelgen.pipeline.trust import trust_learn
from tests.testbed.cluster import Cluster, lacking
from tests.testbed.control_groups import TestbedError
from tests.testbed.scenarios import SCENARIOS

_EXAMPLE = """examples:
  python -m benchmarks.accuracy run --preset reduced
  python -m benchmarks.accuracy run --apps heat2d,lammps-lj --lengths 2,1 --budget 45
  python -m benchmarks.accuracy report
  python -m benchmarks.accuracy errors

presets (each option given beside one wins):
  full     all applications, lengths and scenarios, 3 repeats: about 40 hours
  reduced  3 applications, 3 scenarios, skeletons of 1 and 0.5 s: 12 minutes
  tiny     1 short application, 1 scenario, 1 repeat: does it work here? A minute
"""

_ALL = "0,1,2,3,4,5,6"
PRESETS: dict[str, dict[str, Any]] = {
    "full": {
        "lengths": "10,5,2,1,0.5",
        "other_lengths": "2,1,0.5",
        "scenarios": _ALL,
        "repeats": 3,
    },
    "reduced": {
        "apps": "lammps-lj,heat2d,conjugate-gradient",
        "lengths": "1,0.5",
        "methods": "skeleton",
        "scenarios": "1,3,5",
        "repeats": 1,
        "stretch": 0.25,
    },
    "tiny": {
        "apps": "heat2d",
        "lengths": "0.5",
        "methods": "skeleton,paper2005",
        "scenarios": "5",
        "repeats": 1,
        "stretch": 0.2,
    },
}


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.accuracy",
        description="How far are predictions from the truth?",
        epilog=_EXAMPLE,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    work, here = ROOT / "build/accuracy", Path(__file__).parent
    add = parser.add_argument
    add("what", choices=("run", "report", "errors"))
    add("--preset", choices=tuple(PRESETS), default="full")
    add("--results", type=Path, help="a file; of report also a folder of them")
    add("--folder", type=Path, default=work, help="where programs lie")
    add("--applications", type=Path, default=here / "applications.yaml")
    add("--apps", default="", help="names from it, in order; all when not given")
    add("--lengths", help="of skeletons [s]")
    add("--other-lengths", help="the same of other methods than ours")
    add("--methods", type=_methods, default=METHODS, help="how skeletons are built")
    add("--scenarios", help="numbers; quiet references are added")
    add("--repeats", type=int)
    add("--beside", type=int, default=2, help="skeletons before the application, even")
    add("--stretch", type=float, default=1.0, help="multiplies all applications' steps")
    add("--hosts", type=int, default=2)
    add("--quiet", default="1gbit", help="rate of quiet links")
    add("--slow", default="100mbit", help="rate of slow links")
    add("--limit", type=float, default=300, help="for one run of an application [s]")
    add("--budget", type=float, default=math.inf, help="no block begins after it [min]")
    add("--output", type=Path, help="folder of report (docs); file of errors")
    add(
        "--took-no-part",
        dest="took_part",
        action="store_false",
        help="report: intervals have the errors that come with skelgen",
    )
    return parser


def _options(words: list[str] | None = None) -> argparse.Namespace:
    """Read the command line; a preset stands for what is not given."""
    parser = _parser()
    preset = PRESETS[parser.parse_known_args(words)[0].preset]
    parser.set_defaults(**preset)
    options = parser.parse_args(words)
    if options.results is None:
        measured = ROOT / "docs/accuracy"
        run = options.what == "run"
        options.results = options.folder / "results.jsonl" if run else measured
    if options.output is None:
        errors = options.what == "errors"
        options.output = method_errors() if errors else ROOT / "docs"
    if options.other_lengths is None:
        options.other_lengths = options.lengths
    return options


def _methods(text: str) -> tuple[str, ...]:
    names = tuple(text.split(","))
    if not set(names) <= set(METHODS):
        raise argparse.ArgumentTypeError(f"expected some of {', '.join(METHODS)}")
    return names


def _times_s(option: str, text: str) -> tuple[float, ...]:
    """Read ``2,1,0.5`` [s]."""
    try:
        times_s = tuple(float(word) for word in text.split(",") if word)
        if all(0 < time_s < math.inf for time_s in times_s):
            return times_s
    except ValueError:
        pass
    raise UsageError(f"{option} {text}: expected times in seconds such as 2,1,0.5")


def _design(options: argparse.Namespace) -> Design:
    known = {str(number): one for number, one in enumerate(SCENARIOS)}
    words = options.scenarios.split(",")
    if not set(words) <= set(known):
        raise UsageError(
            f"--scenarios {options.scenarios}: expected some of {','.join(known)}"
        )
    if options.beside < 2 or options.beside % 2:
        raise UsageError(f"--beside {options.beside}: expected an even number")
    return Design(
        lengths_s=_times_s("--lengths", options.lengths),
        other_lengths_s=_times_s("--other-lengths", options.other_lengths),
        scenarios=tuple(known[word] for word in words),
        repeats=options.repeats,
        kinds=options.methods,
        beside=options.beside,
    )


def _run(options: argparse.Namespace) -> int:
    if reason := lacking():
        tell(f"accuracy: {reason}; predictions for real hosts need none of it")
        return 4
    names = [name for name in options.apps.split(",") if name]
    applications = read_applications(options.applications, names, options.stretch)
    design = _design(options)
    results = read(options.results)
    settings = {name: getattr(options, name) for name in SETTINGS}
    others = [facts.get("settings") for facts in results.provenance]
    if different := [other for other in others if other != settings]:
        raise UsageError(
            f"{options.results} was measured with {options_of(different[0])}: give "
            "these as well, or another file with --results"
        )
    there = [one for one in applications if _is_there(one)]
    programs: dict[str, dict[str, Any]] = {
        "mpi": {one.mpi: one.installed_mpi().title for one in there},
        "entries": {one.name: one.identity for one in there},
        "builds": {"skelgen": skelgen_identity()},
        "environments": {o.name: dict(o.environment) for o in there if o.environment},
    }
    check_same(results.provenance, programs, options.results)
    cluster = Cluster(os.environ.get("TESTBED_NAME", "accuracy"))
    try:
        with cluster.used(options.hosts):
            log = Log(options.results)
            log.provenance(provenance(cluster, settings, programs, sys.argv[1:]))
            return _measure(_bench(options, cluster, design, results, log), there)
    except KeyboardInterrupt:
        tell("accuracy: stopped; the same command goes on from here")
        return 130


def _is_there(one: Application) -> bool:
    if lacks := one.lacking():
        tell(f"left out: {lacks}")
    return not lacks


def _bench(
    options: argparse.Namespace,
    cluster: Cluster,
    design: Design,
    results: Results,
    log: Log,
) -> Bench:
    return Bench(
        cluster=cluster,
        hosts=tuple(cluster.hosts),
        folder=options.folder.resolve(),
        design=design,
        stamp=f"{options.hosts} hosts, {options.quiet}, skelgen {skelgen_identity()}",
        quiet=options.quiet,
        slow=options.slow,
        limit_s=options.limit,
        end_s=time.monotonic() + 60 * options.budget,
        known=dict(results.measured),
        log=log,
    )


def _measure(bench: Bench, applications: list[Application]) -> int:
    """Measure repeat by repeat; an application that fails is left out from there."""
    failed: set[str] = set()
    for repeat in range(bench.design.repeats):
        for one in applications:
            if one.name in failed:
                continue
            try:
                bench.measure(one, repeat)
            except RunError as error:
                failed.add(one.name)
                tell(f"left out from here: {one.name}: {error}")
            except BudgetSpentError:
                tell("accuracy: the budget is spent; the same command goes on")
                return 0
    return 5 if failed else 0


def _errors(options: argparse.Namespace) -> int:
    """Learn the errors that come with skelgen from the results of a folder."""
    if not options.results.is_dir():
        raise UsageError(f"--results {options.results}: expected a folder")
    files = [*options.results.glob("*.jsonl"), *options.results.glob("pairs/*.jsonl")]
    words = ["python", "-m", "benchmarks.accuracy", *sys.argv[1:]]
    found = trust_learn(
        sorted(files),
        options.output,
        command=shlex.join(words),
        date=datetime.now(UTC).date().isoformat(),
    )
    print(found.path)
    return 0


def main() -> int:
    """Do what the command line asks for; return the exit code."""
    options = _options()
    try:
        if options.what == "run":
            return _run(options)
        if options.what == "errors":
            return _errors(options)
        results = read_all(options.results)
        known = read_applications(options.applications, [])
    except TestbedError as error:
        tell(f"accuracy: {error}")
        return 4
    except SkelgenError as error:
        tell(f"accuracy: {error}")
        return error.exit_code
    if not results.measured:
        tell(f"accuracy: {options.results} holds no runs yet")
        return 3
    launchers = {one.name: one.mpi for one in known}
    written = write(results, options.output, launchers, took_part=options.took_part)
    for path in written:
        print(path)
    return 0


if __name__ == "__main__":
    sys.exit(main())
