"""Options that several commands share, and how their values are read."""

from __future__ import annotations

import logging
import platform
import shlex
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from skelgen import __version__
from skelgen.cli.output import say
from skelgen.errors import UsageError
from skelgen.launch.hosts import Host, parse_hosts, read_hostfile
from skelgen.launch.way import Way
from skelgen.units import parse_bytes, parse_seconds

if TYPE_CHECKING:
    from skelgen.launch.consent import Consent
    from skelgen.launch.hosts import Host
    from skelgen.launch.launch_method import Through

logger = logging.getLogger(__name__)

StorePlace = Annotated[
    str | None,
    typer.Option(
        "--store",
        metavar="FILE|URL",
        help="The store.",
        show_default="SKELGEN_STORE, else one in your data folder",
    ),
]


def _set_level(count: int) -> int:
    level = {0: None, 1: logging.INFO}.get(count, logging.DEBUG)
    if level is not None:
        logging.getLogger("skelgen").setLevel(level)
        python = f"Python {platform.python_version()} ({sys.executable})"
        logger.debug("skelgen %s, %s, in %s", __version__, python, Path.cwd())
    return count


Verbose = Annotated[
    int,
    typer.Option(
        "-v",
        "--verbose",
        count=True,
        callback=_set_level,
        show_default=False,
        help="Say what is done; twice for details.",
    ),
]
Json = Annotated[bool, typer.Option("--json", help="Print the result as JSON.")]
Force = Annotated[
    bool,
    typer.Option("--force", help="Replace an output of the same kind from skelgen."),
]
Strict = Annotated[
    bool,
    typer.Option("--strict", help="Fail with exit code 6 outside the trusted range."),
]
RunFolder = Annotated[
    Path,
    typer.Argument(metavar="RUN", help="Folder of a recorded run.", show_default=False),
]
ApplicationCommand = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="[-- COMMAND]",
        help="Launch of the application; that of the recording when not given.",
        show_default=False,
    ),
]
AllowCommand = Annotated[
    bool,
    typer.Option(
        "--allow-command",
        help="Run the launch that a file names although you never made it yourself, "
        "and skeletons that belong to other users.",
    ),
]

NodeSetFiles = Annotated[
    list[Path] | None,
    typer.Option(help="A node set in a file, of Open MPI or of MPICH."),
]
Budget = Annotated[
    str,
    typer.Option(
        help="No further run begins after this time; predict makes three of each set "
        "in any case."
    ),
]
IntervalBound = Annotated[
    str, typer.Option(help="Stop when the measured time is known to this share.")
]
ThroughWay = Annotated[
    Way,
    typer.Option(
        "--through",
        help="How runs reach hosts: a launcher here (local), or jobs of a batch "
        "system, steps inside its allocation; auto takes steps where it can, else "
        "local.",
    ),
]
BatchOptions = Annotated[
    str,
    typer.Option(help='Options for sbatch, qsub or flux batch: "-p short -A acct".'),
]
QueueLimit = Annotated[
    str, typer.Option(help="A job that waits longer for its hosts is cancelled.")
]
Resume = Annotated[
    bool, typer.Option("--resume", help="Go on with the runs of the call before.")
]


def consent_of(allowed: bool) -> Consent:
    """Read ``--allow-command``; without it a person at a terminal is asked."""
    from skelgen.launch.consent import Consent

    if not allowed and sys.stdin.isatty() and sys.stderr.isatty():
        return Consent(ask=_ask)
    return Consent(allowed)


def _ask(what: str) -> bool:
    say(f"skelgen: {' '.join(what.split())}", err=True)
    return typer.confirm("This launch is not one of yours. Run it?", err=True)


def node_sets_of(
    hosts: Sequence[str] | None, hostfiles: Sequence[Path] | None
) -> list[tuple[Host, ...]]:
    """Read the options that name node sets."""
    found = [parse_hosts(text) for text in hosts or ()]
    return found + [read_hostfile(path) for path in hostfiles or ()]


def through_of(way: Way, batch_options: str, queue_limit: str) -> Through:
    """Read the options that say how runs reach their hosts."""
    from skelgen.launch.launch_method import Through

    try:
        words = tuple(shlex.split(batch_options))
    except ValueError as error:
        raise UsageError(f"--batch-options {batch_options}: {error}") from error
    return Through(way, words, duration_s(queue_limit, "--queue-limit"))


def duration_s(text: str, option: str) -> float:
    """Read the value of an option that is a duration [s]."""
    try:
        return parse_seconds(text)
    except ValueError as error:
        raise UsageError(f"{option}: {error}") from error


def size_bytes(text: str, option: str) -> int:
    """Read the value of an option that is a size [bytes]."""
    try:
        return parse_bytes(text)
    except ValueError as error:
        raise UsageError(f"{option}: {error}") from error


def share(text: str, option: str, *, whole: bool = False) -> float:
    """Read the value of an option that is a share, ``5%`` or ``0.05`` [1].

    With `whole`, 100% is a share as well.
    """
    number = text.strip().removesuffix("%")
    try:
        value = float(number) / (100 if "%" in text else 1)
    except ValueError as error:
        raise UsageError(f"{option} {text}: expected a share such as 5%") from error
    if not (0 < value < 1 or (whole and value == 1)):
        expected = "above 0%, up to 100%" if whole else "between 0% and 100%"
        raise UsageError(f"{option} {text}: expected a share {expected}")
    return value
