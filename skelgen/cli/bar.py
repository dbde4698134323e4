"""A progress bar on a terminal."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator

from rich import progress as rich_progress
from rich.console import Console

from skelgen.progress import NO_PROGRESS, Progress


class Bar:
    """Show every piece of work as a line with a bar, on stderr."""

    def __init__(self) -> None:
        self._shown = rich_progress.Progress(
            rich_progress.TextColumn("{task.description}"),
            rich_progress.BarColumn(),
            rich_progress.TaskProgressColumn(),
            rich_progress.TimeElapsedColumn(),
            console=Console(file=sys.stderr),
            transient=True,
        )
        self._tasks: list[rich_progress.TaskID] = []

    def start(self, what: str, total: float) -> None:
        """Begin a line; without a total it only shows that work goes on."""
        if not self._tasks:
            self._shown.start()
        self._tasks.append(self._shown.add_task(what, total=total or None))

    def advance(self, amount: float) -> None:
        """Move the bar of the piece of work that was started last."""
        if self._tasks:
            self._shown.advance(self._tasks[-1], amount)

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


@contextlib.contextmanager
def progress_bar(*, shown: bool = True) -> Iterator[Progress]:
    """Give a bar where a person is looking at stderr, else nothing."""
    if not (shown and sys.stderr.isatty()):
        yield NO_PROGRESS
        return
    bar = Bar()
    try:
        yield bar
    finally:
        bar.close()
