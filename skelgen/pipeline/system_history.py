"""What was measured of a system, again and again."""

from __future__ import annotations

from skelgen.errors import UsageError
from skelgen.store import Fact, open_store


def fact_history(place: str | None, name: str, fact: str) -> tuple[Fact, ...]:
    """Return all measurements of a value of a host or system, the oldest first.

    Parameters
    ----------
    place : str, optional
        Of the store.
    name : str
        Host or system.
    fact : str
        Such as ``float_multiply_add``.

    Raises
    ------
    UsageError
        When there are none.
    """
    with open_store(place, make=False) as store:
        every = store.facts(name=fact)
        found = tuple(one for one in every if name in (one.host, one.system))
        if found:
            return found
        known = sorted(
            {one.name for one in store.facts() if name in (one.host, one.system)}
        )
    raise UsageError(
        f"{fact[:60]!r} was not measured of {name[:60]!r}; what was: "
        f"{', '.join(known)[:300] or 'nothing'}"
    )
