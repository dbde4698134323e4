"""Chromium for tests: tabs that note every fault, and what pages are measured by.

Nothing is downloaded: Playwright drives the Chromium of the distribution, which finds
no host but this one. Only modules that are marked `needs_browser` use this.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx2 as httpx

from skelgen.cli.main import run
from skelgen.pipeline import demonstration
from skelgen.store import Template, open_store
from tests.kernel_rows import kernel_rows
from tests.needs import CHROMIUM
from tests.processes import comes_true
from tests.servers import LONG_S, Server
from tests.visitors import fill

PHONE, LAPTOP, WALL = (375, 812), (1280, 800), (2560, 1440)
_OPTIONS = [
    "--disable-dev-shm-usage",
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1, EXCLUDE *.localhost",
]
#: Sum of all layout shifts of a page so far.
_SHIFTS = """() => new Promise(done => {
    let sum = 0
    const add = list => { for (const one of list.getEntries()) sum += one.value }
    new PerformanceObserver(add).observe({type: 'layout-shift', buffered: true})
    requestAnimationFrame(() => setTimeout(() => done(sum), 50))
})"""
_SIDEWAYS = """() => document.scrollingElement.scrollWidth
    - document.scrollingElement.clientWidth"""


def is_page(answer: Any) -> bool:
    """Say whether an answer is a page, and no picture, file or refusal."""
    kind = answer.headers["content-type"]
    is_file = "attachment" in answer.headers.get("content-disposition", "")
    return answer.status == 200 and kind.startswith("text/html") and not is_file


class Site(Server):
    """A server with a store, and how tabs get into it without its way in."""

    def __init__(self, place: Path, *words: str) -> None:
        self.place = place
        super().__init__("--store", str(place), "--port", "0", *words)

    @cached_property
    def cookies(self) -> list[dict[str, Any]]:
        """Return the cookie of the printed address, for a browser."""
        return self.cookies_of(self.token)

    @cached_property
    def job(self) -> str:
        """Return the identity of a job that is done: one is started."""
        options = {"app": "heat", "family": "normal-form"}
        asked = {"command": "model compare", "options": options}
        with httpx.Client(
            base_url=self.base, headers=self._bearer, timeout=LONG_S
        ) as one:
            answer = one.post("/api/jobs", json=asked)
            assert answer.status_code == 200, answer.text
            path = f"/api/jobs/{answer.json()['identity']}"
            assert comes_true(lambda: one.get(path).json()["state"] == "done")
        return str(answer.json()["identity"])

    @property
    def _bearer(self) -> dict[str, str]:
        return {"Authorization": f"Bearer {self.token}"}

    def address_of(self, example: str) -> str:
        """Return an address of `tests.route_examples` in this server."""
        return example.replace("{job}", self.job) if "{job}" in example else example

    def cookies_of(self, token: str) -> list[dict[str, Any]]:
        """Return the cookie that a token is exchanged for."""
        answer = httpx.get(f"{self.base}/enter", params={"token": token})
        return [
            {"name": name, "value": value, "url": self.base, "sameSite": "Strict"}
            for name, value in answer.cookies.items()
        ]


class Tab:
    """A page in a browser that notes every fault.

    Attributes
    ----------
    page : playwright.sync_api.Page
    faults : list of str
        Messages of the console, errors of scripts, dialogs, and requests that leave
        this server.
    requests : list of str
        Address of each request.
    """

    def __init__(self, context: Any, base: str, site: Site | None = None) -> None:
        self.context, self.base, self.site = context, base, site
        self.faults: list[str] = []
        self.requests: list[str] = []
        self.page = context.new_page()
        self.page.set_default_timeout(LONG_S * 1000)
        self.page.on("console", self._said)
        self.page.on("pageerror", lambda one: self.faults.append(f"script: {one}"))
        self.page.on("dialog", self._asked)
        context.on("request", self._requested)
        context.on("page", lambda one: self.faults.append(f"window: {one.url}"))

    def _said(self, message: Any) -> None:
        # What is no page has no icon either, and Chromium looks for one.
        if "/favicon.ico" in message.location["url"]:
            return
        # So does axe-core, which measures colours in a canvas.
        if message.type in ("error", "warning") and "Canvas2D" not in message.text:
            self.faults.append(f"console: {message.text}")

    def _asked(self, dialog: Any) -> None:
        self.faults.append(f"dialog: {dialog.message}")
        dialog.dismiss()

    def _requested(self, request: Any) -> None:
        self.requests.append(request.url)
        own = urlsplit(self.base)
        found = urlsplit(request.url)
        if (found.scheme, found.netloc) != (own.scheme, own.netloc):
            self.faults.append(f"request: {request.url}")

    def open(self, path: str) -> Any:
        """Go to an address of the server; return its answer."""
        return self.page.goto(self._address(path))

    def ask(self, path: str) -> Any:
        """Return what an address answers, without going there."""
        return self.context.request.get(self._address(path))

    def _address(self, path: str) -> str:
        return self.base + (self.site.address_of(path) if self.site else path)

    @property
    def path(self) -> str:
        """Return where it is, within the server."""
        return str(self.page.url).removeprefix(self.base)

    def expect_fault(self, word: str) -> None:
        """Forget the one fault so far, which is this: Chromium notes a refusal."""
        (said,) = self.faults
        assert word in said
        self.faults.clear()

    def picture(self, name: str, *, whole: bool = True) -> None:
        """Keep the page, or what its window shows, in ``SKELGEN_SCREENSHOTS``."""
        if folder := os.environ.get("SKELGEN_SCREENSHOTS"):
            Path(folder).mkdir(parents=True, exist_ok=True)
            self.page.screenshot(path=Path(folder) / f"{name}.png", full_page=whole)

    def resize(self, size: tuple[int, int]) -> None:
        """Change its width and height."""
        self.page.set_viewport_size({"width": size[0], "height": size[1]})

    def look(self, scheme: str) -> None:
        """Choose ``light`` or ``dark``."""
        self.page.emulate_media(color_scheme=scheme)

    def forget(self, size: tuple[int, int]) -> None:
        """Make it as new for another test: its window, its eyes, what it noted."""
        self.faults.clear()
        self.requests.clear()
        self.resize(size)
        self.page.emulate_media(media="screen", color_scheme="light")

    def shifts(self) -> float:
        """Return how much of the page jumped since it was opened; 0 is nothing."""
        return float(self.page.evaluate(_SHIFTS))

    def sideways(self) -> float:
        """Return by how many pixels the page is wider than its window."""
        return sideways_of(self.page)

    def barriers(self, *rules: str) -> list[str]:
        """Return what keeps people out by axe-core: serious and critical findings."""
        return barriers_of(self.page, *rules)


def sideways_of(page: Any) -> float:
    """Return by how many pixels a page of Playwright is wider than its window."""
    return float(page.evaluate(_SIDEWAYS))


def barriers_of(page: Any, *rules: str) -> list[str]:
    """Return the serious and critical findings of axe-core on a page of Playwright.

    Parameters
    ----------
    page : playwright.sync_api.Page
    *rules : str
        Of axe-core; all of them unless given.
    """
    from axe_playwright_python.base import AXE_SCRIPT

    options: dict[str, Any] = {"resultTypes": ["violations"]}
    if rules:
        options["runOnly"] = [*rules]
    if not page.evaluate("'axe' in window"):
        page.evaluate(AXE_SCRIPT)
    found = page.evaluate("options => axe.run(options)", options)["violations"]
    return [
        f"{one['id']}: {node['target']} {node['html'][:120]} {node['failureSummary']}"
        for one in found
        if one["impact"] in ("serious", "critical")
        for node in one["nodes"]
    ]


class Chromium:
    """A browser, and the tabs that were opened in it."""

    def __init__(self, playwright: Any) -> None:
        root = ["--no-sandbox"] if os.geteuid() == 0 else []
        self.browser = playwright.chromium.launch(
            executable_path=CHROMIUM, args=[*_OPTIONS, *root], timeout=LONG_S * 1000
        )
        self._kept: dict[tuple[str, bool], Tab] = {}

    @contextmanager
    def kept_tab(
        self, site: Site, *, size: tuple[int, int] = LAPTOP, script: bool = True
    ) -> Iterator[Tab]:
        """Lend the tab that tests of a site share; at the end it has met no fault.

        It is for tests that keep its cookie: a new tab takes a new process.
        """
        key = site.base, script
        if key not in self._kept:
            context = self.browser.new_context(java_script_enabled=script)
            context.add_cookies(site.cookies)
            self._kept[key] = Tab(context, site.base, site)
        one = self._kept.pop(key)
        one.forget(size)
        try:
            yield one
            assert not one.faults, one.faults
        except BaseException:
            one.context.close()
            raise
        self._kept[key] = one

    @contextmanager
    def tab(
        self,
        site: Site,
        *,
        size: tuple[int, int] = LAPTOP,
        token: str | None = None,
        **options: Any,
    ) -> Iterator[Tab]:
        """Open a tab of a person of its own; at the end it has met no fault.

        Parameters
        ----------
        site : Site
        size : (int, int)
        token : str, optional
            Whose; that of the printed address unless given. Empty: nobody's.
        **options
            Of Playwright's context.
        """
        context = self.browser.new_context(
            viewport={"width": size[0], "height": size[1]}, **options
        )
        if token != "":
            cookies = site.cookies if token is None else site.cookies_of(token)
            context.add_cookies(cookies)
        one = Tab(context, site.base, site)
        try:
            yield one
        finally:
            context.close()
        assert not one.faults, one.faults


@contextmanager
def chromium() -> Iterator[Chromium]:
    """Start a browser; nothing else of this thread may use asyncio meanwhile."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        one = Chromium(playwright)
        yield one
        one.browser.close()


def shown(place: Path) -> Path:
    """Make a store with all that pages show: the demonstration's, and `filled`."""
    demonstration.fill(place, time.time())
    return filled(place)


def filled(place: Path) -> Path:
    """Make a store with some runs and a model; return its place."""
    fill(place)
    template = Template("master-slave", "matmat", "ADDM*N^3/(P-1) + N*SR(L)", ("N",))
    with open_store(str(place)) as store:
        store.add([template, *kernel_rows()])
    words = ["--store", str(place), "--app", "heat", "--name", "heat"]
    assert run(["model", "fit", *words, "--family", "normal-form"]) == 0
    return place


def emptied(place: Path) -> Path:
    """Make a store with nothing in it; return its place."""
    open_store(str(place)).close()
    return place
