"""Fit what an application's computation consists of, and keep it beside its run."""

from __future__ import annotations

import logging
import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path

from skelgen.documents import Field, read_json, sealed_json
from skelgen.documents.document_field import FieldReaders, read_given
from skelgen.errors import InputError, NoFileError, UsageError
from skelgen.events import collect
from skelgen.events.conditions import Conditions, conditions
from skelgen.launch.command import parse_command
from skelgen.launch.consent import NO_CONSENT, Consent
from skelgen.launch.folders import replace_file
from skelgen.launch.own_launches import OwnLaunch
from skelgen.launch.record import RUN_FILE, RunFacts, read_facts
from skelgen.pipeline.gaps import check_here, gaps_here, gaps_of
from skelgen.pipeline.launches import to_run
from skelgen.pipeline.machine_mpi import reference_compiler
from skelgen.pipeline.recorded_again import again
from skelgen.prediction.skeleton_runs import longest_s
from skelgen.progress import NO_PROGRESS, Progress
from skelgen.reference.calibration import Mix, read_mix
from skelgen.reference.competitors import COMPETITORS, Bench, Slowdown
from skelgen.reference.compute import calibrate
from skelgen.reference.mix_fit import WORKING_SETS, Fit, fit_measured
from skelgen.reference.thresholds import KNOWN_SLOWDOWN, SLOWDOWN_NOISE
from skelgen.reference.turns import (
    TurnsSlowdown,
    slowdown_in_turns,
    together,
    turn_s,
)
from skelgen.trace import open_trace

logger = logging.getLogger(__name__)

MIX_FILE = "mix.json"
_FORMAT = 1
_MOST_RUNS = 1 << 20


def fit_mix(
    run: Path,
    command: Sequence[str],
    *,
    runs: int,
    consent: Consent = NO_CONSENT,
    progress: Progress = NO_PROGRESS,
) -> Fit:
    """Run an application beside known competitors and fit a mix to it.

    Parameters
    ----------
    run : Path
        Folder of the recorded run, which keeps the result.
    command : sequence of str
        Launch of the application, that of the recording when empty.
    runs : int
        How often it runs at most while competitors take turns. Where they cannot, it
        runs three times: quiet, and beside each.
    consent : Consent
        To a launch that is not the user's own.
    progress : Progress

    Raises
    ------
    UsageError
        When the launch is not known, or is not on this machine.
    """
    facts = _facts(run)
    recorded = OwnLaunch(facts.command, facts.folder, facts.environment, facts.files)
    launch = to_run(command, recorded, consent, run / RUN_FILE)
    ranks = parse_command(launch.command).ranks or 1
    bench = Bench.of(str(reference_compiler(facts.mpi)), ranks)
    lasting_s = turn_s(gaps_of(collect(open_trace(run))), runs * facts.duration_s)
    progress.start("running application and parts next to competitors", 1)
    measuring = _Measuring(bench, launch, longest_s(facts.duration_s), progress)
    wanted, parts = measuring.all(lasting_s, runs)
    fitted = fit_measured(wanted.slowdown, parts, lambda mix: _mixture(bench, mix))
    fitted = replace(fitted, runs=measuring.runs, uncertainty=wanted.uncertainty)
    progress.finish()
    if wanted.uncertainty > SLOWDOWN_NOISE:
        logger.warning(
            "the application's slowdowns are known to %.1f %% only, at most %.1f %% "
            "are trusted: this machine is not quiet; run skelgen mix again when it "
            "is, or with more --runs",
            100 * wanted.uncertainty,
            100 * SLOWDOWN_NOISE,
        )
    replace_file(run / MIX_FILE, mix_text(fitted))
    return fitted


