"""The accuracy run's arithmetic: order, errors, baselines, what a stopped run keeps."""

from __future__ import annotations

import subprocess
import sys
from collections import Counter
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import pytest

from benchmarks.accuracy.__main__ import _design, _options, _run
from benchmarks.accuracy.figures import bars
from benchmarks.accuracy.judge import Judgement, judge
from benchmarks.accuracy.machine import check_same
from benchmarks.accuracy.order import Design, trials
from benchmarks.accuracy.report import write
from benchmarks.accuracy.results import (
    SETTINGS,
    Key,
    Log,
    Refusal,
    Results,
    Run,
    options_of,
    read,
    read_all,
)
from skelgen.errors import InputError, MachineError, UsageError
from skelgen.launch.json_lines import JsonLines
from tests.testbed.scenarios import SCENARIOS

ROOT = Path(__file__).parents[2]


def results(**times: dict[str, dict[str, float]]) -> Results:
    """Write runs as application, scenario, what: seconds; a number is a length."""
    measured = {}
    for name, scenarios in times.items():
        for scenario, runs in scenarios.items():
            for what, taken in runs.items():
                length_s = float(what) if what[0].isdigit() else 0.0
                kind = "skeleton" if length_s else what
                for repeat, factor in enumerate((0.999, 1.0, 1.001)):
                    key = Key(name, scenario, kind, length_s, repeat)
                    measured[key] = Run(taken * factor, 0.25, 0.01)
    return Results(
        measured,
        (),
        (
            Refusal("b", "quiet", "paper2005", 1.0, "it would block"),
            Refusal("a", "quiet", "skeleton", 2.0, "could not be built at first"),
        ),
    )


TWO = results(
    a={
        "quiet": {"application": 20.0, "2": 2.0, "small": 1.0},
        "busy": {"application": 40.0, "2": 4.4, "small": 3.0},
    },
    b={
        "quiet": {"application": 10.0, "2": 2.5},
        "busy": {"application": 30.0, "2": 7.5},
    },
)


LINE = (
    '{"application": "a", "scenario": "quiet", "what": "application", "length_s": 0.0, '
    '"repeat": 0, "run": {"seconds": 1.0}}\n'
)


def judged(of: Results, method: str) -> list[Judgement]:
    return [one for one in judge(of) if one.method == method]


def page(of: Results, folder: Path) -> str:
    paths = write(of, folder, {"a": "mpirun", "b": "mpirun.openmpi"})
    assert paths[0] == folder / "accuracy.md"
    for path in paths[1:]:
        assert ElementTree.parse(path).getroot().tag.endswith("svg")
        assert f"figures/{path.name}" in paths[0].read_text()
    return paths[0].read_text()


class TestErrors:
    def test_a_prediction_is_time_there_by_the_quiet_ratio(self) -> None:
        found = judged(TWO, "skeleton")
        assert [(one.application, one.length_s) for one in found] == [
            ("a", 2.0),
            ("b", 2.0),
        ]
        assert [one.error for one in found] == pytest.approx([0.10, 0.0], abs=1e-9)
        assert [one.slowdown for one in found] == pytest.approx([2.0, 3.0])
        assert [one.held for one in found] == [True, True]

    def test_what_a_skeleton_takes_longer_counts_by_the_part_that_it_keeps(
        self,
    ) -> None:
        kept = {
            key: replace(run, part=0.11 if key.length_s else 0.0)
            for key, run in TWO.measured.items()
        }
        first = judged(replace(TWO, measured=kept), "skeleton")[0]
        predicted_s = 4.4 / 0.11 + 20.0 - 2.0 / 0.11
        assert first.error == pytest.approx(predicted_s / 40.0 - 1)

    def test_an_interval_has_the_error_of_the_other_applications(self) -> None:
        quiet = {"application": 20.0, "2": 2.0}
        alike = {
            f"a{n}": {"quiet": quiet, "busy": {"application": 40.0, "2": 4.0 + n / 100}}
            for n in range(10)
        }
        other = {"quiet": quiet, "busy": {"application": 40.0, "2": 4.4}}
        found = judged(results(**alike, other=other), "skeleton")
        held = {one.application: one.held for one in found}
        assert not held.pop("other")
        assert all(held.values())

    def test_applications_that_took_no_part_are_judged_by_the_errors_that_come_along(
        self, tmp_path
    ) -> None:
        quiet = {"application": 20.0, "2": 2.0}
        busy = {"application": 40.0, "2": 4.4}
        off = {f"a{n}": {"quiet": quiet, "busy": busy} for n in range(10)}
        far = {"quiet": quiet, "busy": {"application": 40.0, "2": 6.0}}
        of = results(**off, far=far)
        found = [one for one in judge(of, took_part=False) if one.case is not None]
        held = {one.application: one.held for one in found}
        assert not held.pop("far")
        assert all(held.values())
        write(of, tmp_path, {}, took_part=False)
        text = (tmp_path / "accuracy.md").read_text()
        assert "took no part" in text
        assert "by leaving one application out" not in text.lower()

    def test_baselines_know_other_applications_and_small_inputs_only(self) -> None:
        average, small = judged(TWO, "average"), judged(TWO, "small input")
        assert {one.application: one.error for one in average} == {
            "a": pytest.approx(3 / 2 - 1),
            "b": pytest.approx(2 / 3 - 1),
        }
        assert {one.application: one.error for one in small} == {
            "a": pytest.approx(3 / 2 - 1)
        }

    def test_a_scenario_is_judged_by_the_quiet_case_of_its_placement(self) -> None:
        sixth = SCENARIOS[6]
        found = judged(
            results(
                a={
                    "quiet": {"application": 1.0, "2": 1.0},
                    sixth.reference.name: {"application": 20.0, "2": 2.0},
                    sixth.name: {"application": 30.0, "2": 3.0},
                }
            ),
            "skeleton",
        )
        assert [(one.slowdown, one.error, one.alone) for one in found] == [
            (pytest.approx(1.5), pytest.approx(0.0), True)
        ]


