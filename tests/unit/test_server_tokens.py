"""Tokens: what is kept of them, who may read that, and what they open."""

from __future__ import annotations

import json
import stat

import pytest

from skelgen.errors import InputError, MachineError, UsageError
from skelgen.server import tokens
from skelgen.server.keyring import Keyring, same
from skelgen.server.tokens import Right, access_file, new_token


@pytest.fixture(autouse=True)
def _state(tmp_path, monkeypatch):
    monkeypatch.setenv("SKELGEN_STATE", str(tmp_path / "state"))


def keyring(most: Right = Right.ADMINISTER) -> Keyring:
    return Keyring(new_token("you", most)[1], most)


def test_only_a_hash_is_kept_and_only_its_owner_reads_it():
    text = tokens.add_token("ada", Right.ADD)
    assert text not in access_file().read_text()
    assert stat.S_IMODE(access_file().stat().st_mode) == 0o600
    assert stat.S_IMODE(access_file().parent.stat().st_mode) == 0o700
    (kept,) = tokens.read_access().tokens
    assert (kept.name, kept.right) == ("ada", Right.ADD)


def test_a_file_that_others_may_read_is_refused():
    tokens.add_token("ada", Right.READ)
    access_file().chmod(0o640)
    with pytest.raises(MachineError, match=r"others may read .*chmod 600"):
        tokens.read_access()


@pytest.mark.parametrize("damage", ["{", "[]", '{"skelgen_access": 2}', ""])
def test_a_damaged_file_is_one_line_and_opens_nothing(damage):
    text = tokens.add_token("ada", Right.READ)
    access_file().write_text(damage)
    with pytest.raises(InputError, match=r"access\.json"):
        keyring().by_token(text)


@pytest.mark.parametrize("field", ["right", "digest", "key"])
def test_a_changed_file_is_noticed(field):
    tokens.add_token("ada", Right.READ)
    content = json.loads(access_file().read_text())
    place = content if field == "key" else content["tokens"][0]
    place[field] = "administer" if field == "right" else "0" * 64
    access_file().write_text(json.dumps(content))
    with pytest.raises(InputError):
        tokens.read_access()


def test_two_tokens_have_two_names_and_a_removed_one_is_gone():
    tokens.add_token("ada", Right.READ)
    with pytest.raises(UsageError, match="there is a token ada already"):
        tokens.add_token("ada", Right.ADD)
    tokens.remove_token("ada")
    with pytest.raises(InputError, match="there is no token ada"):
        tokens.remove_token("ada")
    assert tokens.add_token("ada", Right.READ)


@pytest.mark.parametrize("name", ["", "a b", "../x", "-x", "a" * 65, "a\n", "é"])
def test_a_name_is_a_word(name):
    with pytest.raises(UsageError, match="expected at most 64"):
        tokens.add_token(name, Right.READ)


@pytest.mark.parametrize("word", ["open", "root", "", "READ"])
def test_a_kind_of_token_is_one_of_three(word):
    with pytest.raises(UsageError, match="expected read, add, administer"):
        tokens.right_of(word)


def test_a_token_counts_from_when_it_is_added_until_it_is_removed():
    ring = keyring()
    text = tokens.add_token("ada", Right.ADD)
    found = ring.by_token(text)
    assert found is not None and (found.name, found.right) == ("ada", Right.ADD)
    cookie = ring.cookie(text)
    assert ring.by_cookie(cookie) == found
    tokens.remove_token("ada")
    assert ring.by_token(text) is None
    assert ring.by_cookie(cookie) is None


def test_no_token_allows_more_than_the_server_does():
    found = keyring(Right.READ).by_token(tokens.add_token("ada", Right.ADMINISTER))
    assert found is not None and found.right is Right.READ


@pytest.mark.parametrize("text", ["", "x", "\udcff", "é", "a" * 10_000])
def test_what_is_no_token_opens_nothing(text):
    ring = keyring()
    assert ring.by_token(text) is None
    assert ring.by_cookie(text) is None


def test_a_hash_a_cookie_and_a_form_token_are_no_tokens():
    ring = keyring()
    text = tokens.add_token("ada", Right.ADD)
    found = ring.by_token(text)
    assert found is not None
    for other in (tokens.digest_of(text), ring.cookie(text), found.form):
        assert ring.by_token(other) is None
    for other in (tokens.digest_of(text), text, found.form):
        assert ring.by_cookie(other) is None


def test_secrets_are_the_same_or_not_whatever_they_are():
    assert same("\udcff", "\udcff")
    assert not same("a", "é")
