"""What computation consists of, and how fast it is on the machine of the recording."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

from skelgen.documents import Field
from skelgen.errors import UsageError

#: What computation is mixed of.
MIX_PARTS = ("arithmetic", "streaming", "chasing")
_FIELDS = (
    "mix", "steps_per_us", "call_us", "clock_us", "processes", "host", "cpu",
)  # fmt: skip
_MOST_PROCESSES = 1 << 20


class QueryGap(NamedTuple):
    """For how long computation does not ask for its CPU time.

    Attributes
    ----------
    length_us : float
        Computation [us].
    part : float
        Part of all gaps that are so long [1].
    asks : bool
        It asks at the end; else the gap goes on.
    """

    length_us: float
    part: float
    asks: bool


@dataclass(frozen=True, slots=True)
class Mix:
    """What computation consists of.

    Attributes
    ----------
    arithmetic, streaming, chasing : float
        Shares of its time on the reference machine; their sum is 1.
    working_set_bytes : int
        Memory that streaming goes through, and pointer chasing likewise [bytes].
    """

    arithmetic: float = 1.0
    streaming: float = 0.0
    chasing: float = 0.0
    working_set_bytes: int = 12 << 20

    def __post_init__(self) -> None:
        if min(self.shares) < 0 or not math.isclose(sum(self.shares), 1.0):
            raise UsageError(
                f"the mix {self.shares} is not three shares of 0 or more "
                "with the sum 1, such as 0.7,0.2,0.1"
            )
        if not 1 << 12 <= self.working_set_bytes <= 1 << 34:
            raise UsageError(
                f"a working set of {self.working_set_bytes} bytes is not "
                "between 4 KiB and 16 GiB"
            )

    @property
    def shares(self) -> tuple[float, float, float]:
        """Return the shares of arithmetic, streaming and chasing."""
        return (self.arithmetic, self.streaming, self.chasing)

    def __str__(self) -> str:
        """Write it as the command line takes it: shares, working set in MiB."""
        percent = [f"{100 * share:.4g}" for share in self.shares]
        return ",".join([*percent, f"{self.working_set_bytes / (1 << 20):g}"])


@dataclass(frozen=True, slots=True)
class ComputeCalibration:
    """Speed of the compute operation on the reference machine.

    Attributes
    ----------
    mix : Mix
    steps_per_us : tuple of float
        Steps of arithmetic, streaming and chasing that together take one
        microsecond, each in its share of the time [1/us].
    call_us, clock_us : float
        What a call of the operation takes by itself, without and with the two
        readings of the clock [us].
    processes : int
        Processes that measured at the same time, one for each rank of a node.
    host, cpu : str
        Name and processor of the reference machine.
    query_us : float
        What it takes to ask for the CPU time [us].
    """

    mix: Mix
    steps_per_us: tuple[float, float, float]
    call_us: float
    clock_us: float
    processes: int
    host: str
    cpu: str
    query_us: float = 0.0

    @property
    def units_per_s(self) -> float:
        """Return the steps of all parts in one second [1/s]."""
        return sum(self.steps_per_us) * 1e6


def read_calibration(field: Field) -> ComputeCalibration:
    """Read a calibration from JSON, as ``skeleton.json`` has it.

    Raises
    ------
    InputError
        When it is none.
    """
    fields = field.mapping(_FIELDS, None)
    rates = tuple(one.amount() for one in fields["steps_per_us"].items())
    if len(rates) != len(MIX_PARTS):
        raise fields["steps_per_us"].error(
            f"read {len(rates)} numbers, expected {len(MIX_PARTS)}"
        )
    query_us = fields.get("query_us")  # older calibrations lack it
    return ComputeCalibration(
        mix=read_mix(fields["mix"]),
        steps_per_us=(rates[0], rates[1], rates[2]),
        call_us=fields["call_us"].amount(),
        clock_us=fields["clock_us"].amount(),
        processes=fields["processes"].integer(1, _MOST_PROCESSES),
        host=fields["host"].text(),
        cpu=fields["cpu"].text(),
        query_us=0.0 if query_us is None else query_us.amount(),
    )


def read_mix(field: Field) -> Mix:
    """Read a mix from JSON.

    Raises
    ------
    InputError
        When it is none.
    """
    fields = field.mapping((*MIX_PARTS, "working_set_bytes"), None)
    try:
        return Mix(
            **{part: fields[part].amount() for part in MIX_PARTS},
            working_set_bytes=fields["working_set_bytes"].integer(0, 1 << 40),
        )
    except UsageError as error:
        raise field.error(str(error)) from error