class TestReport:
    def test_large_errors_are_named_one_by_one(self, tmp_path: Path) -> None:
        text = page(TWO, tmp_path)
        assert "| skeleton 2 s | 2 | 5.0 % | 9.0 % | 10.0 % | 100 % |" in text
        assert "| **2 s and more** |" not in text
        assert "| **1 s and more** | 2 | 5.0 % |" in text
        assert "| a | busy | skeleton 2 s | +10.0% |  |" in text
        assert "| b | busy | skeleton 2 s |" not in text

    def test_large_errors_of_the_fitted_mix_are_named_too(self, tmp_path: Path) -> None:
        fitted = {
            replace(key, what="fitted") if key.length_s else key: run
            for key, run in TWO.measured.items()
        }
        text = page(replace(TWO, measured=fitted), tmp_path)
        assert "| a | busy | fitted 2 s | +10.0% |  |" in text

    def test_the_commands_to_repeat_it_share_results_of_their_own(
        self, tmp_path: Path
    ) -> None:
        lines = [line.split() for line in page(TWO, tmp_path).splitlines()]
        made = [_options(w[3:]) for w in lines if "benchmarks.accuracy" in w[2:3]]
        assert [one.what for one in made] == ["run", "report"]
        assert made[0].results == ROOT / made[1].results
        assert ROOT / "docs" not in made[0].results.parents
        assert made[1].output == Path("build/accuracy")

    def test_errors_are_told_by_the_mpi_of_the_applications(
        self, tmp_path: Path
    ) -> None:
        calls = ({"mpi": {"mpirun": "MPICH 5", "mpirun.openmpi": "Open MPI 4"}},)
        text = page(replace(TWO, provenance=calls), tmp_path)
        assert "| MPICH 5 | a | 10.0 % | 10.0 % | - | 100 % |" in text
        assert "| Open MPI 4 | b | 0.0 % | 0.0 % | - | 100 % |" in text
        assert "| unknown | a, b | 5.0 % |" in page(TWO, tmp_path)

    def test_skeletons_that_cannot_be_had_are_named_with_the_reason(
        self, tmp_path: Path
    ) -> None:
        text = page(TWO, tmp_path)
        assert "| b | quiet | paper2005 | 1 s | it would block |" in text
        assert "could not be built at first" not in text

    def test_a_run_stopped_before_any_scenario_has_a_page_too(
        self, tmp_path: Path
    ) -> None:
        text = page(results(a={"quiet": {"application": 20.0}}), tmp_path)
        assert "19.98, 20.00, 20.02" in text

    def test_runs_of_the_sixth_scenario_alone_have_a_page_too(
        self, tmp_path: Path
    ) -> None:
        sixth = SCENARIOS[6]
        runs = {"application": 10.0, "1": 1.0}
        alone = {"a": {sixth.reference.name: runs, sixth.name: runs}}
        text = page(results(**alone), tmp_path)
        assert "## The sixth scenario" in text
        assert f"| a | {sixth.reference.name} | 9.99, 10.00, 10.01 | 0.2% |" in text

    def test_a_page_has_the_commands_and_the_mpis_of_all_calls(
        self, tmp_path: Path
    ) -> None:
        made = results(a={"quiet": {"application": 20.0}})
        calls = (
            {"mpi": {"mpirun": "MPICH 5"}, "words": ["run", "--apps", "a"]},
            {"mpi": {"mpirun.openmpi": "Open MPI 4"}, "words": ["run", "--apps", "b"]},
        )
        text = page(replace(made, provenance=calls), tmp_path)
        for word in ("run --apps a\n", "run --apps b\n", "MPICH 5", "Open MPI 4"):
            assert word in text

    def test_bars_end_where_the_axis_says(self) -> None:
        drawn = bars("t", ["one"], {"s": {"one": (0.05, 0.02, 0.10)}})
        text = [node.text for node in ElementTree.fromstring(drawn).iter()]
        assert "10 %" in text
        heights = [
            float(node.get("height", "0"))
            for node in ElementTree.fromstring(drawn).iter()
            if node.get("fill", "").startswith("#1b")
        ]
        assert heights[-1] == pytest.approx(90.0)


