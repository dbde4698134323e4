"""What the fuzzing benchmark is made of: good files, commands, and damage to both.

No damage asks for what is right but long or large: many runs of a program. What is
given ``--force`` names no place outside the folder of its case.
"""

from __future__ import annotations

import contextlib
import json
import random
import re
import shutil
import sqlite3
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from skelgen.cli.main import run
from skelgen.documents import sealed_json
from skelgen.launch.record import RUN_FILE, RunFacts, write_facts
from skelgen.monitor.day_files import DayFile
from skelgen.monitor.records import SampleRow
from skelgen.monitor.status import Status, write_status
from skelgen.pipeline.known_systems import write_rows
from skelgen.pipeline.mix import mix_text
from skelgen.prediction.skeleton_file import load, save_calibration
from skelgen.prediction.types import Calibration
from skelgen.reference.calibration import Mix
from skelgen.reference.mix_fit import Fit
from skelgen.store import Run, RunPart, Series, StoredPrediction, open_store
from skelgen.trust import Interval
from skelgen.trust import store as trust_store
from tests import fake_mpi
from tests.broken_bytes import broken
from tests.export_samples import save_mixed
from tests.sealed_ranks import seal_again
from tests.trace_writer import RankWriter

GOLDEN = Path(__file__).parent / "golden"
DOCS = Path(__file__).parents[1] / "docs"
METHOD_ERRORS = Path(trust_store.__file__).with_name("method_errors.yaml")

