"""All results, in the order of the help."""

from __future__ import annotations

from skelgen.results import (
    phases,
    predictions,
    recorded,
    running,
    serving,
    stores,
    workloads,
)
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
    serving.MixResult,
    running.CalibrateResult,
    predictions.PredictResult,
    predictions.SelectResult,
    workloads.WorkloadPlanResult,
    workloads.WorkloadAddResult,
    workloads.WorkloadResult,
    serving.TrustResult,
    stores.StoreAddResult,
    stores.StoreListResult,
    stores.StoreExportResult,
    stores.StoreRemoveResult,
    stores.StorePathResult,
    stores.StoreCheckResult,
    stores.StoreRecordResult,
    stores.StoreExpectResult,
    serving.TokenAddResult,
    serving.TokenListResult,
    serving.TokenRemoveResult,
    stores.PushResult,
    serving.PullResult,
    stores.TimeResult,
    running.ShareResult,
)
