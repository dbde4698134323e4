"""Predictions are kept where a store is set, and compared with what happens."""

from __future__ import annotations

import json
import platform
import time
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest

from skelgen.cli.main import run
from skelgen.launch.hosts import Host
from skelgen.phase_execution import execute
from skelgen.phase_execution.estimate import Estimate
from skelgen.phases import store as phases_store
from skelgen.pipeline.keep_predictions import Keeping, names
from skelgen.pipeline.measure import measure
from skelgen.prediction.skeleton_file import FACTS_FILE
from skelgen.store import Run, StoredPrediction, open_store, place_of
from skelgen.trust import Doubt, Interval
from skelgen.trust import store as trust_store
from skelgen.workload import store as workload_store
from tests.known_skeleton import FACTS
from tests.unit.test_cli_predict import folder  # noqa: F401
from tests.unit.test_cli_select import AT_LEISURE, folders  # noqa: F401
from tests.unit.test_pipeline_measure import STORED
from tests.unit.test_workload import WHOLE

#: Where `measure` finds what it calls.
MEASURE = "skelgen.pipeline.measure"


BEGAN = "2026-11-23T12:00:00+00:00"
BEGAN_S = 1795435200.0


@pytest.fixture
def place(tmp_path: Path) -> str:
    return str(tmp_path / "store.db")


def kept(place: str) -> list[StoredPrediction]:
    with open_store(place, make=False) as store:
        return store.predictions()


def add(place: str, *rows: Run | StoredPrediction) -> None:
    with open_store(place) as store:
        assert len(store.add(rows).added) == len(rows)


def recorded(folder: Path) -> None:  # noqa: F811
    """Let a skeleton say when its application was recorded."""
    text = json.loads((folder / FACTS_FILE).read_text())
    text.pop("checksum", None)
    text["signature"]["recorded"] = BEGAN
    (folder / FACTS_FILE).write_text(json.dumps(text))


