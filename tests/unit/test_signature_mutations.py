"""Damaged signature files give a signature or one clear line, and never hang."""

import random
import re

import pytest

from skelgen.errors import InputError
from skelgen.signature import Signature
from skelgen.signature.store import load
from skelgen.signature.write import signature_text
from tests import builders
from tests.random_programs import random_program
from tests.sealed import unsealed
from tests.summaries import build

MUTATIONS = 1200
_WORDS = (
    "-1 0 1 1e999 nan inf 99999999999999999999 1000000000 0..999999999 0*999999999 "
    "~ null true [] {} [a {b '' - * | & ! % @ ` MPI_Send MPI_Nothing varying +1 1.5 é"
).split()


def flip_bytes(text, rng):
    data = bytearray(text.encode())
    for _ in range(rng.randint(1, 4)):
        data[rng.randrange(len(data))] = rng.randrange(256)
    return bytes(data)


def change_lines(text, rng):
    lines = text.splitlines()
    at = rng.randrange(len(lines))
    other = lines[rng.randrange(len(lines))]
    kind = rng.randrange(4)
    if kind == 0:
        del lines[at : at + rng.randint(1, 3)]
    elif kind == 1:
        lines.insert(at, other)
    elif kind == 2:
        lines[at] = other
    else:
        lines[at] = lines[at][rng.randint(1, 4) :]
    return "\n".join(lines).encode()


def change_word(text, rng):
    places = list(re.finditer(r"[^\s\[\],=|*]+", text))
    place = rng.choice(places)
    return (text[: place.start()] + rng.choice(_WORDS) + text[place.end() :]).encode()


def change_number(text, rng):
    place = rng.choice(list(re.finditer(r"\d+", text)))
    number = int(place[0]) + rng.choice((-1, 1, -int(place[0]), 10**9, 10**17))
    return (text[: place.start()] + str(number) + text[place.end() :]).encode()


def cut_off(text, rng):
    return text.encode()[: rng.randrange(len(text))]


MUTATORS = (flip_bytes, change_lines, change_word, change_number, cut_off)


def master_worker():
    builder = builders.EventsBuilder(4)
    rng = random.Random(0)
    for _ in range(200):
        worker = rng.randint(1, 3)
        builder.call(worker, "Send", peer=0, tag=1, size_bytes=8, site=1)
        builder.call(0, "Recv", peer=worker, tag=1, size_bytes=8, site=2, flags=1)
    for rank in range(4):
        builder.call(rank, "Alltoallv", sends=[1, 2, 3, 4], receives=[rank] * 4)
    return builder.events()


@pytest.fixture(scope="module")
def texts():
    programs = [random_program(random.Random(seed)) for seed in range(6)]
    programs.append(master_worker())
    return [unsealed(signature_text(build(program).signature)) for program in programs]


@pytest.mark.parametrize("mutate", MUTATORS, ids=lambda mutate: mutate.__name__)
def test_damaged_files_give_a_signature_or_one_line(texts, mutate, tmp_path):
    path = tmp_path / "signature.yaml"
    refused = 0
    for seed in range(MUTATIONS // len(MUTATORS)):
        rng = random.Random(seed)
        path.write_bytes(mutate(rng.choice(texts), rng))
        try:
            assert isinstance(load(path), Signature)
        except InputError as error:
            refused += 1
            assert str(path) in str(error)
            assert "\n" not in str(error)
    assert refused > 20