#: Commands and the files that they read; some more often than others.
COMMANDS: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("info run", ("run/*",)),
    ("info mixed --json", ("mixed/*",)),
    ("build run --scale 5 -o out", ("run/*", "mixed/*")),
    ("build mixed --target-time 1ms -o out --similarity-threshold auto", ("mixed/*",)),
    ("build sig --scale 4 -o out", ("sig/*",)),
    ("build sig --scale 4 -o out --method paper2005 --json", ("sig/*",)),
    ("build halo/signature.yaml --scale 3 -o out", ("halo/*",)),
    ("build master_worker/signature.yaml --scale 7 -o out", ("master_worker/*",)),
    ("build collectives/signature.yaml --scale 2 -o out", ("collectives/*",)),
    ("build pipeline/signature.yaml --scale 2 -o out --json", ("pipeline/*",)),
    ("export mixed --format perfetto -o out", ("mixed/*",)),
    ("export mixed --format paraver -o out", ("mixed/*",)),
    ("export run --format tit -o out --max-events 900", ("run/*",)),
    ("phases show run --json", ("run/*",)),
    ("phases show mixed -o out --picture out.svg", ("mixed/*",)),
    ("phases diff run other", ("run/*", "other/*")),
    ("phases ticks run --first 2 --count 9", ("run/*",)),
    ("workload add study.yaml other --at n=300", ("study.yaml", "other/*")),
    ("workload add study.yaml measured.json --at n=300", ("measured.json",)),
    ("workload predict study.yaml --at n=400 --json", ("study.yaml",)),
    ("workload predict study.yaml --at n=400 -o out.svg", ("study.yaml",)),
    ("workload plan study.yaml --range n=1:99", ("study.yaml",)),
    ("predict skel --json", ("skel/*",)),
    ("predict skel --hostfile hosts", ("skel/*", "hosts")),
    ("predict skel --hosts n1:2,n2:2 --resume", ("skel/*.jsonl", "skel/*")),
    ("select skel --from hosts --nodes 2 --resume", ("hosts", "skel/*")),
    ("select skel --hosts n[1-2]:2 --hosts n[3-4]:2 --format slurm", ("skel/*",)),
    ("calibrate skel --runs 1 --resume", ("skel/*.jsonl", "skel/*")),
    (
        "calibrate skel --application-time recorded --runs 1 --force",
        ("skel/skeleton.json", "skel/*.jsonl"),
    ),
    ("predict skel --json", ("trust.yaml",)),
    ("trust show --json", ("trust.yaml",)),
    ("store record --json", ("store/*",)),
    ("store list --where n>=1 --where host=n1 --json", ("store/store.db",)),
    ("store list --limit 5 --where status=ok --where id!=1e5", ("store/*",)),
    ("store list --repeats --mean", ("store/*", "store/*/*")),
    ("store check --json", ("store/*", "store/*/*")),
    ("store show r", ("store/*",)),
    ("store export -o out", ("store/*", "store/*/*")),
    ("store export -o out --format csv --app a", ("store/store.db",)),
    ("store export -o out --format extrap-json", ("store/store.db",)),
    ("store add sources/runs.csv --json", ("sources/runs.csv", "store/store.db")),
    ("store add sources/runs.csv --columns time=time_ms,m=n", ("sources/runs.csv",)),
    ("store add sources/own.jsonl", ("sources/own.jsonl", "store/*/*")),
    ("store add sources/objects.jsonl", ("sources/objects.jsonl",)),
    ("store add sources/extrap.txt --columns ranks=p", ("sources/extrap.txt",)),
    ("store add sources/extrap.json --app a", ("sources/extrap.json",)),
    ("store add sources/older.json sources/extrap.jsonl --app a", ("sources/*r*",)),
    ("store add sources/measured.json --app a", ("sources/measured.json",)),
    ("store add sources/predicted.json --input n=1", ("sources/predicted.json",)),
    ("store add sources/workload.json --app a", ("sources/workload.json",)),
    ("store add sources/study.yaml", ("sources/study.yaml",)),
    ("store add sources/run phases exported", ("sources/run/*", "phases/*.yaml")),
    ("store add exported --json", ("exported/*",)),
    ("store add --time 12.3 --app a --ranks 2 --input n=1", ("store/*",)),
    ("forecast --nodes n1 --horizon 60s --json", ("monitor/*/*",)),
    ("forecast --series loads.csv --horizon 60s", ("loads.csv",)),
    ("forecast --series loads.csv --method nws --json", ("loads.csv",)),
    ("forecast --nodes n1 --store store/store.db --horizon 60s", ("store/store.db",)),
    ("forecast --record --json", ("state/*", "state/*/*")),
    ("system show n1", ("store/*",)),
    ("system compare n1 n2", ("store/*",)),
    ("system show n1 --file system.json --json", ("system.json",)),
    ("system compare n1 n2 --file system.json", ("system.json",)),
    ("system list --file system.json", ("system.json",)),
    ("monitor show --last 999999h --json", ("monitor/*/*",)),
    ("monitor show --last 999999h", ("monitor/*/*",)),
    ("monitor status --json", ("monitor/*/*",)),
    ("model fit model.csv --json", ("model.csv",)),
    ("model fit model.csv -o out.json --format latex", ("model.csv",)),
    ("model predict model.csv --at n=800,ranks=8 --json", ("model.csv",)),
    ("model predict model.json --at n=800,ranks=8 --json", ("model.json",)),
    ("model compare model.csv --family default --json", ("model.csv",)),
    ("model check model.csv --goal 10% --json", ("model.csv",)),
    ("model next model.csv --at n=800,ranks=8 --json", ("model.csv",)),
    ("model draw model.csv -o out.svg", ("model.csv",)),
    ("model couple kernels.csv --at n=40,ranks=2 --json", ("kernels.csv",)),
    (
        "model fit model.csv --template formula --fact L=8 --fact SR(L)=2us+L*1ns "
        "--fact IADD=1e-9s",
        ("formula",),
    ),
    (
        "model predict --template formula --fact L=8KiB --system n1 --store "
        "store/store.db --at n=800,ranks=8 --json",
        ("formula", "store/store.db"),
    ),
    ("model list --json", ("store/store.db",)),
    ("model show kept --json", ("store/store.db",)),
    ("share skel -o out.yaml --name app", ("skel/*.yaml",)),
    ("trust learn results.jsonl -o out.yaml", ("results.jsonl",)),
    ("measure phases --hosts n1:2", ("phases/*",)),
    ("record -o out -- mpirun -n 2 ./app 7", ()),
    ("shim ./app", ()),
    ("mix run --runs 1 -- ./app", ("run/run.json",)),
)
#: These run programs: a large number is a long time and no mistake.
#: What ``--force`` is told to replace.
OUTPUTS = (
    *("skel", "run", "sig", "phases", "halo", "out", "new", "old.svg", "old.yaml"),
    *("study.yaml", "hosts", "app", "skel/signature.yaml", ".", "..", "run/..", "link"),
)
RUNNING = ("predict", "select", "calibrate", "measure", "record", "mix", "shim")

