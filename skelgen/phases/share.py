"""What of a phase signature says nothing about who recorded it, where, and how."""

from __future__ import annotations

from dataclasses import replace

from skelgen.phases.stored import PhaseSignature
from skelgen.signature.share import Given, share_provenance, shared_unseen


def share_phases(signature: PhaseSignature, name: str) -> tuple[PhaseSignature, Given]:
    """Leave out what the measurement of phases does not need, given a command.

    Parameters
    ----------
    signature : PhaseSignature
    name : str
        What the application is called in what is shared.
    """
    known, given = share_provenance(signature.provenance, name)
    unseen = shared_unseen(signature.unseen)
    shared = replace(
        signature,
        provenance=known,
        folder="",
        environment=(),
        files=(),
        unseen=unseen,
    )
    left_out = (
        *given.left_out,
        *(["working folder"] if signature.folder else []),
        *_counted(len(signature.environment), "variables of the environment"),
        *_counted(len(signature.files), "names and hashes of files"),
        *(["names of GPU runtimes and tools"] if unseen != signature.unseen else []),
    )
    kept = (
        *given.kept,
        f"structure, weights and times of {len(signature.phases)} phases of "
        f"{signature.ranks} ranks",
    )
    return shared, Given(left_out, kept)


def _counted(number: int, what: str) -> list[str]:
    return [f"{number} {what}"] if number else []
