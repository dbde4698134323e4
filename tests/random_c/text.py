"""Write the C text of a random program."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from tests.random_c.draw import Branch, Drawn, Item, Loop, Step
from tests.random_c.parts import used


def text_of(program: Drawn) -> str:
    """Return a program in C that prints a checksum of all that it received."""
    names = [f"begin_{program.begin}", *program.first, *program.families]
    names += ["finish", "act"]
    for step in program.steps:
        names += [step.kind.name, *(name for name, _ in _around(step))]
    if program.begin == "session":
        names.append("end_session")
    parts = "\n\n".join(part.text for part in used(names))
    return f"{parts}\n\n{_table(program.steps)}\n\n{_main(program)}"


def _around(step: Step) -> list[tuple[str, str]]:
    """Return the functions before and after the loop of a step, and which it is."""
    name, kind = step.kind.name, step.kind
    found = [(f"{name}_begin", "begin")] * kind.begins
    return [*found, *[(f"{name}_end", "end")] * kind.ends]


def _table(steps: Sequence[Step]) -> str:
    rows = [
        "\t{" + ", ".join(f".{name} = {value}" for name, value in step.fields) + "},"
        for step in steps
    ]
    return "static struct step step[] = {\n" + "\n".join(rows) + "\n};"


def _main(program: Drawn) -> str:
    session = program.begin == "session"
    made = [f"\t{name}({i});" for i, name in enumerate(program.families, start=1)]
    lines = [
        f"/* Random program {program.seed} for {program.ranks} ranks. */",
        "int main(int argc, char **argv)",
        "{",
        f"\tbegin_{program.begin}(&argc, &argv);",
        *(f"\t{name}();" for name in program.first),
        *made,
        *_items(program.body, 1),
        "\tfinish();",
        "\tend_session();" if session else "\tMPI_Finalize();",
        "\treturn 0;",
        "}",
    ]
    return "\n".join(lines) + "\n"


def _items(items: Sequence[Item], depth: int, counter: str = "") -> Iterator[str]:
    """Yield the lines of items, in a loop that counts by `counter` if there is one."""
    tabs = "\t" * depth
    for item in items:
        if isinstance(item, Step):
            around = [] if counter else [item]
            yield from _calls(around, "begin", tabs)
            yield f"{tabs}act(&step[{item.number - 1}], {item.kind.name});"
            yield from _calls(around, "end", tabs)
        elif isinstance(item, Loop):
            yield from _loop(item, depth, counter)
        else:
            yield f"{tabs}if (group[{item.group}].colour == 0) {{"
            yield from _items(item.sides[0], depth + 1, counter)
            yield f"{tabs}}} else {{"
            yield from _items(item.sides[1], depth + 1, counter)
            yield f"{tabs}}}"


def _loop(loop: Loop, depth: int, outer: str) -> Iterator[str]:
    """Yield a loop, around it what belongs before and after the steps in it."""
    tabs, trips = "\t" * depth, loop.trips.replace("@", outer or "1")
    name = f"i{depth}"
    own = list(_directly_in(loop.body))
    yield from _calls(own, "begin", tabs)
    yield f"{tabs}for (int {name} = 0; {name} < {trips}; {name}++) {{"
    yield from _items(loop.body, depth + 1, name)
    yield f"{tabs}}}"
    yield from _calls(own, "end", tabs)


def _directly_in(items: Sequence[Item]) -> Iterator[Step]:
    """Yield the steps in a loop that are in no other loop inside."""
    for item in items:
        if isinstance(item, Step):
            yield item
        elif isinstance(item, Branch):
            for side in item.sides:
                yield from _directly_in(side)


def _calls(steps: Sequence[Step], when: str, tabs: str) -> Iterator[str]:
    for step in steps:
        for name, which in _around(step):
            if which == when:
                yield f"{tabs}{name}(&step[{step.number - 1}]);"
