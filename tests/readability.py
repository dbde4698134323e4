"""Measure how well the code and the documents read: names, rooms, tests, sentences.

    python -m tests.readability

`tests/unit/test_readability.py` holds the goals.
"""

from __future__ import annotations

import ast
import re
import statistics
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import click
import grimp

from tests import mirrors

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "skelgen"

#: The face of a package; numbers without anything that is done with them.
_NO_ROOM = {"__init__", "thresholds"}
#: Modules whose name is that of their place: a stage's types, its judgements, the face
#: of a package.
_OF_A_PLACE = {"__init__", "__main__", "types", "thresholds"}
_SENTENCE_END = re.compile(r"(?<=[.!?:;])\s+(?=[A-Z0-9`*\[(])")
_NO_PROSE = re.compile(r"\s{4,}\S|\s*[|#>]|\s*<")
_ITEM = re.compile(r"\s*([-*+]|\d+\.)\s")
_LINK_TARGET = re.compile(r"\]\([^)]*\)")
#: Two words in a row: what people read, and no code.
_PHRASE = re.compile(r"[A-Za-z]{2,} [A-Za-z]{2,}")
#: Words that readers would have to learn; docs/vocabulary.md has those of the field.
PRIVATE_WORDS = re.compile(
    r"\b(stands? for|told|lies|held|beside|in the mean|miss(es)? by|so many|unheard)\b"
)


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence of a document or of a help text."""

    place: str
    text: str

    @property
    def words(self) -> int:
        """Count the words; a code span is one."""
        return len(self.prose.split())

    @property
    def prose(self) -> str:
        """Return the text without what stands in code spans."""
        return re.sub(r"`[^`]*`", "code", self.text)


@dataclass(frozen=True, slots=True)
class SentenceLengths:
    """How long the sentences of a text are [words]."""

    count: int
    mean: float
    p90: int
    above_40: int


def sentences(text: str, place: str) -> Iterator[Sentence]:
    """Return the sentences of Markdown; code, tables and headings do not count."""
    block: list[str] = []
    start, fenced = 0, False
    for number, whole in enumerate([*text.split("\n"), ""], 1):
        fence = whole.lstrip().startswith(("```", "~~~"))
        fenced ^= fence
        line = "" if fence else whole
        prose = not fenced and line.strip() and not _NO_PROSE.match(line)
        if (not prose or _ITEM.match(line)) and block:
            joined = _LINK_TARGET.sub("]", " ".join(block))
            for one in _SENTENCE_END.split(joined):
                yield Sentence(f"{place}:{start}", one.strip())
            block = []
        if prose:
            start = start if block else number
            block.append(line.strip())


def lengths(found: Iterable[Sentence]) -> SentenceLengths:
    """Sum up sentences of more than two words."""
    counts = sorted(one.words for one in found if one.words > 2)
    if not counts:
        return SentenceLengths(0, 0.0, 0, 0)
    p90 = counts[int(0.9 * (len(counts) - 1))]
    mean = statistics.mean(counts)
    return SentenceLengths(len(counts), mean, p90, sum(one > 40 for one in counts))


def documents() -> list[Path]:
    """Return the documents for people; the changelog is none."""
    top = [ROOT / f"{name}.md" for name in ("README", "ARCHITECTURE", "CONTRIBUTING")]
    return [*top, *sorted((ROOT / "docs").rglob("*.md"))]


def sentences_of(path: Path) -> list[Sentence]:
    """Return the sentences of a document."""
    return list(sentences(path.read_text(), str(path.relative_to(ROOT))))


@cache
def help_sentences() -> tuple[Sentence, ...]:
    """Return the sentences of all help texts."""
    from skelgen.cli.main import _Commands
    from skelgen.cli.on_demand import load

    found: list[Sentence] = []
    for one in _Commands.table:
        found += _of_command(load(one), f"skelgen {one.name}")
    return tuple(found)


def _of_command(command: click.Command, name: str) -> Iterator[Sentence]:
    yield from sentences(command.help or "", f"{name} --help")
    for parameter in command.params:
        text = getattr(parameter, "help", None) or ""
        yield from sentences(text, f"{name} {'/'.join(parameter.opts)}")
    for inner, each in getattr(command, "commands", {}).items():
        yield from _of_command(each, f"{name} {inner}")


def texts_for_people() -> Iterator[tuple[str, str]]:
    """Return what people read: strings of several words, and sentences of documents.

    Docstrings are for developers, but for those of commands, which are help texts.
    """
    for path, tree in modules().items():
        described = {id(one) for one in _docstrings(tree)}
        for node in ast.walk(tree):
            match node:
                case ast.Constant(value=str(text)) if _PHRASE.search(text):
                    if id(node) not in described:
                        yield f"skelgen/{path}:{node.lineno}", text
    for document in documents():
        yield from ((one.place, one.prose) for one in sentences_of(document))
    yield from ((one.place, one.prose) for one in help_sentences())


def _docstrings(tree: ast.Module) -> Iterator[ast.Constant]:
    for node in ast.walk(tree):
        match node:
            case (
                ast.Module(body=[ast.Expr(value=ast.Constant() as text), *_])
                | ast.ClassDef(body=[ast.Expr(value=ast.Constant() as text), *_])
                | ast.FunctionDef(body=[ast.Expr(value=ast.Constant() as text), *_])
                | ast.AsyncFunctionDef(body=[ast.Expr(ast.Constant() as text), *_])
            ):
                yield text


@cache
def modules() -> Mapping[str, ast.Module]:
    """Return the package's modules by their path."""
    return {
        str(path.relative_to(PACKAGE)): ast.parse(path.read_text())
        for path in sorted(PACKAGE.rglob("*.py"))
    }