@pytest.mark.parametrize(
    ("now", "said"),
    [
        ({"mpi": {"mpirun": "MPICH 5"}, "entries": {"b": "2"}}, ""),
        ({"mpi": {"mpirun": "MPICH 4"}, "entries": {}}, "another MPI .* mpirun;"),
        ({"mpi": {}, "entries": {"b": "2", "a": "2"}}, "another entry .* name a;"),
        ({"environments": {"a": {"UCX_TLS": "tcp"}}}, ""),
        ({"builds": {"skelgen": "1"}}, ""),  # older files do not say
    ],
)
def test_runs_of_another_program_are_not_added_to_a_file(
    now: dict[str, dict[str, str]], said: str
) -> None:
    before = {"mpi": {"mpirun": "MPICH 5"}, "entries": {"a": "1"}}
    refused = pytest.raises(UsageError, match=said) if said else nullcontext()
    with refused:
        check_same([before], now, Path("results.jsonl"))


@pytest.mark.parametrize("fact", ["cpu", "kernel", "cores"])
def test_runs_of_another_machine_are_not_added_to_a_file(fact: str) -> None:
    with pytest.raises(UsageError, match=f"measured with another machine.s {fact};"):
        check_same([{fact: "other"}], {}, Path("results.jsonl"))


def test_runs_of_what_another_skelgen_builds_are_not_added_to_a_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("benchmarks.accuracy.__main__.lacking", lambda: "")
    monkeypatch.setattr("benchmarks.accuracy.__main__._is_there", lambda _: False)
    monkeypatch.setattr("benchmarks.accuracy.__main__.Cluster", None)
    options = _options(["run", "--results", str(tmp_path / "results.jsonl")])
    settings = {name: getattr(options, name) for name in SETTINGS}
    before = {"settings": settings, "builds": {"skelgen": "of before"}}
    Log(options.results).provenance(before)
    with pytest.raises(UsageError, match="another build of skelgen; take another"):
        _run(options)


