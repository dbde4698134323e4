"""Names of functions for people."""

from __future__ import annotations

import re

#: What compilers append to the name of a function that they changed.
_CLONE = re.compile(
    r"(\.(constprop|isra|part|cold|lto_priv|llvm|specialized)(\.\d+)?)+$"
)
#: Longest name that is shown [characters].
_LONGEST = 200


def plain_function(name: str) -> str:
    """Return the name of a function without its parameters and what a compiler added.

    Names of C++ with templates stay as they are.

    Examples
    --------
    >>> plain_function("_ZN9LAMMPS_NS9CommBrick12forward_commEi")
    'LAMMPS_NS::CommBrick::forward_comm'
    >>> plain_function("exchange.constprop.0")
    'exchange'
    >>> plain_function("__pyx_pw_6mpi4py_3MPI_4Comm_73Sendrecv")
    'mpi4py.MPI.Comm.Sendrecv'
    """
    plain = _CLONE.sub("", name)[:_LONGEST]
    return _demangled(plain) or _of_cython(plain) or plain


def _of_cython(name: str) -> str:
    """Return module, class and method of what Cython made; else nothing."""
    begin = re.match(r"__pyx_(pw|pf|f)_", name)
    if not begin:
        return ""
    parts, at = [], begin.end()
    while number := re.match(r"\d{1,3}", name[at:]):
        first = at + number.end()
        end = first + int(number[0])
        if name[end : end + 1] != "_":
            break
        parts.append(name[first:end])
        at = end + 1
    # Methods are numbered.
    own = re.sub(r"^\d+", "", name[at:])
    return ".".join([*parts, own]) if parts and own else ""


def _demangled(name: str) -> str:
    """Read the names of the Itanium C++ ABI as far as they are plain; else nothing."""
    if not name.startswith("_Z"):
        return ""
    nested = re.match(r"_ZN[rVK]*[RO]?", name)
    at = nested.end() if nested else 2
    parts: list[str] = []
    while number := re.match(r"\d{1,3}", name[at:]):
        begin = at + number.end()
        at = begin + int(number[0])
        if at > len(name):
            return ""
        part = name[begin:at]
        parts.append("(anonymous)" if part.startswith("_GLOBAL__N") else part)
        if not nested:
            break
    if nested and parts and (made := re.match(r"[CD]\d", name[at:])):
        parts.append("~" * (made[0][0] == "D") + parts[-1])
        at += made.end()
    ended = name[at : at + 1] != "I" and (not nested or name[at : at + 1] == "E")
    return "::".join(parts) if parts and ended else ""
