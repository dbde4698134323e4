"""Find CRIU, or take it from the machine's package sources without installing it.

Only sources that the machine's administrator has set up are asked, by apt, which checks
their signatures. skelgen knows no address of its own.
"""

from __future__ import annotations

import logging
import os
import re
import shutil
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from skelgen import _paths
from skelgen.documents.system import refused
from skelgen.errors import ApplicationError, MachineError
from skelgen.launch.folders import alone
from skelgen.launch.mpi import program
from skelgen.launch.process import run
from skelgen.launch.shim import OTHER_CACHE
from skelgen.progress import NOTE

logger = logging.getLogger(__name__)

#: Older ones cannot dump the sockets of Linux 6.16 and later (4.1), or fail on 6.13
#: and later at once (3.17).
OLDEST = (4, 2)
_APT_LIMIT_S, _LOOK_S = 300.0, 20.0


@dataclass(frozen=True, slots=True)
class Criu:
    """A CRIU that can be run.

    Attributes
    ----------
    command : tuple of str
        What its arguments are appended to.
    version : tuple of int
    """

    command: tuple[str, ...]
    version: tuple[int, ...]

    @property
    def title(self) -> str:
        """Return its name and version."""
        return f"CRIU {'.'.join(map(str, self.version))}"


def find_criu(*, fetching: bool) -> Criu:
    """Return a CRIU that is new enough: on PATH, or in the cache.

    Parameters
    ----------
    fetching : bool
        Whether it may be taken from the machine's package sources.

    Raises
    ------
    MachineError
        When there is none.
    """
    installed = program("criu")
    found = identify([str(installed)]) if installed is not None else None
    if found is not None and found.version >= OLDEST:
        return found
    root = _paths.cache() / "criu"
    command = own_command(root)
    if not (root / "usr").is_dir() and fetching:
        _fetch(root)
    if (root / "usr").is_dir() and (kept := identify(command)) is not None:
        return kept
    here = "is not installed" if found is None else f"is {found.title}, too old"
    raise MachineError(
        f"CRIU {here}; version 4.2 or later is needed: install it, or let skelgen take "
        "it from this machine's package sources with --backend criu"
    )


def own_command(root: Path) -> list[str]:
    """Return the command for a CRIU in a root folder of its own: with its own loader.

    It needs newer libraries than this machine may have.
    """
    libraries = root / "usr/lib/x86_64-linux-gnu"
    loader = libraries / "ld-linux-x86-64.so.2"
    criu = root / "usr/sbin/criu"
    return [str(loader), "--library-path", str(libraries), str(criu)]


def identify(command: Sequence[str]) -> Criu | None:
    """Ask a CRIU for its version; None when it cannot be run."""
    try:
        told = run([*command, "--version"], timeout_s=_LOOK_S)
    except MachineError:
        return None
    found = re.search(r"Version: (\d+(?:\.\d+)*)", told.output)
    if told.exit_code or found is None:
        return None
    return Criu(tuple(command), tuple(int(part) for part in found[1].split(".")))


def apt_options(folder: Path) -> list[str]:
    """Return what makes apt leave the machine alone and insist on signatures.

    It reads the machine's own sources and lists. As if nothing was installed, it takes
    all libraries that CRIU needs.
    """
    pairs = {
        "APT::Get::AllowUnauthenticated": "false",
        "Acquire::AllowInsecureRepositories": "false",
        "Dir::State::status": folder / "status",
        "Dir::Cache": folder,
        "Dir::Cache::archives": folder / "archives",
        "Debug::NoLocking": "1",
        "Acquire::Languages": "none",
        "APT::Sandbox::User": "root",
    }
    return [word for name, text in pairs.items() for word in ("-o", f"{name}={text}")]


def _fetch(root: Path) -> None:
    tools = all(shutil.which(name) for name in ("apt-get", "apt-cache", "dpkg-deb"))
    if os.uname().machine != "x86_64" or not tools:
        raise MachineError(
            "CRIU 4.2 or later is not installed, and only x86-64 machines with apt can "
            "take it from their package sources: install it, or use --backend live"
        )
    offered = offered_version()
    if offered < OLDEST:
        what = f"offer {'.'.join(map(str, offered))}" if offered else "have none"
        raise MachineError(
            "CRIU 4.2 or later is not installed, and this machine's package sources "
            f"{what}: install CRIU, or use --backend live"
        )
    with refused(MachineError, f"CRIU cannot be kept in {root.parent}", OTHER_CACHE):
        _unpack(root)


def offered_version() -> tuple[int, ...]:
    """Return the version of CRIU in the machine's package sources, () for none."""
    told = run(["apt-cache", "policy", "criu"], timeout_s=_LOOK_S).output
    found = re.search(r"Candidate: (?:\d+:)?(\d+(?:\.\d+)*)", told)
    return tuple(int(part) for part in found[1].split(".")) if found else ()


def _unpack(root: Path) -> None:
    """Fetch it beside its place and rename, so that nobody sees half of it."""
    root.parent.mkdir(parents=True, exist_ok=True)
    with alone(root.parent):
        if (root / "usr").is_dir():
            return
        logger.log(NOTE, "taking CRIU from this machine's package sources, once")
        with tempfile.TemporaryDirectory(prefix="criu-", dir=root.parent) as name:
            folder = Path(name)
            for archive in _download(folder):
                _apt(["dpkg-deb", "-x", str(archive), str(folder / "root")])
            (folder / "root").rename(root)


def _download(folder: Path) -> list[Path]:
    (folder / "archives/partial").mkdir(parents=True)
    (folder / "status").touch()
    apt = ["apt-get", "-q", "-y", *apt_options(folder)]
    _apt([*apt, "--no-install-recommends", "--download-only", "install", "criu"])
    return sorted((folder / "archives").glob("*.deb"))


def _apt(command: Sequence[str]) -> None:
    done = run(command, timeout_s=_APT_LIMIT_S)
    if done.exit_code or done.timed_out:
        lines = [one for one in done.errors.splitlines() if one.startswith("E: ")]
        raise ApplicationError(
            "CRIU cannot be taken from this machine's package sources: "
            f"{(lines or [done.complaint])[0]}; install CRIU 4.2 or later, or use "
            "--backend live"
        )
