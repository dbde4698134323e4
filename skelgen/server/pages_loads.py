"""Pages of loads."""

from __future__ import annotations

import math
import shlex

from skelgen.pipeline.forecast import LoadForecasts
from skelgen.pipeline.forecast_record import ForecastOutcome, Score
from skelgen.pipeline.stored_loads import (
    PART,
    LoadQuery,
    StoredLoads,
    stored_loads,
    with_forecast,
)
from skelgen.server.settings import Answer, Question, Sent
from skelgen.trust import Interval
from skelgen.units import format_seconds
from skelgen.web.chart_render import render_chart
from skelgen.web.loads_chart import ForecastShown, LoadsDrawn, loads_chart
from skelgen.web.site import share
from skelgen.web.site_loads import LOAD_FIELDS, LoadsShown, loads_page

#: Fields of the query.
LOAD_PAGE_FIELDS = (*LOAD_FIELDS, "part")


def load_query(question: Question) -> LoadQuery:
    """Return which loads are asked for."""
    asked = {name: question.query.get(name, "") for name in LOAD_PAGE_FIELDS}
    return LoadQuery(**asked)


def found_loads(question: Question) -> StoredLoads:
    """Return the loads that are asked for, with their forecast."""
    place, query = question.settings.store, load_query(question)
    return with_forecast(place, query, stored_loads(place, query))


def loads(question: Question) -> Answer:
    """Show loads over time, a forecast, and what came of earlier ones."""
    found = found_loads(question)
    more = found.first + PART < len(found.newest)
    return loads_page(
        shown_loads(question, found),
        {name: question.query.get(name, "") for name in LOAD_PAGE_FIELDS},
        str(found.first // PART) if found.first else "",
        str(found.first // PART + 2) if more else "",
    )


def picture(question: Question) -> Answer:
    """Draw loads over time."""
    found = loads_chart(_drawn(found_loads(question)))
    return Sent(render_chart(found), "image/svg+xml")


def shown_loads(question: Question, found: StoredLoads) -> LoadsShown:
    """Return loads as the page shows them."""
    said = found.forecast
    missing = found.missing or ("" if said is None else said.missing)
    return LoadsShown(
        drawn=_drawn(found),
        quantities=found.quantities,
        newest=found.newest[found.first : found.first + PART],
        total=len(found.newest),
        first=found.first,
        expert=said.known.get(found.quantity) if said else None,
        doubts=said.doubts if said else (),
        missing=missing if question.query.get("horizon") else "",
        command=_command(question, said) if said else "",
        earlier=tuple(map(_outcome, found.earlier.outcomes)),
        scores=tuple(map(_score, found.earlier.scores)),
    )


def _drawn(found: StoredLoads) -> LoadsDrawn:
    earlier = tuple(
        _outcome(one)
        for one in found.earlier.outcomes
        if one.kept.quantity == found.quantity
    )
    return LoadsDrawn(
        found.quantity,
        found.series,
        found.begin,
        found.end,
        _said(found.forecast, found.quantity),
        earlier,
    )


def _said(found: LoadForecasts | None, quantity: str) -> ForecastShown | None:
    one = None if found is None else found.known.get(quantity)
    if found is None or one is None:
        return None
    return ForecastShown(
        found.nodes, quantity, found.method, one.begin_s, one.horizon_s, one.interval
    )


def _command(question: Question, said: LoadForecasts) -> str:
    words = ["skelgen", "forecast", f"--nodes={','.join(said.nodes)}"]
    words += [f"--horizon={question.query['horizon']}"]
    return shlex.join([*words, f"--store={question.settings.shown}"])


def _outcome(one: ForecastOutcome) -> ForecastShown:
    kept = one.kept
    interval = Interval(kept.p5, kept.p50, kept.p95)
    return ForecastShown(
        kept.nodes, kept.quantity, kept.method, kept.begin, kept.horizon_s, interval,
        one.happened,
    )  # fmt: skip


def _score(one: Score) -> tuple[str, ...]:
    errors = (one.median_error, one.p90_error)
    return (
        *(one.method, one.quantity, one.covariate, format_seconds(one.horizon_s)),
        *(str(one.forecasts), str(one.happened)),
        *("" if math.isnan(error) else f"{error:.3g}" for error in errors),
        share(one.inside),
    )
