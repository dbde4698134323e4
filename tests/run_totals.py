"""Two ways to sum up a run, compared."""

from dataclasses import fields
from pathlib import Path

import numpy as np

from skelgen.events import collect
from skelgen.events.call_stream import RunStream
from skelgen.events.streamed_totals import totals_in_blocks
from skelgen.events.summary import RunSummary, summarise_run, summary_of
from skelgen.trace import open_trace


def agreed_summary(folder: Path) -> RunSummary:
    """Return what is said of a run: read as a whole and in blocks it is the same."""
    trace = open_trace(folder)
    events = collect(trace)
    whole = summarise_run(trace, events)
    totals = totals_in_blocks(RunStream(trace))
    found = summary_of(trace, totals)
    for one in fields(whole):
        expected, got = getattr(whole, one.name), getattr(found, one.name)
        if isinstance(expected, np.ndarray):
            np.testing.assert_array_equal(got, expected, err_msg=one.name)
        else:
            assert got == expected, one.name
    np.testing.assert_array_equal(totals.run.begin_ns, events.begin_ns)
    np.testing.assert_array_equal(totals.run.end_ns, events.end_ns)
    return found
