"""All results, in the order of the help."""

from __future__ import annotations

from skelgen.results import phases, predictions, recorded, running, workloads
from skelgen.results.base import Result

RESULTS: tuple[type[Result], ...] = (
    running.RecordResult,
    recorded.InfoResult,
    running.ExportResult,
    phases.PhasesResult,
    phases.PhasesDiffResult,
    phases.PhasesTicksResult,
    predictions.MeasureResult,
    running.BuildResult,
    running.CalibrateResult,
    predictions.PredictResult,
    predictions.SelectResult,
    workloads.WorkloadPlanResult,
    workloads.WorkloadAddResult,
    workloads.WorkloadResult,
    running.ShareResult,
)
