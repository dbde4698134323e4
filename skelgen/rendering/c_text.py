"""Write text that nobody has checked into C: as strings, comments and names.

What a signature says of itself may have been written by anybody. In C it is data, and
stays data: each of these functions returns characters that end nothing and begin
nothing. Nothing else in this package writes such text.
"""

from __future__ import annotations

import re

from skelgen.errors import InputError

#: What stands in a C string as it is. Question marks would make trigraphs, percent
#: signs formats.
_PLAIN = frozenset(
    b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
    b" _.,:;=+-/()[]{}<>&|!@^~"
)
#: What does not stand in a comment: it could end it, or continue its line.
_NOT_IN_COMMENTS = re.compile(r"[^ -~]|[*\\?`$]")
_LONGEST_COMMENT = 60
_NOT_IN_NAMES = re.compile(r"\W", re.ASCII)
#: What no program of ours has: trigraphs, continued lines, other than plain ASCII.
_NEVER = re.compile(r"\?\?|\\[ \t]*\n|[^\n\t -~]")


def c_string(text: str) -> str:
    r"""Return a C string literal of a text, octal for all but plain characters.

    Three digits always: what follows can never become a part of them.

    Examples
    --------
    >>> print(c_string('a "b" 100 %'))
    "a \042b\042 100 \045"
    """
    data = text.encode("utf-8", "surrogatepass")
    return '"' + "".join(chr(b) if b in _PLAIN else f"\\{b:03o}" for b in data) + '"'


def c_comment(text: str) -> str:
    """Return a text as it may stand in a comment, shortened to one line.

    Examples
    --------
    >>> c_comment("x */ system(1); /*")
    'x _/ system(1); /_'
    """
    return _NOT_IN_COMMENTS.sub("_", text)[:_LONGEST_COMMENT]


def c_name(text: str, otherwise: str) -> str:
    """Return a text as a part of a C name that begins with a letter.

    Examples
    --------
    >>> c_name("cart-2", "comm"), c_name("2", "comm")
    ('cart_2', 'comm_2')
    """
    name = _NOT_IN_NAMES.sub("_", text)[:_LONGEST_COMMENT]
    if not name:
        return otherwise
    return name if name[0].isalpha() else f"{otherwise}_{name}"


def checked(text: str) -> str:
    """Return the text of a program, which has only what we write on purpose.

    Raises
    ------
    InputError
        When it has something else: a value of a signature came past the functions
        above.
    """
    if (found := _NEVER.search(text)) is not None:
        line = text.count("\n", 0, found.start()) + 1
        raise InputError(
            f"line {line} of the C program would hold {found[0]!r}, which skelgen "
            "never writes: its signature was not made by skelgen"
        )
    return text
