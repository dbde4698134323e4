"""Do damaged files and wrong words ever end in more than one line?

``python benchmarks/fuzzing.py [--seconds 600] [--cases N] [--jobs 2] [--seed S]
[--commands store,forecast]``

Each case takes files of every format that skelgen reads, damages one or two, or the
words of a command, and runs the real command in a process of its own, with 3 GiB of
address space and an MPI that is a shell script. The process is a copy of one that has
loaded all of skelgen, so that no case waits for Python. It prints how the commands
ended, and what must not be: tracebacks, processes that died, that took more than 10 s
(waiting for a core is not counted) or more than 2 GB, and errors that are not one line.
Exits with 1 when there is any, and keeps the files of these cases in a folder
(`--keep`). ``--only N`` runs case N again, with the same ``--commands``.

``--uploads`` sends damaged files and forms to a server in place of commands: each case
has a store of its own, of which nothing may be half kept. ``--first N`` begins there.
"""

from __future__ import annotations

import argparse
import contextlib
import gc
import importlib
import io
import json
import os
import pkgutil
import random
import shutil
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from skelgen import _paths  # noqa: F401  (installed: not the checkout's)

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks.shared.forked import LONGEST_S, campaign
from benchmarks.shared.guarded import place_of

MOST_BYTES = 2_000_000_000
#: Cases whose files are kept.
MOST_KEPT = 100
#: Kinds of outcome that must not be.
WRONG = ("traceback", "died", "hang", "memory", "not one line", "half kept")
_CODES = (0, 2, 3, 4, 5, 6, 7)

Command = Callable[[list[str]], int]


def main() -> int:
    """Run cases for a time, or so many of them."""
    options = _options()
    if not options.uploads:
        _choose(options.commands)
    os.environ["OPENBLAS_NUM_THREADS"] = "1"  # what has threads cannot be copied
    memory = _memory()
    with tempfile.TemporaryDirectory(prefix="skelgen-fuzzing-", dir=memory) as name:
        folder, command = Path(name), _prepare(Path(name) / "good", options)
        kept = options.keep or Path(tempfile.gettempdir()) / "skelgen-fuzzing-found"
        found = Found(options.seed, folder / "good", kept, options.uploads)
        try:
            for result in _results(options, folder, command):
                found.add(result)
        except KeyboardInterrupt:
            print("interrupted; until then:")
    found.report()
    return 1 if any(found.kinds[kind] for kind in WRONG) else 0


def _memory() -> str | None:
    """Return a folder in memory where programs may run; None where there is none.

    On a disk most of the time goes to writing and removing the files of cases.
    """
    shared = Path("/dev/shm")
    if not (shared.is_dir() and os.access(shared, os.W_OK | os.X_OK)):
        return None
    return None if os.statvfs(shared).f_flag & os.ST_NOEXEC else str(shared)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--seconds", type=float, default=600.0, help="Run so long [s].")
    parser.add_argument("--cases", type=int, help="Run so many cases instead.")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", type=int, help="Run this case alone and show it.")
    parser.add_argument("--first", type=int, default=0, help="Begin with this case.")
    parser.add_argument(
        "--uploads", action="store_true", help="Uploads in place of commands."
    )
    parser.add_argument("--keep", type=Path, help="Folder for what must not be.")
    parser.add_argument("--commands", help="Only these: store,monitor.", default="")
    return parser.parse_args()


def _choose(names: str) -> None:
    """Leave out all cases but those of some commands."""
    from tests import fuzz_cases

    wanted = tuple(name for name in names.split(",") if name)
    fuzz_cases.COMMANDS = tuple(
        one for one in fuzz_cases.COMMANDS if not wanted or one[0].startswith(wanted)
    )
    if not fuzz_cases.COMMANDS:
        sys.exit(f"--commands {names}: there is none that begins so")


def _prepare(good: Path, options: argparse.Namespace) -> Command:
    """Write the files that are damaged later, and load all that commands load."""
    from skelgen.cli.main import run
    from tests.fuzz_cases import make

    here = Path.cwd()
    good.mkdir()
    os.chdir(good)
    pretend(good)
    os.environ["COLUMNS"] = "200"
    with _silence():
        make(good)
        run(["predict", "skel", "--hosts", "n1,n2"])  # caches what the MPI says
        if options.uploads:
            from tests.fuzz_uploads import make_uploads

            make_uploads(good / "uploads")
    os.chdir(here)
    import skelgen

    for module in pkgutil.walk_packages(skelgen.__path__, "skelgen."):
        if "__main__" not in module.name:
            importlib.import_module(module.name)
    gc.collect()
    gc.freeze()
    return run


@contextlib.contextmanager
def _silence() -> Iterator[None]:
    """Drop what is printed meanwhile."""
    nothing = io.StringIO()
    with contextlib.redirect_stdout(nothing), contextlib.redirect_stderr(nothing):
        yield


def pretend(tools: Path) -> None:
    """Let the only MPI be a shell script, and computation have a known speed.

    Parameters
    ----------
    tools : Path
        Has the shell script in its folder ``bin``.
    """
    from skelgen.launch import mpi
    from skelgen.pipeline import machine_mpi, mix
    from skelgen.reference.calibration import ComputeCalibration, Mix

    os.environ["PATH"] = f"{tools}/bin:/usr/bin:/bin"
    own = {"TRUST": "trust.yaml", "STORE": "store/store.db", "MONITOR": "monitor"}
    for variable, name in {**own, "CACHE": "cache", "STATE": "state"}.items():
        os.environ[f"SKELGEN_{variable}"] = str(Path.cwd() / name)
    os.environ["SKELGEN_SSH"] = str(tools / "bin/ssh")
    mpi.search_path = lambda: [tools / "bin", Path("/usr/bin"), Path("/bin")]
    speed = ComputeCalibration(
        Mix(), (1000.0, 0.0, 0.0), 0.02, 0.08, 4, "ref", "a core"
    )
    for module in (machine_mpi, mix):
        vars(module)["calibrate"] = lambda *_, **__: speed
    vars(machine_mpi)["calibrate_touching"] = lambda *_, **__: speed


