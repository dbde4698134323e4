"""Where a signature or phases come from: the program, its launch, its hosts."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime

from skelgen import __version__
from skelgen.errors import SkelgenError
from skelgen.launch.command import program_words
from skelgen.launch.mpi import kind_of
from skelgen.launch.names import application_name
from skelgen.launch.record import RunFacts
from skelgen.signature import Provenance
from skelgen.trace import Trace
from skelgen.trace.types import Header


def provenance_of(
    run: Trace, facts: RunFacts | None, threshold: float | None
) -> Provenance:
    """Say where a signature comes from."""
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
        application=application_of(first, facts),
        command=facts.command if facts is not None else (),
        mpi=first.mpi_library,
        host=first.host,
        recorded=recorded,
        skelgen=__version__,
        parameters=parameters,
        ranks_per_host=tuple(len(ranks) for ranks in hosts.values()),
    )


def application_of(header: Header, facts: RunFacts | None) -> str:
    """Name a program: as it was launched, because an interpreter may have run it."""
    program: Sequence[str] = [header.program]
    if facts is not None:
        try:
            launched = program_words(facts.command, kind_of(header.mpi_library))
        except SkelgenError:
            launched = [*facts.command[-1:]]
        program = launched or program
    return application_name(program) or "application"
