"""Where a server listens, and which names are its own."""

from __future__ import annotations

import socket
from pathlib import Path

import pytest

from skelgen.errors import InputError, MachineError, UsageError
from skelgen.server.listening import (
    Listening,
    bound,
    check_listening,
    own_names,
    public_address,
)

PEM = Path("file.pem")


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "::1", "127.9.9.9"])
def test_loopback_needs_no_tls(host):
    check_listening(Listening(host))


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.0.2.1", ""])
def test_what_others_reach_needs_tls_or_insecure(host):
    with pytest.raises(UsageError, match=r"--host"):
        check_listening(Listening(host))
    if host:
        check_listening(Listening(host, insecure=True))


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"prefix": "p"}, "--prefix p"),
        ({"prefix": "/../x"}, "--prefix"),
        ({"prefix": "//evil.example"}, "--prefix"),
        ({"names": ("a b",)}, "--name a b"),
        ({"names": ("http://x",)}, "--name"),
        ({"host": "no such host"}, "there is no such host"),
    ],
)
def test_words_that_do_not_fit_are_refused(changed, said):
    with pytest.raises(UsageError, match=said):
        check_listening(Listening(**changed))


def test_a_socket_for_a_proxy_needs_the_name_of_the_proxy(tmp_path):
    place = Listening(unix=tmp_path / "s")
    with pytest.raises(UsageError, match="--unix needs --name"):
        check_listening(place)
    check_listening(Listening(unix=tmp_path / "s", names=("site.example",)))


def test_files_that_are_no_certificate_are_refused(tmp_path):
    one = tmp_path / "c.pem"
    one.write_text("no certificate")
    with pytest.raises(UsageError, match="both"):
        check_listening(Listening(certificate=one))
    for key in (one, tmp_path / "none"):
        with pytest.raises(InputError, match="cannot be used for TLS"):
            check_listening(Listening(certificate=one, key=key))


def test_a_taken_port_is_one_line_that_names_a_free_one():
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        with pytest.raises(MachineError, match=f"port {port} is taken.*--port 0"):
            bound(Listening(port=port))


def test_an_address_of_another_machine_is_refused():
    with pytest.raises(UsageError, match="does not have that address"):
        bound(Listening("192.0.2.1", 0, insecure=True))


def test_a_socket_that_nobody_answers_is_replaced_and_no_other_file(tmp_path):
    path = tmp_path / "s"
    place = Listening(unix=path, names=("site.example",))
    first = bound(place)
    with pytest.raises(MachineError, match="another server listens there"):
        bound(place)
    first.close()  # as a killed server leaves it
    bound(place).close()
    assert path.stat().st_mode & 0o777 == 0o660
    path.unlink()
    path.write_text("mine")
    with pytest.raises(UsageError, match="there is something else"):
        bound(place)
    assert path.read_text() == "mine"


def test_the_names_of_a_server_are_its_own_and_no_others():
    loopback = own_names(Listening(), 8642)
    assert loopback == {"127.0.0.1:8642", "localhost:8642", "[::1]:8642"}
    proxied = own_names(Listening(names=("Site.example",)), 0)
    assert proxied == {"site.example", "site.example:443", "site.example:0"}
    typed = own_names(Listening(names=("site.example",)), 8642)
    assert typed == {"site.example", "site.example:443", "site.example:8642"}
    exact = own_names(Listening(names=("site.example:8443",)), 8642)
    assert exact == {"site.example:8443"}
    assert "127.0.0.1" in own_names(Listening(port=80), 80)


@pytest.mark.parametrize(
    ("place", "port", "address"),
    [
        (Listening(), 8642, "http://127.0.0.1:8642"),
        (Listening("::1", prefix="/p"), 1, "http://[::1]:1/p"),
        (Listening(names=("site.example",), prefix="/p"), 5, "https://site.example/p"),
        (
            Listening("0.0.0.0", names=("a.example",), certificate=PEM, key=PEM),
            8642,
            "https://a.example:8642",
        ),
        (
            Listening("0.0.0.0", names=("a.example:1",), certificate=PEM, key=PEM),
            8642,
            "https://a.example:1",
        ),
        (
            Listening("0.0.0.0", insecure=True),
            5,
            f"http://{socket.gethostname()}:5",
        ),
    ],
)
def test_the_address_is_what_people_can_open(place, port, address):
    assert public_address(place, port) == address
