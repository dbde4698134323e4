"""Hand runs that monitors watched to the store, each once.

Monitors share no network. Each keeps its sightings of runs in its own folder; who hands
runs over reads the folders that are seen here, and asks the other hosts.
"""

from __future__ import annotations

import contextlib
import json
import logging
import os
from collections.abc import Sequence
from dataclasses import dataclass

from skelgen.errors import ApplicationError, InputError, MachineError, SkelgenError
from skelgen.launch.way import Way
from skelgen.monitor.folders import folder, host_folder, make_private, this_host
from skelgen.monitor.folders import hosts as known
from skelgen.monitor.series import HostHistory
from skelgen.monitor.sightings import (
    HANDED,
    Sighting,
    SightingError,
    ended_sightings,
    sighting_of,
)
from skelgen.pipeline.monitor_asking import monitor_do
from skelgen.pipeline.monitor_run_joins import WatchedRun, joined
from skelgen.pipeline.monitor_run_rows import row_of_run
from skelgen.pipeline.monitor_series import histories
from skelgen.store import Run, open_store, place_of

logger = logging.getLogger(__name__)

#: Series are read for so much longer than the run [s].
_AROUND_S = 300.0


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
    shown = place_of(place).shown
    runs = joined(_sightings(hosts, way))
    done = set() if again else _handed(shown)
    ready = [one for one in runs if one.complete and one.identity not in done]
    waiting = tuple(one for one in runs if not one.complete)
    if not ready:
        return HandedOver((), sum(one.complete for one in runs), waiting)
    made = [row_of_run(one, _histories(one, way)) for one in ready]
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


def _histories(run: WatchedRun, way: Way | None) -> list[HostHistory]:
    """Return the series of the hosts of a run; none where they cannot be had."""
    try:
        begin, end = run.began - _AROUND_S, run.began + run.time_s + _AROUND_S
        return histories(run.hosts, begin, end, way=way)
    except SkelgenError as error:
        logger.info("no loads of a run: %s", error)
        return []


def _handed(shown: str) -> set[str]:
    """Return the runs that a store was given."""
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
    with contextlib.suppress(OSError, SkelgenError):
        path = make_private(folder()) / HANDED
        flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW
        handle = os.open(path, flags, 0o600)
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.writelines(
                json.dumps({"run": one, "store": shown}) + "\n" for one in identities
            )
