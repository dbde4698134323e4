"""Phase signatures on disk: ``phases.yaml`` beside ``signature.yaml``."""

from __future__ import annotations

import re
from pathlib import Path

from skelgen.documents import Field, read_document, sealed_yaml
from skelgen.documents.numbers import MOST_RANKS, format_integers, format_real
from skelgen.errors import InputError
from skelgen.launch.folders import replace_file
from skelgen.launch.variables import settings_of
from skelgen.phases.stored import Occurrence, PhaseSignature, StoredPhase
from skelgen.phases.types import BODY, PHASE_PARTS, NestLevel, Parameters, Phase
from skelgen.signature.read import read_provenance
from skelgen.signature.write import provenance_lines, quoted, unseen_lines
from skelgen.trust.recording_doubts import read_unseen

PHASES_FILE = "phases.yaml"
#: How the file begins.
PHASES_BEGIN = re.compile(rb"(#[^\n]*\n)?(# A phase signature;|skelgen_phases:)")
#: Version of the format.
_VERSION = 1

_MOST = 1 << 60
_FIELDS = (
    "skelgen_phases", "provenance", "folder", "environment", "files", "ranks",
    "threads", "application_s", "counts", "parameters", "phases", "others",
)  # fmt: skip
_PARAMETERS, _LONGEST = ("relevance", "time_similarity"), ("longest",)
_LEVEL = ("longest", "phases", "occurrences", "error", "cost", "chosen")
_PHASE = (
    "id", "key", "site_key", "calls", "events", "weight", "time_s", "spread",
    "share", "occurrences",
)  # fmt: skip

#: What files of earlier versions of skelgen lack, of phases and as a whole.
_SINCE, _OPTIONAL = ("drift", "part", "stratum"), ("unseen", "levels")


def load(path: Path) -> PhaseSignature:
    """Read a phase signature.

    Parameters
    ----------
    path : Path
        A YAML file, or a folder with a ``phases.yaml``.

    Raises
    ------
    InputError
        When there is none, or it is damaged: one line with file and field.
    """
    path = Path(path)
    path = path / PHASES_FILE if path.is_dir() else path
    if not path.is_file():
        raise InputError(
            f"{path}: there is no such file; skelgen phases RUN -o writes one"
        )
    document = Field(path, "", read_document(path))
    version = document.mapping(("skelgen_phases",), None)["skelgen_phases"]
    if version.text() != str(_VERSION):
        raise version.error(
            f"read version {version.text()[:60]!r}, expected {_VERSION}: make the "
            "phase signature again with this skelgen"
        )
    return _signature(document.mapping(_FIELDS, _OPTIONAL))


def save(signature: PhaseSignature, path: Path) -> Path:
    """Write a phase signature; equal ones give the same bytes.

    Parameters
    ----------
    signature : PhaseSignature
    path : Path
        A file that ends in ``.yaml`` or ``.yml``, or else a folder, which gets a
        ``phases.yaml``.

    Returns
    -------
    Path
        The file. It appears when it is complete.
    """
    path = file_of(path)
    replace_file(path, text_of(signature))
    return path


def file_of(path: Path) -> Path:
    """Return the file that `save` writes."""
    path = Path(path)
    return path if path.suffix in (".yaml", ".yml") else path / PHASES_FILE


def text_of(signature: PhaseSignature) -> str:
    """Return the YAML document of a phase signature, sealed with its checksum."""
    numbers = {
        name: format_real(value)
        for name in ("relevance", "longest", "time_similarity")
        if (value := getattr(signature.parameters, name)) is not None
    }
    share = format_real(signature.others_share)
    lines = [
        "# A phase signature; docs/phases.md of skelgen describes it.",
        f"skelgen_phases: {_VERSION}",
        *provenance_lines(signature.provenance),
        f"folder: {quoted(signature.folder)}",
        *_texts("environment", signature.environment),
        *_texts("files", signature.files),
        *unseen_lines(signature.unseen),
        f"ranks: {signature.ranks}",
        f"threads: {signature.threads}",
        f"application_s: {format_real(signature.application_s)}",
        f"counts: {quoted(format_integers(signature.counts))}",
        f"parameters: {{{', '.join(f'{a}: {b}' for a, b in numbers.items())}}}",
        *(["levels:"] if signature.levels else []),
        *(_level_line(level) for level in signature.levels),
        "phases:" if signature.phases else "phases: []",
        *(line for one in signature.phases for line in _phase_lines(one)),
        f"others: {{phases: {signature.others}, share: {share}}}",
    ]
    return sealed_yaml("\n".join(lines) + "\n")


def _level_line(level: NestLevel) -> str:
    chosen = str(level.chosen).lower()
    return (
        f"- {{longest: {format_real(level.longest)}, phases: {level.phases}, "
        f"occurrences: {level.occurrences}, error: {format_real(level.error)}, "
        f"cost: {format_real(level.cost)}, chosen: {chosen}}}"
    )


def _texts(name: str, pairs: tuple[tuple[str, str], ...]) -> list[str]:
    lines = [f"  {quoted(key)}: {quoted(value)}" for key, value in pairs]
    return [f"{name}:", *lines] if lines else [f"{name}: {{}}"]


