"""Write the MPI wrappers of the shim from mpi_calls.toml (standard library only).

Usage::

    gen_wrappers.py probe FILE.c
    gen_wrappers.py functions_h FILE.h --available NAMES
    gen_wrappers.py functions_c FILE.c --available NAMES
    gen_wrappers.py wrappers_c FILE.c --available NAMES

The first program prints the path of the MPI library and the names of those functions of
the table that it has, in C and in Fortran. The next two files list the C functions of
them, for the lowest layer; the last one holds a wrapper for each. gen_fortran.py writes
the wrappers for Fortran. The Makefile runs all.
"""

from __future__ import annotations

import argparse
import os
from pathlib import Path
from string import ascii_letters, digits

from gen_fortran import symbols
from wrapper_calls import record
from wrapper_parts import (
    SESSIONS,
    Wrapper,
    counted_body,
    enter,
    foreseen_call,
    session_body,
    statements,
    timed_call,
)
from wrapper_table import HANDLES, KINDS, Function, read_table

RETURN = "return code;"
WRITTEN = "/* Written by gen_wrappers.py from mpi_calls.toml; do not edit. */"
#: What programs call so often that its wrappers have a way of their own for calls which
#: were predicted (compilation takes twice as long for them).
FORESEEN = (
    "send receive sendrecv isend ireceive complete collective icollective".split()
)


#: What may follow the level of MPI_Pcontrol, for a tool behind us: all registers that
#: arguments come in and eight words on the stack. Calling conventions of x86-64 and Arm
#: place them the same for a function that declares them and for one that takes `...`.
WORDS = [f"long word{i}" for i in range(1, 6)]
WORDS += [f"double real{i}" for i in range(8)]
WORDS += [f"long word{i}" for i in range(6, 14)]


def signature(f: Function) -> tuple[str, str, str]:
    """Return result type, parameter list and argument list."""
    if f.name == "MPI_Pcontrol":
        names = ", ".join(["level", *(word.split()[1] for word in WORDS)])
        return "int", ", ".join(["int level", *WORDS]), names
    result = "skelgen_word" if f.returns in HANDLES else f.returns
    parameters = ", ".join(a.declaration for a in f.arguments) or "void"
    return result, parameters, ", ".join(a.name for a in f.arguments)


def head(f: Function) -> str:
    """Return declaration and opening of a wrapper."""
    result, parameters, _ = signature(f)
    return (
        f'SKELGEN_EXPORT {result} skelgen_{f.name}({parameters}) __asm__("{f.name}");\n'
        f"{result} skelgen_{f.name}({parameters})\n{{\n"
    )


def recorded(f: Function) -> str:
    """Return the wrapper of a call that becomes an event."""
    w = Wrapper(f)
    record(w)
    _, parameters, arguments = signature(f)
    call = f"(skelgen_real.{f.name})({arguments});"
    freed = f"skelgen_handle_at({w.frees.name})" if w.frees else ""
    begin = enter(w, f"\n\t\treturn {call}", freed)
    call = f"code = {call}"
    if w.general or w.polls or f.large or f.kind not in FORESEEN:
        return f"{head(f)}{statements([*begin, *timed_call(w, call), RETURN])}}}\n"
    other = (
        f"static __attribute__((noinline)) int other_{f.name}"
        f"(struct skelgen_stream *s, uint64_t site, {parameters})\n{{\n"
    )
    own = ["uint64_t begin;\n\tuint64_t end;\n\tint code;\n"]
    unforeseen = [*own, *timed_call(w, call, site="site", unforeseen=True), RETURN]
    foreseen = [
        *begin,
        *w.prepare,
        *foreseen_call(w, call),
        f"return other_{f.name}(s, SKELGEN_SITE, {arguments});",
    ]
    return f"{other}{statements(unforeseen)}}}\n{head(f)}{statements(foreseen)}}}\n"


def counted(f: Function, index: int) -> str:
    """Return the wrapper of a call that is counted and passed on."""
    result, _, arguments = signature(f)
    call = f"{result} code = (skelgen_real.{f.name})({arguments});"
    freed = f"*{f.arguments[0].name}" if f.arguments else ""
    body = counted_body(f, index, call=call, freed=freed)
    return f"{head(f)}{body}\treturn code;\n}}\n"


def lifecycle(f: Function) -> str:
    """Return the wrappers of Init, Finalize, Abort and Pcontrol."""
    _, _, arguments = signature(f)
    if f.kind == "init":
        body = [
            "\tbool first = skelgen_init_begin();",
            f"\tint code = (skelgen_real.{f.name})({arguments});\n",
            "\tif (first)",
            f"\t\tskelgen_init_end(code, {f.id}, SKELGEN_SITE);",
            "\treturn code;",
        ]
    elif f.kind == "finalize":
        body = [
            "\tstruct skelgen_finalize state = skelgen_finalize_begin();",
            f"\tint code = (skelgen_real.{f.name})();\n",
            f"\tskelgen_finalize_end(state, code, {f.id}, SKELGEN_SITE);",
            "\treturn code;",
        ]
    elif f.name == "MPI_Abort":
        body = [
            f"\tskelgen_aborting({f.id}, SKELGEN_SITE, errorcode);",
            f"\treturn (skelgen_real.{f.name})({arguments});",
        ]
    else:
        body = [
            f"\tskelgen_control({f.id}, SKELGEN_SITE, level);",
            f"\treturn (skelgen_real.{f.name})({arguments});",
        ]
    return head(f) + "\n".join(body) + "\n}\n"


