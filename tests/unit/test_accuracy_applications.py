"""The list of applications of the accuracy run, and getting one of them ready."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import pytest

from benchmarks.accuracy.applications import Application, read_applications
from skelgen.errors import InputError, UsageError

APPLICATIONS = Path(__file__).parents[2] / "benchmarks/accuracy/applications.yaml"


class TestApplications:
    def test_every_application_of_the_list_can_be_read(self) -> None:
        every = read_applications(APPLICATIONS, [])
        assert len({one.name for one in every}) == len(every) >= 7
        assert all(one.small and one.prepare and one.install for one in every)
        assert {2, 4} <= {one.ranks for one in every}

    def test_an_unknown_application_is_named_with_those_there_are(self) -> None:
        with pytest.raises(UsageError, match=r"has no fluent; it has lammps-lj, "):
            read_applications(APPLICATIONS, ["fluent"])

    @pytest.mark.parametrize(
        ("text", "said"),
        [
            (None, "cannot be read: No such file"),
            ("a: [", "is no YAML: while parsing"),
            ("- a", "has no entries"),
            ("a: 3", "entry a: "),
            ("a: {ranks: 2, colour: blue}", "entry a: .*unexpected keyword"),
            ("a: {ranks: 2, steps: many}", "entry a: "),
            ("a: {ranks: two}", "entry a: ranks is no number of ranks: 'two'"),
            ("a: {ranks: 2, command: [./a, 5]}", "entry a: command is no text"),
            ("a: {ranks: 2, needs: lmp}", "entry a: needs is no list: 'lmp'"),
        ],
    )
    def test_a_list_that_is_none_is_named_with_the_reason(
        self, text: str | None, said: str, tmp_path: Path
    ) -> None:
        path = tmp_path / "mine.yaml"
        if text is not None:
            path.write_text(text)
        with pytest.raises(InputError, match=f"^{path}:? {said}") as caught:
            read_applications(path, [])
        assert "\n" not in str(caught.value)

    def test_stretching_multiplies_steps_and_one_rank_does_its_part(self) -> None:
        (one,) = read_applications(APPLICATIONS, ["heat2d"], 2.0)
        (plain,) = read_applications(APPLICATIONS, ["heat2d"])
        assert one.steps == 2 * plain.steps
        assert one.on(1).steps == plain.steps
        assert one.words(one.command)[-1] == str(one.steps)

    def test_a_changed_entry_is_prepared_afresh(self, tmp_path: Path) -> None:
        one = Application("a", 2, "./a", "", "echo $STEPS > steps", "", "", 7)
        one.make(tmp_path / "a")
        (tmp_path / "a/run").mkdir()
        one.make(tmp_path / "a")
        assert (tmp_path / "a/run").exists()
        one.on(4).make(tmp_path / "a")
        assert not (tmp_path / "a/run").exists()
        assert (tmp_path / "a/steps").read_text() == "14\n"

    def test_what_another_skelgen_or_mpi_built_is_built_afresh(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        one = Application("a", 2, "./a", "", "", "", "")
        kept = tmp_path / "a/run"
        for title, stamp in (("MPI 1", "x"), ("MPI 1", "y"), ("MPI 2", "y")):
            mpi = SimpleNamespace(title=title, compiler="")
            monkeypatch.setattr(Application, "installed_mpi", lambda _, mpi=mpi: mpi)
            one.make(tmp_path / "a", stamp)
            assert not kept.exists()
            kept.mkdir()
            one.make(tmp_path / "a", stamp)
            assert kept.exists()
