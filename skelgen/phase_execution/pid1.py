"""Run as the first process of namespaces: start what is asked for, bury what ends.

A script of its own, started by `skelgen.phase_execution.namespaces` with ``unshare``;
it needs the standard library only. Requests are lines of JSON on standard input, each
with an answer on standard output. When its input ends it ends, and Linux ends all
processes of the namespaces with it, so that nothing outlives skelgen, however that
ends.
"""

from __future__ import annotations

import contextlib
import ctypes
import fcntl
import json
import os
import signal
import socket
import struct
import sys
from pathlib import Path
from typing import Any

_MS_BIND, _MS_REC, _MS_PRIVATE, _MNT_DETACH = 0x1000, 0x4000, 1 << 18, 2
_SIOCGIFFLAGS, _SIOCSIFFLAGS, _IFF_UP = 0x8913, 0x8914, 1


def _libc() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)


def _mount(source: str, target: str, kind: str, flags: int, options: str = "") -> None:
    arguments = (one.encode() for one in (source, target, kind))
    if _libc().mount(*arguments, ctypes.c_ulong(flags), options.encode()):
        error = ctypes.get_errno()
        raise OSError(error, f"mount of {kind or 'nothing'} on {target}", target)


def _show(entry: Path, place: Path) -> None:
    """Let what stands in one place be seen in another."""
    if entry.is_symlink():
        place.symlink_to(entry.readlink())
        return
    if entry.is_dir():
        place.mkdir()
    else:
        place.touch()
    _mount(str(entry), str(place), "", _MS_BIND | _MS_REC)


def _cover_tmp() -> None:
    """Let new files of /tmp be in memory; what is there already stays in its place."""
    beside = Path("/dev/shm")  # another is mounted there afterwards
    _mount("/tmp", str(beside), "", _MS_BIND | _MS_REC)
    _mount("tmpfs", "/tmp", "tmpfs", 0, "mode=1777")
    for entry in list(beside.iterdir()):
        # Removed meanwhile; or another user's mount that is closed to root.
        with contextlib.suppress(FileNotFoundError, PermissionError):
            _show(entry, Path("/tmp", entry.name))
    _libc().umount2(str(beside).encode(), _MNT_DETACH)


def _renew_terminals() -> None:
    """Have own pseudoterminals: Open MPI 4 uses some, which keep their numbers."""
    _mount("devpts", "/dev/pts", "devpts", 0, "mode=620,ptmxmode=666")
    if not Path("/dev/ptmx").is_symlink():
        _mount("/dev/pts/ptmx", "/dev/ptmx", "", _MS_BIND)


def _prepare() -> None:
    """Give the namespaces files, a loopback and a name of their own."""
    _mount("none", "/", "", _MS_REC | _MS_PRIVATE)
    _cover_tmp()
    _mount("proc", "/proc", "proc", 0)
    _mount("tmpfs", "/dev/shm", "tmpfs", 0, "mode=1777")
    _renew_terminals()
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        request = fcntl.ioctl(
            any_socket, _SIOCGIFFLAGS, struct.pack("16sH14x", b"lo", 0)
        )
        flags = struct.unpack("16sH14x", request)[1] | _IFF_UP
        fcntl.ioctl(any_socket, _SIOCSIFFLAGS, struct.pack("16sH14x", b"lo", flags))
    # There is no other network, so that the name has to lead to the loopback.
    socket.sethostname("localhost")


class _Children:
    """The processes that ended, by number: started here, or left by those that were."""

    def __init__(self) -> None:
        self._ended: dict[int, int] = {}

    def start(self, request: dict[str, Any]) -> int:
        """Start a command with no open files but its three."""
        pid = os.fork()
        if pid:
            return pid
        try:
            os.setsid()
            signal.signal(signal.SIGPIPE, signal.SIG_DFL)  # Python ignores it
            mode = os.O_WRONLY | os.O_CREAT | os.O_APPEND
            opened = [os.open(os.devnull, os.O_RDONLY)]
            opened += [os.open(request[name], mode, 0o600) for name in ("out", "err")]
            for number, one in enumerate(opened):
                os.dup2(one, number)
            os.chdir(request["folder"])  # only now can a failure be told
            os.closerange(3, os.sysconf("SC_OPEN_MAX"))
            arguments = request["arguments"]
            os.execvpe(arguments[0], arguments, request["environment"])
        except OSError as error:
            os.write(2, f"cannot run {request['arguments'][0]}: {error}\n".encode())
        finally:
            os._exit(127)

    def exit_code(self, pid: int) -> int | None:
        """Return how a process ended, as a shell says it; None while it runs."""
        while True:
            try:
                ended, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                break
            if not ended:
                break
            code = os.waitstatus_to_exitcode(status)
            self._ended[ended] = 128 - code if code < 0 else code
        return self._ended.get(pid)


def _tell(answer: str | int | None) -> None:
    sys.stdout.write(json.dumps(answer) + "\n")
    sys.stdout.flush()


def _serve() -> None:
    children = _Children()
    for line in sys.stdin:
        request = json.loads(line)
        answer: int | None = 0
        if request["do"] == "start":
            answer = children.start(request)
        elif request["do"] == "poll":
            answer = children.exit_code(request["pid"])
        elif request["do"] == "count":
            Path("/proc/sys/kernel/ns_last_pid").write_text(str(request["pid"]))
        _tell(answer)


if __name__ == "__main__":
    try:
        _prepare()
    except OSError as error:
        _tell(str(error))
        sys.exit(1)
    _tell(None)
    _serve()
