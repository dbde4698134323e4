"""The file ``timeline.json`` of a skeleton's folder.

The page of the folder shows it. Whoever has the folder may write the file: what it
says is shown as text and a picture, and used for nothing else.
"""

from __future__ import annotations

import base64
import binascii
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from skelgen.documents import Field, sealed_json
from skelgen.documents.files import as_text, read_bytes
from skelgen.documents.json_document import json_field
from skelgen.errors import NoFileError
from skelgen.timeline.encoding import MOST_CODED, MOST_PIECES_BYTES, decoded
from skelgen.timeline.types import LaneTotal, RankWork, RunTimeline, Thing

TIMELINE_FILE = "timeline.json"
_FORMAT = 1
_FIELDS = (
    "format",
    "span_ns",
    "unit_ns",
    "width_ns",
    "is_complete",
    "knows_waiting",
    "things",
    "lanes",
    "data",
)
_MOST_FILE, _MOST_LANES, _MOST_THINGS = 4 << 20, 256, 255
_FIRST_THINGS = [RankWork.COMPUTATION, RankWork.ABSENT]
_MOST_NS, _MOST_RANKS = 1 << 62, 1 << 31


def text_of(timeline: RunTimeline) -> str:
    """Return the text of the file."""
    return sealed_json(plain_timeline(timeline), indent=None)


def plain_timeline(timeline: RunTimeline) -> dict[str, Any]:
    """Return a timeline as plain values for JSON."""
    return {
        "format": _FORMAT,
        **asdict(timeline),
        "things": [[int(one.work), one.name] for one in timeline.things],
        "data": base64.b64encode(timeline.data).decode(),
    }


def load(folder: Path) -> RunTimeline | None:
    """Read the timeline of a folder; None without a file.

    Raises
    ------
    InputError
        When the file is damaged.
    """
    path = folder / TIMELINE_FILE
    try:
        text = as_text(path, read_bytes(path, most_bytes=_MOST_FILE))
    except NoFileError:
        return None
    return read_timeline(json_field(text, path))


def read_timeline(document: Field, most_pieces: int = MOST_CODED) -> RunTimeline:
    """Read a timeline that anybody may have written.

    Parameters
    ----------
    document : Field
        As `plain_timeline` writes it; other members are left alone.
    most_pieces : int

    Raises
    ------
    InputError
        When it is none.
    """
    found = _timeline(document, most_pieces)
    try:
        rows = decoded(found)
    except ValueError as error:
        raise document.error(f"the data {error}") from error
    for lane, pieces in zip(found.lanes, rows, strict=True):
        length_ns = float(pieces.length_ns.sum(dtype=np.float64))
        if length_ns > 2.0 * found.span_ns + found.unit_ns:
            raise document.error(
                f"the data of rank {lane.first} takes longer than the run"
            )
    return found


def _timeline(document: Field, most_pieces: int) -> RunTimeline:
    parts = document.mapping(_FIELDS, None)
    parts["format"].integer(_FORMAT, _FORMAT)
    found = RunTimeline(
        span_ns=parts["span_ns"].integer(1, _MOST_NS),
        unit_ns=parts["unit_ns"].integer(1, _MOST_NS),
        width_ns=parts["width_ns"].integer(1, _MOST_NS),
        is_complete=parts["is_complete"].truth(),
        knows_waiting=parts["knows_waiting"].truth(),
        things=tuple(_thing(one) for one in parts["things"].items()),
        lanes=tuple(_lane(one) for one in parts["lanes"].items()),
        data=_bytes(parts["data"]),
    )
    pieces = sum(lane.pieces for lane in found.lanes)
    for field, number, most in (
        ("things", len(found.things), _MOST_THINGS),
        ("lanes", len(found.lanes), _MOST_LANES),
        ("lanes", pieces, most_pieces),
        ("data", len(found.data), 2 * MOST_PIECES_BYTES),
    ):
        if number > most:
            raise parts[field].error(f"read {number} of them, expected at most {most}")
    if [one.work for one in found.things[:2]] != _FIRST_THINGS:
        raise parts["things"].error("expected computation and absence first")
    if not found.lanes:
        raise parts["lanes"].error("read none, expected a row for each rank")
    return found


def _thing(field: Field) -> Thing:
    work, name, *_ = [*field.items(), field, field]
    return Thing(RankWork(work.integer(0, len(RankWork) - 1)), name.text()[:80])


def _lane(field: Field) -> LaneTotal:
    parts = field.mapping(("first", "last", "pieces", "times_s"), None)
    times_s = [one.amount() for one in parts["times_s"].items()]
    if len(times_s) != len(RankWork):
        raise parts["times_s"].error(f"read {len(times_s)} times, one for each kind")
    return LaneTotal(
        parts["first"].integer(0, _MOST_RANKS),
        parts["last"].integer(0, _MOST_RANKS),
        parts["pieces"].integer(0, MOST_CODED),
        tuple(times_s),
    )


def _bytes(field: Field) -> bytes:
    try:
        return base64.b64decode(field.text(), validate=True)
    except (binascii.Error, ValueError) as error:
        raise field.error(f"is not base64: {error}") from error