LARGE = ("99999999", "1e300", "10**9", "1" * 19, "9" * 400, "1e400")
WORDS = (
    *("", "-", "--", "-1", "0", "nan", "inf", "-inf", "1e-400", "+1", "0x10", "1_0"),
    *("é", "\udcff", "\udcc3(", "a\nb", "\x1b[31mred", "\ufdd0ff", "x" * 5000),
    *(".", "none", "hosts", "run", "sig", "skel", "study.yaml", "measured.json", "app"),
    *("/dev/null", "/dev/full", "n[1-", "n[1-9999]x[1-9999]", "n[5-1]", "@all", "n1:0"),
    *("id=1e400", "host=nan", "n>=inf", "status=-inf", "allocation=007", "ranks=x"),
    *("n1:2,n1", "n[01-3]:2", "*", "a!b", "n=1", "n=1:2", "n=nan", "=", "{n}", "%s"),
    *("--json", "--help", "--version", "-vv", "--strict", "--scale", "--hosts", "-o"),
    *("--nodes", "--resume", "--no-such", "5s", "1ms", "50%", "0.5", "1,2,3", "2"),
)
SPOILT: tuple[Any, ...] = (
    *("x", "", "[", "{}", "[1]", '["\x1b[2J"]', "\x1b[2J", b"\xff", b"\x00", "a\nb"),
    *(None, -1, 0, 2**62, 1e308, 1e999, -1e999, 1e-300, "1e5", "\ufdd0ff", "'"),
)
VALUES: tuple[Any, ...] = (
    *(None, True, False, 0, -1, 1, 2, 0.5, -0.5, 1e300, 10**17, "", "x", "5", [], {}),
    *([[]], {"": 0}, "\udcff", "é", "a\nb", "\x1b[2J", "x" * 3000, "/dev/null", "nan"),
)
TEXTS = (
    *("1e400", "1" * 400, "NaN", "-Infinity", '"\\ud800"', '"\\u0000"', "[" * 3000),
    *('{"a":' * 3000, "\0", "~", "null", "*a", "&a 1", "!!python/object:os.system"),
    *("0..999999999", "0*999999999", "7*10000000", "1..10000000", "\ufdd0ff", "- - - "),
    *("99999999999999999999", "-1", "1e300", "0", "[]", "{}", "''", "\x1b[0m", "é"),
)


def make(folder: Path) -> None:
    """Write files that all commands can read, into a folder that is empty."""
    _machine(folder)
    shutil.copy(METHOD_ERRORS, folder / "trust.yaml")
    pairs = (DOCS / "accuracy/pairs/phases.jsonl").read_text().splitlines()
    (folder / "results.jsonl").write_text("\n".join(pairs[::3]) + "\n")
    _remembered(folder)
    for name, size in (("run", 300), ("other", 600)):
        _recorded(folder / name, size)
    save_mixed(folder / "mixed")
    for case in GOLDEN.glob("*/signature.yaml"):
        (folder / case.parent.name).mkdir()
        shutil.copy(case, folder / case.parent.name)
    shutil.copytree(folder / "halo", folder / "sig")
    _written("phases", "show", "run", "-o", "phases")
    _written("build", "sig", "--scale", "4", "-o", "skel")
    shutil.copy("phases/phases.yaml", "sig/phases.yaml")
    _skeleton(folder / "skel")
    mix = Fit(Mix(0.5, 0.25, 0.25, 4 << 20), (1.0, 2.0), (1.0, 1.8))
    (folder / "run/mix.json").write_text(mix_text(mix))
    (folder / "hosts").write_text("# hosts\nn1 slots=2\nn2:2\nn[3-4]:2\n")
    command = ["--", "mpirun", "-n", "2", "./app", "{n}"]
    _written("workload", "plan", "study.yaml", "--range", "n=100:900", *command)
    for size in (100, 500, 900):
        _recorded(folder / f"run{size}", size)
        _written("workload", "add", "study.yaml", f"run{size}", "--at", f"n={size}")
        shutil.rmtree(folder / f"run{size}")
    structures = [
        {"key": "k", "site_key": "s", "calls": ["MPI_Barrier"]}
        | {"events": 2, "weight": 3, "time_s": 0.5, "recorded_s": 0.25}
    ]
    times = {"p5_s": 1.5, "paet_s": 1.6, "p95_s": 1.7}
    measured = {**times, "verdict": "trust", "ranks": 2, "structures": structures}
    (folder / "measured.json").write_text(json.dumps(measured))


