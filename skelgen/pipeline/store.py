"""What goes into the store and comes out of it."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from skelgen.documents.system import writing
from skelgen.errors import SkelgenError, UsageError
from skelgen.launch.folders import new_file, private_folder
from skelgen.launch.replaceable_output import check_file
from skelgen.pipeline.garbage_pause import uncollected
from skelgen.pipeline.source_kinds import Pages
from skelgen.pipeline.store_sources import content_of
from skelgen.pipeline.store_typed_runs import filled
from skelgen.progress import NO_PROGRESS, Progress
from skelgen.store import (
    Added,
    AddedRow,
    Condition,
    Place,
    Row,
    Run,
    Store,
    StoredRecording,
    conditions_of,
    open_store,
    place_of,
)
from skelgen.store.checking import Health, check_store
from skelgen.store.formats.exporting import (
    EXPORT_BEGINS,
    StoreFormat,
    files_of,
    names_of,
)
from skelgen.store.formats.reading import FileContent
from skelgen.store.formats.typed_values import TypedValues
from skelgen.store.lines import identity_of
from skelgen.store.repeats import RepeatedRuns, repeats
from skelgen.store.row_search import find

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Listed:
    """Runs of a store.

    Attributes
    ----------
    runs : tuple of Run
    total : int
        How many there are with those that a limit left out.
    """

    runs: tuple[Run, ...]
    total: int


@dataclass(frozen=True, slots=True)
class StoreExport:
    """What was exported.

    Attributes
    ----------
    files : tuple of (str, int)
        Name and number of rows of each file.
    """

    files: tuple[tuple[str, int], ...]


def store_place(place: str | None) -> Place:
    """Return which store is used, and why."""
    return place_of(place)


def store_health(place: str | None) -> Health:
    """Check a store for damage; see `skelgen.store.checking.check_store`."""
    return check_store(place)


@uncollected()
def store_add(
    place: str | None,
    sources: Sequence[str],
    known: TypedValues,
    mapping: Mapping[str, str],
    *,
    progress: Progress = NO_PROGRESS,
) -> Added:
    """Add what sources hold to a store, which is made when there is none.

    A source with a mistake is refused whole, and the others are added; of lines in our
    own format each is a source.

    Parameters
    ----------
    place : str, optional
        See `skelgen.store.place_of`.
    sources : sequence of str
        Recorded runs, files, exported folders, or ``-``.
    known : TypedValues
        What holds for all runs.
    mapping : mapping
        Columns by what they are.
    progress : Progress
    """
    rows: list[Row] = []
    refused: list[AddedRow] = []
    for source in sources:
        try:
            content = content_of(source, known, mapping, progress, pages=Pages.OF_OWN)
        except SkelgenError as error:
            refused.append(AddedRow(source, "", str(error)))
            continue
        rows += content.rows
        refused += content.refused
    return store_add_content(place, FileContent(tuple(rows), tuple(refused)))


def store_add_content(
    place: str | None, content: FileContent, *, make: bool = True
) -> Added:
    """Add what was read to a store; what was refused already stays so."""
    if not content.rows:
        return Added(refused=tuple(content.refused))
    with open_store(place, make=make) as store:
        found = _pages_apart(store.add(content.rows), content.rows)
    return replace(found, refused=(*content.refused, *found.refused))


def _pages_apart(found: Added, rows: Sequence[Row]) -> Added:
    """Count pages of recorded runs by themselves: they belong to their runs."""
    pages = {identity_of(one) for one in rows if isinstance(one, StoredRecording)}
    return replace(
        found,
        added=tuple(one for one in found.added if one.run not in pages),
        already=tuple(one for one in found.already if one.run not in pages),
        pages=sum(one.run in pages for one in found.added),
    )


def store_add_typed(place: str | None, run: Run, *, make: bool = True) -> Added:
    """Add a run that somebody typed; it is a new one each time."""
    with open_store(place, make=make) as store:
        return store.add([filled(run)])


@uncollected()
def store_list(
    place: str | None,
    application: str | None = None,
    where: Sequence[str] = (),
    *,
    limit: int | None = None,
) -> Listed:
    """Return runs of a store, the last ones, in the order of their start.

    Parameters
    ----------
    place : str, optional
    application : str, optional
    where : sequence of str
        Conditions such as ``n>=1000``, all of which hold.
    limit : int, optional
        Most runs.
    """
    conditions = [one for text in where for one in conditions_of(text)]
    with open_store(place, make=False) as store:
        runs = store.runs(application, conditions, limit)
        total = len(runs)
        if limit is not None and total >= limit:
            total = store.count(application, conditions)
    return Listed(tuple(runs), total)


def store_repeats(
    place: str | None, application: str | None = None, where: Sequence[str] = ()
) -> list[RepeatedRuns]:
    """Return the configurations that ran more than once; see `store_list`."""
    found = repeats(store_list(place, application, where).runs)
    return [one for one in found if len(one.runs) > 1]


def store_show(place: str | None, identity: str) -> tuple[str, Row]:
    """Return a row by its identity or the beginning of it."""
    with open_store(place, make=False) as store:
        return find(store, identity)


def store_remove(place: str | None, identities: Sequence[str]) -> int:
    """Remove rows by their identities, all or none; return how many there were."""
    with open_store(place, make=False) as store:
        whole = [find(store, one)[0] for one in dict.fromkeys(identities)]
        return store.remove(whole)


def store_export(
    place: str | None,
    folder: Path,
    format_: str,
    *,
    application: str | None = None,
    where: Sequence[str] = (),
    force: bool = False,
) -> StoreExport:
    """Write what a store holds into files of a folder.

    Parameters
    ----------
    place : str, optional
    folder : Path
        Made when there is none; other files in it stay.
    format_ : str
        A name of `skelgen.store.formats.exporting.Format`.
    application : str, optional
        Only what belongs to it.
    where : sequence of str
        Only runs of which this holds.
    force : bool
        Replace files of an earlier export.
    """
    if format_ not in (known := [one.value for one in StoreFormat]):
        raise UsageError(f"--format {format_}: expected {', '.join(known)}")
    wanted = StoreFormat(format_)
    conditions = [one for text in where for one in conditions_of(text)]
    with open_store(place, make=False) as store:
        rows = _sound_rows(store, application, conditions)
        if wanted is StoreFormat.JSONL:
            names = [one.identity for one in rows if isinstance(one, Run)]
            rows += store.recordings(names)
    files = files_of(rows, wanted)
    with writing(folder):
        private_folder(folder)
    gone = sorted({*names_of(wanted)} - {one.name for one in files})
    for name in [*(one.name for one in files), *gone]:
        check_file(folder / name, EXPORT_BEGINS, force=force)
    for one in files:
        with new_file(folder / one.name, EXPORT_BEGINS, force=force) as beside:
            beside.write_text(one.text, encoding="utf-8", newline="")
    with writing(folder):
        for name in gone:
            (folder / name).unlink(missing_ok=True)
    return StoreExport(tuple((one.name, one.rows) for one in files))


def _sound_rows(
    store: Store, application: str | None, conditions: Sequence[Condition]
) -> list[Row]:
    """Return rows to export; say how many are damaged and left out."""
    store.faults = faults = list[str]()
    rows: list[Row] = [*store.runs(application, conditions)]
    if not conditions:
        rows += _others(store, application)
    if faults:
        logger.warning(
            "damaged rows and samples are left out: %d, such as %s; skelgen store "
            "check names all damage",
            len(faults),
            faults[0],
        )
    return rows


def _others(store: Store, application: str | None) -> list[Row]:
    """Return all rows that are no runs, or those of an application."""
    rows: list[Row] = [
        *store.templates(application),
        *store.couplings(application),
        *store.models(application),
        *store.predictions(application),
    ]
    if application is None:
        rows += [*store.facts(), *store.messages(), *store.series()]
    return rows
