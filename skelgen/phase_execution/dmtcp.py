"""Save and restore applications with DMTCP: no privilege needed, but experimental.

Its tools are found on PATH. Known to work with MPICH's gforker launcher; applications
under hydra and Open MPI were not restarted reliably.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from skelgen.errors import ApplicationError, SkelgenError
from skelgen.launch.mpi import program
from skelgen.launch.process import Started, descendants, run
from skelgen.phase_execution.checkpoint import ImageRun
from skelgen.phase_execution.images import (
    ImageContent,
    check_disk,
    complete,
    ready,
)
from skelgen.phase_execution.interface import (
    Application,
    BackendProbe,
    WantedOccurrence,
)
from skelgen.phase_execution.processes import (
    check_devices,
    files_open_for_writing,
    memory_bytes,
)

_TOOLS = ("dmtcp_launch", "dmtcp_command", "dmtcp_restart")
#: What MPI must leave alone to be saved.
SETTINGS = {
    "UCX_MEM_MMAP_HOOK_MODE": "none",
    "UCX_MEM_EVENTS": "no",
    "UCX_TLS": "self,tcp",
}
#: Longest time of a command, and until the coordinator tells its port [s].
_COMMAND_S, _PORT_S, _PAUSE_S = 300.0, 20.0, 0.01


@dataclass(frozen=True, slots=True)
class DmtcpBackend:
    """Measures phases from images that DMTCP makes.

    Attributes
    ----------
    images : Path or None
        Folder where images are kept; they are removed when None.
    """

    name: ClassVar[str] = "dmtcp"
    images: Path | None = None

    def probe(self, application: Application) -> BackendProbe:
        """Look for its tools."""
        if application.elsewhere:
            return BackendProbe(
                False, "images are made on this host only; use --backend live for hosts"
            )
        missing = [tool for tool in _TOOLS if program(tool) is None]
        if missing:
            return BackendProbe(
                False,
                f"DMTCP is not installed (no {missing[0]} on PATH): put it on PATH, or "
                "use --backend live",
            )
        return BackendProbe(True, "DMTCP is on PATH (experimental)")

    def launch(
        self,
        application: Application,
        wanted: Sequence[WantedOccurrence],
        *,
        limit_s: float,
    ) -> ImageRun:
        """Prepare the application, to be held before each of its phases."""
        return ImageRun(application, wanted, DmtcpCheckpointer(), limit_s, self.images)


class DmtcpCheckpointer:
    """A `Checkpointer`: an application with a coordinator of its own, or none."""

    name = DmtcpBackend.name

    def __init__(self) -> None:
        self._running: Started | None = None
        self._folder = Path()

    def start(
        self, command: Sequence[str], folder: Path, variables: dict[str, str], out: Path
    ) -> None:
        """Start a command under DMTCP, which writes its images into `out`."""
        self._begin(launch_arguments(command, out), folder, {**variables, **SETTINGS})

    def save(self, image: Path, content: ImageContent) -> None:
        """Write an image of all processes and end them."""
        assert self._running is not None
        first = self._running.pid
        tasks = [Path(f"/proc/{pid}") for pid in (first, *descendants(first))]
        check_devices(tasks)
        found = files_open_for_writing(tasks, ())
        open_files = {name: at for name, at in found.items() if Path(name).exists()}
        check_disk(image, memory_bytes(tasks) + sum(open_files.values()))
        _remove_parts(image.parent)
        try:
            try:
                self._command("--bcheckpoint")
            finally:
                self.end()
            for part in _parts(image.parent):
                part.rename(image / part.name)
        finally:
            _remove_parts(image.parent)
        complete(image, content, open_files)

    def load(self, image: Path) -> None:
        """Restore an image."""
        ready(image)
        self._begin(restart_arguments(image), image, {})

    def poll(self) -> int | None:
        """Return how the application ended; None while it runs."""
        assert self._running is not None
        done = self._running.poll()
        return None if done is None else done.exit_code

    def end(self) -> None:
        """End the application with its coordinator."""
        if self._running is not None:
            with contextlib.suppress(SkelgenError):
                self._command("--quit")
            self._running.stop()
            self._running = None
            self._port_file.unlink(missing_ok=True)

    @property
    def _port_file(self) -> Path:
        return self._folder / "dmtcp.port"

    def _begin(
        self, arguments: Sequence[str], folder: Path, variables: dict[str, str]
    ) -> None:
        at = arguments.index("--port-file") + 1
        self._folder = Path(arguments[at]).parent
        self._running = Started(arguments, environment=variables, folder=folder)

    def _command(self, word: str) -> None:
        """Give the coordinator an order and wait until it is carried out."""
        until_s = time.monotonic() + _PORT_S
        while not (port := self._port()) and time.monotonic() < until_s:
            if self.poll() is not None:
                break
            time.sleep(_PAUSE_S)
        if not port:
            raise ApplicationError("the coordinator of DMTCP did not start")
        done = run(command_arguments(port, word), timeout_s=_COMMAND_S)
        if done.exit_code:
            raise ApplicationError(
                f"DMTCP did not carry out {word}: {done.complaint}; use --backend live"
            )

    def _port(self) -> str:
        with contextlib.suppress(OSError):
            return self._port_file.read_text().strip()
        return ""


def launch_arguments(command: Sequence[str], folder: Path) -> list[str]:
    """Return what starts a command under DMTCP."""
    return [
        *(_tool("dmtcp_launch"), *_coordinator(folder), "--no-gzip"),
        *("--interval", "0", *command),
    ]


def restart_arguments(image: Path) -> list[str]:
    """Return what restores the processes of an image."""
    parts = map(str, _parts(image))
    return [_tool("dmtcp_restart"), *_coordinator(image.parent), *parts]


def _parts(folder: Path) -> list[Path]:
    """Return what DMTCP wrote into a folder, one file for each process."""
    return sorted(folder.glob("ckpt_*.dmtcp"))


def _remove_parts(folder: Path) -> None:
    """Remove what a checkpoint that failed left: it belongs to no image."""
    for part in _parts(folder):
        part.unlink(missing_ok=True)


def command_arguments(port: str, word: str) -> list[str]:
    """Return what gives an order to a coordinator."""
    return [_tool("dmtcp_command"), "--coord-port", port, word]


def _coordinator(folder: Path) -> list[str]:
    """Return the options of a coordinator of its own, on a free port."""
    return [
        *("--new-coordinator", "--coord-port", "0"),
        *("--port-file", str(folder / "dmtcp.port"), "--ckptdir", str(folder)),
    ]


def _tool(name: str) -> str:
    return str(program(name) or name)
