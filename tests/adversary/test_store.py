"""A payload in every text of a store, of the series of monitors, and of their answers.

The fields of rows are those that a row writes itself, so that a new field is attacked
without anybody thinking of it.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from skelgen.cli.main import run as skelgen
from skelgen.documents import json_field
from skelgen.errors import InputError
from skelgen.monitor.day_files import DayFile
from skelgen.monitor.records import SampleMark, SampleRow
from skelgen.pipeline.known_systems import write_rows
from skelgen.store import (
    Coupling,
    Fact,
    Message,
    Run,
    RunPart,
    Series,
    StoredModel,
    StoredPrediction,
    StoredRecording,
    Template,
)
from skelgen.store.kinds import kinds
from skelgen.store.lines import from_field, to_line
from skelgen.trust import Interval
from tests import fake_mpi
from tests.adversary.fields import put, samples
from tests.adversary.payloads import OBEYED, payloads
from tests.store_files import MEASURED, PREDICTED, WORKLOAD, lines
from tests.unit.test_pipeline_system import ROWS as SYSTEMS

PAYLOADS = sorted(payloads(Path("x"), Path("x")))
#: Where each is a round of many commands, these stand for the others.
FEW = ("c", "path", "shell", "terminal")
NOW = time.time()
#: Every text of each kind of row says something.
RUN = Run(
    *("heat", 12.3, 2, 1, 2, "a" * 64, (("mesh", "fine"), ("n", 8.0)), ("n1",)),
    **{"allocation": "job 7", "started": NOW, "system": "big", "mpi": "MPICH"},
    **{"loads": (("cpu_avg_min", 0.5),), "costs": (("cpu_s", 9.0),)},
    **{
        "parts": (RunPart("k", "phase", 0.5, 3.0, 0.6),),
        "source": "a.csv",
        "identity": "r",
    },
)
ROWS = (
    RUN,
    Fact("n1", "read", 2.0, "1/s", 1.0, 3.0, 1, 5, NOW, "big", "gcc", "6.1", "busy"),
    Message(("n1", "n2"), "SR", 2, 1e-6, 1e9, system="big", mpi="MPICH", doubt="busy"),
    Series("n1", "cpu", tuple(NOW - 6000 + 10 * n for n in range(600)), (0.5,) * 600),
    Template("t", "heat", "ADDM*N^3/(P-1)", ("N", "P")),
    Coupling("heat", ("a", "b"), 1.0, (("n", 8.0),), 2, "big"),
    StoredModel("m", "heat", NOW, "{}"),
    StoredPrediction(
        *("phases", "heat", Interval(1.0, 2.0, 3.0), NOW - 60, "trust", ("busy",)),
        **{"inputs": RUN.inputs, "ranks": 2, "hosts": ("n1",), "source": "skel"},
        **{"identity": "p", "family": "MPICH"},
    ),
    StoredRecording("r", "eJw="),
)
#: What a query that is made of texts would take for its own words.
QUERIES = (
    *("' OR 1=1 --", "'; DROP TABLE runs; --", "' UNION SELECT 1 --", '" OR ""="'),
    *("%", "_", "*", "') OR ('1'='1", "\\' OR 1=1 --", "x' AND 0; DELETE FROM runs; '"),
)


def test_rows_of_every_kind_are_attacked() -> None:
    assert {type(row) for row in ROWS} == {kind.type for kind in kinds().values()}


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a folder where commands work, in one where they must change nothing."""
    work = tmp_path / "work"
    work.mkdir()
    monkeypatch.chdir(work)
    fake_mpi.script(tmp_path / "evil", f"touch {tmp_path / 'canary'}")
    for name in ("STORE", "MONITOR", "STATE", "CACHE", "TRUST"):
        monkeypatch.setenv(f"SKELGEN_{name}", str(work / name.lower()))
    monkeypatch.setenv("SKELGEN_STORE", str(work / "s.db"))
    for name in ("SLURM_JOB_ID", "FLUX_URI", "PBS_JOBID"):
        monkeypatch.delenv(name, raising=False)
    return work


@pytest.fixture
def attacked(place: Path, capfd) -> Callable[..., tuple[int, str]]:
    """Return what runs a command and checks that no payload did anything."""
    root = place.parent

    def around() -> set[Path]:
        return {one for one in root.rglob("*") if place not in (one, *one.parents)}

    before = around()

    def run(*words: str) -> tuple[int, str]:
        capfd.readouterr()
        code = skelgen([*words])
        out, err = capfd.readouterr()
        assert code in (0, 2, 3, 5), (words, err)
        assert not OBEYED.search(out + err), (words, out, err)
        assert around() == before, words
        assert all(line.startswith("skelgen: ") for line in err.splitlines()), err
        errors = [line for line in err.splitlines() if "error: " in line[:18]]
        several = words[:2] == ("monitor", "status")  # a line for each host
        assert bool(errors) == (code != 0) and (several or len(errors) < 2), err
        return code, out

    return run


