"""What the commands do, as functions: ``import skelgen`` offers them by name.

In: paths, text and numbers, as on the command line. Out: a `skelgen.results.Result`,
the same that ``--json`` prints. Nothing is printed and no exit code is set: errors are
those of `skelgen.errors`.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from skelgen.launch.consent import Consent
from skelgen.launch.hosts import Host, parse_hosts, parse_pool
from skelgen.pipeline import build as _build
from skelgen.pipeline import calibrate as _calibrate
from skelgen.pipeline import export as _export
from skelgen.pipeline import info as _info
from skelgen.pipeline import measure as _measure
from skelgen.pipeline import phases as _phases
from skelgen.pipeline import predict as _predict
from skelgen.pipeline import record as _record
from skelgen.pipeline import select as _select
from skelgen.pipeline import workload as _workload
from skelgen.pipeline.keep_predictions import Keeping
from skelgen.results.measurements import MeasureResult
from skelgen.results.predictions import PredictResult, SelectResult
from skelgen.results.running import (
    BuildResult,
    CalibrateResult,
    ExportResult,
    RecordResult,
)

if TYPE_CHECKING:
    from skelgen.results.phases import PhasesResult
    from skelgen.results.recorded import InfoResult
    from skelgen.results.workloads import WorkloadResult

__all__ = [
    "build",
    "calibrate",
    "export",
    "info",
    "measure",
    "phases",
    "predict",
    "record",
    "select",
    "workload",
]

AnyPath: TypeAlias = str | os.PathLike[str]


def record(
    command: Sequence[str], output: AnyPath = "run", *, force: bool = False
) -> RecordResult:
    """Run a program under the recorder.

    Parameters
    ----------
    command : sequence of str
        How it is launched: ``["mpirun", "-n", "2", "./app"]``.
    output : path
        Folder for the trace.
    force : bool
        Replace a folder that skelgen made.
    """
    folder = Path(output)
    return RecordResult.of(_record.record(command, folder, force=force), folder)


def info(run: AnyPath, *, page: bool = False) -> InfoResult:
    """Say what was recorded.

    Parameters
    ----------
    run : path
        Folder of a recorded run.
    page : bool
        Write ``report.html`` into it.
    """
    from skelgen.results.recorded import InfoResult

    return InfoResult.of(_info.info(Path(run), page=page))


def build(
    source: AnyPath,
    output: AnyPath | None = None,
    *,
    scaling_factor: float | None = None,
    target_s: float | None = None,
    strict: bool = False,
    force: bool = False,
) -> BuildResult:
    """Build a skeleton.

    Parameters
    ----------
    source : path
        Folder of a recorded run, or a stored signature.
    output : path, optional
        Folder for the skeleton; named after source and K when not given.
    scaling_factor : float, optional
        K: the skeleton takes 1/K of the application's time [1].
    target_s : float, optional
        Time of the skeleton instead of K [s].
    strict : bool
        Refuse skeletons that are too short to trust.
    force : bool
        Replace a skeleton.
    """
    options = _build.BuildOptions(
        scaling_factor=scaling_factor,
        target_s=target_s,
        similarity_threshold=None,
        compute_mix=None,
        strict=strict,
    )
    built = _build.build(Path(source), _path(output), options=options, force=force)
    assert built is not None  # only the first of several processes gets it
    return BuildResult.of(built)


def calibrate(
    skeleton: AnyPath,
    command: Sequence[str] = (),
    *,
    runs: int = 3,
    hosts: str = "",
    recorded_time: bool = False,
    allow_command: bool = False,
) -> CalibrateResult:
    """Measure the ratio application time / skeleton time, and keep it.

    Parameters
    ----------
    skeleton : path
        Folder of the skeleton.
    command : sequence of str
        Launch of the application; that of the recording when empty.
    runs : int
        Runs of each.
    hosts : str
        Where both run: ``n1,n2``; as the application was launched when empty.
    recorded_time : bool
        Take the application's time from the recording.
    allow_command : bool
        Run a launch that a file names although you never made it yourself.
    """
    options = _calibrate.CalibrateOptions(
        runs=runs, recorded_time=recorded_time, hosts=_hosts(hosts)
    )
    found = _calibrate.calibrate(
        Path(skeleton), command, options, consent=Consent(allow_command)
    )
    return CalibrateResult.of(found)


def predict(
    skeleton: AnyPath,
    hosts: Iterable[str] = (),
    *,
    budget_s: float = 60.0,
    interval: float = 0.05,
    store: str | None = None,
    allow_command: bool = False,
) -> PredictResult:
    """Run the skeleton on node sets and predict the application's time on each.

    Parameters
    ----------
    skeleton : path
        Folder of the skeleton, or a phase signature.
    hosts : iterable of str
        Node sets: ``["n1,n2", "n[3-4]"]``; this machine when empty.
    budget_s : float
        No new run starts after it; each set gets at least three [s].
    interval : float
        Half width of the measured interval that is narrow enough [1].
    store : str, optional
        Store that keeps the prediction; nothing is kept without one.
    allow_command : bool
        Run a launch that a file names although you never made it yourself.
    """
    found = _predict.predict(
        Path(skeleton),
        [parse_hosts(one) for one in hosts] or [()],
        budget_s=budget_s,
        interval_bound=interval,
        consent=Consent(allow_command),
        keeping=None if store is None else Keeping(store),
    )
    return PredictResult.of(found)


def select(
    skeletons: AnyPath | Iterable[AnyPath],
    hosts: Iterable[str] = (),
    *,
    pool: str = "",
    nodes: int | None = None,
    budget_s: float = 60.0,
    interval: float = 0.05,
    store: str | None = None,
    allow_command: bool = False,
) -> SelectResult:
    """Order node sets by how long the application would take there now.

    Parameters
    ----------
    skeletons : path or iterable of path
        Folder of a skeleton, of which shorter ones are built, or several of one run.
    hosts : iterable of str
        Node sets: ``["n1,n2", "n3,n4"]``.
    pool : str
        Nodes to make sets of: ``n[1-8]``.
    nodes : int, optional
        Nodes in a set of these; as recorded when not given.
    budget_s, interval, store, allow_command
        See `predict`.
    """
    several = [skeletons] if isinstance(skeletons, str | os.PathLike) else skeletons
    options = _select.SelectOptions(
        node_sets=tuple(parse_hosts(one) for one in hosts),
        pool=parse_pool(pool) if pool else (),
        nodes=nodes,
        shape="",
        budget_s=budget_s,
        interval_bound=interval,
        parallel=1,
        limit_s=None,
        resume=False,
    )
    choice, about = _select.select(
        [Path(one) for one in several],
        options,
        consent=Consent(allow_command),
        keeping=None if store is None else Keeping(store),
    )
    return SelectResult.of(choice, about)


def phases(
    source: AnyPath, output: AnyPath | None = None, *, force: bool = False
) -> PhasesResult:
    """Find the phases of a run: what it repeats, how often and how long.

    Parameters
    ----------
    source : path
        Folder of a recorded run, or a stored phase signature.
    output : path, optional
        Folder, or YAML file, to store the phase signature in.
    force : bool
        Replace files that exist.
    """
    from skelgen.results.phases import PhasesResult

    found = _phases.phases(Path(source), output=_path(output), force=force)
    return PhasesResult.of(found)


def measure(
    signature: AnyPath,
    command: Sequence[str] = (),
    *,
    backend: str = "auto",
    hosts: str = "",
    store: str | None = None,
    allow_command: bool = False,
) -> MeasureResult:
    """Execute the phases of an application and predict its time from theirs.

    Parameters
    ----------
    signature : path
        Phase signature, or folder of a recorded run.
    command : sequence of str
        Launch of the application; that of the recording when empty.
    backend : {"auto", "live", "criu"}
        How phases are executed.
    hosts : str
        Where it runs: ``n1,n2``; where the command says when empty.
    store, allow_command
        See `predict`.
    """
    done = _measure.measure(
        Path(signature),
        command,
        backend=backend,
        hosts=_hosts(hosts),
        consent=Consent(allow_command),
        keeping=None if store is None else Keeping(store),
    )
    return MeasureResult.of(done)


def workload(study: AnyPath, at: Mapping[str, float]) -> WorkloadResult:
    """Predict the time of the application at a workload that was not recorded.

    Parameters
    ----------
    study : path
        YAML file of the recorded workloads.
    at : mapping of str to float
        The workload: ``{"n": 2500}``.
    """
    from skelgen.results.workloads import WorkloadResult

    return WorkloadResult.of(
        _workload.workload_predict(Path(study), dict(at), page=False)
    )


def export(
    run: AnyPath,
    format_name: str,
    output: AnyPath | None = None,
    *,
    force: bool = False,
) -> ExportResult:
    """Write a recorded run in the format of another tool.

    Parameters
    ----------
    run : path
        Folder of a recorded run.
    format_name : {"perfetto", "paraver", "tit", "otf2"}
    output : path, optional
        File or folder; next to the run when not given.
    force : bool
        Replace files that exist.
    """
    written = _export.export(Path(run), format_name, _path(output), force=force)
    return ExportResult.of(written)


def _path(place: AnyPath | None) -> Path | None:
    return None if place is None else Path(place)


def _hosts(text: str) -> tuple[Host, ...]:
    return tuple(parse_hosts(text)) if text else ()
