"""Options of the commands that ask a server, and where its token is from."""

from __future__ import annotations

import getpass
import os
import stat
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from skelgen.documents.files import read_text
from skelgen.errors import UsageError

if TYPE_CHECKING:
    from skelgen.pipeline.server_client import ServerClient

#: The variable with the token.
_VARIABLE = "SKELGEN_TOKEN"
_MOST_BYTES = 4096

ServerUrl = Annotated[
    str,
    typer.Argument(
        metavar="URL",
        help="Address of the server: https://site.example/skelgen, without a token.",
        show_default=False,
    ),
]
TokenFile = Annotated[
    Path | None,
    typer.Option(
        "--token-file",
        metavar="FILE",
        help="File with the token, which only you may read.",
        show_default=f"{_VARIABLE}, else it is asked for",
    ),
]
Authority = Annotated[
    Path | None,
    typer.Option(
        "--ca",
        metavar="FILE",
        help="Certificates that count for TLS, in PEM.",
        show_default="those of the system",
    ),
]
Insecure = Annotated[
    bool,
    typer.Option("--insecure", help="Send the token without TLS to another host."),
]


def client_of(
    url: str, token_file: Path | None, authority: Path | None, *, insecure: bool
) -> ServerClient:
    """Return a client of a server, with the token of this user."""
    from skelgen.pipeline.server_client import ServerClient, server_address

    address = server_address(url, insecure=insecure)
    return ServerClient(address, token_of(token_file, address.url), authority)


def token_of(file: Path | None, shown: str) -> str:
    """Return the token: of a file, of the environment, or typed at the terminal.

    Raises
    ------
    UsageError
        When there is none, or others may read the file.
    """
    if file is not None:
        return _in_file(file)
    if found := os.environ.get(_VARIABLE, "").strip():
        return found
    if sys.stdin.isatty() and sys.stderr.isatty():
        return getpass.getpass(f"Token for {shown}: ").strip()
    raise UsageError(
        f"a token is needed for {shown}: put it into {_VARIABLE}, or into a file that "
        "only you may read and give --token-file"
    )


def _in_file(file: Path) -> str:
    text = read_text(file, most_bytes=_MOST_BYTES).strip()
    about = file.stat()
    if about.st_mode & (stat.S_IRWXG | stat.S_IRWXO):
        raise UsageError(f"others may read {file}; run: chmod 600 {file}")
    if not text:
        raise UsageError(f"{file}: is empty; write the token into it")
    return text
