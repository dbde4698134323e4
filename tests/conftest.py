"""Settings of all tests."""

import os
import shutil
import signal
import sys
import tempfile
from collections.abc import Generator, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

from tests.alone import folder_of_run, turn

# Tests never judge wall time: a loaded machine would fail them. What passed once passes
# again: SKELGEN_EXPLORE=1 draws other examples each time.
settings.register_profile(
    "ours",
    deadline=None,
    derandomize="SKELGEN_EXPLORE" not in os.environ,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
settings.load_profile("ours")

# Tests interrupt programs; what runs in the background of a script ignores that.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

#: Where tests take turns; the process that began the run removes it.
TURNS = folder_of_run(Path(tempfile.gettempdir()))

# Open MPI 4 keeps a folder for all its runs among temporary files: one that ends may
# take it away from another that begins. No worker shares it with others.
if "PYTEST_XDIST_WORKER" in os.environ:
    own = tempfile.TemporaryDirectory(prefix="skt", ignore_cleanup_errors=True)
    os.environ["TMPDIR"] = tempfile.tempdir = own.name

# What this machine learnt of its own is no part of a test.
os.environ.pop("SKELGEN_TRUST", None)
os.environ["XDG_CONFIG_HOME"] = str(Path(tempfile.gettempdir()) / "skelgen-none")
# Tests launch programs, and their launches are no user's: they have lists of their own.
launches = tempfile.TemporaryDirectory(prefix="skl", ignore_cleanup_errors=True)
os.environ["SKELGEN_STATE"] = launches.name
# Nor is its store, which would keep every prediction.
os.environ.pop("SKELGEN_STORE", None)
os.environ["XDG_DATA_HOME"] = str(Path(launches.name) / "data")

# Each start of skelgen compiles it again where nothing compiled may stay: 0.3 s of 1 s.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)

# A test cluster outweighs all else on its machine, but not here: the tests beside it
# would wait until their limits.
os.environ.setdefault("TESTBED_MODEST", "1")

#: The tests that take longest, and those that share what takes long to set up: a worker
#: that has nothing left takes others their last ones, which should be short.
FIRST = [
    *("test_installed", "test_slurm", "test_accuracy_run", "test_select"),
    *("test_sanitizers", "test_odd_paths", "test_models_cluster"),
    *("test_cli_main_job", "test_examples", "test_program_kinds"),
    *("test_random_programs", "test_documents"),
]


@pytest.hookimpl(trylast=True)  # pytest itself groups those with equal set-ups
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Begin with the tests that take longest; those that run alone are last."""
    places = {stem: place for place, stem in enumerate(FIRST)}
    items.sort(
        key=lambda item: (is_alone(item), places.get(item.path.stem, len(places)))
    )


def is_alone(item: pytest.Item) -> bool:
    """Say whether no test may run beside this one."""
    return item.get_closest_marker("alone") is not None


@pytest.hookimpl(wrapper=True, tryfirst=True)  # waiting is no part of a test's time
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    """Wait for a test's turn."""
    with turn(TURNS, alone=is_alone(item)):
        return (yield)


def pytest_unconfigure(config: pytest.Config) -> None:
    """Remove the locks, when all workers have ended."""
    if not hasattr(config, "workerinput"):
        shutil.rmtree(TURNS, ignore_errors=True)


@pytest.fixture(autouse=True)
def _no_store_is_left_to_others() -> Iterator[None]:
    """Take back what a command set for the processes that it starts."""
    yield
    for name in ("SKELGEN_STORE", "SKELGEN_INPUTS"):
        os.environ.pop(name, None)


@pytest.fixture(autouse=True)
def _no_mpi_is_left_to_others() -> Iterator[None]:
    """Forget which MPI was found: a test may have had one of its own on PATH."""
    yield
    if (known := sys.modules.get("skelgen.launch.mpi")) is not None:
        known.find_mpi.cache_clear()


@pytest.fixture(scope="session", autouse=True)
def _answers_are_what_their_schemas_say() -> Iterator[None]:
    """Check every answer of a command that a test asks for in its own process."""
    from skelgen.results import base
    from tests.answers import check_answer

    made = base.answer

    def checked(value: Mapping[str, Any]) -> dict[str, Any]:
        answer = made(value)
        check_answer(answer)
        return answer

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(base, "answer", checked)
        yield