@dataclass(slots=True)
class _Measuring:
    """Runs of an application, and of the parts that it may consist of.

    Attributes
    ----------
    bench : Bench
    launch : OwnLaunch
        Of the application.
    limit_s : float
        Longest time of a run [s].
    progress : Progress
    runs : int
        Of the application so far.
    """

    bench: Bench
    launch: OwnLaunch
    limit_s: float
    progress: Progress
    runs: int = 0
    parts: dict[int, list[Slowdown]] = field(default_factory=dict)

    def all(
        self, lasting_s: float | None, most: int
    ) -> tuple[TurnsSlowdown, dict[int, list[Slowdown]]]:
        """Measure the application and its possible parts.

        What a competitor costs changes with the minutes, so runs of the application
        come between the parts.

        Parameters
        ----------
        lasting_s : float or None
            How long competitors stay at a time [s]; None where they stay all the time.
        most : int
            Runs of the application in which they take turns.
        """
        found: list[TurnsSlowdown] = []
        while lasting_s is not None and self.runs < most:
            found.append(self._in_turns(lasting_s))
            self._measure_parts(math.ceil(len(WORKING_SETS) / most))
            if not found[-1].enough or together(found).uncertainty <= KNOWN_SLOWDOWN:
                break
        if not found or not found[-1].enough:
            found = [self._whole()]
        self._measure_parts(len(WORKING_SETS))
        return together(found), self.parts

    def _in_turns(self, lasting_s: float) -> TurnsSlowdown:
        """Run the application once while competitors come and go."""
        self.runs += 1
        with self.bench.in_turns(lasting_s) as turns:
            gaps = again(self.launch, gaps_here, limit_s=self.limit_s)
            found = slowdown_in_turns(gaps, turns())
        logger.info("run %d: %s", self.runs, found)
        return found

    def _whole(self) -> TurnsSlowdown:
        """Run the application quiet, and beside each competitor."""
        self.runs += 1 + len(COMPETITORS)
        slowdown = whole_runs(self.bench, self.launch, self.limit_s)
        return TurnsSlowdown(slowdown, SLOWDOWN_NOISE, 1.0)

    def _measure_parts(self, count: int) -> None:
        """Measure parts in further working sets."""
        left = [size for size in WORKING_SETS if size not in self.parts]
        for size_bytes in left[:count]:
            self.parts[size_bytes] = list(self.bench.parts(size_bytes))
            self.progress.advance(1 / len(WORKING_SETS))


def mix_text(fitted: Fit) -> str:
    """Return the text of ``mix.json``."""
    return sealed_json({"format": _FORMAT, **asdict(fitted)})


def _facts(run: Path) -> RunFacts:
    facts = read_facts(run)
    if facts is None:
        raise UsageError(
            f"{run} does not say how the application was launched; record it with "
            "skelgen record"
        )
    return facts


def _mixture(bench: Bench, mix: Mix) -> Slowdown:
    speed = calibrate(bench.compiler, mix=mix, processes=bench.processes)
    return bench.mixture(speed)


def whole_runs(bench: Bench, launch: OwnLaunch, limit_s: float) -> Slowdown:
    """Return how much longer the application computes beside each competitor [1]."""
    times_s = {}
    for competitor in ("", *COMPETITORS):
        with bench.beside(competitor):
            taken = again(launch, _conditions, limit_s=limit_s)
        times_s[competitor] = taken.computed_s - taken.lost_s
        for warning in () if competitor else taken.warnings:
            logger.warning("%s", warning)
    first, second = (times_s[name] / times_s[""] for name in COMPETITORS)
    return first, second


def _conditions(folder: Path) -> Conditions:
    """Return for how long the ranks of a run computed, and had a core."""
    files = open_trace(folder).files
    check_here(files)
    taken = conditions(files)
    if not taken.computed_s:
        raise InputError("the application does not compute between its MPI calls")
    if taken.computed_s <= taken.lost_s:
        raise InputError(
            "other programs left the application no core while it computed; run "
            "skelgen mix again when the machine is quiet"
        )
    return taken


def fitted_mix(source: Path) -> Fit | None:
    """Return the mix that was fitted to a recorded run; None when none was.

    Raises
    ------
    InputError
        When its file is damaged.
    """
    try:
        return _read(read_json(source / MIX_FILE))
    except NoFileError:
        return None
    except InputError as error:
        raise InputError(
            f"{source / MIX_FILE} is not what skelgen mix writes ({error}); run "
            "skelgen mix again"
        ) from error


def _read(document: Field) -> Fit:
    fields = document.mapping(("format", "mix", "wanted", "got"), None)
    fields["format"].integer(_FORMAT, _FORMAT)
    return Fit(
        read_mix(fields["mix"]),
        _slowdown(fields["wanted"]),
        _slowdown(fields["got"]),
        **read_given(fields, _OF_FIT),
    )


_OF_FIT: FieldReaders = {
    "runs": lambda field: field.integer(0, _MOST_RUNS),
    "uncertainty": Field.amount,
}


def _slowdown(field: Field) -> Slowdown:
    numbers = tuple(one.positive() for one in field.items())
    if len(numbers) != 2:
        raise field.error(f"read {len(numbers)} numbers, expected 2")
    return numbers[0], numbers[1]
