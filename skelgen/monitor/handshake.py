"""Two monitors show each other that they know the same secret, without saying it.

The caller says hello, with a number of its own and a code over it; who does not know
the secret gets no answer. The other one answers with a number of its own and a code
over both, and the caller's last word is a code over all. So nobody can repeat what was
said before. From then on every word has a code of this talk. The list of hosts is part
of the key: monitors with another list are strangers.
"""

from __future__ import annotations

import hmac
import os
import struct
from collections.abc import Sequence

from skelgen.errors import UsageError

_MAGIC = b"skl1"
_HELLO = struct.Struct("!4sHH16s")
_NUMBER, _CODE = 16, 32
#: Lengths of the three words [bytes].
HELLO_BYTES, WELCOME_BYTES, LAST_BYTES = _HELLO.size + _CODE, _NUMBER + _CODE, _CODE
#: Shortest secret [characters].
LEAST_SECRET = 16
#: Ports below those that systems give to callers.
_FIRST_PORT, _PORTS = 20_000, 12_000


class StrangerError(Exception):
    """Who called does not know the secret, or means somebody else."""


def key_of(secret: str, hosts: Sequence[str]) -> bytes:
    """Return the key of the monitors of hosts that share a secret.

    Raises
    ------
    UsageError
        When the secret is too short.
    """
    if len(secret) < LEAST_SECRET:
        raise UsageError(
            f"the secret of --links has {len(secret)} characters, expected "
            f"{LEAST_SECRET} or more; set SKELGEN_MONITOR_SECRET to the same long "
            "random text for all hosts"
        )
    about = "\0".join(["skelgen links 1", *sorted(hosts)])
    return hmac.digest(
        secret.encode(errors="surrogateescape"), about.encode(), "sha256"
    )


def port_of(key: bytes) -> int:
    """Return a port that all with the key agree on, and other users hardly ever."""
    number = int.from_bytes(_code(key, b"port")[:8], "big")
    return _FIRST_PORT + number % _PORTS


def hello(key: bytes, caller: int, called: int) -> bytes:
    """Return the first word of a caller; hosts are places in the sorted list."""
    word = _HELLO.pack(_MAGIC, caller, called, os.urandom(_NUMBER))
    return word + _code(key, b"hello", word)


def caller_of(key: bytes, word: bytes, called: int) -> int:
    """Return who says hello to this host.

    Raises
    ------
    StrangerError
    """
    about, code = word[: _HELLO.size], word[_HELLO.size :]
    if not hmac.compare_digest(code, _code(key, b"hello", about)):
        raise StrangerError("a wrong secret")
    _, caller, meant, _ = _HELLO.unpack(about)
    if meant != called:
        raise StrangerError("another host is meant")
    return int(caller)


def welcome(key: bytes, said: bytes) -> bytes:
    """Return the answer to a hello."""
    number = os.urandom(_NUMBER)
    return number + _code(key, b"welcome", said, number)


def check_welcome(key: bytes, said: bytes, answer: bytes) -> None:
    """Refuse an answer of one who does not know the secret.

    Raises
    ------
    StrangerError
    """
    number, code = answer[:_NUMBER], answer[_NUMBER:]
    if not hmac.compare_digest(code, _code(key, b"welcome", said, number)):
        raise StrangerError("a wrong secret")


def last_word(key: bytes, said: bytes, answer: bytes) -> bytes:
    """Return what the caller says last."""
    return _code(key, b"last", said, answer)


def check_last(key: bytes, said: bytes, answer: bytes, word: bytes) -> None:
    """Refuse a caller who only repeats what another one said.

    Raises
    ------
    StrangerError
    """
    if not hmac.compare_digest(word, last_word(key, said, answer)):
        raise StrangerError("it repeats what another caller said")


def talk_key(key: bytes, said: bytes, answer: bytes) -> bytes:
    """Return the key of this talk."""
    return _code(key, b"talk", said, answer)


def _code(key: bytes, *words: bytes) -> bytes:
    text = b"".join(struct.pack("!I", len(word)) + word for word in words)
    return hmac.digest(key, text, "sha256")
