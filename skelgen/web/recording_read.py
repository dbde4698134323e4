"""Read the document of a recorded run's page: a stranger may have written it.

All is checked: types, ranges, counts and lengths. What it says is shown as text and
pictures, and used for nothing else.
"""

from __future__ import annotations

import base64
import binascii
import zlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skelgen.documents import Field, json_field
from skelgen.dwarf import SourceLine
from skelgen.errors import InputError
from skelgen.events.sites import SiteSummary
from skelgen.matching.waits import WaitKind, WaitState
from skelgen.timeline import RunTimeline
from skelgen.timeline.store import read_timeline
from skelgen.web.rank_blocks import SentBlocks, ranks_in_block
from skelgen.web.recording import RunRecording
from skelgen.web.recording_written import (
    AMOUNTS,
    COUNTS,
    LISTS,
    MOST_FRAMES,
    MOST_FUNCTIONS,
    MOST_HOSTS,
    MOST_LISTED_RANKS,
    MOST_LONG,
    MOST_PACKED,
    MOST_PIECES,
    MOST_TEXT,
    MOST_WAITS,
    MOST_WARNINGS,
    MOST_WORDS,
    RECORDING_FORMAT,
    TEXTS,
)

#: Where the document stands, for messages.
_SHOWN = Path("the recording")
_OTHERS = (
    *("format", "clean", "hosts", "functions", "computed_s", "waits", "sites"),
    *("sent", "timeline"),
)
#: Numbers of a run, ranks of it, time, lines of a file, and call sites.
_MOST, _MOST_WORLD, _MOST_S, _MOST_LINE, _MOST_SITES = 10**17, 10**7, 1e12, 10**9, 200
#: The least time and share that is not 0.
_LEAST = 1e-15
_LONGEST = 2 * MOST_LONG


def read_recording(document: str, *, timeline: bool = True) -> RunRecording:
    """Read the document of `recording_written.document_of`.

    A damaged timeline is left out, and `left_out` says so.

    Parameters
    ----------
    document : str
    timeline : bool
        Whether the timeline is read too, which takes most of the time.

    Raises
    ------
    InputError
        With what is wrong with it.
    """
    field = json_field(_unpacked(document), _SHOWN)
    begin = field.mapping((), None)
    if "format" in begin:
        begin["format"].integer(RECORDING_FORMAT, RECORDING_FORMAT)
    parts = field.mapping((*TEXTS, *COUNTS, *AMOUNTS, *LISTS, *_OTHERS))
    ranks = parts["ranks"].integer(1, _MOST_WORLD)
    alike: dict[str, Any] = {
        **{name: _text(parts[name]) for name in TEXTS},
        **{name: parts[name].integer(0, _MOST) for name in COUNTS},
        **{name: _amount(parts[name]) for name in AMOUNTS},
        **{name: _texts(parts[name]) for name in LISTS},
    }
    found, damage = None, ""
    if timeline:
        found, damage = _timeline(parts["timeline"], ranks)
    alike["left_out"] += (damage,) if damage else ()
    return RunRecording(
        **alike,
        clean=parts["clean"].truth(),
        hosts=tuple(
            (_text(name), count.integer(0, _MOST_WORLD))
            for name, count in _rows(parts["hosts"], 2, MOST_HOSTS)
        ),
        functions=tuple(
            (_text(name), calls.integer(0, _MOST), _amount(time_s))
            for name, calls, time_s in _rows(parts["functions"], 3, MOST_FUNCTIONS)
        ),
        computed_s=_computed(parts["computed_s"], ranks),
        waits=tuple(_wait(row, ranks) for row in _rows(parts["waits"], 6, MOST_WAITS)),
        sites=tuple(_site(row) for row in _rows(parts["sites"], 5, _MOST_SITES)),
        sent=_sent(parts["sent"], ranks),
        timeline=found,
    )


def _computed(field: Field, ranks: int) -> NDArray[np.float64]:
    found = _numbers(field, MOST_LISTED_RANKS, _MOST_S)
    if len(found) not in (0, ranks):
        raise field.error(f"read {len(found)} times, expected {ranks}")
    return found


def _unpacked(document: str) -> str:
    """Expand a document, and not more than it may be.

    Raises
    ------
    InputError
    """
    if len(document) > 2 * MOST_PACKED:
        raise InputError(f"{_SHOWN}: is longer than {2 * MOST_PACKED} characters")
    reader = zlib.decompressobj()
    try:
        packed = base64.b64decode(document, validate=True)
        content = reader.decompress(packed, MOST_TEXT + 1)
        text = content.decode("ascii")
    except (binascii.Error, zlib.error, ValueError) as error:
        raise InputError(f"{_SHOWN}: cannot be expanded: {error}") from error
    if len(text) > MOST_TEXT:
        raise InputError(f"{_SHOWN}: is longer than {MOST_TEXT} bytes when expanded")
    if not reader.eof:
        raise InputError(f"{_SHOWN}: is cut off")
    return text