class TestKeeping:
    def test_predict_keeps_what_it_predicts_for_each_set(self, capsys, folder, place):  # noqa: F811
        before = time.time()
        words = ["--hosts", "g1,g2", "--hosts", "localhost:2", "--json"]
        assert run(["predict", str(folder), *words, "--store", place]) == 0
        told = json.loads(capsys.readouterr().out)["sets"]
        rows = kept(place)
        assert {one.hosts for one in rows} == {("g1", "g2"), (platform.node(),)}
        for one in rows:
            assert (one.method, one.application) == ("whole-events", "app")
            assert (one.ranks, one.inputs, one.family) == (2, (), "MPICH")
            assert before <= one.made <= time.time()
            assert one.source == str(folder)
        (there,) = (one for one in rows if one.hosts == ("g1", "g2"))
        (said,) = (one for one in told if one["hosts"] == ["g1", "g2"])
        assert there.interval == Interval(
            said["p5_s"], said["predicted_s"], said["p95_s"]
        )
        assert there.measured is not None
        assert there.measured.p5 == said["measured_p5_s"] > there.interval.p5
        assert (there.verdict, there.doubts) == ("do not trust", ("other-hosts",))

    @pytest.mark.parametrize("command", ["predict", "select", "workload"])
    def test_an_answer_that_is_added_later_is_the_prediction_that_was_kept(
        self,
        capsys,
        folders,  # noqa: F811
        tmp_path,
        place,
        command,
    ):
        workload_store.save(WHOLE, tmp_path / "heat.yaml")
        words = {
            "predict": ["predict", folders[0], "--hosts", "g1,g2", "--app", "a"],
            "select": ["select", *folders, "--from", "n[1-3]", *AT_LEISURE],
            "workload": ["workload", "predict", str(tmp_path / "heat.yaml")],
        }[command]
        words += ["--at", "n=2500,steps=100"] if command == "workload" else []
        said = ["--input", "mesh=fine", "--store", place, "--json"]
        assert run([*words, *said]) == 0
        (tmp_path / "answer.json").write_text(capsys.readouterr().out)
        other = str(tmp_path / "other.db")
        assert (
            run(["store", "add", str(tmp_path / "answer.json"), "--store", other]) == 0
        )

        def told(one: StoredPrediction):
            about = one.method, one.application, one.inputs, one.ranks
            return about, one.hosts, one.interval, one.verdict

        assert sorted(map(str, map(told, kept(other)))) == sorted(
            map(str, map(told, kept(place)))
        )
        assert kept(other)

    def test_without_a_store_nothing_is_made(self, capsys, folder):  # noqa: F811
        assert run(["predict", str(folder)]) == 0
        assert not Path(place_of().where).exists()
        assert "warning" not in capsys.readouterr().err

    def test_the_variable_sets_a_store_too(
        self,
        folder,  # noqa: F811
        place,
        monkeypatch,
    ):
        monkeypatch.setenv("SKELGEN_STORE", place)
        assert run(["predict", str(folder), "--app", "b", "--input", "n=2e3,m=x"]) == 0
        (one,) = kept(place)
        assert one.application == "b"
        assert one.inputs == (("m", "x"), ("n", 2000.0))

    def test_the_users_store_keeps_them_once_there_is_one(
        self,
        folder,  # noqa: F811
        tmp_path,
        monkeypatch,
    ):
        monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
        with open_store():
            pass
        assert run(["predict", str(folder)]) == 0
        assert len(kept(place_of().where)) == 1

    @pytest.mark.parametrize(
        "bad", ["folder", "mysql://u:s3cret@h/db", "notes.txt", "notes.txt/store"]
    )
    def test_a_store_that_keeps_nothing_is_a_warning(
        self,
        capsys,
        folder,  # noqa: F811
        tmp_path,
        monkeypatch,
        bad,
    ):
        monkeypatch.chdir(tmp_path)
        (tmp_path / "folder").mkdir()
        (tmp_path / "notes.txt").write_text("Nothing that SQLite wrote.\n" * 99)
        assert run(["predict", str(folder), "--store", bad, "--json"]) == 0
        out, err = capsys.readouterr()
        assert len(json.loads(out)["sets"]) == 1
        (warning,) = (line for line in err.splitlines() if "warning" in line)
        assert warning.startswith("skelgen: warning: the prediction was not kept: ")
        assert "s3cret" not in err

    def test_inputs_that_are_none_are_refused(self, capsys, folder):  # noqa: F811
        for text in ("n", "n=", "=3", "n=1,n=2"):
            assert run(["predict", str(folder), "--input", text]) == 2
            assert "--input" in capsys.readouterr().err

    def test_select_keeps_every_candidate(self, folders, place, capsys):  # noqa: F811
        words = [*folders, "--from", "n[1-3]", *AT_LEISURE, "--json"]
        assert run(["select", *words, "--store", place]) == 0
        told = json.loads(capsys.readouterr().out)["sets"]
        assert len(told) == 3
        assert {one.hosts for one in kept(place)} == {tuple(s["hosts"]) for s in told}

    def test_a_workload_is_its_own_input_and_has_no_hosts(self, tmp_path, place):
        file = tmp_path / "heat.yaml"
        workload_store.save(WHOLE, file)
        words = [str(file), "--at", "n=2500,steps=100", "--store", place]
        assert run(["workload", "predict", *words]) == 0
        assert run(["workload", "predict", *words, "--input", "mesh=fine"]) == 0
        first, second = kept(place)
        assert (first.method, first.application) == ("workload", "heat")
        assert first.inputs == (("n", 2500.0), ("steps", 100.0))
        assert (first.ranks, first.hosts) == (2, ())
        assert second.inputs == (("mesh", "fine"), *first.inputs)

    @pytest.mark.parametrize("elsewhere", [False, True])
    def test_measure_keeps_the_time_of_the_phases(self, place, monkeypatch, elsewhere):
        found = Estimate((), Interval(9.0, 10.0, 11.0), Interval(9.5, 10.0, 10.5), ())
        here = SimpleNamespace(runner=None, elsewhere=elsewhere, hosts=(), mpi="")
        chosen = SimpleNamespace(name="live"), None
        monkeypatch.setattr(f"{MEASURE}.choose", lambda *_, **__: chosen)
        done = execute.Execution((), 1.0)
        monkeypatch.setattr(f"{MEASURE}.execute", lambda *_, **__: done)
        monkeypatch.setattr(
            "skelgen.pipeline.measure.application_of", lambda *_, **__: (here, ())
        )
        monkeypatch.setattr(f"{MEASURE}.estimate", lambda *_: found)
        measure(STORED, keeping=Keeping(place))
        (one,) = kept(place)
        known = phases_store.load(STORED)
        assert (one.method, one.ranks) == ("phases", known.ranks)
        assert one.application == known.provenance.application
        assert one.hosts == (() if elsewhere else (platform.node(),))
        assert (one.interval, one.measured) == (found.time_s, found.measured_s)

    def test_other_arguments_are_other_inputs(self, place, monkeypatch):
        run_of = self._measured_run(place)
        doubts = (Doubt("other-arguments", "other"),)
        for said, inputs in (((), run_of.inputs), (doubts, ())):
            found = Estimate((), Interval(9, 10, 11), Interval(9, 10, 11), said)
            here = SimpleNamespace(runner=None, elsewhere=False, hosts=(), mpi="")
            monkeypatch.setattr(
                "skelgen.pipeline.measure.choose",
                lambda *_, **__: (SimpleNamespace(name="live"), 0),
            )
            done = execute.Execution((), 1.0)
            monkeypatch.setattr(
                "skelgen.pipeline.measure.execute", lambda *_, done=done, **__: done
            )
            monkeypatch.setattr(
                "skelgen.pipeline.measure.application_of",
                lambda *_, here=here, **__: (here, ()),
            )
            monkeypatch.setattr(
                "skelgen.pipeline.measure.estimate", lambda *_, f=found: f
            )
            monkeypatch.setattr(phases_store, "load", self._dated)
            measure(STORED, keeping=Keeping(place))
            assert kept(place)[-1].inputs == inputs

    _load = staticmethod(phases_store.load)

    @classmethod
    def _dated(cls, path: Path):
        """Return a stored signature with a date: shared ones have none."""
        found = cls._load(path)
        return replace(found, provenance=replace(found.provenance, recorded=BEGAN))

    @classmethod
    def _measured_run(cls, place: str) -> Run:
        found = cls._load(STORED)
        one = Run(
            "lmp",
            found.application_s,
            ranks=found.ranks,
            started=BEGAN_S,
            inputs=(("atoms", 4000.0),),
        )
        add(place, one)
        return one


