"""Ask the monitors of hosts, here or through the network."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from skelgen.documents import json_field
from skelgen.errors import (
    ApplicationError,
    ExitCode,
    InputError,
    MachineError,
    SkelgenError,
    UsageError,
)
from skelgen.launch import remote as remotes
from skelgen.launch.process import Finished, telling_line
from skelgen.launch.way import Way
from skelgen.monitor.folders import this_host
from skelgen.store import place_of

#: What decides on a host where Python and the files are.
_HANDED_ON = ("PYTHONPATH", "SKELGEN_MONITOR", "SKELGEN_STATE", "XDG_STATE_HOME")
#: How an error of a monitor begins, and the kinds that it tells by its exit code.
_ERROR = "skelgen: error: "
_KINDS: Mapping[int, type[SkelgenError]] = {
    kind.exit_code: kind for kind in (UsageError, InputError, MachineError)
}
#: What it needs besides to watch applications.
_WATCHING = ("SKELGEN_STORE", "XDG_DATA_HOME", "SKELGEN_INPUTS")
#: Longest time of a command on a host, beyond what it waits for on purpose [s].
_LIMIT_S = 60.0


@dataclass(frozen=True, slots=True)
class HostAnswer:
    """What a host said.

    Attributes
    ----------
    host : str
    facts : Mapping
        Empty when it refused.
    error : str
        Why it refused; else empty.
    code : ExitCode
        Of that kind of error: the same whether the monitor here says it or one that is
        asked through the network.
    """

    host: str
    facts: Mapping[str, Any]
    error: str = ""
    code: ExitCode = ExitCode.APPLICATION


def monitor_do(
    hosts: Sequence[str],
    words: Sequence[str],
    *,
    way: Way | None = None,
    waits_s: float = 0.0,
    given: str = "",
    watching: bool = False,
) -> list[HostAnswer]:
    """Run a command of the monitor on hosts, or here when none is named.

    Parameters
    ----------
    hosts : sequence of str
    words : sequence of str
        ``status``, or ``once --interval 1s``.
    way : Way, optional
        How hosts are reached.
    waits_s : float
        What the command waits for on purpose [s].
    given : str
        A few words that it reads on its standard input.
    watching : bool
        Whether hosts need what monitors need that watch applications.
    """
    line = [sys.executable, "-m", "skelgen.monitor", *words]
    here = this_host()
    names = list(dict.fromkeys(hosts)) or [here]
    commands = {name: line for name in names if name == here}
    if others := [name for name in names if name != here]:
        reach = remotes.remote(way or Way.AUTO)
        variables = handed_on(watching=watching)
        commands |= {n: reach.command(n, line, variables) for n in others}
    done = remotes.on_each(
        {name: commands[name] for name in names},
        limit_s=_LIMIT_S + waits_s,
        given=given,
    )
    return [_answer(name, done[name]) for name in names]


def handed_on(*, watching: bool = False) -> dict[str, str]:
    """Return variables for other hosts, where others can read them."""
    names = (*_HANDED_ON, *_WATCHING) if watching else _HANDED_ON
    found = {name: os.environ[name] for name in names if os.environ.get(name)}
    if "SKELGEN_STORE" in found and (place := place_of()).shown != place.where:
        raise UsageError(
            f"{place.shown}: its URL has more than others may read on the hosts; leave "
            "the password to ~/.pgpass there"
        )
    return found


def _answer(host: str, done: Finished) -> HostAnswer:
    if done.timed_out:
        return HostAnswer(host, {}, f"no answer within {done.time_s:.0f} s")
    if done.exit_code:
        return refusal(host, done.errors or done.output, done.exit_code)
    try:
        # Shells of hosts may say something first.
        facts = json_field(done.output.strip().splitlines()[-1], Path(host))
        facts.mapping(optional=None)
    except (InputError, IndexError):
        return HostAnswer(host, {}, f"not the answer of a monitor: {done.complaint}")
    return HostAnswer(host, facts.value)


def refusal(host: str, said: str, exit_code: int, about: str = "") -> HostAnswer:
    """Return the answer of a host whose monitor, or the way to it, failed."""
    ours = [line for line in said.splitlines() if line.startswith(_ERROR)]
    if not ours:
        text = telling_line(said)
        if not said.strip():
            text = f"exit code {exit_code} and no word; does ssh {host} true work?"
        return HostAnswer(host, {}, f"{about}{text}")
    code = ExitCode.APPLICATION
    if exit_code in _KINDS:
        code = ExitCode(exit_code)
    return HostAnswer(host, {}, f"{about}{ours[0].removeprefix(_ERROR)}", code)


def failure(answer: HostAnswer) -> SkelgenError:
    """Return the error of a host's answer, of the kind that its exit code tells."""
    kind = _KINDS.get(answer.code, ApplicationError)
    return kind(f"host {answer.host}: {answer.error}")
