"""Keep every run of a skeleton as it ends, for a call that goes on with them."""

from __future__ import annotations

import hashlib
import logging
import platform
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from skelgen.documents import Field
from skelgen.launch.json_lines import JsonLines
from skelgen.prediction.calibrate import CalibrationTurn
from skelgen.prediction.trials import NodeSet, TrialProgram, Trials, name_of
from skelgen.prediction.types import Timed
from skelgen.progress import NOTE

logger = logging.getLogger(__name__)

#: What is kept of a run beside its time, where it is known.
_OF_RUN = ("queued_s", "computing", "computed_s", "took_s")


def keep_runs(
    trials: Trials,
    programs: Sequence[TrialProgram],
    sets: Sequence[NodeSet],
    path: Path,
    *,
    resume: bool,
) -> None:
    """Write every run down as it ends; take up those of the call before.

    Parameters
    ----------
    trials : Trials
        None was made yet.
    programs : sequence of TrialProgram
    sets : sequence of NodeSet
    path : Path
        The file that has a line for each run.
    resume : bool
        Go on with its runs of these programs on these sets; else it starts empty.
    """
    lines = JsonLines(path)
    keys = {program.binary: (digest(program), program.mpi) for program in programs}
    if resume:
        binaries = {key: binary for binary, key in keys.items()}
        _take_up(
            trials, lines.read(), binaries, {_name(hosts): hosts for hosts in sets}
        )
    lines.begin(keep=resume)

    def made(program: TrialProgram, hosts: NodeSet, run: Timed) -> None:
        skeleton, mpi = keys[program.binary]
        known = {"skeleton": skeleton, "mpi": mpi, "hosts": _name(hosts)}
        told = {name: getattr(run, name) for name in _OF_RUN}
        lines.append({**known, "seconds": run.time_s, **told})

    trials.made = made


def keep_turns(
    path: Path, same: Mapping[str, object], *, resume: bool
) -> tuple[list[CalibrationTurn], Callable[[CalibrationTurn], None]]:
    """Return the turns of application and skeleton so far, and what adds another.

    Parameters
    ----------
    path : Path
        The file that has a line for each turn.
    same : mapping of str to object
        What a turn of the call before must agree in.
    resume : bool
        Go on with the turns of the call before; else the file starts empty.
    """
    lines = JsonLines(path)
    turns: list[CalibrationTurn] = []
    if resume:
        for line in lines.read():
            if same.items() <= line.value.items():
                turns.append(_turn(line))
        _tell_taken_up(len(turns))
    lines.begin(keep=resume)

    def add(turn: CalibrationTurn) -> None:
        turns.append(turn)
        whole = turn.application
        lines.append(
            {
                **same,
                "application_s": None if whole is None else whole.time_s,
                "application_queued_s": None if whole is None else whole.queued_s,
                "skeleton_s": turn.skeleton.time_s,
                "skeleton_queued_s": turn.skeleton.queued_s,
                "skeleton_computing": turn.skeleton.computing,
                "skeleton_computed_s": turn.skeleton.computed_s,
            }
        )

    return turns, add


def _turn(line: Field) -> CalibrationTurn:
    fields = line.mapping(("application_s", "skeleton_s"), None)
    whole = None if fields["application_s"].is_null() else _timed(fields, "application")
    return CalibrationTurn(whole, _timed(fields, "skeleton"))


def _timed(fields: Mapping[str, Field], name: str) -> Timed:
    return Timed(
        fields[f"{name}_s"].positive(),
        _known(fields.get(f"{name}_queued_s")),
        _known(fields.get(f"{name}_computing")),
        _known(fields.get(f"{name}_computed_s")),
    )


def _known(field: Field | None) -> float | None:
    return None if field is None or field.is_null() else field.amount()


def digest(program: TrialProgram) -> str:
    """Return what tells a program from others, and from itself before a change."""
    return hashlib.sha256(program.binary.read_bytes()).hexdigest()[:16]


def _name(hosts: NodeSet) -> str:
    """Return the name of a node set: another machine is another set."""
    return name_of(hosts) if hosts else platform.node()


def _take_up(
    trials: Trials,
    lines: Sequence[Field],
    binaries: Mapping[tuple[str, str], Path],
    sets: Mapping[str, NodeSet],
) -> None:
    taken = 0
    for line in lines:
        run = line.mapping(("skeleton", "mpi", "hosts", "seconds"), None)
        binary = binaries.get((run["skeleton"].text(), run["mpi"].text()))
        hosts, seconds = sets.get(run["hosts"].text()), run["seconds"].positive()
        told = Timed(seconds, **{name: _known(run.get(name)) for name in _OF_RUN})
        if binary and hosts is not None:
            trials.runs.setdefault((binary, hosts), []).append(told)
            taken += 1
    _tell_taken_up(taken)


def _tell_taken_up(runs: int) -> None:
    logger.log(NOTE, "going on after %d runs of the call before", runs)