RECORDED = Run(
    "heat",
    FACTS.application_s,
    ranks=2,
    started=BEGAN_S + 0.5,
    inputs=(("n", 2000.0),),
)


class TestInputsOfTheRecording:
    def test_they_are_those_of_the_run_in_the_store(self, folder, place):  # noqa: F811
        recorded(folder)
        add(place, RECORDED)
        assert run(["predict", str(folder), "--store", place]) == 0
        (one,) = kept(place)
        assert (one.application, one.inputs) == ("heat", RECORDED.inputs)

    @pytest.mark.parametrize(
        "other",
        [
            {"started": BEGAN_S + 3600},
            {"started": float("nan")},
            {"ranks": 4},
            {"time_s": 1.01 * FACTS.application_s},
        ],
    )
    def test_another_run_says_nothing_of_them(self, folder, place, other):  # noqa: F811
        recorded(folder)
        add(place, replace(RECORDED, **other))
        assert run(["predict", str(folder), "--store", place]) == 0
        (one,) = kept(place)
        assert (one.application, one.inputs) == ("app", ())

    def test_what_the_user_says_counts_more(self, folder, place):  # noqa: F811
        recorded(folder)
        add(place, RECORDED)
        words = ["--store", place, "--input", "n=1", "--app", "cfd"]
        assert run(["predict", str(folder), *words]) == 0
        (one,) = kept(place)
        assert (one.application, one.inputs) == ("cfd", (("n", 1.0),))

    def test_two_runs_that_differ_say_nothing(self, folder, place):  # noqa: F811
        recorded(folder)
        add(place, RECORDED, replace(RECORDED, inputs=(("n", 1.0),)))
        assert run(["predict", str(folder), "--store", place]) == 0
        assert kept(place)[0].inputs == ()


