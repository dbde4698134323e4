"""By how much is what was not measured of an application slower than what was?

``python benchmarks/unmeasured_time.py [--apps all] [--stretch 0.3] [--keep FOLDER]``

`skelgen measure` scales the time that no measured phase covers as the phases that it
measured: by their time here over their time in the recording. The programs of
benchmarks/accuracy that are installed are recorded on two hosts of a test cluster
(tests/testbed: root, control groups): quiet twice, with one busy process on one host
and on each, and with slow links. The phases of the first run are looked up in the
others, call by call, so programs whose calls differ from run to run are left out, and
those of which less than 1 % of the time is unmeasured. Rows have the measured
phases, by how much their ratios differ (spread), and the ratio of the rest over theirs.

Then comes the share of ratios inside the 90 % interval that `measure` gives the rest:
half to twice, or more where the measured phases differ by more. Would phases that agree
be evidence of less? What is assumed of any program then counts as so many phases beside
the measured ones. The likeliest numbers for Student's t are fitted, for each program to
all others, which gives the share of its ratios inside these intervals. About a minute a
program, which runs five times.
"""

from __future__ import annotations

import argparse
import math
import os
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from itertools import pairwise, product
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skelgen import _paths  # noqa: F401  (installed: not the checkout's)

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks.accuracy.measure import RunError
from benchmarks.phase_runner import Place, of_accuracy
from benchmarks.skeletons import BIN
from skelgen.errors import SkelgenError
from skelgen.events import Events, collect
from skelgen.launch.json_lines import JsonLines
from skelgen.models.kernel_times import students
from skelgen.phase_execution.estimate import told_by, unmeasured_share
from skelgen.phase_execution.plan import ExecutedExtent, in_one_run
from skelgen.phases.counts import counted, event_counts
from skelgen.phases.stored import PhaseSignature
from skelgen.phases.types import Phases
from skelgen.pipeline.phases import of_run
from skelgen.trace import open_trace
from skelgen.trust.intervals import relative_spread, whole_draws
from tests.testbed.cluster import Cluster, lacking

Floats = NDArray[np.float64]

HOSTS = 2
#: Name of a scenario, and what is done to hosts: busy processes, rates of links.
SCENARIOS: dict[str, tuple[dict[str, int], str]] = {
    "quiet again": ({}, "1gbit"),
    "one host busy": ({"h1": 1}, "1gbit"),
    "all busy": ({"h1": 1, "h2": 1}, "1gbit"),
    "slow links": ({}, "100mbit"),
}
LEAST_SHARE = 0.01
#: What is tried: standard deviation of any program's rest, and its worth in phases.
SPREADS = np.geomspace(0.02, 0.8, 38)
WORTHS = np.geomspace(0.5, 16.0, 26)


@dataclass(frozen=True, slots=True)
class Case:
    """A program in a scenario.

    Attributes
    ----------
    application, scenario : str
    phases : int
        How many would be measured.
    spread : float
        Standard deviation of the logarithms of their ratios, there over here [1].
    unmeasured : float
        Share of the recorded time that none of them tells [1].
    log_ratio : float
        Logarithm of the rest's ratio over theirs.
    """

    application: str
    scenario: str
    phases: int
    spread: float
    unmeasured: float
    log_ratio: float


def boundary_times_s(events: Events, counts: NDArray[np.int64]) -> Floats:
    """Return when each rank reaches its event counts [s]: (ranks, m)."""
    calls, found = events.calls, np.empty(counts.shape)
    counting = counted(calls)
    for rank, (begin, end) in enumerate(pairwise(calls.first)):
        places = np.append(np.flatnonzero(counting[begin:end]), end - begin)
        leave_ns = np.append(events.enter_ns[begin], events.leave_ns[begin:end])
        found[rank] = leave_ns[places[counts[rank]]] / 1e9
    return found


