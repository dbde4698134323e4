"""Columns of the list of runs: which there are, and which are shown."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from skelgen.errors import UsageError
from skelgen.store.rows import Run
from skelgen.units import format_seconds
from skelgen.web.site import (
    Checks,
    TableCell,
    address,
    date,
    inputs_text,
    names_text,
    value,
)

#: How the column of an input is named in an address.
_INPUT = "input."
#: Columns at once.
_MOST = 30
#: Characters of the hash of a program, and of an identity.
_HASH, _SHORT = 12, 8


@dataclass(frozen=True, slots=True)
class RunColumn:
    """A column.

    Attributes
    ----------
    name, text : str
        In the address, and as its head.
    write : callable
        Returns the cell of a run.
    number : bool
    order : str
        Order of the store that sorts by it; empty: none does.
    """

    name: str
    text: str
    write: Callable[[Run], TableCell]
    number: bool = False
    order: str = ""


def _executable(run: Run) -> TableCell:
    if not run.executable:
        return TableCell("")
    where = f"executable={run.executable}"
    return TableCell(run.executable[:_HASH], address("runs", where=where))


def _application(run: Run) -> TableCell:
    return TableCell(run.application, address("runs", app=run.application))


def _load(name: str) -> Callable[[Run], TableCell]:
    return lambda run: TableCell(value(dict(run.loads).get(name)))


def _count(name: str) -> Callable[[Run], TableCell]:
    return lambda run: TableCell(str(getattr(run, name) or ""))


#: All but those of inputs.
_KNOWN = (
    RunColumn("started", "started", lambda run: TableCell(date(run.started)), False,
              "started"),
    RunColumn("application", "application", _application, False, "application"),
    RunColumn("executable", "executable", _executable),
    RunColumn("inputs", "inputs", lambda run: TableCell(inputs_text(run.inputs))),
    RunColumn("ranks", "ranks", _count("ranks"), True, "ranks"),
    RunColumn("nodes", "nodes", _count("nodes"), True, "nodes"),
    RunColumn("hosts", "hosts", lambda run: TableCell(names_text(run.hosts))),
    RunColumn("system", "system", lambda run: TableCell(run.system), False, "system"),
    RunColumn("time_s", "time", lambda run: TableCell(format_seconds(run.time_s)), True,
              "time_s"),
    RunColumn("status", "ended", lambda run: TableCell(run.status), False, "status"),
    RunColumn("cpu", "CPU left", _load("cpu_avg_min"), True),
    RunColumn("bandwidth", "bandwidth left", _load("bandwidth_avg_min"), True),
    RunColumn("job", "job", lambda run: TableCell(run.allocation)),
    RunColumn("mpi", "MPI", lambda run: TableCell(run.mpi)),
    RunColumn("source", "source", lambda run: TableCell(run.source)),
)  # fmt: skip
_BY_NAME = {one.name: one for one in _KNOWN}
#: Shown when nobody chose.
USUAL = (
    *("started", "application", "inputs", "ranks", "hosts", "system", "time_s"),
    "status",
)


def identity_cell(run: Run) -> TableCell:
    """Return the link to a run."""
    return TableCell(run.identity[:_SHORT], address("runs", run.identity))


def run_columns(names: Sequence[str]) -> list[RunColumn]:
    """Return the columns of these names, the usual ones without any.

    Raises
    ------
    UsageError
        When there is no such column, or they are too many.
    """
    if len(names) > _MOST:
        raise UsageError(f"read {len(names)} columns, expected at most {_MOST}")
    return [_column(name) for name in names or USUAL]


def _column(name: str) -> RunColumn:
    if name in _BY_NAME:
        return _BY_NAME[name]
    of_input = name.removeprefix(_INPUT)
    if of_input in ("", name):
        raise UsageError(
            f"read the column {name[:40]!r}, expected one of {', '.join(_BY_NAME)}, or "
            f"{_INPUT}NAME for an input"
        )
    return RunColumn(
        name,
        of_input,
        lambda run: TableCell(value(dict(run.inputs).get(of_input))),
        True,
    )


def column_checks(names: Sequence[str], runs: Sequence[Run]) -> Checks:
    """Return the boxes that choose columns: all, and one for each input of runs."""
    shown = names or USUAL
    inputs = dict.fromkeys(f"{_INPUT}{name}" for run in runs for name, _ in run.inputs)
    asked = (name for name in shown if name.startswith(_INPUT))
    others = dict.fromkeys([*asked, *inputs])
    texts = [(one.name, one.text) for one in _KNOWN]
    texts += [(name, f"input {name.removeprefix(_INPUT)}") for name in others]
    return Checks(
        "column", "Columns", tuple((name, text, name in shown) for name, text in texts)
    )
