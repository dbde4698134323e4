"""The kinds of step of random C programs: what they are and which parts they use.

The sources in ``kinds/`` consist of parts that empty lines separate: a function, a
variable, a type. A comment ``/* Kind: ... */`` in front of a function says that it is a
kind of step; what stands before and after its loop are functions of the same name with
``_begin`` and ``_end``. A program gets only the parts that its steps use.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

#: In this order: a part uses what stands before it.
SOURCES = (
    *("frame", "messages", "persistent", "collectives", "windows", "types"),
    *("topologies", "communicators", "large"),
)

_KIND = re.compile(r"^/\* Kind(?: \((\w+)\))?: (.+?)\.? \*/\n", re.DOTALL)
_FUNCTION = re.compile(r"^static [^=;{]*?\b(\w+)\(")
_VARIABLES = re.compile(r"^static [^=;({]*;")
_CALL = re.compile(r"\b(MPI_[A-Z]\w+)\(")


@dataclass(frozen=True)
class Part:
    """A piece of C between two empty lines.

    Attributes
    ----------
    text : str
    names : tuple of str
        What it defines; nothing for what every program gets.
    words : frozenset of str
        Identifiers in it, outside of comments.
    """

    text: str
    names: tuple[str, ...]
    words: frozenset[str]


@dataclass(frozen=True)
class Kind:
    """A kind of step.

    Attributes
    ----------
    name : str
        Its function.
    says : str
        What it does.
    needs : str
        ``world`` where all ranks must take part, ``threads`` where MPI must allow
        threads to call it at any time, or nothing.
    begins, ends : bool
        Whether something stands before and after the loop around it.
    functions : frozenset of str
        MPI functions that it may call.
    """

    name: str
    says: str
    needs: str
    begins: bool
    ends: bool
    functions: frozenset[str]


def _part(text: str) -> Part:
    code = re.sub(r"/\*.*?\*/", "", text, flags=re.DOTALL).lstrip()
    names: tuple[str, ...] = ()
    if found := _FUNCTION.match(code):
        names = (found[1],)
    elif found := _VARIABLES.match(code):
        names = tuple(re.findall(r"(\w+)(?:\[\w+\])?[,;]", found[0]))
    words = frozenset(re.findall(r"\b[A-Za-z_]\w*", code))
    return Part(text, names, words)


@cache
def parts() -> tuple[Part, ...]:
    """Return all parts in order."""
    folder = Path(__file__).with_name("kinds")
    found = []
    for name in SOURCES:
        text = (folder / f"{name}.c").read_text()
        pieces = re.split(r"\n\n(?=\S)", text.rstrip("\n"))
        if name != "frame":
            pieces = pieces[1:]  # the comment about the file
        found += [_part(piece) for piece in pieces]
    return tuple(found)


def used(names: Iterable[str]) -> tuple[Part, ...]:
    """Return what every program gets, and the parts that these names use."""
    by_name = {name: part for part in parts() for name in part.names}
    waiting = [by_name[name] for name in names]
    waiting += [part for part in parts() if not part.names]
    found: set[Part] = set()
    while waiting:
        part = waiting.pop()
        if part not in found:
            found.add(part)
            known = [by_name[word] for word in part.words if word in by_name]
            waiting += known if part.names else []
    return tuple(part for part in parts() if part in found)


def functions_of(some: Collection[Part]) -> frozenset[str]:
    """Return the MPI functions that parts call."""
    return frozenset(name for part in some for name in _CALL.findall(part.text))


@cache
def kinds() -> tuple[Kind, ...]:
    """Return all kinds of step, in the order of the sources."""
    known = {name for part in parts() for name in part.names}
    found = []
    for part in parts():
        if marked := _KIND.match(part.text):
            (name,) = part.names
            around = [f"{name}_{when}" for when in ("begin", "end")]
            names = [name, *(one for one in around if one in known)]
            calls = functions_of(used(names))
            begins, ends = (one in known for one in around)
            says = re.sub(r"\s*\n \* ", " ", marked[2])
            found.append(Kind(name, says, marked[1] or "", begins, ends, calls))
    return tuple(found)


def possible(
    declared: Collection[str], broken: Collection[str]
) -> tuple[Sequence[Kind], dict[str, str]]:
    """Return the kinds that an MPI has, and why it does not have the others.

    Parameters
    ----------
    declared : collection of str
        Functions that its header declares.
    broken : collection of str
        Kinds that do not work with it.
    """
    found, lacking = [], {}
    for kind in kinds():
        if missing := sorted(kind.functions.difference(declared)):
            lacking[kind.name] = f"no {missing[0]}"
        elif kind.name in broken:
            lacking[kind.name] = "broken"
        else:
            found.append(kind)
    return found, lacking