def _remembered(folder: Path) -> None:
    """Fill a store, a file of systems and the series of a monitor."""
    from tests.unit.test_pipeline_system import ROWS

    write_rows(ROWS, folder / "system.json", force=False)
    times = [
        StoredPrediction(
            "phases", "a", Interval(1.0, 1.1, 1.2), 1e9 + n, identity=f"p{n}"
        )
        for n in range(9)
    ]
    pairs = (replace(one, truth="r", truth_s=1.15) for one in times)
    run_row = Run("a", 1.15, ranks=2, inputs=(("n", 1.0), ("file", "in")), identity="r")
    asked = replace(times[0], identity="q", inputs=run_row.inputs, ranks=2)
    part = RunPart("solve", "phase", 0.5, 2.0, 0.9)
    followed = replace(run_row, identity="s", started=1e9 + 50, parts=(part,))
    now = time.time()
    samples = tuple(now - 6000 + 10 * n for n in range(600))
    series = Series("n1", "cpu", samples, tuple(n % 9 / 9 for n in range(600)))
    with open_store(str(folder / "store/store.db")) as store:
        store.add([*ROWS.rows, *pairs, run_row, asked, followed, series])
    begin = 1764028800.0
    file = DayFile(folder / "monitor/n1", 10.0)
    for number in range(50):
        values = (number % 10 / 10, float(number % 7))
        file.add(SampleRow(begin + 10 * number, values), ("cpu", "run_queue"))
    file.close()
    facts = {"samples": 50, "interval_s": 10.0, "cpu_share": 0.001, "rss_bytes": 10**7}
    status = Status("n1", since=begin, last=begin + 490, **facts)
    write_status(folder / "monitor/n1", status)
    _sources(folder)


def _sources(folder: Path) -> None:
    """Write what a store reads, and what it has exported."""
    from tests.store_files import lines, write_all

    (folder / "sources").mkdir()
    write_all(folder / "sources")
    _written("store", "export", "-o", "exported")
    spool = folder / "store/store.db.spool"
    late = {"row": "run", "application": "a", "time_s": 2.0, "identity": "late"}
    (spool / "n1-1-0123.jsonl").write_text(lines([late]))
    loads = "".join(f"{60 * n},{n % 7 / 7},{n % 5 / 4}\n" for n in range(60))
    (folder / "loads.csv").write_text(f"time,n1,n1-n2\n{loads}")
    _written("forecast", "--series", "loads.csv", "--horizon", "60s")
    _modelled(folder)


def _modelled(folder: Path) -> None:
    """Write runs to learn from, and a model in a file and in the store."""
    times = "".join(
        f"{n},{ranks},{1e-6 * n * n / ranks:.9f}\n"
        for n in (100, 200, 400)
        for ranks in (2, 4, 8)
    )
    (folder / "model.csv").write_text(f"n,ranks,time\n{times}")
    kernels = "".join(
        f"{chain},{n},2,{1e-9 * n**3 * len(chain):.9f}\n"
        for chain in ("a", "b", "c", "a+b", "b+c", "c+a", "a+b+c")
        for n in (10, 20, 30)
    )
    (folder / "kernels.csv").write_text(f"kernels,n,ranks,time\n{kernels}")
    (folder / "formula").write_text("IADD*n^3/(ranks-1) + SR(L)*n*log2(ranks) # 2005\n")
    words = ("--app", "m", "--name", "kept", "--store", "store/store.db")
    _written("model", "fit", "model.csv", "-o", "model.json", *words)


def _machine(folder: Path) -> None:
    body = fake_mpi.RUN_PROGRAM
    fake_mpi.hydra(folder / "bin", body=body)
    fake_mpi.mpicc(folder / "bin", "mpich")
    fake_mpi.script(folder / "bin/ssh", "exit 255")
    fake_mpi.script(folder / "app", "exit 0")


