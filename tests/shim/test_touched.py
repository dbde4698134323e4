"""The recorder looks how much memory computation touches."""

from __future__ import annotations

from pathlib import Path

import pytest

from skelgen.events.conditions import conditions
from skelgen.trace import open_trace
from tests.shim.conftest import SANITIZE, Lab

MIB = 1 << 20
# A few pages that looking uses itself are taken off.
MISSED = 0.125

pytestmark = [
    pytest.mark.mpi,
    pytest.mark.families,
    pytest.mark.skipif(SANITIZE, reason="sanitizers touch memory of their own"),
    pytest.mark.skipif(
        not Path("/proc/self/smaps").exists(), reason="this kernel does not say"
    ),
]


@pytest.mark.parametrize("mib", [2, 4, 12, 24])
def test_so_much_is_touched_between_calls(lab: Lab, tmp_path: Path, mib: int) -> None:
    """Of some MiB a processor remembers where they are, which must not hide them."""
    program = [str(lab.compile("touches")), str(mib)]
    run = lab.launch(1, program, tmp_path, preload=str(lab.shim))
    assert run.exit_code == 0, run.errors
    (trace,) = run.traces
    (seen,) = trace.tables["touched"].values()
    assert seen["looks"] > 0
    for looks, kib in (("looks", "kib"), ("broad_looks", "broad_kib")):
        found = seen[kib] / 1024 / max(seen[looks], 1)
        assert not seen[looks] or mib - MISSED < found < mib + 8  # and the MPI's own
    files = open_trace(run.folder).files
    touched = conditions(files).touched
    assert touched is not None
    assert mib - MISSED < touched.set_bytes / MIB < mib + 8
    # What looking took is no computation, and little.
    facts, unit_us = files[0].facts, files[0].header.unit_ns / 1000
    assert 0 < seen["looking_us"] < 0.05 * facts.compute_units * unit_us
    assert facts.overhead_units > 0
