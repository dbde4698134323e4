"""The entry point: options of all commands, logging, errors into exit codes."""

from __future__ import annotations

import logging
import os
import sys
from functools import cache
from typing import Annotated, Any, ClassVar

import typer

from skelgen import __version__
from skelgen.cli.building import build, mix
from skelgen.cli.expecting import expect
from skelgen.cli.exporting import export
from skelgen.cli.forecasting import forecast
from skelgen.cli.measuring import measure
from skelgen.cli.modelling import model
from skelgen.cli.monitoring import monitor
from skelgen.cli.options import Verbose
from skelgen.cli.output import complain, drop_output, shown, write_anything
from skelgen.cli.phasing import phases
from skelgen.cli.predicting import calibrate, predict
from skelgen.cli.recording import info, record, shim
from skelgen.cli.selecting import select
from skelgen.cli.sharing import share
from skelgen.cli.storing import store
from skelgen.cli.systems import system
from skelgen.cli.timing import time
from skelgen.cli.trusting import trust
from skelgen.cli.workload import workload
from skelgen.documents.system import system_error
from skelgen.errors import ExitCode, MachineError, SkelgenError
from skelgen.launch.process import NOTE

app = typer.Typer(
    name="skelgen",
    no_args_is_help=False,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
    add_completion=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog="""Record, build, measure, predict:

    skelgen record -o run/ -- mpirun -n 2 ./app\n
    skelgen build run/ --scale 100 -o skel/\n
    skelgen calibrate skel/\n
    skelgen predict skel/ --hosts n1,n2\n
    skelgen select skel/ --nodes 2 --from n[1-8]""",
)

app.command(
    epilog="Example: [b]skelgen record -o run/ -- mpirun -n 2 lmp -in in.lj[/b]",
    context_settings={"allow_interspersed_args": False},
)(record)
app.command(
    epilog="Example: [b]LD_PRELOAD=$(skelgen shim) SKELGEN_DIR=run mpirun -n 2 ./app"
    "[/b]"
)(shim)
app.command(epilog="Example: [b]skelgen info run/[/b]")(info)
app.command(epilog="Example: [b]skelgen export run/ --format perfetto[/b]")(export)
app.add_typer(phases, name="phases")
app.command(epilog="Example: [b]skelgen measure sig/ -- mpirun -n 2 ./app[/b]")(measure)
app.command(epilog="Example: [b]skelgen build run/ --scale 100 -o skel/[/b]")(build)
app.command(epilog="Example: [b]skelgen mix run/ -- mpirun -n 2 ./app small[/b]")(mix)
app.command(epilog="Example: [b]skelgen calibrate skel/ --runs 5[/b]")(calibrate)
app.command(epilog="Example: [b]skelgen predict skel/ --hosts n1,n2 --hosts n3:2[/b]")(
    predict
)
app.command(epilog="Example: [b]skelgen select skel/ --nodes 2 --from n[1-4][/b]")(
    select
)
app.add_typer(workload, name="workload")
app.add_typer(system, name="system")
app.add_typer(trust, name="trust")
app.add_typer(monitor, name="monitor")
app.command(epilog="Example: [b]skelgen forecast --nodes n1,n2 --horizon 2h[/b]")(
    forecast
)
store.command(epilog="Example: [b]skelgen store expect --app heat --ranks 8[/b]")(
    expect
)
app.add_typer(store, name="store")
app.add_typer(model, name="model")
app.command(
    epilog="Example: [b]skelgen time --input n=2000 -- mpirun -n 8 ./app 2000[/b]",
    context_settings={"allow_interspersed_args": False},
)(time)
app.command(epilog="Example: [b]skelgen share run/ --name lammps -o lj.yaml[/b]")(share)


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
    """Return the commands as they are once all their options have been looked at."""
    return typer.main.get_command(app)


def run(arguments: list[str] | None = None) -> int:
    """Run one command and return its exit code."""
    _start_logging()
    write_anything()
    try:
        result: Any = _command()(arguments, prog_name="skelgen", standalone_mode=False)
        sys.stdout.flush()
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
