"""Exports are byte for byte what the plain Python twin writes, event by event."""

import importlib
import random
import shutil

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skelgen.errors import MachineError
from skelgen.export import run as run_module
from skelgen.export.otf2_library import library
from skelgen.progress import NO_PROGRESS
from skelgen.trace import open_trace
from tests.export_samples import save_mixed, save_neighbours, save_threads
from tests.trace_samples import anything, save_ring
from tests.trace_writer import RankWriter
from tests.twins.export_rows.run import TraceStreams as PlainStreams

FORMATS = ["perfetto", "paraver", "tit", "otf2"]
#: Its name in the archive is drawn anew each time.
ANCHOR = "traces.otf2"


def save_killed(folder):
    return save_mixed(folder, killed=3)


def save_unknown(folder):
    """Functions that Extrae does not know: two ranks call them in another order."""
    names = ["MPI_Pcontrol", "MPI_Comm_set_errhandler", "MPI_Session_init"]
    for rank, own in enumerate((names, names[::-1])):
        writer = RankWriter(rank, 2)
        writer.event("MPI_Init", 0, 100)
        for name in own:
            writer.event(name, 40 + rank, 30)
        writer.finish()
        writer.save(folder)
    return folder


def save_anything(folder, seed, ranks=3, events=200):
    rng = random.Random(seed)
    for rank in range(ranks):
        anything(rng, rank, ranks, events).save(folder)
    return folder


def written(streams, package, name, folder, scratch, most_events):
    target = scratch / package.rpartition(".")[2]
    shutil.rmtree(target, ignore_errors=True)
    target.mkdir()
    run = streams(open_trace(folder), scratch, NO_PROGRESS)
    if most_events:
        run.limit(most_events)
    where = target / "run.json" if name == "perfetto" else target
    result = importlib.import_module(f"{package}.{name}").write(run, where)
    files = {
        str(path.relative_to(target)): path.read_bytes()
        for path in sorted(target.rglob("*"))
        if path.is_file() and path.name != ANCHOR
    }
    return files, result.records, result.notes, [path.name for path in result.paths]


def same(name, folder, scratch, most_events=0):
    if name == "otf2":
        try:
            library()
        except MachineError:
            pytest.skip("no OTF2 library")
    given = (name, folder, scratch, most_events)
    new = written(run_module.TraceStreams, "skelgen.export", *given)
    plain = written(PlainStreams, "tests.twins.export_rows", *given)
    assert new == plain


@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize(
    "save",
    [save_mixed, save_killed, save_threads, save_neighbours, save_ring, save_unknown],
)
def test_samples_are_written_as_the_twin_does(tmp_path, name, save):
    (tmp_path / "run").mkdir()
    same(name, save(tmp_path / "run"), tmp_path)


@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize("in_memory", [1, 5, 60])
def test_the_size_of_blocks_does_not_matter(tmp_path, monkeypatch, name, in_memory):
    monkeypatch.setattr(run_module, "_EVENTS_IN_MEMORY", in_memory)
    monkeypatch.setattr(run_module, "_LEAST_EVENTS", 1)
    (tmp_path / "run").mkdir()
    same(name, save_mixed(tmp_path / "run"), tmp_path)


@pytest.mark.parametrize("name", ["perfetto", "paraver", "otf2"])
def test_the_begin_of_a_run_is_the_same(tmp_path, name):
    (tmp_path / "run").mkdir()
    same(name, save_mixed(tmp_path / "run"), tmp_path, most_events=100)


@settings(max_examples=15, deadline=None)
@given(seed=st.integers(0, 10**6), name=st.sampled_from(FORMATS))
def test_any_calls_are_written_as_the_twin_does(tmp_path_factory, seed, name):
    scratch = tmp_path_factory.mktemp("any")
    (scratch / "run").mkdir()
    same(name, save_anything(scratch / "run", seed), scratch)
