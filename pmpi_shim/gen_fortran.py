"""Write the Fortran wrappers of the shim from mpi_calls.toml (standard library only).

Usage::

    gen_fortran.py FILE.c --available NAMES

The file holds a wrapper for each Fortran function that the MPI library has. It passes
the program's arguments on as they are; what the C wrapper's text mentions of them is
translated before: integers are read, handles converted, constants recognised that have
an address instead of a value.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterator
from pathlib import Path

from wrapper_calls import record
from wrapper_parts import (
    FREES,
    SESSIONS,
    Wrapper,
    counted_body,
    enter,
    session_body,
    statements,
    timed_call,
)
from wrapper_table import HANDLES, Argument, Function, read_table

#: How gfortran's names of a function end: mpif.h and `use mpi`, two of their variants
#: for C pointers, mpi_f08 with addresses of buffers, and with descriptors of buffers.
ENDINGS = ("_", "_cptr_", "_f08_", "_f08ts_")
LARGE_ENDINGS = ("_f08_large_", "_f08ts_large_")
#: C arguments that Fortran's functions lack.
COMMAND_LINE = ("MPI_Init", "MPI_Init_thread", "MPI_Info_create_env")


def symbols(f: Function) -> list[str]:
    """Return the names that gfortran can give the function."""
    if f.large:
        return [f.name.removesuffix("_c").lower() + ending for ending in LARGE_ENDINGS]
    return [f.name.lower() + ending for ending in ENDINGS]


class Binding:
    """One Fortran symbol of a function: its parameters and how it is called."""

    def __init__(self, function: Function, symbol: str) -> None:
        self.function, self.symbol = function, symbol
        self.f08 = "_f08" in symbol
        self.described = "_f08ts_" in symbol
        self.arguments = [
            a
            for a in function.arguments
            if function.name not in COMMAND_LINE or a.name not in ("argc", "argv")
        ]
        # MPICH's MPI_Pcontrol in mpi_f08 has an error code that the standard lacks.
        self.has_error = function.returns == "int" and (
            self.f08 or function.name != "MPI_Pcontrol"
        )
        texts = [a for a in self.arguments if "char" in a.type]
        self.lengths = [f"length_{a.name}" for a in texts]

    @property
    def head(self) -> str:
        """Declaration and opening of the wrapper, with the library's function."""
        parameters = [f"void *f_{a.name}" for a in self.arguments]
        parameters += ["MPI_Fint *f_error"] * self.has_error
        parameters += [f"size_t {length}" for length in self.lengths]
        result = "void" if self.function.returns == "int" else self.function.returns
        name = f"{result} skelgen_{self.symbol}({', '.join(parameters) or 'void'})"
        return (
            f'SKELGEN_EXPORT {name} __asm__("{self.symbol}");\n{name}\n{{\n'
            f'\tSKELGEN_FORTRAN_REAL(skelgen_{self.symbol}, "{self.symbol}");\n'
        )

    @property
    def own_error(self) -> str:
        """Statements that give an optional ierror a place."""
        if not self.f08 or self.function.name == "MPI_Pcontrol":
            return ""
        return (
            "\tMPI_Fint own_error = MPI_SUCCESS;\n\n"
            "\tif (!f_error)\n\t\tf_error = &own_error;\n"
        )

    def call(self, *replaced: Argument) -> str:
        """Return the call of the library's function, with our own of these statuses."""
        words = []
        for a in self.arguments:
            word = f"f_{a.name}"
            if a in replaced:
                none = _no_status(a)
                word = f"{a.name} == {none} ? {word} : (void *){a.name}"
            words.append(word)
        words += ["f_error"] * self.has_error
        return f"real({', '.join([*words, *self.lengths])})"


def _no_status(a: Argument) -> str:
    return "MPI_STATUSES_IGNORE" if a.brackets else "MPI_STATUS_IGNORE"


def _base(a: Argument) -> str:
    return a.type.replace("const", "").strip(" *")


def _converted(a: Argument) -> str:
    kind = _base(a).removeprefix("MPI_").replace("Datatype", "Type")
    if kind == "File":
        return f"skelgen_file_f2c(f_{a.name})"
    return f"skelgen_f2c({kind}, f_{a.name})"


def _read(a: Argument, binding: Binding) -> str:
    """Return the statement that makes of a Fortran argument what the C text expects."""
    source = f"f_{a.name}"
    if a.by_value and _base(a) in HANDLES:
        return f"skelgen_word {a.name} = (skelgen_word){_converted(a)};"
    if a.by_value:
        return f"{_base(a)} {a.name} = *(const {_base(a)} *){source};"
    if _base(a) == "MPI_Status":
        value = f"skelgen_statuses({source}, {_no_status(a)})"
        return f"MPI_Status *{a.name} = {value};"
    if a.role in ("sendbuf", "recvbuf"):
        what = "described" if binding.described else "buffer"
        return f"const void *{a.name} = skelgen_{what}({source});"
    if _base(a) == "char":
        copied = f"{a.name}, sizeof({a.name}), {source}, length_{a.name}"
        return f"char {a.name}[4096];\n\tskelgen_trimmed({copied});"
    base = "MPI_Fint" if _base(a) in HANDLES else a.type.strip(" *")
    return f"{base} *{a.name} = {source};"


