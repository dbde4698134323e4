"""Where the runs of a kept model were, and hosts on which none of them was."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from skelgen.pipeline.kept_model import ModelOrigin
from skelgen.pipeline.model_loads import LoadedPrediction
from skelgen.store import conditions_of, open_store
from skelgen.store.pairing import same_hosts
from skelgen.trust import Doubt

#: Names that a sentence has.
_MOST = 5


@dataclass(frozen=True, slots=True)
class ModelPlaces:
    """Where the runs of a model were.

    Attributes
    ----------
    systems, hosts : tuple of str
        By name; empty where the runs do not say it.
    """

    systems: tuple[str, ...] = ()
    hosts: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        """Return it for people."""
        hosts = _some(self.hosts)
        if not self.systems:
            return f"on {hosts}" if hosts else "nobody kept on which hosts"
        return f"on {_some(self.systems)}" + (f" ({hosts})" if hosts else "")


def places_of(place: str | None, origin: ModelOrigin) -> ModelPlaces:
    """Return where the runs of a model were, as far as the store has them.

    Parameters
    ----------
    place : str, optional
        Of the store; see `skelgen.store.place_of`.
    origin : ModelOrigin
    """
    if origin.file:
        return ModelPlaces()
    where = [one for text in origin.where for one in conditions_of(text)]
    with open_store(place, make=False) as store:
        runs = [r for r in store.runs(origin.application, where) if r.status == "ok"]
    if origin.system:  # others gave the form only
        runs = [one for one in runs if one.system == origin.system]
    return ModelPlaces(
        tuple(sorted({one.system for one in runs if one.system})),
        tuple(sorted({host for one in runs for host in one.hosts})),
    )


def doubted_elsewhere(
    said: LoadedPrediction, places: ModelPlaces, hosts: Sequence[str], system: str = ""
) -> LoadedPrediction:
    """Return what a model says, with a doubt where none of its runs was.

    Parameters
    ----------
    said : LoadedPrediction
    places : ModelPlaces
        Where its runs were.
    hosts : sequence of str
        Where the application will run.
    system : str
        That these belong to; empty: not known.
    """
    if not (doubts := (*_other_system(places, system), *_elsewhere(places, hosts))):
        return said
    asked = replace(said.prediction, doubts=(*said.prediction.doubts, *doubts))
    return replace(said, prediction=asked)


def _other_system(found: ModelPlaces, system: str) -> tuple[Doubt, ...]:
    if not system or system in found.systems:
        return ()
    text = f"no run of this model was on {system[:60]}"
    remedy = f"fit one for it: skelgen model fit --where system={system[:60]}"
    return (Doubt("other-hosts", text, remedy),)


def _elsewhere(found: ModelPlaces, hosts: Sequence[str]) -> tuple[Doubt, ...]:
    like: dict[str, list[str]] = {}
    for one in found.hosts:
        like.setdefault(_first(one), []).append(one)
    new = [
        one
        for one in hosts
        if not any(same_hosts((one,), (h,)) for h in like.get(_first(one), ()))
    ]
    if not new:
        return ()
    text = f"no run of this model was on {_some(new)}"
    if not found.hosts:
        text = f"no run of this model is known to have been on {_some(new)}"
    remedy = "make runs there and fit it again, or predict it: skelgen predict"
    return (Doubt("other-hosts", text, remedy),)


def _first(host: str) -> str:
    return host.lower().partition(".")[0]


def _some(names: Sequence[str]) -> str:
    more = f" and {len(names) - _MOST} more" if len(names) > _MOST else ""
    return ", ".join(one[:60] for one in names[:_MOST]) + more
