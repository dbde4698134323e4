"""The entry point: options of all commands, logging, errors into exit codes."""

from __future__ import annotations

import logging
import os
import sys
import time
from functools import cache
from typing import Annotated, Any, ClassVar

import typer

from skelgen import __version__
from skelgen.cli.on_demand import CommandsOnDemand, LaterCommand
from skelgen.cli.options import Verbose
from skelgen.cli.output import complain, drop_output, shown, write_anything
from skelgen.documents.system import system_error
from skelgen.errors import ExitCode, MachineError, SkelgenError
from skelgen.progress import NOTE
from skelgen.units import format_seconds

logger = logging.getLogger(__name__)


class _Commands(CommandsOnDemand):
    """All commands, in the order of the help."""

    table = (
        LaterCommand(
            "record",
            "record",
            "Run a program under the recorder.",
            "skelgen record -o run/ -- mpirun -n 2 lmp -in in.lj",
            launches=True,
        ),
        LaterCommand(
            "shim",
            "shim",
            "Print the path of the recorder, compiling it first where needed.",
            "LD_PRELOAD=$(skelgen shim) SKELGEN_DIR=run mpirun -n 2 ./app",
        ),
        LaterCommand(
            "info",
            "info",
            "Show what was recorded: functions, call sites, communicators, time in "
            "MPI, loss.",
            "skelgen info run/",
        ),
        LaterCommand(
            "export",
            "export",
            "Write a recorded run in the format of another tool, to look at it there.",
            "skelgen export run/ --format perfetto",
        ),
        LaterCommand(
            "phases",
            "phases",
            "Show the phases of a run, compare those of two runs, or show the logical "
            "trace. Without the name of a command: show.",
        ),
        LaterCommand(
            "measure",
            "measure",
            "Execute the phases of an application and predict its time from theirs.",
            "skelgen measure sig/ -- mpirun -n 2 ./app",
        ),
        LaterCommand(
            "build",
            "build",
            "Build a skeleton: a short C/MPI program that behaves like the "
            "application.",
            "skelgen build run/ --scale 100 -o skel/",
        ),
        LaterCommand(
            "mix",
            "build",
            "Fit what computation consists of: run the application next to known "
            "competitors.",
            "skelgen mix run/ -- mpirun -n 2 ./app small",
        ),
        LaterCommand(
            "calibrate",
            "predict",
            "Measure the ratio application time / skeleton time on this machine.",
            "skelgen calibrate skel/ --runs 5",
        ),
        LaterCommand(
            "predict",
            "predict",
            "Run the skeleton on node sets and predict the application's time on each.",
            "skelgen predict skel/ --hosts n1,n2 --hosts n3:2",
        ),
        LaterCommand(
            "select",
            "select",
            "Order node sets by how long the application would take there now.",
            "skelgen select skel/ --nodes 2 --from n[1-4]",
        ),
        LaterCommand(
            "workload",
            "workload",
            "Predict the time at workloads that were not recorded.",
        ),
        LaterCommand(
            "system",
            "system",
            "What hosts and links can do: measure it, show it, compare hosts.",
        ),
        LaterCommand(
            "trust",
            "trust",
            "How far predictions are from the truth: learn it, show it.",
        ),
        LaterCommand(
            "monitor",
            "monitor",
            "Watch how busy nodes are: a small process on each keeps series.",
        ),
        LaterCommand(
            "forecast",
            "forecast",
            "Forecast how busy nodes will be over the time of a run.",
            "skelgen forecast --nodes n1,n2 --horizon 2h",
        ),
        LaterCommand(
            "store",
            "store",
            "What ran, how long it took, and what was predicted: kept for later.",
        ),
        LaterCommand(
            "model",
            "model",
            "How long sizes, ranks and loads take that nobody has run.",
        ),
        LaterCommand(
            "serve",
            "serve",
            "Show a store in a browser: runs, models, predictions, how long.",
        ),
        LaterCommand(
            "push",
            "push",
            "Send runs to a server that skelgen serve started, from any node.",
            "skelgen push https://site.example/skelgen run/ --input n=2000",
        ),
        LaterCommand(
            "pull",
            "pull",
            "Get runs or a model of a server as a file that other commands take.",
            "skelgen pull https://site.example/skelgen 3f2a -o run.jsonl",
        ),
        LaterCommand(
            "time",
            "time",
            "Run a program and keep in the store how long it took and how it ended.",
            "skelgen time --input n=2000 -- mpirun -n 8 ./app 2000",
            launches=True,
        ),
        LaterCommand(
            "share",
            "share",
            "Write one file to give away: all that skeletons are built from, and no "
            "more.",
            "skelgen share run/ --name lammps -o lj.yaml",
        ),
    )


