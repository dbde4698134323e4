r"""Names and arguments that are not UTF-8, as text that is.

Linux lets a file name hold any byte. Python keeps a byte that is not UTF-8 as half of
a surrogate pair (`os.fsdecode`), which no UTF-8 file can hold. JSON writes it as the
escape ``\udcXX``. YAML has no such escape: there it becomes U+FDD0, which is no
character, and the two hexadecimal digits of the byte.
"""

from __future__ import annotations

import re

MARK = "\ufdd0"
#: Control characters but tab and new line, and those that turn the direction of text.
_HIDDEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]"
)
_BYTE = re.compile("[\udc80-\udcff]")
_ESCAPED = re.compile(f"{MARK}([89a-f][0-9a-f])")
_HALF = re.compile("[\ud800-\udfff]")


def escaped(text: str) -> str:
    r"""Return text with each byte that is not UTF-8 as U+FDD0 and two digits.

    Examples
    --------
    >>> escaped("caf\udce9") == "caf\ufdd0e9"
    True
    """
    if text.isascii():
        return text
    if MARK in text:  # or what is a name would be read as an escape
        text = text.replace(MARK, "\udcef\udcb7\udc90")
    return _HALF.sub("\ufffd", _BYTE.sub(_escape, text))


def printable(text: str) -> str:
    r"""Return a text that may be anybody's as a part of one line.

    Examples
    --------
    >>> printable("n1\nLEVEL")
    'n1?LEVEL'
    """
    return "".join(char if char.isprintable() else "?" for char in text)


def unescaped(text: str) -> str:
    """Return text with the bytes that `escaped` wrote."""
    if MARK not in text:
        return text
    return whole(_ESCAPED.sub(lambda found: chr(0xDC00 + int(found[1], 16)), text))


def shown(text: str) -> str:
    r"""Return text for people, with bytes that are not UTF-8 as ``\\xe9``.

    Examples
    --------
    >>> print(shown("caf\udce9"))
    caf\xe9
    """
    if text.isascii():
        return text
    raw = _HALF.sub(
        lambda found: found[0] if _BYTE.fullmatch(found[0]) else "\ufffd", text
    )
    return raw.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")


def listed(text: str) -> list[str]:
    """Return what stands between commas, without blanks and without empty parts.

    Examples
    --------
    >>> listed(" n>1, m ,,")
    ['n>1', 'm']
    """
    return [one for part in text.split(",") if (one := part.strip())]


def visible(text: str) -> str:
    r"""Return text with a mark for each character that no page may have.

    Control characters but tabs and new lines are not well-formed in XML and reach a
    terminal when they are copied; others turn the direction of the text around them.

    Examples
    --------
    >>> print(visible("a\u202eb\x1b"))
    a�b�
    """
    return _HIDDEN.sub("\ufffd", text)


def whole(text: str) -> str:
    """Return text as `os.fsdecode` gives it: bytes that are UTF-8 as characters.

    Raises
    ------
    UnicodeError
        When it holds half of a pair that is no such byte.
    """
    if text.isascii():
        return text
    return text.encode("utf-8", "surrogateescape").decode("utf-8", "surrogateescape")


def _escape(found: re.Match[str]) -> str:
    return f"{MARK}{ord(found[0]) - 0xDC00:02x}"
