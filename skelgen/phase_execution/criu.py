"""Save and restore applications with CRIU, in namespaces of their own.

CRIU runs in the namespaces of the application, so that these are not part of the image;
their shared memory and new files of /tmp are saved beside what CRIU writes.
"""

from __future__ import annotations

import contextlib
import errno
import os
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from skelgen.errors import ApplicationError, SkelgenError
from skelgen.launch.interrupts import Interrupts
from skelgen.launch.mpi import MpiKind
from skelgen.launch.process import environment_with
from skelgen.launch.shim import mpi_of
from skelgen.phase_execution.checkpoint import ImageRun
from skelgen.phase_execution.fetch_criu import Criu, find_criu
from skelgen.phase_execution.images import (
    ImageContent,
    check_disk,
    complete,
    read_from,
    ready,
    size_bytes,
)
from skelgen.phase_execution.interface import (
    Application,
    BackendProbe,
    WantedOccurrence,
)
from skelgen.phase_execution.namespaces import Namespaces, Task, privileged
from skelgen.phase_execution.processes import (
    check_devices,
    copy_own_files,
    files_open_for_writing,
    last_number,
    memory_bytes,
)

#: Longest time of a dump or a restore, and of one with a tiny process [s].
_CRIU_LIMIT_S, _TINY_LIMIT_S, _PAUSE_S = 300.0, 30.0, 0.002
#: Sockets stay connected, what is deleted is saved, and no firewall is asked for.
_OPTIONS = (
    *("--tcp-established", "--ext-unix-sk", "--file-locks", "--link-remap"),
    *("--network-lock", "skip", "-v2"),
)


#: Variables of Open MPI 4 and 5.
_ROOT_ALLOWED = ("OMPI_ALLOW_RUN_AS_ROOT", "PRTE_ALLOW_RUN_AS_ROOT")


@dataclass(frozen=True, slots=True)
class CriuBackend:
    """Measures phases from images that CRIU makes.

    Attributes
    ----------
    fetching : bool
        Whether CRIU may be fetched over the network.
    images : Path or None
        Folder where images are kept; they are removed when None.
    """

    name: ClassVar[str] = "criu"
    fetching: bool = False
    images: Path | None = None

    def probe(self, application: Application) -> BackendProbe:
        """Save and restore a tiny process with two connected sockets."""
        if application.elsewhere:
            return BackendProbe(
                False,
                "CRIU saves the ranks of this host only; use --backend live for hosts",
            )
        try:
            criu = find_criu(fetching=self.fetching)
            try_out(criu)
        except (SkelgenError, OSError) as error:
            return BackendProbe(False, str(error))
        return BackendProbe(True, f"{criu.title} saves and restores processes here")

    def launch(
        self,
        application: Application,
        wanted: Sequence[WantedOccurrence],
        *,
        limit_s: float,
    ) -> ImageRun:
        """Prepare the application, to be held before each of its phases."""
        saver = CriuCheckpointer(
            find_criu(fetching=self.fetching), network_settings(application)
        )
        return ImageRun(application, wanted, saver, limit_s, self.images)


def network_settings(application: Application) -> dict[str, str]:
    """Return what makes an MPI use only what can be saved: no System V memory.

    In a namespace of users the application seems to be root's, which Open MPI refuses.
    """
    if mpi_of(application.launch).kind is not MpiKind.MPICH:
        names = () if privileged() else _ROOT_ALLOWED
        return {f"{name}{more}": "1" for name in names for more in ("", "_CONFIRM")}
    chosen = "UCX_TLS" in os.environ or "UCX_TLS" in dict(application.environment)
    found = {} if chosen else {"UCX_TLS": "^sysv"}
    return found if privileged() else {**found, "SKELGEN_KEEP_SHARED_MEMORY": "1"}


