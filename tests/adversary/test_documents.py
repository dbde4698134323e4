"""A payload in every text of every file that we read, through the commands.

The fields are those of files that skelgen has just written itself, so that a new field
is attacked without anybody thinking of it. Where a reader refuses a payload, one line
says so; all fields that take it have it at the same time, and all commands run.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

import pytest

from skelgen.cli.main import run as skelgen
from skelgen.errors import InputError
from skelgen.launch.json_lines import JsonLines
from skelgen.launch.record import RunFacts, read_facts
from skelgen.phases import store as phases_store
from skelgen.phases.types import PROLOGUE
from skelgen.pipeline.mix import fitted_mix, mix_text
from skelgen.prediction import skeleton_file as facts_store
from skelgen.prediction.kept import KeptPrediction, KeptSet, load_kept
from skelgen.prediction.types import Calibration
from skelgen.reference.calibration import ComputeCalibration as Speed
from skelgen.reference.calibration import Mix
from skelgen.reference.mix_fit import Fit
from skelgen.signature import read as signature_read
from skelgen.signature import store as signature_store
from skelgen.trust import store as trust_store
from skelgen.trust.errors import MethodError
from skelgen.trust.recording_doubts import Unseen
from skelgen.trust.store import ErrorProvenance
from skelgen.workload import store as study_store
from tests.adversary.fields import (
    KEY,
    Way,
    pattern,
    put,
    read_json,
    read_lines,
    read_yaml,
    samples,
    ways,
    write_json,
    write_lines,
    write_yaml,
)
from tests.adversary.payloads import OBEYED, Tags, payloads
from tests.mpis import MPIS

HEAT = Path(__file__).parents[2] / "examples/heat2d.c"
#: Of a field that stands in many places three are attacked.
MOST_OCCURRENCES = 8
METHOD_ERRORS = Path(trust_store.__file__).with_name("method_errors.yaml")

pytestmark = [
    pytest.mark.mpi,
    pytest.mark.skipif(not MPIS, reason="no mpicc with its mpirun was found"),
]


@dataclass(frozen=True)
class Format:
    """A file that we read.

    Attributes
    ----------
    name : str
    read, write : callable
        From and to plain dicts, lists and texts.
    load : callable
        Reads the file as the commands do.
    known : callable
        Returns the names of fields that the format lists itself.
    """

    name: str
    read: Callable[[str], Any]
    write: Callable[[Any], str]
    load: Callable[[Path], object]
    known: Callable[[], set[str]] = set


def _names(kind: Any) -> set[str]:
    return {field.name for field in fields(kind)}


FORMATS = {
    one.name: one
    for one in (
        Format(
            "signature.yaml",
            read_yaml,
            write_yaml,
            signature_store.load,
            lambda: {*signature_read._FIELDS},
        ),
        Format(
            "phases.yaml",
            read_yaml,
            write_yaml,
            phases_store.load,
            lambda: {
                *phases_store._FIELDS,
                *phases_store._PHASE,
                *phases_store._SINCE,
                *phases_store._OPTIONAL,
            },
        ),
        Format(
            "skeleton.json",
            read_json,
            write_json,
            lambda path: facts_store.load(path.parent),
            lambda: _names(Calibration) | _names(Speed) | _names(Mix) - {"folder"},
        ),
        Format(
            "run.json",
            read_json,
            write_json,
            lambda path: read_facts(path.parent),
            lambda: _names(RunFacts),
        ),
        Format(
            "mix.json",
            read_json,
            write_json,
            lambda path: fitted_mix(path.parent),
            lambda: _names(Fit) | _names(Mix),
        ),
        Format(
            "study.yaml",
            read_yaml,
            write_yaml,
            study_store.load,
            lambda: {*study_store._POINT, *study_store._PHASE} - {"recorded_s"},
        ),
        Format(
            "measured.json",
            read_json,
            write_json,
            study_store.load_measured,
            lambda: {*study_store._MEASURED},
        ),
        Format(
            "method_errors.yaml",
            read_yaml,
            write_yaml,
            trust_store.load,
            lambda: _names(MethodError) | _names(ErrorProvenance),
        ),
        Format(
            "predictions.json",
            read_json,
            write_json,
            lambda path: load_kept(path.parent),
            lambda: _names(KeptPrediction) | _names(KeptSet),
        ),
        Format(
            "predict.jsonl",
            read_lines,
            write_lines,
            lambda path: JsonLines(path).read(),
        ),
        Format(
            "calibrate.jsonl",
            read_lines,
            write_lines,
            lambda path: JsonLines(path).read(),
        ),
    )
}


class Lab:
    """A folder with a file of each format, and what runs commands in it."""

    def __init__(self, root: Path) -> None:
        self.root, self.canary, self.program = root, root / "canary", root / "evil"
        self.program.write_text(f"#!/bin/sh\ntouch {self.canary}\n")
        self.program.chmod(0o755)
        self.payloads = payloads(self.canary, self.program)
        self.good = root / "good"
        self.work = root / "work"

    def launch(self, steps: str = "400") -> list[str]:
        return [*MPIS[0].launcher, "-n", "2", str(self.good / "app"), "128", steps]

    def make(self) -> None:
        """Write a file of each format with skelgen itself."""
        self.good.mkdir()
        line = [str(MPIS[0].compiler), "-O2", "-o", str(self.good / "app"), str(HEAT)]
        subprocess.run([*line, "-lm"], check=True)
        os.chdir(self.good)
        assert skelgen(["record", "-o", "run", "--json", "--", *self.launch()]) == 0
        fit = Fit(Mix(), wanted=(1.0, 1.0), got=(1.0, 1.0))
        words = ["build", "run", "--scale", "4", "-o", "skel"]
        assert skelgen([*words, "--compute-mix", "100,0,0"]) == 0
        (self.good / "run/mix.json").write_text(mix_text(fit))
        self.add_unseen()
        assert skelgen(["calibrate", "skel", "--runs", "1", "--force"]) == 0
        assert skelgen(["predict", "skel", "--budget", "1ms"]) == 0
        plan = ["workload", "plan", "study.yaml", "--range", "n=1:9", "--"]
        assert skelgen([*plan, *self.launch("{n}")]) == 0
        for n in (1, 2, 3):
            shutil.copytree("run", f"run{n}")
            add = ["workload", "add", "study.yaml", f"run{n}", "--at", f"n={n}"]
            assert skelgen(add) == 0
        (self.good / "measured.json").write_text(self.measured())
        shutil.copy(METHOD_ERRORS, self.good / "method_errors.yaml")

    def add_unseen(self) -> None:
        """Let recordings have seen named libraries, and a phase have all its facts."""
        unseen = Unseen(gpu=("libcuda.so.1",), hidden=("libtool.so (MPI_Send)",))
        known = signature_store.load(Path("skel"))
        signature_store.save(replace(known, unseen=unseen), Path("skel/signature.yaml"))
        phases = phases_store.load(Path("skel"))
        first, *others = phases.phases
        named = replace(first.phase, stratum="1 of 2 in turn", part=PROLOGUE)
        part = replace(first, phase=named)
        few = (
            replace(one, occurrences=one.occurrences[:MOST_OCCURRENCES])
            for one in (part, *others)
        )
        phases = replace(phases, phases=tuple(few), unseen=unseen)
        phases_store.save(phases, Path("skel/phases.yaml"))
        facts = Path("skel/skeleton.json")
        content = read_json(facts.read_text()) | {"unseen": unseen.facts()}
        facts.write_text(write_json(content))

    def measured(self) -> str:
        """Return what skelgen measure would print: of the phases that were found."""
        from skelgen.workload.store import plain_phases
        from skelgen.workload.types import point_phases

        known = phases_store.load(self.good / "skel")
        return json.dumps(
            {
                "paet_s": 2.0,
                "p5_s": 1.9,
                "p95_s": 2.1,
                "verdict": "trust",
                "ranks": 2,
                "structures": plain_phases(
                    point_phases(one.phase for one in known.phases)
                ),
            }
        )

    def place(self, name: str, folder: Path | None = None) -> Path:
        """Return where the file of a format stands."""
        below = {"run.json": "run", "mix.json": "run"}
        for other in ("skeleton.json", "signature.yaml", "phases.yaml"):
            below[other] = "skel"
        below |= {"predict.jsonl": "skel", "calibrate.jsonl": "skel"}
        below |= {"predictions.json": "skel"}
        return (folder or self.good) / below.get(name, ".") / name

    def document(self, one: Format) -> Any:
        return one.read(self.place(one.name).read_text())

    def renew(self) -> None:
        """Copy all good files to where commands work."""
        shutil.rmtree(self.work, ignore_errors=True)
        shutil.copytree(self.good, self.work)
        os.chdir(self.work)

    def around(self) -> set[str]:
        """Return all files outside the folder where commands work."""
        return {
            str(path)
            for path in self.root.rglob("*")
            if self.work not in (path, *path.parents)
        }


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Lab:
    made = Lab(tmp_path_factory.mktemp("lab"))
    before = Path.cwd()
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("PATH", f"{MPIS[0].compiler.parent}:{os.environ['PATH']}")
        patched.setenv("SKELGEN_STATE", str(made.root / "own"))
        patched.setenv("FI_LOG_LEVEL", "warn")  # a variable of MPI, to be recorded
        made.make()
    os.chdir(before)
    return made


@pytest.fixture
def attacked(lab: Lab, monkeypatch: pytest.MonkeyPatch, capfd) -> Callable[..., str]:
    """Return what runs a command and checks that no payload did anything."""
    monkeypatch.chdir(lab.root)
    monkeypatch.setenv("PATH", f"{MPIS[0].compiler.parent}:{os.environ['PATH']}")
    monkeypatch.setenv("SKELGEN_STATE", str(lab.root / "other"))  # another user's
    monkeypatch.setattr("skelgen.prediction.skeleton_facts.SHORTEST_TRUSTED_S", 1e-6)
    lab.renew()
    before = lab.around()

    def run(*words: str, code: int | set[int] = 0) -> str:
        capfd.readouterr()
        found = skelgen([*words])
        out, err = capfd.readouterr()
        assert found in (code if isinstance(code, set) else {code}), (words, err)
        assert not OBEYED.search(out + err), (words, out, err)
        assert not lab.canary.exists(), words
        changed = {path for path in lab.around() ^ before if "/other" not in path}
        assert not changed, words
        return out + err

    return run


def taken(lab: Lab, one: Format, text: str) -> list[Way]:
    """Return the ways to texts of a format that take a payload.

    Of a field that stands in many places two are tried.
    """
    document, path = lab.document(one), lab.place(one.name, lab.work)
    found, refused = [], set()
    tried = samples(document)
    for way in tried:
        path.write_text(one.write(put(document, way, text)))
        try:
            one.load(path)
        except InputError as error:
            assert "\n" not in str(error), (way, error)
            refused.add(pattern(way))
        else:
            found.append(way)
    whole = {pattern(way) for way in found} - refused
    others = (way for way in ways(document) if pattern(way) in whole)
    return list(dict.fromkeys((*found, *others)))


def infected(lab: Lab, one: Format, text: str) -> set[Way]:
    """Write the file of a format with a payload in all texts that take it."""
    hit, document = taken(lab, one, text), lab.document(one)
    # Keys last: what stands below them is found by their old names. One key of a
    # mapping can have the payload's name.
    named: set[Way] = set()
    for way in sorted(hit, key=lambda way: (way[-1] == KEY, -len(way))):
        if way[-1] != KEY or way[:-2] not in named:
            named |= {way[:-2]} if way[-1] == KEY else set()
            document = put(document, way, text)
    path = lab.place(one.name, lab.work)
    path.write_text(one.write(document))
    one.load(path)
    return {pattern(way) for way in hit}


PAYLOADS = sorted(payloads(Path("x"), Path("x")))


def test_the_files_that_are_attacked_have_every_field(lab: Lab) -> None:
    for one in FORMATS.values():
        names = {step for way in ways(lab.document(one)) for step in way}
        assert one.known() <= names, one.name
    assert lab.document(FORMATS["run.json"])["environment"]
    assert lab.document(FORMATS["phases.yaml"])["files"]


@pytest.mark.parametrize("name", PAYLOADS)
def test_a_signature_runs_nothing(lab: Lab, attacked, name: str) -> None:
    hit = infected(lab, FORMATS["signature.yaml"], lab.payloads[name])
    assert {("provenance", field) for field in ("application", "mpi", "host")} <= hit
    assert ("provenance", "command", "*") in hit
    if lab.payloads[name].isprintable():
        assert {("unseen", "gpu", "*"), ("unseen", "hidden", "*")} <= hit
    assert ("families", "*", "kind") not in hit
    (lab.work / "skel/phases.yaml").unlink()
    os.chdir(lab.work)
    attacked("share", "skel/signature.yaml", "-o", "shared.yaml")
    shared = json.dumps(read_yaml(Path("shared.yaml").read_text()))
    assert json.dumps(lab.payloads[name])[1:-1] not in shared
    attacked("build", "skel/signature.yaml", "--scale", "4", "-o", "new")
    assert len(Tags.of((lab.work / "new/report.html").read_text())) > 5
    good = Tags.of((lab.good / "skel/report.html").read_text())
    assert Tags.of((lab.work / "new/report.html").read_text()) <= good
    compiler = f"MPICC={MPIS[0].compiler}"
    subprocess.run(["make", "-s", "-C", "new", compiler], check=True)
    line = [*MPIS[0].launcher, "-n", "2", "new/skeleton"]
    done = subprocess.run(line, capture_output=True, check=True)
    assert json.loads(done.stdout)["skeleton"] == lab.payloads[name]
    assert not lab.canary.exists()
    told = attacked("calibrate", "new", code=2)
    assert "--allow-command" in told
    attacked(
        "calibrate", "new", "--application-time", "recorded", "--runs", "1", "--force"
    )
    attacked("predict", "new", "--budget", "1ms")
    attacked("predict", "new", "--budget", "1ms", "--json")
    attacked("select", "new", "--hosts", "localhost:2", "--budget", "1ms", code={0, 5})


@pytest.mark.parametrize("name", PAYLOADS)
def test_phases_run_nothing(lab: Lab, attacked, name: str) -> None:
    hit = infected(lab, FORMATS["phases.yaml"], lab.payloads[name])
    assert ("provenance", "command", "*") in hit
    if lab.payloads[name].isprintable():
        assert ("unseen", "hidden", "*") in hit
    assert ("environment", "*") not in hit  # no name but those of MPI
    assert ("environment", "FI_LOG_LEVEL") in hit
    assert ("environment", "FI_LOG_LEVEL", KEY) not in hit
    phases = "skel/phases.yaml"
    for words in (["phases", phases], ["phases", phases, "--json"]):
        attacked(*words)
    attacked("phases", phases, "-o", "copy.yaml")
    for command in (["measure", phases], ["predict", phases]):
        assert "--allow-command" in attacked(*command, code=2)
    attacked("select", phases, "--hosts", "localhost:2", code=2)
    attacked("workload", "add", "new.yaml", phases, "--at", "n=4")
    attacked("workload", "plan", "new.yaml", "--range", "n=1:9")
    attacked("build", "skel/", "--scale", "4", "-o", "new")


@pytest.mark.parametrize("name", PAYLOADS)
def test_the_description_of_a_skeleton_runs_nothing(
    lab: Lab, attacked, name: str
) -> None:
    hit = infected(lab, FORMATS["skeleton.json"], lab.payloads[name])
    assert {("command", "*"), ("compute", "cpu"), ("mpi",)} <= hit
    assert ("launch", "environment", "FI_LOG_LEVEL") in hit
    assert ("launch", "environment", "FI_LOG_LEVEL", KEY) not in hit
    assert "--allow-command" in attacked("calibrate", "skel", code=2)
    attacked(
        "calibrate", "skel", "--application-time", "recorded", "--runs", "1", "--force"
    )
    attacked("predict", "skel", "--budget", "1ms")
    words = ["skel", "--hosts", "localhost:2", "--hosts", "localhost"]
    attacked("select", *words[:3], "--budget", "1ms", code={0, 5})


@pytest.mark.parametrize("name", PAYLOADS)
def test_the_description_of_a_run_runs_nothing(lab: Lab, attacked, name: str) -> None:
    hit = infected(lab, FORMATS["run.json"], lab.payloads[name])
    assert {("command", "*"), ("folder",), ("launcher",), ("mpi",)} <= hit
    infected(lab, FORMATS["mix.json"], lab.payloads[name])
    for words in (["info", "run"], ["info", "run", "--json"]):
        attacked(*words)
    attacked("build", "run", "--scale", "4", "-o", "new")
    assert "--allow-command" in attacked("calibrate", "new", code=2)
    attacked("phases", "run", "-o", "new.yaml")
    assert "--allow-command" in attacked("measure", "new.yaml", code=2)
    assert "--allow-command" in attacked("measure", "run", code=2)
    assert "--allow-command" in attacked("mix", "run", code=2)
    attacked("workload", "add", "new-study.yaml", "run", "--at", "n=1")


@pytest.mark.parametrize("name", PAYLOADS)
def test_a_study_runs_nothing(lab: Lab, attacked, name: str) -> None:
    hit = infected(lab, FORMATS["study.yaml"], lab.payloads[name])
    assert {("command", "*"), ("points", "*", "run")} <= hit
    infected(lab, FORMATS["measured.json"], lab.payloads[name])
    told = attacked("workload", "plan", "study.yaml", code={0, 2})
    # What people copy into a shell is one word for each of the command's.
    for line in re.findall(r"^skelgen record .*$", told, re.M):
        script = f"skelgen() {{ :; }}\n{line}"
        subprocess.run(["sh", "-c", script], check=True, cwd=lab.work)
        assert not lab.canary.exists()
    picture = ["-o", "new.svg"]
    attacked(
        "workload", "predict", "study.yaml", "--at", "n=4", *picture, code={0, 2, 3}
    )
    add = ["measured.json", "--at", "n=5"]
    attacked("workload", "add", "study.yaml", *add, code={0, 3})
    attacked("workload", "add", "new.yaml", *add)


@pytest.mark.parametrize("name", PAYLOADS)
def test_errors_of_methods_run_nothing(
    lab: Lab, attacked, monkeypatch, name: str
) -> None:
    hit = infected(lab, FORMATS["method_errors.yaml"], lab.payloads[name])
    assert {("provenance", "command"), ("methods", "*", "least_application")} <= hit
    monkeypatch.setenv("SKELGEN_TRUST", "method_errors.yaml")
    attacked("trust", "show")
    attacked("trust", "show", "--json")
    attacked("predict", "skel", "--budget", "1ms")
    attacked("trust", "learn", "method_errors.yaml", code=3)


@pytest.mark.parametrize("name", PAYLOADS)
def test_kept_runs_run_nothing(lab: Lab, attacked, name: str) -> None:
    for kept in ("predict.jsonl", "calibrate.jsonl"):
        infected(lab, FORMATS[kept], lab.payloads[name])
    attacked("predict", "skel", "--budget", "1ms", "--resume", code={0, 3})
    words = ["--application-time", "recorded", "--runs", "1", "--resume", "--force"]
    attacked("calibrate", "skel", *words, code={0, 3})


@pytest.mark.parametrize("name", PAYLOADS)
def test_kept_predictions_are_text_on_their_page(lab: Lab, attacked, name: str) -> None:
    hit = infected(lab, FORMATS["predictions.json"], lab.payloads[name])
    assert ("predictions", "*", "command") in hit
    attacked("predict", "skel", "--budget", "1ms")
    good = Tags.of((lab.good / "skel/report.html").read_text())
    assert len(good) > 5
    assert Tags.of((lab.work / "skel/report.html").read_text()) <= good


def test_the_name_of_a_variable_is_refused_and_named(lab: Lab, attacked) -> None:
    for one, way in (
        ("phases.yaml", ("environment", "FI_LOG_LEVEL", KEY)),
        ("skeleton.json", ("launch", "environment", "FI_LOG_LEVEL", KEY)),
        ("run.json", ("environment", 0, 0)),
    ):
        form = FORMATS[one]
        document = put(lab.document(form), way, "LD_PRELOAD")
        lab.place(one, lab.work).write_text(form.write(document))
    launch = ["--", *lab.launch()]
    assert "LD_PRELOAD" in attacked("measure", "skel/phases.yaml", *launch, code=3)
    assert "LD_PRELOAD" in attacked("predict", "skel", code=3)
    assert "LD_PRELOAD" in attacked("build", "run", "--scale", "4", code=3)


def test_values_of_strangers_are_not_set(lab: Lab, attacked, monkeypatch) -> None:
    """What FI_LOG_LEVEL says would be seen: libraries that MPI loads take others."""
    form = FORMATS["skeleton.json"]
    way = ("launch", "environment", "FI_LOG_LEVEL")
    lab.place(form.name, lab.work).write_text(
        form.write(put(lab.document(form), way, "trace"))
    )
    told = attacked("predict", "skel", "--budget", "1ms")
    assert "FI_LOG_LEVEL" in told
    assert "do not trust" in told


@pytest.mark.parametrize("how", ["empty", "without the program"])
def test_hashes_cannot_be_switched_off(lab: Lab, attacked, how: str) -> None:
    form = FORMATS["phases.yaml"]
    document = lab.document(form)
    document["files"] = {}
    if how != "empty":
        document["files"] = {str(HEAT): "00"}
    document["provenance"]["command"] = [str(lab.program)]
    lab.place(form.name, lab.work).write_text(form.write(document))
    for command in ("measure", "predict"):
        assert "--allow-command" in attacked(command, "skel/phases.yaml", code=2)


def test_ones_own_launch_needs_no_words(lab: Lab, monkeypatch, capfd) -> None:
    """The same files, for the user who recorded them."""
    monkeypatch.setenv("PATH", f"{MPIS[0].compiler.parent}:{os.environ['PATH']}")
    monkeypatch.setenv("SKELGEN_STATE", str(lab.root / "own"))
    monkeypatch.chdir(lab.root)
    lab.renew()
    assert skelgen(["calibrate", "skel", "--runs", "1", "--force"]) == 0
    assert skelgen(["predict", "skel", "--budget", "1ms"]) == 0
    # So short a program may not be worth it on a busy machine.
    assert skelgen(["measure", "skel/phases.yaml", "--share", "100%"]) == 0
    assert "allow-command" not in capfd.readouterr().err


def test_what_is_allowed_is_run(lab: Lab, monkeypatch, capfd) -> None:
    monkeypatch.setenv("PATH", f"{MPIS[0].compiler.parent}:{os.environ['PATH']}")
    monkeypatch.setenv("SKELGEN_STATE", str(lab.root / "third"))
    monkeypatch.chdir(lab.root)
    lab.renew()
    words = ["calibrate", "skel", "--runs", "1", "--force"]
    assert skelgen(words) == 2
    assert skelgen([*words, "--allow-command"]) == 0
    assert skelgen(words) == 0  # once is enough


def test_every_format_has_a_test(lab: Lab) -> None:
    """A file that a skeleton's or a run's folder holds is attacked here, or no text."""
    told = {path.name for path in (lab.good / "skel").iterdir()}
    told |= {path.name for path in (lab.good / "run").iterdir()}
    ours = {*FORMATS, "skeleton", "skeleton.c", "Makefile", "report.html", "select"}
    ours |= {"lines.json", "timeline.json"}  # test_cli_run_page, test_web_timeline
    left = {name for name in told - ours if not name.endswith((".skt", ".lock"))}
    assert left <= {".skelgen"}
