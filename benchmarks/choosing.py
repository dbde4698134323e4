"""Does ``skelgen select`` choose the best pair of hosts, and what does it cost?

``python benchmarks/choosing.py [--patterns 10] [--runs 2] [--results FILE]``

A pool of four hosts of half a core on the test cluster (tests/testbed: root, control
groups, tc). Each pattern puts 0 to 2 busy processes on each host and gives each link a
rate, at random, but no two hosts the same of both. Then ``select`` orders all six
pairs, and the truth is the application itself, recorded on each of them in turn and
then in reverse order: hosts that share a core disturb each other by up to 5 %, so
nothing runs at the same time. A row of the table is a pattern; pairs whose times differ
by less than 5 % cannot be ordered by so few runs and do not count in the second figure
of Kendall's rank correlation. The last line says how far the application's own runs
agree with each other: the rest is chance. Every result is written down as it comes, so
a run that was stopped goes on where it was. It takes 85 minutes.
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import random
import statistics
import subprocess
import sys
import sysconfig
import time
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from skelgen import _paths  # noqa: F401  (installed: not the checkout's)

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks.accuracy.machine import check_same, provenance, skelgen_identity
from skelgen.errors import SkelgenError, UsageError
from skelgen.launch.hosts import parse_hosts
from skelgen.launch.json_lines import JsonLines
from skelgen.launch.launchers import launcher_of
from skelgen.launch.mpi import find_mpi
from tests.testbed.cluster import Cluster, lacking
from tests.testbed.control_groups import TestbedError

ROOT = Path(__file__).resolve().parent.parent
HOSTS, SHARE = 4, 0.5
RATES = ("1gbit", "100mbit", "50mbit", "20mbit")
_HEAD = """
| busy processes / link of h1 to h4 | chosen | best | longer by | Kendall | of apart | \
inside | cost |
|---|---|---|---|---|---|---|---|"""

#: Pairs whose times differ less are as good as each other [1].
EQUAL = 0.05

#: So often the application is recorded: what else runs meanwhile can only lengthen it.
RECORDINGS = 3

#: What takes longer hangs: its hosts are taken down with it [s].
_LIMIT_S = 600.0


@dataclass(frozen=True, slots=True)
class Pattern:
    """How the hosts are shared: busy processes and rate of the link of each."""

    number: int
    busy: tuple[int, ...]
    rates: tuple[str, ...]

    @classmethod
    def drawn(cls, number: int) -> Pattern:
        """Draw a pattern; the same number gives the same one."""
        every = list(itertools.product((0, 1, 2), RATES))
        busy, rates = zip(*random.Random(number).sample(every, HOSTS), strict=True)
        return cls(number, busy, rates)

    def apply(self, cluster: Cluster) -> None:
        """Share the cluster so."""
        for host, busy, rate in zip(cluster.hosts, self.busy, self.rates, strict=True):
            cluster.load(host, busy)
            cluster.link(host, rate)

    def __str__(self) -> str:
        pairs = zip(self.busy, self.rates, strict=True)
        return " ".join(f"{busy}/{rate.removesuffix('bit')}" for busy, rate in pairs)


@dataclass(frozen=True, slots=True)
class Bench:
    """The cluster, and a folder that keeps application, recording and skeleton."""

    cluster: Cluster
    folder: Path
    program: tuple[str, ...]

    def at_head(self, words: Sequence[str]) -> tuple[str, float]:
        """Run a command where launchers belong; return its output and time [s]."""
        environment = {**os.environ, **self.cluster.environment()}
        # Asked for its CPU time, Linux gives a rank's core to a competitor earlier.
        environment["SKELGEN_CPU_TIME"] = "0"
        scripts = sysconfig.get_path("scripts")
        environment["PATH"] = f"{scripts}{os.pathsep}{environment['PATH']}"
        options = {"capture_output": True, "text": True, "env": environment}
        begin_s = time.monotonic()
        try:
            done = self.cluster.run(
                "head", words, cwd=self.folder, timeout=_LIMIT_S, **options
            )
        except subprocess.TimeoutExpired:
            sys.exit(f"choosing: {' '.join(words)}: did not end within {_LIMIT_S:g} s")
        if done.returncode:
            said = (done.stderr.strip() or done.stdout.strip()).splitlines()
            sys.exit(f"choosing: {' '.join(words)}: {said[-1] if said else 'failed'}")
        return str(done.stdout), time.monotonic() - begin_s

    def record(self, pair: str, target: str) -> float:
        """Record the application on a pair; return its time without launching [s]."""
        hosts = parse_hosts(pair)
        launch = launcher_of(find_mpi()).arguments(self.program, ranks=2, hosts=hosts)
        self.at_head(["skelgen", "record", "--force", "-o", target, "--", *launch])
        facts, _ = self.at_head(["skelgen", "info", "--json", target])
        return float(json.loads(facts)["application_s"])

    def prepare(self, length_s: float) -> None:
        """Compile and record the application on quiet hosts, build its skeleton."""
        mpi = find_mpi()
        words = (*self.program, f"{length_s:g} s", mpi.title, skelgen_identity())
        done, made_of = self.folder / ".prepared", "\n".join(words)
        if done.exists() and done.read_text() == made_of:
            return
        self.folder.mkdir(parents=True, exist_ok=True)
        done.unlink(missing_ok=True)  # a stop meanwhile leaves something of both
        for host in self.cluster.hosts:
            self.cluster.load(host, 0)
            self.cluster.link(host, RATES[0])
        source = str(ROOT / "examples/heat2d.c")
        compile_it = [str(mpi.compiler), "-O2", source, "-o", "heat2d", "-lm"]
        subprocess.run(compile_it, cwd=self.folder, check=True)
        names = [f"run-{number}" for number in range(RECORDINGS)]
        least_disturbed = min(names, key=lambda name: self.record("h1,h2", name))
        length = ["--target-time", f"{length_s:g}s", "--force", "-o", "skel"]
        self.at_head(["skelgen", "build", least_disturbed, *length])
        known = ["--application-time", "recorded"]
        self.at_head(["skelgen", "calibrate", "skel", *known])
        done.write_text(made_of)

    def select(self, budget: str) -> dict[str, Any]:
        """Order all pairs; return what select says and its time [s]."""
        pool = ["--from", ",".join(self.cluster.hosts), "--nodes", "2"]
        words = ["skelgen", "select", "skel", *pool, "--budget", budget, "--json"]
        said, seconds = self.at_head(words)
        sets = json.loads(said)["sets"]
        keys = ("predicted_s", "p5_s", "p95_s", "best_probability", "runs_s")
        ordered = [
            {"pair": ",".join(one["hosts"]), **{key: one[key] for key in keys}}
            for one in sets
        ]
        return {"order": ordered, "seconds": seconds}


def kendall(
    order: Sequence[str], true_s: dict[str, float], equal: float = 0.0
) -> float:
    """Return the rank correlation of an order with measured times [-1 to 1].

    Parameters
    ----------
    order : sequence of str
        The best first; what lacks here is ordered with nothing, which counts 0.
    true_s : dict of str to float
        Times [s].
    equal : float
        Pairs of times whose ratio is closer to 1 do not count [1].
    """
    rest = [one for one in true_s if one not in order]
    signs = [
        0 if worse in rest else 1 if true_s[better] < true_s[worse] else -1
        for better, worse in itertools.combinations([*order, *rest], 2)
        if abs(true_s[better] / true_s[worse] - 1) > equal
    ]
    return statistics.fmean(signs) if signs else 1.0


def agreement(times_s: dict[str, list[float]]) -> float:
    """Return the rank correlation of the first runs on all pairs with the second.

    Examples
    --------
    >>> agreement({"a": [1.0, 2.5], "b": [2.0, 2.0], "c": [3.0, 3.0]})
    0.3333333333333333
    """
    first = sorted(times_s, key=lambda pair: times_s[pair][0])
    return kendall(first, {pair: each[1] for pair, each in times_s.items()})


def times_of(lines: Sequence[dict[str, Any]], number: int) -> dict[str, list[float]]:
    """Return what the application took on each pair in a pattern, run by run [s]."""
    times_s: dict[str, list[float]] = defaultdict(list)
    for line in lines:
        if line.get("pattern") == number and "pair" in line:
            times_s[line["pair"]].append(line["seconds"])
    return dict(times_s)


def turns(
    pairs: Sequence[str], runs: int, times_s: dict[str, list[float]]
) -> Iterator[str]:
    """Yield the pairs that are still to be run; every second round goes backwards."""
    for number in range(runs):
        for pair in reversed(pairs) if number % 2 else pairs:
            if len(times_s.get(pair, ())) <= number:
                yield pair


def measure(
    bench: Bench, pattern: Pattern, log: JsonLines, budget: str, runs: int
) -> None:
    """Make what is missing of a pattern: one selection, the runs on each pair."""
    lines = log.values()
    pairs = [",".join(pair) for pair in itertools.combinations(bench.cluster.hosts, 2)]
    missing = list(turns(pairs, runs, times_of(lines, pattern.number)))
    selected = any(_selects(lines, pattern.number))
    if selected and not missing:
        return
    pattern.apply(bench.cluster)
    if not selected:
        found = bench.select(budget)
        log.append({"pattern": pattern.number, "select": found})
        tell(f"{pattern}: select chose {found['order'][0]['pair']}")
    for pair in missing:
        seconds = bench.record(pair, "truth")
        log.append({"pattern": pattern.number, "pair": pair, "seconds": seconds})
        tell(f"{pattern}: {pair} takes {seconds:.1f} s")


def tell(line: str) -> None:
    """Say on stderr how far the run is."""
    print(line, file=sys.stderr, flush=True)


def _selects(lines: Sequence[dict[str, Any]], number: int) -> list[dict[str, Any]]:
    return [
        line["select"]
        for line in lines
        if line.get("pattern") == number and "select" in line
    ]


def report(lines: Sequence[dict[str, Any]], runs: int) -> None:
    """Print a row for each complete pattern, and the means."""
    print(_HEAD)
    rows = []
    agreed = []
    for number in sorted({line["pattern"] for line in lines if "pattern" in line}):
        times_s = times_of(lines, number)
        true_s = {
            pair: statistics.median(each)
            for pair, each in times_s.items()
            if len(each) >= runs
        }
        selects = _selects(lines, number)
        if not selects or len(true_s) != HOSTS * (HOSTS - 1) // 2:
            continue
        found = selects[0]["order"]
        order = [one["pair"] for one in found]
        chosen, best = order[0], min(true_s, key=lambda pair: true_s[pair])
        held = found[0]["p5_s"] <= true_s[chosen] <= found[0]["p95_s"]
        cost = selects[0]["seconds"] / len(true_s) / statistics.fmean(true_s.values())
        row = (
            true_s[chosen] / true_s[best] - 1,
            kendall(order, true_s),
            kendall(order, true_s, EQUAL),
            cost,
        )
        rows.append(row)
        if runs > 1:
            agreed.append(agreement(times_s))
        print(
            f"| {Pattern.drawn(number)} | {chosen} | {best} | {row[0]:.1%} | "
            f"{row[1]:.2f} | {row[2]:.2f} | {'yes' if held else 'no'} | {cost:.1%} |"
        )
    if not rows:
        sys.exit("choosing: no complete pattern yet")
    right = sum(row[0] <= EQUAL for row in rows)
    first = sum(row[0] == 0 for row in rows)
    means = [statistics.fmean(column) for column in zip(*rows, strict=True)]
    print(
        f"\nbest pair in {first} of {len(rows)}, within 5 % of it in {right}; mean "
        f"Kendall {means[1]:.2f}, of pairs apart by 5 % {means[2]:.2f}; a candidate "
        f"costs {means[3]:.1%} of a run of the application"
    )
    if agreed:
        print(
            "the application's first run on each pair and its second one agree by "
            f"{statistics.fmean(agreed):.2f}"
        )


def main() -> int:
    """Measure what is missing and print the table."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    work = ROOT / "build/choosing"
    parser.add_argument("--patterns", type=int, default=10)
    parser.add_argument("--steps", type=int, default=2500, help="of heat2d")
    parser.add_argument("--length", type=float, default=0.32, help="of skeletons [s]")
    parser.add_argument("--budget", default="14s", help="of each selection")
    parser.add_argument("--runs", type=int, default=2, help="of each pair")
    parser.add_argument("--results", type=Path, default=work / "results.jsonl")
    parser.add_argument("--report", action="store_true", help="only print the table")
    options = parser.parse_args()
    log = JsonLines(options.results.resolve())
    try:
        if not options.report:
            if reason := lacking():
                print(f"choosing: {reason}", file=sys.stderr)
                return 0
            _run(options, log)
        report(log.values(), options.runs)
    except TestbedError as error:
        tell(f"choosing: {error}")
        return 4
    except SkelgenError as error:
        tell(f"choosing: {error}")
        return error.exit_code
    except KeyboardInterrupt:
        tell("choosing: stopped; the same command goes on from here")
        return 130
    return 0


