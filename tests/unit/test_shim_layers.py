"""The files of the recorder use only those below them."""

from __future__ import annotations

from tests.shim_layers import ROOT, complaints, defined_in, order_of, shim_sources

ORDER = ["low/words", "high/calls"]
SOURCES = {
    "low/words.c": "int skelgen_words(void)\n{\n\treturn 1;\n}\n",
    "high/calls.h": "bool skelgen_calls(void);\n",
    "high/calls.c": (
        '#include "low/words.h"\n'
        "bool skelgen_calling;\n"
        "SKELGEN_COLD bool skelgen_calls(void)\n{\n\treturn skelgen_words();\n}\n"
    ),
}


def against(**changed: str) -> list[str]:
    files = {name.replace("_c", ".c"): text for name, text in changed.items()}
    return list(complaints(ORDER, SOURCES | {f"low/{k}": v for k, v in files.items()}))


def test_the_recorder_reads_from_the_bottom_up() -> None:
    order = order_of((ROOT / "ARCHITECTURE.md").read_text())
    sources = shim_sources(ROOT / "pmpi_shim")
    assert len(order) > 40
    assert "skelgen_event_general" in defined_in(sources["event/event.c"])
    assert "skelgen_begin" in defined_in(sources["wrappers/wrap.h"])
    assert list(complaints(order, sources)) == []


def test_what_uses_only_lower_files_is_in_order() -> None:
    assert against() == []
    comment = "/* skelgen_calls() is what nobody calls here */\n"
    assert against(words_c=comment) == []


def test_a_call_of_a_higher_file_is_found() -> None:
    line = "low/words.c uses skelgen_calls, which is not below it"
    assert against(words_c="int skelgen_words(void)\n{\n\tskelgen_calls();\n}\n") == [
        line
    ]


def test_a_variable_of_a_higher_file_is_found() -> None:
    line = "low/words.c uses skelgen_calling, which is not below it"
    assert against(
        words_c="static bool f(void)\n{\n\treturn skelgen_calling;\n}\n"
    ) == [line]


def test_an_include_of_a_higher_file_is_found() -> None:
    line = "low/words.c includes high/calls.h, which is not below it"
    assert against(words_c='#include "high/calls.h"\n') == [line]


def test_a_file_that_is_not_in_the_table_is_found() -> None:
    assert against(more_c="") == ["low/more is not in the table"]


def test_a_row_without_a_file_is_found() -> None:
    found = list(complaints([*ORDER, "high/gone"], SOURCES))
    assert found == ["high/gone is not in pmpi_shim/"]


def test_a_layer_in_two_places_is_found() -> None:
    found = list(complaints(["low/words", "high/calls", "low/map"], SOURCES))
    assert "the table names a file twice, or a layer in two places" in found