def session(f: Function, index: int) -> str:
    """Return the wrappers of what opens and closes MPI without Init and Finalize."""
    _, _, arguments = signature(f)
    body = session_body(
        f,
        index,
        call=f"int code = (skelgen_real.{f.name})({arguments});",
        code="code",
        session="session, false",
        created="newcomm",
    )
    return f"{head(f)}{body}\treturn code;\n}}\n"


def wrapper(f: Function, index: int) -> str:
    """Return the text of one wrapper."""
    if f.name in SESSIONS:
        return session(f, index)
    if f.kind in ("local", "passed"):
        return counted(f, index)
    if f.kind in ("init", "finalize", "control"):
        return lifecycle(f)
    return recorded(f)


def c_string(text: str) -> str:
    """Return a string of C; whatever means something there is written in octal."""
    plain = frozenset(f"{ascii_letters}{digits}/._-+".encode())
    parts = [chr(b) if b in plain else f"\\{b:03o}" for b in os.fsencode(text)]
    return f'"{"".join(parts)}"'


def functions_h(functions: list[Function], library: str) -> str:
    """Return the header with the library's own functions as fields."""
    fields = []
    for f in functions:
        result, parameters, _ = signature(f)
        if f.name == "MPI_Pcontrol":
            parameters = "int level, ..."
        fields.append(f"\t{result} (*{f.name})({parameters});")
    parts = [
        WRITTEN,
        '#include "base/mpi_library.h"\n',
        "extern struct skelgen_real {",
        *fields,
        "} skelgen_real SKELGEN_HIDDEN;\n",
    ]
    return "\n".join(parts)


def functions_c(functions: list[Function], library: str) -> str:
    """Return the C file that says which functions there are."""
    names = [f'\t"{f.name}",' for f in functions]
    rows = [f'\t{{{f.id}, SKELGEN_FN_{KINDS[f.kind]}, "{f.name}"}},' for f in functions]
    parts = [
        WRITTEN,
        '#include "functions.h"\n',
        "struct skelgen_real skelgen_real;",
        "void *const skelgen_real_table = &skelgen_real;",
        f"const char skelgen_library[] = {c_string(library)};",
        "const char *const skelgen_real_names[] = {",
        *names,
        "\tNULL,\n};",
        "const struct skelgen_function skelgen_functions[] = {",
        *rows,
        "};",
        f"const size_t skelgen_function_count = {len(functions)};",
        f"uint64_t skelgen_passed[{len(functions)}];",
        f"uint64_t skelgen_passed_units[{len(functions)}];\n",
    ]
    return "\n".join(parts)


def wrappers_c(functions: list[Function], library: str) -> str:
    """Return the C file with all wrappers."""
    texts = [wrapper(f, i) for i, f in enumerate(functions)]
    includes = ['#include "functions.h"', '#include "wrappers/wrap.h"\n']
    return "\n".join([WRITTEN, *includes, *texts])


FILES = {
    "functions_h": functions_h,
    "functions_c": functions_c,
    "wrappers_c": wrappers_c,
}


def probe_program(functions: list[Function]) -> str:
    """Return a C program that prints which functions the MPI library has."""
    names = "\n".join(
        f'\t"{name}",' for f in functions for name in (f.name, *symbols(f))
    )
    return f"""#define _GNU_SOURCE
#include <dlfcn.h>
#include <glob.h>
#include <mpi.h>
#include <stdio.h>
#include <string.h>

static const char *const names[] = {{
{names}
}};

#ifdef OPEN_MPI
static const char *const fortran[] = {{"libmpi_mpifh.so*", "libmpi_usempif08.so*"}};
#else
static const char *const fortran[] = {{"libmpifort.so*", "libmpichfort.so*"}};
#endif

/* C's names begin with M, Fortran's with m. */
static void put_names(char first)
{{
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (names[i][0] == first && dlsym(RTLD_DEFAULT, names[i]))
			puts(names[i]);
}}

/* Load the library's Fortran part, which C programs do without. */
static void load_fortran(const char *library)
{{
	int folder = (int)(strrchr(library, '/') - library + 1);

	for (size_t i = 0; i < sizeof(fortran) / sizeof(fortran[0]); i++) {{
		char pattern[4096];
		glob_t found = {{0}};

		snprintf(pattern, sizeof(pattern), "%.*s%s", folder, library, fortran[i]);
		if (!glob(pattern, 0, NULL, &found))
			dlopen(found.gl_pathv[0], RTLD_LAZY | RTLD_GLOBAL);
		globfree(&found);
	}}
}}

int main(void)
{{
	int major;
	int minor;
	Dl_info library;

	MPI_Get_version(&major, &minor);
	if (!dladdr(dlsym(RTLD_DEFAULT, "PMPI_Init"), &library))
		return 1;
	puts(library.dli_fname);
	put_names('M');
#ifndef MPI_ABI_VERSION /* the binary interface of MPI 5 is one for C */
	/* The wrappers take numbers and statuses as they are. */
	if (sizeof(MPI_Fint) == sizeof(int))
		load_fortran(library.dli_fname);
	put_names('m');
#endif
	return 0;
}}
"""


def main() -> None:
    """Write the file that the command line asks for."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("what", choices=("probe", *FILES))
    parser.add_argument("output", type=Path)
    parser.add_argument("--available", type=Path, help="what the probe printed")
    options = parser.parse_args()
    functions = read_table()
    if options.what == "probe":
        text = probe_program(functions)
    else:
        library, *names = options.available.read_text(
            encoding="utf-8", errors="surrogateescape"
        ).splitlines()
        available = set(names)
        had = [f for f in functions if f.name in available]
        text = FILES[options.what](had, library)
    options.output.write_text(text)


if __name__ == "__main__":
    main()
