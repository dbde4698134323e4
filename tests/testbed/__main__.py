"""Use the test cluster by hand: ``python -m tests.testbed --help``."""

from __future__ import annotations

import argparse
import os
import sys
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path

from skelgen.units import parse_seconds
from tests.testbed import slurm, weather
from tests.testbed.cluster import LOADS, Cluster, interrupted_by_signals, lacking
from tests.testbed.control_groups import TestbedError
from tests.testbed.law import LAWS, draw
from tests.testbed.scenarios import SCENARIOS

_WEATHER = (
    "leave random parts of hosts and links for random times",
    "Each host, and each link, is free for half of the draws; else 6.5 to 72 % of the "
    "CPU are left to a new process, and 2 to 80 % of the rate to new connections. What "
    "was set is logged as JSON lines; tests.testbed.law.read_log reads them.",
)

_EXAMPLE = """examples:
  python -m tests.testbed up 2
  python -m tests.testbed scenario 1
  python -m tests.testbed run mpirun -hosts h1,h2 -n 2 ./app
  python -m tests.testbed up 3 --slurm
  python -m tests.testbed run salloc -N3 skelgen predict skel/ --hosts h1,h2
  python -m tests.testbed weather --seed 1 --for 10m --log weather.jsonl
  python -m tests.testbed down
"""


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m tests.testbed",
        description="A small cluster on this machine (root, control groups, tc).",
        epilog=_EXAMPLE,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    commands = parser.add_subparsers(dest="what", required=True)
    up = commands.add_parser("up", help="make hosts h1, h2, ...")
    up.add_argument("hosts", type=int, nargs="?", default=2)
    up.add_argument("--share", type=float, default=1.0, help="of a core for each host")
    up.add_argument("--slurm", action="store_true", help="with a Slurm on the hosts")
    commands.add_parser("down", help="remove everything")
    commands.add_parser("hosts", help="name the hosts")
    link = commands.add_parser("link", help="limit a link in both directions")
    link.add_argument("host", help="h1, ... or all")
    link.add_argument("rate", help="such as 100mbit; none frees it")
    load = commands.add_parser("load", help="have processes compete; 0 stops them")
    load.add_argument("host", help="h1, ... or all")
    load.add_argument("count", type=int)
    load.add_argument("--kind", choices=tuple(LOADS), default="arithmetic")
    scenario = commands.add_parser("scenario", help="0 quiet, 1-5 of the paper, 6 ours")
    scenario.add_argument("number", type=int, choices=range(len(SCENARIOS)))
    scenario.add_argument("--quiet", default="1gbit", help="rate of a quiet link")
    scenario.add_argument("--slow", default="100mbit", help="rate of a slow link")
    about, more = _WEATHER
    _add_weather(commands.add_parser("weather", help=about, epilog=more))
    commands.add_parser("calm", help="undo all weather")
    run = commands.add_parser("run", help="run a command where launchers belong")
    run.add_argument("--host", default="head")
    run.add_argument("program", nargs=argparse.REMAINDER)
    return parser


def _add_weather(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--seed", type=int, default=1, help="same seed, same weather")
    parser.add_argument("--hosts", default="", help="h1,h2 (default: all)")
    parser.add_argument("--for", dest="length", type=_time, default=600.0)
    parser.add_argument("--hold", type=_times, default=(180.0, 480.0), help="3m,8m")
    parser.add_argument("--rate", default="100mbit", help="of a free link")
    parser.add_argument("--only", choices=("cpu", "bandwidth"), help="default: both")
    parser.add_argument("--log", type=Path, help="file for the log (default: stdout)")
    parser.add_argument("--dry-run", action="store_true", help="print, set nothing")


def _time(text: str) -> float:
    try:
        return parse_seconds(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from error


def _times(text: str) -> tuple[float, float]:
    shortest, _, longest = text.partition(",")
    found = _time(shortest), _time(longest or shortest)
    if found[0] > found[1]:
        raise argparse.ArgumentTypeError(f"{text}: write the shorter time first")
    return found


def main() -> int:
    """Do what the command line asks for; return the exit code."""
    options = _parser().parse_args()
    cluster = Cluster(os.environ.get("TESTBED_NAME", "skelgen"))
    wants_slurm = options.what == "up" and options.slurm
    is_dry = options.what == "weather" and options.dry_run
    if reason := slurm.lacking() if wants_slurm else "" if is_dry else lacking():
        print(f"testbed: {reason}", file=sys.stderr)
        return 4
    try:
        return _do(cluster, options)
    except TestbedError as error:
        print(f"testbed: {error}", file=sys.stderr)
        return 5
    except KeyboardInterrupt:
        return 130


def _weather(cluster: Cluster, options: argparse.Namespace) -> None:
    """Print what the weather will be, or make it."""
    hosts = [name for name in options.hosts.split(",") if name] or cluster.hosts
    if not options.dry_run:
        hosts = [name for one in hosts for name in cluster.chosen(one)]
    if not hosts:
        raise TestbedError("no hosts: name some by --hosts, or bring a cluster up")
    shortest, longest = options.hold
    laws = {
        kind: replace(law, shortest_s=shortest, longest_s=longest)
        for kind, law in LAWS.items()
        if options.only in (None, kind)
    }
    drawn = draw(options.seed, hosts, options.length, laws)
    lines = [weather.head_of(options.seed, hosts, options.rate, laws)]
    if options.dry_run:
        lines += [weather.line_of(one, options.rate) for one in drawn.settings]
        print("\n".join(lines))
        return
    interrupted_by_signals()
    with options.log.open("w") if options.log else nullcontext(sys.stdout) as log:
        print(*lines, file=log, flush=True)
        weather.blow(cluster, drawn, options.rate, log)


def _do(cluster: Cluster, options: argparse.Namespace) -> int:
    if options.what == "up":
        cluster.up(options.hosts, share=options.share)
        if options.slurm:
            slurm.Slurm(cluster).up()
    elif options.what == "down":
        cluster.down()
    elif options.what == "hosts":
        print("\n".join(cluster.hosts))
    elif options.what == "weather":
        _weather(cluster, options)
    elif options.what == "calm":
        weather.calm(cluster)
    elif options.what == "link":
        cluster.link(options.host, options.rate)
    elif options.what == "load":
        cluster.load(options.host, options.count, options.kind)
    elif options.what == "scenario":
        chosen = SCENARIOS[options.number]
        chosen.apply(cluster, quiet=options.quiet, slow=options.slow)
    else:
        batch = slurm.Slurm(cluster)
        known = batch.environment() if batch.is_up else cluster.environment()
        environment = {**os.environ, **known}
        done = cluster.run(options.host, options.program, env=environment)
        return int(done.returncode)
    return 0


if __name__ == "__main__":
    sys.exit(main())
