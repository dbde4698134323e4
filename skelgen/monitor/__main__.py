"""The monitor of a node: ``python -m skelgen.monitor start``.

``skelgen monitor`` is for people; it runs this on each host. Nothing but the standard
library is loaded, so that the process stays small.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import sys
import time
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from skelgen.errors import ExitCode, SkelgenError, UsageError
from skelgen.monitor import daemon
from skelgen.monitor.daemon import Duties
from skelgen.monitor.folders import host_folder, this_host
from skelgen.monitor.link_files import read_links
from skelgen.monitor.links import BUDGET_BYTES, Links, agreed
from skelgen.monitor.process_search import watched_of
from skelgen.monitor.records import columns_of, row_of
from skelgen.monitor.sensor import Sensor
from skelgen.monitor.series import facts_of, read_history
from skelgen.monitor.sightings import ended_sightings, facts_of_sighting
from skelgen.monitor.status import plain, read_status
from skelgen.units import parse_seconds


def main(arguments: Sequence[str] | None = None) -> int:
    """Do what the command line asks for; return the exit code.

    All results are JSON on one line.
    """
    options = _parser().parse_args(arguments)
    try:
        if result := _DO[options.what](options):
            _print(result)
    except SkelgenError as error:
        print(f"skelgen: error: {error}", file=sys.stderr)  # noqa: T201
        if getattr(options, "tells", False):
            code = int(error.exit_code)
            _print({"host": this_host(), "error": str(error), "code": code})
        return int(error.exit_code)
    except KeyboardInterrupt:
        return int(ExitCode.INTERRUPTED)
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m skelgen.monitor",
        description="The monitor of this node; skelgen monitor --help says more.",
    )
    commands = parser.add_subparsers(dest="what", required=True)
    for name in ("start", "run", "once"):
        one = commands.add_parser(name)
        one.add_argument("--interval", default="1s" if name == "once" else "10s")
        if name != "once":
            one.add_argument("--links", default="", help="hosts, with commas between")
            one.add_argument("--link-budget", type=float, default=BUDGET_BYTES)
            one.add_argument("--link-interval", type=float, default=math.nan)
            one.add_argument("--link-port", type=int, default=0)
            one.add_argument("--watch", action="append", default=[])
            one.add_argument("--prometheus", default="", metavar="PLACE")
        if name == "run":  # one task of a step, which goes on without it
            one.add_argument("--tells", action="store_true", help="errors as JSON too")
    commands.add_parser("stop")
    commands.add_parser("status")
    commands.add_parser("sightings")
    for name in ("series", "links"):
        series = commands.add_parser(name)
        series.add_argument("--begin", type=float, default=-math.inf)
        series.add_argument("--end", type=float, default=math.inf)
        series.add_argument("--quantity", action="append", default=[])
    return parser


def _interval_s(options: argparse.Namespace) -> float:
    try:
        interval_s = parse_seconds(options.interval)
    except ValueError as error:
        raise UsageError(f"--interval: {error}") from error
    daemon.check_interval(interval_s)
    return interval_s


def _links(options: argparse.Namespace) -> tuple[Links, str] | None:
    """Return the links to probe and the secret, which is on no command line."""
    if not options.links:
        return None
    links = agreed(
        options.links.split(","),
        options.link_budget,
        options.link_interval,
        options.link_port,
    )
    if not (secret := os.environ.pop("SKELGEN_MONITOR_SECRET", "")):
        secret = sys.stdin.readline(1000).strip() if sys.stdin else ""
    return links, secret


def _duties(options: argparse.Namespace) -> Duties:
    return Duties(_links(options), watched_of(options.watch), options.prometheus)


def _start(options: argparse.Namespace) -> dict[str, Any]:
    pid = daemon.start(_interval_s(options), _duties(options))
    return {"host": this_host(), "pid": pid}


def _run(options: argparse.Namespace) -> dict[str, Any]:
    daemon.serve(_interval_s(options), _duties(options))
    return {}


def _stop(_: argparse.Namespace) -> dict[str, Any]:
    return {"host": this_host(), "pid": daemon.stop()}


def _status(_: argparse.Namespace) -> dict[str, Any]:
    return asdict(read_status(this_host(), here=True))


def _once(options: argparse.Namespace) -> dict[str, Any]:
    sensor = Sensor()
    time.sleep(_interval_s(options))
    sample = sensor.sample()
    row, _ = row_of(sample, time.time())
    known = dict(zip(columns_of(sample), row.values, strict=True))
    return {"host": this_host(), "time": row.time, **known}


def _sightings(_: argparse.Namespace) -> dict[str, Any]:
    sightings, damaged = ended_sightings(host_folder(this_host()))
    said = [facts_of_sighting(sighting) for sighting in sightings]
    return {"host": this_host(), "sightings": said, "damaged": damaged}


def _series(options: argparse.Namespace) -> dict[str, Any]:
    found = read_history(this_host(), options.begin, options.end)
    return facts_of(found, options.quantity)


def _links_series(options: argparse.Namespace) -> dict[str, Any]:
    found = read_links(this_host(), options.begin, options.end)
    return {"links": [facts_of(one, options.quantity) for one in found]}


_DO = {
    "start": _start,
    "run": _run,
    "stop": _stop,
    "status": _status,
    "once": _once,
    "sightings": _sightings,
    "series": _series,
    "links": _links_series,
}


def _print(result: dict[str, Any]) -> None:
    print(json.dumps(plain(result), allow_nan=False))  # noqa: T201


if __name__ == "__main__":
    sys.exit(main())
