"""Put the stages in a row: what each command of the command line does.

Other stages than launch and prediction are imported where they are used, so that
``--help`` and errors in the command's words come at once.
"""

from skelgen.pipeline.building import BuildOptions, build
from skelgen.pipeline.calibrating import CalibrateOptions, calibrate
from skelgen.pipeline.exporting import EXPORT_FORMATS, Exported, export
from skelgen.pipeline.forecasting import forecast_loads, load_record
from skelgen.pipeline.known_systems import chosen as chosen_system
from skelgen.pipeline.known_systems import compare_systems, known_systems
from skelgen.pipeline.load_series import LoadSource
from skelgen.pipeline.measuring import Measurement, measure
from skelgen.pipeline.mixing import fit_mix
from skelgen.pipeline.page import write_page
from skelgen.pipeline.parallel import launched, team
from skelgen.pipeline.phasing import phases
from skelgen.pipeline.predicting import predict
from skelgen.pipeline.recording import info, record, shim_path
from skelgen.pipeline.selecting import SelectOptions, select
from skelgen.pipeline.sharing import share
from skelgen.pipeline.storing_typed import columns_mapping, known_of, typed_run
from skelgen.pipeline.systems import measure_system
from skelgen.pipeline.timing import TimedRun, timed
from skelgen.pipeline.track_record import is_store, shown_store, track_record
from skelgen.pipeline.trusting import KnownErrors, known_errors, trust_learn
from skelgen.pipeline.workload import workload_add, workload_plan, workload_predict

__all__ = [
    "EXPORT_FORMATS",
    "BuildOptions",
    "CalibrateOptions",
    "Exported",
    "KnownErrors",
    "LoadSource",
    "Measurement",
    "SelectOptions",
    "TimedRun",
    "build",
    "calibrate",
    "chosen_system",
    "columns_mapping",
    "compare_systems",
    "export",
    "fit_mix",
    "forecast_loads",
    "info",
    "is_store",
    "known_errors",
    "known_of",
    "known_systems",
    "launched",
    "load_record",
    "measure",
    "measure_system",
    "phases",
    "predict",
    "record",
    "select",
    "share",
    "shim_path",
    "shown_store",
    "team",
    "timed",
    "track_record",
    "trust_learn",
    "typed_run",
    "workload_add",
    "workload_plan",
    "workload_predict",
    "write_page",
]
