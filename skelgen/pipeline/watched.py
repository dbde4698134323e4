"""Runs that monitors watched: join what nodes saw of them, and hand them to the store.

Monitors share no network. Each keeps its sightings of runs in its own folder; who hands
runs over reads the folders that are seen here, and asks the other hosts.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import logging
import math
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from skelgen.errors import MachineError, SkelgenError, UsageError
from skelgen.launch.allocation import batch_job
from skelgen.launch.files import file_hashes
from skelgen.pipeline.monitor_series import histories
from skelgen.pipeline.monitoring import monitor_do
from skelgen.pipeline.storing_typed import filled, inputs_of

if TYPE_CHECKING:
    from skelgen.launch.through import Way
    from skelgen.monitor.averages import Curve
    from skelgen.monitor.series import History
    from skelgen.monitor.sightings import Sighting
    from skelgen.store import Run

logger = logging.getLogger(__name__)

#: Clocks of nodes, and ranks of one launch, may begin so far apart [s].
_APART_S = 300.0
#: Series are read for so much longer than the run [s].
_AROUND_S = 300.0
#: What a run counts of interfaces, by series.
_BYTES = {
    "received_bytes_per_s:": "received_bytes",
    "sent_bytes_per_s:": "sent_bytes",
}


@dataclass(frozen=True, slots=True)
class WatchedRun:
    """A run of a watched application, from all nodes that told of it.

    Attributes
    ----------
    sightings : tuple of Sighting
        In the order of their smallest ranks.
    """

    sightings: tuple[Sighting, ...]

    @property
    def ranks(self) -> frozenset[int]:
        """Return the ranks that were seen."""
        return frozenset(rank for sighting in self.sightings for rank in sighting.ranks)

    @property
    def complete(self) -> bool:
        """Return whether all ranks of the launch were seen."""
        first = self.sightings[0]
        return not first.key or len(self.ranks) >= first.size

    @property
    def hosts(self) -> tuple[str, ...]:
        """Return the hosts, each once."""
        return tuple(dict.fromkeys(sighting.host for sighting in self.sightings))

    @property
    def began(self) -> float:
        """Return when its first process began, seconds since 1970 in UTC [s]."""
        return min(sighting.began for sighting in self.sightings)

    @property
    def time_s(self) -> float:
        """Return the time until its last process ended [s]."""
        if len(self.sightings) == 1:
            return self.sightings[0].time_s
        return max(sighting.end for sighting in self.sightings) - self.began

    @property
    def identity(self) -> str:
        """Return the same for the same run, whoever joins its sightings."""
        text = "\n".join(sorted(sighting.identity for sighting in self.sightings))
        return hashlib.sha256(f"watched\n{text}".encode()).hexdigest()[:32]

    @property
    def status(self) -> str:
        """Return how it ended: what failed first is the cause."""
        order = sorted(self.sightings, key=lambda sighting: sighting.end)
        bad = [sighting.status for sighting in order if sighting.status != "ok"]
        told = [one for one in bad if one not in ("unknown", "unseen")]
        return (told or ["unseen"] * ("unseen" in bad) or bad or ["ok"])[0]


@dataclass(frozen=True, slots=True)
class HandedOver:
    """What became of the runs that monitors watched.

    Attributes
    ----------
    added : tuple of Run
        Those that the store did not have.
    already : int
        So many it had.
    waiting : tuple of WatchedRun
        Those of which other nodes have not told yet.
    """

    added: tuple[Run, ...] = ()
    already: int = 0
    waiting: tuple[WatchedRun, ...] = ()


def joined(sightings: Iterable[Sighting]) -> list[WatchedRun]:
    """Join the sightings of runs by their launches.

    Several runs of one launch, as of a script that runs a program twice in each task of
    a job step, are told apart by their ranks: no rank is in a run twice.

    Parameters
    ----------
    sightings : iterable of Sighting
        Of any hosts, in any order.
    """
    found: list[list[Sighting]] = []
    open_: dict[tuple[str, str, int], list[list[Sighting]]] = {}
    for sighting in sorted(sightings, key=lambda one: (one.began, one.identity)):
        if not sighting.key:
            found.append([sighting])
            continue
        same = open_.setdefault((sighting.application, sighting.key, sighting.size), [])
        for run in same:
            taken = {rank for one in run for rank in one.ranks}
            near = sighting.began <= max(one.end for one in run) + _APART_S
            if near and not taken & set(sighting.ranks):
                run.append(sighting)
                break
        else:
            same.append([sighting])
            found.append(same[-1])
    return [
        WatchedRun(tuple(sorted(run, key=lambda p: (p.ranks or (0,), p.host))))
        for run in found
    ]


def hand_over(
    hosts: Sequence[str] = (),
    place: str | None = None,
    *,
    way: Way | None = None,
    again: bool = False,
) -> HandedOver:
    """Join what monitors saw of runs, and add the runs to the store.

    Parameters
    ----------
    hosts : sequence of str
        Without names all whose files are seen here.
    place : str, optional
        Of the store; see `skelgen.store.place_of`.
    way : Way, optional
        How hosts are reached whose files are not seen here.
    again : bool
        Also those that the store had once, as after some were removed.

    Raises
    ------
    SkelgenError
        When a host does not answer, or the store cannot be written: then all stay
        where they are.
    """
    from skelgen.store import open_store, place_of

    shown = place_of(place).shown
    runs = joined(_sightings(hosts, way))
    done = set() if again else _handed(shown)
    ready = [one for one in runs if one.complete and one.identity not in done]
    waiting = tuple(one for one in runs if not one.complete)
    if not ready:
        return HandedOver((), sum(one.complete for one in runs), waiting)
    made = [_run(one, _histories(one, way)) for one in ready]
    with open_store(place) as store:
        found = store.add(made)
    if found.refused:
        raise MachineError(f"a watched run is not kept: {found.refused[0].reason}")
    _note(shown, [one.identity for one in made])
    new = {one.run for one in found.added}
    added = tuple(run for run in made if run.identity in new)
    already = sum(one.complete for one in runs) - len(added)
    return HandedOver(added, already, waiting)


def _sightings(hosts: Sequence[str], way: Way | None) -> list[Sighting]:
    """Return what monitors saw; from files seen here, else from the hosts."""
    from skelgen.monitor.places import host_folder, this_host
    from skelgen.monitor.places import hosts as known
    from skelgen.monitor.sightings import ended_sightings

    here = {*known(), this_host()}
    found: list[Sighting] = []
    for name in list(dict.fromkeys(hosts)) or sorted(here):
        if name not in here:
            continue
        sightings, damaged = ended_sightings(host_folder(name))
        found += sightings
        for line in damaged:
            logger.warning("%s; it is left out", line)
    strangers = [name for name in hosts if name not in here]
    return found + (_asked(strangers, way) if strangers else [])


def _asked(hosts: Sequence[str], way: Way | None) -> list[Sighting]:
    from skelgen.errors import ApplicationError, InputError
    from skelgen.monitor.sightings import SightingError, sighting_of

    found = []
    for answer in monitor_do(hosts, ["sightings"], way=way):
        if answer.error:
            raise ApplicationError(f"host {answer.host}: {answer.error}")
        try:
            found += [sighting_of(one) for one in answer.facts["sightings"]]
        except (SightingError, KeyError, TypeError) as error:
            raise InputError(
                f"host {answer.host}: not the runs of a monitor; is the same skelgen "
                "installed there?"
            ) from error
    return found


def _histories(run: WatchedRun, way: Way | None) -> list[History]:
    """Return the series of the hosts of a run; none where they cannot be had."""
    try:
        begin, end = run.began - _AROUND_S, run.began + run.time_s + _AROUND_S
        return histories(run.hosts, begin, end, way=way)
    except SkelgenError as error:
        logger.info("no loads of a run: %s", error)
        return []


def _run(one: WatchedRun, found: Sequence[History]) -> Run:
    from skelgen.store import Run

    first = one.sightings[0]
    size = first.size or (
        1 if sum(sighting.processes for sighting in one.sightings) == 1 else 0
    )
    known = {
        name: value
        for sighting in one.sightings
        for name, value in _jobs(sighting).items()
    }
    inputs = next(
        (sighting.inputs for sighting in one.sightings if sighting.inputs), ""
    )
    run = Run(
        application=first.application,
        time_s=one.time_s,
        ranks=size,
        executable=_executable(one),
        inputs=_inputs(inputs),
        hosts=one.hosts,
        allocation=batch_job(known),
        started=one.began,
        status=one.status,
        loads=tuple(sorted(loads(found, one.began, one.began + one.time_s).items())),
        costs=tuple(sorted({**_costs(one), **_bytes(one, found)}.items())),
        source=f"monitor of {','.join(one.hosts)}",
        identity=one.identity,
    )
    return filled(run)


def _jobs(sighting: Sighting) -> Mapping[str, str]:
    return sighting.jobs or {}


def _inputs(text: str) -> tuple[tuple[str, float | str], ...]:
    """Read inputs as the user named them; what cannot be read stays a word."""
    if not text.strip():
        return ()
    try:
        return inputs_of([text])
    except UsageError as error:
        logger.warning("SKELGEN_INPUTS=%s: %s", text[:60], error)
        return (("inputs", text[:1000]),)


def _executable(one: WatchedRun) -> str:
    """Return the hash of the program, if its file is the one that ran."""
    program = one.sightings[0].program
    with contextlib.suppress(OSError, SkelgenError):
        if program and Path(program).stat().st_mtime <= one.began:
            hashes = file_hashes([program])
            return hashes[0][1] if hashes else ""
    return ""


def _costs(one: WatchedRun) -> dict[str, float]:
    total: dict[str, float] = {}
    for sighting in one.sightings:
        for name, value in (sighting.costs or {}).items():
            total[name] = total.get(name, 0.0) + value
    return total


def _bytes(one: WatchedRun, found: Sequence[History]) -> dict[str, float]:
    """Return the bytes on all interfaces of the nodes during the run."""
    from skelgen.monitor.averages import avg_min

    total: dict[str, float] = {}
    for history in found:
        for name, curve in history.curves.items():
            for begin, cost in _BYTES.items():
                if name.startswith(begin):
                    mean = avg_min([curve], one.began, one.began + one.time_s).value
                    if math.isfinite(mean):
                        total[cost] = total.get(cost, 0.0) + round(mean * one.time_s)
    return total


def loads(found: Sequence[History], begin: float, end: float) -> dict[str, float]:
    """Return the loads of nodes during a run, without that of the run itself.

    Parameters
    ----------
    found : sequence of History
        Of the nodes.
    begin, end : float
        Of the run, seconds since 1970 in UTC [s].

    Returns
    -------
    dict of str to float
        ``cpu_start`` before it began, and the averages ``cpu_avg_min`` and
        ``cpu_min_avg``; those that are not known are left out.
    """
    from skelgen.monitor.averages import avg_min, min_avg

    curves = [_others(history) for history in found]
    if not curves or any(curve is None for curve in curves):
        return {}
    known = [curve for curve in curves if curve is not None]
    before = [_before(curve, begin) for curve in known]
    values = {
        "cpu_start": min(before),
        "cpu_avg_min": avg_min(known, begin, end).value,
        "cpu_min_avg": min_avg(known, begin, end).value,
    }
    return {name: value for name, value in values.items() if math.isfinite(value)}


def _others(history: History) -> Curve | None:
    """Return the CPU that others left on a node.

    While an application is watched that is a series of its own.
    """
    from skelgen.monitor.averages import Curve

    cpu, left = history.curves.get("cpu"), history.curves.get("cpu_left")
    if cpu is None or left is None:
        return cpu
    known = dict(zip(left.times, left.values, strict=True))
    pairs = zip(cpu.times, cpu.values, strict=True)
    return Curve(cpu.times, [known.get(time, value) for time, value in pairs])


def _before(curve: Curve, begin: float) -> float:
    """Return the last value before a time; nan where there is none."""
    values = [v for t, v in zip(curve.times, curve.values, strict=True) if t <= begin]
    return values[-1] if values else math.nan


def _handed(shown: str) -> set[str]:
    """Return the runs that a store was given."""
    from skelgen.monitor.places import folder
    from skelgen.monitor.sightings import HANDED

    found = set()
    path = folder() / HANDED
    with (
        contextlib.suppress(OSError),
        path.open(encoding="utf-8", errors="replace") as file,
    ):
        for line in file:
            with contextlib.suppress(ValueError, TypeError, KeyError):
                said = json.loads(line)
                if said["store"] == shown:
                    found.add(said["run"])
    return found


def _note(shown: str, identities: Sequence[str]) -> None:
    """Remember runs that a store was given; else they are only offered again."""
    from skelgen.monitor.places import folder, make_private
    from skelgen.monitor.sightings import HANDED

    with contextlib.suppress(OSError, SkelgenError):
        path = make_private(folder()) / HANDED
        flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW
        handle = os.open(path, flags, 0o600)
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.writelines(
                json.dumps({"run": one, "store": shown}) + "\n" for one in identities
            )
