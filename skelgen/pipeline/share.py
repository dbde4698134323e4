"""From a run, a skeleton or a signature to one file to give away."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from skelgen.errors import UsageError
from skelgen.launch.folders import new_file
from skelgen.launch.replaceable_output import check_file
from skelgen.phases import store as phases_store
from skelgen.phases.share import share_phases
from skelgen.phases.store import PHASES_BEGIN
from skelgen.pipeline.signatures import read_signature
from skelgen.pipeline.source_kinds import SIGNATURE_FILE, is_run
from skelgen.progress import NO_PROGRESS, Progress
from skelgen.signature import store
from skelgen.signature.share import Given, share_signature
from skelgen.signature.write import signature_text

_NAME = re.compile(r"[A-Za-z0-9][\w.+-]{0,63}", re.ASCII)


@dataclass(frozen=True, slots=True)
class Shared:
    """A file that was written to be given away.

    Attributes
    ----------
    output : Path
    given : Given
        What is in it, and what is not.
    """

    output: Path
    given: Given


def share(
    source: Path,
    output: Path,
    *,
    name: str = "application",
    force: bool = False,
    progress: Progress = NO_PROGRESS,
) -> Shared:
    """Write a signature without what tells who recorded it, where, and with what.

    Parameters
    ----------
    source : Path
        Folder of a run, a skeleton or a signature, or the file of a signature or a
        phase signature.
    output : Path
        File to write.
    name : str
        What the application is called in it.
    force : bool
        Replace a signature that exists.
    progress : Progress

    Raises
    ------
    UsageError
        When the name does not fit, or the file exists.
    InputError
        When the source cannot be read.
    """
    if not _NAME.fullmatch(name):
        raise UsageError(
            f"--name {name[:80]!r}: expected up to 64 letters, digits, '.', '+', '-' "
            "and '_', which say nothing about who you are"
        )
    of_phases = _holds_phases(source)
    begins = phases_store.PHASES_BEGIN if of_phases else store.SIGNATURE_BEGINS
    check_file(output, begins, force=force)
    if output.exists() and source.exists() and output.samefile(source):
        raise UsageError(f"{output} is read; choose another file with -o")
    write = _phases if of_phases else _signature
    text, given = write(source, name, progress)
    with new_file(output, begins, force=force, shared=True) as beside:
        beside.write_text(text, encoding="utf-8", newline="\n")
    return Shared(output, given)


def _holds_phases(source: Path) -> bool:
    """Say whether a source is a phase signature and nothing else."""
    if source.is_dir():
        alone = not is_run(source) and not (source / SIGNATURE_FILE).exists()
        return alone and (source / phases_store.PHASES_FILE).is_file()
    if not source.is_file():
        return False
    with source.open("rb") as file:
        return bool(PHASES_BEGIN.match(file.read(256)))


def _signature(source: Path, name: str, progress: Progress) -> tuple[str, Given]:
    signature, _ = read_signature(
        source,
        similarity_threshold=None,
        scaling_factor=None,
        target_s=None,
        progress=progress,
    )
    shared, given = share_signature(signature, name)
    return signature_text(shared), given


def _phases(source: Path, name: str, progress: Progress) -> tuple[str, Given]:
    shared, given = share_phases(phases_store.load(source), name)
    return phases_store.text_of(shared), given
