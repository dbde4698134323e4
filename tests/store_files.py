"""Files of every kind that a store reads, written into a folder."""

from __future__ import annotations

import json
from pathlib import Path

from skelgen.store.lines import to_line
from skelgen.store.rows import Fact, Run, RunPart, Series
from tests.fuzz_cases import _recorded

CSV = """app,time_ms,ranks,n,solver,hosts,started,status
heat,12300,8,2000,cg,"n1,n2",2026-01-31T12:00:00Z,ok
heat,4500.5,4,1000,cg,n1,1769860900.25,exit 3
heat,4500.5,4,1000,"a ""b""
c",n[1-2],,signal 9
"""
EXTRAP_TEXT = """# an experiment
PARAMETER p
PARAMETER n
POINTS ( 1 100 ) ( 2 100 )
POINTS (4 100)
REGION main
METRIC time
DATA 10 10.5
DATA 6 6.25
DATA 4
REGION main->solve
METRIC time
DATA 8 8.5
DATA 4.5 4.75
DATA 2
METRIC visits
DATA 5 5
DATA 5 5
DATA 5
"""
EXTRAP_JSON = {
    "parameters": ["p", "n"],
    "measurements": {
        "main": {
            "time": [
                {"point": [1, 100], "values": [10, 10.5]},
                {"point": [2, 100], "values": [6, 6.25]},
            ]
        },
        "main->solve": {"time": [{"point": [1, 100], "values": [8, 8.5]}]},
    },
}
EXTRAP_OLDER = {
    "callpaths": [{"id": 1, "name": "main"}],
    "coordinates": [
        {"id": 1, "parameter_value_pairs": [{"parameter_id": 1, "parameter_value": 8}]},
        {
            "id": 2,
            "parameter_value_pairs": [{"parameter_id": 1, "parameter_value": 16}],
        },
    ],
    "measurements": [
        {"callpath_id": 1, "coordinate_id": 1, "id": 1, "metric_id": 1, "value": 3.5},
        {"callpath_id": 1, "coordinate_id": 2, "id": 2, "metric_id": 1, "value": 2.5},
    ],
    "metrics": [{"id": 1, "name": "time"}],
    "parameters": [{"id": 1, "name": "ranks"}],
}
EXTRAP_LINES = [
    {"params": {"ranks": 2, "n": 10}, "value": 1.5},
    {"params": {"n": 10, "ranks": 4}, "value": [0.75, 0.8]},
]
OBJECTS = [
    {"app": "heat", "time": 12.3, "ranks": 8, "n": 2000, "solver": "cg"},
    {"app": "heat", "time": 4.5, "ranks": 4, "n": 1000},
]
MEASURED = {
    "format": 2,
    **{"p5_s": 1.5, "paet_s": 1.6, "p95_s": 1.7, "measured_p5_s": 1.55},
    **{"measured_p95_s": 1.65, "verdict": "do not trust", "ranks": 2},
    "doubts": [{"code": "busy", "text": "x", "remedy": ""}],
    "structures": [],
}
PREDICTED = {
    "format": 2,
    "sets": [
        {"hosts": ["n1", "n2"], "predicted_s": 10.0, "p5_s": 9.0, "p95_s": 11.5}
        | {"verdict": "trust", "doubts": []},
        {"hosts": ["n3", "n3"], "predicted_s": 20.0, "p5_s": 19.0, "p95_s": 21.5},
    ],
    "failed": [],
}
WORKLOAD = {"at": {"n": 400.0}, "paet_s": 3.0, "p5_s": 2.0, "p95_s": 4.0}
STUDY = """skelgen_workload: 1
command: [mpirun, -n, '2', ./app, '{n}']
ranges: {}
points:
- at: {n: 100.0}
  run: run100
  ranks: 2
  application_s: 2.5
  phases:
  - {key: a, site_key: b, calls: [MPI_Barrier], events: 2, weight: 4, time_s: 0.5}
  - {key: a, site_key: c, calls: [MPI_Barrier], events: 2, weight: 1, time_s: 0.25}
- at: {n: 200.0}
  run: measured.json
  ranks: 2
  application_s: 5.0
  phases: []
  measured: true
  half_width: 0.1
"""
ROWS = (
    Run(
        "a", 1.5, ranks=2, inputs=(("n", 1.0), ("s", "1")), identity="r1", hosts=("n1",)
    ),
    Run("b", 2.5, parts=(RunPart("k", "kernel", 0.5, 3.0, 0.6),), identity="r2"),
    Fact("n1", "float_multiply_add", 1e9, "1/s", 0.9e9, 1.1e9),
    Series("n1", "cpu", (1.0, 2.0), (0.5, 0.75)),
)
#: Files that are read as they are; the name of each says how.
NAMES = (
    "runs.csv", "own.jsonl", "objects.jsonl", "extrap.txt", "extrap.json",
    "older.json", "extrap.jsonl", "measured.json", "predicted.json", "workload.json",
    "study.yaml",
)  # fmt: skip


def write_all(folder: Path) -> None:
    """Write each of `NAMES`, and a recorded run `run`."""
    texts = {
        "runs.csv": CSV,
        "own.jsonl": lines(to_line(row) for row in ROWS),
        "objects.jsonl": lines(OBJECTS),
        "extrap.txt": EXTRAP_TEXT,
        "extrap.json": json.dumps(EXTRAP_JSON, indent=1),
        "older.json": json.dumps(EXTRAP_OLDER),
        "extrap.jsonl": lines(EXTRAP_LINES),
        "measured.json": json.dumps(MEASURED, indent=2),
        "predicted.json": json.dumps(PREDICTED, indent=2),
        "workload.json": json.dumps(WORKLOAD),
        "study.yaml": STUDY,
    }
    assert set(texts) == set(NAMES)
    for name, text in texts.items():
        (folder / name).write_text(text)
    _recorded(folder / "run", 300)


def lines(objects: object) -> str:
    """Return objects as JSON lines."""
    return "".join(json.dumps(one) + "\n" for one in objects)  # type: ignore[attr-defined]
