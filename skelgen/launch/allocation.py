"""The job of a batch system that this process runs in, and the hosts it was given."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Mapping
from pathlib import Path

from skelgen.errors import SkelgenError
from skelgen.launch.hosts import Host, parse_hosts, read_hostfile

#: Variables with the number of the job, those of the nearest system first.
_JOBS = (
    "FLUX_JOB_ID", "SLURM_JOB_ID", "PBS_JOBID", "LSB_JOBID", "OAR_JOB_ID",
    "COBALT_JOBID", "PJM_JOBID", "JOB_ID",
)  # fmt: skip
#: Variables with a list of hosts, and with a file that names them.
_LISTS = ("SLURM_JOB_NODELIST", "SLURM_NODELIST")
_FILES = ("PBS_NODEFILE", "OAR_NODEFILE", "LSB_DJOB_HOSTFILE", "PE_HOSTFILE")


def batch_job(variables: Mapping[str, str] = os.environ) -> str:
    """Return the number of the batch job around this process; nothing without one."""
    return next((variables[name] for name in _JOBS if variables.get(name)), "")


def allocated_hosts(variables: Mapping[str, str] = os.environ) -> tuple[str, ...]:
    """Return the hosts of the batch job around this process, as far as it says them."""
    found: tuple[Host, ...] = ()
    for name in (*_LISTS, *_FILES):
        text = variables.get(name)
        if text and not found:
            with contextlib.suppress(SkelgenError):
                found = (
                    parse_hosts(text) if name in _LISTS else read_hostfile(Path(text))
                )
    return tuple(dict.fromkeys(host.name for host in found))
