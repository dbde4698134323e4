"""Words on the command line, errors on one line, exit codes by kind."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from skelgen import __version__, errors
from skelgen.cli import main as cli
from skelgen.cli.main import run
from skelgen.cli.options import duration_s, share
from skelgen.errors import UsageError

COMMANDS = ["record", "shim", "info", "export", "build", "calibrate", "predict"]


def failure(
    capsys: pytest.CaptureFixture[str], arguments: list[str]
) -> tuple[int, str]:
    """Run a command that must fail; return its exit code and its one line."""
    code = run(arguments)
    out, err = capsys.readouterr()
    assert out == ""
    lines = [line for line in err.splitlines() if not line.startswith("skelgen: w")]
    assert len(lines) == 1
    assert lines[0].startswith("skelgen: error: ")
    return code, lines[0]


@pytest.mark.parametrize("command", COMMANDS)
def test_help_of_every_command_shows_an_example(capsys, command):
    assert run([command, "--help"]) == 0
    out = capsys.readouterr().out
    assert "Example:" in out
    assert f"skelgen {command}" in out.partition("Example:")[2] or command == "shim"


def test_help_lists_every_command(capsys):
    assert run(["--help"]) == 0
    out = capsys.readouterr().out
    assert all(f" {command} " in out for command in COMMANDS)


def test_version_is_printed(capsys):
    assert run(["--version"]) == 0
    assert capsys.readouterr().out == f"skelgen {__version__}\n"


@pytest.mark.parametrize(
    ("arguments", "telling"),
    [
        (["nosuch"], "nosuch"),
        (["predict"], "SKEL"),
        (["build", "x", "--scale", "ten"], "--scale"),
        (["build", "x"], "--scale"),
        (["build", "x", "--scale", "2", "--target-time", "1s"], "--target-time"),
        (["build", "x", "--scale", "1"], "K must be above 1"),
        (["build", "x", "--scale", "0.5"], "K must be above 1"),
        (["build", "x", "--scale", "-3"], "K must be above 1"),
        (["build", "x", "--scale", "nan"], "K must be above 1"),
        (["build", "x", "--target-time", "soon"], "--target-time"),
        (["build", "x", "--target-time", "-1s"], "--target-time"),
        (["build", "x", "--scale", "2", "--similarity-threshold", "2"], "0 to 1"),
        (["build", "x", "--scale", "2", "--compute-mix", "1,2"], "three shares"),
        (["build", "x", "--scale", "2", "--compute-mix", "1,-2,3"], "three shares"),
        (["predict", "x", "--budget", "much"], "--budget"),
        (["predict", "x", "--interval", "0"], "--interval"),
        (["predict", "x", "--hosts", "n1,,n2"], "host"),
        (["calibrate", "x", "--application-time", "guessed"], "measured or recorded"),
        (["calibrate", "x", "--runs", "0"], "--runs"),
        (["record", "-o", "run", "--"], "COMMAND"),
        (["record", "--frobnicate", "--", "true"], "--frobnicate"),
    ],
)
def test_wrong_words_are_a_usage_error(capsys, arguments, telling):
    code, line = failure(capsys, arguments)
    assert code == 2
    assert telling in line


@pytest.mark.parametrize(
    ("kind", "code"),
    [
        (errors.UsageError, 2),
        (errors.InputError, 3),
        (errors.MachineError, 4),
        (errors.ApplicationError, 5),
        (errors.UntrustedError, 6),
        (errors.NodesError, 7),
    ],
)
def test_every_kind_of_error_has_its_exit_code(capsys, monkeypatch, kind, code):
    def fail(*_: object, **__: object) -> None:
        raise kind("what was read,\nwhat was expected")

    monkeypatch.setattr("skelgen.pipeline.shim.shim_path", fail)
    found, line = failure(capsys, ["shim"])
    assert found == code
    assert line == "skelgen: error: what was read, what was expected"


def test_an_interrupt_ends_with_130(capsys, monkeypatch):
    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("skelgen.pipeline.shim.shim_path", interrupt)
    assert failure(capsys, ["shim"]) == (130, "skelgen: error: interrupted")


def test_a_bug_is_not_hidden(monkeypatch):
    def bug(*_: object) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr("skelgen.pipeline.shim.shim_path", bug)
    with pytest.raises(ZeroDivisionError):
        run(["shim"])


def test_messages_grow_with_the_number_of_v(capsys, monkeypatch):
    def talk(*_: object) -> Path:
        logger = cli.logging.getLogger("skelgen.pipeline.record")
        logger.warning("w")
        logger.info("i")
        logger.debug("d")
        return Path("/shim")

    monkeypatch.setattr("skelgen.pipeline.shim.shim_path", talk)
    expected = ["skelgen: warning: w", "skelgen: note: i", "skelgen: debug: d"]
    for count, words in enumerate((["shim"], ["shim", "-v"], ["shim", "-vv"]), start=1):
        assert run(words) == 0
        out, err = capsys.readouterr()
        assert out == "/shim\n"
        assert [one for one in err.splitlines() if one in expected] == expected[:count]


def test_the_module_runs_as_a_program():
    line = [sys.executable, "-m", "skelgen", "predict", "/no/such/folder"]
    root = Path(__file__).parents[2]
    done = subprocess.run(line, capture_output=True, text=True, cwd=root, check=False)
    assert done.returncode == 3
    assert done.stdout == ""
    assert done.stderr.count("\n") == 1


def test_a_reader_that_leaves_early_sees_no_traceback():
    root = Path(__file__).parents[2]
    line = f"{sys.executable} -m skelgen --help | true"
    done = subprocess.run(
        ["sh", "-c", line], capture_output=True, text=True, cwd=root, check=False
    )
    assert done.stderr == ""


def test_durations_and_shares_are_read():
    assert duration_s("2min", "--budget") == 120
    assert duration_s("10m", "--budget") == 600
    assert duration_s("1d", "--budget") == 86400
    assert share("5%", "--interval") == pytest.approx(0.05)
    assert share("0.05", "--interval") == pytest.approx(0.05)
    for text in ("5", "0%", "x", "100%"):
        with pytest.raises(UsageError):
            share(text, "--interval")
