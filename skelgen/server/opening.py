"""Connections that ask for nothing are closed."""

from __future__ import annotations

import asyncio

from uvicorn.protocols.http.h11_impl import H11Protocol

#: Time in which the head of the first request has to be there [s].
_OPENING_S = 10.0


class OpeningProtocol(H11Protocol):
    """A connection that is closed where its first request does not come in time.

    The number of connections is limited: else a few hundred silent ones would keep
    everybody out.
    """

    def connection_made(  # type: ignore[override]
        self, transport: asyncio.Transport
    ) -> None:
        """Begin to wait."""
        super().connection_made(transport)
        self.loop.call_later(_OPENING_S, self._close_silent)

    def _close_silent(self) -> None:
        if self.cycle is None and not self.transport.is_closing():
            self.transport.close()
