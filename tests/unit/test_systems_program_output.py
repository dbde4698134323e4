"""Reading what the measuring program prints, and what else may stand there."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest

from skelgen.errors import ApplicationError
from skelgen.systems.program_output import read_printed

PROGRAM = Path("measure")
HOST = {
    "system": "host", "host": "n1", "cpu": "a  cpu", "kernel": "Linux 6",
    "compiler": "GCC 14", "mpi": "an MPI", "cores": 4, "clock_hz": -1,
    "memory_bytes": 8e9, "networks": [{"name": "eth0", "bytes_per_s": 1.25e9}],
}  # fmt: skip
RATE = {
    "system": "rate", "host": "n1", "name": "integer_add", "cores": 2,
    "values": [2.0, 1.0, 3.0], "queued": 0.01,
}  # fmt: skip
MEMORY = {
    "system": "memory", "host": "n1", "operation": "read", "cores": 1,
    "bytes": 4096, "values": [1e9, 1.1e9], "queued": -1,
}  # fmt: skip
MESSAGE = {
    "system": "message", "operation": "SR", "ranks": 2, "hosts": ["n2", "n1"],
    "bytes": 8, "values": [1e-6], "eager_bytes": 4096, "queued": 0,
}  # fmt: skip
TIME = {"system": "time", "host": "n1", "seconds": 0.5, "queued": 2}
ALL = [HOST, RATE, MEMORY, MESSAGE, TIME]
END = '{"system": "end"}'


def text(*lines, end=END):
    return "\n".join([*map(json.dumps, lines), end])


def test_each_kind_of_line_is_read():
    found = read_printed(text(*ALL), PROGRAM)
    (host,) = found.hosts
    assert (host.host, host.cpu, host.cores) == ("n1", "a cpu", 4)
    assert (host.clock_hz, host.memory_bytes) == (None, 8e9)
    assert host.networks == (("eth0", 1.25e9),)
    (rate,) = found.rates
    assert (rate.name, rate.cores, rate.values) == ("integer_add", 2, (2.0, 1.0, 3.0))
    assert rate.queued == 0.01
    (memory,) = found.memory
    assert (memory.size_bytes, memory.queued) == (4096, None)
    (message,) = found.messages
    assert message.hosts == ("n1", "n2")
    assert (message.size_bytes, message.eager_bytes) == (8, 4096)
    (time,) = found.times
    assert (time.values, time.queued) == ((2.0,), 1.0)


def test_what_launchers_print_between_the_lines_is_nothing():
    said = "\n".join(["[n1] warning {x}", json.dumps(RATE), "", '{"other": 1}', END])
    assert len(read_printed(said, PROGRAM).rates) == 1


@pytest.mark.parametrize(
    ("line", "change", "told"),
    [
        (RATE, {"values": []}, "read an empty list"),
        (
            RATE,
            {"values": [1.0, 0.0]},
            r"values\[1\]: read 0.0, expected",
        ),
        (RATE, {"values": ["1"]}, "expected a number"),
        (RATE, {"cores": 0}, "cores: read 0, expected 1 to"),
        (RATE, {"cores": 1.5}, "expected an integer"),
        (RATE, {"queued": "much"}, "expected a number"),
        (HOST, {"networks": [{"name": "eth0"}]}, "'bytes_per_s' is missing"),
        (HOST, {"host": None}, "expected text"),
        (MEMORY, {"bytes": -4}, "bytes: read -4"),
        (MESSAGE, {"ranks": 1}, "ranks: read 1, expected 2"),
        (MESSAGE, {"hosts": "n1"}, "expected a list"),
        (TIME, {"seconds": 0}, "expected a number above 0"),
        (RATE, {"system": "moon"}, "read 'moon', expected host, rate"),
        (RATE, {"system": 3}, "expected text"),
    ],
)
def test_a_line_that_is_wrong_is_told_with_its_number(line, change, told):
    said = text(TIME, {**line, **change})
    with pytest.raises(
        ApplicationError, match=f"line 2 of its output.*{told}"
    ) as error:
        read_printed(said, PROGRAM)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("kind", ALL, ids=lambda one: one["system"])
def test_a_field_that_is_missing_is_named(kind):
    for name in kind:
        if name != "system":
            left = {key: value for key, value in kind.items() if key != name}
            with pytest.raises(ApplicationError, match=f"'{name}' is missing"):
                read_printed(text(left), PROGRAM)


def test_output_that_ends_early_is_told():
    with pytest.raises(ApplicationError, match="no line that says that it has ended"):
        read_printed(json.dumps(RATE), PROGRAM)
    assert read_printed(json.dumps(TIME), PROGRAM, whole=False).times


@pytest.mark.parametrize("value", ["NaN", "Infinity", "1e999", '"x', "[1, 2"])
def test_what_is_no_json_is_told(value):
    said = f'{{"system": "rate", "values": {value}}}\n{END}'
    with pytest.raises(ApplicationError, match="line 1 of its output"):
        read_printed(said, PROGRAM)


def test_damaged_output_is_read_or_told_and_never_crashes():
    generator = random.Random(19)
    whole = text(*ALL).encode()
    for _ in range(2000):
        damaged = bytearray(whole)
        for _ in range(generator.randrange(1, 4)):
            at = generator.randrange(len(damaged))
            damaged[at : at + generator.randrange(3)] = bytes(
                [generator.randrange(256)]
            )
        try:
            read_printed(damaged.decode(errors="replace"), PROGRAM)
        except ApplicationError as error:
            assert "\n" not in str(error)
