"""Where a server listens, who can reach it there, and which names are its own."""

from __future__ import annotations

import errno
import ipaddress
import itertools
import re
import socket
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from skelgen.errors import InputError, MachineError, UsageError

_PREFIX = re.compile(r"(/[A-Za-z0-9][A-Za-z0-9._~-]*)+")
_NAME = re.compile(
    r"[A-Za-z0-9.-]{1,253}(:[0-9]{1,5})?|\[[0-9A-Fa-f:.]+\](:[0-9]{1,5})?"
)
_LOOPBACK = ("localhost", "127.0.0.1", "[::1]")
#: Who may open the socket: a proxy in the group of its owner.
_SOCKET_MODE = 0o660


@dataclass(frozen=True, slots=True)
class Listening:
    """Where a server listens.

    Attributes
    ----------
    host : str
    port : int
        0: any that is free.
    unix : Path or None
        A socket in place of host and port, for a proxy.
    names : tuple of str
        By which people come, where these are not the host's.
    prefix : str
        Before each address.
    certificate, key : Path or None
        For TLS.
    insecure : bool
        Others may come without TLS.
    """

    host: str = "127.0.0.1"
    port: int = 8642
    unix: Path | None = None
    names: tuple[str, ...] = ()
    prefix: str = ""
    certificate: Path | None = None
    key: Path | None = None
    insecure: bool = False

    @property
    def tls(self) -> bool:
        """Say whether the server itself speaks TLS."""
        return self.certificate is not None

    @property
    def secure(self) -> bool:
        """Say whether people come by TLS: that of the server, or of a proxy."""
        return self.tls or (bool(self.names) and not self.insecure)


def check_listening(one: Listening) -> None:
    """Refuse a place where tokens would be read by others, and words that do not fit.

    Raises
    ------
    UsageError
    InputError
        When a TLS file cannot be used.
    """
    if one.prefix and not _PREFIX.fullmatch(one.prefix):
        raise UsageError(
            f"--prefix {one.prefix[:60]}: expected a path such as /skelgen"
        )
    for name in one.names:
        if not _NAME.fullmatch(name):
            raise UsageError(
                f"--name {name[:60]}: expected a host such as site.example"
            )
    if (one.certificate is None) != (one.key is None):
        raise UsageError("give --tls-certificate and --tls-key, both")
    if one.unix is not None and not one.names:
        raise UsageError(
            "--unix needs --name: the host by which people reach the proxy"
        )
    if one.certificate is not None and one.key is not None:
        _check_tls(one.certificate, one.key)
    if not (one.unix or one.tls or one.insecure or is_loopback(one.host)):
        raise UsageError(
            f"--host {one.host[:60]} is reached by others, who could read the tokens; "
            "give --tls-certificate and --tls-key, or --insecure where nobody listens"
        )


def _check_tls(certificate: Path, key: Path) -> None:
    import ssl

    try:
        ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER).load_cert_chain(certificate, key)
    except (OSError, ValueError) as error:  # ssl.SSLError is an OSError
        why = (
            getattr(error, "strerror", None) or getattr(error, "reason", None) or error
        )
        raise InputError(
            f"{certificate} and {key} cannot be used for TLS ({why}); expected a "
            "certificate and its key without a password, both in PEM"
        ) from error


def is_loopback(host: str) -> bool:
    """Say whether only this machine reaches an address.

    Raises
    ------
    UsageError
        When there is no such host.
    """
    return all(ipaddress.ip_address(one).is_loopback for _, one in _addresses(host))


