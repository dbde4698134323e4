"""What the page of a run says of its recording, and where the whole of it is."""

from __future__ import annotations

from skelgen.units import format_seconds
from skelgen.web.recording import RunRecording
from skelgen.web.run_page import headline_of, times_of
from skelgen.web.site import (
    Block,
    ColumnHead,
    CommandLine,
    FactList,
    Heading,
    Prose,
    SiteTable,
    TableCell,
    address,
    cells,
)
from skelgen.web.wait_states import waiting

#: Rows of the table of where the time goes.
_MOST_ROWS = 8


def recorded_blocks(
    run: str, recording: RunRecording | None, problem: str
) -> list[Block]:
    """Return what a page shows of the recording of a run.

    Parameters
    ----------
    run : str
        Its identity.
    recording : RunRecording or None
        None where there is none, or none that can be read.
    problem : str
        Why it cannot be read.
    """
    heading = Heading("What was recorded")
    if problem:
        said = f"The recording of this run cannot be shown: {problem}"
        return [heading, Prose(said, "doubt")]
    if recording is None:
        how = Prose(
            "The store has no recording of this run. Where its folder is, add that:"
        )
        return [heading, how, CommandLine("skelgen store add run/")]
    whole_s = recording.application_s * recording.ranks
    advice = waiting(whole_s, recording.computed_s, recording.waits).advice
    links = (
        ("timeline, wait states, call sites, matrix", "recording", "open"),
        ("the same as one file", "recording.html", "recording.html"),
    )
    blocks: list[Block] = [
        heading,
        Prose(headline_of(recording)),
        FactList(
            tuple(
                (what, TableCell(text, address("runs", run, name)))
                for what, name, text in links
            )
        ),
    ]
    if advice:
        blocks.append(Prose(advice, "doubt"))
    return [*blocks, _times(recording)]


def _times(recording: RunRecording) -> SiteTable:
    """Return the table of where the time goes."""
    times = times_of(recording)
    head = (
        ColumnHead("part"),
        *(ColumnHead(name, number=True) for name in ("calls", "time", "share")),
    )
    rows = tuple(
        cells(
            one.name,
            "" if one.calls is None else f"{one.calls:,}",
            format_seconds(one.time_s),
            f"{100 * one.share:.2f} %",
        )
        for one in times[:_MOST_ROWS]
    )
    more = max(len(times) - _MOST_ROWS, 0)
    caption = "Where the time goes, all ranks" + f"; {more} more rows" * bool(more)
    return SiteTable(caption, head, rows)