def _phase_lines(stored: StoredPhase) -> list[str]:
    phase = stored.phase
    return [
        f"- id: {phase.number}",
        *([f"  part: {phase.part}"] if phase.part != BODY else []),
        *([f"  stratum: {quoted(phase.stratum)}"] if phase.stratum else []),
        f"  key: {quoted(phase.key)}",
        f"  site_key: {quoted(phase.site_key)}",
        f"  calls: [{', '.join(map(quoted, phase.calls))}]",
        f"  events: {phase.events}",
        f"  weight: {phase.weight}",
        f"  time_s: {format_real(phase.time_s)}",
        f"  spread: {format_real(phase.spread)}",
        f"  drift: {format_real(phase.drift)}",
        f"  share: {format_real(phase.share)}",
        "  occurrences:",
        *(
            f"  - {{number: {one.number}, time_s: {format_real(one.time_s)}, "
            f"begin: {quoted(format_integers(one.begin))}, "
            f"end: {quoted(format_integers(one.end))}"
            f"{f', repeats: {one.repeats}' if one.repeats > 1 else ''}}}"
            for one in stored.occurrences
        ),
    ]


def _signature(fields: dict[str, Field]) -> PhaseSignature:
    ranks = fields["ranks"].integer(1, MOST_RANKS)
    counts = _counts(fields["counts"], ranks, (0,) * ranks, None)
    shares = fields["parameters"].mapping(_PARAMETERS, _LONGEST)
    others = fields["others"].mapping(("phases", "share"))
    phases, whole = _phases(fields["phases"], ranks, counts), fields["application_s"]
    return PhaseSignature(
        provenance=read_provenance(fields["provenance"]),
        folder=fields["folder"].text(),
        environment=settings_of(fields["environment"], _pairs(fields["environment"])),
        files=_pairs(fields["files"]),
        ranks=ranks,
        threads=fields["threads"].integer(1, _MOST),
        application_s=_time_s(whole) if phases else whole.amount(),
        counts=counts,
        parameters=Parameters(
            relevance=shares["relevance"].amount(),
            longest=shares["longest"].amount() if "longest" in shares else None,
            time_similarity=shares["time_similarity"].amount(),
        ),
        phases=phases,
        others=others["phases"].integer(0, _MOST),
        others_share=others["share"].amount(),
        unseen=read_unseen(fields["unseen"]) if "unseen" in fields else None,
        levels=tuple(
            map(_level, fields["levels"].items() if "levels" in fields else ())
        ),
    )


def _level(field: Field) -> NestLevel:
    fields = field.mapping(_LEVEL)
    return NestLevel(
        longest=fields["longest"].amount(),
        phases=fields["phases"].integer(0, _MOST),
        occurrences=fields["occurrences"].integer(0, _MOST),
        error=fields["error"].amount(),
        cost=fields["cost"].amount(),
        chosen=fields["chosen"].truth(),
    )


def _pairs(field: Field) -> tuple[tuple[str, str], ...]:
    entries = field.mapping(optional=None)
    return tuple((name, value.text()) for name, value in entries.items())


def _phases(field: Field, ranks: int, most: tuple[int, ...]) -> tuple[StoredPhase, ...]:
    found: dict[int, StoredPhase] = {}
    for one in field.items():
        stored = _phase(one, ranks, most)
        if found.setdefault(stored.phase.number, stored) is not stored:
            raise one.error(f"read id {stored.phase.number} a second time")
    return tuple(found.values())


def _phase(field: Field, ranks: int, most: tuple[int, ...]) -> StoredPhase:
    fields = field.mapping(_PHASE, _SINCE)
    weight = fields["weight"].integer(1, _MOST)
    phase = Phase(
        number=fields["id"].integer(1, _MOST),
        key=fields["key"].text(),
        site_key=fields["site_key"].text(),
        calls=tuple(name.text() for name in fields["calls"].items()),
        events=fields["events"].integer(0, _MOST),
        weight=weight,
        time_s=_time_s(fields["time_s"]),
        spread=fields["spread"].amount(),
        drift=fields["drift"].amount() if "drift" in fields else 0.0,
        share=fields["share"].amount(),
        part=_part(fields),
        stratum=fields["stratum"].text() if "stratum" in fields else "",
    )
    found: list[Occurrence] = []
    for one in fields["occurrences"].items():
        parts = one.mapping(("number", "time_s", "begin", "end"), ("repeats",))
        number = _number(parts["number"], found, weight)
        most_repeats = weight - number
        begin = _counts(parts["begin"], ranks, (0,) * ranks, most)
        found.append(
            Occurrence(
                number=number,
                time_s=parts["time_s"].amount(),
                begin=begin,
                end=_counts(parts["end"], ranks, begin, most),
                repeats=(
                    parts["repeats"].integer(1, most_repeats)
                    if "repeats" in parts
                    else 1
                ),
            )
        )
    if not found:
        raise fields["occurrences"].error("read an empty list, expected occurrences")
    return StoredPhase(phase, tuple(found))


def _part(fields: dict[str, Field]) -> str:
    part = fields["part"].text() if "part" in fields else BODY
    if part not in PHASE_PARTS:
        raise fields["part"].error(
            f"read {part[:60]!r}, expected {', '.join(PHASE_PARTS)}"
        )
    return part


def _number(field: Field, before: list[Occurrence], weight: int) -> int:
    number = field.integer(0, weight - 1)
    if number <= before[-1].number if before else number:
        raise field.error(f"read {number}, expected numbers that ascend from 0")
    return number


def _time_s(field: Field) -> float:
    if not (time_s := field.amount()):
        raise field.error("read 0, expected a time that is larger")
    return time_s


def _counts(
    field: Field, ranks: int, least: tuple[int, ...], most: tuple[int, ...] | None
) -> tuple[int, ...]:
    """Read the event counts of all ranks, and check them against others."""
    found = tuple(field.integers(0, _MOST, ranks))
    if len(found) != ranks:
        raise field.error(f"read {len(found)} event counts, expected {ranks}")
    for rank, (low, count) in enumerate(zip(least, found, strict=True)):
        high = _MOST if most is None else most[rank]
        if not low <= count <= high:
            raise field.error(
                f"read event count {count} of rank {rank}, expected {low} to {high}"
            )
    return found
