"""Do damaged files and wrong words ever end in more than one line?

``python benchmarks/fuzzing.py [--seconds 600] [--cases N] [--jobs 2] [--seed S]``

Each case takes files of every format that skelgen reads, damages one or two, or the
words of a command, and runs the real command, with 3 GiB of address space and an MPI
that is a shell script. It prints how the commands ended, and what must not be:
tracebacks, processes that died, that took more than 10 s (waiting for a core is not
counted) or more than 2 GB, and errors that are not one line. Exits with 1 when there is
any. ``--only N`` runs case N again.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import os
import random
import resource
import selectors
import shutil
import subprocess
import sys
import tempfile
import time
import traceback
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

ADDRESS_SPACE_BYTES = 3 << 30
MOST_BYTES = 2_000_000_000
LONGEST_S = 10.0
#: Kinds of outcome that must not be.
WRONG = ("traceback", "died", "hang", "memory", "not one line")
_CODES = (0, 2, 3, 4, 5, 6, 7)


def main() -> int:
    """Run cases for a time, or so many of them."""
    options = _options()
    if options.worker is not None:
        _work(options.worker, options.jobs, options.seed, options.folder, options.only)
        return 0
    if options.only is not None:
        options.jobs = 1
    with tempfile.TemporaryDirectory(prefix="skelgen-fuzzing-") as folder:
        found = _campaign(options, Path(folder))
    _report(found, options.seed)
    return 1 if any(found.kinds[kind] for kind in WRONG) else 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--seconds", type=float, default=600.0, help="Run so long [s].")
    parser.add_argument("--cases", type=int, help="Run so many cases instead.")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", type=int, help="Run this case alone and show it.")
    parser.add_argument("--worker", type=int, help=argparse.SUPPRESS)
    parser.add_argument("--folder", type=Path, help=argparse.SUPPRESS)
    return parser.parse_args()


@dataclass
class Found:
    """What happened in all cases."""

    cases: int = 0
    kinds: Counter[str] = field(default_factory=Counter)
    codes: Counter[int] = field(default_factory=Counter)
    examples: dict[str, dict[str, Any]] = field(default_factory=dict)

    def add(self, result: dict[str, Any]) -> None:
        """Count a case."""
        self.cases += 1
        self.codes[result.get("code", -1)] += 1
        kind = result["kind"]
        self.kinds[kind] += 1
        if kind in WRONG:
            self.examples.setdefault(f"{kind}: {result['what']}", result)


class Worker:
    """A process that runs every n-th case, and is watched."""

    def __init__(self, number: int, options: argparse.Namespace, folder: Path) -> None:
        self.number, self._options, self._folder = number, options, folder
        self._next = number
        self.start()

    def start(self) -> None:
        """Begin with the next case."""
        options = self._options
        words = ["--jobs", options.jobs, "--seed", options.seed]
        first = self._next if options.only is None else options.only
        words += ["--worker", self.number, "--folder", self._folder, "--only", first]
        self.process = subprocess.Popen(
            [sys.executable, __file__, *map(str, words)],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            bufsize=0,  # or lines could wait where `select` does not see them
            start_new_session=True,
            env={**os.environ, "OPENBLAS_NUM_THREADS": "1", "COLUMNS": "200"},
        )
        self._begun: tuple[float, float] | None = None
        self._words: list[str] = []

    def read(self) -> dict[str, Any] | None:
        """Return the result of a case, if one has ended."""
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        if not line:
            if self._begun is None:
                raise RuntimeError(f"no case {self._next} could be made; run it alone")
            return self._died()
        said = json.loads(line)
        if "words" in said:
            self._begun, self._words = (
                (time.monotonic(), self._waited_s()),
                said["words"],
            )
            self._next = said["case"]
            return None
        self._begun = None
        self._next += self._options.jobs
        return dict(said)

    def watch(self) -> dict[str, Any] | None:
        """End it when its case takes too long; return that as the result."""
        if self._begun is None:
            return None
        began_s, waited_s = self._begun
        took_s = time.monotonic() - began_s - (self._waited_s() - waited_s)
        if took_s <= LONGEST_S:
            return None
        return self._ended("hang", self._words[0] if self._words else "")

    def _died(self) -> dict[str, Any]:
        return self._ended("died", f"exit code {self.process.wait()}")

    def _ended(self, kind: str, what: str) -> dict[str, Any]:
        case, words = self._next, self._words
        self.stop()
        self._next += self._options.jobs
        self.start()
        return {"kind": kind, "what": what, "case": case, "said": " ".join(words)}

    def stop(self) -> None:
        """End it with all that it started."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, 9)
        self.process.wait()

    def _waited_s(self) -> float:
        """Return how long it has waited for a core [s]."""
        try:
            text = Path(f"/proc/{self.process.pid}/schedstat").read_text()
        except OSError:
            return 0.0
        return int(text.split()[1]) / 1e9


def _campaign(options: argparse.Namespace, folder: Path) -> Found:
    _prepare(folder / "good")
    found, until_s = Found(), time.monotonic() + options.seconds
    wanted = options.cases if options.only is None else 1
    workers = [Worker(number, options, folder) for number in range(options.jobs)]
    try:
        while (wanted is None and time.monotonic() < until_s) or (
            wanted is not None and found.cases < wanted
        ):
            with selectors.DefaultSelector() as selector:
                for worker in workers:
                    assert worker.process.stdout is not None
                    selector.register(
                        worker.process.stdout, selectors.EVENT_READ, worker
                    )
                ready = {key.data for key, _ in selector.select(0.5)}
            for worker in workers:
                result = worker.read() if worker in ready else worker.watch()
                if result is not None:
                    found.add(result)
    finally:
        for worker in workers:
            worker.stop()
    return found


