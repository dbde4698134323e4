"""Send runs to a server: those that it does not have, in parts, each row once."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from urllib.parse import quote

from skelgen.documents import Field
from skelgen.errors import InputError, SkelgenError, UsageError
from skelgen.pipeline.garbage_pause import uncollected
from skelgen.pipeline.server_client import AboutServer, ServerClient
from skelgen.pipeline.source_kinds import Pages
from skelgen.pipeline.store_sources import content_of
from skelgen.progress import NO_PROGRESS, Progress
from skelgen.store import (
    Added,
    AddedRow,
    Row,
    Run,
    Series,
    StoredPrediction,
    StoredRecording,
)
from skelgen.store.formats.exporting import days_of
from skelgen.store.formats.typed_values import TypedValues
from skelgen.store.kinds import kind_of
from skelgen.store.lines import content_identity, to_line
from skelgen.store.tables import checked
from skelgen.units import format_bytes

#: Bytes and rows of a part, and identities that are asked for at once.
_PART_BYTES, _PART_ROWS, _ASKED = 256 << 10, 1000, 20_000
#: Rights that let a token add.
_MAY_ADD = ("add", "administer")


@dataclass(frozen=True, slots=True)
class Pushed:
    """What became of rows that were sent.

    Attributes
    ----------
    added : Added
    address : str
        Where they can be looked at: of one run its own page.
    """

    added: Added
    address: str


@dataclass(frozen=True, slots=True)
class _RowLine:
    """A row that can be kept, as it is sent."""

    identity: str
    source: str
    text: bytes
    is_run: bool
    is_page: bool


@uncollected()
def push(
    client: ServerClient,
    sources: Sequence[str],
    known: TypedValues,
    mapping: Mapping[str, str],
    *,
    progress: Progress = NO_PROGRESS,
) -> Pushed:
    """Send what sources hold to a server; what it has already is not sent.

    All is read and checked before anything is sent, as `store_add` does. A command that
    was cut off goes on when it is given again.

    Parameters
    ----------
    client : ServerClient
    sources : sequence of str
        As `skelgen.pipeline.store.store_add` takes them.
    known : TypedValues
    mapping : mapping
    progress : Progress

    Raises
    ------
    SkelgenError
        When the server cannot be reached, or refuses all.
    """
    about = client.about()
    _check_right(client, about)
    lines, refused = _lines(sources, known, mapping, about.most_bytes, progress)
    there = _known(client, [one.identity for one in lines])
    fresh = [one for one in lines if one.identity not in there]
    already = [
        _entry(one) for one in lines if one.identity in there and not one.is_page
    ]
    size_bytes = sum(len(one.text) for one in fresh)
    if size_bytes > about.left_bytes:
        raise InputError(
            f"{client.address.url}: your token may send "
            f"{format_bytes(about.left_bytes)} more today, these are "
            f"{format_bytes(size_bytes)}; send fewer, or ask who runs the server"
        )
    found = Added((), tuple(already), tuple(refused))
    progress.start("sending", len(fresh))
    for part in _parts(fresh):
        body = b"".join(one.text for one in part)
        found = _joined(found, client.ask("POST", "/api/runs", body))
        progress.advance(len(part))
    progress.finish()
    return Pushed(found, _address(client, lines))


def _check_right(client: ServerClient, about: AboutServer) -> None:
    if about.read_only:
        raise UsageError(f"{client.address.url}: lets nobody add (--read-only)")
    if about.right not in _MAY_ADD:
        raise UsageError(
            f"{client.address.url}: your token allows to {about.right}, this needs "
            "add; ask who runs the server for another one"
        )


def _lines(
    sources: Sequence[str],
    known: TypedValues,
    mapping: Mapping[str, str],
    most_bytes: int,
    progress: Progress,
) -> tuple[list[_RowLine], list[AddedRow]]:
    """Read and check all sources."""
    lines: dict[str, _RowLine] = {}
    refused: list[AddedRow] = []
    for source in sources:
        try:
            content = content_of(source, known, mapping, progress, pages=Pages.OF_OWN)
        except SkelgenError as error:
            refused.append(AddedRow(source, "", str(error)))
            continue
        refused += content.refused
        for row in _short(content.rows):
            try:
                line = _line(row)
            except InputError as error:
                refused.append(AddedRow(source, "", str(error)))
                continue
            if len(line.text) > most_bytes:
                why = (
                    f"{line.source}: takes {format_bytes(len(line.text))}, the server "
                    f"takes {format_bytes(most_bytes)}; add it there: skelgen store add"
                )
                refused.append(AddedRow(line.source, "", why))
                continue
            lines.setdefault(line.identity, line)
    return list(lines.values()), refused


def _short(rows: Iterable[Row]) -> Iterator[Row]:
    """Yield rows, long series by days."""
    for row in rows:
        if isinstance(row, Series):
            yield from days_of(row)
        else:
            yield row


def _line(row: Row) -> _RowLine:
    found = checked(row)
    if isinstance(row, Run | StoredPrediction):
        row = replace(row, identity=found.identity)
    text = json.dumps(to_line(row), allow_nan=False)
    identity = found.identity
    if isinstance(row, Series):  # days of one series have one identity in the store
        identity = content_identity(text)
    source = str(getattr(row, "source", "")) or kind_of(type(row)).word
    kinds = isinstance(row, Run), isinstance(row, StoredRecording)
    return _RowLine(identity, source, f"{text}\n".encode(), *kinds)


def _known(client: ServerClient, identities: Sequence[str]) -> set[str]:
    """Return those that the server has."""
    found: set[str] = set()
    for begin in range(0, len(identities), _ASKED):
        some = identities[begin : begin + _ASKED]
        body = "".join(f"{json.dumps(one)}\n" for one in some).encode()
        told = client.ask("POST", "/api/known", body).mapping((), None)
        found.update(told["known"].texts())
    return found


def _parts(lines: Sequence[_RowLine]) -> Iterator[list[_RowLine]]:
    part: list[_RowLine] = []
    size_bytes = 0
    for one in lines:
        full = size_bytes + len(one.text) > _PART_BYTES or len(part) >= _PART_ROWS
        if part and full:
            yield part
            part, size_bytes = [], 0
        part.append(one)
        size_bytes += len(one.text)
    if part:
        yield part


def _joined(found: Added, told: Field) -> Added:
    fields = told.mapping((), None)
    return Added(
        (*found.added, *_entries(fields["added"])),
        (*found.already, *_entries(fields["already"])),
        (*found.refused, *_entries(fields["refused"])),
        found.pages + (fields["pages"].integer(0, 10**9) if "pages" in fields else 0),
    )


def _entries(field: Field) -> list[AddedRow]:
    found = []
    for one in field.items():
        parts = one.mapping(AddedRow._fields)
        found.append(AddedRow(*(parts[name].text() for name in AddedRow._fields)))
    return found


def _entry(line: _RowLine) -> AddedRow:
    return AddedRow(line.source, line.identity)


def _address(client: ServerClient, lines: Sequence[_RowLine]) -> str:
    runs = [one.identity for one in lines if one.is_run]
    if len(runs) == 1:
        return f"{client.address.url}/runs/{quote(runs[0], safe='')}"
    return f"{client.address.url}/runs"
