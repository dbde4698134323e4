"""The command that shows a store in a browser, and its tokens."""

from __future__ import annotations

import json as json_text
import os
import shutil
import webbrowser
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from skelgen.cli.options import Json, StorePlace, Verbose, size_bytes
from skelgen.cli.output import print_facts, print_result, print_table, say
from skelgen.errors import MachineError, UsageError

if TYPE_CHECKING:
    from skelgen.server.listening import Listening

serve = typer.Typer(
    help="Show a store in a browser: runs, models, predictions, how long.",
    invoke_without_command=True,
    rich_markup_mode="rich",
    epilog="Example: [b]skelgen serve --open[/b]",
)
token = typer.Typer(
    help="Who may do what: tokens for others.",
    no_args_is_help=True,
    rich_markup_mode="rich",
)
serve.add_typer(token, name="token")


@serve.callback()
def _serve(
    context: typer.Context,
    place: StorePlace = None,
    host: Annotated[
        str, typer.Option(help="Address to listen on; others than loopback need TLS.")
    ] = "127.0.0.1",
    port: Annotated[
        int, typer.Option(min=0, max=65535, help="Port; 0 takes a free one.")
    ] = 8642,
    unix: Annotated[
        Path | None,
        typer.Option(
            metavar="PATH", help="Listen on a Unix socket, for a proxy; needs --name."
        ),
    ] = None,
    name: Annotated[
        list[str] | None,
        typer.Option(
            metavar="HOST",
            help="Host by which people come, such as that of a proxy with TLS; several "
            "times for several.",
            show_default="those of --host",
        ),
    ] = None,
    prefix: Annotated[
        str, typer.Option(metavar="/PATH", help="Path before each address.")
    ] = "",
    certificate: Annotated[
        Path | None,
        typer.Option("--tls-certificate", metavar="FILE", help="Certificate, in PEM."),
    ] = None,
    key: Annotated[
        Path | None, typer.Option("--tls-key", metavar="FILE", help="Its key, in PEM.")
    ] = None,
    read_only: Annotated[
        bool, typer.Option("--read-only", help="No token changes anything.")
    ] = False,
    insecure: Annotated[
        bool,
        typer.Option(
            "--insecure", help="Others may come without TLS, and be overheard."
        ),
    ] = False,
    upload: Annotated[
        str, typer.Option(help="Files that are sent at once, at most.")
    ] = "64MiB",
    daily: Annotated[
        str, typer.Option(help="What each token may send in a day, at most.")
    ] = "1GiB",
    keep_free: Annotated[
        str, typer.Option(help="Room on the disk that uploads leave free.")
    ] = "256MiB",
    open_: Annotated[
        bool, typer.Option("--open", help="Open the browser when it is ready.")
    ] = False,
    demo: Annotated[
        bool,
        typer.Option(
            "--demo", help="Show a filled example; it goes when the server ends."
        ),
    ] = False,
    check: Annotated[
        bool,
        typer.Option("--check", help="Say what would be shown to whom, and end."),
    ] = False,
    json: Json = False,
    verbose: Verbose = 0,
) -> None:
    """Show a store in a browser."""
    from skelgen.pipeline.demonstration import demonstration_store
    from skelgen.server.listening import Listening, check_listening

    if context.invoked_subcommand is not None:
        return
    _need_extra()
    listening = Listening(
        *(host, port, unix, tuple(name or ()), prefix.rstrip("/")),
        *(certificate, key, insecure),
    )
    check_listening(listening)
    sizes = (
        *(size_bytes(upload, "--upload"), size_bytes(daily, "--daily")),
        size_bytes(keep_free, "--keep-free"),
    )
    if demo and place is not None:
        raise UsageError("--demo shows a store of its own; leave out --store")
    with demonstration_store() if demo else nullcontext(place) as shown_place:
        if check:
            _check(shown_place, listening, read_only=read_only, json=json)
            return
        _run(
            shown_place,
            listening,
            sizes,
            read_only=read_only,
            json=json,
            open_=open_,
        )
        if demo:  # its jobs go with it
            from skelgen.server.jobs import JobFolder

            shutil.rmtree(JobFolder(shown_place).path, ignore_errors=True)
    from skelgen.server.lifecycle import leave_reads

    leave_reads()


