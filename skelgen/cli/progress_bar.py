"""A progress bar on a terminal, or lines of progress for a program that asks."""

from __future__ import annotations

import contextlib
import logging
import os
import sys
import time
from collections.abc import Iterator

from rich import progress as rich_progress
from rich.console import Console

from skelgen.cli.output import say, shown
from skelgen.progress import LINES, NO_PROGRESS, VARIABLE, Progress, progress_line
from skelgen.units import format_seconds

logger = logging.getLogger(__name__)

#: Lines of one piece of work are at least so far apart [s].
_APART_S = 0.5


class ProgressBar:
    """Show every piece of work as a line with a bar, on stderr."""

    def __init__(self) -> None:
        self._shown = rich_progress.Progress(
            rich_progress.SpinnerColumn("line"),
            rich_progress.TextColumn("{task.description}", markup=False),
            rich_progress.BarColumn(),
            rich_progress.TaskProgressColumn(),
            rich_progress.TimeElapsedColumn(),
            rich_progress.TextColumn("{task.fields[found]}", markup=False),
            console=Console(file=sys.stderr),
            transient=True,
        )
        self._tasks: list[rich_progress.TaskID] = []

    def start(self, what: str, total: float) -> None:
        """Begin a line; without a total it only shows that work goes on."""
        if not self._tasks:
            self._shown.start()
        self._tasks.append(self._shown.add_task(what, total=total or None, found=""))

    def advance(self, amount: float) -> None:
        """Move the bar of the piece of work that was started last."""
        if not self._tasks:
            return
        task = self._shown.tasks[self._shown.task_ids.index(self._tasks[-1])]
        done = task.completed + amount
        if task.total is not None and done > task.total:  # more than was promised
            self._shown.update(task.id, total=done)
        self._shown.update(task.id, completed=done)

    def say(self, found: str) -> None:
        """Show what the piece of work found so far at the end of its line."""
        if self._tasks:
            self._shown.update(self._tasks[-1], found=shown(found))

    def finish(self) -> None:
        """End the line that was started last."""
        if self._tasks:
            self._shown.remove_task(self._tasks.pop())
        if not self._tasks:
            self._shown.stop()

    def close(self) -> None:
        """End all lines, as after an error."""
        while self._tasks:
            self.finish()


class Lines:
    """Write every piece of work as lines on stderr, for the program that started us."""

    def __init__(self) -> None:
        self._work: list[tuple[str, float, float]] = []
        self._last_s = 0.0

    def start(self, what: str, total: float) -> None:
        """Begin a piece of work."""
        self._work.append((what, 0.0, total))
        self._write()

    def advance(self, amount: float) -> None:
        """Say how far the piece of work is that was started last, now and then."""
        if not self._work:
            return
        what, done, total = self._work.pop()
        self._work.append((what, done + amount, total))
        if time.monotonic() - self._last_s >= _APART_S:
            self._write()

    def say(self, found: str) -> None:
        """Write nothing: these lines are numbers for a program."""

    def finish(self) -> None:
        """Forget the piece of work that was started last."""
        if self._work:
            self._work.pop()

    def _write(self) -> None:
        self._last_s = time.monotonic()
        say(progress_line(*self._work[-1]), err=True)


class _Noted:
    """Say in the log what every piece of work was and how long it took."""

    def __init__(self, bar: Progress) -> None:
        self._shown = bar
        self._work: list[tuple[str, float]] = []

    def start(self, what: str, total: float) -> None:
        """Begin a piece of work."""
        self._work.append((what, time.monotonic()))
        self._shown.start(what, total)

    def advance(self, amount: float) -> None:
        """Move the bar."""
        self._shown.advance(amount)

    def say(self, found: str) -> None:
        """Show what was found."""
        self._shown.say(found)

    def finish(self) -> None:
        """Say how long the piece of work took that was started last."""
        self._shown.finish()
        if self._work:
            what, begin_s = self._work.pop()
            logger.info("%s: %s", what, format_seconds(time.monotonic() - begin_s))


@contextlib.contextmanager
def progress_bar(*, shown: bool = True) -> Iterator[Progress]:
    """Give a bar where a person is looking at stderr, else nothing.

    ``SKELGEN_PROGRESS=lines`` asks for lines in its place. With ``-v`` the log says
    what the work consisted of.
    """
    with _shown_progress(shown=shown) as progress:
        yield _Noted(progress) if logger.isEnabledFor(logging.INFO) else progress


@contextlib.contextmanager
def _shown_progress(*, shown: bool) -> Iterator[Progress]:
    if os.environ.get(VARIABLE) == LINES:
        yield Lines()
        return
    if not (shown and sys.stderr.isatty()):
        yield NO_PROGRESS
        return
    bar = ProgressBar()
    try:
        yield bar
    finally:
        bar.close()
