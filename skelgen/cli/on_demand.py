"""A group of commands, each of which is imported when it is called.

The help lists all of them from a table, so it loads none.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any, ClassVar

import typer
from typer.core import TyperCommand, TyperGroup


@dataclass(frozen=True, slots=True)
class LaterCommand:
    """A command, or a group of commands, before it is imported.

    Attributes
    ----------
    name : str
        As people type it, and as its module has it.
    module : str
        Below `skelgen.cli`.
    help : str
        The first line of its help.
    example : str
        What the end of its help shows; empty for a group.
    launches : bool
        Whether the words after its options are a command of the user.
    """

    name: str
    module: str
    help: str
    example: str = ""
    launches: bool = False


def load(one: LaterCommand) -> Any:
    """Import a command."""
    found = getattr(import_module(f"skelgen.cli.{one.module}"), one.name)
    app = typer.Typer(rich_markup_mode="rich")
    if isinstance(found, typer.Typer):
        app.add_typer(found, name=one.name)
    else:
        app.command(
            one.name,
            epilog=f"Example: [b]{one.example}[/b]",
            context_settings={"allow_interspersed_args": not one.launches},
        )(found)
    app.callback()(lambda: None)  # else a single command would be no group
    group: Any = typer.main.get_command(app)
    return group.commands[one.name]


class CommandsOnDemand(TyperGroup):
    """Commands of a table, imported when they are called."""

    table: ClassVar[Sequence[LaterCommand]] = ()

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self._later = {one.name: one for one in self.table}
        for one in self.table:
            self.commands[one.name] = TyperCommand(one.name, help=one.help)

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Import the command that was named, as click asks for it."""
        later = self._later.pop(args[0], None)
        if later is not None:
            self.commands[later.name] = load(later)
        return super().resolve_command(ctx, args)
