"""Fit what an application's computation consists of, and keep it beside its run."""

from __future__ import annotations

import logging
import platform
import statistics
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from time import perf_counter

from skelgen.documents import Field, read_json, sealed_json
from skelgen.errors import InputError, NoFileError, UsageError
from skelgen.events.conditions import Conditions, conditions
from skelgen.launch.command import parse_command
from skelgen.launch.consent import NO_CONSENT, Consent
from skelgen.launch.folders import replace_file
from skelgen.launch.own_launches import OwnLaunch
from skelgen.launch.record import RUN_FILE, RunFacts, read_facts
from skelgen.pipeline.launches import to_run
from skelgen.pipeline.machine_mpi import reference_compiler
from skelgen.pipeline.recorded_again import again
from skelgen.prediction.skeleton_runs import longest_s
from skelgen.progress import NO_PROGRESS, Progress
from skelgen.reference.competitors import COMPETITORS, Bench, Slowdown
from skelgen.reference.compute import Mix, calibrate, read_mix
from skelgen.reference.mix_fit import WORKING_SETS, Fit, fit_measured
from skelgen.trace import open_trace

logger = logging.getLogger(__name__)

MIX_FILE = "mix.json"
_FORMAT = 1


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
        How often it runs quiet and beside each competitor, at least: a short one
        runs for as long as the parts it may consist of.
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
    progress.start("running application and parts next to competitors", runs)
    limit_s = longest_s(facts.duration_s)
    wanted, parts = _measured(bench, launch, limit_s, runs, progress)
    fitted = fit_measured(wanted, parts, lambda mix: _mixture(bench, mix))
    progress.finish()
    replace_file(run / MIX_FILE, mix_text(fitted))
    return fitted


def _measured(
    bench: Bench,
    launch: OwnLaunch,
    limit_s: float,
    runs: int,
    progress: Progress,
) -> tuple[Slowdown, dict[int, list[Slowdown]]]:
    """Measure the application and its possible parts, in turn and for equally long.

    What a competitor costs changes with the minutes, so a short application runs again
    between the parts, and both are means over the same time.
    """
    applications: list[Slowdown] = []
    measured: dict[int, list[tuple[Slowdown, ...]]] = {s: [] for s in WORKING_SETS}
    for _ in range(runs):
        ahead_s = 0.0
        for size_bytes, found in measured.items():
            if ahead_s <= 0:
                begin_s = perf_counter()
                applications.append(_application(bench, launch, limit_s))
                ahead_s += perf_counter() - begin_s
            begin_s = perf_counter()
            found.append(bench.parts(size_bytes))
            ahead_s -= perf_counter() - begin_s
            progress.advance(1 / len(WORKING_SETS))
    parts = {
        size_bytes: [_mean(part) for part in zip(*found, strict=True)]
        for size_bytes, found in measured.items()
    }
    return _mean(applications), parts


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


def _mean(found: Sequence[Slowdown]) -> Slowdown:
    first, second = (statistics.fmean(values) for values in zip(*found, strict=True))
    return first, second


def _application(bench: Bench, launch: OwnLaunch, limit_s: float) -> Slowdown:
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
    if elsewhere := {file.header.host for file in files} - {platform.node()}:
        raise UsageError(
            f"ranks ran on {', '.join(sorted(elsewhere))}, where nothing competes with "
            "them; give a launch on this machine only after --"
        )
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
        read_mix(fields["mix"]), _slowdown(fields["wanted"]), _slowdown(fields["got"])
    )


def _slowdown(field: Field) -> Slowdown:
    numbers = tuple(one.positive() for one in field.items())
    if len(numbers) != 2:
        raise field.error(f"read {len(numbers)} numbers, expected 2")
    return numbers[0], numbers[1]
