"""Which runs a template with the facts of a system is fitted to: those on it."""

from __future__ import annotations

from skelgen.pipeline.known_systems import known_systems


def runs_where(place: str | None, application: str, system: str) -> tuple[str, ...]:
    """Return conditions on the runs that a template is fitted to.

    Facts of one system and runs on another say nothing of each other.

    Parameters
    ----------
    place : str, optional
        Of the store; see `skelgen.store.place_of`.
    application : str
        Empty: the template is computed, and no run counts.
    system : str
        Host or system of the store; of a host the runs on its system count.
    """
    if not (application and system):
        return ()
    rows = known_systems(store=place)
    if system in {one.system for one in rows.rows}:
        return (f"system={system}",)
    whole = {one.system for one in rows.of(system).facts if one.system}
    return (f"system={whole.pop()}" if len(whole) == 1 else f"host={system}",)
