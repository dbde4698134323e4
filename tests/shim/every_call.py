"""Write a C program that calls each function of the table once.

The arguments follow from their types and names, the text around a call (a request to
wait for, an epoch to be in) from ``every_call.toml``.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path

from tests.shim.table import Argument, Function

RECIPES = tomllib.loads(Path(__file__).with_suffix(".toml").read_text())
#: Called by the program's main function.
FRAME = ("MPI_Init", "MPI_Init_thread", "MPI_Finalize")
#: Results that are no error codes.
_VALUES = ("MPI_*_toint",)
_SCALARS = ("int", "MPI_Aint", "MPI_Count", "MPI_Offset", "MPI_Fint")


def names(section: str, mpi: str = "") -> dict[str, str]:
    """Return functions that an MPI such as ``mpich 5.0.2`` has trouble with.

    Returns
    -------
    dict of str to str
        Reason by name; where an entry names no MPI it holds for all.
    """
    return {
        name: row["reason"]
        for row in RECIPES.get(section, ())
        if any(mpi.startswith(prefix) for prefix in row.get("mpis", [""]))
        for name in row["names"]
    }


@dataclass(frozen=True)
class Call:
    """A call in the program and the values it passes by name."""

    function: Function
    values: dict[str, str]
    before: str
    after: str

    @property
    def text(self) -> str:
        name = self.function.name
        made = f"({name})({', '.join(self.values.values())})"  # no macro
        is_code = self.function.returns == "int"
        if is_code and not any(fnmatchcase(name, v) for v in _VALUES):
            made = f'check("{name}", {made})'
        lines = [self.before, f'enter("{name}");', f"{made};", self.after]
        return "\n".join(f"\t{line}" for line in lines if line)


def value(argument: Argument) -> str:
    """Choose an argument by its type and name."""
    plain = argument.type.replace("const ", "").replace(" *", "*")
    what = f"{plain} {argument.name}{argument.brackets}"
    base = plain.rstrip("*")
    for pattern, text in RECIPES["values"].items():
        if pattern.endswith("]") == bool(argument.brackets) and fnmatchcase(
            what, pattern
        ):
            return f"({base}[4]){{0}}" if text == "ZEROS" else text
    if base not in _SCALARS:
        raise ValueError(f"every_call.toml: no value for {what}")
    if argument.brackets:
        return f"({base}[4]){{1}}"
    return f"({base}[4]){{0}}" if "*" in plain else "0"


def recipe(function: Function) -> str:
    """Return the text around a call, @ in it being the call."""
    short = function.name.removeprefix("MPI_")
    for name in (short, short.removesuffix("_c")):
        if name in RECIPES["calls"]:
            return RECIPES["calls"][name]
    if short.endswith(("_f2c", "_fromint")):
        known = value(Argument(function.returns, "x", "", ""))
        to = "c2f" if short.endswith("_f2c") else "toint"
        (argument,) = function.arguments
        return f"@({argument.name}: PMPI_{short.rpartition('_')[0]}_{to}({known}))"
    return f"@ {after(function)}"


def after(function: Function) -> str:
    """Return what gets rid of what a call has made."""
    for argument in function.arguments:
        if argument.type == "MPI_Request*":
            if function.name.removesuffix("_c").endswith("_init"):
                return "PMPI_Request_free(&request);"
            return "PMPI_Wait(&request, &status);"
        if argument.type in RECIPES["frees"]:
            return RECIPES["frees"][argument.type]
    return ""


def call(function: Function) -> Call:
    """Put together the call of a function."""
    before, others, behind = re.fullmatch(
        r"([^@]*)@(?:\((.*?)\)(?=$| ))?(.*)", recipe(function)
    ).groups()
    values = {a.name: value(a) for a in function.arguments}
    for part in filter(None, (others or "").split("; ")):
        name, text = part.split(": ", 1)
        if name not in values:
            raise ValueError(f"every_call.toml: {function.name} has no {name}")
        values[name] = text
    return Call(function, values, before.strip(), behind.strip())


def calls(functions: Collection[Function], mpi: str) -> Iterator[Call]:
    """Yield the calls that can be made under an MPI."""
    left_out = {*FRAME, *names("not_called"), *names("crashes", mpi)}
    for function in functions:
        if function.name not in left_out:
            yield call(function)


def program(functions: Collection[Function], mpi: str) -> str:
    """Return the C program."""
    texts = [
        f"static void call_{c.function.name}(void)\n{{\n{c.text}\n}}\n"
        for c in calls(functions, mpi)
    ]
    run = [f"\t\tcall_{c.function.name}();" for c in calls(functions, mpi)]
    return "\n".join(
        [
            *(f"#define HAVE_{f.name} 1" for f in functions),
            '#include "every_call.h"\n',
            *texts,
            "int main(int argc, char **argv)\n{",
            "\tint level;\n",
            "\targument_count = argc;",
            "\targuments = argv;",
            "\tif (argc > 1) {",
            "\t\tMPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);",
            "\t} else {",
            "\t\tMPI_Init(&argc, &argv);",
            "\t\tmake_objects();",
            *run,
            "\t\tfree_objects();",
            "\t}",
            "\tMPI_Finalize();",
            "\treturn 0;\n}\n",
        ]
    )