app = typer.Typer(
    name="skelgen",
    cls=_Commands,
    no_args_is_help=False,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog="""Record, build, calibrate, predict, select:

    skelgen record -o run/ -- mpirun -n 2 ./app\n
    skelgen build run/ --scale 100 -o skel/\n
    skelgen calibrate skel/\n
    skelgen predict skel/ --hosts n1,n2\n
    skelgen select skel/ --nodes 2 --from n[1-8]""",
)


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"skelgen {__version__}")
        raise typer.Exit


@app.callback(invoke_without_command=True)
def _options(
    context: typer.Context,
    version: Annotated[
        bool,
        typer.Option(
            "--version",
            help="Print the version.",
            callback=_print_version,
            is_eager=True,
        ),
    ] = False,
    verbose: Verbose = 0,
) -> None:
    """Predict how long an MPI program takes on shared nodes.

    Record a run, turn it into a program that takes 1/K as long, and run that in its
    place.
    """
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())
        raise typer.Exit


class _Format(logging.Formatter):
    """Write ``skelgen: warning: what happened`` on one line."""

    _WORD: ClassVar = {
        logging.WARNING: "warning",
        NOTE: "note",
        logging.INFO: "note",
        logging.DEBUG: "debug",
    }

    def format(self, record: logging.LogRecord) -> str:
        word = self._WORD.get(record.levelno, "error")
        return shown(f"skelgen: {word}: {record.getMessage()}")


def _start_logging() -> None:
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(_Format())
    logger = logging.getLogger("skelgen")
    logger.handlers[:] = [handler]
    logger.propagate = False
    logger.setLevel(NOTE)


@cache
def _command() -> Any:
    """Return the commands; one is looked at when it is called."""
    return typer.main.get_command(app)


def run(arguments: list[str] | None = None) -> int:
    """Run one command and return its exit code."""
    _start_logging()
    write_anything()
    begin_s = time.monotonic()
    try:
        result: Any = _command()(arguments, prog_name="skelgen", standalone_mode=False)
        sys.stdout.flush()
        logger.info("done in %s", format_seconds(time.monotonic() - begin_s))
    except (KeyboardInterrupt, typer.Abort):
        return _interrupted()
    except BrokenPipeError:  # the reader of our output left, as head does
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return int(ExitCode.OK)
    except (SkelgenError, OSError, MemoryError) as error:
        return _refused(error)
    except Exception as error:
        if (message := _usage(error)) is None:
            raise
        complain(f"{message} (skelgen --help lists the commands and options)")
        return int(ExitCode.USAGE)
    if result == ExitCode.INTERRUPTED:
        return _interrupted()
    return result if isinstance(result, int) else int(ExitCode.OK)


def _refused(error: SkelgenError | OSError | MemoryError) -> int:
    """Say what was refused, by us or by the system."""
    if isinstance(error, OSError):  # nothing nearer had a better word for it
        drop_output()
        error = system_error(error)
    if isinstance(error, MemoryError):
        why = f": {error}" if str(error) else ""
        error = MachineError(
            f"there is not enough memory{why}; end other programs, or allow more: "
            "ulimit -v"
        )
    complain(str(error))
    return int(error.exit_code)


def _usage(error: Exception) -> str | None:
    """Return the message of a word on the command line that does not fit.

    typer brings its own copy of click in some releases and the common one in others,
    so the class is told by its name.
    """
    names = {kind.__name__ for kind in type(error).__mro__}
    if "ClickException" not in names:
        return None
    message: str = error.format_message()  # type: ignore[attr-defined]
    return " ".join(message.split()).rstrip(".")


def _interrupted() -> int:
    complain("interrupted")
    return int(ExitCode.INTERRUPTED)


def main() -> None:
    """Run the command line and leave with its exit code."""
    sys.exit(run())
