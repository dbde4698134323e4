"""What machines are told of forecasts, by commands and by the server."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from skelgen.trust.facts import trust_facts

if TYPE_CHECKING:
    from skelgen.forecasts import LoadForecast
    from skelgen.pipeline.forecast import LoadForecasts
    from skelgen.pipeline.forecast_record import Score


def forecast_facts(found: LoadForecasts) -> dict[str, Any]:
    """Return what machines are told of forecasts."""
    both = {"cpu": None, "bandwidth": None} | {
        quantity: _quantity(one) for quantity, one in found.known.items()
    }
    return {
        "horizon_s": found.horizon_s,
        "method": found.method,
        **both,
        "nodes": list(found.nodes),
        "missing": found.missing,
        **trust_facts(found.doubts),
    }


def _quantity(one: LoadForecast) -> dict[str, Any]:
    return {
        "p5": one.interval.p5,
        "p50": one.interval.p50,
        "p95": one.interval.p95,
        "covariate": one.covariate,
        "expert": one.expert,
        "postcast_error": one.postcast_error,
        "postcasts": one.postcasts,
        "begin": one.begin_s,
    }


def score_facts(one: Score) -> dict[str, Any]:
    """Return what machines are told of how good forecasts were."""
    return {
        "method": one.method,
        "quantity": one.quantity,
        "covariate": one.covariate,
        "horizon_s": one.horizon_s,
        "predictions": one.forecasts,
        "happened": one.happened,
        "median_error": one.median_error,
        "p90_error": one.p90_error,
        "inside": one.inside,
    }
