"""Errors with exit codes.

Every message is one line and holds what was read, what was expected and what to
do. Only ``cli.main`` turns an error into an exit code.
"""

from __future__ import annotations

from enum import IntEnum


class ExitCode(IntEnum):
    """Exit codes of the command line, one for each kind of outcome."""

    OK = 0
    INTERNAL = 1
    USAGE = 2
    INPUT = 3
    ENVIRONMENT = 4
    APPLICATION = 5
    UNTRUSTED = 6
    NODES = 7
    INTERRUPTED = 130


class SkelgenError(Exception):
    """Base of every error that a user can cause or mend."""

    exit_code = ExitCode.INTERNAL


class UsageError(SkelgenError):
    """The command's words do not fit: an option, a scale, an output folder."""

    exit_code = ExitCode.USAGE


class InputError(SkelgenError):
    """A file that was read is damaged, incomplete or of the wrong kind."""

    exit_code = ExitCode.INPUT


class NoFileError(InputError):
    """There is no such file; some files need not be there."""


class MachineError(SkelgenError):
    """The machine lacks something: an MPI, a compiler, a launcher."""

    exit_code = ExitCode.ENVIRONMENT


class ApplicationError(SkelgenError):
    """The application, the skeleton or a tool that was started failed."""

    exit_code = ExitCode.APPLICATION


class NotBegunError(ApplicationError):
    """It was given up before it was given hosts; they need not be the cause."""


class UntrustedError(SkelgenError):
    """The result lies outside the trusted range and ``--strict`` was given."""

    exit_code = ExitCode.UNTRUSTED


class NodesError(SkelgenError):
    """There are not enough nodes for the ranks that are needed."""

    exit_code = ExitCode.NODES
