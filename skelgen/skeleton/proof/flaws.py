"""Prove that programs finish, or say who waits for whom."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from skelgen.skeleton.proof.plain_simulation import PlainSimulation
from skelgen.skeleton.proof.script import Script
from skelgen.skeleton.proof.simulation import SimulationOutcome, simulate

if TYPE_CHECKING:
    import networkx as nx

#: Ranks of a cycle that are named.
_NAMED = 6


@dataclass(frozen=True, slots=True)
class Flaw:
    """Why programs are not sound.

    Attributes
    ----------
    message : str
        What happens, with ranks and calls.
    rendezvous : bool
        Whether sends waited for their receives.
    stalled : bool
        Whether ranks wait for ever, rather than calls not fitting each other.
    sends : tuple of int
        Rows of the sends that wait in the cycle.
    """

    message: str
    rendezvous: bool
    stalled: bool
    sends: tuple[int, ...]


def find_flaw(script: Script, name: Callable[[int], str]) -> Flaw | None:
    """Run a script with rendezvous sends, then with eager ones.

    Parameters
    ----------
    script : Script
    name : callable
        Names the call of a row, for people.

    Returns
    -------
    Flaw or None
        None when all ranks finish and all calls fit, both ways.
    """
    for rendezvous in (True, False):
        outcome = simulate(script, rendezvous=rendezvous)
        if outcome.stalled:
            return _stall(script, rendezvous, name)
        if not outcome.sound:
            return Flaw(_misfit(outcome), rendezvous, False, ())
    return None


def _misfit(outcome: SimulationOutcome) -> str:
    words = {
        "messages longer than their receive": outcome.truncated,
        "collectives whose calls differ between ranks": outcome.mismatched,
        "uses of requests that do not exist": outcome.misused,
        "messages that nobody receives": outcome.unreceived,
        "receives without a message": outcome.unsent,
    }
    return ", ".join(f"{count} {what}" for what, count in words.items() if count)


def _stall(script: Script, rendezvous: bool, name: Callable[[int], str]) -> Flaw:
    # Loads slowly, and few programs stall.
    import networkx as nx

    simulation = PlainSimulation(script, rendezvous=rendezvous)
    outcome = simulation.run()
    stalled = [
        rank
        for rank, (position, steps) in enumerate(
            zip(outcome.position, outcome.steps, strict=True)
        )
        if position < steps
    ]
    graph: nx.DiGraph[int] = nx.DiGraph()
    for rank in stalled:
        graph.add_edges_from((rank, other) for other in simulation.waits_for(rank))
    try:
        cycle = [rank for rank, _ in nx.find_cycle(graph)]
    except nx.NetworkXNoCycle:
        cycle = _chain(graph, stalled[0])
    words = []
    for rank, other in zip(cycle, [*cycle[1:], cycle[0]], strict=True):
        if rank in stalled:
            row = int(script.row[script.first[rank] + outcome.position[rank]])
            waits = ", ".join(map(str, sorted(simulation.waits_for(rank))))
            target = str(other) if graph.has_edge(rank, other) else waits
            words.append(f"rank {rank} in {name(row)} waits for rank {target}")
    more = len(words) - _NAMED
    text = "; ".join(words[:_NAMED]) + (f"; and {more} more" if more > 0 else "")
    in_cycle = [row for rank in cycle for row in simulation.blocking_sends(rank)]
    anywhere = [row for rank in stalled for row in simulation.blocking_sends(rank)]
    return Flaw(text, rendezvous, True, tuple(in_cycle or anywhere))


def _chain(graph: nx.DiGraph[int], start: int) -> list[int]:
    """Follow who waits for whom until somebody waits for nobody."""
    chain = [start]
    while following := list(graph.successors(chain[-1])):
        chain.append(following[0])
    return chain
