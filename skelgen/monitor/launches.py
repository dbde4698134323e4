"""Which launch a process belongs to, from its variables and who started it."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from skelgen.monitor.thresholds import GENERATIONS_OF_LAUNCHER

#: Variables that launchers set in every process: number of ranks, own rank. Those of a
#: Slurm step come last: mpirun may have been started by one.
_RANKS = (
    ("OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK"),
    ("MV2_COMM_WORLD_SIZE", "MV2_COMM_WORLD_RANK"),
    ("PMI_SIZE", "PMI_RANK"),
    ("FLUX_JOB_SIZE", "FLUX_TASK_RANK"),
    ("SLURM_STEP_NUM_TASKS", "SLURM_PROCID"),
)
#: Options with which launchers tell their helpers on hosts whom to report to.
_REPORTS = (("--control-port",), ("--upstream-host", "--upstream-port"))
#: Variables with the number of a batch job, and those that users set.
_JOB = re.compile(r"(.*_)?JOB_?ID")
INPUTS = "SKELGEN_INPUTS"


@dataclass(frozen=True, slots=True)
class WatchedLaunch:
    """What is known of the launch of a process.

    Attributes
    ----------
    key : str
        The same in all its processes on all hosts; empty for a process of its own.
    size : int
        Ranks; 0 where nobody says it.
    rank : int
        -1 where nobody says it.
    jobs : tuple of (str, str)
        Variables with the number of a batch job.
    inputs : str
        As the user named them in SKELGEN_INPUTS.
    """

    key: str = ""
    size: int = 0
    rank: int = -1
    jobs: tuple[tuple[str, str], ...] = ()
    inputs: str = ""


def launch_of(
    variables: Mapping[str, str],
    started_by: Callable[[int], Sequence[str]],
    inputs: str = "",
) -> WatchedLaunch:
    """Say which launch a process belongs to.

    Parameters
    ----------
    variables : mapping of str to str
        As it was started with.
    started_by : callable
        Returns the words of the process that started it (1), of the one that started
        that (2), and so on.
    inputs : str
        Those of the application where its variables name none.
    """
    size, rank = _place(variables)
    jobs = {n: v for n, v in variables.items() if _JOB.fullmatch(n) and v}
    return WatchedLaunch(
        _key(variables, started_by) if size else "",
        size,
        rank,
        tuple(sorted(jobs.items())),
        variables.get(INPUTS) or inputs,
    )


def _place(variables: Mapping[str, str]) -> tuple[int, int]:
    """Return number of ranks and own rank; 0 and -1 where nobody says it."""
    for size, rank in _RANKS:
        with contextlib.suppress(KeyError, ValueError):
            found = int(variables[size]), int(variables[rank])
            if 0 <= found[1] < found[0]:
                return found
    return 0, -1


def _key(
    variables: Mapping[str, str], started_by: Callable[[int], Sequence[str]]
) -> str:
    if name := variables.get("PMIX_NAMESPACE"):
        return f"pmix {name}"
    if "PMI_RANK" in variables:
        for generation in range(1, GENERATIONS_OF_LAUNCHER + 1):
            words = list(started_by(generation))
            for options in _REPORTS:
                if all(one in words[:-1] for one in options):
                    said = (words[words.index(one) + 1] for one in options)
                    return f"hydra {':'.join(said)}"
    for name, parts in (
        ("slurm", ("SLURM_JOB_ID", "SLURM_STEP_ID")),
        ("flux", ("FLUX_JOB_ID",)),
        ("pals", ("PALS_APID",)),
    ):
        if all(variables.get(part) for part in parts):
            return f"{name} {'.'.join(variables[part] for part in parts)}"
    return ""