def _written(*words: str) -> None:
    code = run(list(words))
    if code:
        raise RuntimeError(f"skelgen {' '.join(words)} ended with {code}")


def _recorded(folder: Path, size: int) -> None:
    for rank in range(2):
        writer = RankWriter(rank, 2, checked=True)
        writer.event("MPI_Init", 0, 100)
        for number in range(30):
            other = {"peer": 1 - rank, "tag": 1, "peer2": 1 - rank, "tag2": 1}
            counts = {"count_a": size, "type_a": 8, "count_b": size, "type_b": 8}
            writer.event("MPI_Sendrecv", 100 * size, 100, **other, **counts)
            if number == 15:
                writer.window()
        writer.event("MPI_Barrier", 100, 100)
        writer.finish()
        writer.save(folder)
    facts = RunFacts(
        command=("mpirun", "-n", "2", "./app", str(size)),
        folder=".",
        started="2026-01-01T00:00:00+00:00",
        duration_s=1.5,
        exit_code=0,
        mpi="MPICH Version: 5.0.2",
        launcher="mpirun",
        host="ref",
        ranks=2,
        load=(0.0, 0.1, 0.2),
        environment=(("UCX_TLS", "self,sm"),),
    )
    write_facts(facts, folder / RUN_FILE)


def _skeleton(folder: Path) -> None:
    said = '{"seconds": 0.5, "compute_s": [0.2, 0.2], "mpi_s": [0.1, 0.1]}'
    fake_mpi.script(folder / "skeleton", f"echo '{said}'")
    facts = load(folder)
    times_s = (0.5, 0.5, 0.51)
    known = Calibration(times_s, times_s, "ref", facts.mpi, (0.1, 0.1, 0.1), True)
    save_calibration(replace(known, recorded=False), folder)
    lines = [
        {"skeleton": "0" * 16, "mpi": facts.mpi, "hosts": "n1:2,n2:2", "seconds": 0.5},
        {"skeleton": "1" * 16, "mpi": facts.mpi, "hosts": "n3:2,n4:2", "seconds": 0.7},
    ]
    text = "".join(sealed_json(line, indent=None) for line in lines)
    for name in ("predict.jsonl", "calibrate.jsonl", "select/runs.jsonl"):
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(text)


def case(rng: random.Random, folder: Path) -> list[str]:
    """Damage files in a folder, the words of a command, or both; return the words."""
    line, files = rng.choice(COMMANDS)
    words = line.split()
    if "-o" in words and rng.random() < 0.2:
        return _forced(rng, folder, words)
    if files and rng.random() < 0.8:
        for _ in range(rng.choice((1, 1, 1, 2))):
            _damage(rng, folder, rng.choice(files))
        if rng.random() < 0.9:
            return words
    return _other_words(rng, words)


def _forced(rng: random.Random, folder: Path, words: list[str]) -> list[str]:
    """Let a command replace what is there: damaged, linked to, or not ours."""
    words[words.index("-o") + 1] = rng.choice(OUTPUTS)
    if "--picture" in words:
        words[words.index("--picture") + 1] = rng.choice(OUTPUTS)
    (folder / "link").symlink_to(rng.choice(("skel", "hosts", "nothing", "..")))
    (folder / "old.svg").write_text("<svg>" if rng.random() < 0.5 else "mine")
    shutil.copy(folder / "phases/phases.yaml", folder / "old.yaml")
    if rng.random() < 0.5:
        _damage(rng, folder, rng.choice(("skel/*", "skel/.*", "run/*", "old.*")))
    at = words.index("--") if "--" in words else len(words)
    words.insert(at, "--force")
    inside = tuple(word for word in WORDS if not word.startswith("/"))
    return words if rng.random() < 0.7 else _other_words(rng, words, inside)


def _other_words(
    rng: random.Random, words: Sequence[str], others: Sequence[str] = WORDS
) -> list[str]:
    found = list(words)
    nasty = others if words[0] in RUNNING else (*others, *LARGE)
    for _ in range(rng.choice((1, 1, 2, 3))):
        at = rng.randrange(1, len(found) + 1)
        kind = rng.random()
        if kind < 0.5 and at < len(found):
            found[at] = rng.choice(nasty)
        elif kind < 0.8:
            found.insert(at, rng.choice(nasty))
        elif at < len(found):
            del found[at]
    return [word.replace("\0", "") for word in found]


