"""The data of the page of a recorded run as a small document for a store.

It is JSON, compressed and as text. What is too large is left out or made coarser, level
by level, and the document says so.
"""

from __future__ import annotations

import base64
import json
import zlib
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import numpy as np

from skelgen.errors import InputError
from skelgen.events.sites import SiteSummary
from skelgen.timeline.coarser import coarser
from skelgen.timeline.encoding import MOST_PIECES_BYTES
from skelgen.timeline.store import plain_timeline
from skelgen.units import format_bytes
from skelgen.web.call_sites import MOST_SITES
from skelgen.web.rank_blocks import SentBlocks
from skelgen.web.recording import RunRecording

#: The document, compressed and as JSON [bytes].
MOST_PACKED, MOST_TEXT = 1 << 20, 4 << 20
#: Entries of each list of it, and characters of a text.
MOST_LISTED_RANKS, MOST_HOSTS, MOST_FUNCTIONS, MOST_WAITS = 1 << 16, 1024, 2000, 100
MOST_WORDS, MOST_WARNINGS, MOST_FRAMES, MOST_LONG = 200, 100, 64, 500
#: Of the timeline; compressed as itself [bytes].
MOST_PIECES, _MOST_TIMELINE = 1 << 18, MOST_PIECES_BYTES
#: Version of the document, and how often it is made coarser before a part goes.
RECORDING_FORMAT, _LEVELS = 1, 8
#: Digits of the computation of a rank where there are many.
_DIGITS, _MANY = 6, 4096


def document_of(recording: RunRecording) -> str:
    """Return the document of a recording.

    Raises
    ------
    InputError
        When it does not fit, however coarse.
    """
    for level in range(_LEVELS + 1):
        small = _smaller(recording, level)
        text = json.dumps(_plain(small), separators=(",", ":"), allow_nan=False)
        if len(text) <= MOST_TEXT:
            packed = zlib.compress(text.encode("ascii"), 6)
            if len(packed) <= MOST_PACKED:
                return base64.b64encode(packed).decode()
    raise InputError(
        f"what the page shows takes more than {format_bytes(MOST_PACKED)}; skelgen "
        "info writes the page into the folder of the run"
    )


def _smaller(recording: RunRecording, level: int) -> RunRecording:
    """Return a recording with at most so many entries; the last level is the least."""
    left_out = list(recording.left_out)
    found = _short(recording, left_out)
    if found.timeline is not None and level == _LEVELS:
        found = replace(found, timeline=None)
        left_out.append("The timeline is too large for the store.")
    elif found.timeline is not None:
        small = coarser(
            found.timeline,
            most_bytes=_MOST_TIMELINE >> level,
            most_pieces=MOST_PIECES >> level,
        )
        if small is not found.timeline:
            left_out.append(
                "The timeline is coarser here than in the recorded folder, to keep "
                "the store small."
            )
        found = replace(found, timeline=small)
    return replace(found, left_out=tuple(left_out))


def _short(one: RunRecording, left_out: list[str]) -> RunRecording:
    """Cut lists and texts, and say so."""
    computed_s = one.computed_s
    if len(computed_s) > MOST_LISTED_RANKS:
        computed_s = np.zeros(0)
        left_out.append(
            f"The computation of each rank is left out: the store keeps up to "
            f"{MOST_LISTED_RANKS} ranks."
        )
    for what, count, most in (
        ("functions", len(one.functions), MOST_FUNCTIONS),
        ("words of the command", len(one.command), MOST_WORDS),
        ("warnings", len(one.warnings), MOST_WARNINGS),
    ):
        if count > most:
            left_out.append(f"Only {most} of {count} {what} are in the store.")
    sites = tuple(map(_short_site, one.sites[: 2 * MOST_SITES]))
    return replace(
        one,
        application=_cut(one.application),
        program=_cut(one.program),
        mpi=_cut(one.mpi),
        started=_cut(one.started),
        command=_texts(one.command, MOST_WORDS),
        hosts=tuple((_cut(name), ranks) for name, ranks in one.hosts[:MOST_HOSTS]),
        more_hosts=one.more_hosts + max(len(one.hosts) - MOST_HOSTS, 0),
        warnings=_texts(one.warnings, MOST_WARNINGS),
        notes=_texts(one.notes, MOST_WARNINGS),
        functions=tuple((_cut(a), b, c) for a, b, c in one.functions[:MOST_FUNCTIONS]),
        computed_s=computed_s,
        waits=tuple(
            replace(wait, function=_cut(wait.function))
            for wait in one.waits[:MOST_WAITS]
        ),
        sites=sites,
        more_sites=one.more_sites + len(one.sites) - len(sites),
    )


def _cut(text: str) -> str:
    """Return a text that is no longer than any can be, and without half characters."""
    short = text if len(text) <= MOST_LONG else f"{text[: MOST_LONG - 3]}..."
    return short.encode("utf-8", "replace").decode().replace("\0", "?")


def _texts(texts: Iterable[str], most: int) -> tuple[str, ...]:
    return tuple(_cut(one) for one in [*texts][:most])


def _short_site(site: SiteSummary) -> SiteSummary:
    source = tuple(
        replace(line, file=_cut(line.file), function=_cut(line.function))
        for line in site.source[:MOST_FRAMES]
    )
    return replace(
        site, function=_cut(site.function), where=_cut(site.where), source=source
    )


def _plain(one: RunRecording) -> dict[str, Any]:
    """Return a recording as plain values for JSON."""
    many = len(one.computed_s) > _MANY
    return {
        "format": RECORDING_FORMAT,
        **{name: getattr(one, name) for name in TEXTS + COUNTS + AMOUNTS + LISTS},
        "clean": one.clean,
        "hosts": one.hosts,
        "functions": one.functions,
        "computed_s": [
            float(f"{time_s:.{_DIGITS}g}") if many else time_s
            for time_s in one.computed_s.tolist()
        ],
        "waits": [
            [int(w.kind), w.function, w.calls, w.time_s, w.behind, w.behind_s]
            for w in one.waits
        ],
        "sites": [
            [
                *(site.function, site.where, site.calls, site.time_s),
                [[line.file, line.line, line.function] for line in site.source],
            ]
            for site in one.sites
        ],
        "sent": _sent(one.sent),
        "timeline": None if one.timeline is None else plain_timeline(one.timeline),
    }


#: Members that are read alike: texts, counts, amounts, lists of texts.
TEXTS = ("application", "program", "mpi", "started")
COUNTS = ("ranks", "more_hosts", "events", "trace_bytes", "more_sites")
AMOUNTS = ("application_s", "mpi_share", "recorder_share", "compute_s")
LISTS = ("command", "warnings", "notes", "left_out")


def _sent(sent: SentBlocks) -> dict[str, Any]:
    """Return the cells of a matrix that have messages."""
    cells = np.flatnonzero(sent.messages.ravel())
    return {
        "ranks": sent.ranks,
        "each": sent.each,
        "cells": cells.tolist(),
        "size_bytes": sent.size_bytes.ravel()[cells].astype(np.int64).tolist(),
        "messages": sent.messages.ravel()[cells].astype(np.int64).tolist(),
    }
