"""What may be asked of a model of times: a speedup, an efficiency, a rate."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from skelgen.errors import InputError
from skelgen.models.formulas import Expression, Sum, to_text


class QuantityKind(StrEnum):
    """What a quantity is."""

    TIME = "time"
    SPEEDUP = "speedup"
    EFFICIENCY = "efficiency"
    RATE = "rate"

    @property
    def compares(self) -> bool:
        """Whether it compares a run with one on other ranks."""
        return self in (QuantityKind.SPEEDUP, QuantityKind.EFFICIENCY)


@dataclass(frozen=True, slots=True)
class Quantity:
    """What is asked of a model of times.

    Attributes
    ----------
    kind : QuantityKind
    amount : Expression or None
        Of a rate: what is done in the time, of inputs.
    reference : tuple of (str, float)
        Of a speedup or an efficiency: inputs that say on how many ranks the run is
        that it compares with. What is not said is the smallest of the runs.
    """

    kind: QuantityKind = QuantityKind.TIME
    amount: Expression | None = None
    reference: tuple[tuple[str, float], ...] = ()

    @property
    def is_time(self) -> bool:
        """Whether the model says it by itself."""
        return self.kind is QuantityKind.TIME

    def unit(self, time: str) -> str:
        """Return its unit, given that of times."""
        if self.is_time:
            return time
        if self.amount is None:
            return ""
        text = to_text(self.amount, digits=4)
        return f"({text})/{time}" if isinstance(self.amount, Sum) else f"{text}/{time}"


def reference_among(
    lows: Mapping[str, float], quantity: Quantity, dropped: tuple[str, ...] = ()
) -> tuple[tuple[str, float], ...]:
    """Return the smallest values, or what the quantity says instead."""
    if not lows:
        told = f"{quantity.kind}: the model has no input ranks"
        if "ranks" in dropped:
            told += ": the times do not depend on it"
        raise InputError(
            f"{told}; a {quantity.kind} compares runs on several numbers of ranks, "
            "add such runs"
        )
    asked = dict(quantity.reference)
    if asked.get("ranks") == 1 and {*lows} == {"nodes", "ranks_per_node"}:
        asked = {**asked, "nodes": 1.0, "ranks_per_node": 1.0}
        del asked["ranks"]
    if unknown := [name for name in asked if name not in lows]:
        raise InputError(
            f"--reference: there is no input {unknown[0]} that says on how many ranks "
            f"a run is; expected {', '.join(lows)}"
        )
    return tuple({**lows, **asked}.items())