def text_of(place: Path, name: str) -> str:
    root = place.parent
    return payloads(root / "canary", root / "evil")[name]


def taken(document: Any, text: str) -> Iterator[Any]:
    """Yield a row with a payload in each of its texts that may be any, and in all."""
    whole = document
    for way in samples(document):
        try:
            from_field(json_field(json.dumps(put(document, way, text)), Path("x")))
        except InputError as error:
            assert error.exit_code
            continue
        if isinstance(value := _at(document, way), str) or way[-1] == "<key>":
            yield put(document, way, text)
            if value != "ok":
                whole = put(whole, way, text) if way[-1] != "<key>" else whole
    yield whole


def _at(document: Any, way: tuple[Any, ...]) -> Any:
    for step in way[:-1] if way[-1] == "<key>" else way:
        document = document[step]
    return document


@pytest.mark.parametrize("name", PAYLOADS)
def test_rows_of_a_store_run_nothing(place: Path, attacked, name: str) -> None:
    text = text_of(place, name)
    rows = [one for row in ROWS for one in taken(to_line(row), text)]
    assert len(rows) > 40
    Path("rows.jsonl").write_text(lines([*rows, *map(to_line, ROWS)]))
    assert attacked("store", "add", "rows.jsonl")[0] == 0
    identities = {one["identity"] for one in rows if "identity" in one}
    for words in (
        *(("store", word) for word in ("list", "record", "check")),
        *(("store", "list", "--repeats"), ("store", "list", "--app", text)),
        *(("store", "list", "--where", f"{text}=1"), ("store", "show", text)),
        *(("store", "list", "--where", f"host={text}"), ("store", "remove", "r", text)),
        *(("store", "show", one) for one in identities),
        *(("system", "list"), ("system", "show", "n1"), ("system", "show", text)),
        *(("system", "compare", "n1", text), ("forecast", "--nodes", "n1,n2")),
        ("forecast", "--nodes", "n1", "--store", "s.db", "--horizon", "10min"),
        ("trust", "learn", "--store", "s.db", "-o", "t.yaml"),
    ):
        attacked(*words)
    for form in ("jsonl", "csv", "extrap-text", "extrap-json"):
        attacked("store", "export", "--format", form, "-o", f"out-{form}")
        for path in Path(f"out-{form}").glob("*"):
            assert not OBEYED.search(path.read_text()), path
            assert path.name[0] not in "-." and path.name.isascii(), path
    again = ("--store", "again.db")
    assert attacked("store", "add", "out-jsonl", *again)[0] == 0
    assert attacked("store", "list", *again)[1] == attacked("store", "list")[1]


@pytest.mark.parametrize("name", FEW)
def test_files_for_a_store_run_nothing(place: Path, attacked, name: str) -> None:
    text = text_of(place, name)
    quoted = text.replace('"', '""')
    Path("a.csv").write_text(f'app,time,hosts,"{quoted}"\n"{quoted}",1,n1,"{quoted}"\n')
    Path("b.csv").write_text(f'app,time,hosts,status\nheat,1,"{quoted}","{quoted}"\n')
    Path("o.jsonl").write_text(lines([{"app": text, "time": 1, text: text}] * 2))
    Path("e.txt").write_text(
        f"PARAMETER p\nPOINTS (1) (2)\nREGION {text}\nMETRIC time\nDATA 1\nDATA 2\n"
    )
    files = ["a.csv", "b.csv", "o.jsonl", "e.txt"]
    for number, answer in enumerate((MEASURED, PREDICTED, WORKLOAD)):
        about = {"method": text, "application": text, "inputs": {text: text}}
        for way in samples(answer):
            bad = put(answer, way, text) | about
            Path(f"{number}.json").write_text(json.dumps(bad))
            attacked("store", "add", f"{number}.json")
        files.append(f"{number}.json")
    for file in files:
        attacked("store", "add", file)
        attacked("store", "add", file, "--columns", f"time={text}", "--app", text)
    attacked("store", "add", "--time", "1", "--app", text, "--input", f"n={text}")
    attacked("store", "add", text)
    attacked("store", "list")
    attacked("store", "record")


