"""One answer to "how long on that machine?", from runs or from a model."""

from __future__ import annotations

import shlex
from dataclasses import dataclass, replace

from skelgen.documents.text_of_bytes import listed
from skelgen.errors import InputError, UsageError
from skelgen.launch.hosts import Host
from skelgen.pipeline.kept_model import KeptModel
from skelgen.pipeline.load_requests import LoadRequest
from skelgen.pipeline.load_series import LoadSource
from skelgen.pipeline.model import asked_values
from skelgen.pipeline.model_keep import kept_model, kept_models
from skelgen.pipeline.model_loads import LoadedPrediction, predict_under_load
from skelgen.pipeline.model_places import ModelPlaces, doubted_elsewhere, places_of
from skelgen.pipeline.store_expect import Expected, Neighbour, expected
from skelgen.pipeline.store_record import shown_store
from skelgen.pipeline.store_typed_runs import inputs_of
from skelgen.trust import Doubt, Interval
from skelgen.units import number_of

#: Hosts in a question.
_MOST_HOSTS = 1000


@dataclass(frozen=True, slots=True)
class Wondered:
    """What somebody wants to know, as people type it.

    Attributes
    ----------
    application : str
    model : str
        Name or identity; empty: runs answer, else the application's own model.
    at : str
        ``n=2000,ranks=8``.
    hosts : str
        ``n1,n2``, without ranges.
    system : str
        Whose runs and models count; empty: any.
    load : str
        ``cpu=0.5,bandwidth=0.8`` or ``forecast``: of a model only.
    """

    application: str = ""
    model: str = ""
    at: str = ""
    hosts: str = ""
    system: str = ""
    load: str = ""


@dataclass(frozen=True, slots=True)
class HowLong:
    """An answer.

    Attributes
    ----------
    asked : Wondered
    interval : Interval or None
        None where nothing is known of it.
    unit : str
    doubts : tuple of Doubt
    found_by : str
        How, for people.
    command : str
        Gives the same in a terminal.
    said : Expected, or KeptModel with LoadedPrediction
        What that command says.
    nearest : tuple of Neighbour
        Where nothing is known: what ran.
    """

    asked: Wondered
    interval: Interval | None
    unit: str
    doubts: tuple[Doubt, ...]
    found_by: str
    command: str
    said: Expected | tuple[KeptModel, LoadedPrediction]
    nearest: tuple[Neighbour, ...] = ()


def how_long(place: str | None, asked: Wondered) -> HowLong:
    """Answer a question; nothing is kept.

    Raises
    ------
    UsageError
        When something that was typed is not what it should be.
    InputError
        When nothing is known of the application.
    """
    if not (asked.application or asked.model):
        raise UsageError("Choose an application or a model.")
    if asked.model:
        chosen = kept_model(place, asked.model, asked.application or None)
        return _by_model(place, asked, chosen)
    found = None if asked.load else _by_runs(place, asked)
    if found is not None and found.interval is not None:
        return found
    own = _own_model(place, asked.application, asked.system)
    if own is not None:
        return _by_model(place, asked, own)
    if found is None:
        raise InputError(
            f"{asked.application[:60]}: runs do not answer for a load; fit a "
            "model: skelgen model fit --app NAME --name NAME"
        )
    return found


def _own_model(place: str | None, application: str, system: str) -> KeptModel | None:
    """Return the model that has the name of the application, else any of its models.

    Where a system is named, only those fitted to runs on it.
    """
    found = kept_models(place, application, [])[::-1]
    named = [one for one in found if one.name == application]
    return next((one for one in (*named, *found) if _is_of(place, one, system)), None)


def _is_of(place: str | None, one: KeptModel, system: str) -> bool:
    """Say whether all runs of a model were on a system; none named: any will do."""
    if not system or one.origin.runs_on:
        return system in ("", one.origin.runs_on)
    return places_of(place, one.origin).systems == (system,)


def plain_hosts(text: str) -> list[str]:
    """Read names of hosts with commas between them; ranges would cost others time."""
    names = listed(text)
    if len(names) > _MOST_HOSTS:
        raise UsageError(f"read {len(names)} hosts, expected at most {_MOST_HOSTS}")
    return names


def _by_runs(place: str | None, asked: Wondered) -> HowLong:
    parts = listed(asked.at)
    own = [one for one in parts if one.partition("=")[0].strip() == "ranks"]
    others = [one for one in parts if one not in own]
    ranks = asked_values(",".join(own), "ranks").get("ranks", 0.0) if own else 0.0
    if own and not (ranks.is_integer() and 1 <= ranks <= 10**9):
        raise UsageError(f"read {own[0][:60]!r}, expected a number of ranks")
    hosts = plain_hosts(asked.hosts)
    inputs = inputs_of([",".join(others)] if others else [])
    found = expected(place, asked.application, inputs, int(ranks), hosts, asked.system)
    words = ["skelgen", "store", "expect", "--app", asked.application]
    words += ["--input", ",".join(others)] if others else []
    words += ["--ranks", str(int(ranks))] if own else []
    words += ["--hosts", ",".join(hosts)] if hosts else []
    words += ["--system", asked.system] if asked.system else []
    return HowLong(
        asked,
        found.time_s,
        "s",
        found.doubts,
        _runs_text(found, asked.system),
        _command(place, words),
        found,
        found.nearest,
    )


def _runs_text(found: Expected, system: str) -> str:
    if found.time_s is None and system:
        return (
            f"no run of this configuration was on {system[:60]}, and no model is of "
            "runs on it: skelgen model fit --where system=NAME --name NAME"
        )
    if found.time_s is None:
        return "no run of this configuration, and no model of the application"
    return f"from {number_of(len(found.runs), 'run')} of this configuration"


def _by_model(place: str | None, asked: Wondered, chosen: KeptModel) -> HowLong:
    hosts = plain_hosts(asked.hosts)
    if asked.load not in ("", "forecast") and "=" not in asked.load:
        raise UsageError(
            f"the load: read {asked.load[:40]!r}, expected cpu=0.5,bandwidth=0.8 or "
            "forecast"
        )
    request = LoadRequest(
        load=asked.load,
        nodes=tuple(Host(one) for one in hosts),
        source=LoadSource(None, place),
        store=place,
        of_kept=True,
    )
    said = predict_under_load(chosen.model, asked_values(asked.at, "at"), request)
    places = places_of(place, chosen.origin)
    said = doubted_elsewhere(said, places, hosts, asked.system)
    words = ["skelgen", "model", "predict", "--model", chosen.identity]
    words += ["--at", asked.at]
    words += ["--load", asked.load] if asked.load else []
    words += ["--nodes", ",".join(hosts)] if hosts else []
    return HowLong(
        replace(asked, model=chosen.name),
        said.prediction.interval,
        chosen.model.unit,
        said.prediction.doubts,
        _model_text(chosen, said, places),
        _command(place, words),
        (chosen, said),
    )


def _model_text(chosen: KeptModel, said: LoadedPrediction, places: ModelPlaces) -> str:
    where = {"quiet": "nothing else runs there"}.get(said.load.source, said.load.source)
    return (
        f"from the model {chosen.name}, of {chosen.origin.runs} runs "
        f"{places.text} ({chosen.model.family}); load: {where}"
    )


def _command(place: str | None, words: list[str]) -> str:
    words += ["--store", shown_store(place)] if place else []
    return shlex.join(words)
