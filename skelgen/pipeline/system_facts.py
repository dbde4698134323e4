"""What is asked of measured systems by all who tell of them."""

from __future__ import annotations

from skelgen.documents.dates import date_of
from skelgen.pipeline.known_systems import SystemRows
from skelgen.systems.doubts import doubts_of
from skelgen.trust import Doubt


def system_doubts(rows: SystemRows) -> tuple[Doubt, ...]:
    """Return why what was measured should not be trusted, summed up."""
    return doubts_of(rows.doubts)


def measured_date(seconds: float) -> str | None:
    """Return when something was measured; None where it is not known."""
    found = date_of(seconds)
    return None if found is None else found.isoformat(timespec="seconds")