def shared(kind: str) -> dict[str, list[str]]:
    """Return names that stand in several places.

    Parameters
    ----------
    kind : str
        ``classes``, ``functions``, ``constants`` or ``modules``; public ones, and for
        functions those of several packages.
    """
    places: dict[str, set[str]] = defaultdict(set)
    for path, tree in modules().items():
        for name in names(kind, path, tree):
            at = path.partition("/")[0] if kind == "functions" else path
            places[name].add(at)
    return {name: sorted(found) for name, found in places.items() if len(found) > 1}


def names(kind: str, path: str, tree: ast.Module) -> Iterator[str]:
    """Return the public names of one kind that a module defines, see `shared`."""
    if kind == "modules":
        stem = Path(path).stem
        if stem not in _OF_A_PLACE:
            yield stem
        return
    for node in tree.body:
        match kind, node:
            case ("classes", ast.ClassDef(name=name)) | (
                "functions",
                ast.FunctionDef(name=name),
            ):
                found = [name]
            case ("constants", ast.AnnAssign(target=target)) | (
                "constants",
                ast.Assign(targets=[target]),
            ):
                found = [
                    one.id
                    for one in ast.walk(target)
                    if isinstance(one, ast.Name) and one.id.isupper()
                ]
            case _:
                continue
        yield from (name for name in found if not name.startswith("_"))


def words_with(part: str, tree: ast.Module) -> set[str]:
    """Return the names of a module that have a part in them, whatever they name."""
    found: set[str] = set()
    for node in ast.walk(tree):
        match node:
            case (
                ast.Name(id=name)
                | ast.arg(arg=name)
                | ast.Attribute(attr=name)
                | ast.keyword(arg=str(name))
                | ast.alias(asname=str(name))
                | ast.FunctionDef(name=name)
                | ast.ClassDef(name=name)
            ) if part in name.lower():
                found.add(name)
    return found


def imports_in_functions(package: str) -> list[str]:
    """Return where functions of a package import without a comment that says why."""
    found = []
    for path, tree in modules().items():
        if not path.startswith(f"{package}/"):
            continue
        lines = (PACKAGE / path).read_text().split("\n")
        found += [f"{path}:{number}" for number in _unexplained(tree, lines)]
    return found


def _unexplained(tree: ast.Module, lines: Sequence[str]) -> Iterator[int]:
    """Yield the lines of imports in functions below neither a comment nor an import."""
    inside = {
        node.lineno
        for function in ast.walk(tree)
        if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef)
        for node in ast.walk(function)
        if isinstance(node, ast.Import | ast.ImportFrom)
    }
    for number in sorted(inside):
        above = lines[number - 2].strip()
        if not above.startswith("#") and number - 1 not in inside:
            yield number


def rooms(package: str) -> dict[str, int]:
    """Return how many rooms, modules and packages, each folder of a package has."""
    top = PACKAGE / package
    folders = [top, *(one for one in sorted(top.rglob("*")) if one.is_dir())]
    return {
        str(folder.relative_to(PACKAGE)): sum(
            (one.suffix == ".py" and one.stem not in _NO_ROOM)
            or (one.is_dir() and one.name != "__pycache__")
            for one in folder.iterdir()
        )
        for folder in folders
        if folder.name != "__pycache__"
    }


def arrows(package: str) -> set[tuple[str, str]]:
    """Return which rooms at the top of a package import which others of them."""
    top = f"skelgen.{package}"
    graph = grimp.build_graph("skelgen", cache_dir=None)
    inside = {top, *graph.find_descendants(top)}
    found = set()
    for one in inside:
        for other in graph.find_modules_directly_imported_by(one) & inside:
            pair = (_room(one, top), _room(other, top))
            if pair[0] != pair[1] and "" not in pair:
                found.add(pair)
    return found


def _room(module: str, top: str) -> str:
    return module.removeprefix(top).strip(".").partition(".")[0]


def _print_names() -> None:
    print("names in several places")
    for kind in ("classes", "modules", "functions", "constants"):
        print(f"  {kind:10} {len(shared(kind)):4}")
    without = mirrors.without_own_test()
    print(
        f"\nmodules {len(modules())}, without a test file of their name {len(without)}"
    )
    print(f"  and not in tests/mirrors.toml: {len(mirrors.not_listed())}")
    print("\nrooms in each folder of skeleton")
    for folder, count in rooms("skeleton").items():
        print(f"  {folder:30} {count:3}")
    print(f"arrows between the rooms at its top: {len(arrows('skeleton'))}")


def _print_lengths() -> None:
    print(f"\n{'words in a sentence':35} sentences  mean  p90  above 40")
    every = [(str(one.relative_to(ROOT)), sentences_of(one)) for one in documents()]
    whole = [one for _, found in every for one in found]
    texts = [*every, ("all documents", whole), ("--help", list(help_sentences()))]
    for name, found in texts:
        one = lengths(found)
        print(f"{name:35} {one.count:9} {one.mean:5.1f} {one.p90:4} {one.above_40:9}")
    print("\nlongest")
    for each in sorted([*whole, *help_sentences()], key=lambda one: -one.words)[:10]:
        print(f"  {each.place}: {each.words} words: {each.text[:100]}")


if __name__ == "__main__":
    _print_names()
    _print_lengths()
