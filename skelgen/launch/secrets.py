"""Leave passwords, tokens and keys out of what is written about a launch.

Only the user's own list of launches (`skelgen.launch.own_launches`) has the words as
they were typed. docs/security.md lists the rules; they would rather hide too much,
because what is hidden is only shown, never executed.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

#: What stands in place of a secret.
HIDDEN = "***"

#: Endings of a part of a name, such as ``accessToken`` or ``db_password``.
_STRONG = (
    *("password", "passwd", "passphrase", "secret", "secrets", "token"),
    *("apikey", "secretkey", "accesskey", "privatekey", "credential", "credentials"),
)
#: Last parts of a name: ``--api-key``, but not ``--key-frames``.
_LAST = frozenset({"key", "pass", "pwd", "auth", "authorization", "bearer", "cookie"})
#: Last parts that say that no secret follows but something about it.
_ABOUT = frozenset(
    "file path dir folder name type length len count size url".split()
)  # fmt: skip
_PART = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")
#: A name and what follows it within one word: NAME=x, NAME: x, "NAME": x, --NAME x.
#: Names begin where one can begin only, so that long words take no longer.
_INSIDE = re.compile(
    r"""(?<![A-Za-z0-9_.\-])([A-Za-z0-9_.\-]++)(?:["']?\s*+[=:]|(?<=[^\s])\s++(?=\S))"""
)
#: Options of launchers that take a variable's name and its value as two words.
_PAIRS = frozenset({"-genv", "--genv", "-env", "--env"})


def is_secret(name: str) -> bool:
    """Say whether a value of this name is to be hidden.

    Examples
    --------
    >>> [is_secret(name) for name in ("--api-key", "DBPASS", "accessToken")]
    [True, True, True]
    >>> [is_secret(name) for name in ("--key-frames", "-k", "tokenizer", "bypass")]
    [False, False, False, False]
    """
    parts = _PART.findall(name)
    if not parts or parts[-1].lower() in _ABOUT:
        return False
    if parts[-1].lower() in _LAST or (parts[-1].isupper() and name.endswith("PASS")):
        return True
    return any(part.lower().endswith(_STRONG) for part in parts)


def hidden_text(text: str) -> str:
    """Return one word without secrets.

    What follows the first secret name is hidden to the end of the word: nobody knows
    where a secret ends.

    Examples
    --------
    >>> hidden_text("--token=abc"), hidden_text("https://me:pw@host/x")
    ('--token=***', 'https://***@host/x')
    """
    text = re.sub(r"\S+", _without_user, text)
    for found in _INSIDE.finditer(text):
        name, told = found[1], found[0][-1] in "=:"
        begin = found.start()
        option = name[0] == "-" and (not begin or text[begin - 1].isspace())
        if (told or option) and is_secret(name) and found.end() < len(text):
            return text[: found.end()] + HIDDEN
    return text


def _without_user(found: re.Match[str]) -> str:
    """Hide the user and the password of a URL."""
    word = found[0]
    begin, end = word.find("://"), word.rfind("@")
    return word[: begin + 3] + HIDDEN + word[end:] if 0 <= begin < end - 3 else word


def hidden(words: Sequence[str]) -> tuple[str, ...]:
    """Return a command without secrets, as many words as before.

    Examples
    --------
    >>> hidden(["mpirun", "-genv", "DBPASS", "x", "./app", "--password", "y"])
    ('mpirun', '-genv', 'DBPASS', '***', './app', '--password', '***')
    """
    found: list[str] = []
    for at, word in enumerate(words):
        before = words[at - 1] if at else ""
        named = before.startswith("-") and "=" not in before and is_secret(before)
        paired = at > 1 and words[at - 2] in _PAIRS and is_secret(before)
        follows = paired or (named and not re.match("--[A-Za-z]", word))
        found.append(HIDDEN if follows and word else hidden_text(word))
    return tuple(found)


def hidden_values(pairs: Iterable[tuple[str, str]]) -> tuple[tuple[str, str], ...]:
    """Return variables of an environment without secrets."""
    return tuple(
        (name, HIDDEN if is_secret(name) and value else hidden_text(value))
        for name, value in pairs
    )
