"""The page of past predictions: what happened, and how good they were."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from skelgen.store.rows import StoredPrediction
from skelgen.store.track_record import TrackRecord, error_of, happened
from skelgen.trust import Interval
from skelgen.units import format_seconds
from skelgen.web.chart import (
    CHART_WIDTH,
    Chart,
    Plane,
    chart,
    log_axis,
)
from skelgen.web.site import (
    Block,
    ColumnHead,
    CommandLine,
    FactList,
    Form,
    FormField,
    Heading,
    Paging,
    Prose,
    SitePage,
    SitePicture,
    SiteTable,
    TableCell,
    address,
    cells,
    date,
    inputs_text,
    names_text,
    share,
)

#: Fields of the filter.
PREDICTION_FIELDS = ("app", "method", "verdict")
_VERDICTS = ("", "trust", "do not trust")
#: Height of the picture [px].
_HEIGHT = 420
#: The axes reach this factor beyond all points; longer bars end at the frame.
_MARGIN = 3.0
#: An end of an interval beyond these says nothing [s].
_SHORTEST_S, _LONGEST_S = 1e-9, 1e9
#: Applications, and months, of which the errors are shown.
_MOST_ROWS = 36


@dataclass(frozen=True, slots=True)
class HowGood:
    """How good predictions were.

    Attributes
    ----------
    methods : tuple of TrackRecord
    applications, months : tuple of (str, TrackRecord)
    choices : tuple of str
        Methods to choose from.
    known : tuple of StoredPrediction
        The last ones whose run happened.
    """

    methods: tuple[TrackRecord, ...]
    applications: tuple[tuple[str, TrackRecord], ...]
    months: tuple[tuple[str, TrackRecord], ...]
    choices: tuple[str, ...]
    known: tuple[StoredPrediction, ...]


def predictions_page(
    found: Sequence[StoredPrediction],
    asked: Mapping[str, str],
    good: HowGood,
    *,
    text: str,
    before: str,
    after: str,
) -> SitePage:
    """Return the page of past predictions, with what happened.

    Parameters
    ----------
    found : sequence of StoredPrediction
        Of this part.
    asked : mapping of str to str
        `PREDICTION_FIELDS`, as they were typed.
    good : HowGood
    text, before, after : str
        Which part it is, and the numbers of those before and after it.
    """
    fields = (
        FormField("app", "Application", asked["app"]),
        FormField("method", "Method", asked["method"], "", ("", *good.choices)),
        FormField("verdict", "Verdict", asked["verdict"], "", _VERDICTS),
    )
    blocks: list[Block] = [Form("/predictions", fields, "Show")]
    if not found and any(asked.values()):
        blocks.append(Prose("No prediction is like this; ask for less."))
        return SitePage("Predictions", tuple(blocks), "/predictions")
    if not found:
        blocks.append(
            Prose(
                "No predictions. With a store set, predict, select, measure, workload "
                "predict and model predict keep theirs:"
            )
        )
        blocks.append(CommandLine("skelgen model predict --model heat --at n=8000"))
        return SitePage("Predictions", tuple(blocks), "/predictions")
    blocks += [Heading("How good they were"), *_how_good(good, asked)]
    blocks += [Heading("Each of them"), _predictions(found)]
    links = (
        address("predictions", **asked, part=part) if part else ""
        for part in (before, after)
    )
    blocks.append(Paging(text, *links))
    lines = address("predictions.jsonl", app=asked["app"])
    what = "all predictions of this application" if asked["app"] else "all predictions"
    blocks.append(FactList(((f"{what} as lines", TableCell("jsonl", lines)),)))
    return SitePage("Predictions", tuple(blocks), "/predictions")


def _how_good(good: HowGood, asked: Mapping[str, str]) -> list[Block]:
    """Return the picture of what happened, and tables by what predictions are of."""
    those = [(one.method, one) for one in good.methods]
    tables: list[Block] = [_records("method", those)]
    if not good.known:
        return [Prose("Nothing that was predicted has happened yet."), *tables]
    picture = SitePicture(
        address("predictions", "picture.svg", **asked),
        "Predicted against measured times; on the line both are the same",
        _known(good.known),
        predictions_chart(good.known).size,
    )
    most = sorted(good.applications, key=lambda one: -one[1].predictions)
    tables.append(_records("application", most))
    tables.append(_records("month", good.months[::-1]))
    return [picture, *tables]


def predictions_chart(known: Sequence[StoredPrediction]) -> Chart:
    """Prepare the picture of predicted against measured times."""
    times = _times(known)
    across = log_axis(times, CHART_WIDTH)
    plane = Plane(across, log_axis(times, _HEIGHT, reverse=True))
    ends = [(end, end) for end in (across.low, across.high)]
    dots = [
        plane.dot(
            (one.truth_s, one.interval.p50),
            "good" if one.verdict == "trust" else "other",
            f"{one.application}, {one.method}: {format_seconds(one.interval.p50)} "
            f"predicted, {format_seconds(one.truth_s)} measured, {one.verdict}",
            (one.interval.p5, one.interval.p95),
        )
        for one in known
    ]
    line = plane.line(ends, "soft", "predicted = measured", dashed=True)
    names = ("measured [s]", "predicted [s]")
    panel = plane.panel(f"The last {len(known)} that happened", names, [line], dots)
    legend = (("good", "trust"), ("other", "do not trust"))
    notes = ("Bars: 90 % intervals; one that reaches the frame goes on beyond it.",)
    return chart("Predicted against measured", [panel], notes, legend)


def _times(known: Sequence[StoredPrediction]) -> list[float]:
    """Return what the axes hold: all points, and bars unless they are far longer."""
    found = [time for one in known for time in (one.truth_s, one.interval.p50)]
    found = [time for time in found if 0 < time < math.inf]
    if not found:
        return []
    low, high = min(found) / _MARGIN, max(found) * _MARGIN
    ends = [end for one in known for end in (one.interval.p5, one.interval.p95)]
    return [*found, *(min(max(end, low), high) for end in ends)]


def _known(known: Sequence[StoredPrediction]) -> SiteTable:
    head = (
        *map(ColumnHead, ("application", "method")),
        *(ColumnHead(text, True) for text in ("measured", "predicted", "error")),
        ColumnHead("verdict"),
    )
    rows = tuple(
        (
            *cells(one.application, one.method),
            TableCell(format_seconds(one.truth_s), address("runs", one.truth)),
            *cells(format_seconds(one.interval.p50), f"{error_of(one):+.1%}"),
            TableCell(one.verdict),
        )
        for one in known
    )
    return SiteTable("The last ones first", head, rows)


def _records(what: str, records: Sequence[tuple[str, TrackRecord]]) -> SiteTable:
    head = (
        ColumnHead(what),
        *(
            ColumnHead(text, number=True)
            for text in (
                *("predictions", "doubted", "happened", "median error"),
                *("90 % are within", "inside the interval"),
            )
        ),
    )
    rows = tuple(
        cells(
            *(name, str(one.predictions), str(one.doubted), str(one.happened)),
            *map(share, (one.median_error, one.p90_error, one.inside)),
        )
        for name, one in records[:_MOST_ROWS]
    )
    left = len(records) - len(rows)
    more = f"; {left} more are not shown" if left else ""
    caption = f"By {what}; errors are of those whose run happened{more}"
    return SiteTable(caption, head, rows)


def _predictions(found: Sequence[StoredPrediction]) -> SiteTable:
    head = (
        *map(ColumnHead, ("made", "method", "application", "inputs")),
        ColumnHead("ranks", True),
        ColumnHead("hosts"),
        ColumnHead("predicted", True),
        ColumnHead("90 % interval", True),
        ColumnHead("happened", True),
        ColumnHead("error", True),
        ColumnHead("verdict"),
    )
    return SiteTable("The last ones first", head, tuple(map(_prediction, found)))


def _prediction(one: StoredPrediction) -> tuple[TableCell, ...]:
    known = happened(one)
    truth = format_seconds(one.truth_s) if known else "not yet"
    link = address("runs", one.truth) if one.truth else ""
    doubts = f" ({', '.join(one.doubts)})" if one.doubts else ""
    return (
        *cells(date(one.made), one.method, one.application, inputs_text(one.inputs)),
        *cells(str(one.ranks or ""), names_text(one.hosts)),
        *cells(format_seconds(one.interval.p50), _ends_text(one.interval)),
        TableCell(truth, link),
        TableCell(f"{error_of(one):+.1%}" if known else ""),
        TableCell(f"{one.verdict}{doubts}"),
    )


def _ends_text(interval: Interval) -> str:
    """Return both ends of an interval; one that says nothing is no bound."""
    if interval.p5 < _SHORTEST_S and interval.p95 > _LONGEST_S:
        return "no bound"
    low, high = (
        format_seconds(end) if _SHORTEST_S <= end <= _LONGEST_S else "no bound"
        for end in (interval.p5, interval.p95)
    )
    return f"{low} to {high}"