def _run(
    place: str | None,
    listening: Listening,
    sizes: tuple[int, int, int],
    *,
    read_only: bool,
    json: bool,
    open_: bool,
) -> None:
    """Serve a store until a signal comes, and say where it is."""
    from skelgen.pipeline import store
    from skelgen.results import to_json
    from skelgen.results.serving import ServeResult
    from skelgen.server.lifecycle import run_server
    from skelgen.server.settings import UploadBounds

    uploads = UploadBounds(*sizes)
    shown = store.store_place(place).shown

    def ready(address: str, named: str, file: Path) -> None:
        if json:
            ready_now = ServeResult(
                url=address, pid=os.getpid(), store=shown, read_only=read_only
            )
            typer.echo(json_text.dumps(to_json(ready_now)))
        else:
            say(f"Open {named}")
            if named != address:
                say("A browser that does not find that host takes 127.0.0.1 for it.")
            say(f"It shows {shown}; Ctrl-C ends it.")
        if open_ and not webbrowser.open(file.as_uri()):
            say("skelgen: note: no browser was found", err=True)

    run_server(place, listening, read_only=read_only, ready=ready, uploads=uploads)


def _need_extra() -> None:
    """Say what to install where the server's libraries are missing."""
    try:
        import starlette  # noqa: F401
        import uvicorn  # noqa: F401
    except ImportError as error:
        raise MachineError(
            "skelgen serve needs Starlette and uvicorn, which are not installed; "
            "pip install 'skelgen[web]'"
        ) from error


def _check(
    place: str | None, listening: Listening, *, read_only: bool, json: bool
) -> None:
    from skelgen.server.exposure import exposure

    found = exposure(place, listening, read_only=read_only)
    if json:
        print_result(found)
        return
    print_facts(
        [
            ("address", found.url),
            ("reached by", found.reached_by),
            ("TLS", "yes" if found.tls else "no"),
            ("store", found.store),
            ("without a token", " ".join(found.open)),
            *((f"to {right}", "; ".join(those))
              for right, those in found.rights.items() if right != "open"),
            *((f"token {one.name}", one.right) for one in found.tokens),
        ]
    )  # fmt: skip


@token.command(epilog="Example: [b]skelgen serve token add ada --right add[/b]")
def add(
    name: Annotated[
        str, typer.Argument(metavar="NAME", help="Whose it is.", show_default=False)
    ],
    right: Annotated[
        str, typer.Option(help="read, add (runs), or administer (also remove).")
    ] = "read",
    json: Json = False,
    verbose: Verbose = 0,
) -> None:
    """Make a token for somebody and print it; it is shown only once."""
    from skelgen.results.serving import TokenAddResult
    from skelgen.server import tokens

    wanted = tokens.right_of(right)
    text = tokens.add_token(name, wanted)
    if json:
        print_result(TokenAddResult(name=name, right=wanted.word, token=text))
    else:
        print_facts([("name", name), ("right", wanted.word), ("token", text)])


@token.command("list", epilog="Example: [b]skelgen serve token list[/b]")
def list_(json: Json = False, verbose: Verbose = 0) -> None:
    """List the tokens; the tokens themselves are not kept."""
    from skelgen.pipeline.store_facts import date_text
    from skelgen.results.serving import TokenListResult, TokenMade
    from skelgen.server import tokens

    found = [
        TokenMade(name=one.name, right=one.right.word, made=date_text(one.made))
        for one in tokens.read_access().tokens
    ]
    if json:
        print_result(TokenListResult(tokens=found))
    elif not found:
        say("no tokens; skelgen serve token add NAME makes one")
    else:
        rows = [[one.name, one.right, one.made] for one in found]
        print_table(["name", "right", "made"], rows)


@token.command(epilog="Example: [b]skelgen serve token remove ada[/b]")
def remove(
    name: Annotated[
        str, typer.Argument(metavar="NAME", help="Whose it is.", show_default=False)
    ],
    json: Json = False,
    verbose: Verbose = 0,
) -> None:
    """Remove a token: it counts no more from now on, also in open browsers."""
    from skelgen.results.serving import TokenRemoveResult
    from skelgen.server import tokens

    tokens.remove_token(name)
    if json:
        print_result(TokenRemoveResult(removed=name))
    else:
        print_facts([("removed", name)])
