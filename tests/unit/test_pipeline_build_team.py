"""Several processes make the signature that one makes; here they are threads."""

from __future__ import annotations

import queue
import random
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from skelgen.errors import InputError, MachineError, UsageError
from skelgen.pipeline import build_processes, build_team
from skelgen.pipeline.build_processes import Processes
from skelgen.pipeline.build_team import ALONE, Team, launched
from skelgen.pipeline.compile import WantedSimilarity, signature_of_run
from skelgen.signature.write import signature_text
from tests.trace_samples import anything, save_ring

DEFAULT = WantedSimilarity(None, 10.0, None)


class Communicator:
    """The six things of mpi4py's that a team uses, between threads."""

    def __init__(self, rank: int, size: int, mail: Any) -> None:
        self.rank, self.size, self.mail = rank, size, mail

    def send(self, value: Any, dest: int) -> None:
        self.mail[self.rank, dest].put(value)

    def recv(self, source: int) -> Any:
        return self.mail[source, self.rank].get(timeout=300)

    def iprobe(self, source: int) -> bool:
        return not self.mail[source, self.rank].empty()

    def Send(self, array: Any, dest: int) -> None:  # noqa: N802
        self.send(array.copy(), dest)

    def Recv(self, array: Any, source: int) -> None:  # noqa: N802
        array[:] = self.recv(source)


def together(size: int, work: Callable[[Team], Any]) -> list[Any]:
    """Let a team do something; return what each member returns or raises."""
    everybody = range(size)
    mail = {(a, b): queue.Queue() for a in everybody for b in everybody}
    found: list[Any] = [None] * size

    def run(rank: int) -> None:
        try:
            found[rank] = work(Processes(Communicator(rank, size, mail)))
        except Exception as error:
            found[rank] = error

    threads = [
        threading.Thread(target=run, args=(rank,), daemon=True) for rank in everybody
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return found


def texts(
    folder: Path, size: int, wanted: WantedSimilarity = DEFAULT
) -> tuple[str, str]:
    """Return the signature that one process makes, and that which several make."""
    alone = signature_of_run(folder, wanted, team=ALONE)
    first, *others = together(
        size, lambda team: signature_of_run(folder, wanted, team=team)
    )
    assert others == [None] * (size - 1)
    return signature_text(alone), signature_text(first)


@pytest.mark.parametrize("seed", range(8))
def test_several_processes_make_the_same_signature_of_any_files(
    tmp_path: Path, seed: int
):
    rng = random.Random(seed)
    for rank in range(5):
        anything(rng, rank, 5, 150).save(tmp_path)
        if rank == 3:
            anything(rng, rank, 5, 50, thread=1).save(tmp_path)
    alone, several = texts(tmp_path, 2 + seed % 3)
    assert several == alone


def test_a_searched_threshold_is_the_same(tmp_path: Path):
    for rank in range(4):
        anything(random.Random(7), rank, 4, 100).save(tmp_path)
    alone, several = texts(tmp_path, 2, WantedSimilarity("auto", 4.0, None))
    assert several == alone
    assert "similarity_threshold" in alone


def test_ranks_of_one_group_that_two_processes_read_are_joined(tmp_path: Path):
    alone, several = texts(save_ring(tmp_path, ranks=6), 3)
    assert several == alone
    assert alone.count("ranks: 0..5") == 1


def test_a_process_without_ranks_takes_part(tmp_path: Path):
    alone, several = texts(save_ring(tmp_path, ranks=2), 4)
    assert several == alone


def test_missing_ranks_are_the_same(tmp_path: Path):
    save_ring(tmp_path, ranks=6)
    for rank in (0, 3, 5):
        next(tmp_path.glob(f"rank-*{rank}.skt")).unlink()
    alone, several = texts(tmp_path, 3)
    assert several == alone


def test_an_error_of_one_process_is_raised_in_all():
    def work(team: Team) -> None:
        def fail() -> None:
            if team.rank == 1:
                raise InputError("a bad file")

        team.each(fail)

    assert [str(error) for error in together(3, work)] == ["a bad file"] * 3


def test_arrays_come_back_as_they_were_joined(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(build_processes, "_PIECE", 24)

    def work(team: Team) -> tuple[list[int], list[int]]:
        own = np.arange(10 * team.rank, dtype=np.int64) + team.rank
        whole = team.join(own)
        return whole.tolist(), team.divide(whole, len(own)).tolist()

    found = together(3, work)
    own = [[n + rank for n in range(10 * rank)] for rank in range(3)]
    assert found[0][0] == own[0] + own[1] + own[2]
    assert [back for _, back in found] == own


def test_a_command_inside_an_allocation_is_alone():
    assert launched({"SLURM_NTASKS": "8", "SLURM_PROCID": "0"}) == (0, 1)
    assert launched({"SLURM_STEP_NUM_TASKS": "8", "SLURM_PROCID": "3"}) == (3, 8)
    inner = {"SLURM_STEP_NUM_TASKS": "2", "SLURM_PROCID": "1"}
    assert launched({**inner, "PMI_SIZE": "4", "PMI_RANK": "2"}) == (2, 4)


def test_a_build_is_not_recorded(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("OMPI_COMM_WORLD_SIZE", "2")
    monkeypatch.setenv("OMPI_COMM_WORLD_RANK", "1")
    monkeypatch.setenv("LD_PRELOAD", "/home/me/.cache/skelgen/shims/libskelgen_pmpi.so")
    with pytest.raises(UsageError, match=r"would record this build"):
        build_team.team().__enter__()


def test_processes_without_mpi4py_say_so(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("PMI_SIZE", "2")
    monkeypatch.setenv("PMI_RANK", "0")
    monkeypatch.setitem(sys.modules, "mpi4py", None)
    with pytest.raises(MachineError, match=r"2 processes.*skelgen\[mpi\]"):
        build_team.team().__enter__()
