"""Connections that ask for nothing, and readers that read nothing, are closed."""

from __future__ import annotations

import asyncio

from uvicorn.protocols.http.h11_impl import H11Protocol

#: Time in which the head of the first request has to be there [s].
_OPENING_S = 10.0
#: What a reader has to take of what waits for it [bytes], or all, in this time [s].
_READ_BYTES, _READING_S = 64 << 10, 30.0


class OpeningProtocol(H11Protocol):
    """A connection that is closed where nobody speaks or reads at its other end.

    It ends where its first request does not come in time: the number of connections is
    limited, and a few hundred silent ones would keep everybody out. It ends where its
    reader is slower than 64 KiB in half a minute: else an answer would keep its memory,
    and what it reads of the store, for as long as the reader likes.
    """

    _unread: asyncio.TimerHandle | None = None

    def connection_made(  # type: ignore[override]
        self, transport: asyncio.Transport
    ) -> None:
        """Begin to wait for a request."""
        super().connection_made(transport)
        transport.set_write_buffer_limits(high=0)  # so that no unread byte is missed
        self.loop.call_later(_OPENING_S, self._close_silent)

    def pause_writing(self) -> None:
        """Begin to wait for the reader."""
        super().pause_writing()
        if self._unread is None:
            self._wait_for_reader()

    def resume_writing(self) -> None:
        """Go on: the reader has read."""
        super().resume_writing()
        self._end_waiting()

    def connection_lost(self, exc: Exception | None) -> None:
        """Wait for nobody any more."""
        super().connection_lost(exc)
        self._end_waiting()

    def _end_waiting(self) -> None:
        if self._unread is not None:
            self._unread.cancel()
            self._unread = None

    def _wait_for_reader(self) -> None:
        size_bytes = self.transport.get_write_buffer_size()
        self._unread = self.loop.call_later(_READING_S, self._look, size_bytes)

    def _look(self, before_bytes: int) -> None:
        if self.transport.get_write_buffer_size() > before_bytes - _READ_BYTES:
            self.transport.abort()
        else:
            self._wait_for_reader()

    def _close_silent(self) -> None:
        if self.cycle is None and not self.transport.is_closing():
            self.transport.close()
