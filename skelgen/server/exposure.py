"""What a server would show to whom: `skelgen serve --check`."""

from __future__ import annotations

from skelgen.results.serving import ServeCheckResult, TokenRight
from skelgen.server.listening import (
    Listening,
    bound,
    file_of,
    is_loopback,
    public_address,
    unbind,
)
from skelgen.server.routes import ROUTES
from skelgen.server.tokens import PRINTED, Right, read_access
from skelgen.store import open_store, place_of


def exposure(
    place: str | None, listening: Listening, *, read_only: bool
) -> ServeCheckResult:
    """Return what a server would show to whom; it is not started.

    Raises
    ------
    SkelgenError
        Where it could not be started.
    """
    open_store(place, make=False).close()
    opened = bound(listening)
    port = 0 if listening.unix else int(opened.getsockname()[1])
    unbind(listening, file_of(listening))
    opened.close()
    most = Right.READ if read_only else Right.ADMINISTER
    tokens = [
        TokenRight(name=one.name, right=min(one.right, most).word)
        for one in read_access().tokens
    ]
    return ServeCheckResult(
        url=public_address(listening, port),
        reached_by=reached_by(listening),
        tls=listening.tls,
        store=place_of(place).shown,
        read_only=read_only,
        tokens=[TokenRight(name=PRINTED, right=most.word), *tokens],
        open=[one.path for one in ROUTES if one.right is Right.OPEN],
        rights={
            right.word: [
                f"{one.method} {one.path}" for one in ROUTES if one.right is right
            ]
            for right in Right
            if right <= most
        },
    )


def reached_by(listening: Listening) -> str:
    """Say who can reach a server, for people."""
    if listening.unix:
        return f"who may open {listening.unix}: its owner and group, such as a proxy"
    if is_loopback(listening.host):
        return "programs and users of this machine only"
    how = "by TLS" if listening.tls else "WITHOUT TLS: others can read the tokens"
    return f"all who reach {listening.host}, {how}"