def phase_times_s(phases: Phases, counts: NDArray[np.int64], events: Events) -> Floats:
    """Return the time of each phase of one run in another one [s], by its number."""
    calls = events.calls
    last = event_counts(calls, np.diff(calls.first)[:, np.newaxis])
    if (last[:, 0] != counts[:, -1]).any():
        raise RunError("its calls differ from run to run")
    spent_s = np.diff(boundary_times_s(events, counts), axis=1).mean(axis=0)
    found = np.bincount(phases.phase, spent_s, minlength=len(phases.phases))
    return np.asarray(found, np.float64)


@dataclass(frozen=True, slots=True, eq=False)
class Reference:
    """The run that phases are found in.

    Attributes
    ----------
    phases : Phases
    signature : PhaseSignature
    counts : (ranks, m) int64 array
        Where phases begin and end.
    times_s : (phases,) float64 array
        [s]
    numbers : tuple of int
        Of the phases that would be measured.
    """

    phases: Phases
    signature: PhaseSignature
    counts: NDArray[np.int64]
    times_s: Floats
    numbers: tuple[int, ...]

    @classmethod
    def of(cls, run: Path) -> Reference:
        kept: list[Events] = []
        phases, signature, _ = of_run(run, look=lambda events, _: kept.append(events))
        if not signature.phases:
            raise RunError("it has no phases")
        counts = event_counts(kept[0].calls, phases.cut)
        times_s = phase_times_s(phases, counts, kept[0])
        plan = in_one_run(signature, ExecutedExtent())
        numbers = sorted({one.phase for one in plan.wanted})
        return cls(phases, signature, counts, times_s, tuple(numbers))

    @property
    def unmeasured(self) -> float:
        """Return the share of the time that the measured phases do not tell [1]."""
        return unmeasured_share(self.signature, self.numbers)

    def case(self, application: str, scenario: str, run: Path) -> Case:
        """Compare with another run of the program."""
        here_s = phase_times_s(self.phases, self.counts, collect(open_trace(run)))
        told = [one.number - 1 for one in told_by(self.signature, self.numbers)]
        ratios = [here_s[one - 1] / self.times_s[one - 1] for one in self.numbers]
        ratio = here_s[told].sum() / self.times_s[told].sum()
        rest_s = here_s.sum() - here_s[told].sum()
        there_s = self.times_s.sum() - self.times_s[told].sum()
        return Case(
            application,
            scenario,
            len(ratios),
            relative_spread(ratios) or 0.0,
            self.unmeasured,
            math.log(rest_s / there_s / ratio),
        )


def cases_of(place: Place, cluster: Cluster, log: JsonLines) -> Iterator[Case]:
    """Yield the cases of a program; what was measured before is known."""
    name = place.program.name
    lines = [line for line in log.values() if line["application"] == name]
    if not lines:
        lines = list(measured(place, cluster))
        for line in lines:
            log.append(line)
    yield from (Case(**line) for line in lines if line["scenario"])


def measured(place: Place, cluster: Cluster) -> Iterator[dict[str, Any]]:
    """Record a program in all scenarios; yield its cases, or that it has none."""
    name, folder = place.program.name, place.program.folder
    cluster.link("all", "1gbit")
    place.record(f"{name}.run")
    yield {"application": name, "scenario": ""}
    reference = Reference.of(folder / f"{name}.run")
    if reference.unmeasured < LEAST_SHARE:
        return
    for scenario, (busy, rate) in SCENARIOS.items():
        cluster.link("all", rate)
        for host, count in busy.items():
            cluster.load(host, count)
        try:
            place.record("scenario.run")
        finally:
            cluster.load("all", 0)
        yield asdict(reference.case(name, scenario, folder / "scenario.run"))


def likelihood(cases: Sequence[Case], spread: float, worth: float) -> float:
    """Return the logarithm of the likelihood of all ratios."""
    ratio = np.array([one.log_ratio for one in cases])
    scale, freedom = np.array([known(one, spread, worth) for one in cases]).T
    return float((density(ratio / scale, freedom) - np.log(scale)).sum())


def known(case: Case, spread: float, worth: float) -> tuple[float, float]:
    """Return the scale of the rest's ratio, and the degrees of freedom."""
    freedom = worth + case.phases - 1
    squares = worth * spread**2 + (case.phases - 1) * case.spread**2
    return math.sqrt(squares / freedom), freedom