def _translate(binding: Binding, before: str, after: str) -> Iterator[tuple[bool, str]]:
    """Yield statements for what a text mentions; true: they stand behind the call."""
    for a in binding.arguments:
        pattern = rf"\b{a.name}\b"
        early, late = re.search(pattern, before), re.search(pattern, after)
        followed = rf"(\*|skelgen_handle_at\(){a.name}\b"
        if _base(a) in HANDLES and re.search(followed, before + after):
            own = f"c_{a.name}"
            value = f"{own} = {_converted(a)};"
            yield not early, f"{_base(a)} {value}"
            yield not early, f"{_base(a)} *{a.name} = &{own};"
            if early and late:
                yield True, value
        elif early or late:
            yield False, _read(a, binding)


def recorded(binding: Binding) -> str:
    """Return the wrapper of a call that becomes an event."""
    w = Wrapper(
        binding.function, first_index="SKELGEN_FIRST_F08" if binding.f08 else "1"
    )
    record(w)
    before = "\n".join([*w.prepare, *w.before])
    late = (*w.inputs, *w.after, *w.completed, w.creates, *w.success, *w.last)
    after = "\n".join([*w.fields.values(), *late])
    both = list(_translate(binding, before, after))
    statuses = [
        a
        for a in binding.arguments
        if _base(a) == "MPI_Status" and re.search(rf"\b{a.name}\b", before + after)
    ]
    epilogue = ["code = *f_error;", *(line for behind, line in both if behind)]
    freed = f"(uint64_t)(uintptr_t){_converted(w.frees)}" if w.frees else ""
    body = [
        *enter(w, f" {{\n\t\t{binding.call()};\n\t\treturn;\n\t}}", freed),
        *(line for behind, line in both if not behind),
        *timed_call(w, f"{binding.call(*statuses)};", epilogue),
    ]
    return f"{binding.head}{binding.own_error}{statements(body)}}}\n"


def counted(binding: Binding, index: int) -> str:
    """Return the wrapper of a call that is counted and passed on."""
    f = binding.function
    freed = _converted(f.arguments[0]) if f.name in FREES else ""
    result = f"{f.returns} result = " if f.returns != "int" else ""
    body = counted_body(f, index, call=f"{result}{binding.call()};", freed=freed)
    end = "\treturn result;\n}\n" if result else "}\n"
    return f"{binding.head}{body}{end}"


def lifecycle(binding: Binding) -> str:
    """Return the wrappers of Init, Finalize, Abort and Pcontrol."""
    f = binding.function
    call = f"{binding.call()};"
    if f.kind == "init":
        body = [
            "bool first = skelgen_init_begin();\n",
            call,
            "if (first)",
            f"\tskelgen_init_end(*f_error, {f.id}, SKELGEN_SITE);",
        ]
    elif f.kind == "finalize":
        body = [
            "struct skelgen_finalize state = skelgen_finalize_begin();\n",
            call,
            f"skelgen_finalize_end(state, *f_error, {f.id}, SKELGEN_SITE);",
        ]
    elif f.name == "MPI_Abort":
        code = "*(const int *)f_errorcode"
        body = [f"skelgen_aborting({f.id}, SKELGEN_SITE, {code});", call]
    else:
        body = [
            f"skelgen_control({f.id}, SKELGEN_SITE, *(const int *)f_level);",
            "struct skelgen_stream *s = skelgen_current;\n",
            "skelgen_current = NULL;",
            call,
            "if (s)\n\t\tskelgen_current = s;",
        ]
    lines = "".join(f"\t{line}\n" for line in body)
    return f"{binding.head}{binding.own_error}{lines}}}\n"


def session(binding: Binding, index: int) -> str:
    """Return the wrappers of what opens and closes MPI without Init and Finalize."""
    created = "&(MPI_Comm){skelgen_f2c(Comm, f_newcomm)}"
    body = session_body(
        binding.function,
        index,
        call=f"{binding.call()};",
        code="*f_error",
        session="f_session, true",
        created=created,
    )
    return f"{binding.head}{binding.own_error}{body}}}\n"


def wrapper(binding: Binding, index: int) -> str:
    """Return the text of one wrapper."""
    kind = binding.function.kind
    if binding.function.name in SESSIONS:
        return session(binding, index)
    if kind in ("local", "passed"):
        return counted(binding, index)
    if kind in ("init", "finalize", "control"):
        return lifecycle(binding)
    return recorded(binding)


def main() -> None:
    """Write the file that the command line asks for."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("output", type=Path)
    parser.add_argument("--available", type=Path, help="what the probe printed")
    options = parser.parse_args()
    names = set(options.available.read_text().splitlines()[1:])
    functions = [f for f in read_table() if f.name in names]
    texts = [
        wrapper(Binding(f, symbol), index)
        for index, f in enumerate(functions)
        for symbol in symbols(f)
        if symbol in names
    ]
    head = "/* Written by gen_fortran.py from mpi_calls.toml; do not edit. */\n"
    options.output.write_text(
        "\n".join([head + '#include "wrappers/fortran.h"\n', *texts])
    )


if __name__ == "__main__":
    main()