def check_same_run(
    log: JsonLines, settings: dict[str, Any], programs: dict[str, dict[str, str]]
) -> None:
    """Refuse to add runs with other settings, programs or machines to those of a file.

    Raises
    ------
    UsageError
        When one has changed since; what older lines do not name has not.
    """
    before = [line["provenance"] for line in log.values() if "provenance" in line]
    for facts in before:
        other = settings | facts.get("settings", {})
        if other != settings:
            raise UsageError(
                f"{log.path} was measured with --steps {other['steps']} --length "
                f"{other['length_s']:g} --budget {other['budget']}: give these, or "
                "another file with --results"
            )
    check_same(before, programs, log.path)


def _run(options: argparse.Namespace, log: JsonLines) -> None:
    settings = {
        "steps": options.steps,
        "length_s": options.length,
        "budget": options.budget,
        "share": SHARE,
    }
    programs = {"mpi": {"mpirun": find_mpi().title}}
    check_same_run(log, settings, programs)
    cluster = Cluster(os.environ.get("TESTBED_NAME", "choosing"))
    program = ("./heat2d", "1024", str(options.steps))
    with cluster.used(HOSTS, share=SHARE):
        bench = Bench(cluster, log.path.with_suffix(""), program)
        bench.prepare(options.length)
        log.begin(keep=True)
        facts = provenance(cluster, settings, programs, sys.argv[1:])
        log.append({"provenance": facts})
        for number in range(options.patterns):
            measure(bench, Pattern.drawn(number), log, options.budget, options.runs)


if __name__ == "__main__":
    sys.exit(main())
