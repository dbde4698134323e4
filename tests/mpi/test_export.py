"""Recorded programs in every format, counted against what the trace holds."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from skelgen.errors import MachineError
from skelgen.events import collect
from skelgen.export.otf2_library import library
from skelgen.matching import match
from skelgen.pipeline.export import export
from skelgen.trace import open_trace
from tests.mpis import MPIS, TestMpi
from tests.paraver_reader import read_prv
from tests.replay import SMPIRUN, replay, written

pytestmark = [
    pytest.mark.mpi,
    pytest.mark.skipif(not MPIS, reason="no mpicc with its mpirun was found"),
]

ROOT = Path(__file__).parents[2]
#: Source, ranks and arguments: messages from anybody, nonblocking, sub-communicators,
#: vectors, chains of blocking messages, threads.
PROGRAMS = {
    "master_worker": ("examples/master_worker.c", 4, ("40", "40", "50")),
    "heat2d": ("examples/heat2d.c", 4, ("64", "50")),
    "conjugate_gradient": ("examples/conjugate_gradient.c", 4, ("2000", "2", "10")),
    "bucket_sort": ("examples/bucket_sort.c", 3, ("20000", "3")),
    "wavefront": ("examples/wavefront.c", 4, ("32", "4", "4")),
    "threads": ("tests/shim/threads.c", 1, ()),
}


def record(mpi: TestMpi, name: str, folder: Path) -> Path:
    """Compile and record a program; return the run."""
    source, ranks, arguments = PROGRAMS[name]
    compiler = [str(mpi.compiler), "-O1", str(ROOT / source), "-o", str(folder / name)]
    subprocess.run([*compiler, "-lm", "-lpthread"], check=True)
    line = [sys.executable, "-m", "skelgen", "record", "-o", str(folder / "run"), "--"]
    launch = [*mpi.launcher, "-n", str(ranks), str(folder / name), *arguments]
    done = subprocess.run(
        [*line, *launch],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    return folder / "run"


@pytest.mark.parametrize(
    ("mpi", "name"),
    [(MPIS[0], name) for name in PROGRAMS]
    + [(mpi, "master_worker") for mpi in MPIS[1:]],
    ids=lambda value: getattr(value, "name", value),
)
def test_a_recorded_program_is_the_same_in_every_format(tmp_path, mpi, name):
    run = record(mpi, name, tmp_path)
    trace = open_trace(run)
    events = collect(trace)
    messages = len(match(events.calls).send_call)

    perfetto = export(run, "perfetto", None, most_events=0)
    kinds = Counter(
        record["ph"] for record in json.loads(perfetto.opens.read_text())["traceEvents"]
    )
    assert kinds["X"] == trace.events
    assert kinds["s"] == kinds["f"] == messages

    paraver = read_prv(export(run, "paraver", None).opens)
    assert sum(len(found) for found in paraver.events.values()) == 2 * trace.events
    assert len(paraver.messages) == messages
    assert paraver.times == sorted(paraver.times)

    tit = export(run, "tit", None)
    actions = written(tit.opens)
    sends = sum(count for (_, verb), count in actions.items() if verb.endswith("send"))
    assert sends >= messages
    if SMPIRUN:
        done, _ = replay(tit.opens, trace.world_size)
        assert done == actions

    try:
        library()
    except MachineError:
        return
    records = export(run, "otf2", None).records
    assert records["Enter"] == records["Leave"] == trace.events
    received = records.get("MpiRecv", 0) + records.get("MpiIrecv", 0)
    assert received == messages