def _damage(rng: random.Random, folder: Path, pattern: str) -> None:
    paths = sorted(path for path in folder.glob(pattern) if path.is_file())
    paths = [path for path in paths if path.name not in ("skeleton", "skeleton.c")]
    if not paths:
        return
    path, kind = rng.choice(paths), rng.random()
    if kind < 0.01:
        path.unlink()
    elif kind < 0.02:
        path.unlink()
        path.mkdir()
    elif path.suffix == ".db" and kind < 0.6:
        _spoil(rng, path)
    elif path.suffix == ".skt":
        path.write_bytes(broken(rng, path.read_bytes()))
        if rng.random() < 0.5:
            seal_again(path)
    else:
        text = path.read_bytes().decode("utf-8", "surrogateescape")
        if rng.random() < 0.9:
            text = _without_checksums(text)
        path.write_bytes(rng.choice(DAMAGES)(rng, text))


def _spoil(rng: random.Random, path: Path) -> None:
    """Put a value of another kind into a table: what pages look like still fits."""
    connection = sqlite3.connect(path)
    with contextlib.suppress(sqlite3.Error), contextlib.closing(connection) as database:
        tables = database.execute(
            "SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name"
        ).fetchall()
        for _ in range(rng.choice((1, 1, 3))):
            (table,) = rng.choice(tables)
            columns = database.execute(f"PRAGMA table_info({table})").fetchall()
            column = rng.choice(columns)[1]
            some = f"SELECT {column} FROM {table} LIMIT 1 OFFSET {rng.randrange(9)}"
            database.execute(
                f"UPDATE OR IGNORE {table} SET {column} = ? WHERE {column} IS ({some})",
                (rng.choice(SPOILT),),
            )
        database.commit()


def _without_checksums(text: str) -> str:
    text = re.sub(r"^# checksum .*\n", "", text)
    return re.sub(r',\s*"checksum": "[0-9a-f]*"', "", text)


def _bytes(rng: random.Random, text: str) -> bytes:
    return broken(rng, text.encode("utf-8", "surrogateescape"))


def _lines(rng: random.Random, text: str) -> bytes:
    lines = text.splitlines() or [""]
    at, other = rng.randrange(len(lines)), rng.choice(lines)
    kind = rng.randrange(5)
    if kind == 0:
        del lines[at : at + rng.randint(1, 3)]
    elif kind == 1:
        lines[at : at + 1] = [other, lines[at]]
    elif kind == 2:
        lines[at] = other
    elif kind == 3:
        lines[at] = " " * rng.randint(1, 4) + lines[at]
    else:
        lines[at] = lines[at][rng.randint(1, 4) :]
    return "\n".join(lines).encode("utf-8", "surrogateescape")


def _part(rng: random.Random, text: str) -> bytes:
    """Replace a word or a number, here and there."""
    for _ in range(rng.choice((1, 1, 2))):
        places = list(re.finditer(r"[^\s\[\],=|*{}:\"]+", text))
        if places:
            place = rng.choice(places)
            text = text[: place.start()] + rng.choice(TEXTS) + text[place.end() :]
    return text.encode("utf-8", "surrogateescape")


def _number(rng: random.Random, text: str) -> bytes:
    places = list(re.finditer(r"\d+", text))
    if places:
        place = rng.choice(places)
        number = int(place[0]) + rng.choice((-1, 1, -int(place[0]), 10**9, 10**17))
        text = text[: place.start()] + str(number) + text[place.end() :]
    return text.encode("utf-8", "surrogateescape")


def _value(rng: random.Random, text: str) -> bytes:
    """Replace one value of JSON by another one; of YAML a word."""
    try:
        content = json.loads(text)
    except (ValueError, RecursionError):
        return _part(rng, text)
    at: Any = content
    while isinstance(at, dict | list) and at:
        places = list(at) if isinstance(at, dict) else range(len(at))
        key = rng.choice(list(places))
        if not isinstance(at[key], dict | list) or rng.random() < 0.3:
            at[key] = rng.choice(VALUES)
            break
        at = at[key]
    return json.dumps(content).encode("utf-8", "surrogateescape")


DAMAGES = (_bytes, _lines, _part, _part, _number, _value, _value)
