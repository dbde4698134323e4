"""Make what a golden case expects from its trace; rewrite all cases when run.

``python tests/golden/rewrite.py`` replaces ``signature.yaml`` and ``skeleton.c`` of
every case, and writes the stored signatures again. The review is the diff.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent.parent))

from skelgen.phases import store as phase_store  # noqa: E402
from skelgen.reference.calibration import ComputeCalibration, Mix  # noqa: E402
from skelgen.signature import Provenance, Signature  # noqa: E402
from skelgen.signature import store as signature_store  # noqa: E402
from skelgen.signature.write import signature_text  # noqa: E402
from skelgen.skeleton.emit.skeleton_files import render  # noqa: E402
from skelgen.skeleton.plan import plan  # noqa: E402
from tests import builders  # noqa: E402
from tests.summaries import build  # noqa: E402

CASES = sorted(path.parent for path in HERE.glob("*/trace.txt"))
REFERENCE = ComputeCalibration(
    mix=Mix(1.0, 0.0, 0.0),
    steps_per_us=(1000.0, 0.0, 0.0),
    call_us=0.02,
    clock_us=0.08,
    processes=4,
    host="reference",
    cpu="a core of one step per ns",
)


def signature_of(text: str, name: str) -> Signature:
    """Take a trace that is written as text through all stages to its signature."""
    events = builders.events(text)
    provenance = Provenance(
        application=name,
        command=("mpirun", "-n", str(events.calls.ranks), f"./{name}"),
        mpi="an MPI",
        host="reference",
        recorded="2026-01-01T00:00:00+00:00",
        skelgen="golden",
        parameters=(),
        ranks_per_host=(events.calls.ranks,),
    )
    return build(events, provenance=provenance).signature


def produce(case: Path) -> dict[str, str]:
    """Return the files that a case expects."""
    text = (case / "trace.txt").read_text()
    stated = re.search(r"# scale ([0-9.]+)", text)
    assert stated is not None, f"{case}/trace.txt has no line '# scale K'"
    signature = signature_of(text, case.name)
    files = render(plan(signature, float(stated[1])), calibration=REFERENCE)
    return {
        "signature.yaml": signature_text(signature),
        "skeleton.c": files["skeleton.c"],
    }


if __name__ == "__main__":
    for folder in CASES:
        for name, content in produce(folder).items():
            (folder / name).write_text(content)
    for folder in (HERE.parent.parent / "signatures").iterdir():
        file = folder / "signature.yaml"
        signature_store.save(signature_store.load(file), file)
        phase_store.save(phase_store.load(folder), folder)
