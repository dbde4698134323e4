"""Take a launch command of a user apart: launcher, its options, the program."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from skelgen.errors import MachineError, UsageError
from skelgen.launch.elf import MpiLibrary, mpi_library
from skelgen.launch.launchers import Launcher, Srun, launcher_of
from skelgen.launch.mpi import Mpi, MpiKind, identify_launcher, program, programs

_MPIRUN = re.compile(
    r"(mpirun|mpiexec)([.-](mpich|openmpi|hydra|gforker))?|orterun|prterun"
)


@dataclass(frozen=True, slots=True)
class LaunchCommand:
    """A launch command in its parts.

    Attributes
    ----------
    before : tuple of str
        Words in front of the launcher, such as ``env`` or ``numactl``.
    launcher : Launcher or None
        With the options that do not say where ranks run; None when the program is
        started without a launcher that is known.
    options : tuple of str
        All words between launcher and program, as typed.
    ranks : int or None
        None when the command does not say it.
    program : tuple of str
        The program and its arguments.
    mpi : Mpi or None
        The MPI of the launcher, where that can be told.
    """

    before: tuple[str, ...]
    launcher: Launcher | None
    options: tuple[str, ...]
    ranks: int | None
    program: tuple[str, ...]
    mpi: Mpi | None

    def starts(self, ranks: int) -> bool:
        """Say whether it starts one program on so many ranks, as far as it tells."""
        return ":" not in self.program and self.ranks in (None, ranks)

    def says(self, ranks: int) -> bool:
        """Say whether it starts one program on so many ranks wherever it is typed.

        Without a number of ranks or hosts a launcher takes what its batch job has.
        """
        grammar = None if self.launcher is None else self.launcher.grammar
        names = [word.partition("=")[0] for word in self.options]
        placed = grammar is None or any(name in grammar.places for name in names)
        return self.starts(ranks) and (placed or self.ranks is not None)

    def running(
        self,
        program: Sequence[str] | None = None,
        *,
        variables: Mapping[str, str] | None = None,
    ) -> list[str]:
        """Return the command as typed, with another program or with variables.

        Parameters
        ----------
        program : sequence of str, optional
            Runs in place of the command's own.
        variables : mapping, optional
            Environment of the ranks, and only of them. Without a launcher that is
            known the caller sets them for the whole command.
        """
        program = self.program if program is None else program
        if self.launcher is None:
            return [*self.before, *program]
        inner = self.launcher.typed(self.options, variables or {})
        return [*self.before, *inner, *program]


def parse_command(
    command: Sequence[str], *, program_needed: bool = True
) -> LaunchCommand:
    """Take a launch command apart.

    Parameters
    ----------
    command : sequence of str
    program_needed : bool
        Whether its program must exist here.

    Raises
    ------
    UsageError
        When there is no program in it.
    MachineError
        When its launcher or its program does not exist.
    """
    if not command:
        raise UsageError(
            "no command to run: write it after --, as in -- mpirun -n 2 ./app"
        )
    at = _launcher_index(command)
    if at is None:
        if program_needed:
            _check_program(command[0])
        return LaunchCommand((), None, (), None, tuple(command), None)
    name, words = command[at], command[at + 1 :]
    mpi = None if Path(name).name == "srun" else _choose(name, words)
    launcher: Launcher = Srun((_launcher_path(name),))
    if mpi is not None:
        launcher = launcher_of(mpi)
    kept, ranks, inner = _split(words, launcher)
    if not inner:
        raise UsageError(f"{' '.join(command)}: no program after the launcher's words")
    if program_needed:
        _check_program(inner[0])
    return LaunchCommand(
        before=tuple(command[:at]),
        launcher=launcher.with_words([*launcher.words, *kept]),
        options=tuple(words[: len(words) - len(inner)]),
        ranks=ranks,
        program=tuple(inner),
        mpi=mpi,
    )


def program_words(command: Sequence[str], kind: MpiKind) -> list[str]:
    """Return program and arguments of a launch that is only read, never run.

    To learn of its launcher nothing is started: it may be anybody's program.

    Parameters
    ----------
    command : sequence of str
    kind : MpiKind
        The MPI of the recording, which says what the launcher's options mean.

    Raises
    ------
    UsageError
        When its number of ranks is none.
    """
    at = _launcher_index(command)
    if at is None:
        return list(command)
    name = command[at]
    launcher: Launcher = Srun((name,))
    if Path(name).name != "srun":
        launcher = launcher_of(Mpi(kind, "", Path(name), None), root=False)
    return _split(command[at + 1 :], launcher)[2]


def _launcher_index(command: Sequence[str]) -> int | None:
    """Find the launcher among the first words.

    Words in front of it are other commands with their options (``env A=1``), so
    the first name of a launcher is taken, but never an argument of a shell.
    """
    for at, word in enumerate(command):
        name = Path(word).name
        if name == "srun" or _MPIRUN.fullmatch(name):
            return at
        if name in ("sh", "bash", "zsh", "python", "python3") or at >= 8:
            return None
    return None


def _launcher_path(name: str) -> str:
    path = program(name)
    if path is None:
        raise MachineError(
            f"no {name} on PATH; install an MPI, for instance with: pip install mpich"
        )
    return str(path)


def _choose(name: str, words: Sequence[str]) -> Mpi:
    """Choose among the launchers of this name the one of the program's MPI."""
    _launcher_path(name)
    found = [identify_launcher(path) for path in programs(name)]
    for mpi in found:
        inner = _split(words, launcher_of(mpi))[2]
        library = linked_mpi(inner[0]) if inner else None
        if library is not None and library.kind is mpi.kind:
            return mpi
    return found[0]


