"""The formula of ScaLAPACK's authors for their symmetric eigenvalue solver.

T = C_f n^3/P t_f + C_v n^2/sqrt(P) t_v + C_m n/NB t_m, with the time of an operation,
of a number sent and of a message. Operations take longer where others use the CPU,
numbers where others use the network. Times that no fact gives are fitted: then the
constants of the table do not matter. They could not be compared with the book here.

References
----------
Yagnik, Sanjay, Vadhiyar 2006, section 2.2; Blackford et al., ScaLAPACK Users' Guide,
1997, section 5.2.3, for PDSYEV with eigenvectors.
"""

from __future__ import annotations

import numpy as np

from skelgen.errors import InputError
from skelgen.models.families.contract import (
    FamilySettings,
    FittedFormula,
    ModelFamily,
    finite,
    needs,
)
from skelgen.models.families.formula_parts import (
    columns_of,
    processes,
    product,
    times,
    total,
    used,
)
from skelgen.models.families.least_squares import solve
from skelgen.models.formulas import (
    Expression,
    FunctionCall,
    Name,
    Number,
    Power,
    Quotient,
)
from skelgen.models.runs import Meaning, RunTable, When

#: Operations, numbers sent over log2 P, and messages: 17/2 NB + 2.
_C_F, _C_V, _C_M = 22.0 / 3.0, 5.0, (8.5, 2.0)

#: Rows of a block where no fact ``block`` says it, and bytes of a number.
_BLOCK, _NUMBER_BYTES = 64.0, 8.0

#: Facts, and what they are the inverse of.
_FACTS = ("flops_per_s", "bytes_per_s", "latency_s")


def _fit(runs: RunTable, settings: FamilySettings) -> FittedFormula:
    known = _known(settings)
    terms = _terms(runs, settings, bool({"t_f", "t_v"} & set(known)))
    if runs.of(Meaning.LATENCY):  # measured for each run
        known["t_m"] = 1.0
    open_ = [name for name in terms if name not in known]
    needs(runs, max(1, len(open_)), "analytical")
    given = columns_of([times(known[name], terms[name]) for name in known], runs)
    found = solve(
        columns_of([terms[name] for name in open_], runs),
        runs.values - given.sum(axis=1),
        relative_to=runs.values,
        non_negative=True,
    )
    numbers = {
        **known,
        **dict(zip(open_, map(float, found.coefficients), strict=True)),
    }
    parts = [times(numbers[name], terms[name]) for name in terms if numbers[name]]
    formula = total(parts)
    inputs, dropped = used(formula, runs)
    return finite(
        FittedFormula(
            "analytical",
            formula,
            inputs,
            dropped,
            coefficients=tuple((name, numbers[name]) for name in terms),
        ),
        runs,
    )


def _known(settings: FamilySettings) -> dict[str, float]:
    """Return the times of an operation, a number and a message, as far as given."""
    facts, found = settings.facts, {}
    for name in _FACTS:
        if name in facts and not 0.0 < facts[name] < np.inf:
            raise InputError(f"analytical: {name} is {facts[name]:g}; it is above 0")
    if "flops_per_s" in facts:
        found["t_f"] = 1.0 / facts["flops_per_s"]
    if "bytes_per_s" in facts:
        found["t_v"] = _NUMBER_BYTES / facts["bytes_per_s"]
    if "latency_s" in facts:
        found["t_m"] = facts["latency_s"]
    return found


def _terms(
    runs: RunTable, settings: FamilySettings, absolute: bool
) -> dict[str, Expression]:
    """Return what each of the three times is multiplied with."""
    n, count = _size(runs), _processes(runs, settings, absolute)
    block = settings.facts.get("block", _BLOCK)
    operations: Expression = product(Number(_C_F), Power(n, Number(3.0)))
    numbers: Expression = product(Number(_C_V), Power(n, Number(2.0)))
    messages = product(Number((_C_M[0] * block + _C_M[1]) / block), n)
    if count is not None:
        operations = Quotient(operations, count)
        numbers = product(numbers, FunctionCall("log2", (count,)))
        numbers = Quotient(numbers, FunctionCall("sqrt", (count,)))
    cpu, bandwidth, latency = (
        runs.load(meaning, When.START)
        for meaning in (Meaning.CPU, Meaning.BANDWIDTH, Meaning.LATENCY)
    )
    terms = {
        "t_f": Quotient(operations, Name(cpu.name)) if cpu else operations,
        "t_v": Quotient(numbers, Name(bandwidth.name)) if bandwidth else numbers,
        "t_m": messages,
    }
    if latency:
        terms["t_m"] = product(messages, Name(latency.name))
    return terms


def _size(runs: RunTable) -> Name:
    sizes = runs.of(Meaning.SIZE)
    varied = [one for one in sizes if one in runs.varied]
    chosen = varied or list(sizes)
    if len(chosen) != 1:
        raise InputError(
            "analytical takes the order of a matrix, and these runs have "
            f"{len(chosen)} sizes; keep one input of a size"
        )
    return Name(chosen[0].name)


def _processes(
    runs: RunTable, settings: FamilySettings, absolute: bool
) -> Expression | None:
    count = processes(runs)
    if count is not None:
        return count
    if "ranks" in settings.facts:
        return Number(float(settings.facts["ranks"]))
    if absolute:
        raise InputError(
            "analytical: times of operations and messages are given, and nothing says "
            "on how many processes the runs were; give the fact ranks"
        )
    return None


ANALYTICAL = ModelFamily(
    "analytical",
    source="ScaLAPACK Users' Guide, section 5.2.3; Yagnik, Sanjay, Vadhiyar 2006, "
    "section 2.2",
    assumes="ScaLAPACK's symmetric eigenvalue solver, loads as they were at the start",
    fit=_fit,
    when=When.START,
)
