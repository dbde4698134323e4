"""From a recorded run to its signature, or a stored signature from disk."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from skelgen.documents.budget import Budget, BudgetError
from skelgen.errors import InputError, UsageError
from skelgen.events import Events
from skelgen.launch.record import RunFacts, read_facts
from skelgen.pipeline.build_team import ALONE, Team
from skelgen.pipeline.compile import WantedSimilarity, signature_of_run
from skelgen.pipeline.source_kinds import SIGNATURE_FILE, is_run
from skelgen.progress import NO_PROGRESS, Progress
from skelgen.signature import Signature, store
from skelgen.signature.expand import extent

#: What planning a skeleton takes for each call of the run; docs/large_runs.md [bytes].
_CALL_BYTES = 83
#: What it takes for each request that a call completes [bytes].
_REQUEST_BYTES = 24


def read_signature(
    source: Path,
    *,
    similarity_threshold: float | str | None,
    scaling_factor: float | None,
    target_s: float | None,
    progress: Progress = NO_PROGRESS,
    team: Team = ALONE,
    look: Callable[[Events, range, Team], None] | None = None,
) -> tuple[Signature, RunFacts | None]:
    """Return the signature of a run, made now or stored, and how the run was started.

    Parameters
    ----------
    source : Path
        Folder of a run, folder of a signature, or its file.
    similarity_threshold : float or str or None
        0 to 1, ``auto``, or None for clusters without gaps.
    scaling_factor : float or None
        K [1], for ``auto``.
    target_s : float or None
        Time of the skeleton in place of K [s].
    progress : Progress
    team : Team
        Only its first process gets a signature.
    look : callable, optional
        Shown the calls of a run, in each process those of its ranks.
    """
    if team.share(team.first(lambda: is_run(source))):
        wanted = WantedSimilarity(similarity_threshold, scaling_factor, target_s)
        found = signature_of_run(source, wanted, progress, team, look)
        return found, read_facts(source)
    asked = similarity_threshold is not None
    return team.first(lambda: _stored(source, threshold_asked=asked)), None


def _stored(source: Path, *, threshold_asked: bool) -> Signature:
    stored = source / SIGNATURE_FILE if source.is_dir() else source
    if not stored.is_file():
        what = "holds neither a trace nor" if source.is_dir() else "is not a folder or"
        raise InputError(f"{source} {what} a {SIGNATURE_FILE}; record a run first")
    if threshold_asked:
        raise UsageError(
            "--similarity-threshold shapes the signature and needs the trace; give the "
            "folder of the recorded run"
        )
    signature = store.load(stored)
    calls, requests = extent(signature)
    size_bytes = _CALL_BYTES * calls + _REQUEST_BYTES * requests
    try:
        Budget().take(size_bytes, f"the {calls} calls of its loops")
    except BudgetError as error:
        raise InputError(f"{stored}: {error}") from error
    return signature
