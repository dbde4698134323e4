"""The real server in a process of its own, for tests."""

from __future__ import annotations

import json
import signal
import subprocess
import sys

#: How long a server may take to start or end on a machine that is busy [s].
LONG_S = 60


class Server:
    """A server in a process of its own.

    Attributes
    ----------
    url : str
        The address that it printed, with the token.
    base : str
        The same without it: before each path.
    """

    def __init__(self, *words: str, env: dict[str, str] | None = None) -> None:
        command = [sys.executable, "-m", "skelgen", "serve", "--json", *words]
        self.process = subprocess.Popen(
            command,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=env,
        )
        assert self.process.stdout is not None
        self.line = self.process.stdout.readline()
        assert self.line, self.process.communicate()[1]  # why it did not start
        self.ready = json.loads(self.line)
        self.url = self.ready.get("url", "")
        self.base, _, self.token = self.url.partition("/enter?token=")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.kill()
        self.process.communicate()

    def end(self, number: int = signal.SIGTERM) -> tuple[int, str]:
        """End it by a signal; return its exit code and what it said."""
        self.process.send_signal(number)
        _, err = self.process.communicate(timeout=LONG_S)
        return self.process.returncode, err
