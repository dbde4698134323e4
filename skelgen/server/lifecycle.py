"""Start the server, say that it is ready, and end it with its requests finished."""

from __future__ import annotations

import asyncio
import contextlib
import html
import logging
import os
import signal
import socket
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import uvicorn
from starlette.types import ASGIApp

from skelgen import _paths
from skelgen.launch.folders import private_folder, replace_file
from skelgen.server.app import application
from skelgen.server.idle_connections import OpeningProtocol
from skelgen.server.job_queue import JobQueue
from skelgen.server.keyring import Keyring
from skelgen.server.listening import (
    Listening,
    bound,
    file_of,
    own_names,
    public_address,
    unbind,
)
from skelgen.server.own_host import may_have_name, own_host, second_bound
from skelgen.server.settings import Settings, UploadBounds
from skelgen.server.tokens import PRINTED, Right, new_token
from skelgen.store import open_store, place_of
from skelgen.store.idle_connections import IdleConnections

#: Time that requests have to end [s]: the server ends within five.
_ENDING_S = 4
#: How often the server wakes although nobody asks [s].
_TICK_S = 1.0
#: Requests at the same time, and bytes before the end of a request's head.
_MOST_AT_ONCE, _MOST_OF_HEAD = 200, 16 << 10


class _Server(uvicorn.Server):
    """A server that says when it is ready, and ends quietly by a signal."""

    def __init__(self, config: uvicorn.Config, ready: Callable[[], None]) -> None:
        super().__init__(config)
        self._ready = ready
        self._over = asyncio.Event()

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """End by a signal without raising it again: it is the usual end."""
        loop = asyncio.get_running_loop()
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, self._end)
        yield

    def _end(self) -> None:
        self.should_exit = True
        self._over.set()

    async def main_loop(self) -> None:
        """Wake once a second, for the date of answers, and at the end at once."""
        while not await self.on_tick(0):
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._over.wait(), _TICK_S)

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Begin to answer, and say so."""
        await super().startup(sockets)
        self._ready()


def settings_of(
    place: str | None,
    listening: Listening,
    port: int,
    *,
    read_only: bool = False,
    name: str = "",
    uploads: UploadBounds = UploadBounds(),  # noqa: B008 -- it is frozen
) -> Settings:
    """Return how a server on a port is set up, with a name of its own or without."""
    more = {f"{name}:{port}"} if name else set[str]()
    return Settings(
        store=place,
        shown=place_of(place).shown,
        names=own_names(listening, port) | more,
        prefix=listening.prefix,
        secure=listening.secure,
        cookie=f"skelgen-{port}" if port else "skelgen",
        read_only=read_only,
        uploads=uploads,
    )


def run_server(
    place: str | None,
    listening: Listening,
    *,
    read_only: bool,
    ready: Callable[[str, str, Path], None],
    uploads: UploadBounds = UploadBounds(),  # noqa: B008 -- it is frozen
) -> None:
    """Serve a store until a signal comes.

    Parameters
    ----------
    place : str, optional
        Of the store.
    listening : Listening
        Checked.
    read_only : bool
    uploads : UploadBounds
    ready : callable
        Gets the address with its token for programs, that for browsers, and a file of
        this user alone that leads there.

    Raises
    ------
    SkelgenError
        When the store cannot be opened, or nothing can listen there.
    """
    open_store(place, make=False).close()
    most = Right.READ if read_only else Right.ADMINISTER
    text, token = new_token(PRINTED, most)
    keyring = Keyring(token, most)
    jobs = JobQueue(place)
    with contextlib.ExitStack() as stack:
        first = stack.enter_context(contextlib.closing(bound(listening)))
        made = file_of(listening)
        port = 0 if listening.unix else int(first.getsockname()[1])
        more = second_bound(port) if may_have_name(listening) else None
        name = "" if more is None else own_host()
        opened = [first, *map(stack.enter_context, map(contextlib.closing, more or ()))]
        settings = settings_of(
            *(place, listening, port), read_only=read_only, name=name, uploads=uploads
        )
        way = f"/enter?token={text}"
        address = f"{public_address(listening, port)}{way}"
        named = f"http://{name}:{port}{listening.prefix}{way}" if name else address
        file = stack.enter_context(_leading_there(named))
        idle = stack.enter_context(contextlib.closing(IdleConnections()))
        asgi = application(settings, keyring, jobs, idle)
        config = _config(asgi, listening)
        server = _Server(config, lambda: ready(address, named, file))
        if not read_only:
            jobs.resume()
        try:
            asyncio.run(server.serve(opened))
        finally:
            jobs.stop()
        unbind(listening, made)


def leave_reads() -> None:
    """End although a thread still reads: all that changed something was waited for."""
    if any(one.name.startswith("AnyIO worker") for one in threading.enumerate()):
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(0)


def _config(asgi: ASGIApp, listening: Listening) -> uvicorn.Config:
    logging.getLogger("uvicorn").setLevel(logging.CRITICAL)  # it would name addresses
    return uvicorn.Config(
        asgi,
        loop="asyncio",
        http=OpeningProtocol,
        ws="none",
        lifespan="off",
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=False,
        limit_concurrency=_MOST_AT_ONCE,
        timeout_graceful_shutdown=_ENDING_S,
        h11_max_incomplete_event_size=_MOST_OF_HEAD,
        ssl_certfile=listening.certificate,
        ssl_keyfile=listening.key,
    )


@contextlib.contextmanager
def _leading_there(address: str) -> Iterator[Path]:
    """Keep the address in a file of this user: no list of processes shows it."""
    folder = _paths.state() / "serve"
    file = private_folder(folder) / f"{os.getpid()}.html"
    quoted = html.escape(address, quote=True)
    text = f'<!doctype html><meta http-equiv="refresh" content="0; url={quoted}">'
    replace_file(file, f'{text}\n<a href="{quoted}">skelgen</a>\n')
    try:
        yield file
    finally:
        file.unlink(missing_ok=True)
