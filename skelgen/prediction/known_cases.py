"""Read predictions whose truth is known from files of results."""

from __future__ import annotations

import logging
import statistics
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from skelgen.documents import Field, json_field
from skelgen.documents.files import read_text
from skelgen.launch.mpi import MpiKind, kind_of
from skelgen.prediction.judging import ScenarioTimes, judged
from skelgen.progress import NOTE
from skelgen.trust.cases import Case
from skelgen.trust.store import read_cores
from skelgen.trust.types import OWN_CORES, PAPER_2005, SHARED_CORES, WHOLE_EVENTS

logger = logging.getLogger(__name__)

#: Of the accuracy benchmark: what was run, and the scenario that others compare with.
_METHODS = {"skeleton": WHOLE_EVENTS, "paper2005": PAPER_2005}
_MOST = 1 << 40
_APPLICATION, _QUIET = "application", "quiet"
#: Where other processes had the cores of the ranks, too, and where nobody else had.
_CORES = {
    "one node busy": SHARED_CORES,
    "all nodes busy": SHARED_CORES,
    "one node busy, one link slow": SHARED_CORES,
    "one link slow": OWN_CORES,
    "all links slow": OWN_CORES,
    "memory hog on the other core": OWN_CORES,
}


def read_cases(path: Path) -> list[Case]:
    """Read predictions with their truth.

    A line is a prediction, or a run of the accuracy benchmark; of these, what was
    predicted is worked out from the times in a scenario and when quiet.

    Raises
    ------
    InputError
        When the file is missing, or a line is something else.
    """
    pairs: list[Case] = []
    runs: list[_Fields] = []
    titles: set[str] = set()
    for line in _lines(path):
        fields = line.mapping(optional=None)
        if "truth_s" in fields:
            pairs.append(_pair(line))
        elif "run" in fields:
            runs.append(line.mapping(_RUN, optional=None))
        elif "provenance" in fields:
            titles |= _mpis(fields["provenance"])
        elif "refused" not in fields:
            raise line.error(
                "read no result, expected a run of the accuracy benchmark or a "
                "prediction with its truth_s"
            )
    return pairs + _judged(path, runs, _family(titles))


_Fields = Mapping[str, Field]
#: Fields of a run and of a prediction.
_RUN = ("application", "scenario", "what", "length_s", "repeat", "run")
_PAIR = ("method", "application", "predicted_s", "truth_s")
_PAIR_MORE = ("family", "measured_p5_s", "measured_p95_s", "note", "cores")


def _lines(path: Path) -> Iterator[Field]:
    for number, line in enumerate(read_text(path).split("\n"), 1):
        if line.strip():
            yield json_field(line, path, f"line {number}")


def _pair(line: Field) -> Case:
    """Read a prediction and its truth."""
    fields = line.mapping(_PAIR, _PAIR_MORE)
    predicted_s = fields["predicted_s"].positive()
    low_s, high_s = (
        fields[name].positive() if name in fields else predicted_s
        for name in _PAIR_MORE[1:3]
    )
    if not low_s <= predicted_s <= high_s:
        raise fields["predicted_s"].error(
            f"read {predicted_s:g}, expected a time from measured_p5_s ({low_s:g}) "
            f"to measured_p95_s ({high_s:g})"
        )
    return Case(
        method=fields["method"].text(),
        application=fields["application"].text(),
        family=fields["family"].text() if "family" in fields else "",
        predicted_s=predicted_s,
        truth_s=fields["truth_s"].positive(),
        p5_s=low_s,
        p95_s=high_s,
        cores=read_cores(fields.get("cores")),
    )


def cores_in(scenario: str) -> str:
    """Return whether other processes had the cores of the ranks in a scenario, too."""
    return _CORES.get(scenario, "")


#: Application, scenario, what was run, wanted length of the skeleton [s].
_Key = tuple[str, str, str, float]


def _judged(path: Path, lines: Sequence[_Fields], family: str) -> list[Case]:
    """Work out what the runs of the accuracy benchmark predict."""
    runs, parts = _runs(lines)
    found, left_out = [], 0
    for key, there_s in runs.items():
        name, scenario, what, length_s = key
        if what not in _METHODS or scenario.startswith(_QUIET):
            continue
        times = ScenarioTimes(
            truth_s=runs.get((name, scenario, _APPLICATION, 0.0), ()),
            there_s=there_s,
            application_s=runs.get((name, _QUIET, _APPLICATION, 0.0), ()),
            skeleton_s=runs.get((name, _QUIET, what, length_s), ()),
            part=parts[key],
        )
        if not times.complete:
            left_out += 1
            continue
        method = _METHODS[what]
        told = judged(times, method)
        truth_s = statistics.median(times.truth_s)
        case = Case(
            method,
            name,
            family,
            told.p50,
            truth_s,
            told.p5,
            told.p95,
            cores_in(scenario),
        )
        found.append(case)
    if left_out:
        logger.log(
            NOTE,
            "%s: %d predictions left out: application or skeleton was not run in the "
            "scenario '%s', or not where it was shared",
            path,
            left_out,
            _QUIET,
        )
    return found


def _runs(
    lines: Sequence[_Fields],
) -> tuple[dict[_Key, tuple[float, ...]], dict[_Key, float]]:
    """Return times of all repeats, and the part that a skeleton was built to take."""
    seconds: dict[_Key, dict[int, float]] = {}
    parts: dict[_Key, float] = {}
    for fields in lines:
        application, scenario, what = (fields[name].text() for name in _RUN[:3])
        key = application, scenario, what, fields["length_s"].amount()
        run = fields["run"].mapping(("seconds",), optional=None)
        repeat = fields["repeat"].integer(0, _MOST)
        seconds.setdefault(key, {})[repeat] = run["seconds"].positive()
        parts[key] = run["part"].amount() if "part" in run else 0.0
    return (
        {key: tuple(own[n] for n in sorted(own)) for key, own in seconds.items()},
        parts,
    )


def _mpis(provenance: Field) -> set[str]:
    """Return name and version of each MPI that was used."""
    fields = provenance.mapping(optional=None)
    if "mpi" not in fields:
        return set()
    return {title for _, title in fields["mpi"].pairs()}


def _family(titles: set[str]) -> str:
    """Return the MPI of a file of runs; nothing where it has several."""
    kinds = {kind_of(title) for title in titles}
    if len(kinds) != 1 or MpiKind.UNKNOWN in kinds:
        return ""
    return kinds.pop().title
