"""What processes hold that an image must hold, or cannot: read from /proc."""

from __future__ import annotations

import contextlib
import os
import shutil
import stat
from collections.abc import Container, Iterable, Iterator, Mapping
from pathlib import Path

from skelgen.documents.system import refused
from skelgen.errors import ApplicationError, MachineError

#: Devices whose state no image can hold, and what to do about them.
_DEVICES = {
    "/dev/infiniband": "an InfiniBand adapter is open; try UCX_TLS=tcp,self",
    "/dev/nvidia": "a GPU is open",
    "/dev/kfd": "a GPU is open",
    "/dev/dri": "a GPU is open",
}


def check_devices(tasks: Iterable[Path]) -> None:
    """Refuse processes that have devices open which no image can hold.

    Parameters
    ----------
    tasks : iterable of Path
        Their folders in /proc.

    Raises
    ------
    MachineError
        With the device.
    """
    for _, target in _descriptors(tasks):
        for device, text in _DEVICES.items():
            if target.startswith(device):
                raise MachineError(
                    f"the application cannot be saved: {text} ({target}), or use "
                    "--backend live"
                )


def files_open_for_writing(
    tasks: Iterable[Path], saved: Container[int]
) -> dict[str, int]:
    """Return files that processes write to, and their length [bytes].

    Parameters
    ----------
    tasks : iterable of Path
        Folders of the processes in /proc.
    saved : container of int
        Numbers of devices whose files are saved with the image.
    """
    found = {}
    for link, target in _descriptors(tasks):
        with contextlib.suppress(OSError):
            facts = link.stat()
            details = (link.parent.parent / "fdinfo" / link.name).read_text()
            flags = next(one for one in details.splitlines() if one.startswith("flags"))
            written = int(flags.split()[1], 8) & os.O_ACCMODE
            ordinary = stat.S_ISREG(facts.st_mode) and facts.st_nlink
            if written and ordinary and facts.st_dev not in saved:
                found[target] = facts.st_size
    return found


def keep_files(open_files: Iterable[str], image: Path) -> None:
    """Copy files into an image: what runs later writes them anew."""
    for number, name in enumerate(open_files):
        _copy_sparse(name, str(_kept(image, number)))


def give_files_back(open_files: Mapping[str, int], image: Path) -> None:
    """Make files what they were: processes that write them go on there.

    They may be longer by now, or shorter, as after an earlier image was restored.

    Raises
    ------
    ApplicationError
        When one cannot be written, or is not in the image.
    """
    for number, (name, length) in enumerate(open_files.items()):
        what = (
            f"{name}, which the application was writing when its image was made, "
            "cannot be as it was"
        )
        with refused(ApplicationError, what, "make the image again"):
            _copy_sparse(str(_kept(image, number)), name)
            os.truncate(name, length)


def _kept(image: Path, number: int) -> Path:
    return image / f"file-{number}"


def memory_bytes(tasks: Iterable[Path]) -> int:
    """Return the memory that processes hold [bytes]."""
    pages = 0
    for task in tasks:
        with contextlib.suppress(OSError):
            pages += int((task / "statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")


def last_number(tasks: Iterable[Path]) -> int:
    """Return the largest number of a thread of processes in their own namespace."""
    found = 1
    for task in tasks:
        with contextlib.suppress(OSError):
            for thread in (task / "task").iterdir():
                lines = (thread / "status").read_text().splitlines()
                numbers = next(one for one in lines if one.startswith("NSpid:"))
                found = max(found, int(numbers.split()[-1]))
    return found


def copy_own_files(source: Path, target: Path) -> None:
    """Copy a folder without what is mounted in it; sockets make themselves again.

    What exists in the target stays: files of this machine may be mounted there.
    """
    device = source.stat().st_dev

    def foreign(at: str, names: list[str]) -> list[str]:
        there = target / Path(at).relative_to(source)
        facts = {name: Path(at, name).lstat() for name in names}
        return [
            name
            for name, one in facts.items()
            if one.st_dev != device
            or stat.S_ISSOCK(one.st_mode)
            or os.path.lexists(there / name)
        ]

    try:
        shutil.copytree(
            source,
            target,
            symlinks=True,
            ignore=foreign,
            copy_function=_copy_sparse,
            dirs_exist_ok=True,
        )
    except shutil.Error as error:  # a list of all that could not be copied
        name, _, reason = error.args[0][0]
        raise OSError(f"{name}: {reason}") from error


def _copy_sparse(source: str, target: str) -> None:
    """Copy a file without its holes: shared memory is mostly those."""
    facts = Path(source).stat()
    if stat.S_ISFIFO(facts.st_mode):
        os.mkfifo(target, stat.S_IMODE(facts.st_mode))
        return
    with Path(source).open("rb") as old, Path(target).open("wb") as new:
        at = 0
        while at < facts.st_size:
            try:
                at = os.lseek(old.fileno(), at, os.SEEK_DATA)
            except OSError:
                break  # the rest is a hole
            end = os.lseek(old.fileno(), at, os.SEEK_HOLE)
            new.seek(at)
            while at < end:
                at += os.sendfile(new.fileno(), old.fileno(), at, end - at)
        os.truncate(new.fileno(), facts.st_size)
        os.fchmod(new.fileno(), stat.S_IMODE(facts.st_mode))


def _descriptors(tasks: Iterable[Path]) -> Iterator[tuple[Path, str]]:
    for task in tasks:
        links: list[Path] = []
        with contextlib.suppress(OSError):  # it may have ended
            links += (task / "fd").iterdir()
        for link in links:
            with contextlib.suppress(OSError):
                yield link, str(link.readlink())
