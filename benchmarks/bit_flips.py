"""Is a flipped bit in a rank file noticed, or without effect?

``python benchmarks/bit_flips.py [--flips 1000] [--seed 1]``

Flips one bit anywhere in the rank files of a run, reads the run and puts the bit back.
`noticed`: an error or a warning; `harmless`: what is decoded is the same; `silent`:
it is not, and nobody says so. Three runs: heat2d, recorded with the first MPI found;
one that the tests write, with every kind of record; and the same with killed ranks:
what these wrote behind their last checksum has none, and `skelgen info` says so.
Exit code 1 when a bit stayed silent in a run that ended cleanly. About two minutes.
"""

from __future__ import annotations

import argparse
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from skelgen.launch.record import record

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from tests.bit_flips import HARMLESS, NOTICED, SILENT, count, written_run
from tests.mpis import MPIS

ROOT = Path(__file__).resolve().parent.parent

POINTS, STEPS = 64, 12_000  # more than one window of the recorder
CALLS = 420


def recorded_run(folder: Path) -> Path | None:
    """Record heat2d on two ranks; None without MPI."""
    if not MPIS:
        return None
    mpi, program = MPIS[0], folder / "heat2d"
    source = str(ROOT / "examples/heat2d.c")
    command = [str(mpi.compiler), "-O2", source, "-o", str(program), "-lm"]
    subprocess.run(command, check=True)
    words = [*mpi.launcher, "-n", "2", str(program), str(POINTS), str(STEPS)]
    record(words, folder / "recorded", quiet_output=True)
    return folder / "recorded"


def row(title: str, run: Path | None, flips: int, seed: int) -> int:
    """Print a row of the table; return how many bits stayed silent."""
    if run is None:
        print(f"{title:42}no MPI was found")
        return 0
    size = sum(path.stat().st_size for path in run.glob("rank-*.skt"))
    found = count(run, flips, random.Random(seed))
    numbers = "".join(f"{found[kind]:10}" for kind in (NOTICED, HARMLESS, SILENT))
    print(f"{title:42}{size:10}{flips:8}{numbers}", flush=True)
    return found[SILENT]


def main() -> int:
    """Print the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--flips", type=int, default=1000, help="of each run")
    parser.add_argument("--seed", type=int, default=1, help="of the bits")
    options = parser.parse_args()
    begin = time.monotonic()
    with tempfile.TemporaryDirectory() as name:
        folder, rng = Path(name), random.Random(options.seed)
        clean = written_run(folder / "clean", CALLS, rng, checked=True, ended=True)
        killed = written_run(folder / "killed", CALLS, rng, checked=True, ended=False)
        print(
            f"{'':42}{'bytes':>10}{'flips':>8}{NOTICED:>10}{HARMLESS:>10}{SILENT:>10}"
        )
        silent = 0
        for title, run in (
            ("recorded: heat2d on 2 ranks", recorded_run(folder)),
            ("written: every kind of record", clean),
        ):
            silent += row(title, run, options.flips, options.seed)
        row(
            "the same, killed: the end is unchecked",
            killed,
            options.flips,
            options.seed,
        )
    print(f"{time.monotonic() - begin:.0f} s")
    return 1 if silent else 0


if __name__ == "__main__":
    sys.exit(main())
