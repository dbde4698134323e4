"""A `RunSummary` as text for people."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from skelgen.events.summary import RunSummary
from skelgen.events.touched_memory import Touched
from skelgen.units import format_bytes, format_seconds

_MOST_FUNCTIONS = 20
_MOST_PASSED = 6
_MOST_NOTES = 4
_MOST_MATRIX = 16


def describe(run: RunSummary, notes: Sequence[str] = ()) -> str:
    """Write down what a recorded run holds.

    Parameters
    ----------
    run : RunSummary
    notes : sequence of str
        Why lines of call sites are not known.

    Returns
    -------
    str
        Lines without an end of line at the last.
    """
    parts = [
        _head(run),
        _functions(run),
        _sites(run, notes),
        _communicators(run),
        _objects(run),
        _matrix(run),
        _loss(run),
    ]
    return "\n\n".join(part for part in parts if part)


def _head(run: RunSummary) -> str:
    hosts = ", ".join(f"{name} ({ranks})" for name, ranks in run.hosts)
    threads = f", {run.threads} threads" if run.threads > run.ranks else ""
    ended = "ended cleanly" if run.clean else "did not end cleanly, see below"
    rows = [
        ("program", run.program),
        ("MPI", run.mpi),
        ("recorded", f"{run.started}, {ended}"),
        ("ranks", f"{run.ranks}{threads} on {hosts}"),
        ("application", format_seconds(run.application_s)),
        ("time in MPI", f"{run.mpi_share:.1%}"),
        ("events", str(run.events)),
        ("not recorded", _passed(run)),
        (
            "trace",
            f"{format_bytes(run.trace_bytes)}, "
            f"{run.bytes_per_event:.1f} bytes an event",
        ),
        ("checksums", _checksums(run)),
        ("clock", str(run.taken)),
        ("recording cost", _cost(run)),
    ]
    if run.taken.computed_s:
        rows.insert(-3, ("between calls", _between(run)))
    if run.taken.usage_queries:
        rows.insert(-2, ("CPU time asked for", _queries(run)))
    if run.taken.touched:
        rows.insert(-2, ("memory touched", _touched(run.taken.touched)))
    return _table(rows, "<<")


def _touched(touched: Touched) -> str:
    per_s = format_bytes(touched.bytes_per_us * 1e6)
    return (
        f"{format_bytes(touched.set_bytes)} a rank, {per_s} a second in gaps with "
        f"{touched.share:.0%} of the computation"
    )


def _checksums(run: RunSummary) -> str:
    """Say whether the bytes of the trace are known to be as they were written."""
    if not run.unchecked_bytes:
        return "all bytes are as they were recorded"
    without = f"{format_bytes(run.unchecked_bytes)} have none"
    if run.older_files:
        files = "1 file" if run.older_files == 1 else f"{run.older_files} files"
        return f"{without}: {files} of an older recorder"
    return f"{without}: ranks were killed before they wrote the next one"


def _queries(run: RunSummary) -> str:
    taken = run.taken
    rate = f"{taken.queries_per_s:.0f} in each second of computation"
    return f"{taken.usage_queries} times, {rate}"


def _between(run: RunSummary) -> str:
    """Say what the ranks did between calls."""
    taken = run.taken
    others = "others" if taken.shared_cores is None else "other ranks"
    parts = [
        (taken.queued_s, f"without a core, taken by {others}"),
        (taken.slept_s, "asleep"),
        (taken.devices_s, "waiting for files"),
        (taken.unknown_s, "without a core, unknown why"),
    ]
    return ", ".join(
        [
            f"{format_seconds(taken.computed_s)} of all ranks",
            *(
                f"{taken.share(part_s):.1%} {what}"
                for part_s, what in parts
                if taken.share(part_s) >= 0.0005
            ),
        ]
    )


def _cost(run: RunSummary) -> str:
    looking_s = min(run.taken.looking_s, run.recorder_s)
    each = format_seconds((run.recorder_s - looking_s) / max(run.events, 1))
    looks = f", {format_seconds(looking_s)} of it to see the memory" * (looking_s > 0)
    return (
        f"{each} an event, {format_seconds(run.recorder_s)} in all{looks}, "
        f"{run.recorder_share:.2%} of the ranks' time"
    )


def _passed(run: RunSummary) -> str:
    """Name the calls that became no event."""
    others = (*run.passed, *run.local)
    named = ", ".join(f"{one.calls} {one.name}" for one in others[:_MOST_PASSED])
    more = sum(one.calls for one in others[_MOST_PASSED:])
    return (named or "nothing") + (f" and {more} calls of others" if more else "")


def _functions(run: RunSummary) -> str:
    shown = run.functions[:_MOST_FUNCTIONS]
    rows = [("function", "calls", "time", "sent")]
    rows += [
        (
            one.name,
            str(one.calls),
            format_seconds(one.time_s),
            format_bytes(one.sent_bytes),
        )
        for one in shown
    ]
    more = len(run.functions) - len(shown)
    return _table(rows, "<>>>") + (f"\nand {more} functions more" if more else "")


def _sites(run: RunSummary, notes: Sequence[str]) -> str:
    """List the call sites where they say more than an address."""
    said = [f"lines are not known: {note}" for note in notes[:_MOST_NOTES]]
    if not any(one.deep or one.called_from != one.where for one in run.sites):
        return "\n".join(said)
    shown = run.sites[:_MOST_FUNCTIONS]
    rows = [("function", "calls", "time", "called from")]
    rows += [
        (one.function, str(one.calls), format_seconds(one.time_s), one.called_from)
        for one in shown
    ]
    if more := len(run.sites) - len(shown):
        said.insert(0, f"and {more} call sites more")
    return "\n".join([_table(rows, "<>><"), *said])


def _communicators(run: RunSummary) -> str:
    rows = [("communicators", "ranks", "count", "calls")]
    rows += [
        (one.kind, str(one.size), str(one.count), str(one.calls))
        for one in run.communicators
    ]
    return _table(rows, "<>>>")


def _objects(run: RunSummary) -> str:
    """List windows and files."""
    if not run.objects:
        return ""
    shown = run.objects[:_MOST_FUNCTIONS]
    rows = [("windows and files", "ranks", "count", "memory", "calls", "time", "moved")]
    rows += [
        (
            f"{one.kind} {one.name}".strip(),
            str(one.ranks),
            str(one.count),
            format_bytes(one.memory_bytes) if one.memory_bytes else "-",
            str(one.calls),
            format_seconds(one.time_s),
            format_bytes(one.moved_bytes),
        )
        for one in shown
    ]
    more = len(run.objects) - len(shown)
    return _table(rows, "<>>>>>>") + (f"\nand {more} more" if more else "")


def _matrix(run: RunSummary) -> str:
    if not run.matrix.any():
        return ""
    if len(run.matrix) > _MOST_MATRIX:
        pairs = int(np.count_nonzero(run.matrix))
        total = format_bytes(float(run.matrix.sum()))
        return f"messages: {total} between {pairs} pairs of ranks (--json has them)"
    ranks = range(len(run.matrix))
    rows = [("messages from \\ to", *map(str, ranks))]
    rows += [
        (str(rank), *(format_bytes(size) if size else "-" for size in run.matrix[rank]))
        for rank in ranks
    ]
    return _table(rows, ">" * (len(run.matrix) + 1))


def _loss(run: RunSummary) -> str:
    return "\n".join(f"warning: {warning}" for warning in run.warnings)


def _table(rows: Sequence[tuple[str, ...]], sides: str) -> str:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = [
        "  ".join(
            f"{cell:{side}{width}}"
            for cell, side, width in zip(row, sides, widths, strict=True)
        ).rstrip()
        for row in rows
    ]
    return "\n".join(lines)
