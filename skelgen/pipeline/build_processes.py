"""A team of several processes, over mpi4py."""

from __future__ import annotations

import pickle
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from skelgen.errors import SkelgenError

_T = TypeVar("_T")
#: Bytes of one message: some MPIs count them with 31 bits.
_PIECE = 1 << 28
#: Who waits looks this often, for polling would disturb who computes [s].
_LOOK_EVERY_S = 0.01


class Processes:
    """The processes of an MPI launch.

    Parameters
    ----------
    communicator : mpi4py.MPI.Comm
    """

    def __init__(self, communicator: Any) -> None:
        self.comm = communicator
        self.rank: int = communicator.rank
        self.size: int = communicator.size

    def each(self, work: Callable[[], _T]) -> _T:
        """Do the work; if it fails anywhere, raise the first one's error everywhere."""
        result, error = _outcome(work)
        errors = self.gather(error)
        self._agree(next(filter(None, errors), None))
        return result  # type: ignore[no-any-return]

    def first(self, work: Callable[[], Any]) -> Any:
        """Do the work in the first process, while the others wait for its end."""
        result, error = (None, None) if self.rank else _outcome(work)
        self._agree(error)
        return result

    def _agree(self, error: SkelgenError | None) -> None:
        """Raise the error that the first process knows."""
        if (error := self.share(error)) is not None:
            raise error

    def share(self, value: _T) -> _T:
        """Send it to all."""
        return self.scatter([value] * self.size)

    def gather(self, value: _T) -> list[_T]:
        """Collect pickled values."""
        if self.rank:
            self._send(value, 0)
            return []
        return [value, *(self._receive(other) for other in range(1, self.size))]

    def scatter(self, values: Sequence[_T]) -> _T:
        """Send pickled values out."""
        if self.rank:
            return self._receive(0)  # type: ignore[no-any-return]
        for other in range(1, self.size):
            self._send(values[other], other)
        return values[0]

    def _send(self, value: Any, other: int) -> None:
        data = np.frombuffer(pickle.dumps(value), np.uint8)
        self.comm.send(len(data), dest=other)
        for piece in _pieces(data):
            self.comm.Send(piece, dest=other)

    def _receive(self, other: int) -> Any:
        while not self.comm.iprobe(source=other):
            time.sleep(_LOOK_EVERY_S)
        data = np.empty(self.comm.recv(source=other), np.uint8)
        for piece in _pieces(data):
            self.comm.Recv(piece, source=other)
        return pickle.loads(data.data)

    def join(self, array: NDArray[Any]) -> NDArray[Any]:
        """Receive the arrays where they are to stand."""
        sizes = self.gather(len(array))
        if self.rank:
            for piece in _pieces(array):
                self.comm.Send(piece, dest=0)
            return array
        whole = np.empty(sum(sizes), array.dtype)
        whole[: sizes[0]] = array
        at = sizes[0]
        for other, size in enumerate(sizes[1:], 1):
            for piece in _pieces(whole[at : at + size]):
                self.comm.Recv(piece, source=other)
            at += size
        return whole

    def divide(self, array: NDArray[Any], size: int) -> NDArray[Any]:
        """Send the pieces from where they stand."""
        sizes = self.gather(size)
        if self.rank:
            own = np.empty(size, array.dtype)
            for piece in _pieces(own):
                self.comm.Recv(piece, source=0)
            return own
        at = size
        for other, length in enumerate(sizes[1:], 1):
            for piece in _pieces(array[at : at + length]):
                self.comm.Send(piece, dest=other)
            at += length
        return array[:size].copy()


def _pieces(array: NDArray[Any]) -> Iterator[NDArray[np.uint8]]:
    whole = array.view(np.uint8)
    for begin in range(0, len(whole), _PIECE):
        yield whole[begin : begin + _PIECE]


def _outcome(work: Callable[[], _T]) -> tuple[Any, SkelgenError | None]:
    try:
        return work(), None
    except SkelgenError as error:
        return None, error
