"""Goals of `python -m tests.readability`: names, rooms, sentences."""

from __future__ import annotations

import ast

import pytest

from tests import readability

DOCUMENTS = [str(one.relative_to(readability.ROOT)) for one in readability.documents()]


def test_no_two_public_classes_share_a_name() -> None:
    assert len(readability.modules()) > 300
    assert readability.shared("classes") == {}


def test_imports_in_functions_of_the_pipeline_say_why() -> None:
    assert readability.imports_in_functions("pipeline") == []
    text = "def f():\n    import a\n    # Slow.\n    import b\n    import c\n"
    assert list(readability._unexplained(ast.parse(text), text.split("\n"))) == [2]


#: Public constants of two modules: OTF2 and Paraver have kinds of calls, each with
#: numbers of its own.
OF_FORMATS = {"FILES", "ONE_SIDED", "OTHER", "POINT_TO_POINT"}


def test_no_two_public_constants_share_a_name() -> None:
    assert readability.shared("constants").keys() == OF_FORMATS


def test_names_of_constants_are_found_one_by_one() -> None:
    tree = ast.parse("A = 1\nB: int = 2\nC, _D = 3, 4\ne = 5\n")
    assert list(readability.names("constants", "x.py", tree)) == ["A", "B", "C"]


#: Packages in which runs, rows and points are put together, and their modules that do
#: know groups of ranks.
WITHOUT_GROUPS = {
    *("forecasts", "models", "pipeline", "server", "store", "systems", "trust", "web")
}
OF_RANKS = {
    *("pipeline/build.py", "pipeline/compile.py", "web/call_sites.py"),
    *("web/loop_balance.py", "web/loop_tree.py", "web/page.py", "web/rank_blocks.py"),
    *("web/run_pictures.py", "web/time_table.py", "web/wait_states.py"),
}
#: Words of Python's library.
OF_PYTHON = {"groupby", "lastgroup"}


def test_a_group_is_one_of_ranks() -> None:
    found = {
        path: names
        for path, tree in readability.modules().items()
        if path.partition("/")[0] in WITHOUT_GROUPS
        and (names := readability.words_with("group", tree) - OF_PYTHON)
    }
    assert found.keys() == OF_RANKS


def test_words_with_a_part_are_found_wherever_they_are_named() -> None:
    tree = ast.parse("def group_of(a, *, groups=1): b.of_group(Group=c)\nx = Grouping")
    found = readability.words_with("group", tree)
    assert found == {"group_of", "groups", "of_group", "Group", "Grouping"}


def test_a_folder_of_the_skeleton_stage_has_at_most_twelve_rooms() -> None:
    found = readability.rooms("skeleton")
    assert found["skeleton"] > 5
    assert {name: count for name, count in found.items() if count > 12} == {}


@pytest.mark.parametrize("name", DOCUMENTS)
def test_no_sentence_of_a_document_is_longer_than_forty_words(name: str) -> None:
    found = readability.sentences_of(readability.ROOT / name)
    assert [one for one in found if one.words > 40] == []


def test_sentences_of_documents_have_sixteen_words_on_average() -> None:
    found = readability.lengths(
        one
        for path in readability.documents()
        for one in readability.sentences_of(path)
    )
    assert found.count > 1000
    assert found.mean <= 16
    assert found.p90 <= 26


def test_sentences_of_help_texts_are_short() -> None:
    found = readability.lengths(readability.help_sentences())
    assert found.count > 300
    assert (found.mean <= 16, found.p90 <= 26, found.above_40) == (True, True, 0)


def test_a_sentence_ends_where_people_end_it() -> None:
    text = "# Head\n\nOne two three. Four `a b c` six\nseven: eight.\n\n    code here\n"
    found = list(readability.sentences(text, "x.md"))
    assert [(one.place, one.words) for one in found] == [("x.md:3", 3), ("x.md:3", 5)]


def test_texts_for_people_have_no_private_words() -> None:
    found = [
        f"{where}: {text}"
        for where, text in readability.texts_for_people()
        if readability.PRIVATE_WORDS.search(text)
    ]
    assert len(list(readability.texts_for_people())) > 2000
    assert found == []
