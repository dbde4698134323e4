"""Execute phases from images: run to before each, save, restore as often as wanted.

The shim holds all ranks at the same place of the program, one occurrence before the
phase, and goes on with the marks that it finds after that: those of the next image, or
those of the phase that is to be measured.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import shutil
import tempfile
import time
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Protocol

from skelgen.errors import ApplicationError, MachineError
from skelgen.launch.folders import private_folder
from skelgen.launch.interrupts import Interrupts
from skelgen.launch.own_folders import FolderKind
from skelgen.launch.process import telling_line
from skelgen.launch.replaceable_output import claim
from skelgen.phase_execution.images import (
    ImageContent,
    check_content,
    check_owner,
    content_at,
    content_of,
    is_finished,
    new_image,
    usable,
)
from skelgen.phase_execution.interface import Application, Measured, WantedOccurrence
from skelgen.phase_execution.marks import (
    FINALIZED,
    HOLD,
    STOP,
    STOPPED,
    RankTimes,
    check_functions,
    check_ranks,
    marks_file,
    mean_s,
    named,
    read_ranks,
    recorder_variables,
    timed,
    times_file,
    too_short,
    write_marks,
)
from skelgen.units import format_seconds

#: The marks of a rank.
_Marks = Callable[[int], Iterable[tuple[int, str]]]

#: Between looks at ranks, first and at most: looking takes time from them [s].
_PAUSE_S, _LONGEST_PAUSE_S = 0.005, 0.1


class Checkpointer(Protocol):
    """What saves a running application as an image, and runs it from there."""

    name: str

    def start(
        self, command: Sequence[str], folder: Path, variables: dict[str, str], out: Path
    ) -> None:
        """Start a command in a folder; what it writes may go to files in `out`."""

    def save(self, image: Path, content: ImageContent) -> None:
        """Write the image of the application, which holds, and end it."""

    def load(self, image: Path) -> None:
        """Start the application from an image."""

    def poll(self) -> int | None:
        """Return the exit code of the application; None while it runs."""

    def end(self) -> None:
        """End all that still runs; does no harm twice."""


class ImageRun:
    """An application that is measured from images; a `Session`.

    Parameters
    ----------
    application : Application
    wanted : sequence of WantedOccurrence
    checkpointer : Checkpointer
    limit_s : float
        Longest time until an image can be taken or a phase is over [s].
    kept : Path, optional
        Folder where images are kept and found again; they are removed otherwise.
    """

    def __init__(
        self,
        application: Application,
        wanted: Sequence[WantedOccurrence],
        checkpointer: Checkpointer,
        limit_s: float,
        kept: Path | None = None,
    ) -> None:
        self._application, self._checkpointer = application, checkpointer
        self._limit_s, self._kept = limit_s, kept is not None
        self._content = content_of(checkpointer.name, application)
        self._ahead = sorted(wanted, key=lambda one: int(one.warm.sum()))
        self._images: dict[tuple[int, ...], Path] = {}
        self._alone: int | None = None
        with usable(kept or Path(tempfile.gettempdir())):
            if kept is None:
                self._folder = Path(tempfile.mkdtemp(prefix="skelgen-images-"))
            else:
                self._folder = kept.absolute()
                private_folder(self._folder)
                check_owner(self._folder)
                claim(self._folder, FolderKind.IMAGES)
                self._lock()
                try:
                    self._find()
                except BaseException:
                    self._unlock()
                    raise

    @property
    def probes_s(self) -> tuple[tuple[float, ...], ...]:
        """Return none: each image is executed several times."""
        return ()

    def request(self, wanted: WantedOccurrence) -> None:
        """Save the application before each occurrence until this one has its image."""
        while _place(wanted) not in self._images:
            one = self._ahead.pop(0)
            if _place(one) in self._images:
                continue
            with usable(self._folder):
                self._run_to(one)
                with new_image(self._image(one)) as image:
                    self._checkpointer.save(image, content_at(self._content, one))
                    for file, kept in self._marks_of(image):
                        kept.unlink(missing_ok=True)
                        kept.hardlink_to(file)
            self._images[_place(one)] = image

    def _lock(self) -> None:
        """Have the folder alone: ranks that hold look into its files."""
        self._alone = os.open(self._folder / ".lock", os.O_WRONLY | os.O_CREAT, 0o600)
        try:
            fcntl.flock(self._alone, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            self._unlock()
            raise MachineError(
                f"{self._folder} is in use by another skelgen; wait for it, or give "
                "--images another folder"
            ) from error

    def _unlock(self) -> None:
        if self._alone is not None:
            os.close(self._alone)
            self._alone = None

    def _find(self) -> None:
        """Find images that were kept for this application."""
        for one in self._ahead:
            if not (image := self._image(one)).exists():
                continue
            if image.is_dir() and not is_finished(image):
                shutil.rmtree(image)  # left by a skelgen that was killed meanwhile
                continue
            check_content(image, content_at(self._content, one))
            self._images[_place(one)] = image

    def _image(self, wanted: WantedOccurrence) -> Path:
        return self._folder / f"image-{wanted.phase}-{wanted.occurrence}"

    def _run_to(self, wanted: WantedOccurrence) -> None:
        """Run the application until it holds, from the last image before if any."""
        at = int(wanted.warm.sum())
        before = [place for place in self._images if sum(place) <= at]
        marks = _held_at(wanted)
        if before:
            self.run_from(self._images[max(before, key=sum)], marks)
        else:
            # What an earlier run left there would be taken for this one's.
            shutil.rmtree(self._folder / "run", ignore_errors=True)
            for name in ("err", "out"):
                (self._folder / name).unlink(missing_ok=True)
            self._mark(marks)
            settings = recorder_variables(self._folder, self._application.launch)
            self._checkpointer.start(
                self._application.command(settings),
                self._application.place,
                dict(self._application.environment),
                self._folder,
            )
        ranks = self.wait_for_ranks("held", FINALIZED)
        if any(one.end == FINALIZED for one in ranks):
            raise ApplicationError(too_short(ranks, wanted, self._application.place))

    def restore(self, wanted: WantedOccurrence) -> Measured:
        """Measure an occurrence from its image."""
        with usable(self._folder):
            self.run_from(
                self._images[_place(wanted)],
                lambda rank: [*timed([wanted], rank), (int(wanted.end[rank]), STOP)],
            )
        ranks = self.wait_for_ranks(*STOPPED, FINALIZED)
        # All is told, and what it writes is of no use: it need not close its MPI.
        self._checkpointer.end()
        time_s = mean_s(ranks, wanted)
        if time_s is None:
            raise ApplicationError(too_short(ranks, wanted, self._application.place))
        check_functions(ranks, wanted)
        return Measured(wanted.phase, wanted.occurrence, time_s)

    def stop(self) -> None:
        """End what runs and remove the images, unless they are kept."""
        self._checkpointer.end()
        self._unlock()
        if not self._kept:
            shutil.rmtree(self._folder, ignore_errors=True)

    def run_from(self, image: Path, marks: _Marks) -> None:
        """Run the application from an image with other marks for its ranks."""
        self._checkpointer.end()
        # Ranks hold until what restored them is gone: it would take time from them.
        for file, kept in self._marks_of(image):
            file.unlink(missing_ok=True)
            file.hardlink_to(kept)
        self._checkpointer.load(image)
        self._mark(marks)

    def wait_for_ranks(self, *ends: str) -> list[RankTimes]:
        """Wait until all ranks say one of these words; return what they measured.

        Raises
        ------
        ApplicationError
            When the application ends before, or the time is over.
        """
        until_s = time.monotonic() + self._limit_s
        pause_s = _PAUSE_S
        with Interrupts() as interrupts:
            while True:
                code = self._checkpointer.poll()  # before their words are read
                told = read_ranks(self._folder, self._application.ranks)
                check_ranks(told, self._application.ranks)
                ranks = [one for one in told if one is not None and one.end in ends]
                if len(ranks) == len(told):
                    return ranks
                if code is not None or time.monotonic() > until_s:
                    break
                interrupts.pause(pause_s)
                pause_s = min(1.5 * pause_s, _LONGEST_PAUSE_S)
        missing = [
            rank for rank, one in enumerate(told) if one is None or one.end not in ends
        ]
        raise ApplicationError(self._failure(code, named(missing), ends[0]))

    def _failure(self, code: int | None, who: str, awaited: str) -> str:
        name = Path(self._application.launch.program[0]).name
        where = "before its image was made" if awaited == "held" else "after a restore"
        if code is None:
            return (
                f"{name} did not come to its phase within "
                f"{format_seconds(self._limit_s)} ({who}) {where} and was ended; is "
                "the machine overloaded?"
            )
        return f"{name} ended with exit code {code} {where} ({who}): {self._said()}"

    def _said(self) -> str:
        """Return the line that the application wrote that says best what went wrong."""
        texts = []
        for file in (self._folder / "err", self._folder / "out"):
            with contextlib.suppress(OSError):
                texts.append(file.read_text(errors="replace"))
        return telling_line("\n".join(texts))

    def _mark(self, marks: _Marks) -> None:
        for rank in self._ranks:
            times_file(self._folder, rank).unlink(missing_ok=True)
            write_marks(self._folder, rank, marks(rank))

    def _marks_of(self, image: Path) -> list[tuple[Path, Path]]:
        """Return the files of marks, and where those are kept that an image holds at.

        Ranks tell another file by its inode.
        """
        files = [marks_file(self._folder, rank) for rank in self._ranks]
        return [(file, Path(f"{file}.{image.name}")) for file in files]

    @property
    def _ranks(self) -> range:
        return range(self._application.ranks)


def _held_at(wanted: WantedOccurrence) -> _Marks:
    return lambda rank: [(int(wanted.warm[rank]), HOLD)]


def _place(wanted: WantedOccurrence) -> tuple[int, ...]:
    return tuple(int(count) for count in wanted.warm)
