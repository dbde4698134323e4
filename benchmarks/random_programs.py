"""Random MPI programs in C: does the recorder change nothing, does every skeleton end?

``python -m benchmarks.random_programs run --programs 2000 --results FOLDER``

Each program is compiled and run plain and under the recorder, which must not change the
checksum of all that it received. Skeletons for three values of K are built of it,
compiled with warnings as errors, and run; each must end in time. A line for each
program goes to ``FOLDER/programs.jsonl``; started again with the same folder, the
campaign goes on behind the last line. The folder of a program that failed stays.
Exits with 1 when something of skelgen's failed. 2,000 programs with each of two MPIs
take a night of two cores.
"""

from __future__ import annotations

import argparse
import fcntl
import json
import re
import shutil
import sys
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from skelgen import _paths  # noqa: F401  (installed: not the checkout's)

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from tests.mpis import MPIS
from tests.random_c.parts import kinds
from tests.random_c.trial import NOT_OURS, Bench, bench_of, trial

ROOT = Path(__file__).resolve().parent.parent
FILE = "programs.jsonl"


def main(words: Sequence[str] | None = None) -> int:
    parser = _parser()
    options = parser.parse_args(words)
    options.results.mkdir(parents=True, exist_ok=True)
    if options.what == "run":
        with (options.results / "lock").open("w") as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                parser.error(f"--results {options.results}: a campaign runs there")
            benches = _benches(parser, options.mpis)
            seeds = range(options.seed, options.seed + options.programs)
            _run(benches, seeds, options.results, retry=options.retry)
    rows = read(options.results / FILE)
    print(table(rows))
    return int(any(row["failure"] not in ("", *NOT_OURS) for row in rows))


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.random_programs",
        description=(__doc__ or "").splitlines()[0],
    )
    add = parser.add_argument
    add("what", choices=("run", "report"), nargs="?", default="run")
    add("--programs", type=int, default=20, help="for each MPI (default: %(default)s)")
    add("--results", type=Path, default=ROOT / "build/random_programs")
    add(
        "--mpis",
        default="mpich,openmpi",
        help="beginnings such as mpich or openmpi-4; the first that fits is taken",
    )
    add("--seed", type=int, default=0, help="of the first program")
    add("--retry", action="store_true", help="try those again that failed before")
    return parser


def _benches(parser: argparse.ArgumentParser, names: str) -> list[Bench]:
    """Return the MPIs that names such as ``mpich,openmpi-4`` mean."""
    known = [bench_of(mpi) for mpi in MPIS]
    found = []
    for name in names.split(","):
        fits = [one for one in known if one.name.startswith(name.replace("-", " "))]
        if not fits:
            have = ", ".join(one.name.replace(" ", "-") for one in known)
            parser.error(f"--mpis {name}: found {have or 'no MPI'}")
        found.append(fits[0])
    return found


def _run(benches: list[Bench], seeds: range, results: Path, *, retry: bool) -> None:
    """Try what the results do not have yet."""
    done = {
        (row["mpi"], row["seed"], row["text"])
        for row in read(results / FILE)
        if not (retry and row["failure"])
    }
    rest = [
        (bench, seed)
        for seed in seeds
        for bench in benches
        if (bench.name, seed, bench.fingerprint(seed)) not in done
    ]
    begin_s = time.monotonic()
    for place, (bench, seed) in enumerate(rest, start=1):
        row = tried(bench, seed, results)
        with (results / FILE).open("a") as file:
            file.write(json.dumps(row) + "\n")
        left_min = (time.monotonic() - begin_s) / place * (len(rest) - place) / 60
        what = row["failure"] or f"{row['ended']} skeletons ended"
        print(
            f"{place} of {len(rest)}: {bench.name}, seed {seed}: {what}; "
            f"about {left_min:.0f} min left",
            file=sys.stderr,
            flush=True,
        )


def tried(bench: Bench, seed: int, results: Path) -> dict[str, Any]:
    """Try a program in a folder that stays only if it fails."""
    folder = results / f"{bench.name.replace(' ', '-')}-{seed}"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    outcome = trial(bench, seed, folder)
    if not outcome.failure:
        shutil.rmtree(folder)
    return outcome.facts()


def read(path: Path) -> list[dict[str, Any]]:
    """Read the last result of each program; a line that was not finished is none."""
    if not path.exists():
        return []
    text = path.read_text()
    complete = text[: text.rfind("\n") + 1]
    if complete != text:
        path.write_text(complete)
    rows = [json.loads(line) for line in complete.splitlines()]
    return list({(row["mpi"], row["seed"]): row for row in rows}.values())


def table(rows: Sequence[dict[str, Any]]) -> str:
    """Say what the results are, for each MPI and of each program that failed."""
    head = ("programs", "kinds", "calls", "same sum", "skeletons", "ended", "refused")
    lines = [f"{'':16}" + "".join(f"{name:>12}" for name in (*head, "failed", "MPI's"))]
    for name in sorted({row["mpi"] for row in rows}):
        own = [row for row in rows if row["mpi"] == name]
        lines.append(f"{name:16}" + "".join(f"{n:>12}" for n in _numbers(own)))
    lines.append(f"{len(kinds())} kinds of step are known")
    texts = [text for row in rows for text in row["refused"].values()]
    reasons = Counter(re.sub(r"\d+", "N", text) for text in texts)
    lines += [f"refused {n} x: {text}" for text, n in reasons.most_common()]
    for row in rows:
        if row["failure"]:
            whose = "not skelgen's, " if row["failure"] in NOT_OURS else ""
            lines.append(
                f"{row['mpi']}, seed {row['seed']}: {whose}{row['failure']}: "
                f"{row['detail'][:300]}"
            )
    return "\n".join(lines)


def _numbers(rows: Sequence[dict[str, Any]]) -> list[int]:
    failures = [row["failure"] for row in rows if row["failure"]]
    return [
        len(rows),
        len({kind for row in rows for kind in row["kinds"]}),
        sum(row["calls"] for row in rows),
        sum(row["checked"] for row in rows),
        sum(row["skeletons"] for row in rows),
        sum(row["ended"] for row in rows),
        sum(len(row["refused"]) for row in rows),
        sum(failure not in NOT_OURS for failure in failures),
        sum(failure in NOT_OURS for failure in failures),
    ]


if __name__ == "__main__":
    sys.exit(main())
