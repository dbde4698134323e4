"""The ways in which runs reach their hosts."""

from __future__ import annotations

from enum import Enum


class Way(Enum):
    """How runs reach their hosts."""

    AUTO = "auto"  # steps inside an allocation, else a launcher here
    LOCAL = "local"
    SLURM = "slurm"
    PBS = "pbs"
    FLUX = "flux"
