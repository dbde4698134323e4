"""The pages that commands write into folders: each alone, in a real browser."""

from __future__ import annotations

import os
from contextlib import contextmanager
from pathlib import Path

import pytest

from skelgen.cli.main import run
from skelgen.workload import store
from tests.browsers import LAPTOP, PHONE, WALL, barriers_of, sideways_of
from tests.needs import needs_browser
from tests.trace_writer import RankWriter
from tests.unit.test_workload import point, study

pytestmark = needs_browser

PAGES = ["run", "skeleton", "model", "study"]


def record(folder: Path) -> None:
    """Write a run in which one rank computes longer than the other."""
    for rank in range(2):
        writer = RankWriter(rank, 2)
        writer.event("MPI_Init", 0, 5000)
        for _ in range(40):
            size = {"count_a": 100, "type_a": 8, "tag": 1}
            writer.event("MPI_Send", 10_000, 700, peer=-2, site=0x10, **size)
            inside = 90_000 if rank == 0 else 8_090_000
            writer.event(
                "MPI_Allreduce",
                *(9_090_000 - inside, inside),
                **{"count_a": 1, "type_a": 8, "op": 3, "site": 0x20},
            )
        writer.event("MPI_Barrier", 500, 100, site=0x30)
        writer.finish()
        writer.save(folder)


@pytest.fixture(scope="module")
def pages(tmp_path_factory) -> dict[str, Path]:
    """Write one page of each kind with the commands that write them."""
    folder = tmp_path_factory.mktemp("pages")
    before = Path.cwd()
    os.chdir(folder)
    try:
        record(folder / "run")
        mix = ["--compute-mix", "100,0,0", "--json"]
        assert run(["info", "run"]) == 0
        assert run(["build", "run", "--scale", "2", "-o", "skel", *mix]) == 0
        rows = [
            f"{n},{ranks},{0.5 + 3e-6 * n * n / ranks:.6g}"
            for n in (500, 1000, 2000, 4000)
            for ranks in (1, 2, 4, 8)
        ]
        Path("runs.csv").write_text("\n".join(["n,ranks,time", *rows]) + "\n")
        words = ["--at", "n=3000,ranks=16", "--page", "model.html"]
        assert run(["model", "predict", "runs.csv", *words]) == 0
        points = [point(n) for n in (500, 800, 1200, 2000)]
        store.save(study(*points), Path("study.yaml"))
        words = ["study.yaml", "--at", "n=700,steps=100"]
        assert run(["workload", "predict", *words]) == 0
    finally:
        os.chdir(before)
    return {
        "run": folder / "run/report.html",
        "skeleton": folder / "skel/report.html",
        "model": folder / "model.html",
        "study": folder / "study.html",
    }


@contextmanager
def opened(browser, page: Path, **options):
    """Open a page; at the end nothing was complained of and nothing else loaded."""
    context = browser.browser.new_context(**options)
    tab = context.new_page()
    faults: list[str] = []
    requests: list[str] = []
    tab.on("console", lambda one: faults.append(f"{one.type}: {one.text}"))
    tab.on("pageerror", lambda one: faults.append(f"script: {one}"))
    context.on("request", lambda one: requests.append(one.url))
    tab.goto(page.as_uri())
    try:
        yield tab
    finally:
        context.close()
    assert not faults, faults
    assert requests == [page.as_uri()]


def keep_picture(tab, name: str) -> None:
    if folder := os.environ.get("SKELGEN_SCREENSHOTS"):
        Path(folder).mkdir(parents=True, exist_ok=True)
        tab.screenshot(path=Path(folder) / f"{name}.png", full_page=True)


@pytest.mark.parametrize("kind", PAGES)
def test_a_page_fits_every_width_and_keeps_nobody_out(browser, pages, kind):
    with opened(browser, pages[kind]) as tab:
        assert tab.inner_text("h1")
        titles = tab.locator("h2").all_inner_texts()
        for size in (LAPTOP, WALL, PHONE):
            tab.set_viewport_size({"width": size[0], "height": size[1]})
            assert sideways_of(tab) == 0
            for scheme in ("light", "dark"):
                tab.emulate_media(color_scheme=scheme)
                assert tab.locator(".answer").is_visible()
                keep_picture(tab, f"own-{kind}-{size[0]}-{scheme}")
        assert barriers_of(tab, "color-contrast") == []
        tab.emulate_media(color_scheme="light")
        assert barriers_of(tab) == []
    with opened(browser, pages[kind], java_script_enabled=False) as tab:
        assert tab.locator("h2").all_inner_texts() == titles
