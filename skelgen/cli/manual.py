"""Write the manual pages: ``python -m skelgen.cli.manual docs/man``.

One page for each command, made from the command itself: `man skelgen-predict`.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import typer

from skelgen import __version__
from skelgen.cli.main import app
from skelgen.cli.on_demand import CommandsOnDemand

#: Of rich, in texts of help.
_MARKUP = re.compile(r"\[/?(?:b|bold|i|dim)\]")

#: Options whose own help depends on the shell that asks.
_COMPLETION = {
    "install_completion": "Install completion for your shell: bash, zsh or fish.",
    "show_completion": "Print the script that does it.",
}


def manual() -> dict[str, str]:
    """Return name and text of each page, in roff."""
    root = typer.main.get_command(app)
    return {f"{name}.1": text for name, text in _pages(root, ("skelgen",), None)}


def _pages(
    command: Any, words: tuple[str, ...], parent: Any
) -> Iterator[tuple[str, str]]:
    context = command.context_class(command, info_name=words[-1], parent=parent)
    parts = _parts(command, context)
    yield "-".join(words), "\n".join(_page(command, context, words, parts)) + "\n"
    for name, part in parts.items():
        yield from _pages(part, (*words, name), context)


def _parts(command: Any, context: Any) -> dict[str, Any]:
    """Return the commands of a group, loaded."""
    if not hasattr(command, "list_commands"):
        return {}
    names = [
        name
        for name in command.list_commands(context)
        if not command.get_command(context, name).hidden
    ]
    if isinstance(command, CommandsOnDemand):
        for name in names:
            command.resolve_command(context, [name])
    return {name: command.get_command(context, name) for name in names}


def _page(
    command: Any, context: Any, words: tuple[str, ...], parts: dict[str, Any]
) -> Iterator[str]:
    name, text = "-".join(words), command.help or ""
    summary, _, more = text.partition("\n\n")
    yield f'.TH "{name.upper()}" "1" "" "skelgen {__version__}" "skelgen"'
    yield from (".SH NAME", f"{_roff(name)} \\- {_line(summary).rstrip('.')}")
    usage = " ".join(command.collect_usage_pieces(context))
    yield from (".SH SYNOPSIS", f".B {_roff(' '.join(words))}", _line(usage))
    yield from (".SH DESCRIPTION", _line(summary))
    for paragraph in filter(None, (one.strip() for one in more.split("\n\n"))):
        yield from (".PP", _line(paragraph))
    records = [(one, _record(one, context)) for one in command.params]
    arguments = [said for one, said in records if one.param_type_name == "argument"]
    options = [said for one, said in records if one.param_type_name == "option"]
    yield from _listed("ARGUMENTS", arguments)
    yield from _listed("OPTIONS", options)
    commands = [
        (f"{'-'.join((*words, one))}(1)", (part.help or "").partition("\n\n")[0])
        for one, part in parts.items()
    ]
    yield from _listed("COMMANDS", commands)
    if command.epilog:
        yield ".SH EXAMPLES"
        for line in command.epilog.strip().splitlines():
            if line.strip():
                yield from (".PP", _line(line.removeprefix("Example: ")))
    if len(words) > 1:
        yield from (".SH SEE ALSO", f".BR {_roff('-'.join(words[:-1]))} (1)")


def _record(parameter: Any, context: Any) -> tuple[str, str] | None:
    """Return a parameter and its help; of completion whatever shell this is."""
    if parameter.name in _COMPLETION:
        return f"--{parameter.name.replace('_', '-')}", _COMPLETION[parameter.name]
    said: tuple[str, str] | None = parameter.get_help_record(context)
    return said


def _listed(title: str, rows: list[Any]) -> Iterator[str]:
    """Write names with what they mean."""
    known = [row for row in rows if row is not None]
    if known:
        yield f".SH {title}"
    for name, text in known:
        yield from (".TP", f".B {_line(name)}", _line(text or ""))


def _line(text: str) -> str:
    return _roff(" ".join(_MARKUP.sub("", text).split()))


def _roff(text: str) -> str:
    r"""Write text so that roff takes nothing of it for its own.

    Examples
    --------
    >>> print(_roff(".rc -v"))
    \&.rc \-v
    """
    escaped = text.replace("\\", "\\e").replace("-", "\\-")
    return f"\\&{escaped}" if escaped[:1] in (".", "'") else escaped


def main(folder: Path) -> None:
    """Write all pages into a folder; others in it are removed."""
    pages = manual()
    folder.mkdir(parents=True, exist_ok=True)
    for old in folder.glob("*.1"):
        if old.name not in pages:
            old.unlink()
    for name, text in pages.items():
        (folder / name).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
