"""The server behind nginx with TLS, on a socket and below a path."""

from __future__ import annotations

import shutil
import socket
import ssl
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import httpx2 as httpx
import pytest

from tests.servers import LONG_S, Server
from tests.visitors import fill

NGINX = shutil.which("nginx") or shutil.which("nginx", path="/usr/sbin")
OPENSSL = shutil.which("openssl")
pytestmark = [
    pytest.mark.skipif(NGINX is None, reason="no nginx: apt-get install nginx-light"),
    pytest.mark.skipif(OPENSSL is None, reason="no openssl to make a certificate"),
]
NAME = "site.example"
#: As docs/web.md has it, in a server of its own.
SITE = """
daemon off; master_process off; pid {folder}/pid; error_log {folder}/errors;
events {{}}
http {{
    access_log {folder}/access;
    client_body_temp_path {folder}/body; proxy_temp_path {folder}/proxy;
    fastcgi_temp_path {folder}/f; uwsgi_temp_path {folder}/u; scgi_temp_path {folder}/s;
    server {{
        listen 127.0.0.1:{port} ssl;
        ssl_certificate {folder}/c.pem; ssl_certificate_key {folder}/k.pem;
        location /skelgen/ {{
            proxy_pass http://unix:{folder}/socket;
            proxy_set_header Host $host;
        }}
    }}
}}
"""


@pytest.fixture
def certificate(tmp_path) -> Path:
    words = ["req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2"]
    words += ["-subj", f"/CN={NAME}", "-addext", f"subjectAltName=DNS:{NAME}"]
    keys = ["-keyout", str(tmp_path / "k.pem"), "-out", str(tmp_path / "c.pem")]
    subprocess.run([str(OPENSSL), *words, *keys], check=True, capture_output=True)
    return tmp_path / "c.pem"


@pytest.fixture
def store(tmp_path, monkeypatch) -> Path:
    monkeypatch.setenv("SKELGEN_STATE", str(tmp_path / "state"))
    found = tmp_path / "store.db"
    fill(found)
    return found


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as one:
        return int(one.getsockname()[1])


@pytest.fixture
def proxy(tmp_path, certificate) -> Iterator[int]:
    port = free_port()
    config = tmp_path / "nginx.conf"
    config.write_text(SITE.format(folder=tmp_path, port=port))
    words = [str(NGINX), "-p", str(tmp_path), "-c", str(config)]
    with subprocess.Popen(words, stderr=subprocess.PIPE) as process:
        try:
            wait_for(port)
            yield port
        finally:
            process.terminate()


def wait_for(port: int) -> None:
    for _ in range(600):
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
        except OSError:
            time.sleep(0.1)
        else:
            return
    raise AssertionError("nothing listens")


def client_of(port: int, certificate: Path) -> httpx.Client:
    """Return a browser that trusts the certificate and finds the name here."""
    trusted = ssl.create_default_context(cafile=str(certificate))
    trusted.check_hostname = False  # the address is a number, the name a header
    return httpx.Client(
        base_url=f"https://127.0.0.1:{port}",
        headers={"host": NAME},
        verify=trusted,
        timeout=LONG_S,
    )


def test_people_come_through_nginx_by_tls(tmp_path, certificate, store, proxy):
    words = ("--unix", str(tmp_path / "socket"), "--name", NAME, "--prefix", "/skelgen")
    with (
        Server("--store", str(store), *words) as server,
        client_of(proxy, certificate) as client,
    ):
        assert server.url.startswith(f"https://{NAME}/skelgen/enter?token=")
        token = server.url.partition("token=")[2]
        assert client.get("/skelgen/health").json()["status"] == "ok"
        assert client.get("/skelgen/runs").status_code == 401
        entered = client.get(f"/skelgen/enter?token={token}")
        assert entered.status_code == 303
        assert entered.headers["location"] == "/skelgen/enter/on"
        cookie = entered.headers["set-cookie"]
        for word in ("Path=/skelgen", "Secure", "HttpOnly", "SameSite=strict"):
            assert word.lower() in cookie.lower()
        pair = {"cookie": cookie.partition(";")[0]}
        page = client.get("/skelgen/runs?app=heat", headers=pair)
        assert page.status_code == 200
        assert 'href="/skelgen/runs/run-1000-2"' in page.text
        own = {**pair, "origin": f"https://{NAME}"}
        other = {**pair, "origin": "https://other.example"}
        assert client.get("/skelgen/runs", headers=own).status_code == 200
        assert client.get("/skelgen/runs", headers=other).status_code == 403
        wrong = {**pair, "host": "other.example"}
        assert client.get("/skelgen/runs", headers=wrong).status_code == 421
        headers = {"authorization": f"Bearer {token}"}
        line = b'{"row": "run", "application": "new", "time_s": 1, "identity": "i"}'
        added = client.post("/skelgen/api/runs", content=line, headers=headers)
        assert len(added.json()["added"]) == 1
        assert server.end() == (0, "")
    assert token not in (tmp_path / "errors").read_text()


def test_people_come_by_the_tls_of_the_server_itself(tmp_path, certificate, store):
    port = free_port()
    words = ("--tls-certificate", str(certificate), "--port", str(port))
    more = ("--tls-key", str(tmp_path / "k.pem"), "--name", f"{NAME}:{port}")
    with (
        Server("--store", str(store), *words, *more) as server,
        client_of(port, certificate) as client,
    ):
        assert server.url.startswith(f"https://{NAME}:{port}/enter?token=")
        token = server.url.partition("token=")[2]
        host = {"host": f"{NAME}:{port}"}
        entered = client.get(f"/enter?token={token}", headers=host)
        assert "secure" in entered.headers["set-cookie"].lower()
        with pytest.raises(httpx.HTTPError):
            httpx.get(f"http://127.0.0.1:{port}/health", timeout=LONG_S)
        headers = {**host, "authorization": f"Bearer {token}"}
        assert client.get("/api/runs", headers=headers).json()["total"] == 12
