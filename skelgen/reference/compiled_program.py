"""Small C programs that measure this machine, compiled as skeletons are."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from skelgen.errors import MachineError
from skelgen.launch.process import run

#: How skeletons are compiled, and the calibration: the rates hold for these options.
#: Not -std=c11, which turns trigraphs on: ??/ would be a backslash.
COMPILER_FLAGS = ("-std=gnu11", "-O2", "-ffp-contract=off", "-fno-tree-vectorize")

#: A compiler, or what it made, is stopped after this [s].
LONGEST_S = 300.0


@contextmanager
def compiled(compiler: str, source: str) -> Iterator[Path]:
    """Compile a program as skeletons are and keep it as long as it is used."""
    with tempfile.TemporaryDirectory(prefix="skelgen-") as name:
        text, program = Path(name, "measure.c"), Path(name, "measure")
        text.write_text(source)
        checked(compiler, *COMPILER_FLAGS, "-o", str(program), str(text))
        yield program


def checked(*arguments: str) -> str:
    """Run what measures or compiles; return what it printed.

    Raises
    ------
    MachineError
        When it fails.
    """
    done = run(arguments, timeout_s=LONGEST_S)
    if done.exit_code:
        raise MachineError(
            f"cannot calibrate computation: {arguments[0]} ended with "
            f"{done.exit_code}: {done.complaint}"
        )
    return done.output