@pytest.mark.parametrize("query", QUERIES)
def test_no_text_becomes_a_query(place: Path, attacked, query: str) -> None:
    Path("rows.jsonl").write_text(lines(map(to_line, ROWS)))
    assert attacked("store", "add", "rows.jsonl")[0] == 0
    for words in (
        *(("--app", query), ("--where", f"system={query}")),
        *(("--where", f"host={query}"), ("--where", f"mesh={query}")),
        *(("--where", f"{query}=1"), ("--where", f"{query}={query}")),
    ):
        code, out = attacked("store", "list", "--json", *words)
        assert code == 2 or json.loads(out)["total"] == 0, words
    assert attacked("store", "show", query)[0] in (2, 3)
    assert attacked("store", "remove", query)[0] in (2, 3)
    assert attacked("store", "record", "--app", query)[0] == 0
    assert attacked("system", "show", query)[0] in (2, 3)
    assert attacked("forecast", "--nodes", query, "--store", "s.db")[0] in (2, 3)
    assert json.loads(attacked("store", "list", "--json")[1])["total"] == 1
    assert attacked("store", "check")[0] == 0


@pytest.mark.parametrize("name", FEW)
def test_files_of_systems_and_monitors_run_nothing(
    place: Path, attacked, name: str
) -> None:
    text = text_of(place, name)
    write_rows(SYSTEMS, Path("good.json"), force=False)
    good = json.loads(Path("good.json").read_text())
    good.pop("checksum", None)
    for way in samples(good):
        Path("bad.json").write_text(json.dumps(put(good, way, text)))
        for words in (("list",), ("show", "n1"), ("compare", "n1", "n2")):
            attacked("system", *words, "--file", "bad.json")
    file = DayFile(Path("monitor/n1"), 10.0)
    for number in range(5):
        file.add(SampleRow(NOW - 100 + 10 * number, (0.5, 1.0)), ("cpu", text))
        file.mark(SampleMark("refused", NOW, reason=text))
    file.close()
    (Path("monitor") / text.replace("/", "_").replace("\0", "")[:100]).mkdir()
    Path("monitor/n1/status.json").write_text(json.dumps({"running": text}))
    for words in (("show",), ("show", "--quantity", text), ("status",)):
        attacked("monitor", *words)
    attacked("monitor", "show", "--hosts", text)
    attacked("forecast", "--nodes", "n1", "--horizon", "60s")
    quoted = text.replace('"', '""')
    Path("l.csv").write_text(
        f'time,"{quoted}"\n' + "".join(f"{n},0\n" for n in range(99))
    )
    attacked("forecast", "--series", "l.csv", "--horizon", "9s")
    attacked("forecast", "--record")


#: What a monitor says of itself, by the command.
ANSWERS: dict[str, Any] = {
    "start": {"host": "n1", "pid": 7},
    "stop": {"host": "n1", "pid": 7},
    "once": {"host": "n1", "time": 1.0, "cpu": 0.5},
    "status": {
        **{"host": "n1", "running": True, "pid": 7, "since": 1.0, "last": 2.0},
        **{"samples": 3, "interval_s": 1.0, "cpu_share": 0.1, "rss_bytes": 9},
        "gap_s": 0.0,
    },
    "show": {
        "host": "n1",
        "curves": {"cpu": [[1.0], [0.5]], "run_queue": [[1.0], [2.0]]},
        "marks": [{"kind": "refused", "time": 1.0, "length_s": 0.0, "reason": "x"}],
        "damaged": ["x"],
    },
}


@pytest.mark.parametrize("name", FEW)
def test_answers_of_a_hostile_host_run_nothing(
    place: Path, attacked, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    text = text_of(place, name)
    Path("errors").write_text("")
    body = f"cat {place}/errors >&2; cat {place}/answer; exit $(cat {place}/code)"
    fake_mpi.script(place / "ssh", body)
    monkeypatch.setenv("SKELGEN_SSH", str(place / "ssh"))
    for command, answer in ANSWERS.items():
        bad = [put(answer, way, text) for way in samples(answer)]
        Path("code").write_text("0")
        for one in bad[:: 1 if name in ("terminal", "c") else 5]:
            Path("answer").write_text(json.dumps(one))
            attacked("monitor", command, "--hosts", "n1", *_LONG.get(command, ()))
        for code, errors in (("3", f"skelgen: error: {text}"), ("9", text)):
            Path("code").write_text(code)
            Path("errors").write_text(errors)
            attacked("monitor", command, "--hosts", "n1", *_LONG.get(command, ()))
        Path("errors").write_text("")


_LONG = {"show": ("--last", "999999h")}
