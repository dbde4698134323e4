"""Run cases in processes of their own that are copies of this one, with limits."""

from __future__ import annotations

import contextlib
import json
import os
import resource
import selectors
import shutil
import signal
import time
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

ADDRESS_SPACE_BYTES = 3 << 30
LONGEST_S = 10.0

#: Yields the words of a case, then how it ended, in a folder that it makes.
Run = Callable[[int, Path], Iterator[dict[str, Any]]]


def campaign(
    cases: Iterator[int],
    *,
    jobs: int,
    until_s: float,
    run: Run,
    folder: Path,
) -> Iterator[dict[str, Any]]:
    """Run each case in a process of its own, and yield how it ended.

    Parameters
    ----------
    cases : iterator of int
    jobs : int
        So many processes at a time.
    until_s : float
        Time of `time.monotonic` from which no further one begins [s].
    run : callable
        Yields the words of a case, then how it ended; it gets the case and a folder
        that does not exist, and is called in the new process.
    folder : Path
        For the folders of cases.
    """
    running: dict[int, Process] = {}
    try:
        while True:
            for slot in {*range(jobs)} - {*running}:
                number = next(cases, None) if time.monotonic() < until_s else None
                if number is not None:
                    running[slot] = Process(number, folder / f"case-{slot}", run)
            if not running:
                return
            with selectors.DefaultSelector() as selector:
                for slot, process in running.items():
                    selector.register(process.said, selectors.EVENT_READ, slot)
                ready = {key.data for key, _ in selector.select(0.5)}
            for slot, process in list(running.items()):
                result = process.read() if slot in ready else process.watch()
                if result is not None:
                    del running[slot]
                    yield result
    finally:
        for process in running.values():
            process.stop()


class Process:
    """A process that runs one case, and is watched.

    Parameters
    ----------
    case : int
    here : Path
        Its folder, which is made anew.
    run : callable
        As for `campaign`.
    """

    def __init__(
        self,
        case: int,
        here: Path,
        run: Run,
    ) -> None:
        self.case = case
        self._text, self._words, self._how = b"", list[str](), ""
        self._begun: tuple[float, float] | None = None
        shutil.rmtree(here, ignore_errors=True)
        self.said, told = os.pipe()
        self.pid = os.fork()
        if self.pid:
            os.close(told)
            return
        try:
            os.close(self.said)
            os.setsid()
            signal.signal(signal.SIGINT, signal.SIG_DFL)
            limit = (ADDRESS_SPACE_BYTES, ADDRESS_SPACE_BYTES)
            resource.setrlimit(resource.RLIMIT_AS, limit)
            for said in run(case, here):
                os.write(told, json.dumps(said).encode() + b"\n")
            os._exit(0)
        except BaseException:
            traceback.print_exc()
        finally:
            os._exit(1)

    def read(self) -> dict[str, Any] | None:
        """Return how the case ended, if it has."""
        part = os.read(self.said, 1 << 16)
        self._text += part
        *lines, self._text = self._text.split(b"\n")
        for line in lines:
            said = json.loads(line)
            if "words" not in said:
                self.stop()
                return {**said, "case": self.case}
            self._words = said["words"]
            self._begun = time.monotonic(), self._waited_s()
        return None if part else self._ended("died", self.stop())

    def watch(self) -> dict[str, Any] | None:
        """End it when its case takes too long; return that as the result."""
        if self._begun is None:
            return None
        began_s, waited_s = self._begun
        took_s = time.monotonic() - began_s - (self._waited_s() - waited_s)
        if took_s <= LONGEST_S:
            return None
        self.stop()
        return self._ended("hang", self._words[0] if self._words else "")

    def _ended(self, kind: str, what: str) -> dict[str, Any]:
        if self._begun is None:
            raise RuntimeError(f"case {self.case} could not be made; see above")
        said = " ".join(self._words)
        return {"kind": kind, "what": what, "case": self.case, "said": said}

    def stop(self) -> str:
        """End it with all that it started; return how it had ended."""
        if self._how:
            return self._how
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.pid, signal.SIGKILL)
        os.close(self.said)
        _, status = os.waitpid(self.pid, 0)
        self._how = f"exit code {os.waitstatus_to_exitcode(status)}"
        return self._how

    def _waited_s(self) -> float:
        """Return how long it has waited for a core [s]."""
        try:
            text = Path(f"/proc/{self.pid}/schedstat").read_text()
        except OSError:
            return 0.0
        return int(text.split()[1]) / 1e9
