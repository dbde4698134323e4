"""The environment variables that change how MPI behaves."""

from __future__ import annotations

import re

from skelgen.documents import Field
from skelgen.launch.secrets import hidden_values

#: Application and skeleton need the same. No others are kept, read or set.
_OF_MPI = re.compile(
    r"(MPIR_CVAR|MPICH|I_MPI|OMPI_MCA|PRTE_MCA|PMIX_MCA|UCX|FI)_[A-Za-z0-9_]+"
)


def is_of_mpi(name: str) -> bool:
    """Say whether a variable is one of MPI.

    Examples
    --------
    >>> is_of_mpi("UCX_TLS"), is_of_mpi("LD_PRELOAD"), is_of_mpi("FI_X; true")
    (True, False, False)
    """
    return _OF_MPI.fullmatch(name) is not None


def settings_of(
    field: Field, pairs: tuple[tuple[str, str], ...]
) -> tuple[tuple[str, str], ...]:
    """Return the variables that a file says were set, without secrets.

    Parameters
    ----------
    field : Field
        Where they stand.
    pairs : tuple of (str, str)

    Raises
    ------
    InputError
        When one is not of MPI: it would change what it is set for.
    """
    for name, _ in pairs:
        if not is_of_mpi(name):
            raise field.error(
                f"read the variable {name[:60]!r}, expected variables of MPI, such as "
                "UCX_TLS"
            )
    return hidden_values(pairs)
