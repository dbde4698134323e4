"""Images of an application that was frozen, and what a machine must have to run them.

An image is a folder that only its owner may read: it holds the memory of all ranks.
Restoring it runs what is in it, as running a program of its maker would.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import platform
import shutil
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field, replace
from dataclasses import fields as dataclass_fields
from pathlib import Path

from skelgen.documents import Field, read_json, sealed_json
from skelgen.documents.numbers import MOST_RANKS
from skelgen.documents.system import refused
from skelgen.errors import InputError, MachineError
from skelgen.launch.files import file_hashes
from skelgen.launch.shim import mpi_of
from skelgen.phase_execution.interface import Application, WantedOccurrence
from skelgen.phase_execution.processes import give_files_back, keep_files
from skelgen.units import format_bytes

#: Images are a little larger than the memory in them [1].
_OVERHEAD = 1.1
_NAME = "manifest.json"
_MOST = 1 << 60


@dataclass(frozen=True, slots=True)
class Machine:
    """What a restored process depends on.

    Attributes
    ----------
    kernel : str
        Release, as ``uname -r``.
    cpu : str
        Name of the processor: its clock is that of the recorder.
    cpu_flags : tuple of str
    """

    kernel: str
    cpu: str
    cpu_flags: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ImageContent:
    """What is in an image.

    Attributes
    ----------
    backend, mpi : str
    program : str
        Hash of the program, its arguments and the files of input that these name.
    ranks, phase, occurrence : int
    warm : tuple of int
        Calls of each rank until there.
    """

    backend: str
    mpi: str = ""
    program: str = ""
    ranks: int = 0
    phase: int = 0
    occurrence: int = 0
    warm: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Manifest:
    """What is in an image, and what restoring it needs.

    Attributes
    ----------
    content : ImageContent
    machine : Machine
    size_bytes : int
        Of all its files [bytes].
    folder : str
        Where it was made: files of the run stand beside it and are found by name.
    root : int
        Number of the process from which all others descend.
    last_pid : int
        The largest number of a process or thread.
    open_files : dict of str to int
        Files that were open for writing, and their length then [bytes].
    files : dict of str to int
        Its own files and their length [bytes].
    """

    content: ImageContent
    machine: Machine
    size_bytes: int
    folder: str
    root: int = 0
    last_pid: int = 0
    open_files: dict[str, int] = field(default_factory=dict)
    files: dict[str, int] = field(default_factory=dict)


def content_of(backend: str, application: Application) -> ImageContent:
    """Return what images of an application hold, without the place."""
    folder, known = application.place, application.files
    # What else the arguments name is written by the application: it is never the same.
    named = [
        word
        for number, word in enumerate(application.launch.program)
        if not (number and known) or str(folder / word) in known
    ]
    facts = (application.launch.program, file_hashes(named, folder))
    return ImageContent(
        backend=backend,
        mpi=mpi_of(application.launch).title,
        program=hashlib.sha256(repr(facts).encode()).hexdigest(),
        ranks=application.ranks,
    )


def content_at(content: ImageContent, wanted: WantedOccurrence) -> ImageContent:
    """Return what an image for an occurrence holds."""
    return replace(
        content,
        phase=wanted.phase,
        occurrence=wanted.occurrence,
        warm=tuple(wanted.warm.tolist()),
    )


def this_machine() -> Machine:
    """Return what processes restored here would find."""
    facts: dict[str, str] = {}
    with contextlib.suppress(OSError):
        for line in Path("/proc/cpuinfo").read_text().split("\n\n")[0].splitlines():
            name, _, text = line.partition(":")
            facts[name.strip()] = text.strip()
    flags = facts.get("flags", facts.get("Features", ""))
    cpu = facts.get("model name", platform.machine())
    return Machine(platform.release(), cpu, tuple(sorted(flags.split())))


def check_machine(manifest: Manifest, image: Path, here: Machine) -> None:
    """Refuse an image that this machine cannot take.

    Raises
    ------
    MachineError
        With the first reason.
    """
    there = manifest.machine
    missing = sorted(set(there.cpu_flags) - set(here.cpu_flags))
    reason = ""
    if Path(manifest.folder) != image.absolute():
        reason = f"it was made as {manifest.folder} and is found only there"
    elif there.cpu != here.cpu:
        reason = f"it was made on {there.cpu}, this is {here.cpu}"
    elif missing:
        reason = f"this processor lacks {', '.join(missing[:5])}"
    elif there.kernel != here.kernel:
        reason = f"it was made on Linux {there.kernel}, this is {here.kernel}"
    if reason:
        raise MachineError(
            f"{image} cannot be restored here: {reason}; remove it and make it again"
        )


def check_content(image: Path, content: ImageContent) -> None:
    """Refuse an image that stands in the place of another one.

    Raises
    ------
    InputError
        With what it is of.
    """
    there = read_manifest(image).content
    others = {
        f"was made with {there.backend}": there.backend != content.backend,
        "is of another program, input or arguments": there.program != content.program,
        f"is of {there.mpi}, not {content.mpi}": there.mpi != content.mpi,
        f"is of {there.ranks} ranks": there.ranks != content.ranks,
        "is of another recording": there.warm != content.warm,
    }
    for what in (text for text, differs in others.items() if differs):
        raise InputError(
            f"{image} {what}; remove it, or name another folder with --images"
        )


def complete(
    image: Path,
    content: ImageContent,
    open_files: dict[str, int],
    *,
    root: int = 0,
    last_pid: int = 0,
) -> None:
    """Keep the files that the application was writing, and write the manifest."""
    keep_files(open_files, image)
    manifest = Manifest(
        content,
        this_machine(),
        size_bytes=size_bytes(image),
        folder=str(image.absolute()),
        root=root,
        last_pid=last_pid,
        open_files=open_files,
        files=_lengths(image),
    )
    write_manifest(image, manifest)


def ready(image: Path) -> Manifest:
    """Make files what they were when an image was made that is to be restored here.

    Raises
    ------
    InputError
        When it is no whole image.
    MachineError
        When this machine cannot take it.
    ApplicationError
        When a file cannot be written.
    """
    manifest = read_manifest(image)
    check_machine(manifest, image, this_machine())
    # CRIU waits for ever for what a file that was cut lacks.
    there = _lengths(image)
    for name, length in manifest.files.items():
        if (left := there.get(name)) != length:
            what = "is missing" if left is None else f"has {left} of {length} bytes"
            raise InputError(
                f"{image} holds no whole image ({name} {what}); remove it and make it "
                "again"
            )
    give_files_back(manifest.open_files, image)
    return manifest


def _lengths(image: Path) -> dict[str, int]:
    files = (one for one in image.rglob("*") if one.is_file() and not one.is_symlink())
    return {str(one.relative_to(image)): one.stat().st_size for one in files}


def write_manifest(image: Path, manifest: Manifest) -> None:
    """Write the manifest: the last file of an image, without it there is none."""
    (image / _NAME).write_text(sealed_json(asdict(manifest)))


def is_finished(image: Path) -> bool:
    """Say whether an image was written to its end."""
    return (image / _NAME).exists()


def read_manifest(image: Path) -> Manifest:
    """Read the manifest of an image that is of this user.

    Raises
    ------
    InputError
        When it is no whole image.
    MachineError
        When others can have written it.
    """
    try:
        check_owner(image)
        return _read(read_json(image / _NAME))
    except (OSError, InputError) as error:
        raise InputError(
            f"{image} holds no whole image ({error}); remove it and make it again"
        ) from error


def _read(document: Field) -> Manifest:
    fields = document.mapping([one.name for one in dataclass_fields(Manifest)])
    machine = fields["machine"].mapping(("kernel", "cpu", "cpu_flags"))
    return Manifest(
        content=_content(fields["content"]),
        machine=Machine(
            machine["kernel"].text(),
            machine["cpu"].text(),
            machine["cpu_flags"].texts(),
        ),
        size_bytes=fields["size_bytes"].integer(0, _MOST),
        folder=fields["folder"].text(),
        root=fields["root"].integer(0, _MOST),
        last_pid=fields["last_pid"].integer(0, _MOST),
        open_files=_numbers(fields["open_files"]),
        files=_numbers(fields["files"]),
    )


def _content(field: Field) -> ImageContent:
    fields = field.mapping([one.name for one in dataclass_fields(ImageContent)])
    return ImageContent(
        backend=fields["backend"].text(),
        mpi=fields["mpi"].text(),
        program=fields["program"].text(),
        ranks=fields["ranks"].integer(0, MOST_RANKS),
        phase=fields["phase"].integer(0, _MOST),
        occurrence=fields["occurrence"].integer(0, _MOST),
        warm=tuple(one.integer(0, _MOST) for one in fields["warm"].items()),
    )


def _numbers(field: Field) -> dict[str, int]:
    fields = field.mapping(optional=None)
    return {name: one.integer(0, _MOST) for name, one in fields.items()}


def check_owner(folder: Path) -> None:
    """Refuse a folder that another user can have written or can read.

    Raises
    ------
    MachineError
        When its owner or its mode says so.
    """
    about = folder.stat()
    if about.st_uid != os.geteuid() or about.st_mode & 0o077:
        raise MachineError(
            f"{folder} can be written or read by others; restoring an image runs what "
            "is in it: use only your own, in folders with mode 0700"
        )


def size_bytes(folder: Path) -> int:
    """Return what the files of a folder take, without what is mounted in it [bytes]."""
    device, total = folder.stat().st_dev, 0
    for at, folders, names in os.walk(folder):
        inside = set()
        for name in (*folders, *names):
            with contextlib.suppress(FileNotFoundError):  # removed meanwhile
                about = Path(at, name).lstat()
                if about.st_dev == device:
                    inside.add(name)
                    total += about.st_blocks * 512
        folders[:] = inside.intersection(folders)
    return total


def check_disk(folder: Path, needed_bytes: int) -> None:
    """Refuse to write an image that the disk cannot take.

    Raises
    ------
    MachineError
        When it is too small.
    """
    needed_bytes = int(needed_bytes * _OVERHEAD)
    free_bytes = shutil.disk_usage(folder).free
    if free_bytes < needed_bytes:
        raise MachineError(
            f"an image takes about {format_bytes(needed_bytes)}, {folder} has "
            f"{format_bytes(free_bytes)} left: free some, or name another disk with "
            "--images"
        )


@contextlib.contextmanager
def new_image(image: Path) -> Iterator[Path]:
    """Give the folder of an image to fill; when that fails nothing of it remains."""
    with usable(image):
        image.mkdir(mode=0o700)
        with contextlib.ExitStack() as undo:
            undo.callback(shutil.rmtree, image, ignore_errors=True)
            yield image
            undo.pop_all()


@contextlib.contextmanager
def usable(folder: Path) -> Iterator[None]:
    """Tell in one line that files of images cannot be written or read meanwhile."""
    what = f"{folder} cannot be used for images"
    with refused(MachineError, what, "mend that, or name another with --images"):
        yield


@contextlib.contextmanager
def read_from(image: Path) -> Iterator[None]:
    """Tell in one line that an image cannot be read."""
    what = f"{image} cannot be read as a whole"
    with refused(InputError, what, "remove it and make it again"):
        yield
