"""Use the test cluster by hand: ``python -m tests.testbed --help``."""

from __future__ import annotations

import argparse
import os
import sys

from tests.testbed import slurm
from tests.testbed.cluster import LOADS, Cluster, lacking
from tests.testbed.control_groups import TestbedError
from tests.testbed.scenarios import SCENARIOS

_EXAMPLE = """examples:
  python -m tests.testbed up 2
  python -m tests.testbed scenario 1
  python -m tests.testbed run mpirun -hosts h1,h2 -n 2 ./app
  python -m tests.testbed up 3 --slurm
  python -m tests.testbed run salloc -N3 skelgen predict skel/ --hosts h1,h2
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
    run = commands.add_parser("run", help="run a command where launchers belong")
    run.add_argument("--host", default="head")
    run.add_argument("program", nargs=argparse.REMAINDER)
    return parser


def main() -> int:
    """Do what the command line asks for; return the exit code."""
    options = _parser().parse_args()
    cluster = Cluster(os.environ.get("TESTBED_NAME", "skelgen"))
    wants_slurm = options.what == "up" and options.slurm
    if reason := slurm.lacking() if wants_slurm else lacking():
        print(f"testbed: {reason}", file=sys.stderr)
        return 4
    try:
        return _do(cluster, options)
    except TestbedError as error:
        print(f"testbed: {error}", file=sys.stderr)
        return 5


def _do(cluster: Cluster, options: argparse.Namespace) -> int:
    if options.what == "up":
        cluster.up(options.hosts, share=options.share)
        if options.slurm:
            slurm.Slurm(cluster).up()
    elif options.what == "down":
        cluster.down()
    elif options.what == "hosts":
        print("\n".join(cluster.hosts))
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
