"""Put the events of a YAML parser together, without trust.

PyYAML's own loaders recurse in C and crash on deep files, follow aliases that grow
exponentially, and let a repeated key win silently. This reads the parser's events.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml

from skelgen.documents.text_of_bytes import unescaped
from skelgen.errors import InputError

#: Collections within collections; a loop takes two levels.
_DEEPEST = 1000

Value = str | list[Any] | dict[str, Any]
_PARSER = getattr(yaml, "CLoader", yaml.Loader)


def value_of(path: Path, text: str) -> Value:
    """Return the value of a document.

    Parameters
    ----------
    path : Path
        Where it is from, for messages.
    text : str

    Returns
    -------
    str, list or dict
        Scalars are strings, whatever they look like.

    Raises
    ------
    InputError
        When it is not one YAML document.
    """
    try:
        return _build(path, text)
    except yaml.YAMLError as error:
        raise InputError(f"{path}: is not YAML: {_one_line(error)}") from error


def _one_line(error: yaml.YAMLError) -> str:
    mark = getattr(error, "problem_mark", None)
    where = f"line {mark.line + 1}: " if mark is not None else ""
    problem = getattr(error, "problem", None) or str(error)
    return where + " ".join(str(problem).split())


class _Builder:
    """Puts events together; collections that are open stand on a stack."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.stack: list[list[Any] | dict[str, Any]] = []
        self.keys: list[str | None] = []
        self.root: Value | None = None

    def fail(self, event: Any, what: str) -> InputError:
        line = event.start_mark.line + 1
        return InputError(f"{self.path}: line {line}: {what}")

    def word(self, event: Any) -> str:
        text: str = event.value
        if "\0" in text:
            raise self.fail(event, "read a zero byte, expected text")
        return unescaped(text)

    def add(self, event: Any, value: Value) -> None:
        if not self.stack:
            self.root = value
            return
        top = self.stack[-1]
        if isinstance(top, list):
            top.append(value)
            return
        key = self.keys[-1]
        if key is None:
            if not isinstance(value, str):
                raise self.fail(event, "read a collection as a key, expected a name")
            if value in top:
                raise self.fail(event, f"read the key {value[:60]!r} twice")
            self.keys[-1] = value
        else:
            top[key] = value
            self.keys[-1] = None

    def begin(self, event: Any, value: list[Any] | dict[str, Any]) -> None:
        if len(self.stack) >= _DEEPEST:
            raise self.fail(event, f"read more than {_DEEPEST} levels of collections")
        self.add(event, value)
        self.stack.append(value)
        self.keys.append(None)

    def end(self) -> None:
        self.stack.pop()
        self.keys.pop()


def _build(path: Path, text: str) -> Value:
    builder = _Builder(path)
    documents = 0
    for event in yaml.parse(text, Loader=_PARSER):
        if isinstance(event, yaml.ScalarEvent):
            builder.add(event, builder.word(event))
        elif isinstance(event, yaml.SequenceStartEvent):
            builder.begin(event, [])
        elif isinstance(event, yaml.MappingStartEvent):
            builder.begin(event, {})
        elif isinstance(event, yaml.CollectionEndEvent):
            builder.end()
        elif isinstance(event, yaml.AliasEvent):
            raise builder.fail(event, "read an alias, which signatures do not have")
        elif isinstance(event, yaml.DocumentStartEvent):
            documents += 1
            if documents > 1:
                raise builder.fail(event, "read a second document, expected one")
    if builder.root is None:
        raise InputError(f"{path}: is empty; expected a signature")
    return builder.root
