"""Every wrapped function, called once, leaves one event or one count of its name."""

from __future__ import annotations

import subprocess
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import pytest

from skelgen.launch.mpi import identify_launcher
from tests.shim.conftest import FLAGS, HERE, Lab, Run
from tests.shim.every_call import FRAME, calls, names, program
from tests.shim.reader import FAILED, Event, Trace
from tests.shim.table import Function, is_counted, read_table
from tests.shim.test_table import exported, library_of

pytestmark = pytest.mark.mpi

SUM = 3
#: What roles of arguments hold in the record when the program passes the usual values.
ROLES = {"tag": ("1", 1), "tag2": ("1", 1), "op": ("MPI_SUM", SUM)}
TYPES = {"type_a": "MPI_INT", "type_b": "MPI_INT"}


@dataclass(frozen=True)
class Outcome:
    """A run of the generated program."""

    mpi: str
    functions: tuple[Function, ...]
    run: Run

    @property
    def failed(self) -> dict[str, str]:
        """What the library refused, with its own words."""
        lines = [x.split(" ", 2) for x in self.run.output.splitlines()]
        return {x[1]: x[2] for x in lines if x[0] == "failed"}


def outcome(lab: Lab, *arguments: str) -> Outcome:
    """Generate, compile and run the program under an MPI."""
    mpi = identify_launcher(Path(lab.mpi.launcher[0]))
    title = f"{mpi.kind.value} {mpi.version}"
    there = exported(library_of(lab))
    functions = tuple(f for f in read_table() if f.name in there)
    source, target = lab.folder / "every_call.c", lab.folder / "every_call"
    if not target.exists():
        source.write_text(program(functions, title))
        command = [str(lab.mpi.compiler), *FLAGS, f"-I{HERE}", "-w", str(source)]
        subprocess.run([*command, "-o", str(target)], check=True)
    key = ("every_call", arguments)
    if key not in lab.runs:
        lab.runs[key] = launch(lab, target, *arguments)
    return Outcome(title, functions, lab.runs[key])


def launch(lab: Lab, target: Path, *arguments: str) -> Run:
    folder = lab.folder / "-".join(["every-call", *arguments])
    command = [str(target), *arguments]
    try:
        run = lab.launch(2, command, folder, preload=str(lab.shim))
    except subprocess.TimeoutExpired as error:
        last = (error.stderr or b"").decode().splitlines()[-4:]
        pytest.fail(f"hangs in {last}")
    assert run.exit_code == 0, "\n".join(run.errors.splitlines()[-20:])
    return run


def records(trace: Trace) -> Counter[str]:
    """Count what stands in a trace by function, events and passed calls alike."""
    return Counter(e.function for e in trace.events) + Counter(trace.counts)


def test_each_call_leaves_one_record(lab: Lab) -> None:
    result = outcome(lab)
    made = {c.function.name for c in calls(result.functions, result.mpi)}
    expected = Counter({*made, "MPI_Init", "MPI_Finalize"})
    for trace in result.run.traces:
        assert trace.clean
        assert sorted((expected - records(trace)).elements()) == []
        assert sorted((records(trace) - expected).elements()) == []


def test_events_and_counts_are_what_the_table_says(lab: Lab) -> None:
    result = outcome(lab)
    counted = {f.name for f in result.functions if is_counted(f)}
    for trace in result.run.traces:
        assert set(trace.counts) <= counted
        assert not {e.function for e in trace.events} & counted


def test_only_calls_that_are_known_to_fail_fail(lab: Lab) -> None:
    result = outcome(lab)
    known = names("fails", result.mpi)
    assert {n: why for n, why in result.failed.items() if n not in known} == {}
    for trace in result.run.traces:
        failed = {e.function for e in trace.events if e.has(FAILED)}
        assert failed <= set(known)


def differences(trace: Trace, event: Event, values: dict[str, str]) -> list[str]:
    """Compare an event with the arguments, named by their roles."""
    found = []
    for role, text in values.items():
        if role in TYPES and text == TYPES[role]:
            recorded = trace.type_name(getattr(event, role))
            if recorded != TYPES[role]:
                found.append(f"{event.function}: {role} is {recorded}")
        if role in ROLES and text == ROLES[role][0]:
            recorded = getattr(event, role)
            if recorded != ROLES[role][1]:
                found.append(f"{event.function}: {role} is {recorded}")
    return found


def test_events_hold_the_arguments_of_their_calls(lab: Lab) -> None:
    result = outcome(lab)
    passed = {
        c.function.name: {
            a.role: c.values[a.name] for a in c.function.arguments if a.by_value
        }
        for c in calls(result.functions, result.mpi)
    }
    for trace in result.run.traces:
        found = [
            line
            for event in trace.events
            if event.function in passed and not event.has(FAILED)
            for line in differences(trace, event, passed[event.function])
        ]
        assert found == []


def test_nearly_all_wrapped_functions_are_called(lab: Lab) -> None:
    result = outcome(lab)
    made = {c.function.name for c in calls(result.functions, result.mpi)} | {*FRAME}
    share = len(made) / len(result.functions)
    print(f"{result.mpi}: {len(made)} of {len(result.functions)} called, {share:.1%}")
    assert share > 0.95


def test_init_thread_leaves_one_event(lab: Lab) -> None:
    result = outcome(lab, "threads")
    for trace in result.run.traces:
        assert records(trace) == Counter(["MPI_Init_thread", "MPI_Finalize"])


def test_exceptions_name_functions_of_the_table() -> None:
    known = {f.name for f in read_table()}
    for section in ("not_called", "fails", "crashes"):
        assert set(names(section)) <= known
