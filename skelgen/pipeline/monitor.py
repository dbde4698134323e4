"""The monitors of hosts: start, ask and stop them, read their series."""

from __future__ import annotations

import os
import secrets
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from skelgen.documents import json_field
from skelgen.errors import (
    ExitCode,
    InputError,
    SkelgenError,
    UsageError,
)
from skelgen.launch.remote import leave_running, remote
from skelgen.launch.way import Way
from skelgen.monitor.daemon import check_interval
from skelgen.monitor.folders import folder, make_private, this_host
from skelgen.monitor.folders import hosts as known
from skelgen.monitor.links import Links
from skelgen.monitor.process_search import watched_of
from skelgen.monitor.status import Status, read_status, status_of
from skelgen.pipeline.monitor_asking import HostAnswer, handed_on, monitor_do, refusal
from skelgen.pipeline.monitor_links import SECRET, link_words
from skelgen.pipeline.store_typed_runs import inputs_of
from skelgen.store import place_of

#: How long monitors that are steps of an allocation may take to begin [s].
_BEGIN_S = 60.0


def watching_words(
    watch: Sequence[str], inputs: Sequence[str], place: str | None
) -> list[str]:
    """Return the words that have a monitor watch applications.

    What it hands on to others is set in the variables of this process: the store, and
    the inputs of the applications.

    Raises
    ------
    UsageError
        When something is not what it should be.
    """
    if not watch:
        if inputs or place:
            raise UsageError("--input and --store are for --watch; give it as well")
        return []
    watched_of(watch)
    if inputs:
        inputs_of(inputs)
        os.environ["SKELGEN_INPUTS"] = ",".join(inputs)
    store = place_of(place)
    if store.why != "usual":
        absolute = str(Path(store.where).expanduser().absolute())
        os.environ["SKELGEN_STORE"] = store.where if store.is_url else absolute
    return [word for one in watch for word in ("--watch", one)]


def monitor_start(
    hosts: Sequence[str],
    interval_s: float,
    *,
    links: Links | None = None,
    watching: Sequence[str] = (),
    way: Way | None = None,
    prometheus: str = "",
) -> list[HostAnswer]:
    """Start the monitors of hosts, or that of this node when none is named.

    Inside an allocation of a batch system, which ends what its steps leave behind, the
    monitors of other hosts are one step that goes on until the job ends. The secret of
    monitors that probe links is on no command line: it is a new one, or that of the
    variable ``SKELGEN_MONITOR_SECRET``.
    """
    check_interval(interval_s)
    names = list(dict.fromkeys(hosts)) or [this_host()]
    others = [name for name in names if name != this_host()]
    options = ["--interval", f"{interval_s}s", *link_words(links), *watching]
    options += shown_words(prometheus)
    line = [sys.executable, "-m", "skelgen.monitor", "run", *options]
    secret = os.environ.get(SECRET) or secrets.token_hex(32)
    if others:
        together = remote(way or Way.AUTO).together(
            names, [*line, "--tells"], handed_on(watching=bool(watching))
        )
        if together is not None:
            return _as_step(names, together, {SECRET: secret} if links else {})
    given = f"{secret}\n" if links else ""
    words = ["start", *options]
    return monitor_do(names, words, way=way, given=given, watching=bool(watching))


def shown_words(prometheus: str) -> list[str]:
    """Return the words with which a monitor shows its samples to Prometheus."""
    if not prometheus:
        return []
    kind, _, name = prometheus.partition(":")
    if kind not in ("unix", "file") or not name:
        raise UsageError(
            f"--prometheus {prometheus[:100]}: expected unix:PATH or file:PATH.prom"
        )
    place = name if name.startswith("~") else str(Path(name).absolute())
    return ["--prometheus", f"{kind}:{place}"]


