"""Run one random C program: plain, recorded, and as skeletons of several lengths.

A program prints a checksum of all that it received. The recorder changes nothing when
the checksum of the recorded run is that of the plain one; each skeleton has to compile
without a warning and to end, and one of them is recorded: it makes the planned calls.
"""

from __future__ import annotations

import hashlib
import json
import re
import tomllib
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from skelgen.errors import SkelgenError, UsageError
from skelgen.launch.mpi import Mpi, compiler_version
from skelgen.launch.process import Finished, run
from skelgen.launch.shim import shim
from skelgen.pipeline.signatures import read_signature
from skelgen.reference.compiled_program import COMPILER_FLAGS
from skelgen.signature import Signature
from skelgen.skeleton.emit.skeleton_files import render
from skelgen.skeleton.plan import plan
from tests.c_warnings import WARNINGS
from tests.mpis import TestMpi
from tests.plans import CALIBRATION
from tests.random_c.draw import Drawn, draw
from tests.random_c.kept import differences
from tests.random_c.parts import Kind, possible
from tests.random_c.text import text_of

#: K of the skeletons of each program.
FACTORS = (1.2, 2.0, 5.0)
#: The one whose calls are counted, by recording it, and compared with the plan.
COMPARED = 2.0
#: Longest time of a run [s]: what takes seconds otherwise and stands behind others.
LIMIT_S = 90.0
#: Failures of a program or its MPI, not of skelgen: it was not even recorded then, or
#: is not the same twice.
NOT_OURS = ("compile", "program", "unsteady")

#: Of the program itself: constants of the libraries' headers look too small to gcc.
_PROGRAM_FLAGS = ("-O0", "-pthread", "-Wno-stringop-overflow", "-Wno-stringop-overread")


@dataclass
class Outcome:
    """What became of a program.

    Attributes
    ----------
    seed, ranks : int
    mpi : str
    text : str
        Which text the program has.
    kinds : list of str
    begin : str
        How MPI is opened.
    calls : int
        Recorded, all ranks.
    checked : bool
        Whether the recorded run had the checksum of the plain one.
    skeletons, ended : int
        Built, and run to their end.
    refused : dict of str to str
        Why there is no skeleton, by K.
    left_out : list of str
        Functions that a skeleton leaves out, and why.
    failure : str
        The stage that failed, empty when all is well.
    detail : str
        What was said then.
    """

    seed: int
    mpi: str
    text: str
    ranks: int
    kinds: list[str]
    begin: str
    calls: int = 0
    checked: bool = False
    skeletons: int = 0
    ended: int = 0
    refused: dict[str, str] = field(default_factory=dict)
    left_out: list[str] = field(default_factory=list)
    failure: str = ""
    detail: str = ""

    def facts(self) -> dict[str, Any]:
        """Return what a file of results keeps."""
        return asdict(self)


class TrialError(Exception):
    """A stage of a trial failed: its name, and what was said."""


@dataclass(frozen=True)
class Bench:
    """An MPI, the kinds of step it has, and its recorder.

    Attributes
    ----------
    mpi : TestMpi
    name : str
        Such as ``mpich 5.0.2``.
    kinds : sequence of Kind
    lacking : dict of str to str
        Why it does not have the others, by name.
    in_sessions : frozenset of str
        Kinds that work where it was opened by sessions only.
    recorder : Path
    """

    mpi: TestMpi
    name: str
    kinds: Sequence[Kind]
    lacking: dict[str, str]
    in_sessions: frozenset[str]
    recorder: Path

    def program(self, seed: int) -> Drawn:
        """Draw a program of the kinds of step that this MPI has."""
        drawn = draw(seed, self.kinds, in_sessions=self.in_sessions)
        called = set().union(*(step.kind.functions for step in drawn.steps))
        rows = about(self.name, "first")
        first = [row["calls"] for row in rows if called.intersection(row["functions"])]
        return replace(drawn, first=tuple(first))

    def fingerprint(self, seed: int) -> str:
        """Say which text a program has: seeds mean others when kinds change."""
        text = text_of(self.program(seed))
        return hashlib.sha256(text.encode()).hexdigest()[:12]


def bench_of(mpi: TestMpi) -> Bench:
    """Find out what an MPI can do."""
    kind, version = compiler_version(mpi.compiler)
    name = f"{kind.value} {version}"
    line = [str(mpi.compiler), "-E", "-x", "c", "-include", "mpi.h", "/dev/null"]
    declared = set(re.findall(r"\b(MPI_\w+) *\(", run(line).output))
    kinds, lacking = possible(declared, broken(name))
    names = {one.name for one in kinds if "MPI_Session_init" in declared}
    in_sessions = names.difference(broken(name, "in_sessions"))
    recorder = shim(Mpi(kind, version, Path(mpi.launcher[0]), mpi.compiler))
    return Bench(mpi, name, kinds, lacking, frozenset(in_sessions), recorder)


def about(name: str, section: str) -> list[dict[str, Any]]:
    """Return what ``broken.toml`` says of an MPI such as ``mpich 5.0.2``."""
    rows = tomllib.loads(Path(__file__).with_name("broken.toml").read_text())[section]
    return [row for row in rows if name.startswith(tuple(row["mpis"]))]


def settings(name: str) -> dict[str, str]:
    """Return the variables that an MPI needs to work."""
    rows = about(name, "setting")
    return {key: text for row in rows for key, text in row["variables"].items()}


