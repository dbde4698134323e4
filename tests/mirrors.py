"""Which test files test which modules: names, and the list `tests/mirrors.toml`."""

from __future__ import annotations

import ast
import tomllib
from collections.abc import Iterable
from dataclasses import dataclass
from fnmatch import fnmatch
from functools import cache
from pathlib import Path

from skelgen.cli.main import _Commands

TESTS = Path(__file__).resolve().parent
ROOT = TESTS.parent
PACKAGE = ROOT / "skelgen"
LIST = TESTS / "mirrors.toml"
_FACES = ("__init__.py", "__main__.py")


@dataclass(frozen=True, slots=True)
class Listed:
    """Modules and the test files that test them, as patterns.

    Attributes
    ----------
    modules : tuple of str
        Below the package.
    tests : tuple of str
        Below `tests`; none where there is a reason for that.
    why : str
        How the tests reach the modules, or why none does. Empty where the test file
        imports each module.
    """

    modules: tuple[str, ...]
    tests: tuple[str, ...] = ()
    why: str = ""

    def found(self, modules: Iterable[str]) -> list[str]:
        """Return those of some modules that are listed here."""
        return [one for one in modules if any(fnmatch(one, p) for p in self.modules)]

    def files(self) -> list[Path]:
        """Return the test files."""
        return [file for pattern in self.tests for file in sorted(TESTS.glob(pattern))]


@cache
def listed() -> tuple[Listed, ...]:
    """Return what the list says."""
    whole = tomllib.loads(LIST.read_text())
    imported = [
        Listed(tuple(modules), (test,)) for test, modules in whole["imported"].items()
    ]
    reached = [
        Listed(tuple(one["modules"]), tuple(one["tests"]), one["how"])
        for one in whole["reached"]
    ]
    untested = [
        Listed(tuple(one["modules"]), why=one["reason"]) for one in whole["untested"]
    ]
    return (*imported, *reached, *untested)


def without_own_test() -> list[str]:
    """Return the modules without a test file of their own name.

    ``skelgen/stage/room/module.py`` has ``test_stage_room_module.py``, or files whose
    names begin so. A file belongs to the module with the longest such name.
    """
    mirrors = {
        "test_" + name.removesuffix(".py").replace("/", "_").strip("_"): name
        for path in sorted(PACKAGE.rglob("*.py"))
        if path.name not in _FACES
        for name in [str(path.relative_to(PACKAGE))]
    }
    tested = set()
    for test in TESTS.rglob("test_*.py"):
        begins = [
            one
            for one in mirrors
            if test.stem == one or test.stem.startswith(f"{one}_")
        ]
        tested |= {max(begins, key=len)} if begins else set()
    return [name for mirror, name in mirrors.items() if mirror not in tested]


def not_listed() -> list[str]:
    """Return the modules that have no test file of their own name and no place here."""
    modules = without_own_test()
    known = {module for one in listed() for module in one.found(modules)}
    return [module for module in modules if module not in known]


def stale() -> list[str]:
    """Return patterns of the list to which nothing belongs."""
    modules = without_own_test()
    gone = [
        pattern
        for one in listed()
        for pattern in one.modules
        if not any(fnmatch(module, pattern) for module in modules)
    ]
    return gone + [
        pattern
        for one in listed()
        for pattern in one.tests
        if not any(TESTS.glob(pattern))
    ]


def unreached() -> list[str]:
    """Return modules that the test files listed for them do not import.

    Where the list says how they are reached, what these files import may do so.
    """
    modules = without_own_test()
    reached: dict[str, bool] = {}
    for one in listed():
        if not one.tests:
            continue
        known = {name for file in one.files() for name in imports(file)}
        names = _behind(known) if one.why else known
        for module in one.found(modules):
            reached[module] = reached.get(module, False) or name_of(module) in names
    return sorted(module for module, there in reached.items() if not there)


def idle() -> list[str]:
    """Return test files that reach none of the modules for which they are listed."""
    modules = without_own_test()
    found = []
    for one in listed():
        wanted = {name_of(module) for module in one.found(modules)}
        for pattern in one.tests:
            known = {name for file in TESTS.glob(pattern) for name in imports(file)}
            if not wanted & (_behind(known) if one.why else known):
                found.append(pattern)
    return found


def name_of(module: str) -> str:
    """Return the name by which a module is imported."""
    return f"skelgen/{module}".removesuffix(".py").replace("/", ".")


@cache
def imports(file: Path) -> frozenset[str]:
    """Return the names of modules that a file imports or starts, and a few more."""
    found = set()
    for node in ast.walk(ast.parse(file.read_text())):
        match node:
            case ast.Import(names=names):
                found |= {one.name for one in names}
            case ast.ImportFrom(module=str(module), names=names):
                found |= {module, *(f"{module}.{one.name}" for one in names)}
            case ast.Constant(value=str(text)) if text.startswith("skelgen."):
                found |= {text, f"{text}.__main__"}
    return frozenset(found)


def _behind(names: Iterable[str]) -> set[str]:
    """Return modules that some modules load, themselves included."""
    waiting, found = [*names], set()
    while waiting:
        name = waiting.pop()
        if name not in found:
            found.add(name)
            waiting += _loaded(name)
    return found


@cache
def _loaded(name: str) -> frozenset[str]:
    if name == "skelgen.cli.main":
        # It imports a command when it is called, by the name in its table.
        commands = {f"skelgen.cli.{one.module}" for one in _Commands.table}
        return commands | imports(PACKAGE / "cli/main.py")
    place = ROOT / name.replace(".", "/")
    for file in (place.with_suffix(".py"), place / "__init__.py"):
        if name.startswith(("skelgen.", "tests.")) and file.exists():
            return imports(file)
    return frozenset()