def _text(field: Field) -> str:
    text = field.text()
    if len(text) > _LONGEST:
        raise field.error(f"read {len(text)} characters, expected at most {_LONGEST}")
    return text


def _texts(field: Field) -> tuple[str, ...]:
    most = MOST_WORDS + MOST_WARNINGS
    return tuple(_text(one) for one in _short(field, most))


def _short(field: Field, most: int) -> list[Field]:
    """Read a list that is not longer than this."""
    if isinstance(field.value, list) and len(field.value) > most:
        raise field.error(f"read {len(field.value)} entries, expected at most {most}")
    return field.items()


def _rows(field: Field, width: int, most: int) -> list[list[Field]]:
    """Read a list of rows with so many values each."""
    found = []
    for one in _short(field, most):
        row = one.items()
        if len(row) != width:
            raise one.error(f"read {len(row)} values, expected {width}")
        found.append(row)
    return found


def _amount(field: Field) -> float:
    number = field.amount()
    if number and not _LEAST <= number <= _MOST_S:
        raise field.error(f"read {number:g}, expected 0, or {_LEAST:g} to {_MOST_S:g}")
    return number


def _numbers(field: Field, most: int, largest: float) -> NDArray[np.float64]:
    """Read a long list of amounts."""
    values: Any = field.value
    if not isinstance(values, list) or len(values) > most:
        raise field.error(f"expected a list of at most {most} numbers")
    if not all(type(one) in (int, float) for one in values):
        raise field.error("expected numbers only")
    found = np.array(values, np.float64)
    if found.size and not ((found >= _LEAST) | (found == 0)).all():
        raise field.error("read a number that is too small, expected amounts")
    if found.size and found.max() > largest:
        raise field.error(f"read {found.max():g}, expected at most {largest:g}")
    return found


def _wait(row: Sequence[Field], ranks: int) -> WaitState:
    kind, function, calls, time_s, behind, behind_s = row
    whole_s, part_s = _amount(time_s), _amount(behind_s)
    if not whole_s or part_s > whole_s:
        raise behind_s.error(f"read {part_s:g} of {whole_s:g} s of waiting")
    return WaitState(
        WaitKind(kind.integer(0, len(WaitKind) - 1)),
        _text(function),
        calls.integer(0, _MOST),
        whole_s,
        behind.integer(0, ranks - 1),
        part_s,
    )


def _site(row: Sequence[Field]) -> SiteSummary:
    function, where, calls, time_s, source = row
    return SiteSummary(
        _text(function),
        _text(where),
        calls.integer(0, _MOST),
        _amount(time_s),
        tuple(
            SourceLine(_text(file), line.integer(0, _MOST_LINE), _text(name))
            for file, line, name in _rows(source, 3, MOST_FRAMES)
        ),
    )


def _sent(field: Field, ranks: int) -> SentBlocks:
    """Read a matrix: its cells with messages, each once, in their order."""
    parts = field.mapping(("ranks", "each", "cells", "size_bytes", "messages"))
    of = parts["ranks"].integer(0, ranks)
    each = parts["each"].integer(1, _MOST_WORLD)
    if of not in (0, ranks) or each != ranks_in_block(max(of, 1)):
        raise field.error(f"read blocks of {each} of {of} ranks, the run has {ranks}")
    blocks = -(-of // each)
    cells = _numbers(parts["cells"], blocks**2, blocks**2 - 1.0)
    columns = [
        _numbers(parts[name], blocks**2, float(_MOST))
        for name in ("size_bytes", "messages")
    ]
    if any(len(one) != len(cells) for one in columns):
        raise field.error("read columns of different lengths")
    if (np.diff(cells) < 1).any() or (columns[1] < 1).any() or (cells % 1).any():
        raise field.error("expected cells with messages, each once, in their order")
    matrices = np.zeros((2, blocks * blocks))
    matrices[:, cells.astype(np.int64)] = columns
    size_bytes, messages = matrices.reshape(2, blocks, blocks)
    return SentBlocks(of, each, size_bytes, messages)


def _timeline(field: Field, ranks: int) -> tuple[RunTimeline | None, str]:
    """Read the timeline; say what is wrong with one that is damaged."""
    if field.is_null():
        return None, ""
    try:
        found = read_timeline(field, MOST_PIECES)
        firsts = [0, *(lane.last + 1 for lane in found.lanes)]
        begins = [lane.first for lane in found.lanes]
        if begins != firsts[:-1] or firsts[-1] != ranks or sorted(firsts) != firsts:
            raise field.error(f"read rows of other ranks, expected those of {ranks}")
    except InputError as error:
        return None, f"The timeline cannot be shown: {error}"
    return found, ""
