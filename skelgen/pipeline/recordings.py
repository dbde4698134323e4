"""The page of a recorded run in a store: made where the trace is, read by a server."""

from __future__ import annotations

import logging
from dataclasses import dataclass, replace

from skelgen.errors import SkelgenError
from skelgen.events.sites import with_source
from skelgen.events.summary import summary_of
from skelgen.pipeline.call_sites import lines_of
from skelgen.pipeline.run_reading import RunReading
from skelgen.store import Run, StoredRecording, open_store
from skelgen.trace import Trace
from skelgen.web.recording import RunRecording
from skelgen.web.recording_read import read_recording
from skelgen.web.recording_written import document_of

logger = logging.getLogger(__name__)

#: Events of a run in an archive whose page is made: reading one has limits.
_MOST_SENT = 3_000_000


@dataclass(frozen=True, slots=True)
class KeptRecording:
    """What a store has for the page of a recorded run.

    Attributes
    ----------
    recording : RunRecording or None
        None where there is none, or none that can be read.
    problem : str
        Why it cannot be read.
    """

    recording: RunRecording | None = None
    problem: str = ""


def recording_row(
    trace: Trace, reading: RunReading, run: Run, *, sent: bool
) -> StoredRecording | None:
    """Return what the page of a recorded run shows, for a store.

    Where that fails the log says why: the run itself is as good.

    Parameters
    ----------
    trace : Trace
    reading : RunReading
    run : Run
        As it is kept.
    sent : bool
        Somebody sent the trace in an archive: programs that it names are not opened,
        and a large one is left alone.
    """
    if sent and trace.events > _MOST_SENT:
        logger.warning(
            "%s: has no page here: %d events, and a page is made of up to %d; use "
            "skelgen push",
            *(run.source, trace.events, _MOST_SENT),
        )
        return None
    try:
        made = _recording(trace, reading, run.application, sent=sent)
        return StoredRecording(run.identity, document_of(made))
    except SkelgenError as error:
        logger.warning("%s: has no page in the store: %s", run.source, error)
    return None


def _recording(
    trace: Trace, reading: RunReading, application: str, *, sent: bool
) -> RunRecording:
    summary, notes = summary_of(trace, reading.totals), _NO_LINES
    if not sent:
        found = lines_of(trace, [one.where for one in summary.sites])
        notes = found.notes
        summary = summary.with_sites(with_source(summary.sites, found.frames))
    # What draws pages is loaded when one is drawn.
    from skelgen.pipeline.run_page import recording_of_run

    made = recording_of_run(trace, reading, summary, notes, application)
    if not sent:
        return made
    folder = trace.folder  # one that is removed again
    return replace(
        made,
        warnings=tuple(one.replace(str(folder), folder.name) for one in made.warnings),
    )


#: Of an archive.
_NO_LINES: tuple[str, ...] = (
    "the run came in an archive; skelgen push looks where the program is",
)


def kept_recording(
    place: str | None, run: str, *, timeline: bool = True
) -> KeptRecording:
    """Return what a store has for the page of a run.

    Parameters
    ----------
    place : str, optional
    run : str
        Identity of the run.
    timeline : bool
        Whether the timeline is wanted too.
    """
    with open_store(place, make=False) as store:
        store.faults = faults = list[str]()
        rows = store.recordings([run])
    try:
        for row in rows:
            return KeptRecording(read_recording(row.document, timeline=timeline))
    except SkelgenError as error:
        return KeptRecording(problem=str(error))
    return KeptRecording(problem=faults[0] if faults else "")
