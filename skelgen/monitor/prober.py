"""The thread of a monitor that probes links, and answers the probes of others.

It does one thing at a time, so a host takes part in one probe at a time; who calls
meanwhile waits, or gives up. Strangers get no answer, and few of them get in at once.
"""

from __future__ import annotations

import contextlib
import math
import os
import selectors
import socket
import threading
import time
from pathlib import Path

from skelgen.errors import MachineError, SkelgenError, UsageError
from skelgen.monitor import handshake, probing
from skelgen.monitor.budget import Account
from skelgen.monitor.connections import MOST_CALLERS, Callers, KnownCaller
from skelgen.monitor.handshake import StrangerError
from skelgen.monitor.link_files import LinkFile
from skelgen.monitor.links import Links, ProbeTurn, Schedule
from skelgen.monitor.probing import ProbeError, ProvenConnection
from skelgen.monitor.thresholds import LEAST_PROBE_BYTES, LONGEST_STREAM_S

#: How long the other host may take to say its first word [s].
_PATIENCE_S = 5.0
#: Longest probe, and longest wait for anything [s].
_MOST_PROBE_S, _MOST_WAIT_S = 20.0, 30.0


class Prober:
    """Probes the links of this host until it is stopped.

    Parameters
    ----------
    links : Links
    secret : str
        Of all their monitors.
    host : str
        This one.
    folder : Path
        Of this host.
    quiet : Lock
        Held during a probe.

    Raises
    ------
    SkelgenError
        When this is none of the hosts, when one is not known, or the port is taken.
    """

    def __init__(
        self, links: Links, secret: str, host: str, folder: Path, quiet: threading.Lock
    ) -> None:
        if host not in links.hosts:
            raise UsageError(
                f"--links: this node calls itself {host}, expected one of "
                f"{', '.join(links.hosts)[:200]}; name hosts as they name themselves"
            )
        self._links, self._host, self._quiet = links, host, quiet
        self._key = handshake.key_of(secret, links.hosts)
        self._port = links.port or handshake.port_of(self._key)
        self._place = links.hosts.index(host)
        self._schedule = Schedule(links, host)
        self.account = Account(links.budget_bytes, folder / "links.json")
        self._addresses = addresses(links.hosts, host)
        others = len(links.hosts) - 1
        self._files = {
            peer: LinkFile(folder, peer, links.round_s, others)
            for peer in links.hosts[self._place + 1 :]
        }
        self._due_s = dict.fromkeys(self._files, -math.inf)
        self._open = contextlib.ExitStack()
        self._selector = self._open.enter_context(selectors.DefaultSelector())
        self._callers = Callers(self._selector, self._key, self._place)
        self._doors: dict[int, socket.socket] = {}
        self._reading, self._writing = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
        self._open.callback(os.close, self._reading)
        self._open.callback(os.close, self._writing)
        for file in self._files.values():
            self._open.callback(file.close)
        self._selector.register(self._reading, selectors.EVENT_READ)
        with contextlib.ExitStack() as failed:
            failed.callback(self._open.close)
            self._listen()
            failed.pop_all()
        self._thread = threading.Thread(target=self._run, daemon=True)

    def start(self) -> None:
        """Begin to probe and to listen."""
        self._thread.start()

    def stop(self) -> None:
        """End; a probe under way ends with the process."""
        if self._thread.is_alive():
            os.write(self._writing, b".")
            self._thread.join(1.0)
        if not self._thread.is_alive():
            self._callers.close()
            self._open.close()

    def _listen(self) -> None:
        """Listen on the addresses by which the other hosts are reached, no others."""
        reached = {
            _own_address(family, address)
            for family, address in self._addresses.values()
        }
        for family, address in sorted(reached):
            door = self._open.enter_context(socket.socket(family, socket.SOCK_STREAM))
            door.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                door.bind((address, self._port))
                door.listen(MOST_CALLERS)
            except OSError as error:
                raise MachineError(
                    f"cannot listen on {address} port {self._port}: {error.strerror}; "
                    "name another port, the same for all hosts: --link-port"
                ) from error
            door.setblocking(False)
            self._selector.register(door, selectors.EVENT_READ)
            self._doors[door.fileno()] = door

    # The loop

    def _run(self) -> None:
        done: int | None = None
        while True:
            now = time.time()
            turn = self._schedule.next(now, done)
            if turn is not None and turn.begin <= now:
                done = turn.slot
                self._take_turn(turn)
                continue
            wait_s = turn.begin - now if turn is not None else _MOST_WAIT_S
            if self._wait(min(wait_s, _MOST_WAIT_S)):
                break

    def _wait(self, wait_s: float) -> bool:
        """Hear callers until something is to be done; say whether this is the end."""
        for key, _ in self._selector.select(min(wait_s, self._callers.left_s())):
            if key.fd == self._reading:
                return True
            if key.fd in self._doors:
                self._callers.let_in(self._doors[key.fd])
            elif known := self._callers.hear(key.fd):
                with known.connection:
                    self._answer(known)
        self._callers.forget_late()
        return False

    # Those who call

    def _answer(self, known: KnownCaller) -> None:
        """Take part in the probe of another host."""
        taken = 0

        def grant(wanted: int) -> int:
            nonlocal taken
            taken = self.account.take(min(wanted, self._links.probe_bytes))
            return taken

        with self._quiet, contextlib.suppress(ProbeError, OSError, SkelgenError):
            line = ProvenConnection(
                known.connection, known.key, caller=False, limit_s=self._limit_s
            )
            try:
                probing.answer(line, grant, self._stream_s)
            finally:
                if taken:
                    self.account.give_back(taken, int(line.cost_bytes))

    # Whom this host calls

    def _take_turn(self, turn: ProbeTurn) -> None:
        """Probe a link when its share of the limit allows it; keep what was found."""
        now_s = time.monotonic()
        if now_s < self._due_s[turn.peer]:
            return
        with contextlib.suppress(SkelgenError):  # a full disk: there may be room later
            file = self._files[turn.peer]
            taken = self.account.take(self._links.probe_bytes)
            cost = probing.TALK_BYTES
            try:
                if taken < LEAST_PROBE_BYTES:
                    raise ProbeError("the limit of bytes per hour is reached")
                with self._quiet:
                    cost, found = self.probe(turn.peer, taken)
                file.keep(found)
            except _FailedError as error:
                cost = error.cost
                file.refuse(str(error))
            except ProbeError as error:
                file.refuse(str(error))
            finally:
                self.account.give_back(taken, cost)
        pace_s = 3600 * cost / self._links.probe_bytes
        self._due_s[turn.peer] = now_s + pace_s - self._links.slot_s / 2

    def probe(self, peer: str, most_bytes: int) -> tuple[int, probing.LinkProbe]:
        """Return what a probe cost and found.

        Raises
        ------
        _FailedError
        """
        family, address = self._addresses[peer]
        line = None
        try:
            with socket.socket(family, socket.SOCK_STREAM) as connection:
                connection.settimeout(min(_PATIENCE_S, self._limit_s / 2))
                connection.connect((address, self._port))
                line = self._introduce(connection, peer)
                found = probing.call(line, most_bytes, self._stream_s)
                return int(line.cost_bytes), found
        except TimeoutError as error:
            raise _FailedError("no answer", line) from error
        except OSError as error:
            raise _FailedError(error.strerror or str(error), line) from error
        except (ProbeError, StrangerError) as error:
            raise _FailedError(str(error), line) from error

    def _introduce(self, connection: socket.socket, peer: str) -> ProvenConnection:
        first = handshake.hello(self._key, self._place, self._links.hosts.index(peer))
        connection.sendall(first)
        second = b""
        while missing := handshake.WELCOME_BYTES - len(second):
            if not (part := connection.recv(missing)):
                raise ProbeError(
                    "it does not know us: its monitor has another secret or other hosts"
                )
            second += part
        handshake.check_welcome(self._key, first, second)
        connection.sendall(handshake.last_word(self._key, first, second))
        key = handshake.talk_key(self._key, first, second)
        return ProvenConnection(connection, key, caller=True, limit_s=self._limit_s)

    @property
    def _limit_s(self) -> float:
        return min(_MOST_PROBE_S, self._links.slot_s / 2)

    @property
    def _stream_s(self) -> float:
        return min(LONGEST_STREAM_S, self._links.slot_s / 8)


