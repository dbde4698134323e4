"""Other tools, in an environment of their own: Extra-P, and two of scikit-learn.

Neither skelgen nor its tests depend on them. The environment is `.venv-others`, made
when it is first needed (PyPI, 300 MB); `benchmarks.models.others_worker` runs there.
"""

from __future__ import annotations

import contextlib
import json
import math
import os
import subprocess
import sys
import venv
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from skelgen.errors import InputError, MachineError
from skelgen.models.runs import RunTable

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / ".venv-others"
PACKAGES = ("extrap==4.2.5", "scikit-learn==1.9.1")

#: Extra-P for the time, for T p as its authors advise, and with its option for
#: exponents below 0.
OTHERS = (
    "extra-p",
    "extra-p-tp",
    "extra-p-negative",
    "gaussian-process",
    "random-forest",
)


def ready(folder: Path = FOLDER) -> Path:
    """Make the environment, unless it is there; return its Python.

    Raises
    ------
    MachineError
        When it cannot be made, as where there is no network.
    """
    python, done = folder / "bin/python", folder / "packages"
    if done.exists() and done.read_text().split() == list(PACKAGES):
        return python
    print(f"making {folder.name}: {', '.join(PACKAGES)}", file=sys.stderr)
    venv.create(folder, with_pip=True, clear=True, symlinks=True)
    line = [str(python), "-m", "pip", "install", "-q", "--disable-pip-version-check"]
    line += PACKAGES
    made = subprocess.run(line, capture_output=True, text=True, check=False)
    if made.returncode:
        said = [one for one in made.stderr.splitlines() if one.startswith("ERROR")]
        raise MachineError(
            f"{folder.name}: pip cannot install {', '.join(PACKAGES)} "
            f"({said[-1] if said else 'it failed'}); give it a network, or leave "
            f"{', '.join(OTHERS)} out with --family"
        )
    done.write_text("\n".join(PACKAGES))
    return python


@dataclass(frozen=True, slots=True)
class Value:
    """What another tool says: a value [s] and the ends of its 90 % interval.

    Attributes
    ----------
    p50 : float
    p5, p95 : float or None
        None where the tool gives none.
    """

    p50: float
    p5: float | None = None
    p95: float | None = None


@dataclass(slots=True)
class Worker:
    """The process that runs the other tools; one model at a time.

    Attributes
    ----------
    process : Popen
    """

    process: subprocess.Popen[str]
    _inputs: tuple[str, ...] = field(default=(), init=False)

    def fit(self, runs: RunTable, family: str) -> float:
        """Let a tool learn; return the processor time that it took [s].

        Raises
        ------
        InputError
            When it cannot.
        """
        self._inputs = tuple(one.name for one in runs.inputs)
        said = self._said(
            {
                "fit": family,
                "meanings": [one.meaning.value for one in runs.inputs],
                "at": runs.at.tolist(),
                "values": runs.values.tolist(),
            }
        )
        return float(said["seconds"])

    def ask(self, row: dict[str, float]) -> Value:
        """Ask the model that was fitted last.

        Raises
        ------
        InputError
            When its answer is no time.
        """
        said = self._said({"ask": [[row[name] for name in self._inputs]]})
        value = float(said["p50"][0])
        if not 0 < value < math.inf:
            raise InputError(f"its answer is {value:g} s")
        if said["p5"] is None:
            return Value(value)
        return Value(value, float(said["p5"][0]), float(said["p95"][0]))

    def _said(self, question: dict[str, Any]) -> dict[str, Any]:
        assert self.process.stdin is not None, "a pipe"
        assert self.process.stdout is not None, "a pipe"
        with contextlib.suppress(BrokenPipeError):
            print(json.dumps(question), file=self.process.stdin, flush=True)
        line = self.process.stdout.readline()
        if not line:
            raise MachineError(
                f"the process of {FOLDER.name} ended; remove that folder and try again"
            )
        said: dict[str, Any] = json.loads(line)
        if "failed" in said:
            raise InputError(said["failed"])
        return said


@contextlib.contextmanager
def worker() -> Iterator[Worker]:
    """Start the other tools, on one core; end them at the end."""
    line = [str(ready()), str(Path(__file__).with_name("others_worker.py"))]
    with subprocess.Popen(
        line,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        env={**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"},
    ) as process:
        try:
            yield Worker(process)
        finally:
            assert process.stdin is not None, "a pipe"
            process.stdin.close()