class TestOrder:
    DESIGN = Design((2.0, 1.0), (1.0,), SCENARIOS[1:], 2)

    @pytest.mark.parametrize("beside", [2, 6])
    def test_skeletons_stand_around_the_application_in_mirrored_order(
        self, beside: int
    ) -> None:
        design = replace(self.DESIGN, beside=beside)
        for repeat in range(2):
            for scenario, keys in trials(design, "a", repeat, small=False):
                runs = [(key.what, key.length_s) for key in keys]
                assert runs == runs[::-1]
                assert runs[len(runs) // 2] == ("application", 0.0)
                counted = Counter(runs)
                assert counted.pop(("application", 0.0)) == 2
                quiet = scenario == scenario.reference
                assert set(counted.values()) == {2 if quiet else 2 * beside}

    def test_quiet_blocks_stand_around_all_others(self) -> None:
        design = replace(self.DESIGN, scenarios=SCENARIOS[1:6])
        for repeat in range(2):
            blocks = list(trials(design, "a", repeat, small=False))
            quiet = [keys for scenario, keys in blocks if scenario == SCENARIOS[0]]
            assert [keys for _, keys in blocks[::2]] == quiet
            assert len(quiet) == 6

    def test_the_second_repeat_goes_backwards(self) -> None:
        first, second = (
            [scenario for scenario, _ in trials(self.DESIGN, "a", repeat, small=True)]
            for repeat in range(2)
        )
        assert first == second[::-1]

    def test_no_run_has_the_name_of_another(self) -> None:
        keys = [
            key
            for repeat in range(2)
            for _, block in trials(self.DESIGN, "a", repeat, small=True)
            for key in block
        ]
        assert len(set(keys)) == len(keys)
        shared = [k for k in keys if (k.scenario, k.what) == ("quiet", "application")]
        assert sorted(key.repeat for key in shared) == list(range(24))

    def test_only_the_wanted_kinds_of_skeletons_run(self) -> None:
        design = replace(self.DESIGN, kinds=("skeleton",))
        keys = [
            key for _, block in trials(design, "a", 0, small=False) for key in block
        ]
        assert {key.what for key in keys} == {"skeleton", "application"}

    def test_the_scenario_of_one_rank_compares_kinds_of_computation(self) -> None:
        whats = {scenario.name: set() for scenario in SCENARIOS}
        for scenario, keys in trials(self.DESIGN, "a", 0, small=True):
            whats.setdefault(scenario.name, set()).update(key.what for key in keys)
        assert "paper2005" not in whats[SCENARIOS[6].name]
        assert whats[SCENARIOS[6].name] == {
            "skeleton",
            "fitted",
            "touched",
            "application",
        }
        assert whats[SCENARIOS[1].name] == {
            "skeleton",
            "fitted",
            "touched",
            "paper2005",
            "application",
            "small",
        }


class TestResultsFile:
    def test_a_line_cut_by_a_crash_is_measured_again(self, tmp_path: Path) -> None:
        path = tmp_path / "results.jsonl"
        keys = [Key("a", "quiet", "application", 0.0, repeat) for repeat in range(3)]
        log = Log(path)
        log.provenance({"mpi": "some"})
        for key in keys[:2]:
            log.run(key, Run(1.5))
        path.write_bytes(path.read_bytes()[:-9])
        assert list(read(path).measured) == keys[:1]
        log = Log(path)
        log.run(keys[1], Run(1.25, 0.5, 0.125))
        log.refused(Refusal("a", "quiet", "paper2005", 1.0, "why"))
        assert read(path).measured == {
            keys[0]: Run(1.5),
            keys[1]: Run(1.25, 0.5, 0.125),
        }
        assert read(path).provenance == ({"mpi": "some"},)
        assert read(path).refused == (Refusal("a", "quiet", "paper2005", 1.0, "why"),)

    @pytest.mark.parametrize(
        ("text", "said"),
        [
            ("", "holds no runs yet"),
            (LINE.replace('"what"', '"when"'), "line 1 is no run of this benchmark ("),
            (LINE.replace('"seconds"', '"s"'), "unexpected keyword argument 's'"),
            ('{"provenance": 3}\n', "line 1 is no run of this benchmark ("),
        ],
    )
    def test_a_report_of_nothing_or_of_other_lines_is_one_line(
        self, text: str, said: str, tmp_path: Path
    ) -> None:
        path = tmp_path / "results.jsonl"
        path.write_text(text)
        line = [sys.executable, "-m", "benchmarks.accuracy", "report"]
        done = subprocess.run(
            [*line, "--results", str(path)],
            cwd=ROOT,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 3
        assert done.stderr.startswith(f"accuracy: {path} ") and said in done.stderr
        assert done.stderr.count("\n") == 1

    def test_a_full_disk_is_one_line(self) -> None:
        with pytest.raises(MachineError, match="/dev/full cannot be written: No space"):
            JsonLines(Path("/dev/full")).append({})

    def test_a_folder_is_read_as_one_unless_a_case_stands_twice(
        self, tmp_path: Path
    ) -> None:
        keys = [
            Key("later", "quiet", "application", 0.0, 0),
            Key("first", "quiet", "application", 0.0, 0),
            Key("first", "quiet on h1", "application", 0.0, 0),
        ]
        for number, (key, at) in enumerate(
            zip(keys, ("2026-02", "2026-01", "2026-03"), strict=True)
        ):
            log = Log(tmp_path / f"{number}.jsonl")
            log.provenance({"at": at})
            log.run(key, Run(1.0, 0.5))
        found = read_all(tmp_path)
        assert list(found.measured) == [keys[1], keys[0], keys[2]]
        assert [facts["at"][-2:] for facts in found.provenance] == ["01", "02", "03"]
        assert list(read_all(tmp_path / "0.jsonl").measured) == [keys[0]]
        log.run(keys[0], Run(2.0, 0.5))
        with pytest.raises(InputError, match="jsonl has runs of later, quiet, and so"):
            read_all(tmp_path)


class TestOptions:
    @pytest.mark.parametrize(
        "words",
        [
            ["--scenarios", "9"],
            ["--scenarios", "-1"],
            ["--scenarios", ""],
            ["--lengths", "x"],
            ["--lengths", "inf"],
            ["--other-lengths", "1,-2"],
            ["--beside", "3"],
        ],
    )
    def test_a_wish_that_cannot_be_met_is_named(self, words: list[str]) -> None:
        options = _options(["run", "--preset", "tiny", "=".join(words)])
        with pytest.raises(UsageError, match=f"^{words[0]} {words[1]}: expected "):
            _design(options)

    def test_results_of_other_settings_name_the_options_that_go_on(self) -> None:
        settings = {name: getattr(_options(["run"]), name) for name in SETTINGS}
        text = "--hosts 2 --quiet 1gbit --slow 100mbit --stretch 1.0"
        assert options_of(settings) == text
        assert vars(_options(["run", *text.split()])) == vars(_options(["run"]))
