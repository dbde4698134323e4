"""The processes that build together: one, or those that ``mpirun -n N`` started.

Stages know nothing of it. Each process works on the files of its own ranks; the first
one does what needs all of them, and writes.
"""

from __future__ import annotations

import os
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Protocol, TypeVar

from numpy.typing import NDArray

from skelgen.errors import ExitCode, MachineError, SkelgenError, UsageError
from skelgen.pipeline.build_processes import Processes

_T = TypeVar("_T")
#: Variables that launchers set in every process: number of processes, own number.
#: Those of a Slurm step come last: mpirun may have been started by one. The variables
#: of an allocation are not among them, for a command inside it is one process.
_LAUNCHERS = (
    ("OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK"),
    ("PMI_SIZE", "PMI_RANK"),
    ("SLURM_STEP_NUM_TASKS", "SLURM_PROCID"),
)


class Team(Protocol):
    """Processes that do one thing together; the first of them has the number 0.

    All of them call the same methods in the same order. A `SkelgenError` of one is
    raised in all.
    """

    rank: int
    size: int

    def each(self, work: Callable[[], _T]) -> _T:
        """Do work in each process and return its own result."""

    def first(self, work: Callable[[], Any]) -> Any:
        """Do work in the first process, while others sleep; they get None."""

    def share(self, value: _T) -> _T:
        """Return the first one's value in all."""

    def gather(self, value: _T) -> list[_T]:
        """Return the values of all in the first process, none in others."""

    def scatter(self, values: Sequence[_T]) -> _T:
        """Return to each process its own of the first one's values."""

    def join(self, array: NDArray[Any]) -> NDArray[Any]:
        """Return to the first the arrays of all, one behind the other, else the own."""

    def divide(self, array: NDArray[Any], size: int) -> NDArray[Any]:
        """Return to each process its piece of the first one's array: undo `join`.

        Parameters
        ----------
        array : array
            In other processes one of its type.
        size : int
            Of the own piece.
        """


class Alone:
    """A team of one."""

    rank = 0
    size = 1

    def each(self, work: Callable[[], _T]) -> _T:
        """Do the work."""
        return work()

    first = each

    def share(self, value: _T) -> _T:
        """Return it."""
        return value

    def gather(self, value: _T) -> list[_T]:
        """Return it."""
        return [value]

    def scatter(self, values: Sequence[_T]) -> _T:
        """Return the only one."""
        return values[0]

    def join(self, array: NDArray[Any]) -> NDArray[Any]:
        """Return the array itself."""
        return array

    def divide(self, array: NDArray[Any], size: int) -> NDArray[Any]:
        """Return the array itself."""
        return array[:size]


ALONE: Team = Alone()


def launched(environment: Mapping[str, str] = os.environ) -> tuple[int, int]:
    """Return the own number among the processes of a launch, and how many they are.

    Examples
    --------
    >>> launched({"PMI_SIZE": "4", "PMI_RANK": "1"})
    (1, 4)
    >>> launched({"SLURM_NTASKS": "4", "SLURM_PROCID": "0"})
    (0, 1)
    """
    for size, rank in _LAUNCHERS:
        words = environment.get(size, ""), environment.get(rank, "")
        if all(word.isdigit() for word in words):
            return int(words[1]), int(words[0])
    return 0, 1


@contextmanager
def team() -> Iterator[Team]:
    """Give the processes that were started together with this one.

    Raises
    ------
    MachineError
        When there are several but mpi4py is missing, or they do not find each other.
    UsageError
        When the recorder is loaded, as if they were an application.
    """
    _, size = launched()
    if size < 2:
        yield Alone()
        return
    if "libskelgen_pmpi" in (preloaded := os.environ.get("LD_PRELOAD", "")):
        raise UsageError(
            f"LD_PRELOAD={preloaded} would record this build itself; unset it"
        )
    try:
        # Not installed with skelgen, and starts MPI.
        from mpi4py import MPI
    except (ImportError, RuntimeError) as error:
        raise MachineError(
            f"{size} processes were started to build together, but mpi4py cannot be "
            f"used ({error}); pip install 'skelgen[mpi]', or build without mpirun"
        ) from error
    comm = MPI.COMM_WORLD
    if comm.size != size:
        raise MachineError(
            f"{size} processes were started, but mpi4py sees {comm.size}: it belongs "
            "to another MPI than this mpirun; use that one's, or build without mpirun"
        )
    try:
        yield Processes(comm.Dup())
    except SkelgenError:
        raise  # in all of them
    except KeyboardInterrupt:
        comm.Abort(ExitCode.INTERRUPTED)
    except BaseException:
        traceback.print_exc()
        comm.Abort(ExitCode.INTERNAL)
