"""Which commands may be jobs, and their words: no option comes from outside.

A value is always ``--option=value``, so none becomes an option; and no command here
reads a file, writes one, starts another program, or asks another host.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

from skelgen.errors import InputError, UsageError
from skelgen.models.formulas import parse

#: Options of all of them: which runs of the store.
_RUNS = ("app", "where", "inputs", "family")
_FORM = ("template", "fact", "system")
_QUANTITY = ("quantity", "reference")
#: Commands and their options.
COMMANDS: dict[str, frozenset[str]] = {
    "model compare": frozenset((*_RUNS, *_FORM, *_QUANTITY)),
    "model fit": frozenset((*_RUNS, *_FORM, *_QUANTITY, "name", "author", "on")),
    "model next": frozenset((*_RUNS, *_FORM, "at", "range", "ranks", "longest")),
    "model check": frozenset((*_RUNS, *_FORM, *_QUANTITY, "goal")),
}
#: Values of an option that is repeated, and characters of one.
_MOST, _LONGEST = 100, 1000
#: Characters of all words, as a file of a job has them: it is not read if it is longer.
_MOST_IN_ALL = 1 << 16

Options = Mapping[str, str | Sequence[str]]


def words_of(command: str, options: Options) -> tuple[str, ...]:
    """Return the words of a command; options without a value are left out.

    Parameters
    ----------
    command : str
        One of `COMMANDS`.
    options : mapping of str to str or sequence of str
        By name without ``--``.

    Raises
    ------
    UsageError
        When there is no such command or option for a job, or a value is too long.

    Examples
    --------
    >>> words_of("model compare", {"app": "heat", "where": ["n>=10"], "family": ""})
    ('model', 'compare', '--app=heat', '--where=n>=10')
    """
    known = COMMANDS.get(command)
    if known is None:
        raise UsageError(
            f"read {command[:40]!r}, expected a command that can be a job: "
            f"{', '.join(COMMANDS)}"
        )
    words = command.split()
    for name, given in options.items():
        if name not in known:
            raise UsageError(
                f"{command} takes no {name[:40]!r} as a job; it takes "
                f"{', '.join(sorted(known))}"
            )
        values = [given] if isinstance(given, str) else [*given]
        if len(values) > _MOST or any(len(one) > _LONGEST for one in values):
            raise UsageError(
                f"{name}: expected at most {_MOST} values of {_LONGEST} characters"
            )
        words += [f"--{name}={one}" for one in values if one]
    _check_template(options.get("template", ""))
    if len(json.dumps(words)) > _MOST_IN_ALL:
        raise UsageError(f"expected options of {_MOST_IN_ALL} characters in all")
    if any("\0" in one for one in words):
        raise UsageError("a value holds a NUL; leave it out")
    return tuple(words)


def _check_template(text: str | Sequence[str]) -> None:
    """Refuse what may be the name of a file: the command would read it."""
    word = text.strip() if isinstance(text, str) else "\0"
    if not word or word.isidentifier():
        return
    try:
        parse(word)
    except InputError as error:
        raise UsageError(f"template: {error}; give a formula") from error


def wanted(body: bytes) -> tuple[str, tuple[str, ...]]:
    """Read what a job is to do, as the API takes it: its command, and its words.

    Raises
    ------
    UsageError

    Examples
    --------
    >>> wanted(b'{"command": "model compare", "options": {"app": "heat"}}')
    ('model compare', ('model', 'compare', '--app=heat'))
    """
    expected = 'expected {"command": "model compare", "options": {"app": "heat"}}'
    try:
        found = json.loads(body)
    except (ValueError, RecursionError) as error:
        raise UsageError(f"the body is no JSON; {expected}") from error
    if not isinstance(found, dict) or set(found) - {"command", "options"}:
        raise UsageError(f"the body is no job; {expected}")
    command, options = found.get("command"), found.get("options", {})
    if not isinstance(command, str) or not isinstance(options, dict):
        raise UsageError(f"the body is no job; {expected}")
    for name, given in options.items():
        values = given if isinstance(given, list) else [given]
        if not all(isinstance(one, str) for one in values):
            raise UsageError(
                f"the option {str(name)[:40]!r} is no text, and no list of texts"
            )
    if "author" in options:
        raise UsageError("the author of a model is your token's name; leave author out")
    if not options.get("app"):
        raise UsageError("the option app is missing: say of which runs")
    return command, words_of(command, options)