class _FailedError(Exception):
    """A probe failed; the message says why."""

    def __init__(self, reason: str, line: ProvenConnection | None) -> None:
        super().__init__(reason)
        self.cost = int(line.cost_bytes) if line is not None else probing.TALK_BYTES


def addresses(hosts: tuple[str, ...], own: str) -> dict[str, tuple[int, str]]:
    """Return family and address of each other host.

    Raises
    ------
    MachineError
        When one is not known.
    """
    found = {}
    for host in hosts:
        if host == own:
            continue
        try:
            told = socket.getaddrinfo(host, 1, type=socket.SOCK_STREAM)
        except OSError as error:
            raise MachineError(
                f"--links: host {host} has no address ({error.strerror}); name hosts "
                "that all of them can reach"
            ) from error
        found[host] = (int(told[0][0]), str(told[0][4][0]))
    return found


def _own_address(family: int, address: str) -> tuple[int, str]:
    """Return the address of this host from which another one is reached.

    Raises
    ------
    MachineError
    """
    try:
        with socket.socket(family, socket.SOCK_DGRAM) as sender:
            sender.connect((address, 9))  # nothing is sent
            return family, str(sender.getsockname()[0])
    except OSError as error:
        raise MachineError(
            f"--links: no way to {address}: {error.strerror}; see this host's network"
        ) from error
