"""Commands within bounds: what they write, what ends them, and with whom they end."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from skelgen.errors import MachineError
from skelgen.launch.bounded_command import Bounds, EndedBy, run_bounded
from skelgen.launch.process import lives, process_name


def ran(code: str, tmp_path: Path, *, stop=lambda: False, began=None, **bounds):
    """Run Python within bounds; return how it ended and what it said."""
    said: list[str] = []
    end = run_bounded(
        [sys.executable, "-c", code],
        Bounds(**{"time_s": 30.0, **bounds}),
        environment={"OF_TEST": "7"},
        folder=tmp_path,
        began=began or (lambda pid: None),
        said=said.append,
        stop=stop,
    )
    return end, said


def test_what_a_command_writes_is_kept_and_its_errors_are_told_by_line(tmp_path):
    code = """
import os, sys
print(os.environ["OF_TEST"], os.getcwd(), os.nice(0))
print("one\\ntwo", file=sys.stderr)
sys.stderr.write("last")
sys.exit(3)
"""
    end, said = ran(code, tmp_path, niceness=3)
    assert end.output.split() == [
        b"7",
        str(tmp_path).encode(),
        b"%d" % (os.nice(0) + 3),
    ]
    assert said == ["one", "two", "last"]
    assert (end.exit_code, end.last_line, end.ended_by) == (3, "last", EndedBy.ITSELF)


def test_a_command_that_takes_too_long_is_ended(tmp_path):
    end, _ = ran("import time; time.sleep(600)", tmp_path, time_s=1.0)
    assert end.ended_by is EndedBy.TIME
    assert end.exit_code == 128 + signal.SIGTERM


def test_processor_time_is_limited_by_the_system(tmp_path):
    code = "import resource; print(resource.getrlimit(resource.RLIMIT_CPU)[0])"
    end, _ = ran(code, tmp_path, time_s=17.0)
    assert end.output == b"17\n"


def test_a_command_gets_no_more_memory_than_it_may(tmp_path):
    end, said = ran("x = bytearray(1 << 30)", tmp_path, memory_bytes=512 << 20)
    assert end.exit_code == 1
    assert said[-1] == "MemoryError"


def test_a_command_that_writes_without_end_is_ended(tmp_path):
    code = "import sys\nwhile True: sys.stdout.write('x' * 4096)"
    end, _ = ran(code, tmp_path, output_bytes=1 << 20)
    assert end.ended_by is EndedBy.OUTPUT
    assert len(end.output) <= (1 << 20) + (1 << 16)


def test_a_long_line_of_errors_takes_no_memory(tmp_path):
    code = "import sys\nfor _ in range(4096): sys.stderr.write('x' * 4096)"
    end, said = ran(code, tmp_path)
    assert end.exit_code == 0
    assert max(map(len, said)) <= 4096


def test_a_command_is_ended_when_it_is_asked_to_stop(tmp_path):
    pids: list[int] = []
    end, _ = ran(
        "import time; time.sleep(600)",
        tmp_path,
        began=pids.append,
        stop=lambda: bool(pids),
    )
    assert end.ended_by is EndedBy.STOP
    assert not lives(pids[0])


def test_a_program_that_is_not_there_is_one_error(tmp_path):
    with pytest.raises(MachineError, match="cannot run"):
        run_bounded(
            ["x"],
            Bounds(),
            environment={},
            folder=tmp_path / "no folder",
            began=lambda pid: None,
            said=lambda line: None,
            stop=lambda: False,
        )


def test_a_command_ends_with_a_server_that_is_killed(tmp_path):
    code = f"""
from pathlib import Path
from skelgen.launch.bounded_command import Bounds, run_bounded
def began(pid): Path("pid.new").write_text(str(pid)); Path("pid.new").rename("pid")
run_bounded([{sys.executable!r}, "-c", "import time; time.sleep(600)"], Bounds(),
            environment={{}}, folder=Path("."), began=began,
            said=lambda line: None, stop=lambda: False)
"""
    server = subprocess.Popen([sys.executable, "-c", code], cwd=tmp_path)
    file = tmp_path / "pid"
    while not file.exists():
        assert server.poll() is None
        time.sleep(0.02)
    pid = int(file.read_text())
    assert lives(pid)
    server.kill()
    server.wait()
    while lives(pid):  # it is told at once, and needs a moment
        time.sleep(0.02)


def test_a_name_tells_a_process_from_later_ones_of_its_number():
    own = process_name(os.getpid())
    assert own.startswith(f"{os.getpid()}:")
    child = subprocess.Popen([sys.executable, "-c", ""])
    child.wait()
    assert process_name(child.pid) == ""
