"""Recorded runs as pages of a store show them, for tests."""

from __future__ import annotations

import base64
import json
import zlib
from pathlib import Path
from typing import Any

import numpy as np

from skelgen.dwarf import SourceLine
from skelgen.events.sites import SiteSummary
from skelgen.matching.waits import WaitKind, WaitState
from skelgen.timeline import timeline_of
from skelgen.web.rank_blocks import SentBlocks, ranks_in_block
from skelgen.web.recording import RunRecording
from tests.timelines import FUNCTIONS, run_of
from tests.trace_writer import RankWriter

ROUNDS = 40


def save_run(folder: Path, ranks: int = 2) -> Path:
    """Write a run whose rank 0 comes late."""
    for rank in range(ranks):
        writer = RankWriter(rank, ranks)
        writer.event("MPI_Init", 0, 5000)
        for _ in range(ROUNDS):
            other = {"peer": (rank + 1) % ranks, "tag": 1, "tag2": 1}
            other["peer2"] = (rank - 1) % ranks
            size = {"count_a": 100, "type_a": 8, "count_b": 100, "type_b": 8}
            writer.event("MPI_Sendrecv", 9000, 700, site=0x10, **other, **size)
            before = 9_000_000 if rank == 0 else 1_000_000
            inside = 90_000 if rank == 0 else 8_090_000
            writer.event(
                "MPI_Allreduce", before, inside, count_a=1, type_a=8, op=3, site=0x20
            )
        writer.event("MPI_Barrier", 500, 100, site=0x30)
        writer.finish()
        writer.save(folder)
    return folder


def made(word: str = "heat", ranks: int = 4, calls: int = 300) -> RunRecording:
    """Return a recording in every text of which a word is."""
    rng = np.random.default_rng(4)
    drawn = rng.integers((100, 50, 0), (90_000, 30_000, 4), (calls, 3)).tolist()
    events = run_of([drawn] * ranks, functions=(*FUNCTIONS[:3], word))
    waits = rng.integers(0, 9000, len(events.calls))
    each = ranks_in_block(ranks)
    blocks = -(-ranks // each)
    matrix = np.roll(np.eye(blocks), 1, axis=1)
    line = SourceLine(f"/src/{word}.c", 42, word)
    return RunRecording(
        application=word,
        program=f"/opt/{word}",
        mpi=f"MPICH {word}",
        started="2026-01-01T00:00:00+00:00",
        command=("mpirun", word),
        ranks=ranks,
        hosts=((f"n1{word}", ranks),),
        more_hosts=0,
        events=ranks * calls,
        trace_bytes=9000,
        application_s=events.application_ns / 1e9,
        mpi_share=0.25,
        recorder_share=0.001,
        clean=True,
        warnings=(f"careful with {word}",),
        notes=(f"{word} is not here",),
        functions=(("MPI_Send", calls, 0.002), (word, calls, 0.001)),
        compute_s=0.01,
        computed_s=np.linspace(0.001, 0.002, ranks),
        waits=(WaitState(WaitKind.AT_COLLECTIVE, word, 9, 0.008, ranks - 1, 0.007),),
        sites=(SiteSummary(word, f"{word}+0x20", 7, 0.001, (line,)),),
        more_sites=0,
        sent=SentBlocks(ranks, each, 800.0 * matrix, 3.0 * matrix),
        timeline=timeline_of(events, waits),
    )


def plain_of(document: str) -> dict[str, Any]:
    """Return the JSON of a document."""
    found: dict[str, Any] = json.loads(zlib.decompress(base64.b64decode(document)))
    return found


def packed(plain: object) -> str:
    """Return a document with this JSON."""
    return base64.b64encode(zlib.compress(json.dumps(plain).encode())).decode()
