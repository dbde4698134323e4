"""The file ``skeleton.json`` of a skeleton's folder.

`skelgen.skeleton` writes it; here the launch of the recorded run and the calibration
are added to it, and what a prediction needs is read from it.
"""

from __future__ import annotations

import json
import math
import os
from collections.abc import Mapping
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any

from skelgen.errors import InputError
from skelgen.launch.folders import replace_file
from skelgen.prediction.types import Calibration, SkeletonFacts

FACTS_FILE = "skeleton.json"
_FORMAT = 1

#: Fields that must be positive numbers for anything to be predicted.
_POSITIVE = ("ranks", "scaling_factor", "expected_s", "application_s")


def with_launch(
    text: str, *, folder: str, environment: tuple[tuple[str, str], ...]
) -> str:
    """Add to the text of ``skeleton.json`` where and how the application ran.

    Parameters
    ----------
    text : str
        As the skeleton stage wrote it.
    folder : str
        Working directory of the recorded launch.
    environment : tuple of (str, str)
        Variables of that launch that change how MPI behaves.
    """
    launch = {"folder": folder, "environment": dict(environment)}
    return _as_text({**json.loads(text), "launch": launch})


def with_mix_error(text: str, mix_error: float) -> str:
    """Add how unlike the application's computation the skeleton's is [1]."""
    return _as_text({**json.loads(text), "mix_error": mix_error})


def _as_text(content: Mapping[str, Any]) -> str:
    return json.dumps(content, indent=1) + "\n"


def save_calibration(measured: Calibration, folder: Path) -> None:
    """Store the ratio of a skeleton beside it.

    Raises
    ------
    UsageError
        When the folder cannot be written.
    """
    content = {**_content(folder), "calibration": asdict(measured)}
    replace_file(folder / FACTS_FILE, _as_text(content))


def load(folder: Path) -> SkeletonFacts:
    """Read what is known about the skeleton in a folder.

    Raises
    ------
    InputError
        When the folder holds no skeleton or its description is damaged.
    """
    content = _content(folder)
    try:
        return _facts(content)
    except (KeyError, TypeError, ValueError) as error:
        raise InputError(
            f"{folder / FACTS_FILE} was edited or is damaged ({_cause(error)}); build "
            "it again with skelgen build"
        ) from error


def _content(folder: Path) -> dict[str, Any]:
    path = folder / FACTS_FILE
    try:
        content = json.loads(path.read_text())
    except FileNotFoundError as error:
        raise InputError(
            f"{folder} is not a skeleton's folder (no {FACTS_FILE}); make one with "
            "skelgen build"
        ) from error
    except NotADirectoryError as error:
        raise InputError(
            f"{folder} is a file; give the folder that skelgen build wrote"
        ) from error
    except (OSError, ValueError, RecursionError) as error:
        raise InputError(f"{path} cannot be read: {error}") from error
    if not isinstance(content, dict) or content.get("format") != _FORMAT:
        raise InputError(
            f"{path} is not a skeleton's description of format {_FORMAT}; build it "
            "again with skelgen build"
        )
    return content


def _cause(error: Exception) -> str:
    return f"{error} is missing" if isinstance(error, KeyError) else str(error)


def _facts(content: Mapping[str, Any]) -> SkeletonFacts:
    known, recorded = content["calibration"], content["signature"]
    launch = content.get("launch", {"folder": "", "environment": {}})
    facts = SkeletonFacts(
        ranks=_whole("ranks", content["ranks"]),
        scaling_factor=_number(content, "scale"),
        expected_s=_number(content, "expected_s"),
        application_s=_number(content, "application_s"),
        smallest_good_s=_number(content, "smallest_good_s"),
        dropped_share=_number(content, "dropped_share"),
        mpi=_text(content, "mpi"),
        ranks_per_host=tuple(
            _whole("ranks_per_host", count) for count in recorded["ranks_per_host"]
        ),
        command=tuple(_word(word) for word in _list("command", content["command"])),
        folder=_text(launch, "folder"),
        environment=tuple(
            (_word(name), _word(value))
            for name, value in dict(launch["environment"]).items()
        ),
        calibration=None if known is None else _calibration(known),
        mix_error=_number(content, "mix_error") if "mix_error" in content else None,
        method=_text({"method": "whole-events", **content}, "method"),
        dealers=tuple(
            _whole("dealers", rank)
            for rank in _list("dealers", content.get("dealers", []))
        ),
    )
    for name in _POSITIVE:
        if getattr(facts, name) <= 0:
            raise ValueError(f"{name} is not positive")
    return facts


def _list(name: str, value: Any) -> list[Any]:
    if not isinstance(value, list):
        raise ValueError(f"{name} is no list")
    return value


def _word(value: Any) -> str:
    if not isinstance(value, str) or "\0" in value:
        raise ValueError(f"{value!r} is no word")
    return value


def _calibration(content: Mapping[str, Any]) -> Calibration:
    names = {field.name for field in fields(Calibration)}
    if missing := names - set(content):
        raise ValueError(f"calibration lacks {', '.join(sorted(missing))}")
    runs = {
        name: tuple(_time(name, value) for value in content[name])
        for name in ("application_runs_s", "skeleton_runs_s")
    }
    if not all(runs.values()):
        raise ValueError("calibration holds no runs")
    return Calibration(
        **runs,
        host=_text(content, "host"),
        mpi=_text(content, "mpi"),
        load=tuple(float(value) for value in content["load"]),
        recorded=bool(content["recorded"]),
    )


def _text(content: Mapping[str, Any], name: str) -> str:
    if not isinstance(content[name], str):
        raise ValueError(f"{name} is no text")
    return str(content[name])


def _number(content: Mapping[str, Any], name: str) -> float:
    value = content[name]
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ValueError(f"{name} is no number")
    if not math.isfinite(value):
        raise ValueError(f"{name} is not finite")
    return float(value)


def _time(name: str, value: Any) -> float:
    time_s = _number({name: value}, name)
    if time_s <= 0:
        raise ValueError(f"{name} holds {time_s}, which is no time")
    return time_s


def _whole(name: str, value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int):
        raise ValueError(f"{name} is no whole number")
    return value


def writable(folder: Path) -> bool:
    """Say whether results can be stored in a skeleton's folder."""
    return os.access(folder, os.W_OK | os.X_OK)
