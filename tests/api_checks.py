"""Random requests to the API by its description, each judged by schemathesis.

``python -m tests.api_checks --minutes 10``: a server of its own with some rows, all
checks, requests of all kinds. It ends with exit code 1 when a check fails.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from tests.servers import Server
from tests.visitors import fill

#: What is not asked: jobs fit models for minutes.
_LEFT_OUT = ("/api/jobs",)
#: What is not judged: texts such as filters are refused that a schema cannot tell from
#: good ones.
_NOT_JUDGED = "positive_data_acceptance"
#: The command, in the words of Python: the tool need not be on the path.
_TOOL = "from schemathesis.cli import schemathesis; schemathesis()"


def words_of(url: str, seed: int, *more: str) -> list[str]:
    """Return the command that asks a server, by the address it printed."""
    base, _, token = url.partition("/enter?token=")
    words = [sys.executable, "-c", _TOOL, "run", f"{base}/api/openapi.json"]
    words += ["--header", f"Authorization: Bearer {token}", "--checks", "all"]
    words += ["--exclude-checks", _NOT_JUDGED]
    # A request has 30 s, and a machine may be busy with other things.
    words += ["--request-timeout", "60", "--max-response-time", "60"]
    for path in _LEFT_OUT:
        words += ["--exclude-path-regex", f"^{path}"]
    return [*words, "--seed", str(seed), "--no-color", *more]


def check(folder: Path, seed: int, *more: str) -> subprocess.CompletedProcess[str]:
    """Ask a new server with a few rows; return what schemathesis said."""
    place = folder / "store.db"
    fill(place)
    with Server("--store", str(place), "--port", "0") as server:
        return subprocess.run(
            words_of(server.url, seed, *more),
            capture_output=True,
            text=True,
            check=False,
            cwd=folder,
        )


def main(arguments: Sequence[str]) -> int:
    """Ask for so many minutes, print what was found; return the exit code."""
    parser = argparse.ArgumentParser(prog="python -m tests.api_checks")
    parser.add_argument("--minutes", type=float, default=10.0)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args(arguments)
    seconds = str(int(60 * options.minutes))
    with tempfile.TemporaryDirectory() as folder:
        os.environ["SKELGEN_STATE"] = str(Path(folder, "state"))
        done = check(
            *(Path(folder), options.seed, "--max-time", seconds),
            *("--continue-on-failure", "--max-examples", "100000"),
        )
    print(done.stdout, done.stderr)
    return int(done.returncode != 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