def _as_step(
    hosts: Sequence[str], command: Sequence[str], variables: Mapping[str, str]
) -> list[HostAnswer]:
    """Start monitors as a step that goes on; wait until they take samples."""
    log = make_private(folder()) / f"step-{os.getpid()}.log"
    began, end_s = time.time(), time.monotonic() + _BEGIN_S
    step = leave_running(command, log, variables)
    waiting, ended, status = list(hosts), False, 0
    refused: dict[str, HostAnswer] = {}
    while waiting and not ended and time.monotonic() < end_s:
        time.sleep(0.1)
        pid, status = os.waitpid(step, os.WNOHANG)
        ended = pid == step
        refused = _told_by_tasks(log)
        waiting = [
            host
            for host in waiting
            if host not in refused and not _runs_since(host, began)
        ]
    said = log.read_text(errors="replace") if waiting else ""
    exit_code = os.waitstatus_to_exitcode(status) if ended else -1
    for host in waiting:
        about = "its monitor did not begin: "
        refused[host] = refusal(host, said, exit_code, about)
    good = {host: HostAnswer(host, {"host": host, "step": step}) for host in hosts}
    return [refused.get(host, good[host]) for host in hosts]


def _told_by_tasks(log: Path) -> dict[str, HostAnswer]:
    """Return the hosts whose tasks of a step ended with an error, and which.

    The step goes on without them, so its exit code comes too late.
    """
    found = {}
    for line in log.read_text(errors="replace").splitlines():
        if not line.startswith("{"):
            continue
        try:
            said = json_field(line, log).mapping(("host", "error", "code"))
            host, error = said["host"].text(), said["error"].text()
            code = ExitCode(said["code"].integer(0, 255))
        except (InputError, ValueError):
            continue  # another program's, or half of a line
        found[host] = HostAnswer(host, {}, error, code)
    return found


def _runs_since(host: str, when: float) -> bool:
    try:
        status = read_status(host, here=False)
    except SkelgenError:
        return False
    return status.running and status.since >= when - 1.0


def monitor_status(
    hosts: Sequence[str], *, way: Way | None = None
) -> tuple[list[Status], list[HostAnswer]]:
    """Return how the monitors of hosts do, and the hosts that do not answer.

    Without names: all whose files are seen here.
    """
    names = list(dict.fromkeys(hosts)) or known() or [this_host()]
    found, refused = [], []
    for name in names:
        try:
            found.append(read_status(name, here=name == this_host()))
        except InputError as error:
            refused.append(HostAnswer(name, {}, str(error), error.exit_code))
    strangers = [one.host for one in refused if one.host not in known()]
    if not hosts or not strangers:
        return found, refused
    refused = [one for one in refused if one.host not in strangers]
    for answer in monitor_do(strangers, ["status"], way=way):
        status = _status(answer)
        found += [status] if status else []
        refused += [] if status else [answer]
    return found, refused


def _status(answer: HostAnswer) -> Status | None:
    """Return the status that a host told."""
    try:
        return status_of(answer.host, answer.facts)
    except (KeyError, TypeError, ValueError):
        return None


def unit_text(interval_s: float, prometheus: str = "") -> str:
    """Return a systemd unit of the user that keeps the monitor of a node running."""
    check_interval(interval_s)
    shown = "".join(f" {_quoted(word)}" for word in shown_words(prometheus))
    set_here = "".join(
        f"Environment={_quoted(f'{name}={value}')}\n"
        for name, value in handed_on().items()
    )
    return (
        "[Unit]\n"
        "Description=skelgen monitor: how busy this node is\n"
        "\n"
        "[Service]\n"
        f"{set_here}"
        f"ExecStart={_quoted(str(Path(sys.executable)))} -m skelgen.monitor run "
        f"--interval {interval_s:g}s{shown}\n"
        "Restart=on-failure\n"
        "RestartSec=60\n"
        "# It ends with an error when one runs already.\n"
        "RestartPreventExitStatus=2\n"
        "\n"
        "[Install]\n"
        "WantedBy=default.target\n"
    )


def _quoted(text: str) -> str:
    """Quote a word of a unit; percent signs and dollars mean nothing in it."""
    inner = text.replace("\\", "\\\\").replace('"', '\\"')
    return '"' + inner.replace("%", "%%").replace("$", "$$") + '"'
