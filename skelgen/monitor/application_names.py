"""Which application a process is: by the name of its program, or by its group."""

from __future__ import annotations

import os
from collections.abc import Sequence

#: Programs whose first argument is the program that the user means.
_INTERPRETERS = ("python", "sh", "bash", "zsh", "perl", "julia", "Rscript", "lua")
#: The kernel keeps so many characters of a name.
_KEPT = 15


def name_of(program: Sequence[str]) -> str:
    """Return the name of a program; that of the script where one interprets it.

    Parameters
    ----------
    program : sequence of str
        With its arguments.

    Examples
    --------
    >>> name_of(["/usr/bin/python3", "-u", "solve.py", "8"]), name_of(["./app"])
    ('solve.py', 'app')
    >>> name_of(["sh", "-c", "exit 3"])
    'sh'
    """
    name = os.path.basename(program[0])  # noqa: PTH119
    if name.rstrip("0123456789.") not in _INTERPRETERS:
        return name
    words = iter(program[1:])
    for word in words:
        if word == "-m":
            return next(words, name)
        if not word.startswith("-"):
            return os.path.basename(word)  # noqa: PTH119
        if word[1:] in ("c", "e"):
            break
    return name


def named(
    wanted: Sequence[str], kept: str, program: Sequence[str], file: str
) -> str | None:
    """Return which of some names a process has; None: none of them.

    Parameters
    ----------
    wanted : sequence of str
    kept : str
        The name that the kernel keeps, cut after 15 characters.
    program : sequence of str
        With its arguments; empty where they cannot be read.
    file : str
        That it executes; empty where that cannot be read.

    Examples
    --------
    >>> named(["solve"], "python3", ["python3", "./solve.py"], "/usr/bin/python3.11")
    'solve'
    >>> named(["heat2d"], "mpirun", ["mpirun", "heat2d"], "/usr/bin/mpirun") is None
    True
    """
    known = {os.path.basename(file)} if file else set()  # noqa: PTH119
    if program and program[0]:
        known |= {os.path.basename(program[0]), name_of(program)}  # noqa: PTH119
    known |= {name.removesuffix(".py") for name in known}
    for name in wanted:
        if name in known or (kept == name[:_KEPT] and (len(name) <= _KEPT or not file)):
            return name
    return None
