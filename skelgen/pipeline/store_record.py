"""Past predictions of a store, and what happened."""

from __future__ import annotations

import logging
from pathlib import Path

from skelgen.store import StoredPrediction, open_store, outcomes, place_of
from skelgen.store.pairing import WITHIN_S
from skelgen.store.track_record import TrackRecord, track_records

logger = logging.getLogger(__name__)

#: How a file of SQLite begins.
_SQLITE = b"SQLite format 3\0"


def track_record(
    place: str | None = None,
    *,
    application: str | None = None,
    within_s: float | None = None,
    trusted: bool = False,
) -> list[TrackRecord]:
    """Say of each method how far its past predictions were from what happened.

    Parameters
    ----------
    place : str, optional
        Store; the user's when None.
    application : str, optional
        Only of this one.
    within_s : float, optional
        Longest time from a prediction to the run that it is compared with; a day when
        None [s].
    trusted : bool
        Only predictions whose verdict was ``trust``.
    """
    found = past_predictions(place, application=application, within_s=within_s)
    return track_records(one for one in found if one.verdict == "trust" or not trusted)


def past_predictions(
    place: str | None = None,
    *,
    application: str | None = None,
    within_s: float | None = None,
) -> list[StoredPrediction]:
    """Return predictions of a store with what happened; see `track_record`.

    Raises
    ------
    NoFileError
        When there is no store.
    """
    with open_store(place, make=False) as store:
        found = outcomes.past_predictions(
            store, application, within_s=WITHIN_S if within_s is None else within_s
        )
        undated = outcomes.undated_runs(store, found)
    if undated:
        logger.warning(
            "runs that fit predictions but do not say when they began: %d (such as "
            "%s); they are compared with none; add such runs with a column started, or "
            "with --started",
            len(undated),
            undated[0].identity[:8],
        )
    return found


def is_store(text: str) -> bool:
    """Say whether a word names a store: a URL, or a file of SQLite."""
    if "://" in text:
        return True
    try:
        with Path(text).open("rb") as file:
            return file.read(len(_SQLITE)) == _SQLITE
    except OSError:
        return False


def shown_store(place: str) -> str:
    """Return how a store may be written: without a password."""
    return place_of(place).shown
