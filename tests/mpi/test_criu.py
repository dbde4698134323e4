"""An MPI program is frozen, restored three times, and comes to the same results."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from skelgen.errors import ApplicationError, SkelgenError
from skelgen.phase_execution.application import application_of
from skelgen.phase_execution.checkpoint import ImageRun
from skelgen.phase_execution.criu import CriuCheckpointer, network_settings, try_out
from skelgen.phase_execution.fetch_criu import Criu, find_criu
from skelgen.phase_execution.images import ImageContent, new_image, read_manifest
from skelgen.phase_execution.interface import WantedOccurrence
from skelgen.phase_execution.marks import timed
from skelgen.phase_execution.plan import ExecutedExtent, by_images
from skelgen.phases.types import Parameters
from skelgen.pipeline.phases import phases
from skelgen.pipeline.record import record
from tests.c_warnings import WARNINGS
from tests.mpis import MPIS, TestMpi
from tests.processes import comes_true, processes_of

SOURCE = Path(__file__).parent / "ahead.c"

pytestmark = pytest.mark.mpi


@pytest.fixture(scope="module")
def criu() -> Criu:
    """Return a CRIU that works here; none is fetched for a test."""
    try:
        found = find_criu(fetching=False)
        try_out(found)
    except SkelgenError as error:
        pytest.skip(str(error))
    return found


def results(folder: Path) -> list[str]:
    return [(folder / f"rank-{rank}").read_text() for rank in (0, 1)]


def some_occurrences_after(wanted: WantedOccurrence) -> WantedOccurrence:
    """Return one that is so much later that the program has written more."""
    later = 10 * (wanted.begin - wanted.warm)
    return replace(
        wanted,
        occurrence=wanted.occurrence + 10,
        warm=wanted.warm + later,
        begin=wanted.begin + later,
        end=wanted.end + later,
    )


@pytest.mark.parametrize("mpi", MPIS, ids=lambda mpi: mpi.name)
def test_three_restores_end_with_the_results_of_the_whole_run(
    criu: Criu, mpi: TestMpi, tmp_path: Path
) -> None:
    program = tmp_path / "ahead"
    subprocess.run(
        [str(mpi.compiler), *WARNINGS, "-o", str(program), str(SOURCE)], check=True
    )
    command = [*mpi.launcher, "-n", "2", str(program), "60", str(tmp_path)]
    record(command, tmp_path / "run", quiet_output=True)
    whole = results(tmp_path)
    structure = Parameters(time_similarity=1e-9)
    signature = phases(tmp_path / "run", structure)
    application, _ = application_of(signature, command)
    planned = by_images(signature, ExecutedExtent()).wanted
    first = next(one for one in planned if (one.begin > one.warm).all())
    last = some_occurrences_after(first)
    kept = tmp_path / "images"
    saver = CriuCheckpointer(criu, network_settings(application))
    session = ImageRun(application, [first, last], saver, 120.0, kept)
    try:
        for wanted in (first, last):
            session.request(wanted)
        image = kept / f"image-{last.phase}-{last.occurrence}"
        assert session.restore(first).time_s > 0
        lengths = read_manifest(image).open_files or {}
        written = str(tmp_path / "rank-0")
        assert Path(written).stat().st_size < lengths[written]
        for _ in range(3):
            for rank in (0, 1):
                with (tmp_path / f"rank-{rank}").open("a") as file:
                    file.write("of the run before\n")
            session.run_from(image, lambda rank: timed([last], rank))
            session.wait_for_ranks("finalized")
            assert comes_true(lambda: saver.poll() is not None)
            assert results(tmp_path) == whole
        assert session.restore(last).time_s > 0
    finally:
        session.stop()
    assert comes_true(lambda: not processes_of(program))


def test_no_half_image_remains_when_a_process_is_gone(
    criu: Criu, tmp_path: Path
) -> None:
    saver = CriuCheckpointer(criu)
    failure = pytest.raises(ApplicationError, match="ended with exit code 0 mean")
    try:
        saver.start(["true"], tmp_path, {}, tmp_path)
        assert comes_true(lambda: saver.poll() is not None)
        with failure, new_image(tmp_path / "image") as image:
            saver.save(image, ImageContent("criu"))
    finally:
        saver.end()
    assert not (tmp_path / "image").exists()


def test_a_link_in_tmp_and_a_folder_that_is_missing_do_no_harm(
    criu: Criu, tmp_path: Path
) -> None:
    link = Path("/tmp", tmp_path.parent.name + tmp_path.name)
    link.symlink_to("nowhere")
    try:
        try_out(criu)
    finally:
        link.unlink()
    saver = CriuCheckpointer(criu)
    try:
        saver.start(["true"], tmp_path / "none", {}, tmp_path)
        assert comes_true(lambda: saver.poll() == 127)
    finally:
        saver.end()
    assert "cannot run true" in (tmp_path / "err").read_text()


#: Says by its exit code whether a file is seen in namespaces of ours.
LOOK = """
import sys, time
from pathlib import Path
from skelgen.phase_execution.namespaces import Namespaces, Task
file, out = Path(sys.argv[1]), Path(sys.argv[2])
namespaces = Namespaces()
try:
    pid = namespaces.start(Task(("test", "-e", str(file)), {}, Path("/"), out, out))
    while (code := namespaces.poll(pid)) is None:
        time.sleep(0.002)
finally:
    namespaces.end()
sys.exit(code)
"""


def test_what_is_mounted_below_tmp_is_seen(criu: Criu, tmp_path: Path) -> None:
    mounted = tmp_path / "mounted"
    mounted.mkdir()
    look = 'mount -t tmpfs none "$1" && touch "$1/file" && exec "$2" -c "$3" "$1/file"'
    command = ["unshare", "--mount", "sh", "-c", f'{look} "$4"', "sh", str(mounted)]
    command += [sys.executable, LOOK, str(tmp_path / "out")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert not list(mounted.iterdir())
