"""Decide what is executed: a user's own launch, or what the user agrees to.

What a file says about a launch is data. It is executed when the user has launched the
same before (`skelgen.launch.own_launches`), was shown it and agreed, or gave
``--allow-command``.
"""

from __future__ import annotations

import logging
import os
import shlex
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from skelgen.errors import UsageError
from skelgen.launch.own_launches import OwnLaunch, own, remember
from skelgen.launch.secrets import HIDDEN, hidden
from skelgen.progress import NOTE

logger = logging.getLogger(__name__)

_ROOT = 0


@dataclass(frozen=True, slots=True)
class Consent:
    """What the user agrees to.

    Attributes
    ----------
    given : bool
        To everything, by ``--allow-command``.
    ask : callable, optional
        Shows what would be done and returns whether the user agrees.
    """

    given: bool = False
    ask: Callable[[str], bool] | None = None

    def to(self, what: str) -> bool:
        """Say whether the user agrees to one thing."""
        return self.given or (self.ask is not None and self.ask(what))


NO_CONSENT = Consent()


def launch_to_run(recorded: OwnLaunch, consent: Consent, source: str) -> OwnLaunch:
    """Return the launch that may be executed for a recorded one.

    Parameters
    ----------
    recorded : OwnLaunch
        As a file says it.
    consent : Consent
    source : str
        The file, for people.

    Raises
    ------
    UsageError
        When it is not the user's own and the user does not agree to it.
    """
    if (mine := own(recorded)) is not None:
        return mine
    shown = shlex.join(hidden(recorded.command))
    place = f" in {recorded.folder}" if recorded.folder else ""
    if not consent.to(
        f"{source} says that its application is launched{place} by: {shown}"
    ):
        raise UsageError(
            f"the launch in {source} is not one of yours and is not run: {shown}; type "
            "the launch after --, or give --allow-command to run this one"
        )
    if any(HIDDEN in word for word in recorded.command):
        raise UsageError(
            f"the launch in {source} had secrets, which are not stored: {shown}; type "
            "it after --"
        )
    remember(recorded)
    return recorded


def launch_to_lend(
    recorded: OwnLaunch, consent: Consent, source: str
) -> OwnLaunch | None:
    """Return a recorded launch whose launcher and settings may be used for others.

    None when there is none, or it is not the user's own and not allowed: that is told.
    Parameters are those of `launch_to_run`.
    """
    if not (recorded.command or recorded.environment):
        return None
    if (mine := own(recorded)) is not None:
        return mine
    if consent.given:
        shown = tuple(one for one in recorded.environment if HIDDEN not in one[1])
        return OwnLaunch(recorded.command, recorded.folder, shown, recorded.files)
    unset = [name for name, _ in recorded.environment if name not in os.environ]
    more = f"; not set as in the recording: {', '.join(unset)}" if unset else ""
    logger.log(
        NOTE,
        "the launch in %s is not one of yours: this machine's launcher is used, "
        "without its options%s (--allow-command uses them)",
        source,
        more,
    )
    return None


def existing_folder(launch: OwnLaunch) -> Path | None:
    """Return the working directory of a launch, None where nobody said it.

    Raises
    ------
    UsageError
        When it is gone: the same words may mean other programs elsewhere.
    """
    if launch.folder and not Path(launch.folder).is_dir():
        raise UsageError(
            f"{launch.folder}, where the application was launched, is gone; go to "
            "where it is now and type its launch after --"
        )
    return Path(launch.folder) if launch.folder else None


def check_owner(consent: Consent, *paths: Path) -> None:
    """Refuse a program that belongs to another user, unless it is allowed.

    Raises
    ------
    UsageError
        When one of these paths belongs neither to this user nor to root.
    """
    if consent.given:
        return
    for path in paths:
        owner = owner_of(path.absolute())
        if owner not in (None, _ROOT, os.geteuid()):
            raise UsageError(
                f"{path} belongs to user {owner}; a skeleton is a program, so it is "
                "not run: build one of your own from its signature.yaml, or give "
                "--allow-command if you trust that user"
            )


def owner_of(path: Path) -> int | None:
    """Return the number of the user that a path belongs to, None when there is none."""
    try:
        return path.stat().st_uid
    except OSError:
        return None