def damaged(good: Path, here: Path, seed: int, case: int) -> list[str]:
    """Write the files of a case; return its words, which are the same each time."""
    from tests.fuzz_cases import case as drawn

    shutil.copytree(good, here, symlinks=True)
    return drawn(random.Random(f"{seed} {case}"), here)


def _results(
    options: argparse.Namespace, folder: Path, command: Command
) -> Iterator[dict[str, Any]]:
    """Run cases, so many at a time, and yield how each ended."""
    end = options.first + options.cases if options.cases else sys.maxsize
    cases = range(options.first, end)
    if options.only is not None:
        cases = range(options.only, options.only + 1)
    seconds = sys.maxsize if options.cases or len(cases) == 1 else options.seconds
    run = _upload if options.uploads else _case
    yield from campaign(
        iter(cases),
        jobs=options.jobs,
        until_s=time.monotonic() + seconds,
        run=lambda case, here: run(command, folder / "good", here, options.seed, case),
        folder=folder,
    )


def _case(
    command: Command, good: Path, here: Path, seed: int, case: int
) -> Iterator[dict[str, Any]]:
    """Run one case in its folder; yield its words, then how it ended."""
    words = damaged(good, here, seed, case)
    os.chdir(here)
    pretend(good)
    nothing = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(nothing, stream)
    yield {"words": words}
    yield _outcome(command, words)


def _upload(
    command: Command, good: Path, here: Path, seed: int, case: int
) -> Iterator[dict[str, Any]]:
    """Send one upload to a server of a store in a folder; see `_case`."""
    from tests.fuzz_uploads import judge_upload, served_store

    words = damaged_upload(good, here, seed, case)
    os.chdir(here)
    pretend(good)
    os.environ["SKELGEN_STATE"] = str(here / "state")
    nothing = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(nothing, stream)
    yield {"words": words}
    Path("/proc/self/clear_refs").write_text("5")  # the peak of memory begins anew
    place = here / "served.db"
    found = judge_upload(served_store(place), place, (here / "body").read_bytes())
    kind, what = found.kind, found.what
    if (peak_bytes := _peak_bytes()) > MOST_BYTES:
        kind, what = "memory", f"{peak_bytes / 1e9:.1f} GB"
    yield {"kind": kind, "what": what, "code": 0, "said": f"{words} {found.said}"}


def damaged_upload(good: Path, here: Path, seed: int, case: int) -> list[str]:
    """Write the body of a case; return what it is made of, the same each time."""
    from tests.fuzz_uploads import upload_case

    shutil.copytree(good / "uploads", here)
    return upload_case(random.Random(f"upload {seed} {case}"), here)


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
        code, wrong = 1, place_of(error)
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


def _peak_bytes() -> int:
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("VmHWM:"):
            return 1024 * int(line.split()[1])
    return 0


@dataclass
class Found:
    """What happened in all cases.

    Attributes
    ----------
    seed : int
    good, kept : Path
        Sound files, and where to keep those of cases that ended as none must.
    uploads : bool
        Whether cases are uploads.
    """

    seed: int
    good: Path
    kept: Path
    uploads: bool = False
    cases: int = 0
    kinds: Counter[str] = field(default_factory=Counter)
    codes: Counter[int] = field(default_factory=Counter)
    examples: dict[str, dict[str, Any]] = field(default_factory=dict)

    def add(self, result: dict[str, Any]) -> None:
        """Count a case; keep its files where it ended as none must."""
        self.cases += 1
        self.codes[result.get("code", -1)] += 1
        kind = result["kind"]
        self.kinds[kind] += 1
        if kind in WRONG:
            self.examples.setdefault(f"{kind}: {result['what']}", result)
            if sum(self.kinds[kind] for kind in WRONG) <= MOST_KEPT:
                self._keep(result)

    def _keep(self, result: dict[str, Any]) -> None:
        """Write the files of a case as they were before its command."""
        place = self.kept / f"seed-{self.seed}-case-{result['case']}"
        shutil.rmtree(place, ignore_errors=True)
        place.parent.mkdir(parents=True, exist_ok=True)
        write = damaged_upload if self.uploads else damaged
        words = write(self.good, place, self.seed, result["case"])
        (place / "result.json").write_text(json.dumps({**result, "words": words}))

    def report(self) -> None:
        """Print how many cases ended how."""
        print(f"{self.cases} cases with seed {self.seed}\n")
        for kind, count in sorted(self.kinds.items()):
            print(f"{count:8}  {kind}")
        print()
        for name, title in (
            ("traceback", "tracebacks"),
            ("died", "processes that died"),
            ("hang", f"hangs above {LONGEST_S:.0f} s"),
            ("memory", f"processes above {MOST_BYTES / 1e9:.0f} GB"),
            ("not one line", "errors that are not one line"),
            ("half kept", "uploads of which something was half kept"),
        ):
            print(f"{self.kinds[name]:8}  {title}")
        for name, result in sorted(self.examples.items()):
            case = f"seed {self.seed}, case {result['case']}"
            print(f"\n{name}\n  {case}: skelgen {result['said']}")
        if self.examples:
            print(f"\ntheir files are in {self.kept}; again: --seed S --only CASE")


if __name__ == "__main__":
    sys.exit(main())
