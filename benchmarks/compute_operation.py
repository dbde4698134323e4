"""Measure the compute operation of skeletons: what is asked for against what it takes.

``python benchmarks/compute_operation.py [--mpicc PATH] [--rounds 5]`` calibrates this
machine, compiles pure-compute skeletons of one rank and prints a table.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path

from skelgen import _paths  # noqa: F401  (installed: not the checkout's)

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from skelgen.pipeline.machine_mpi import reference_compiler
from skelgen.reference.calibration import ComputeCalibration, Mix
from skelgen.reference.compiled_program import COMPILER_FLAGS
from skelgen.reference.compute import calibrate
from skelgen.skeleton.emit.skeleton_files import render
from tests.plans import Builder, Do, Loop

#: Gap [us] and how many of them a run has.
GAPS = (
    (0.05, 2_000_000),
    (0.2, 500_000),
    (1.0, 200_000),
    (4.0, 50_000),
    (10.0, 20_000),
    (1000.0, 200),
    (1_000_000.0, 1),
)


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--mpicc", type=Path, default=None)
    options.add_argument("--rounds", type=int, default=5)
    asked = options.parse_args()
    mpicc = asked.mpicc or reference_compiler("")
    for mix in (Mix(), Mix(0.5, 0.25, 0.25)):
        speed = calibrate(mpicc, mix=mix)
        print(f"mix {mix.shares}: {speed.steps_per_us} steps/us on {speed.cpu}")
        print(f"a call takes {speed.call_us} us, with the clock {speed.clock_us} us")
        print("  gap [us]    calls  asked [s]   took [s]    error")
        for gap, calls in GAPS:
            took = measured_s(str(mpicc), speed, gap, calls, asked.rounds)
            want = gap * calls * 1e-6
            error = took / want - 1
            print(f"{gap:10g} {calls:8} {want:10.4f} {took:10.4f} {error:8.2%}")


def measured_s(
    mpicc: str, speed: ComputeCalibration, gap_us: float, calls: int, rounds: int
) -> float:
    """Return the time of the gaps alone, with computation less without [s].

    The work is fixed, so the shortest of several runs is the undisturbed one.
    """
    wait = Do("MPI_Probe", us=gap_us, peer=-2, tag=0)  # the cheapest call
    plan = Builder(1).program([0], Loop(calls, [wait])).plan()
    with tempfile.TemporaryDirectory() as folder:
        program = Path(folder) / "skeleton"
        source = program.with_suffix(".c")
        source.write_text(render(plan, calibration=speed)["skeleton.c"])
        command = [mpicc, *COMPILER_FLAGS, "-o", str(program), str(source)]
        subprocess.run(command, check=True)
        launcher = str(Path(mpicc).with_name("mpirun"))
        times: dict[str, list[float]] = {"": [], "--check": []}
        for _ in range(rounds):
            for word, found in times.items():
                run = [launcher, "-n", "1", str(program), *([word] if word else [])]
                done = subprocess.run(run, capture_output=True, text=True, check=True)
                found.append(json.loads(done.stdout)["seconds"])
    return min(times[""]) - min(times["--check"])


if __name__ == "__main__":
    main()
