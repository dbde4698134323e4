"""Secrets in a command or an environment are in no file that is written."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skelgen.launch.command import program_words
from skelgen.launch.mpi import MpiKind
from skelgen.launch.record import RUN_FILE, read_facts, write_facts
from skelgen.launch.secrets import HIDDEN, hidden, hidden_values, is_secret
from skelgen.phases.store import load as load_phases
from skelgen.phases.store import text_of
from skelgen.prediction.skeleton_file import load, save_calibration
from skelgen.signature import store
from skelgen.signature.write import signature_text
from skelgen.skeleton.methods import planner
from skelgen.web.page import page_of
from skelgen.web.render import render_page
from tests.known_skeleton import FACTS, MEASURED
from tests.unit.test_launch_record import FACTS as RUN
from tests.unit.test_prediction_skeleton_file import save

STORED = Path(__file__).parents[2] / "signatures/lammps-lj-2r"
SIGNATURE, PHASES = store.load(STORED), load_phases(STORED)
REPORT = planner("whole-events")(SIGNATURE, 10.0).report
#: What every secret of a test begins with, and nothing else holds.
MARK = "Zq7Xk"
SECRETS = st.text(
    st.characters(blacklist_categories=["Cs", "Zs", "Cc", "Zl", "Zp"]), max_size=20
).map(lambda text: MARK + text)
NAMES = (
    *("token", "password", "passwd", "secret", "api_key", "api-key", "key"),
    *("DBPASS", "DB_PASSWORD", "AWS_SECRET_ACCESS_KEY", "GITHUB_TOKEN", "credential"),
    *("accessToken", "clientSecret", "db.password", "PASSWORD_PROD", "auth"),
)
#: How a secret may stand in a command.
FORMS = {
    "--name=": lambda name, secret: [f"--{name}={secret}"],
    "--name value": lambda name, secret: [f"--{name}", secret],
    "-name value": lambda name, secret: [f"-{name}", secret, "tail"],
    "NAME=": lambda name, secret: ["env", f"{name}={secret}"],
    "-DNAME=": lambda name, secret: [f"-Dapp.{name}={secret}"],
    "-genv": lambda name, secret: ["-genv", name, secret],
    "-x": lambda name, secret: ["-x", f"{name}={secret}"],
    "--export=": lambda name, secret: [f"--export=ALL,{name}={secret},A=1"],
    "--export": lambda name, secret: ["--export", f"A=1,{name}={secret}"],
    "header": lambda name, secret: ["-H", f"x-{name}: {secret}"],
    "json": lambda name, secret: [json.dumps({"a": 1, name: "@"}).replace("@", secret)],
    "in a shell": lambda name, secret: ["sh", "-c", f"./app --{name} {secret} x"],
    "query": lambda name, secret: [f"https://host/x?a=1&{name}={secret}"],
}


@given(st.sampled_from(sorted(FORMS)), st.sampled_from(NAMES), SECRETS)
def test_no_secret_is_shown_and_words_stay_where_they_are(form, name, secret):
    words = ["mpirun", *FORMS[form](name, secret), "-n", "2", "./app", "8"]
    shown = hidden(words)
    assert len(shown) == len(words)
    assert not any(MARK in word for word in shown)
    assert (shown[0], *shown[-4:]) == ("mpirun", "-n", "2", "./app", "8")
    assert hidden(shown) == shown


@given(SECRETS.filter(lambda text: not set(text) & set("/@")))
def test_passwords_in_urls_are_not_shown(secret):
    words = [f"postgres://me:{secret}@host/db", f"https://{secret}@host"]
    assert hidden(words) == (f"postgres://{HIDDEN}@host/db", f"https://{HIDDEN}@host")


@given(st.sampled_from(NAMES), SECRETS)
def test_variables_with_secrets_are_not_shown(name, secret):
    shown = hidden_values([(f"UCX_{name}", secret), ("UCX_TLS", f"{name}={secret}")])
    assert [key for key, _ in shown] == [f"UCX_{name}", "UCX_TLS"]
    assert MARK not in repr(shown)


@pytest.mark.parametrize(
    "line",
    [
        "mpirun -n 4 -bind-to core lmp -in in.lj -k on g 1 -sf kk",
        "mpirun -x LD_LIBRARY_PATH -x UCX_TLS=self ./app --key-frames 10 -k 3",
        "srun --export=ALL,A=1 -N 2 ./app --tokenizer bert --max-tokens 100",
        "mpiexec -hosts n1:2,n2:2 ./app in.key --monkey 1 --bypass=2",
        "mpirun -genv UCX_TLS self ./app --lowpass 0.5 user@host:/path",
        "./app --password-file /run/pw --token-name x --auth-type none passes=3",
        "./app keys=5 --keys 1,2 --keyword x --secretary y --author z --passive",
    ],
)
def test_ordinary_arguments_stay(line):
    assert hidden(line.split()) == tuple(line.split())


def test_what_is_hidden_still_says_program_and_arguments():
    line = "mpirun -genv DBPASS x -n 2 ./app --token t 8".split()
    assert program_words(hidden(line), MpiKind.MPICH) == [
        "./app",
        "--token",
        "***",
        "8",
    ]


@pytest.mark.parametrize(
    "part", ["x", "a://", "@ a://", "A=", "-a ", "a ", "'", "tokena"]
)
def test_long_words_take_no_longer_for_each_letter(part):
    """Two million letters: with a square in it this would not end."""
    word = part * (2_000_000 // len(part))
    assert hidden([word]) == (word,)


def test_an_option_that_follows_a_name_is_no_secret():
    assert hidden(["--ask-password", "--verbose"]) == ("--ask-password", "--verbose")
    assert not is_secret("")


@pytest.fixture(scope="module")
def written(tmp_path_factory) -> Path:
    """Return a folder for files with secrets, as an older skelgen wrote them."""
    return tmp_path_factory.mktemp("old")


@settings(max_examples=20)
@given(secret=SECRETS, name=st.sampled_from(NAMES))
def test_files_that_are_read_and_written_again_lose_their_secrets(
    written: Path, secret, name
):
    command = ("mpirun", "-genv", name, secret, "-n", "2", "lmp", f"--{name}={secret}")
    environment = (("UCX_X_KEY", secret),)
    write_facts(
        replace(RUN, command=command, environment=environment), written / RUN_FILE
    )
    facts = read_facts(written)
    assert facts is not None
    write_facts(facts, written / RUN_FILE)
    save(replace(FACTS, command=command, environment=environment), written)
    assert MARK not in repr(load(written))
    known = replace(SIGNATURE.provenance, command=command)
    store.save(replace(SIGNATURE, provenance=known), written / "signature.yaml")
    phases = replace(PHASES, provenance=known, environment=environment, folder="/x")
    (written / "phases.yaml").write_text(text_of(phases))
    signature = store.load(written / "signature.yaml")
    texts = [
        signature_text(signature),
        text_of(load_phases(written)),
        render_page(page_of(signature, REPORT, scaling_factor=10.0)),
        (written / RUN_FILE).read_text(),
    ]
    assert not any(MARK in text for text in texts)


def test_a_calibration_leaves_no_secret_in_the_skeletons_file(tmp_path):
    save(replace(FACTS, command=("mpirun", "./app", "--token=hunter2")), tmp_path)
    save_calibration(MEASURED, tmp_path)
    assert "hunter2" not in (tmp_path / "skeleton.json").read_text()
