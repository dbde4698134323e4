"""A name of its own for a server on loopback: browsers tell cookies apart by names.

They send a cookie to every port of a host, so a page of another user's server on
127.0.0.1 would get ours. They take each name that ends with ``.localhost`` for this
machine, as ``127.0.0.1`` or as ``::1``: both have to be the server's.
"""

from __future__ import annotations

import errno
import hashlib
import socket

from skelgen.server.listening import Listening
from skelgen.server.tokens import read_access

_DIGITS = 12
#: Where there is no IPv6, nobody can listen there either.
_NONE_HERE = (errno.EADDRNOTAVAIL, errno.EAFNOSUPPORT)


def own_host() -> str:
    """Return the name, the same for all servers of this user; others do not know it."""
    key = f"name {read_access().key}".encode()
    return f"skelgen-{hashlib.sha256(key).hexdigest()[:_DIGITS]}.localhost"


def may_have_name(one: Listening) -> bool:
    """Say whether people come by loopback, without a name that was chosen."""
    plain = one.host in ("127.0.0.1", "localhost")
    return plain and not (one.names or one.tls or one.unix)


def second_bound(port: int) -> list[socket.socket] | None:
    """Return what listens at the same port of ``::1``; nothing where there is none.

    None: another program has it, and would get what is meant for us.
    """
    if not socket.has_ipv6:
        return []
    try:
        found = socket.socket(socket.AF_INET6, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    except OSError:
        return []
    try:
        found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        found.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
        found.bind(("::1", port))
        found.listen(128)
    except OSError as error:
        found.close()
        return [] if error.errno in _NONE_HERE else None
    return [found]
