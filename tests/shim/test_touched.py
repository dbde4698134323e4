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
    for attempt in range(4):  # a look that lost its core was dear: there is no other
        folder = tmp_path / str(attempt)
        folder.mkdir()
        run = lab.launch(1, program, folder, preload=str(lab.shim))
        assert run.exit_code == 0, run.errors
        (trace,) = run.traces
        (seen,) = trace.tables["touched"].values()
        if seen["looks"]:
            break
    assert seen["looks"] > 0
    for looks, kib in (("looks", "kib"), ("broad_looks", "broad_kib")):
        found = seen[kib] / 1024 / max(seen[looks], 1)
        assert not seen[looks] or mib - MISSED < found < mib + 8  # and the MPI's own
    files = open_trace(run.folder).files
    touched = conditions(files).touched
    assert touched is not None
    assert mib - MISSED < touched.set_bytes / MIB < mib + 8
    # What looking took is no computation, and little.
    assert files[0].facts.overhead_units < 0.05 * files[0].facts.compute_units
