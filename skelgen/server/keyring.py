"""Compare what a request shows with the tokens that count now."""

from __future__ import annotations

import hashlib
import hmac
import threading
from dataclasses import dataclass

from skelgen.server.tokens import (
    Access,
    Right,
    Token,
    access_file,
    digest_of,
    read_access,
)


@dataclass(frozen=True, slots=True)
class Visitor:
    """Who asks.

    Attributes
    ----------
    name : str
        Of the token.
    right : Right
    form : str
        Second token of forms: who has no page of ours does not know it.
    """

    name: str
    right: Right
    form: str


class Keyring:
    """The token of the printed address, and those of the file as it is now.

    Parameters
    ----------
    start : Token
        Of the printed address.
    most : Right
        No token allows more: that of a server that only reads.
    """

    def __init__(self, start: Token, most: Right = Right.ADMINISTER) -> None:
        self._start = start
        self._most = most
        self._lock = threading.Lock()
        self._seen: tuple[int, ...] | None = None
        self._access: Access | None = None

    def by_token(self, text: str) -> Visitor | None:
        """Return who shows a token; None where it is none."""
        access = self._now()
        digest = digest_of(text)
        return self._found(access, {one.digest: one for one in self._all()}, digest)

    def by_cookie(self, value: str) -> Visitor | None:
        """Return who shows a cookie; None where it is none, or its token is gone."""
        access = self._now()
        known = {_derived(access, "cookie", one): one for one in self._all()}
        return self._found(access, known, value)

    def cookie(self, text: str) -> str:
        """Return the cookie that is given for a token."""
        token = Token("", Right.OPEN, digest_of(text), 0.0)
        return _derived(self._now(), "cookie", token)

    def _found(
        self, access: Access, known: dict[str, Token], shown: str
    ) -> Visitor | None:
        """Compare with all of them, so that the time says nothing."""
        given = shown.encode("utf-8", "surrogateescape")
        found = None
        for value, one in known.items():
            if hmac.compare_digest(value.encode(), given):
                found = one
        if found is None:
            return None
        right = min(found.right, self._most)
        return Visitor(found.name, right, _derived(access, "form", found))

    def _all(self) -> tuple[Token, ...]:
        return self._start, *self._now().tokens

    def _now(self) -> Access:
        """Return the file's content, read again when it was changed."""
        with self._lock:
            try:
                about = access_file().stat()
                seen = about.st_ino, about.st_ctime_ns, about.st_size
            except FileNotFoundError:
                seen = None
            if self._access is None or seen is None or seen != self._seen:
                self._access = read_access()
                self._seen = seen
            return self._access


def same(one: str, other: str) -> bool:
    """Compare two secrets in a time that says nothing of them."""
    return hmac.compare_digest(
        one.encode("utf-8", "surrogateescape"), other.encode("utf-8", "surrogateescape")
    )


def _derived(access: Access, use: str, token: Token) -> str:
    text = f"{use}:{token.digest}".encode()
    return hmac.new(bytes.fromhex(access.key), text, hashlib.sha256).hexdigest()
