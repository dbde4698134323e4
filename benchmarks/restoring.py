"""How soon is an image restored, does its phase run as it did, to the same results?

``python benchmarks/restoring.py [--megabytes 200] [--restores 6]``

heat2d with so much memory on each of 2 ranks is recorded and saved with CRIU (root;
fetched where it is missing) before the phase that takes most of its time. Recording the
whole run and restoring the image take turns: the time until the ranks are restored, and
that of the phase over the time of the same occurrence in the recordings, medians.
Then the image is restored three times and runs to its end: the results are those of the
whole run, and neither processes nor files are left. The goals are 0.5 s for 200 MB, and
a phase within 5 % of the recording. About a minute.
"""

from __future__ import annotations

import argparse
import math
import os
import shutil
import statistics
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from skelgen import _paths  # noqa: F401  (installed: not the checkout's)

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks.skeletons import BIN, run, skelgen
from skelgen.phase_execution.application import application_of
from skelgen.phase_execution.checkpoint import ImageRun
from skelgen.phase_execution.criu import CriuCheckpointer, network_settings
from skelgen.phase_execution.fetch_criu import find_criu
from skelgen.phase_execution.images import read_manifest
from skelgen.phase_execution.interface import WantedOccurrence
from skelgen.phases.stored import Occurrence, PhaseSignature
from skelgen.pipeline.phases import of_run
from tests.processes import comes_true, processes_of

ROOT = Path(__file__).resolve().parent.parent

STEPS, LATER, TO_THE_END, RECORDINGS = 60, 10, 3, 3
LIMIT_S = 300.0


class Timed(CriuCheckpointer):
    """Takes the time of each restore."""

    def load(self, image: Path) -> None:
        begin_s = time.monotonic()
        super().load(image)
        self.load_s = time.monotonic() - begin_s


def recorded(folder: Path, command: list[str], name: str) -> PhaseSignature:
    skelgen(folder, "record", "-o", name, "--", *command)
    return of_run(folder / name)[1]


def chosen(signature: PhaseSignature) -> WantedOccurrence:
    """Return an occurrence of the largest phase that comes when all memory is used."""
    stored = max(signature.phases, key=lambda one: one.phase.share)
    before, one = stored.occurrences[LATER - 1 : LATER + 1]
    begin, end, warm = map(np.array, (one.begin, one.end, before.begin))
    return WantedOccurrence(
        stored.phase.number, one.number, begin, end, warm, stored.phase.calls
    )


def occurrence(
    signature: PhaseSignature, wanted: WantedOccurrence
) -> Occurrence | None:
    """Return the same occurrence in another recording, if it has such a phase."""
    begin, end = tuple(wanted.begin.tolist()), tuple(wanted.end.tolist())
    for stored in signature.phases:
        for one in stored.occurrences:
            if (one.begin, one.end) == (begin, end):
                return one
    return None


def said(folder: Path) -> str:
    """Return what the program printed at its end."""
    return (folder / "out").read_text()


def measure(folder: Path, megabytes: int, restores: int) -> None:
    side = math.isqrt(megabytes * 1_000_000 // 8)
    run(
        ["mpicc", "-O2", str(ROOT / "examples/heat2d.c"), "-o", "heat2d", "-lm"], folder
    )
    command = ["mpirun", "-n", "2", str(folder / "heat2d"), str(side), str(STEPS)]
    whole = run(command, folder)
    first = recorded(folder, command, "0.run")
    wanted = chosen(first)
    application, _ = application_of(first, command)
    saver = Timed(find_criu(fetching=True), network_settings(application))
    images = folder / "images"
    session = ImageRun(application, [wanted], saver, LIMIT_S, images)
    known_s, loads_s, times_s = [], [], []
    try:
        begin_s = time.monotonic()
        session.request(wanted)
        request_s = time.monotonic() - begin_s
        for number in range(restores):
            if number % (restores // RECORDINGS or 1) == 0:
                again = recorded(folder, command, f"{number + 1}.run")
                if (one := occurrence(again, wanted)) is not None:
                    known_s.append(one.time_s)
            times_s.append(session.restore(wanted).time_s)
            loads_s.append(saver.load_s)
        (image,) = images.glob("image-*")
        size = read_manifest(image).size_bytes
        ends = []
        for _ in range(TO_THE_END):
            session.run_from(image, lambda rank: [])
            session.wait_for_ranks("finalized")
            comes_true(lambda: saver.poll() is not None)
            ends.append(said(images))
    finally:
        session.stop()
    shutil.rmtree(images)
    gone = comes_true(lambda: not processes_of(folder / "heat2d"))
    print(f"image               {size / 1e6:.0f} MB, made in {request_s:.2f} s")
    print(f"restored in         {shown(loads_s)} s")
    print(compared(known_s, times_s))
    same = sum(end == whole for end in ends)
    print(f"same results        {same} of {TO_THE_END} restores")
    print(f"processes left      {'none' if gone else 'some'}")


def compared(known_s: list[float], times_s: list[float]) -> str:
    """Say what the phase took in recordings, and restored."""
    if not known_s:
        sys.exit("restoring: no other recording has that occurrence; try it again")
    longer = statistics.median(times_s) / statistics.median(known_s) - 1
    return (
        f"phase, recorded     {shown(known_s)} s\n"
        f"phase, restored     {shown(times_s)} s: {longer:+.1%}"
    )


def shown(values_s: list[float]) -> str:
    return (
        f"{statistics.median(values_s):.3f} ({min(values_s):.3f}..{max(values_s):.3f})"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--megabytes", type=int, default=200)
    parser.add_argument("--restores", type=int, default=6)
    options = parser.parse_args()
    os.environ["PATH"] = f"{BIN}:{os.environ['PATH']}"
    # Not below /tmp: new files there are part of an image.
    with tempfile.TemporaryDirectory(dir=Path.cwd()) as temporary:
        measure(Path(temporary), options.megabytes, options.restores)


if __name__ == "__main__":
    main()
