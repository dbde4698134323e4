"""What the user says of the load of a prediction, and whether it belongs together."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from pathlib import Path

from skelgen.errors import UsageError
from skelgen.launch.consent import NO_CONSENT, Consent
from skelgen.launch.hosts import Host
from skelgen.pipeline.load_series import LoadSource
from skelgen.pipeline.model import asked_values

#: Words of ``--load`` that are no values, and resources that values are of.
FORECAST, MEASURED = "forecast", "measured"
RESOURCES = ("cpu", "bandwidth")


@dataclass(frozen=True, slots=True)
class LoadRequest:
    """What the user says of the load.

    Attributes
    ----------
    load : str
        ``cpu=0.5,bandwidth=0.8``, ``forecast`` or ``measured``; empty: none.
    nodes : tuple of Host
        Where the run is to be, or was.
    source : LoadSource
        Of series of loads.
    store : str or None
        Of the run.
    run : str
        Beginning of the identity of a past run.
    begin, end : float
        A past time, since 1970 in UTC; nan where nobody said it [s].
    skeleton : Path or None
        Runs on the nodes and says how slow they are.
    budget_s : float
        For runs of the skeleton [s].
    consent : Consent
        To run a skeleton of somebody else.
    of_kept : bool
        A kept model is asked, whose runs were on some nodes: `nodes` are compared.
    """

    load: str = ""
    nodes: tuple[Host, ...] = ()
    source: LoadSource = field(default_factory=LoadSource)
    store: str | None = None
    run: str = ""
    begin: float = math.nan
    end: float = math.nan
    skeleton: Path | None = None
    budget_s: float = 60.0
    consent: Consent = NO_CONSENT
    of_kept: bool = False

    @property
    def names(self) -> tuple[str, ...]:
        """Return the names of the nodes."""
        return tuple(one.name for one in self.nodes)


def check_request(request: LoadRequest) -> None:
    """Refuse options that do not belong together.

    Raises
    ------
    UsageError
        Also when the load is no words that are known.
    """
    one = request
    if one.skeleton is not None and one.load:
        raise UsageError("give --load or --skeleton, not both: each says the load")
    if one.load == FORECAST and not one.nodes and one.source.file is None:
        raise UsageError(
            "--load forecast: of which nodes? give --nodes n1,n2, or --series FILE"
        )
    past = bool(one.run) or math.isfinite(one.begin) or math.isfinite(one.end)
    if past and one.load != MEASURED:
        raise UsageError("--run, --from and --to are for --load measured; give that")
    if one.load == MEASURED:
        _check_past(one)
        return
    if one.load != FORECAST and one.source.file is not None:
        raise UsageError("--series is for --load forecast or measured; give one")
    told = one.skeleton is not None or one.of_kept
    if one.load != FORECAST and one.nodes and not told:
        raise UsageError(
            "--nodes is for --load forecast or measured, --skeleton, or --model"
        )
    if one.load != FORECAST:
        typed_loads(one.load)


def _check_past(one: LoadRequest) -> None:
    known = math.isfinite(one.begin) and math.isfinite(one.end)
    if one.run and (known or one.nodes):
        raise UsageError("--load measured: give --run, or --nodes, --from and --to")
    if not one.run and not (one.nodes and known):
        raise UsageError(
            "--load measured: when and where? give --run ID of the store, or --nodes "
            "n1,n2 --from TIME --to TIME"
        )
    if known and one.end <= one.begin:
        raise UsageError("--load measured: --to is not after --from")


def typed_loads(text: str) -> dict[str, float]:
    """Read ``cpu=0.5,bandwidth=0.8``.

    Raises
    ------
    UsageError
    """
    found = asked_values(text, "--load") if text else {}
    if unknown := [name for name in found if name not in RESOURCES]:
        raise UsageError(
            f"--load: read {unknown[0]}, expected {' and '.join(RESOURCES)}, such as "
            "cpu=0.5,bandwidth=0.8"
        )
    for name, value in found.items():
        if not 0.0 < value <= 1.0:
            raise UsageError(
                f"--load: {name} is {value:g}; a part that is left is above 0 and at "
                "most 1"
            )
    return found
