"""Kernels of loops in a store: where they ran, and how they affect each other."""

from __future__ import annotations

import json
import math
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from skelgen.errors import UsageError
from skelgen.launch.bounded_command import Bounds
from skelgen.models.coupling import ChainCoupling
from skelgen.models.kernel_prediction import CoupledChain, coupled_chain
from skelgen.models.kernel_times import KernelTimes, Place
from skelgen.pipeline.bounded_process import BOUNDS, run_apart
from skelgen.pipeline.model import RunSource
from skelgen.pipeline.model_couple import kernel_runs, kernel_times
from skelgen.pipeline.store_record import shown_store
from skelgen.progress import NO_PROGRESS
from skelgen.store import open_store
from skelgen.store.browsing import applications_with_kernels


def chain_length(text: str) -> int:
    """Read the length of chains; two where nothing was typed.

    Raises
    ------
    UsageError
    """
    word = text.strip() or "2"
    if not (word.isascii() and word.isdigit() and len(word) < 4 and int(word) > 1):
        raise UsageError(
            f"the length of chains: read {word[:20]!r}, expected 2 or more"
        )
    return int(word)


@dataclass(frozen=True, slots=True)
class KernelPlace:
    """Where kernels ran: a value of each input.

    Attributes
    ----------
    shown : str
        Such as ``n=64, ranks=4``.
    values : tuple of (str, float)
    chains : tuple of CoupledChain
        Of which all kernels ran alone there, too.
    """

    shown: str
    values: tuple[tuple[str, float], ...]
    chains: tuple[CoupledChain, ...]


@dataclass(frozen=True, slots=True)
class KnownKernels:
    """The kernels of an application on a system.

    Attributes
    ----------
    loop : tuple of str
        In the order in which they run.
    inputs : tuple of (str, tuple of float)
        Numbers that differ between the runs, and their values.
    places : tuple of KernelPlace
    """

    loop: tuple[str, ...]
    inputs: tuple[tuple[str, tuple[float, ...]], ...]
    places: tuple[KernelPlace, ...]


@dataclass(frozen=True, slots=True)
class CouplingQuestion:
    """What somebody asks of kernels and their couplings.

    Attributes
    ----------
    store : str or None
    application : str
    where : tuple of str
        Which runs are used, such as ``system=cluster`` and ``ranks<=25``.
    at : str
        Where the loop is predicted: ``n=24,ranks=81``.
    length : int
        Kernels in a chain.
    families, templates : tuple of str
        Such as ``x_solve=cubic`` and ``add=a*n^3``.
    """

    store: str | None
    application: str
    where: tuple[str, ...] = ()
    at: str = ""
    length: int = 2
    families: tuple[str, ...] = ()
    templates: tuple[str, ...] = ()

    @property
    def options(self) -> tuple[tuple[str, str], ...]:
        """Return the options of ``model couple`` that ask it."""
        return (
            ("app", self.application),
            *(("where", one) for one in self.where),
            *((("at", self.at),) if self.at else ()),
            ("chain", str(self.length)),
            *(("family", one) for one in self.families),
            *(("template", one) for one in self.templates),
        )


def kernel_applications(place: str | None) -> list[str]:
    """Return the applications of which kernels were measured."""
    with open_store(place, make=False) as store:
        return applications_with_kernels(store)


def systems_of_kernels(place: str | None, application: str) -> list[str]:
    """Return the systems that kernels of an application ran on; no name: not known.

    Raises
    ------
    InputError
        When no run says which kernels it is of.
    """
    source = RunSource(store=place, application=application)
    found = kernel_runs(source, NO_PROGRESS)
    return sorted({run.system for _, run in found})


def known_kernels(
    place: str | None, application: str, where: Sequence[str] = ()
) -> KnownKernels:
    """Return the kernels of an application, and their couplings at each place.

    Parameters
    ----------
    place : str or None
    application : str
    where : sequence of str
        Conditions on the runs, such as ``system=cluster``.

    Raises
    ------
    InputError
        When no run says which kernels it is of, or their order is not known.
    """
    source = RunSource(store=place, application=application, where=tuple(where))
    times = kernel_times(source, NO_PROGRESS)
    columns = times.runs.columns.items()
    return KnownKernels(
        times.loop,
        tuple((name, tuple(sorted(set(column.tolist())))) for name, column in columns),
        tuple(
            KernelPlace(times.shown(one), times.named(one), _chains(times, one))
            for one in sorted(times.times)
        ),
    )


def _chains(times: KernelTimes, place: Place) -> tuple[CoupledChain, ...]:
    """Return the couplings of all chains of a place whose kernels ran alone there."""
    there, found = times.times[place], []
    for chain, ran in there.items():
        if len(chain) > 1 and all((one,) in there for one in chain):
            alone = math.fsum(there[one,].time_s for one in chain)
            coupling = ChainCoupling(chain, ran.time_s, ran.time_s / alone)
            found.append(coupled_chain(times, place, coupling))
    order = {name: i for i, name in enumerate(times.loop)}

    def of_loop(one: CoupledChain) -> tuple[int, ...]:
        chain = one.coupling.chain
        return len(chain), *(order.get(name, len(order)) for name in chain)

    return tuple(sorted(found, key=of_loop))


def coupled_apart(
    question: CouplingQuestion, bounds: Bounds = BOUNDS
) -> Mapping[str, Any]:
    """Return what ``model couple --json`` says, within bounds.

    Raises
    ------
    UsageError
    InputError
    """
    words = [f"--{name}={value}" for name, value in question.options]
    words = ["model", "couple", *words, "--json"]
    said = run_apart("skelgen", words, question.store, bounds)
    found: Mapping[str, Any] = json.loads(said)
    return found


def coupling_command(question: CouplingQuestion) -> str:
    """Return the command that says the same in a terminal."""
    words = ["skelgen", "model", "couple"]
    for name, value in question.options:
        words += [f"--{name}", value]
    words += ["--store", shown_store(question.store)] if question.store else []
    return shlex.join(words)
