"""Kernels of a loop from runs of a file or of the store, and what they say of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from skelgen.errors import InputError, UsageError
from skelgen.models.coupling import Chain
from skelgen.models.families.contract import FamilySettings
from skelgen.models.formulas import parse
from skelgen.models.kernel_order import loop_of
from skelgen.models.kernel_prediction import LoopPrediction, predict_loop
from skelgen.models.kernel_times import KernelTimes, gather
from skelgen.models.runs import LARGEST, SMALLEST, RunTable
from skelgen.pipeline import model
from skelgen.pipeline.model import RunSource
from skelgen.pipeline.store import store_list
from skelgen.progress import Progress
from skelgen.store import Coupling, Run, open_store

#: The input that says which kernels a run is of, and what joins their names.
KERNELS, AND = "kernels", "+"


@dataclass(frozen=True, slots=True)
class LoopQuestion:
    """What is asked of kernels and their couplings.

    Attributes
    ----------
    at : mapping of str to float
        Empty: where all runs are.
    length : int
        Kernels in a chain.
    order : tuple of str
        Kernels of the loop; empty: by the chains.
    families : tuple of str
        ``cubic`` for all kernels, or ``x_solve=cubic`` for one.
    templates : tuple of str
        Formulas of kernels: ``x_solve=a*n^3/ranks + b``.
    """

    at: Mapping[str, float]
    length: int = 2
    order: tuple[str, ...] = ()
    families: tuple[str, ...] = ()
    templates: tuple[str, ...] = ()


def model_couple(
    source: RunSource, question: LoopQuestion, *, progress: Progress
) -> LoopPrediction:
    """Say how long a loop takes by its kernels and their couplings.

    Parameters
    ----------
    source : RunSource
        Runs with an input ``kernels``, or with kernels as parts.
    question : LoopQuestion
    progress : Progress

    Raises
    ------
    InputError
        When the runs do not say it.
    UsageError
        When what is asked cannot be.
    """
    ran, loop = _loop(source, question.order, progress)
    _check_length(question.length, loop)
    families, forms = _families(question.families, loop), _forms(question, loop)
    runs = [run for _, run in ran]
    table = _table(runs, source)
    at = _asked(question.at, table, runs)
    return predict_loop(
        _gathered(table, ran, loop),
        at,
        length=question.length,
        families=families | dict.fromkeys(forms, "template"),
        forms=forms,
        progress=progress,
    )


def kernel_times(source: RunSource, progress: Progress) -> KernelTimes:
    """Return what was measured of the kernels of a loop, at each place.

    Raises
    ------
    InputError
        When no run says which kernels it is of, or their order is not known.
    """
    ran, loop = _loop(source, (), progress)
    return _gathered(_table([run for _, run in ran], source), ran, loop)


def _loop(
    source: RunSource, order: tuple[str, ...], progress: Progress
) -> tuple[list[tuple[Chain, Run]], Chain]:
    """Return which kernels ran, and the loop that they are of."""
    ran = kernel_runs(source, progress)
    if order:
        _check_order(order, [chain for chain, _ in ran])
        ran = [one for one in ran if set(one[0]) <= set(order)]
    return ran, order or loop_of([chain for chain, _ in ran])


def _gathered(
    table: RunTable, ran: Sequence[tuple[Chain, Run]], loop: Chain
) -> KernelTimes:
    fixed = _fixed([run for _, run in ran])
    return gather(table, [chain for chain, _ in ran], loop, fixed)


def kernel_runs(source: RunSource, progress: Progress) -> list[tuple[Chain, Run]]:
    """Return which kernels ran, and how long a pass through them took."""
    good = model.ended_well(_runs(source, progress), source)
    found = [pair for run in good for pair in _chains_in(run)]
    if not found:
        raise InputError(
            f"{source.file or 'the store'}: no run says which kernels it is of; give "
            "a column kernels with a kernel, such as x_solve, or a chain, such as "
            "x_solve+y_solve"
        )
    return found


def _runs(source: RunSource, progress: Progress) -> Sequence[Run]:
    """Return all runs, and chains that are kept as such."""
    if not source.file:
        runs = store_list(source.store, source.application or None, source.where).runs
        with open_store(source.store, make=False) as store:
            kept = store.couplings(source.application or None)
        return [*runs, *_chosen([_as_run(one) for one in kept], source)]
    rows = model.rows_in_file(source, progress)
    found = [row for row in rows if isinstance(row, Run)]
    found += [_as_run(row) for row in rows if isinstance(row, Coupling)]
    return _chosen(found, source)


def _chosen(runs: Sequence[Run], source: RunSource) -> Sequence[Run]:
    return model.chosen_runs(runs, source.where) if source.where else runs


def _as_run(row: Coupling) -> Run:
    inputs = {**dict(row.inputs), KERNELS: AND.join(row.kernels)}
    return Run(
        row.application,
        row.time_s,
        ranks=row.ranks,
        inputs=tuple(sorted(inputs.items())),
        started=row.measured,
        system=row.system,
        source="a chain of kernels",
    )


def _chains_in(run: Run) -> list[tuple[Chain, Run]]:
    """Return what a run says of kernels: by its input, and by its parts."""
    inputs = dict(run.inputs)
    named = inputs.pop(KERNELS, None)
    plain = replace(run, inputs=tuple(inputs.items()), loads=(), parts=())
    found = []
    if named is not None:
        found.append((_chain(named, run), plain))
    for part in run.parts:
        if part.kind == "kernel":
            found.append((_chain(part.name, run), replace(plain, time_s=part.time_s)))
    return found


def _chain(named: float | str, run: Run) -> Chain:
    text = named if isinstance(named, str) else f"{named:g}"
    chain = tuple(name.strip() for name in text.split(AND))
    where = f"{run.source}: " if run.source else ""
    if not all(chain):
        raise InputError(
            f"{where}read the kernels {text[:60]!r}, expected names with {AND} "
            "between them, such as x_solve+y_solve"
        )
    if len(set(chain)) < len(chain):
        raise InputError(
            f"{where}the chain {text[:60]!r} has a kernel twice; give the second one "
            "a name of its own, or leave the chain out"
        )
    return chain


def _check_order(order: Sequence[str], chains: Sequence[Chain]) -> None:
    """Refuse an order that is not one of the kernels that were measured."""
    shown = ",".join(order)[:60]
    if len(order) < 2 or len(set(order)) < len(order) or not all(order):
        raise UsageError(
            f"--order {shown}: expected two kernels or more, each of them once, such "
            "as a,b,c"
        )
    known = dict.fromkeys(name for chain in chains for name in chain)
    if unknown := [name for name in order if name not in known]:
        raise UsageError(
            f"--order {shown}: no run is of {unknown[0]}; there are "
            f"{', '.join(known)[:200]}"
        )
    for chain in chains:
        lost = [name for name in chain if name not in order]
        if lost and len(chain) > 1 and len(lost) < len(chain):
            raise UsageError(
                f"--order {shown}: has no {lost[0]}, which is in the chain "
                f"{AND.join(chain)}; name all kernels of the loop"
            )


def _check_length(length: int, loop: Chain) -> None:
    if not 2 <= length <= len(loop):
        raise UsageError(
            f"--chain {length}: the loop has {len(loop)} kernels "
            f"({', '.join(loop)[:200]}); a chain has 2 to {len(loop)}"
        )


def _families(texts: Sequence[str], loop: Chain) -> dict[str, str]:
    """Read ``cubic`` and ``x_solve=cubic``: return the family of each kernel."""
    found: dict[str, str] = {}
    general = "default"
    for text in texts:
        kernel, equals, family = text.rpartition("=")
        model.check_families([family])
        if not equals:
            general = family
        elif kernel not in loop:
            raise UsageError(
                f"--family {text[:60]}: there is no kernel {kernel[:60]!r}; there are "
                f"{', '.join(loop)[:200]}"
            )
        else:
            found[kernel] = family
    return {name: found.get(name, general) for name in loop}


def _forms(question: LoopQuestion, loop: Chain) -> dict[str, FamilySettings]:
    """Read ``x_solve=a*n^3 + b``: return the formula of each kernel that has one."""
    found: dict[str, FamilySettings] = {}
    for text in question.templates:
        kernel, _, formula = text.partition("=")
        if kernel not in loop or not formula.strip():
            raise UsageError(
                f"--template {text[:60]}: expected a kernel and its formula, such as "
                f"{loop[0][:40]}=a*n^3 + b; there are {', '.join(loop)[:200]}"
            )
        try:
            parsed = parse(formula)
        except InputError as error:
            raise UsageError(f"--template {kernel[:40]}: {error}") from error
        found[kernel] = FamilySettings(template=parsed, text=formula.strip())
    return found


def _table(runs: Sequence[Run], source: RunSource) -> RunTable:
    """Return runs as a table; without inputs where all are of one size."""
    seen: dict[str, list[float | str]] = {}
    for run in runs:
        for name, value in _values(run).items():
            seen.setdefault(name, []).append(value)
    for name, values in seen.items():
        if len(values) < len(runs) and not source.inputs:
            raise InputError(
                f"{len(runs) - len(values)} of {len(runs)} runs have no {name}, which "
                "the others have; give it, or name the inputs that count with --inputs"
            )
    if any(len(set(values)) > 1 for values in seen.values()):
        return model.table_of(runs, source)
    return RunTable.gather((), [{} for _ in runs], [run.time_s for run in runs])


def _fixed(runs: Sequence[Run]) -> list[tuple[str, float]]:
    """Return the numbers that are the same in all runs."""
    rows = [model.numbers_of(run) for run in runs]
    return [
        (name, value)
        for name, value in rows[0].items()
        if all(row.get(name) == value for row in rows)
    ]


def _values(run: Run) -> dict[str, float | str]:
    return {**dict(run.inputs), **model.numbers_of(run)}


def _asked(
    at: Mapping[str, float], table: RunTable, runs: Sequence[Run]
) -> tuple[float, ...]:
    """Return a value of each input of a table.

    Raises
    ------
    InputError
    UsageError
    """
    names = [one.name for one in table.inputs]
    numbers = [model.numbers_of(run) for run in runs]
    for name, value in at.items():
        known = {row[name] for row in numbers if name in row}
        if not known:
            inputs = ", ".join(dict.fromkeys(n for row in numbers for n in row))
            raise InputError(
                f"the runs have no input {name}; they have {inputs or 'none'}"
            )
        if name not in names and value not in known:
            raise InputError(
                f"all runs have {name}={min(known):g}, which does not say how long "
                f"kernels take at {name}={value:g}; add runs of other {name}"
            )
    for name, column in table.columns.items():
        if name not in at:
            some = ", ".join(f"{value:g}" for value in sorted(set(column))[:8])
            raise UsageError(f"--at: give {name}, too; the runs have {some}")
        if not SMALLEST <= at[name] <= LARGEST:
            raise UsageError(f"--at: {name} is {at[name]:g}, expected a number above 0")
    return tuple(float(at[name]) for name in names)
