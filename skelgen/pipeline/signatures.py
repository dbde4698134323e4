"""From a recorded run to its signature, or a stored signature from disk."""

from __future__ import annotations

import logging
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

from skelgen import __version__
from skelgen.errors import InputError, UsageError
from skelgen.launch.record import RunFacts, read_facts
from skelgen.progress import NO_PROGRESS, Progress

if TYPE_CHECKING:
    from skelgen.events import Events
    from skelgen.matching import Matching
    from skelgen.signature import Provenance, Signature
    from skelgen.trace import Trace

logger = logging.getLogger(__name__)

SIGNATURE_FILE = "signature.yaml"


def read_signature(
    source: Path,
    *,
    similarity_threshold: float | str | None,
    scale: float | None,
    target_s: float | None,
    progress: Progress = NO_PROGRESS,
) -> tuple[Signature, RunFacts | None]:
    """Return the signature of a run, made now or stored, and how the run was started.

    Parameters
    ----------
    source : Path
        Folder of a run, folder of a signature, or its file.
    similarity_threshold : float or str or None
        0 to 1, ``auto``, or None for clusters without gaps.
    scale : float or None
        K [1], for ``auto``.
    target_s : float or None
        Time of the skeleton in place of K [s].
    progress : Progress
    """
    stored = source / SIGNATURE_FILE if source.is_dir() else source
    if is_run(source):
        wanted = _Wanted(similarity_threshold, scale, target_s)
        return signature_of_run(source, wanted, progress), read_facts(source)
    if not stored.is_file():
        what = "holds neither a trace nor" if source.is_dir() else "is not a folder or"
        raise InputError(f"{source} {what} a {SIGNATURE_FILE}; record a run first")
    if similarity_threshold is not None:
        raise UsageError(
            "--similarity-threshold shapes the signature and needs the trace; give the "
            "folder of the recorded run"
        )
    from skelgen.signature import store

    return store.load(stored), None


def is_run(folder: Path) -> bool:
    """Say whether a folder holds rank files."""
    return folder.is_dir() and any(folder.glob("*.skt"))


@dataclass(frozen=True, slots=True)
class _Wanted:
    """The similarity threshold that the user asked for, and K for ``auto``."""

    similarity_threshold: float | str | None
    scale: float | None
    target_s: float | None

    def find(self, events: Events, matching: Matching) -> float | None:
        """Return the threshold, searched for where it is ``auto``.

        References
        ----------
        Sodhi and Subhlok 2005, section III-B: compression ratio Q = K / 2.
        """
        if not isinstance(self.similarity_threshold, str):
            return self.similarity_threshold
        from skelgen.symbols import auto_threshold
        from skelgen.units import seconds

        scale = self.scale or seconds(events.application_ns) / (self.target_s or 1.0)
        found = auto_threshold(events.calls, matching, compression_ratio=scale / 2)
        if not found.reached:
            logger.warning(
                "no similarity threshold up to %g reaches the compression ratio K/2 = "
                "%g (%.3g reached)",
                found.similarity_threshold,
                scale / 2,
                found.compression_ratio,
            )
        return found.similarity_threshold


def signature_of_run(
    folder: Path, wanted: _Wanted, progress: Progress = NO_PROGRESS
) -> Signature:
    """Make the signature of a recorded run: all stages in a row."""
    from skelgen.events import collect
    from skelgen.loops import fold
    from skelgen.matching import match
    from skelgen.signature.summarise import summarise
    from skelgen.symbols import cluster
    from skelgen.trace import open_trace

    run = open_trace(folder, progress)
    progress.start("finding the structure", 5)
    events = collect(run)
    progress.advance(1)
    matching = match(events.calls, completions=False)
    for problem in (*events.warnings, *matching.problems):
        logger.warning("%s", problem)
    progress.advance(1)
    threshold = wanted.find(events, matching)
    symbols = cluster(events, matching, similarity_threshold=threshold)
    progress.advance(1)
    strings = [symbols.symbol[begin:end] for begin, end in pairwise(events.calls.first)]
    nests = [fold(string[string >= 0]) for string in strings]
    progress.advance(1)
    provenance = provenance_of(run, read_facts(folder), threshold)
    signature = summarise(events, symbols, nests, provenance)
    progress.finish()
    return replace(signature, dropped=(*signature.dropped, *_not_recorded(run)))


def _not_recorded(run: Trace) -> list[tuple[str, int, float]]:
    """Return the calls that communicate but became no event.

    The skeleton has their time: it stands there as computation.
    """
    from skelgen.events.passed import passed_on

    reason = "only counted by the recorder; its time became computation"
    return [
        (f"{one.name}: {reason}", one.calls, one.time_s)
        for one in passed_on(run.files)
        if one.communicates
    ]


def provenance_of(
    run: Trace, facts: RunFacts | None, threshold: float | None
) -> Provenance:
    """Say where a signature comes from."""
    from skelgen.signature import Provenance

    first = run.files[0].header
    hosts: dict[str, set[int]] = {}
    for file in run.files:
        hosts.setdefault(file.header.host, set()).add(file.header.world_rank)
    started_s = first.start_realtime_ns / 1e9
    recorded = datetime.fromtimestamp(started_s, UTC).isoformat(timespec="seconds")
    parameters: tuple[tuple[str, str], ...] = ()
    if threshold is not None:
        parameters = (("similarity_threshold", f"{threshold:g}"),)
    return Provenance(
        application=_application(first.program, facts),
        command=facts.command if facts is not None else (),
        mpi=first.mpi_library,
        host=first.host,
        recorded=recorded,
        skelgen=__version__,
        parameters=parameters,
        ranks_per_host=tuple(len(ranks) for ranks in hosts.values()),
    )


def _application(program: str, facts: RunFacts | None) -> str:
    """Name a program: as it was launched, because an interpreter may have run it."""
    if facts is not None:
        from skelgen.errors import SkelgenError
        from skelgen.launch import parse_command

        try:
            launched = parse_command(facts.command, program_needed=False).program
        except SkelgenError:
            launched = facts.command[-1:]
        scripts = [word for word in launched[1:] if word.endswith(".py")]
        name = Path(launched[0]).name if launched else program
        return Path(scripts[0]).name if scripts and "python" in name else name
    return Path(program).name or "application"
