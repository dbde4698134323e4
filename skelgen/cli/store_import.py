"""The command that imports loads that other tools measured."""

from __future__ import annotations

import logging
from dataclasses import asdict
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from skelgen.cli.options import Json, StorePlace, Verbose, duration_s
from skelgen.cli.output import print_json, print_table
from skelgen.errors import InputError

if TYPE_CHECKING:
    from skelgen.pipeline.load_sources import Imported

logger = logging.getLogger(__name__)

EXAMPLE = "Example: [b]skelgen monitor import /var/log/sysstat/sa21 --store site.db[/b]"


class Tool(StrEnum):
    """A tool whose numbers can be imported."""

    NODE_EXPORTER = "node-exporter"
    PCP = "pcp"
    LDMS = "ldms"
    SAR = "sar"


def import_(
    sources: Annotated[
        list[str],
        typer.Argument(
            metavar="SOURCE...",
            help="A file, an archive of PCP, or an exporter: http://n1:9100/metrics or "
            "unix:PATH.",
        ),
    ],
    tool: Annotated[
        Tool | None,
        typer.Option(
            "--from", help="The tool that wrote it.", show_default="as it begins"
        ),
    ] = None,
    host: Annotated[
        str,
        typer.Option(help="The node.", show_default="as the source says"),
    ] = "",
    every: Annotated[
        str, typer.Option(help="Time between two looks at a source.")
    ] = "10s",
    length: Annotated[
        str,
        typer.Option(
            "--for",
            help="Read the sources again and again for so long.",
            show_default="files once, exporters twice",
        ),
    ] = "",
    store: StorePlace = None,
    json: Json = False,
    verbose: Verbose = 0,
) -> None:
    """Import how busy nodes were from node_exporter, PCP, LDMS or sar.

    The samples become series of the store, which forecast --store and monitor show
    --store read. The available CPU is estimated, and is named for its source: cpu:sar.
    """
    from skelgen.pipeline.load_sources import Repeats, import_loads

    every_s = duration_s(every, "--every")
    for_s = duration_s(length, "--for") if length else 0.0
    found = import_loads(
        store,
        sources,
        kind=tool.value if tool else "",
        host=host,
        repeats=Repeats(every_s, for_s),
    )
    for line in found.left_out:
        logger.warning("%s", line)
    if json:
        print_json(
            {
                "series": [asdict(one) for one in found.series],
                "left_out": list(found.left_out),
                "refused": [{"source": s, "reason": r} for s, r in found.refused],
            }
        )
    else:
        _show(found)
    if found.refused:
        more = len(found.refused) - 1
        others = f" (and {more} more were refused: --json)" if more else ""
        raise InputError(f"{found.refused[0][1]}{others}")


def _show(found: Imported) -> None:
    if found.series:
        print_table(
            ["host", "quantity", "samples", "latest"],
            [
                [one.host, one.quantity, str(one.samples), f"{one.latest:.4g}"]
                for one in found.series
            ],
        )
