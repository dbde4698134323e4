"""What of a signature says nothing about who recorded it, where, and how."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from skelgen import __version__
from skelgen.launch.mpi import MpiKind, parse_version
from skelgen.signature.types import Provenance, Signature
from skelgen.trust.recording_doubts import Unseen

#: Between a call site and its callers.
_CALLED_BY = " < "
_SITE = re.compile(r"(.*)\+(0x[0-9a-f]{1,16})", re.DOTALL)
_DATE = re.compile(r"(\d{4}-(?:0[1-9]|1[0-2]))(-.*)?", re.DOTALL)
_VERSION = re.compile(r"\d{1,4}(\.\d{1,4}){1,3}((a|b|rc)\d{1,3})?")
_NUMBER = re.compile(r"\d{1,3}(\.\d{1,17})?(e[+-]?\d{1,3})?")


@dataclass(frozen=True, slots=True)
class Given:
    """What is given away, and what is not.

    Attributes
    ----------
    left_out, kept : tuple of str
        A phrase for each thing; none holds a text of the recording.
    """

    left_out: tuple[str, ...]
    kept: tuple[str, ...]


def share_signature(signature: Signature, name: str) -> tuple[Signature, Given]:
    """Leave out what a skeleton does not need.

    Parameters
    ----------
    signature : Signature
    name : str
        What the application is called in what is shared.

    Returns
    -------
    Signature
        It builds the same program but for texts about its origin.
    Given
    """
    known, given = share_provenance(signature.provenance, name)
    sites = shared_sites(signature.sites)
    places = f"names of the modules of {len(sites)} call sites"
    kept = (
        *given.kept,
        f"structure, partners, sizes and times of {signature.events} calls of "
        f"{signature.ranks} ranks",
        *([f"offsets of {len(sites)} call sites in their modules"] if sites else []),
        *(["how much memory computation touches"] if signature.touched else []),
    )
    unseen = shared_unseen(signature.unseen)
    left_out = (
        *given.left_out,
        *([places] if sites else []),
        *(["names of GPU runtimes and tools"] if unseen != signature.unseen else []),
    )
    shared = replace(signature, provenance=known, sites=sites, unseen=unseen)
    return shared, Given(left_out, kept)


def shared_unseen(known: Unseen | None) -> Unseen | None:
    """Return what the events do not show, without the names of libraries."""
    if known is None:
        return None
    gpu = ("a GPU runtime",) if known.gpu else ()
    return replace(known, gpu=gpu, hidden=("a tool",) if known.hidden else ())


def share_provenance(known: Provenance, name: str) -> tuple[Provenance, Given]:
    """Leave out who recorded a run, where, when and with which command."""
    month, mpi = shared_month(known.recorded), shared_mpi(known.mpi)
    parameters = tuple(
        (key, value)
        for key, value in known.parameters
        if key == "similarity_threshold" and _NUMBER.fullmatch(value)
    )
    shared = Provenance(
        application=name,
        command=(),
        mpi=mpi,
        host="",
        recorded=month,
        skelgen=known.skelgen if _VERSION.fullmatch(known.skelgen) else __version__,
        parameters=parameters,
        ranks_per_host=known.ranks_per_host,
    )
    left_out = (
        *(["name of the application"] if known.application != name else []),
        *([f"command of {len(known.command)} words"] if known.command else []),
        *(["name of the host"] if known.host else []),
        *(["day and time of the recording"] if known.recorded != month else []),
        *(["build of the MPI library"] if known.mpi.split() != mpi.split() else []),
        *(["parameters of the build"] if known.parameters != parameters else []),
    )
    kept = (
        f"name: {name}",
        *([f"MPI: {mpi}"] if mpi else []),
        *([f"recorded: {month}"] if month else []),
        f"ranks on each host: {', '.join(map(str, known.ranks_per_host))}",
    )
    return shared, Given(left_out, kept)


def shared_month(recorded: str) -> str:
    """Return year and month of a date.

    Examples
    --------
    >>> shared_month("2026-11-21T11:27:29+00:00")
    '2026-11'
    """
    found = _DATE.fullmatch(recorded)
    return found[1] if found else ""


def shared_mpi(library: str) -> str:
    """Return name and version of an MPI without who built it, where and when.

    Examples
    --------
    >>> shared_mpi("Open MPI v5.0.3, package: Open MPI joe@build7 Distribution")
    'Open MPI v5.0.3'
    """
    kind, version = parse_version(library)
    found = _VERSION.match(version)
    number = found[0] if found else ""
    match kind:
        case MpiKind.OPEN_MPI:
            return f"Open MPI v{number}" if number else "Open MPI"
        case MpiKind.MPICH:
            return f"MPICH Version: {number}" if number else "MPICH"
    return ""


def shared_sites(sites: tuple[str, ...]) -> tuple[str, ...]:
    """Return call sites with numbers in place of the names of their modules.

    Examples
    --------
    >>> shared_sites(("/home/joe/secret+0x1a", "libm.so+0x2 < /home/joe/secret+0x1b"))
    ('module1+0x1a', 'module2+0x2 < module1+0x1b')
    """
    modules: dict[str, int] = {}

    def place(text: str) -> str:
        found = _SITE.fullmatch(text)
        module, offset = (found[1], f"+{found[2]}") if found else (text, "")
        return f"module{modules.setdefault(module, len(modules) + 1)}{offset}"

    return tuple(
        _CALLED_BY.join(place(part) for part in site.split(_CALLED_BY))
        for site in sites
    )
