"""The file of results: one JSON line for each run, only ever appended to."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from skelgen.errors import InputError
from skelgen.launch.json_lines import JsonLines

#: What was run: the application, its small input, skeletons by how they are built.
APPLICATION, SMALL = "application", "small"
SKELETON, FITTED, TOUCHED = "skeleton", "fitted", "touched"
PAPER = "paper2005"
METHODS = (SKELETON, FITTED, TOUCHED, PAPER)

#: A run is disturbed when others on its host took more of this machine's time [1]: one
#: that lost 37 % took 5.6 s, its equals 2.3 s. Beside that hour it was at most 3.7 %.
DISTURBED = 0.05

#: Options that must not change within one file.
SETTINGS = ("hosts", "quiet", "slow", "stretch")


@dataclass(frozen=True, slots=True)
class Key:
    """Which run a line tells of.

    Attributes
    ----------
    application, scenario, what : str
    length_s : float
        Wanted time of the skeleton, 0 where it is none [s].
    repeat : int
    """

    application: str
    scenario: str
    what: str
    length_s: float
    repeat: int


@dataclass(frozen=True, slots=True)
class Run:
    """What a run took.

    Attributes
    ----------
    seconds : float
        Between Init and Finalize [s].
    mpi_share : float
        Time inside MPI of the time of all ranks [1].
    steal : float
        Part of this machine's time that went to others on its host [1].
    part : float
        Of the application's time that a skeleton was built to take [1]; 0 for others.
    """

    seconds: float
    mpi_share: float = 0.0
    steal: float = 0.0
    part: float = 0.0

    @property
    def disturbed(self) -> bool:
        """Say whether the run tells more of other guests than of what was run."""
        return self.steal > DISTURBED


@dataclass(frozen=True, slots=True)
class Refusal:
    """A skeleton that cannot be built, or run in a scenario, and why."""

    application: str
    scenario: str
    what: str
    length_s: float
    why: str


@dataclass(frozen=True, slots=True)
class Results:
    """What a file holds.

    Attributes
    ----------
    measured : dict of Key to Run
    provenance : tuple of dict
        Machine, MPI, limits and versions; one for each call of the program.
    refused : tuple of Refusal
    """

    measured: dict[Key, Run]
    provenance: tuple[dict[str, Any], ...] = ()
    refused: tuple[Refusal, ...] = ()

    def found(self, *fields: Any) -> tuple[Run, ...]:
        """Return all repeats of application, scenario, what, length."""
        repeats = {
            key.repeat: run
            for key, run in self.measured.items()
            if (key.application, key.scenario, key.what, key.length_s) == fields
        }
        return tuple(repeats[repeat] for repeat in sorted(repeats))

    def runs(self, *fields: Any) -> tuple[float, ...]:
        """Return the times of all repeats [s]."""
        return tuple(run.seconds for run in self.found(*fields))

    def names(self, field: str) -> list[Any]:
        """Return what occurs in a field, in order of first appearance."""
        return list(dict.fromkeys(getattr(key, field) for key in self.measured))


def read(path: Path) -> Results:
    """Read a file of results; a missing one is empty, of equal runs the last counts.

    Raises
    ------
    InputError
        When a line is something else.
    """
    measured, provenance, refused = {}, [], []
    for number, line in enumerate(JsonLines(path).values(), 1):
        try:
            if "provenance" in line:
                provenance.append(dict(line["provenance"]))
            elif "refused" in line:
                refused.append(Refusal(**line["refused"]))
            else:
                run = Run(**line.pop("run"))
                measured[Key(**line)] = run
        except (KeyError, TypeError, ValueError) as error:
            raise InputError(
                f"{path} line {number} is no run of this benchmark ({error}); name "
                "another file with --results"
            ) from error
    return Results(measured, tuple(provenance), tuple(dict.fromkeys(refused)))


def read_all(path: Path) -> Results:
    """Read a file of results, or all files of a folder.

    Each may be of another machine and build: errors can be compared, times cannot. So
    all runs of an application in a scenario, and with it the quiet ones that it is
    compared with, have to stand in one.

    Raises
    ------
    InputError
        When a line is something else, or an application was run in a scenario in two
        files.
    """
    if not path.is_dir():
        return read(path)
    files = {file: read(file) for file in sorted(path.glob("*.jsonl"))}
    begun = sorted(files.items(), key=lambda pair: _begin(pair[1]))
    measured: dict[Key, Run] = {}
    for file, one in begun:
        if twice := sorted(_cases(measured) & _cases(one.measured)):
            name, scenario = twice[0]
            raise InputError(
                f"{file} has runs of {name}, {scenario}, and so has another file of "
                f"{path}; name one file with --results"
            )
        measured |= one.measured
    return Results(
        measured,
        tuple(facts for _, one in begun for facts in one.provenance),
        tuple(why for _, one in begun for why in one.refused),
    )


def _cases(measured: Mapping[Key, Run]) -> set[tuple[str, str]]:
    return {(key.application, key.scenario) for key in measured}


def _begin(results: Results) -> str:
    return min((str(facts.get("at", "")) for facts in results.provenance), default="")


def options_of(settings: Mapping[str, Any] | None) -> str:
    """Write settings as the options that a run needs to go on with a file."""
    known = settings or {}
    return " ".join(f"--{name} {known[name]}" for name in SETTINGS if name in known)


class Log:
    """Appends to a file of results."""

    def __init__(self, path: Path) -> None:
        self._lines = JsonLines(path)
        self._lines.begin(keep=True)

    def provenance(self, facts: dict[str, Any]) -> None:
        """Write down where and with what the following runs are made."""
        self._lines.append({"provenance": facts})

    def run(self, key: Key, run: Run) -> None:
        """Write down one run."""
        rounded = {name: round(value, 5) for name, value in asdict(run).items()}
        self._lines.append({**asdict(key), "run": rounded})

    def refused(self, refusal: Refusal) -> None:
        """Write down that a skeleton cannot be had."""
        self._lines.append({"refused": asdict(refusal)})
