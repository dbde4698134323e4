"""Tests that run alone have no other beside them, and are not kept waiting."""

from __future__ import annotations

import threading
import time
from pathlib import Path

from tests.alone import turn


def test_nobody_is_beside_who_is_alone(tmp_path: Path) -> None:
    beside: list[str] = []
    seen: list[tuple[str, ...]] = []

    def run(name: str, *, alone: bool) -> None:
        for _ in range(20):
            with turn(tmp_path, alone=alone):
                beside.append(name)
                time.sleep(0.001)
                if alone:
                    seen.append(tuple(beside))
                beside.remove(name)

    names = [*("beside",) * 3, *("alone",) * 2]
    threads = [
        threading.Thread(target=run, args=(name,), kwargs={"alone": name == "alone"})
        for name in names
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert seen == [("alone",)] * 40


def test_others_run_beside_each_other(tmp_path: Path) -> None:
    with turn(tmp_path, alone=False), turn(tmp_path, alone=False):
        pass


def test_who_waits_to_be_alone_comes_before_those_that_begin_later(
    tmp_path: Path,
) -> None:
    order: list[str] = []

    def run(name: str, *, alone: bool) -> None:
        with turn(tmp_path, alone=alone):
            order.append(name)

    with turn(tmp_path, alone=False):
        first = threading.Thread(target=run, args=("alone",), kwargs={"alone": True})
        first.start()
        time.sleep(0.2)  # by then it waits
        second = threading.Thread(target=run, args=("later",), kwargs={"alone": False})
        second.start()
        time.sleep(0.2)
        assert not order
    first.join()
    second.join()
    assert order == ["alone", "later"]