def _split(
    words: Sequence[str], launcher: Launcher
) -> tuple[list[str], int | None, list[str]]:
    """Split the words after a launcher into kept options, ranks and program."""
    kept: list[str] = []
    ranks: int | None = None
    at = 0
    while at < len(words) and words[at].startswith("-"):
        option, equals, value = _option(words[at], launcher)
        width = launcher.grammar.width(option)
        if width is None:
            width = 0 if equals else _guess(words, at)
        following = 0 if equals else width
        taken = list(words[at : at + 1 + following])
        at += 1 + following
        if option in launcher.grammar.ranks:
            ranks = _count(option, value if equals else taken[-1])
        elif option not in launcher.grammar.places and option not in launcher.words:
            kept += taken
    if ranks is None and isinstance(launcher, Srun):
        ranks = _number(os.environ.get("SLURM_NTASKS", ""))
    return kept, ranks, list(words[at:])


def _option(word: str, launcher: Launcher) -> tuple[str, str, str]:
    """Split ``--nodes=2``, and ``-N2`` as Slurm allows it, into option and value."""
    short, value = word[:2], word[2:]
    if isinstance(launcher, Srun) and value and launcher.grammar.width(short):
        return short, "=", value.removeprefix("=")
    return word.partition("=")


def _guess(words: Sequence[str], at: int) -> int:
    """Guess whether an unknown option takes the next word: not when that runs."""
    following = words[at + 1 : at + 3]
    if len(following) < 2 or following[0].startswith("-"):
        return 0
    return 0 if program(following[0]) is not None else 1


def _number(text: str) -> int | None:
    return int(text) if text.isdecimal() and int(text) > 0 else None


def _count(option: str, text: str) -> int:
    count = _number(text)
    if count is None:
        raise UsageError(f"{option} {text}: the number of ranks is a positive number")
    return count


def _check_program(name: str) -> None:
    if program(name) is None:
        where = "does not exist or is not executable" if "/" in name else "not on PATH"
        raise MachineError(f"cannot run {name}: {where}")


def linked_mpi(name: str) -> MpiLibrary | None:
    """Return the MPI library of a program by name, None when it cannot be told."""
    path = program(name)
    return None if path is None else mpi_library(path)


def check_library(command: LaunchCommand) -> None:
    """Refuse a program that is linked to another MPI than its launcher's.

    Raises
    ------
    MachineError
        When the two differ: every rank would run alone.
    """
    library = linked_mpi(command.program[0])
    if library is None or command.mpi is None:
        return
    kinds = {library.kind, command.mpi.kind}
    if len(kinds) == 2 and MpiKind.UNKNOWN not in kinds:
        raise MachineError(
            f"{command.program[0]} is linked to {library.kind.title} ({library.name}), "
            f"but {command.mpi.launcher} is of {command.mpi.title}; use the mpirun of "
            f"{library.kind.title}"
        )
