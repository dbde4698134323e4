"""Measure and report: ``python -m benchmarks.accuracy --help``."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from benchmarks.accuracy.applications import ROOT, read_applications
from benchmarks.accuracy.measure import Bench, RunError, tell
from benchmarks.accuracy.report import report
from benchmarks.accuracy.results import Log, read
from tests.testbed.cluster import Cluster, lacking
from tests.testbed.control_groups import TestbedError
from tests.testbed.scenarios import SCENARIOS

_EXAMPLE = """examples:
  python -m benchmarks.accuracy run --apps heat2d,lammps-lj --lengths 2,1
  python -m benchmarks.accuracy report > docs/accuracy-tables.md
"""


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.accuracy",
        description="How far are predictions from the truth?",
        epilog=_EXAMPLE,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    work = ROOT / "build/accuracy"
    parser.add_argument("what", choices=("run", "report"))
    parser.add_argument("--results", type=Path, default=work / "results.jsonl")
    parser.add_argument("--folder", type=Path, default=work, help="where programs lie")
    parser.add_argument(
        "--applications",
        type=Path,
        default=Path(__file__).with_name("applications.yaml"),
    )
    parser.add_argument("--apps", default="", help="names from it; all when not given")
    parser.add_argument("--lengths", default="10,5,2,1,0.5", help="of skeletons [s]")
    parser.add_argument(
        "--scenarios", default="0,1,2,3,4,5", help="0 quiet, which is always needed"
    )
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--hosts", type=int, default=2)
    parser.add_argument("--quiet", default="1gbit", help="rate of quiet links")
    parser.add_argument("--slow", default="100mbit", help="rate of slow links")
    return parser


def _run(options: argparse.Namespace) -> int:
    if reason := lacking():
        print(f"accuracy: {reason}", file=sys.stderr)
        return 4
    apps = [name for name in options.apps.split(",") if name]
    chosen = sorted({0, *(int(n) for n in options.scenarios.split(","))})
    cluster = Cluster("accuracy")
    cluster.up(options.hosts)
    bench = Bench(
        cluster=cluster,
        folder=options.folder.resolve(),
        lengths_s=tuple(float(text) for text in options.lengths.split(",")),
        scenarios=tuple(SCENARIOS[number] for number in chosen),
        repeats=options.repeats,
        quiet=options.quiet,
        slow=options.slow,
    )
    log = Log(options.results)
    failed = 0
    try:
        log.provenance(bench.provenance())
        known = read(options.results)
        for one in read_applications(options.applications, apps):
            if lacks := one.lacking():
                tell(f"left out: {lacks}")
                continue
            try:
                bench.measure(one, known, log)
            except RunError as error:
                failed += 1
                tell(f"left out from here: {one.name}: {error}")
    finally:
        log.close()
        cluster.down()
    return 5 if failed else 0


def main() -> int:
    """Do what the command line asks for; return the exit code."""
    options = _parser().parse_args()
    try:
        if options.what == "run":
            return _run(options)
    except TestbedError as error:
        print(f"accuracy: {error}", file=sys.stderr)
        return 4
    results = read(options.results)
    if not results.seconds:
        print(f"accuracy: {options.results} holds no runs yet", file=sys.stderr)
        return 3
    print(report(results))
    return 0


if __name__ == "__main__":
    sys.exit(main())