def _addresses(host: str) -> list[tuple[int, str]]:
    """Return family and number of each address of a host."""
    try:
        found = socket.getaddrinfo(host or "?", None, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as error:
        raise UsageError(f"--host {host[:60]}: there is no such host") from error
    return [(family, str(at[0]).partition("%")[0]) for family, _, _, _, at in found]


def bound(one: Listening) -> socket.socket:
    """Return a socket that listens.

    Raises
    ------
    MachineError
        When the port is taken, or only the administrator may have it.
    UsageError
        When there is no such host.
    """
    if one.unix is not None:
        return _bound_unix(one.unix)
    family, address = _addresses(one.host)[0]
    # Named, or asyncio would let the system hold back the ends of answers.
    found = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        found.bind((address, one.port))
        found.listen(128)
    except OSError as error:
        found.close()
        raise _unbound(one, error) from error
    return found


def _unbound(one: Listening, error: OSError) -> MachineError | UsageError:
    if error.errno == errno.EADDRINUSE:
        return MachineError(
            f"port {one.port} is taken by another program; --port 0 takes a free one"
        )
    if error.errno in (errno.EACCES, errno.EPERM):
        return MachineError(
            f"port {one.port} is for the administrator; take one above 1023, or put a "
            "proxy in front of --unix"
        )
    return UsageError(
        f"--host {one.host[:60]}: this machine does not have that address "
        f"({error.strerror})"
    )


def _bound_unix(path: Path) -> socket.socket:
    if path.exists() and not stat.S_ISSOCK(path.stat().st_mode):
        raise UsageError(f"--unix {path}: there is something else; name another path")
    found = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        if path.exists():
            if _is_answered(path):
                raise MachineError(
                    f"--unix {path}: another server listens there; end it first"
                )
            path.unlink()
        found.bind(str(path))
        path.chmod(_SOCKET_MODE)
        found.listen(128)
    except OSError as error:
        found.close()
        raise UsageError(
            f"--unix {path}: no socket can be made there ({error.strerror or error}); "
            "name a shorter path in a folder of yours"
        ) from error
    except MachineError:
        found.close()
        raise
    return found


def file_of(one: Listening) -> tuple[int, ...] | None:
    """Return which file the socket is, once it is bound; None for a port."""
    if one.unix is None:
        return None
    about = one.unix.stat()
    return about.st_dev, about.st_ino, about.st_ctime_ns


def unbind(one: Listening, file: tuple[int, ...] | None) -> None:
    """Remove the socket's file, unless another server has put its own there."""
    if one.unix is not None and one.unix.exists() and file_of(one) == file:
        one.unix.unlink(missing_ok=True)


def _is_answered(path: Path) -> bool:
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as asked:
        try:
            asked.connect(str(path))
        except OSError:
            return False
    return True


def own_names(one: Listening, port: int) -> frozenset[str]:
    """Return all values of ``Host`` that mean this server."""
    usual = 443 if one.secure else 80
    if one.names:
        hosts = one.names
    elif is_loopback(one.host):
        hosts = (*_LOOPBACK, bracketed(one.host))
    else:
        hosts = (bracketed(one.host), socket.gethostname())
    # A proxy passes on the name that people type.
    ports = {port, usual} if one.names and not one.tls else {port}
    pairs = itertools.product(hosts, ports)
    return frozenset(name for pair in pairs for name in _with_ports(*pair, usual))


def _with_ports(host: str, port: int, usual: int) -> Iterator[str]:
    name = host.lower()
    if re.search(r":[0-9]+$", name):  # as in site.example:8443
        yield name
        return
    yield f"{name}:{port}"
    if port in (usual, 0):  # 0: behind a proxy, which has the usual port
        yield name
        yield f"{name}:{usual}"


def bracketed(host: str) -> str:
    """Return a host as addresses have it."""
    return f"[{host}]" if ":" in host and not host.startswith("[") else host


def public_address(one: Listening, port: int) -> str:
    """Return the address of the overview, as people type it."""
    scheme = "https" if one.secure else "http"
    if one.names:
        # A proxy has the usual port; where the server itself speaks TLS it is its own.
        own = one.tls and not re.search(r":[0-9]+$", one.names[0])
        return f"{scheme}://{one.names[0]}{f':{port}' if own else ''}{one.prefix}"
    host = one.host
    if (
        not is_loopback(host)
        and ipaddress.ip_address(_addresses(host)[0][1]).is_unspecified
    ):
        host = socket.gethostname()
    return f"{scheme}://{bracketed(host)}:{port}{one.prefix}"
