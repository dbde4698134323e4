"""From recorded runs and phase signatures to runs with their phases as parts."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from skelgen.errors import InputError
from skelgen.launch.record import RunFacts
from skelgen.phases.stored import PhaseSignature
from skelgen.phases.types import Phase
from skelgen.store.formats.cells import status_of
from skelgen.store.formats.identity import identity_of
from skelgen.store.formats.limits import LimitError, check_run
from skelgen.store.formats.typed_values import NOTHING, TypedValues
from skelgen.store.rows import Run, RunPart
from skelgen.trace import Trace
from skelgen.units import NS_PER_S

PHASE = "phase"


def recorded(
    folder: Path,
    trace: Trace,
    facts: RunFacts | None,
    time_s: float,
    known: TypedValues = NOTHING,
) -> Run:
    """Return a recorded run.

    Parameters
    ----------
    folder : Path
    trace : Trace
    facts : RunFacts or None
        How it was launched; None when it was recorded by hand.
    time_s : float
        From ``MPI_Init`` to ``MPI_Finalize`` [s].
    known : TypedValues
    """
    heads = [file.header for file in trace.files if not file.header.thread]
    first = min(heads, key=lambda head: head.world_rank)
    begun_ns = min(head.start_realtime_ns for head in heads)
    per_host: dict[str, int] = {}
    for head in sorted(heads, key=lambda head: head.world_rank):
        per_host[head.host] = per_host.get(head.host, 0) + 1
    run = Run(
        application=known.application or Path(first.program).name,
        time_s=time_s,
        ranks=trace.world_size,
        nodes=len(per_host),
        ranks_per_node=_each(tuple(per_host.values())),
        executable=_executable(facts, first.program),
        hosts=tuple(per_host),
        allocation="" if facts is None else facts.allocation,
        started=begun_ns / 1e9,
        status="ok" if facts is None else status_of(facts.exit_code),
        mpi=first.mpi_library,
        costs=() if facts is None else (("wall_s", facts.duration_s),),
        source=str(folder),
        identity=_identity(
            first.start_realtime_ns // NS_PER_S, trace.world_size, time_s
        ),
    )
    return _complete(folder, run, known)


def with_phases(run: Run, signature: PhaseSignature) -> Run:
    """Return a run with the phases of its signature as parts.

    Raises
    ------
    InputError
        When the signature is of another run.
    """
    if signature.ranks != run.ranks or not math.isclose(
        signature.application_s, run.time_s, rel_tol=1e-6
    ):
        raise InputError(
            f"{run.source}: took {run.time_s:.6g} s with {run.ranks} ranks, the phase "
            f"signature is of a run of {signature.application_s:.6g} s with "
            f"{signature.ranks}; make it again: skelgen phases RUN -o SIG"
        )
    return replace(run, parts=_parts(signature))


def of_signature(
    file: Path, found: PhaseSignature, known: TypedValues = NOTHING
) -> Run:
    """Return the run that a phase signature was made of."""
    origin = found.provenance
    run = Run(
        application=known.application or Path(origin.application).name,
        time_s=found.application_s,
        ranks=found.ranks,
        nodes=len(origin.ranks_per_host),
        ranks_per_node=_each(origin.ranks_per_host),
        executable=found.files[0][1] if found.files else "",
        started=_date(origin.recorded),
        mpi=origin.mpi,
        parts=_parts(found),
        source=str(file),
        identity=_identity(_date(origin.recorded), found.ranks, found.application_s),
    )
    return _complete(file, run, known)


def parts_of(
    phases: Iterable[tuple[str, float, float]], whole_s: float
) -> tuple[RunPart, ...]:
    """Return phases as parts; those with one key are one part.

    Parameters
    ----------
    phases : iterable of (str, float, float)
        Key, weight and mean time of an occurrence [s].
    whole_s : float
        Time of the run [s].
    """
    together: dict[str, list[tuple[float, float]]] = {}
    for key, weight, time_s in phases:
        together.setdefault(key, []).append((weight, time_s))
    parts = []
    for key, pairs in together.items():
        weight = math.fsum(one for one, _ in pairs)
        total_s = math.fsum(one * time_s for one, time_s in pairs)
        share = min(1.0, total_s / whole_s) if whole_s > 0 else 0.0
        mean_s = pairs[0][1] if len(pairs) == 1 else total_s / weight
        parts.append(RunPart(key, PHASE, mean_s, weight, share))
    return tuple(parts)


def _parts(signature: PhaseSignature) -> tuple[RunPart, ...]:
    phases: Sequence[Phase] = [one.phase for one in signature.phases]
    return parts_of(
        ((one.key, float(one.weight), one.time_s) for one in phases),
        signature.application_s,
    )


def _each(ranks_per_host: Sequence[int]) -> int:
    """Return the ranks per node, where all nodes have as many."""
    return ranks_per_host[0] if len(set(ranks_per_host)) == 1 else 0


def _executable(facts: RunFacts | None, program: str) -> str:
    """Return the hash of the program among those of the launch."""
    files = () if facts is None else facts.files
    name = Path(program).name
    return next((found for path, found in files if Path(path).name == name), "")


def _identity(second: float, ranks: int, time_s: float) -> str:
    """Return the identity of a run, the same for its phase signature.

    Parameters
    ----------
    second : float
        When rank 0 began, without its fraction [s].
    ranks : int
    time_s : float
    """
    return identity_of("recorded", f"{second:.0f}", ranks, f"{time_s:.6g}")


def _date(text: str) -> float:
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        return math.nan
    return (found if found.tzinfo else found.replace(tzinfo=UTC)).timestamp()


def _complete(file: Path, run: Run, known: TypedValues) -> Run:
    try:
        return check_run(known.complete(run))
    except LimitError as error:
        raise InputError(f"{file}: {error}") from error