class CriuCheckpointer:
    """A `Checkpointer`: processes in namespaces, or none at the moment.

    Parameters
    ----------
    criu : Criu
    settings : dict of str to str
        Further variables of the application.
    limit_s : float
        Longest time of a dump or a restore [s].
    """

    name = CriuBackend.name

    def __init__(
        self,
        criu: Criu,
        settings: dict[str, str] | None = None,
        limit_s: float = _CRIU_LIMIT_S,
    ) -> None:
        self._criu, self._settings, self._limit_s = criu, settings or {}, limit_s
        self._namespaces: Namespaces | None = None
        self._root = 0

    def start(
        self, command: Sequence[str], folder: Path, variables: dict[str, str], out: Path
    ) -> None:
        """Start a command; what it writes goes to files in `out`."""
        # Only what is new in /tmp is the application's own, and goes into images.
        own = {"TMPDIR": "/tmp"}
        environment = environment_with({**variables, **self._settings, **own})
        self._namespaces = Namespaces()
        self._root = self._namespaces.start(
            Task(tuple(command), environment, folder, out / "out", out / "err")
        )

    def save(self, image: Path, content: ImageContent) -> None:
        """Write an image of all processes and end them."""
        assert self._namespaces is not None
        tasks = self._namespaces.processes()
        check_devices(tasks)
        folders = self._namespaces.memory_folders()
        devices = {folder.stat().st_dev for folder in folders}
        open_files = files_open_for_writing(tasks, devices)
        sizes = (*map(size_bytes, folders), *open_files.values())
        check_disk(image, memory_bytes(tasks) + sum(sizes))
        last_pid = last_number(tasks)
        self._run_criu(dump_arguments(self._root, image), image, "dump")
        # The processes are gone, and the files that they had stand still.
        for folder in folders:
            copy_own_files(folder, image / folder.name)
        complete(image, content, open_files, root=self._root, last_pid=last_pid)
        self.end()

    def load(self, image: Path) -> None:
        """Restore an image into new namespaces."""
        manifest = ready(image)
        with contextlib.ExitStack() as undo:
            undo.callback(self.end)
            self._namespaces = Namespaces(manifest.last_pid)
            with read_from(image):
                for folder in self._namespaces.memory_folders():
                    copy_own_files(image / folder.name, folder)
            self._root = manifest.root
            self._run_criu(restore_arguments(image), image, "restore")
            undo.pop_all()

    def poll(self) -> int | None:
        """Return how the application ended; None while it runs."""
        assert self._namespaces is not None
        return self._namespaces.poll(self._root)

    def end(self) -> None:
        """End the application with its namespaces."""
        if self._namespaces is not None:
            self._namespaces.end()
            self._namespaces = None

    def _run_criu(self, arguments: Sequence[str], image: Path, what: str) -> None:
        """Run CRIU in the namespaces and wait for it."""
        assert self._namespaces is not None
        said = image / f"{what}.said"
        command = (*self._criu.command, *arguments)
        pid = self._namespaces.start(
            Task(command, environment_with({}), image, said, said)
        )
        until_s = time.monotonic() + self._limit_s
        with Interrupts() as interrupts:
            while (code := self._namespaces.poll(pid)) is None:
                if time.monotonic() > until_s:
                    raise ApplicationError(
                        f"{self._criu.title} did not {what} within "
                        f"{self._limit_s:.0f} s; use --backend live"
                    )
                interrupts.pause(_PAUSE_S)
        if code:
            why = complaint(image / f"{what}.log", said)
            if what == "dump" and (ended := self.poll()) is not None:
                why = f"it ended with exit code {ended} meanwhile"
            raise ApplicationError(
                f"{self._criu.title} cannot {what} the application: {why}; "
                f"{_remedy(what, why, image)}, or use --backend live"
            )


def _options() -> tuple[str, ...]:
    """Return options of dump and restore: in a namespace of users CRIU is no root."""
    return _OPTIONS if privileged() else (*_OPTIONS, "--unprivileged")


def dump_arguments(root: int, image: Path) -> list[str]:
    """Return the arguments for saving a process with its descendants."""
    return [
        *("dump", "--tree", str(root), "--images-dir", str(image)),
        *("--log-file", "dump.log", *_options(), "--ghost-limit", "256M"),
    ]


def restore_arguments(image: Path) -> list[str]:
    """Return the arguments for restoring them and leaving them alone."""
    return [
        *("restore", "--restore-detached", "--images-dir", str(image)),
        *("--log-file", "restore.log", *_options()),
    ]


def _remedy(what: str, why: str, image: Path) -> str:
    if what == "restore":
        return f"remove {image} if it was kept"
    if os.strerror(errno.ENOSPC) in why:
        return f"free some of the disk of {image.parent}, name another with --images"
    return "make the image again"


def complaint(*logs: Path) -> str:
    """Return the first line of CRIU that tells why it failed."""
    for log in logs:
        with contextlib.suppress(OSError):
            lines = log.read_text(errors="replace").splitlines()
            errors = [line for line in lines if "Error (" in line]
            # It asks for more open files than a container allows, and goes on without.
            for line in [line for line in errors if "RLIMIT_NOFILE" not in line]:
                return line.partition("Error ")[2]
    return "it does not say why"


#: Talks to itself over two sockets once it finds a file, and writes what it heard.
_TINY = """
import pathlib, socket, sys, time
folder = pathlib.Path(sys.argv[1])
server = socket.create_server(("127.0.0.1", 0))
near = socket.create_connection(server.getsockname())
far = server.accept()[0]
(folder / "ready").touch()
while not (folder / "go").exists():
    time.sleep(0.002)
near.sendall(b"restored")
(folder / "answer").write_bytes(far.recv(8))
"""


def try_out(criu: Criu) -> None:
    """Save and restore a tiny process.

    Raises
    ------
    SkelgenError
        With what went wrong.
    """
    saver = CriuCheckpointer(criu, limit_s=_TINY_LIMIT_S)
    with tempfile.TemporaryDirectory(prefix="skelgen-probe-") as name:
        folder = Path(name)
        image = folder / "image"
        image.mkdir(mode=0o700)
        try:
            saver.start([sys.executable, "-I", "-c", _TINY, name], folder, {}, folder)
            _wait_for(folder / "ready", saver)
            saver.save(image, ImageContent(CriuBackend.name))
            saver.load(image)
            (folder / "go").touch()
            _wait_for(folder / "answer", saver)
        finally:
            saver.end()


def _wait_for(file: Path, saver: CriuCheckpointer) -> None:
    until_s = time.monotonic() + _TINY_LIMIT_S
    with Interrupts() as interrupts:
        while not file.exists():
            code = saver.poll()
            if (code is not None and not file.exists()) or time.monotonic() > until_s:
                how = "hung" if code is None else f"ended with {code}"
                raise ApplicationError(
                    f"CRIU does not work here: a process of the probe {how} before it "
                    f"wrote {file.name}; use --backend live"
                )
            interrupts.pause(_PAUSE_S)
