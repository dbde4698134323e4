"""Who may do what: tokens of three kinds, in a file that only their owner reads.

The file holds hashes of tokens, so what is in it opens nothing; and a key, from which
cookies and the second token of forms are derived. A token that is removed ends all
that was derived from it.
"""

from __future__ import annotations

import hashlib
import os
import re
import secrets
import stat
import time
from dataclasses import dataclass, replace
from enum import IntEnum
from pathlib import Path

from skelgen import _paths
from skelgen.documents import json_field, sealed_json
from skelgen.documents.files import as_text, read_bytes
from skelgen.documents.system import writing
from skelgen.errors import InputError, MachineError, UsageError
from skelgen.launch.folders import alone, private_folder, replace_file

#: What the token of the address that `serve` prints is called: no name of another one.
PRINTED = "of the printed address"

_MEMBERS = ("skelgen_access", "key", "tokens")
_FIELDS = ("name", "right", "digest", "made")
_VERSION = 1
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._@-]{0,63}")
_HEX = re.compile(r"[0-9a-f]{64}")
#: Random bytes of a token and of the key, and the most tokens that a user keeps.
_BYTES, _MOST = 32, 1000


class Right(IntEnum):
    """What a token allows; each also allows what is above it."""

    OPEN = 0
    READ = 1
    ADD = 2
    ADMINISTER = 3

    @property
    def word(self) -> str:
        """Return the right as people type it."""
        return self.name.lower()


@dataclass(frozen=True, slots=True)
class Token:
    """A token of which only a hash is kept.

    Attributes
    ----------
    name : str
    right : Right
    digest : str
        SHA-256 of the token.
    made : float
        Seconds since 1970 in UTC [s].
    """

    name: str
    right: Right
    digest: str
    made: float


@dataclass(frozen=True, slots=True)
class Access:
    """What the file holds: the key, and the tokens that were added."""

    key: str
    tokens: tuple[Token, ...] = ()


def access_file() -> Path:
    """Return the file of the user's tokens."""
    return _paths.state() / "serve/access.json"


def new_token(name: str, right: Right) -> tuple[str, Token]:
    """Return a new token, as text and as it is kept."""
    text = secrets.token_urlsafe(_BYTES)
    return text, Token(name, right, digest_of(text), time.time())


def digest_of(text: str) -> str:
    """Return the hash of a token."""
    return hashlib.sha256(text.encode("utf-8", "surrogateescape")).hexdigest()


def right_of(word: str) -> Right:
    """Read the kind of a token.

    Raises
    ------
    UsageError
    """
    known = {one.word: one for one in Right if one is not Right.OPEN}
    if word not in known:
        raise UsageError(f"read {word[:40]!r}, expected {', '.join(known)}")
    return known[word]


def read_access() -> Access:
    """Read the file; make one with a new key where there is none.

    Raises
    ------
    MachineError
        When it belongs to somebody else, or others may read it.
    """
    path = access_file()
    if not path.exists():
        with writing(path), alone(private_folder(path.parent)):
            if not path.exists():
                _write(Access(secrets.token_hex(_BYTES)))
    _check_private(path)
    document = json_field(as_text(path, read_bytes(path)), path)
    fields = document.mapping(_MEMBERS)
    fields[_MEMBERS[0]].integer(_VERSION, _VERSION)
    found = []
    for one in fields["tokens"].items():
        parts = one.mapping(_FIELDS)
        found.append(
            Token(
                parts["name"].text(),
                right_of(parts["right"].text()),
                parts["digest"].text(),
                parts["made"].number(),
            )
        )
    key = fields["key"].text()
    if not all(_HEX.fullmatch(one) for one in (key, *(t.digest for t in found))):
        raise document.error("holds a key or a hash that is none; remove the file")
    return Access(key, tuple(found))


def add_token(name: str, right: Right) -> str:
    """Make a token, keep its hash, and return it: nobody can read it later.

    Raises
    ------
    UsageError
        When the name is none, or there is one of that name.
    """
    if not _NAME.fullmatch(name):
        raise UsageError(
            f"read the name {name[:60]!r}, expected at most 64 letters, digits and ._@-"
        )
    read_access()
    with alone(access_file().parent):
        known = read_access()
        if any(one.name == name for one in known.tokens):
            raise UsageError(
                f"there is a token {name} already; skelgen serve token remove {name} "
                "ends it"
            )
        if len(known.tokens) >= _MOST:
            raise UsageError(f"there are {_MOST} tokens already; remove some")
        text, token = new_token(name, right)
        _write(replace(known, tokens=(*known.tokens, token)))
    return text


def remove_token(name: str) -> None:
    """Remove a token: it opens nothing from now on.

    Raises
    ------
    InputError
        When there is none of that name.
    """
    read_access()
    with alone(access_file().parent):
        known = read_access()
        left = tuple(one for one in known.tokens if one.name != name)
        if len(left) == len(known.tokens):
            names = ", ".join(one.name for one in known.tokens[:8]) or "none"
            raise InputError(f"there is no token {name[:60]}; there are: {names}")
        _write(replace(known, tokens=left))


def _write(access: Access) -> None:
    tokens = [
        {"name": t.name, "right": t.right.word, "digest": t.digest, "made": t.made}
        for t in access.tokens
    ]
    content = {_MEMBERS[0]: _VERSION, "key": access.key, "tokens": tokens}
    replace_file(access_file(), sealed_json(content))


def _check_private(path: Path) -> None:
    about = path.stat()
    if about.st_uid != os.geteuid():
        raise MachineError(
            f"{path} belongs to user {about.st_uid}, expected {os.geteuid()}; set "
            "SKELGEN_STATE to a folder of your own"
        )
    if about.st_mode & (stat.S_IRWXG | stat.S_IRWXO):
        raise MachineError(f"others may read {path}; run: chmod 600 {path}")
    if path.parent.stat().st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        raise MachineError(
            f"others may change {path.parent}; run: chmod 700 {path.parent}"
        )
