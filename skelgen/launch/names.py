"""What an application is called: by the program that its launch runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType

#: Programs that run another one that the user means, with their options that take the
#: word after them.
_INTERPRETERS: Mapping[str, frozenset[str]] = MappingProxyType(
    {
        "python": frozenset({"-W", "-X", "--check-hash-based-pycs"}),
        "pypy": frozenset({"-W", "-X"}),
        **dict.fromkeys(("sh", "bash", "dash", "zsh", "ksh"), frozenset({"-o", "+o"})),
        "perl": frozenset({"-I"}),
        "julia": frozenset({"-t", "-p", "-J", "-L", "-C", "-H", "-O"}),
        "Rscript": frozenset({"-e"}),
        "lua": frozenset({"-l"}),
    }
)
#: After these no script follows: the program is a word, or comes from standard input.
_NO_SCRIPT = ("-c", "-e", "-E", "-s", "-")


def application_name(program: Sequence[str]) -> str:
    """Return what an application is called in signatures, the store and answers.

    Every part of skelgen that names one from its launch asks here, so that a run that
    was timed pairs with a prediction from one that was recorded.

    Parameters
    ----------
    program : sequence of str
        Program and arguments, without the launcher.

    Returns
    -------
    str
        Name of the program's file; that of the script or module where the program
        only interprets one; empty without a program.

    Examples
    --------
    >>> application_name(["/usr/bin/python3", "-u", "in/solve.py", "8"])
    'solve.py'
    >>> application_name(["env", "OMP_NUM_THREADS=1", "./app"])
    'app'
    >>> application_name(["sh", "-c", "exit 3"])
    'sh'
    """
    words = _without_env(program)
    if not words:
        return ""
    name = Path(words[0]).name
    with_value = _INTERPRETERS.get(name.rstrip("0123456789."))
    rest = iter(words[1:] if with_value is not None else ())
    for word in rest:
        if word == "-m" and name.startswith(("python", "pypy")):
            return next(rest, name)
        if word in _NO_SCRIPT:
            break
        if with_value and word in with_value:
            next(rest, None)
        elif not word.startswith(("-", "+")):
            return Path(word).name or name
    return name


def _without_env(program: Sequence[str]) -> list[str]:
    """Return a program without ``env`` and the variables that it sets."""
    words = list(program)
    if words and Path(words[0]).name == "env":
        at = 1
        while at < len(words) and ("=" in words[at] or words[at] in ("-i", "-")):
            at += 1
        words = words[at:] or words[:1]
    return words