def test_this_machine_has_one_name():
    here = platform.node()
    assert names(()) == names((Host("localhost", 2),)) == (here,)
    assert names((Host("127.0.0.1"), Host("n1"))) == (here, "n1")


def record(capsys, place: str, *words: str) -> list[dict]:
    assert run(["store", "record", "--store", place, "--json", *words]) == 0
    return json.loads(capsys.readouterr().out)["methods"]


class TestWhatHappened:
    def test_a_run_that_follows_is_the_truth(self, capsys, folder, place):  # noqa: F811
        words = [str(folder), "--input", "n=5", "--store", place, "--json"]
        assert run(["predict", *words]) == 0
        (said,) = json.loads(capsys.readouterr().out)["sets"]
        (before,) = record(capsys, place)
        assert before == {
            "method": "whole-events",
            "predictions": 1,
            "happened": 0,
            "median_error": None,
            "p90_error": None,
            "inside": None,
            "doubted": 0,
        }
        happened = Run(
            "app",
            1.25 * said["predicted_s"],
            ranks=2,
            inputs=(("n", 5.0),),
            hosts=(platform.node(),),
            started=time.time() + 600,
        )
        earlier = replace(happened, time_s=1.0, started=BEGAN_S)
        add(place, happened, earlier, replace(happened, time_s=2.0, ranks=4))
        (after,) = record(capsys, place)
        assert after["happened"] == 1
        assert after["median_error"] == pytest.approx(0.2)
        assert after["p90_error"] == pytest.approx(0.2)
        assert after["inside"] == 0.0
        assert record(capsys, place, "--within", "5min")[0]["happened"] == 0
        assert record(capsys, place, "--app", "other") == []

    def test_a_run_that_was_typed_afterwards_is_the_truth(
        self,
        capsys,
        folder,  # noqa: F811
        place,
    ):
        """Nothing says when it began: it counts from when it was typed."""
        typed = ["store", "add", "--app", "app", "--ranks", "2", "--input", "n=5"]
        typed += ["--hosts", platform.node(), "--store", place, "--time"]
        assert run([*typed, "1"]) == 0
        capsys.readouterr()
        words = ["--input", "n=5", "--store", place, "--json"]
        assert run(["predict", str(folder), *words]) == 0
        (said,) = json.loads(capsys.readouterr().out)["sets"]
        assert run([*typed, str(1.25 * said["predicted_s"])]) == 0
        capsys.readouterr()
        (found,) = record(capsys, place)
        assert found["median_error"] == pytest.approx(0.2)

    def test_a_table_without_starts_is_no_truth_and_that_is_said(
        self, capsys, tmp_path, place
    ):
        """Its runs may be older than the prediction: a file's date says little."""
        now = time.time()
        interval = Interval(9.0, 10.0, 11.0)
        inputs = (("n", 5.0),)
        add(
            place,
            StoredPrediction("phases", "a", interval, now, ranks=2, inputs=inputs),
        )
        (tmp_path / "a.csv").write_text("app,time,ranks,n\na,8,2,5\na,9,4,5\nb,8,2,5\n")
        words = ["store", "add", str(tmp_path / "a.csv"), "--store", place]
        assert run(words) == 0
        capsys.readouterr()
        assert record(capsys, place)[0]["happened"] == 0
        assert run(["store", "record", "--store", place]) == 0
        said = capsys.readouterr().err
        assert "do not say when they began: 1 (such as" in said and "--started" in said
        assert run([*words, "--started", str(now + 60)]) == 0
        capsys.readouterr()
        assert record(capsys, place)[0]["median_error"] == pytest.approx(0.25)

    def test_people_see_a_table_or_what_is_missing(self, capsys, place):
        add(place, Run("a", 1.0))
        assert run(["store", "record", "--store", place]) == 0
        assert "no predictions" in capsys.readouterr().out
        add(place, PREDICTION, TRUTH)
        assert run(["store", "record", "--store", place]) == 0
        out = capsys.readouterr().out
        assert "whole-events" in out
        assert "9.1%" in out

    def test_doubted_predictions_can_be_left_out(self, capsys, place):
        add(place, PREDICTION, replace(PREDICTION, verdict="do not trust"))
        assert record(capsys, place)[0]["predictions"] == 2
        assert record(capsys, place)[0]["doubted"] == 1
        assert record(capsys, place, "--trusted")[0]["predictions"] == 1

    def test_only_applications_with_predictions_are_read(self, capsys, place):
        """Runs of others, without a start or of another time, change nothing."""
        other = replace(TRUTH, time_s=99.0)
        add(
            place,
            PREDICTION,
            replace(other, application="other"),
            replace(other, started=float("nan")),
            replace(other, started=PREDICTION.made - 9),
            replace(other, hosts=("n7",)),
            replace(other, status="exit 1"),
            replace(other, inputs=()),
            replace(TRUTH, started=TRUTH.started + 5),
        )
        assert record(capsys, place)[0]["median_error"] == pytest.approx(1 / 11)

    def test_no_store_is_one_line(self, capsys, place):
        assert run(["store", "record", "--store", place]) == 3
        assert "there is no store yet" in capsys.readouterr().err


