"""Read what a skeleton prints: its time, and what its ranks did in it."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Iterator, Mapping
from pathlib import Path

from skelgen.documents import Field, json_field
from skelgen.errors import ApplicationError, InputError
from skelgen.prediction.types import Timed

#: Times of each rank that a skeleton prints.
_PARTS = ("compute_s", "mpi_s")


def section(output: str, binary: Path) -> Timed:
    """Find the time of the timed section, and the longest wait of a rank for a core.

    Skeletons of older versions do not say the latter.
    """
    said = _said(output, binary)
    with _refused(binary):
        queued_s = said["queued_s"].numbers() if "queued_s" in said else ()
        known = bool(queued_s) and min(queued_s) >= 0
        queued = max(queued_s) if known else None
        computed_s = said[_PARTS[0]].numbers() if _PARTS[0] in said else ()
        return Timed(
            said["seconds"].positive(),
            queued,
            _computing(said),
            max(computed_s) if any(one > 0 for one in computed_s) else None,
        )


def _computing(said: Mapping[str, Field]) -> float | None:
    """Return the share of computation in the time of all ranks, where it is said."""
    if not all(name in said for name in _PARTS):
        return None
    compute_s, mpi_s = (math.fsum(said[name].numbers()) for name in _PARTS)
    whole_s = compute_s + mpi_s
    return (
        compute_s / whole_s
        if 0 <= compute_s <= whole_s and 0 < whole_s < math.inf
        else None
    )


def section_s(output: str, binary: Path) -> float:
    """Find the time of the timed section in what a skeleton prints [s]."""
    said = _said(output, binary)
    with _refused(binary):
        return said["seconds"].positive()


def shares(output: str, binary: Path) -> tuple[float, float, float]:
    """Find the time that a skeleton prints [s], and computation and MPI in it [1]."""
    said = _said(output, binary)
    with _refused(binary):
        compute_s, mpi_s = (sum(said[name].numbers()) for name in _PARTS)
        whole_s = compute_s + mpi_s
        if not 0 < whole_s < math.inf:
            raise said[_PARTS[0]].error(f"read {whole_s} s with {_PARTS[1]}")
    return section_s(output, binary), compute_s / whole_s, mpi_s / whole_s


@contextlib.contextmanager
def _refused(binary: Path) -> Iterator[None]:
    """Say that what a skeleton printed is not what skeletons print."""
    try:
        yield
    except InputError as error:
        raise ApplicationError(
            f"{binary} printed no time ({error}); expected a line of JSON with its "
            "seconds on its standard output"
        ) from error


def _said(output: str, binary: Path) -> Mapping[str, Field]:
    """Return the last line of JSON with a time; launchers may print around it."""
    for line in reversed(output.splitlines()):
        if line.lstrip().startswith("{"):
            with contextlib.suppress(InputError):
                fields = json_field(line, binary, "what it printed").mapping((), None)
                if "seconds" in fields:
                    fields["seconds"].number()
                    return fields
    raise ApplicationError(
        f"{binary} printed no time; expected a line of JSON with its seconds on its "
        "standard output"
    )
