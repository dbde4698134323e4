"""Get runs and models of a server as files that the command line takes."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

from skelgen.documents import sealed_json
from skelgen.errors import UsageError
from skelgen.launch.folders import new_file
from skelgen.models.model_file import model_facts, model_of
from skelgen.pipeline.server_client import ServerClient
from skelgen.store import Row
from skelgen.store.lines import from_field, to_line

#: What a server says of a row: its identity, its line, and the file of a model.
_MEMBERS = ("id", "line", "model", "page")


@dataclass(frozen=True, slots=True)
class Pulled:
    """What was got from a server.

    Attributes
    ----------
    text : str
        Lines that `skelgen store add` takes, or a model that `model predict` takes.
    identities : tuple of str
    is_model : bool
    """

    text: str
    identities: tuple[str, ...]
    is_model: bool


def pull(client: ServerClient, identities: Sequence[str]) -> Pulled:
    """Get rows by their identities, or a model by its identity or name.

    What the server says is read as carefully as a file of a stranger.

    Raises
    ------
    UsageError
        When a model and other rows are asked for at once.
    SkelgenError
        When the server refuses, or cannot be reached.
    """
    client.about()
    texts, found = [], []
    for identity in identities:
        path = f"/api/rows/{quote(identity, safe='', errors='surrogateescape')}"
        told = client.ask("GET", path).mapping((), None)
        found.append(told["id"].text())
        if not told["model"].is_null():
            if len(identities) > 1:
                raise UsageError(f"{identity} is a model; pull each model by itself")
            model = model_of(told["model"])
            return Pulled(sealed_json(model_facts(model)), tuple(found), is_model=True)
        rows: list[Row] = [from_field(told["line"])]
        if "page" in told and not told["page"].is_null():
            rows.append(from_field(told["page"]))
        texts += [json.dumps(to_line(row), allow_nan=False) for row in rows]
    return Pulled("\n".join(texts) + "\n", tuple(found), is_model=False)


def write_pulled(found: Pulled, output: Path, *, force: bool) -> None:
    """Write what was got into a file.

    Raises
    ------
    UsageError
        When the file exists, or cannot be written.
    """
    with new_file(output, force=force) as beside:
        beside.write_text(found.text, encoding="utf-8", newline="\n")