def broken(name: str, section: str = "broken") -> set[str]:
    """Return the kinds that do not work with an MPI.

    The section ``in_sessions`` has those that fail where sessions opened it.
    """
    return {kind for row in about(name, section) for kind in row["kinds"]}


def trial(bench: Bench, seed: int, folder: Path) -> Outcome:
    """Try one random program.

    Parameters
    ----------
    bench : Bench
    seed : int
        Of the program: with the same kinds of step it is the same program.
    folder : Path
        An empty folder; what is in it afterwards shows what happened.
    """
    program = bench.program(seed)
    text = bench.fingerprint(seed)
    outcome = Outcome(
        seed, bench.name, text, program.ranks, program.kinds, program.begin
    )
    try:
        _Trial(bench, program, folder, outcome).whole()
    except TrialError as error:
        outcome.failure, outcome.detail = error.args
    return outcome


class _Trial:
    """One program in its folder."""

    def __init__(
        self, bench: Bench, program: Drawn, folder: Path, outcome: Outcome
    ) -> None:
        self.bench, self.program, self.folder = bench, program, folder
        self.outcome, self.mpi = outcome, bench.mpi

    def whole(self) -> None:
        (self.folder / "program.c").write_text(text_of(self.program))
        self._compile("program", "-std=c11", *_PROGRAM_FLAGS)
        plain = self._checksum("program", {})
        recorded = self._checksum("recorded", self._recording("program"))
        if recorded != plain:
            again = {self._checksum("program", {}) for _ in range(3)}
            stage = "checksum" if again == {plain} else "unsteady"
            raise TrialError(stage, f"{plain} alone, {recorded} recorded, then {again}")
        self.outcome.checked = True
        signature = self._signature()
        for factor in FACTORS:
            self._skeleton(signature, factor)

    def _signature(self) -> Signature:
        try:
            signature, _ = read_signature(
                self.folder / "program.run",
                similarity_threshold=None,
                scaling_factor=None,
                target_s=None,
            )
        except SkelgenError as error:
            raise TrialError("signature", str(error)) from error
        self.outcome.calls = signature.events
        self.outcome.left_out = sorted({what for what, _, _ in signature.dropped})
        return signature

    def _skeleton(self, signature: Signature, factor: float) -> None:
        name = f"skeleton-{factor:g}"
        try:
            made = plan(signature, factor)
            text = render(made, calibration=CALIBRATION)["skeleton.c"]
        except SkelgenError as error:
            if not self._may_refuse(error):
                raise TrialError("plan", f"K = {factor:g}: {error}") from error
            self.outcome.refused[f"{factor:g}"] = str(error)
            return
        (self.folder / f"{name}.c").write_text(text)
        self.outcome.skeletons += 1
        self._compile(name, *COMPILER_FLAGS, "-O0", stage="skeleton warns")
        compared = factor == COMPARED
        recording = self._recording(name) if compared else {}
        done = self._run(name, recording, "--check")
        report = [line for line in done.output.splitlines() if line.startswith("{")]
        if done.timed_out or done.exit_code or not report:
            raise TrialError("skeleton", f"K = {factor:g}: {_said(done)}")
        if json.loads(report[-1])["ranks"] != self.program.ranks:
            raise TrialError("skeleton", f"K = {factor:g}: {report[-1]}")
        self.outcome.ended += 1
        if compared and (others := differences(made, self.folder / f"{name}.run")):
            raise TrialError("kept", f"K = {factor:g}: planned and made: {others}")

    def _recording(self, name: str) -> dict[str, str]:
        folder = str(self.folder / f"{name}.run")
        return {"LD_PRELOAD": str(self.bench.recorder), "SKELGEN_DIR": folder}

    def _may_refuse(self, error: SkelgenError) -> bool:
        """Say whether there need be no skeleton: the program is too short for K.

        Or its threads wait for each other: a skeleton has one for each rank.
        """
        return isinstance(error, UsageError) or self.program.begin == "threads"

    def _compile(self, name: str, *flags: str, stage: str = "compile") -> None:
        line = [str(self.mpi.compiler), *WARNINGS, *flags, "-o", name, f"{name}.c"]
        done = run(line, folder=self.folder, timeout_s=LIMIT_S)
        if done.exit_code:
            raise TrialError(stage, f"{name}: {_said(done)}")

    def _run(self, name: str, more: dict[str, str], *words: str) -> Finished:
        ranks = ["-n", str(self.program.ranks)]
        line = [*self.mpi.launcher, *ranks, f"./{name}", *words]
        variables = {**settings(self.bench.name), **more}
        return run(line, folder=self.folder, timeout_s=LIMIT_S, environment=variables)

    def _checksum(self, stage: str, more: dict[str, str]) -> str:
        done = self._run("program", more)
        found = re.findall(r"^checksum (\w+)$", done.output, re.MULTILINE)
        if done.timed_out or done.exit_code or len(found) != 1:
            raise TrialError(stage, _said(done))
        return str(found[0])


def _said(done: Finished) -> str:
    """Say how a command ended, in a few lines."""
    how = f"no end in {LIMIT_S:g} s" if done.timed_out else f"exit {done.exit_code}"
    lines = [line for line in f"{done.errors}\n{done.output}".splitlines() if line]
    return " | ".join([how, *lines[:12]])[:2000]