PREDICTION = StoredPrediction(
    "whole-events",
    "a0",
    Interval(9.0, 10.0, 11.0),
    BEGAN_S,
    inputs=(("mesh", "fine"), ("n", 5.0)),
    ranks=2,
    hosts=("n1",),
    measured=Interval(9.5, 10.0, 10.5),
)
TRUTH = Run(
    "a0",
    11.0,
    ranks=2,
    hosts=("n1",),
    inputs=PREDICTION.inputs,
    started=BEGAN_S + 60,
)


def happened(place: str, count: int) -> None:
    for number in range(count):
        name = f"a{number}"
        made = replace(PREDICTION, application=name)
        add(place, made, replace(TRUTH, application=name))


class TestLearning:
    def test_errors_are_learnt_from_what_happened(self, capsys, tmp_path, place):
        happened(place, 10)
        file = tmp_path / "site.yaml"
        words = ["trust", "learn", "--store", place, "-o", str(file), "--json"]
        assert run(words) == 0
        (told,) = json.loads(capsys.readouterr().out)["methods"][:1]
        assert (told["method"], told["cases"]) == ("whole-events", 10)
        assert (told["applications"], told["own"]) == (10, True)
        expected = trust_store.load(file)[0].of("whole-events")
        assert expected.half_width == pytest.approx(
            (0.0953**2 - 0.0488**2) ** 0.5, 0.01
        )
        assert trust_store.load(file)[1].results == ("store.db",)

    def test_a_store_may_stand_among_the_results(self, capsys, tmp_path, place):
        happened(place, 2)
        results = tmp_path / "results.jsonl"
        results.write_text(
            '{"method": "whole-events", "application": "more", "predicted_s": 10, '
            '"truth_s": 11}\n'
        )
        file = tmp_path / "site.yaml"
        words = [str(results), place, "-o", str(file), "--json"]
        assert run(["trust", "learn", *words]) == 0
        told = json.loads(capsys.readouterr().out)["methods"][0]
        assert (told["cases"], told["applications"]) == (3, 3)

    def test_a_store_where_nothing_happened_teaches_nothing(self, capsys, place):
        add(place, PREDICTION)
        assert run(["trust", "learn", "--store", place]) == 3
        err = capsys.readouterr().err
        assert "no trusted prediction whose run is known" in err
        assert "too few applications" in err

    def test_runs_that_came_later_than_is_said_do_not_count(self, capsys, place):
        happened(place, 4)
        words = ["trust", "learn", "--store", place, "--within", "30s"]
        assert run(words) == 3
        assert "too few applications" in capsys.readouterr().err

    def test_without_anything_to_learn_from_it_says_so(self, capsys):
        assert run(["trust", "learn"]) == 2
        assert "nothing to learn from" in capsys.readouterr().err
