"""Everything works in a home whose path means something to shells, make and loaders."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.mpis import OWN
from tests.needs import needs_own

pytestmark = [pytest.mark.mpi, needs_own]

ROOT = Path(__file__).parents[2]
ODD = "a b:$(touch canary)`touch canary`'\"#%;\nc"


def test_what_stands_in_the_path_of_a_home_is_never_executed(tmp_path: Path) -> None:
    home = tmp_path / ODD
    home.mkdir()
    source = str(ROOT / "examples/heat2d.c")
    compiler = [str(OWN[0].compiler), "-O2", source, "-o", str(home / "app"), "-lm"]
    subprocess.run(compiler, check=True)
    variables = {"HOME": str(home), "XDG_CACHE_HOME": "", "SKELGEN_CACHE": ""}
    variables["CFLAGS"] = "-O0"  # the recorder is compiled in half the time

    def skelgen(*words: str) -> subprocess.CompletedProcess[str]:
        done = subprocess.run(
            [sys.executable, "-m", "skelgen", *words],
            cwd=home,
            env={**os.environ, **variables, "PYTHONPATH": str(ROOT)},
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return done

    launch = [*OWN[0].launcher, "-n", "2", str(home / "app"), "128", "2000"]
    skelgen("record", "-o", str(home / "run"), "--", *launch)
    assert any((home / ".cache/skelgen/shim").rglob("*.so"))
    skelgen("build", str(home / "run"), "--scale", "4", "-o", str(home / "skel"))
    answer = skelgen("predict", str(home / "skel"), "--budget", "1s").stdout
    assert "this machine" in answer
    assert (home / "skel/skeleton").exists()
    assert not list(tmp_path.rglob("canary"))
