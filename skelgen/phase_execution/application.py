"""The application of a phase signature, as it is launched again."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from skelgen.errors import InputError, UsageError
from skelgen.launch.command import (
    LaunchCommand,
    check_library,
    parse_command,
    program_words,
)
from skelgen.launch.consent import (
    NO_CONSENT,
    Consent,
    existing_folder,
    launch_to_lend,
    launch_to_run,
)
from skelgen.launch.files import changed_files, file_hashes
from skelgen.launch.host_runner import Runner
from skelgen.launch.hosts import Host
from skelgen.launch.launchers import Launcher, launcher_of
from skelgen.launch.mpi import MpiKind, kind_of
from skelgen.launch.own_launches import OwnLaunch, Pairs
from skelgen.launch.record import (
    missing_settings,
    setting_differences,
    unset_settings,
)
from skelgen.launch.secrets import hidden
from skelgen.launch.shim import mpi_of
from skelgen.phase_execution.interface import Application
from skelgen.phases.stored import PhaseSignature
from skelgen.trust import Doubt


def application_of(
    signature: PhaseSignature,
    command: Sequence[str],
    *,
    hosts: Sequence[Host] = (),
    runner_of: Callable[[Launcher], Runner] | None = None,
    workspace: Path | None = None,
    consent: Consent = NO_CONSENT,
) -> tuple[Application, tuple[Doubt, ...]]:
    """Return the application as it is to be launched, and what is doubtful about that.

    Parameters
    ----------
    signature : PhaseSignature
    command : sequence of str
        Its launch; that of the recording, in the folder of the recording, when empty:
        the user's own, or one that the user agrees to.
    hosts : sequence of Host
        With the ranks of each; where the command says when empty.
    runner_of : callable, optional
        Makes of the launcher what starts it on hosts.
    workspace : Path, optional
        Folder that all hosts see.
    consent : Consent
        To a launch that is not the user's own.

    Raises
    ------
    UsageError
        When no launch is known or allowed, or it starts another number of ranks.
    InputError
        When the recorded program or its input is missing or has changed.
    MachineError
        When launcher or program of `command` is not here.
    """
    chosen, environment = _chosen(signature, command, consent)
    folder = existing_folder(chosen)
    with contextlib.chdir(folder or Path.cwd()):
        launch = _absolute(parse_command(chosen.command))
        check_library(launch)
        doubts = _doubts(signature, launch, dict(environment), given=bool(command))
        launcher = launch.launcher or launcher_of(mpi_of(launch))
    if ":" in launch.program:
        raise UsageError(
            "the command launches several programs (:), whose phases cannot be "
            "executed; predict with a skeleton instead: skelgen build RUN --scale K"
        )
    if launch.ranks not in (None, signature.ranks):
        raise UsageError(
            f"the command starts {launch.ranks} ranks, the phase signature is of "
            f"{signature.ranks}; record the application with {launch.ranks}"
        )
    application = Application(
        launch=launch,
        ranks=signature.ranks,
        folder=folder,
        environment=tuple(missing_settings(dict(environment)).items()),
        hosts=tuple(hosts),
        runner=runner_of(launcher) if runner_of is not None else None,
        workspace=workspace,
        files=tuple(name for name, _ in signature.files),
    )
    if not application.elsewhere:
        _check_input(signature, application)
    return application, doubts


def _chosen(
    signature: PhaseSignature, command: Sequence[str], consent: Consent
) -> tuple[OwnLaunch, Pairs]:
    """Return the launch to execute, and the settings of the recording that it gets."""
    about, source = signature.provenance, "the phase signature"
    recorded = OwnLaunch(
        about.command, signature.folder, signature.environment, signature.files
    )
    if command:
        lent = launch_to_lend(recorded, consent, source)
        typed = OwnLaunch(tuple(command), str(Path.cwd()))
        return typed, () if lent is None else lent.environment
    if not recorded.command:
        raise UsageError(
            "the launch of the application is not known, it was recorded by hand; give "
            "it after --, as in -- mpirun -n 2 ./app"
        )
    chosen = launch_to_run(recorded, consent, source)
    if changes := changed_files(list(dict.fromkeys((*chosen.files, *recorded.files)))):
        raise InputError(
            f"{changes[0]}; put back what was recorded, record it again, or name the "
            "program to measure after --"
        )
    return chosen, chosen.environment


def _check_input(signature: PhaseSignature, application: Application) -> None:
    """Refuse a launch that names a file as the recording did, which is not here."""
    recorded = {Path(name).name for name in application.files[1:]}
    written = {Path(name) for name in _written(signature)}
    for word in application.launch.program[1:]:
        file = application.place / word
        its_own = Path(signature.folder) / word in written
        if file.name in recorded and not its_own and not file.exists():
            raise InputError(
                f"{file} is missing, which the application read in the recording; copy "
                "it there, or name it after -- as it is called here"
            )


def _absolute(launch: LaunchCommand) -> LaunchCommand:
    """Name the program so that it is found from any folder."""
    name, *arguments = launch.program
    if "/" not in name:
        return launch
    return replace(launch, program=(str(Path(name).absolute()), *arguments))


def _written(signature: PhaseSignature) -> set[str]:
    """Return what was named in the recording without a hash: the program wrote it."""
    words = signature.provenance.command
    at = Path(signature.folder)
    return {str(at / word) for word in words} - set(dict(signature.files))


def _values(program: Sequence[str]) -> list[str]:
    """Return the arguments of a program that name no place."""
    return [word for word in program[1:] if "/" not in word]


def _recorded_program(signature: PhaseSignature, launch: LaunchCommand) -> list[str]:
    """Return program and arguments of the recording, to be compared with a launch."""
    command = signature.provenance.command
    if not command:
        return []
    try:
        return program_words(command, kind_of(signature.provenance.mpi))
    except UsageError:
        names = [Path(word).name for word in command]
        name = Path(launch.program[0]).name
        return [*command[names.index(name) if name in names else 0 :]]


def _doubts(
    signature: PhaseSignature,
    launch: LaunchCommand,
    environment: Mapping[str, str],
    *,
    given: bool,
) -> tuple[Doubt, ...]:
    doubts = []
    recorded_program = _recorded_program(signature, launch)
    if given and _values(hidden(launch.program)) != _values(recorded_program):
        doubts.append(
            Doubt(
                "other-arguments",
                "its arguments are not those of the recording",
                "record the application with these",
            )
        )
    if given and signature.files:
        digests, written = dict(signature.files).values(), _written(signature)
        for name, digest in file_hashes(launch.program):
            if digest not in digests and name not in written:
                text = f"{name} is not what was recorded: its phases may be others"
                doubts.append(Doubt("other-files", text, "record it again"))
    mpi, recorded = mpi_of(launch), kind_of(signature.provenance.mpi)
    if MpiKind.UNKNOWN not in (mpi.kind, recorded) and mpi.kind is not recorded:
        text = f"recorded with {signature.provenance.mpi}, run with {mpi.title}"
        doubts.append(Doubt("other-mpi", text, "record it with the MPI that runs it"))
    doubts += unset_settings(dict(signature.environment), environment)
    if signature.folder:
        doubts += setting_differences(dict(signature.environment))
    return tuple(doubts)
