"""The folder of a job: its script, and what that leaves there."""

from __future__ import annotations

import contextlib
import shlex
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

#: What a job leaves: its exit code, and its output.
_STATUS, _OUTPUT, _ERRORS = "status", "out", "err"


@dataclass(frozen=True, slots=True)
class JobResult:
    """What a job left.

    Attributes
    ----------
    exit_code : int
    output, errors : str
    """

    exit_code: int
    output: str
    errors: str


def new_script(
    place: Path, command: Sequence[str], environment: Mapping[str, str]
) -> Path:
    """Write the script of a job into a folder of its own.

    Parameters
    ----------
    place : Path
        Where the folder is made.
    command : sequence of str
    environment : mapping of str to str

    Raises
    ------
    OSError
        When that cannot be written.
    """
    folder = Path(tempfile.mkdtemp(prefix="job-", dir=place))
    script = folder / "job.sh"
    text = job_script(folder, command, environment)
    script.write_text(text, encoding="utf-8", errors="surrogateescape")
    script.chmod(0o700)
    return script


def result_in(folder: Path) -> JobResult | None:
    """Return what a job left in its folder, None before it has ended.

    The folder is listed: a file system of the network may go on saying for long that a
    file that was asked for before does not exist.
    """
    with contextlib.suppress(OSError, ValueError):
        if folder / _STATUS in folder.iterdir():
            code = int((folder / _STATUS).read_text())
            return JobResult(code, _text(folder / _OUTPUT), _text(folder / _ERRORS))
    return None


def last_line(log: Path) -> str:
    """Return the last line that the batch system wrote, as the begin of a clause."""
    with contextlib.suppress(OSError):
        if lines := _text(log).split("\n"):
            told = [line.strip() for line in lines if line.strip()]
            return f"{told[-1]}; " if told else ""
    return ""


def _text(path: Path) -> str:
    return path.read_text(errors="replace")


def job_script(
    folder: Path, command: Sequence[str], environment: Mapping[str, str]
) -> str:
    """Return the script of a job; its last act is to tell the exit code.

    Its first is to make a folder, which only one of two can: a job that was submitted
    twice runs once, and one whose folder is gone, because it was given up, not at all.
    """
    part, whole = (shlex.quote(str(folder / name)) for name in ("part", _STATUS))
    output, errors = (shlex.quote(str(folder / name)) for name in (_OUTPUT, _ERRORS))
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
