"""What is typed about runs: the options of `skelgen store add` and `skelgen time`."""

from __future__ import annotations

import math
import time
import uuid
from collections.abc import Sequence
from dataclasses import replace

from skelgen.errors import UsageError
from skelgen.launch.hosts import parse_hosts
from skelgen.store import Run
from skelgen.store.formats import cells
from skelgen.store.formats.cells import date, value
from skelgen.store.formats.columns import parse_mapping
from skelgen.store.formats.limits import LimitError, check_run
from skelgen.store.formats.typed_values import TypedValues


def typed_run(known: TypedValues, time_s: float, status: str) -> Run:
    """Return a run that somebody typed.

    Raises
    ------
    UsageError
        When something about it cannot be.
    """
    if not known.application:
        raise UsageError("a typed run needs the name of its application: give --app")
    try:
        ended = cells.status(status)
        run = known.complete(Run("", time_s, status=ended, source="typed"))
        return check_run(run)
    except LimitError as error:
        raise UsageError(f"{error}; mend the options") from error


def known_of(
    *,
    application: str = "",
    inputs: Sequence[str] = (),
    ranks: int = 0,
    nodes: int = 0,
    ranks_per_node: int = 0,
    hosts: str = "",
    system: str = "",
    allocation: str = "",
    started: str = "",
) -> TypedValues:
    """Read what was typed about runs.

    Raises
    ------
    UsageError
        When something is not what it should be.
    """
    try:
        begun = date(started) if started else math.nan
    except LimitError as error:
        raise UsageError(f"--started: {error}") from error
    return TypedValues(
        application=application,
        inputs=inputs_of(inputs),
        ranks=ranks,
        nodes=nodes,
        ranks_per_node=ranks_per_node,
        hosts=tuple(one.name for one in parse_hosts(hosts)) if hosts else (),
        system=system,
        allocation=allocation,
        started=begun,
    )


def columns_mapping(text: str) -> dict[str, str]:
    """Read ``time=t_sec,ranks=np``; see `skelgen.store.formats.columns`."""
    return parse_mapping(text)


#: Fields with options of their own.
_OWN_OPTIONS = {"ranks", "nodes", "ranks_per_node", "hosts", "system", "app", "time"}


def inputs_of(texts: Sequence[str]) -> tuple[tuple[str, float | str], ...]:
    """Read ``n=2000,steps=100``."""
    found: dict[str, float | str] = {}
    for text in texts:
        for part in text.split(","):
            name, equals, word = (one.strip() for one in part.partition("="))
            if not (name and equals and word):
                raise UsageError(
                    f"--input {text[:60]}: {part.strip()[:60]!r} is not an input and "
                    "its value, such as n=2000,steps=100"
                )
            if name in _OWN_OPTIONS:
                option = name.replace("_", "-")
                raise UsageError(
                    f"--input {text[:60]}: {name} has an option of its own: give "
                    f"--{option} {word[:60]}"
                )
            if name in found:
                raise UsageError(f"--input {text[:60]}: {name} is given twice")
            try:
                found[name] = value(word)
            except LimitError as error:
                raise UsageError(f"--input {part.strip()[:60]}: {error}") from error
    return tuple(sorted(found.items()))


def filled(run: Run) -> Run:
    """Return a run with an identity, and with what its hosts say of its nodes.

    One without a start says when it was typed.
    """
    nodes = run.nodes or len(run.hosts)
    each = run.ranks_per_node
    if not each and nodes and run.ranks % nodes == 0:
        each = run.ranks // nodes
    identity = run.identity or uuid.uuid4().hex
    added = time.time() if math.isnan(run.started) else math.nan
    return replace(
        run, nodes=nodes, ranks_per_node=each, identity=identity, added=added
    )