def _prepare(good: Path) -> None:
    """Write the files that are damaged later, in a process of its own."""
    good.mkdir()
    code = "from tests.fuzz_cases import make; import pathlib; make(pathlib.Path.cwd())"
    subprocess.run(
        [sys.executable, "-c", f"import benchmarks.fuzzing as f; f.pretend(); {code}"],
        check=True,
        cwd=good,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )


def pretend() -> None:
    """Let the only MPI be a shell script, and computation have a known speed."""
    from skelgen.launch import mpi
    from skelgen.skeleton import compute

    os.environ["PATH"] = f"{Path.cwd()}/bin:/usr/bin:/bin"
    for variable in ("CACHE", "STATE"):
        os.environ[f"SKELGEN_{variable}"] = str(Path.cwd() / variable.lower())
    mpi.search_path = lambda: [Path("bin").absolute(), Path("/usr/bin"), Path("/bin")]
    speed = compute.Calibration(
        compute.Mix(), (1000.0, 0.0, 0.0), 0.02, 0.08, 4, "ref", "a core"
    )
    compute.calibrate = lambda *_, **__: speed


def _work(number: int, step: int, seed: int, folder: Path, first: int) -> None:
    """Run cases until somebody ends this process, and say how each ended."""
    from skelgen.cli.main import run
    from tests.fuzz_cases import case

    resource.setrlimit(resource.RLIMIT_AS, (ADDRESS_SPACE_BYTES, ADDRESS_SPACE_BYTES))
    out, errors = os.fdopen(os.dup(1), "w"), os.dup(2)
    nothing = os.open(os.devnull, os.O_RDWR)
    os.dup2(nothing, 1)
    here = folder / f"case-{number}"
    at = first
    while True:
        shutil.rmtree(here, ignore_errors=True)
        shutil.copytree(folder / "good", here)
        os.chdir(here)
        pretend()
        words = case(random.Random(f"{seed} {at}"), here)
        os.dup2(nothing, 2)  # but an error in making a case was to be seen
        print(json.dumps({"case": at, "words": words}), file=out, flush=True)
        print(json.dumps({"case": at, **_outcome(run, words)}), file=out, flush=True)
        os.dup2(errors, 2)
        os.chdir(folder)
        at += step


def _outcome(run: Any, words: list[str]) -> dict[str, Any]:
    """Run one command, and judge how it ended."""
    Path("/proc/self/clear_refs").write_text("5")  # the peak of memory begins anew
    kept = sys.stdout, sys.stderr
    streams = [io.TextIOWrapper(io.BytesIO(), "utf-8") for _ in kept]
    sys.stdout, sys.stderr = streams
    wrong = ""
    try:
        code = run(words)
    except SystemExit as error:
        code, wrong = 1, f"SystemExit {error.code}"
    except Exception as error:
        code, wrong = 1, _place(error)
    finally:
        sys.stdout, sys.stderr = kept
    said = []
    for stream in streams:
        stream.flush()
        said.append(stream.buffer.getvalue().decode(errors="replace"))
    result = {"code": code, "said": f"{' '.join(words)[:500]}\n{said[1][-2000:]}"}
    kind, what = _judged(code, said[1], wrong)
    return {"kind": kind, "what": what, **result}


def _judged(code: int, errors: str, wrong: str) -> tuple[str, str]:
    if wrong:
        return "traceback", wrong
    if (peak_bytes := _peak_bytes()) > MOST_BYTES:
        return "memory", f"{peak_bytes / 1e9:.1f} GB"
    lines = [line for line in errors.splitlines() if line.startswith("skelgen: error:")]
    others = [line for line in errors.splitlines() if not line.startswith("skelgen: ")]
    if code not in _CODES or len(lines) != (code != 0) or others:
        return "not one line", f"{(others or lines or ['nothing'])[0][:80]!r}"
    return f"exit code {code}", ""


def _place(error: Exception) -> str:
    """Return what was raised and the last line of ours that it came from."""
    frames = [
        frame
        for frame in traceback.extract_tb(error.__traceback__)
        if "skelgen" in Path(frame.filename).parts
    ]
    where = f"{Path(frames[-1].filename).name}:{frames[-1].lineno}" if frames else "?"
    return f"{type(error).__name__} at {where}: {str(error)[:80]}"


def _peak_bytes() -> int:
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("VmHWM:"):
            return 1024 * int(line.split()[1])
    return 0


def _report(found: Found, seed: int) -> None:
    print(f"{found.cases} cases with seed {seed}\n")
    for kind, count in sorted(found.kinds.items()):
        print(f"{count:8}  {kind}")
    print()
    for name, title in (
        ("traceback", "tracebacks"),
        ("died", "processes that died"),
        ("hang", f"hangs above {LONGEST_S:.0f} s"),
        ("memory", f"processes above {MOST_BYTES / 1e9:.0f} GB"),
        ("not one line", "errors that are not one line"),
    ):
        print(f"{found.kinds[name]:8}  {title}")
    for name, result in sorted(found.examples.items()):
        print(f"\n{name}\n  case {result['case']}: skelgen {result['said']}")


if __name__ == "__main__":
    sys.exit(main())
