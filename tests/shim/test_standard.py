"""The table agrees with the standard as the MPI Forum publishes it (pympistandard)."""

from __future__ import annotations

import fnmatch
import tomllib
from collections.abc import Iterator

import pytest

from tests.shim.table import Argument, Function, read_table
from tests.shim.test_table import TABLE

standard = pytest.importorskip("pympistandard")
standard.use_api_version(1, force_bundled=True)


def procedures() -> Iterator[object]:
    """Yield everything that C programs can call, large-count twins as well."""
    for procedure in standard.all_iso_c_procedures():
        yield procedure.express.iso_c
        if procedure.has_embiggenment():
            yield procedure.express.embiggen.iso_c


def declared(parameter: object) -> str:
    """Write a parameter of the standard as the table writes it."""
    const = "const " if parameter.constant else ""
    return f"{const}{parameter.type} {parameter.name}{parameter.array}"


def written(argument: Argument) -> str:
    return f"{argument.type} {argument.name}{argument.brackets}"


def expected(procedure: object) -> str:
    # Pcontrol may take further arguments that only a tool understands.
    known = [p for p in procedure.parameters if p.kind is not standard.KINDS.varargs]
    return f"{procedure.return_type} ({', '.join(map(declared, known))})"


def found(function: Function) -> str:
    return f"{function.returns} ({', '.join(map(written, function.arguments))})"


#: Names that stand in the table with the reason why they are not wrapped.
LEFT_OUT = [
    pattern
    for row in tomllib.loads(TABLE.read_text())["unwrapped"]
    for pattern in row["names"]
]


def unwrapped(name: str) -> bool:
    return any(fnmatch.fnmatchcase(name, pattern) for pattern in LEFT_OUT)


def test_every_procedure_of_the_standard_is_in_the_table() -> None:
    names = {p.name for p in procedures()}
    assert {"MPI_Send_c", "MPI_Session_init", "MPI_Abi_get_version"} <= names
    table = {f.name for f in read_table()}
    assert sorted(n for n in names - table if not unwrapped(n)) == []


def test_nothing_is_both_wrapped_and_left_out() -> None:
    assert [f.name for f in read_table() if unwrapped(f.name)] == []


def test_arguments_are_those_of_the_standard() -> None:
    table = {f.name: f for f in read_table()}
    differences = [
        f"{p.name}:\n  standard {expected(p)}\n  table    {found(table[p.name])}"
        for p in procedures()
        if p.name in table and expected(p) != found(table[p.name])
    ]
    assert not differences, "\n".join(differences)
