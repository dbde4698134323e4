"""What processes hold that an image must hold, or cannot: read from /proc."""

from __future__ import annotations

import contextlib
import os
import shutil
import stat
from collections.abc import Container, Iterable, Iterator, Mapping
from pathlib import Path

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


def cut(open_files: Mapping[str, int]) -> None:
    """Give files the length back that they had: processes that write them go on there.

    Raises
    ------
    ApplicationError
        When one is gone or shorter than it was.
    """
    for name, length in open_files.items():
        file = Path(name)
        if not file.is_file() or file.stat().st_size < length:
            raise ApplicationError(
                f"{name}, which the application was writing when its image was made, "
                "is gone or shorter; make the image again"
            )
        os.truncate(file, length)


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
    """Copy a folder without what is mounted in it; sockets make themselves again."""
    device = source.stat().st_dev

    def foreign(at: str, names: list[str]) -> list[str]:
        facts = {name: Path(at, name).lstat() for name in names}
        return [
            name
            for name, one in facts.items()
            if one.st_dev != device or stat.S_ISSOCK(one.st_mode)
        ]

    shutil.copytree(
        source,
        target,
        symlinks=True,
        ignore=foreign,
        copy_function=_copy_sparse,
        dirs_exist_ok=True,
    )


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
