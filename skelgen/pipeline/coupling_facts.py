"""What machines are told of kernels and couplings, by the command and by the server."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from skelgen.trust.facts import trust_facts

if TYPE_CHECKING:
    from skelgen.models.kernel_prediction import (
        CoupledChain,
        KernelAlone,
        LoopPrediction,
    )


def coupling_facts(found: LoopPrediction) -> dict[str, Any]:
    """Return what machines are told of a loop."""
    measured = found.measured
    return {
        "at": dict(found.at),
        "value": found.time_s.p50,
        "unit": "s",
        "p5": found.time_s.p5,
        "p50": found.time_s.p50,
        "p95": found.time_s.p95,
        "sum": found.sum_s,
        "measured": measured.time_s if measured else None,
        "error": error_of(found, found.time_s.p50),
        "sum_error": error_of(found, found.sum_s),
        **trust_facts(found.doubts),
        "notes": list(found.notes),
        "kernels": [_kernel_facts(one) for one in found.kernels],
        "chains": [chain_facts(one) for one in found.chains],
        "chains_at": dict(found.coupled_at),
    }


def _kernel_facts(one: KernelAlone) -> dict[str, Any]:
    return {
        "name": one.name,
        "alone": one.time_s.p50,
        "p5": one.time_s.p5,
        "p95": one.time_s.p95,
        "weight": one.weight,
        "coupled": one.weight * one.time_s.p50,
        "runs": one.runs,
        "family": one.model.family if one.model else None,
        "formula": one.model.text if one.model else None,
    }


def chain_facts(one: CoupledChain) -> dict[str, Any]:
    """Return what machines are told of a chain."""
    coupling = one.coupling
    return {
        "kernels": list(coupling.chain),
        "together": coupling.together_s,
        "alone": coupling.together_s / coupling.value,
        "coupling": coupling.value,
        "effect": one.effect,
        "runs": one.runs,
    }


def error_of(found: LoopPrediction, time_s: float) -> float | None:
    """Return how far a time is from the measured one; None: it was not measured."""
    return time_s / found.measured.time_s - 1.0 if found.measured else None