def density(value: Floats, freedom: Floats) -> Floats:
    """Return the logarithms of densities of Student's t."""
    of_freedom = {
        one: math.lgamma((one + 1) / 2)
        - math.lgamma(one / 2)
        - math.log(one * math.pi) / 2
        for one in set(freedom.tolist())
    }
    scale = np.array([of_freedom[one] for one in freedom.tolist()])
    return np.asarray(scale - (freedom + 1) / 2 * np.log1p(value**2 / freedom))


def fitted(cases: Sequence[Case]) -> tuple[float, float]:
    """Return the likeliest spread and worth."""
    return max(product(SPREADS, WORTHS), key=lambda one: likelihood(cases, *one))


def inside(cases: Sequence[Case], fit: Callable[[str], tuple[float, float]]) -> float:
    """Return the share of ratios inside 90 % intervals."""
    hits = []
    for one in cases:
        scale, freedom = known(one, *fit(one.application))
        hits.append(abs(one.log_ratio) <= scale * students(freedom))
    return float(np.mean(hits))


def inside_rule(case: Case) -> bool:
    """Say whether the rest's ratio is in the 90 % interval that `measure` gives it."""
    draws = whole_draws(1.0, np.random.default_rng(0), spread=case.spread)
    low, high = np.quantile(draws, [0.05, 0.95])
    return bool(low <= math.exp(case.log_ratio) <= high)


def show_fit(cases: Sequence[Case]) -> None:
    """Print how good the rule is, and one that is fitted with and without each."""
    ruled = sum(inside_rule(one) for one in cases)
    print(f"\ninside the rule's interval: {ruled} of {len(cases)}")
    names = {one.application for one in cases}
    if len(names) < 2:
        print("nothing is fitted: that takes two programs with time that is unmeasured")
        return
    spread, worth = fitted(cases)
    left_out = {
        name: fitted([one for one in cases if one.application != name])
        for name in names
    }
    spreads, worths = zip(*left_out.values(), strict=True)
    print(
        f"likeliest spread {spread:.2f} ({min(spreads):.2f} to {max(spreads):.2f}), "
        f"worth {worth:.1f} phases ({min(worths):.1f} to {max(worths):.1f})"
    )
    hits = inside(cases, left_out.__getitem__)
    print(f"inside, each program by the others: {hits:.0%}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--apps", default="adaptive-mesh,jacobi", help="names, or all")
    parser.add_argument(
        "--stretch", type=float, default=0.3, help="multiplies the programs' steps"
    )
    parser.add_argument("--keep", type=Path, help="folder for runs and results")
    options = parser.parse_args()
    os.environ["PATH"] = f"{BIN}:{os.environ['PATH']}"
    if reason := lacking():
        print(f"unmeasured_time: {reason}", file=sys.stderr)
        return
    wanted = None if options.apps == "all" else set(options.apps.split(","))
    with tempfile.TemporaryDirectory() as temporary:
        folder = (options.keep or Path(temporary)).absolute()
        folder.mkdir(parents=True, exist_ok=True)
        log = JsonLines(folder / "results.jsonl")
        log.begin(keep=True)
        cluster = Cluster(os.environ.get("TESTBED_NAME", "unmeasured"))
        cases: list[Case] = []
        with cluster.used(HOSTS):
            for one in of_accuracy(folder, wanted, options.stretch):
                cases += shown(partial(cases_of, Place(one, cluster), cluster, log))
    show_fit(cases)


def shown(found: Callable[[], Iterator[Case]]) -> list[Case]:
    """Print the rows of a program; one that cannot be compared leaves others alone."""
    cases = []
    try:
        for case in found():
            print(
                f"{case.application:<20}{case.scenario:<16}{case.phases:>4} phases"
                f"{case.spread:>8.1%} spread{case.unmeasured:>8.1%} unmeasured"
                f"{math.exp(case.log_ratio):>8.2f} times",
                flush=True,
            )
            cases.append(case)
    except (RunError, SkelgenError) as error:
        print(f"left out: {error}", file=sys.stderr, flush=True)
    return cases


if __name__ == "__main__":
    main()
