"""The script of a job."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path


def job_script(
    folder: Path, command: Sequence[str], environment: Mapping[str, str]
) -> str:
    """Return the script of a job; its last act is to tell the exit code.

    Its first is to make a folder, which only one of two can: a job that was submitted
    twice runs once, and one whose folder is gone, because it was given up, not at all.
    """
    part, whole = (shlex.quote(str(folder / name)) for name in ("part", "status"))
    output, errors = (shlex.quote(str(folder / name)) for name in ("out", "err"))
    begun = shlex.quote(str(folder / "begun"))
    lines = [
        "#!/bin/sh",
        "mask=$(umask); umask 077",
        f"mkdir {begun} || exit 1",
        f"cd {shlex.quote(str(Path.cwd()))}",
        *(f"export {name}={shlex.quote(text)}" for name, text in environment.items()),
        f": >{output} 2>{errors}; umask $mask",
        f"{shlex.join(command)} </dev/null >{output} 2>{errors}",
        f"echo $? >{part} && mv {part} {whole}",
    ]
    return "\n".join(lines) + "\n"
