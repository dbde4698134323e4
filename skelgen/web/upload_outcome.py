"""What became of a file that somebody sent."""

from __future__ import annotations

from dataclasses import dataclass, field

from skelgen.store.store import Added


@dataclass(frozen=True, slots=True)
class Uploaded:
    """What became of a file.

    Attributes
    ----------
    name : str
        As its sender calls it.
    added : Added
    runs : frozenset of str
        Identities of those of its rows that are runs.
    notes : tuple of str
        What people should know of it.
    """

    name: str
    added: Added
    runs: frozenset[str] = field(default_factory=frozenset)
    notes: tuple[str, ...] = ()
