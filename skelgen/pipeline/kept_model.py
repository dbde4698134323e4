"""What a store keeps of a model: the model, who fitted it, and to which runs."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from skelgen.documents import Field, json_field, sealed_json
from skelgen.models.model import Model
from skelgen.models.model_file import model_facts, model_of
from skelgen.pipeline.model import RunSource
from skelgen.store import Inputs, Run
from skelgen.store import StoredModel as ModelRow

#: Of the document that a store keeps.
_VERSION = 1

_MEMBERS = ("skelgen_kept_model", "author", "origin", "model")
_ORIGIN = ("application", "file", "where", "inputs", "runs", "digest", "ranks", "fixed")
_DIGITS = 16
_MOST_RUNS = 10**12
_MOST_RANKS = 10**9


def system_in(where: Sequence[str]) -> str:
    """Return the system that conditions on runs name; empty: none.

    Examples
    --------
    >>> system_in(["ranks=4", "system=cluster"])
    'cluster'
    """
    named = [one.removeprefix("system=") for one in where if one.startswith("system=")]
    return named[0].removeprefix("=") if len(named) == 1 else ""


@dataclass(frozen=True, slots=True)
class ModelOrigin:
    """Which runs a model was fitted to.

    Attributes
    ----------
    application : str
    file : str
        Where they were read; empty: in the store.
    where, inputs : tuple of str
        Conditions on them, and names of inputs that were asked for.
    runs : int
    digest : str
        Of their identities: other runs have another.
    ranks : int
        That of all runs; 0 where it differs or is not known.
    fixed : tuple of (str, float or str)
        Inputs that are the same in all of them.
    system : str
        That the model is for, where others gave the form; empty: for all alike.
    """

    application: str
    file: str = ""
    where: tuple[str, ...] = ()
    inputs: tuple[str, ...] = ()
    runs: int = 0
    digest: str = ""
    ranks: int = 0
    fixed: Inputs = ()
    system: str = ""

    @property
    def about(self) -> str:
        """Return what the runs have in common, for people: a system, or conditions."""
        return ", ".join([self.system] if self.system else self.where)

    @property
    def runs_on(self) -> str:
        """Return the system that a run for this model is made on; empty: any."""
        return self.system or system_in(self.where)


@dataclass(frozen=True, slots=True)
class KeptModel:
    """A model of a store.

    Attributes
    ----------
    identity, name : str
        Several fits may have one name: the last one counts.
    fitted : float
        Seconds since 1970 in UTC [s].
    author : str
    origin : ModelOrigin
    model : Model
    """

    identity: str
    name: str
    fitted: float
    author: str
    origin: ModelOrigin
    model: Model


def origin_of(source: RunSource, runs: Sequence[Run]) -> ModelOrigin:
    """Return what is said of runs of a source that a model was fitted to."""
    names = {name for one in runs for name, _ in one.inputs}
    rows = [dict(one.inputs) for one in runs]
    fixed = [
        (name, rows[0][name])
        for name in sorted(names)
        if all(row.get(name, math.nan) == rows[0].get(name) for row in rows)
    ]
    ranks = {one.ranks for one in runs}
    return ModelOrigin(
        application=runs[0].application,
        file=source.file,
        where=source.where,
        inputs=source.inputs,
        runs=len(runs),
        digest=digest_of(runs),
        ranks=ranks.pop() if len(ranks) == 1 else 0,
        fixed=tuple(fixed),
        system=source.system,
    )


def digest_of(runs: Sequence[Run]) -> str:
    """Return what tells runs from others: a hash of their identities."""
    text = "\n".join(sorted(one.identity for one in runs))
    return hashlib.sha256(text.encode()).hexdigest()[:_DIGITS]


def document_of(model: Model, author: str, origin: ModelOrigin) -> str:
    """Write what a store keeps of a model."""
    return sealed_json(
        {
            "skelgen_kept_model": _VERSION,
            "author": author,
            "origin": _origin_facts(origin),
            "model": model_facts(model),
        },
        indent=None,
    )


def _origin_facts(origin: ModelOrigin) -> dict[str, object]:
    return {
        "application": origin.application,
        "file": origin.file,
        "where": list(origin.where),
        "inputs": list(origin.inputs),
        "runs": origin.runs,
        "digest": origin.digest,
        "ranks": origin.ranks,
        "fixed": dict(origin.fixed),
        **({"system": origin.system} if origin.system else {}),
    }


def kept_of(identity: str, row: ModelRow) -> KeptModel:
    """Read a row, whose document anybody may have written."""
    document = json_field(row.document, Path(f"model {row.name} of the store"))
    if not isinstance(document.value, dict) or _MEMBERS[0] not in document.value:
        raise document.error(
            "is no model that skelgen model fit kept; fit it again, or remove it "
            f"with skelgen store remove {identity[:8]}"
        )
    version = document.mapping([_MEMBERS[0]], None)[_MEMBERS[0]]
    if version.integer(1, 10**6) > _VERSION:
        raise version.error(
            f"is of version {version.value}, this skelgen reads up to {_VERSION}; "
            "install a later one"
        )
    parts = document.mapping(_MEMBERS)
    return KeptModel(
        identity,
        row.name,
        row.fitted,
        parts["author"].text(),
        _read_origin(parts["origin"]),
        model_of(parts["model"]),
    )


def _read_origin(field: Field) -> ModelOrigin:
    parts = field.mapping(_ORIGIN, ["system"])
    fixed = parts["fixed"].mapping((), None)
    return ModelOrigin(
        parts["application"].text(),
        parts["file"].text(),
        parts["where"].texts(),
        parts["inputs"].texts(),
        parts["runs"].integer(1, _MOST_RUNS),
        parts["digest"].text(),
        parts["ranks"].integer(0, _MOST_RANKS),
        tuple(
            (name, one.text() if isinstance(one.value, str) else one.number())
            for name, one in sorted(fixed.items())
        ),
        parts["system"].text() if "system" in parts else "",
    )
