"""Files that are sent to a server: read, counted, refused, and never half kept."""

from __future__ import annotations

import asyncio
import contextlib
import json
import socket
import tarfile

import pytest

from skelgen import _paths
from skelgen.cli.main import run
from skelgen.errors import MachineError
from skelgen.server import tokens, uploads
from skelgen.server.multipart import boundary_of, read_parts
from skelgen.server.settings import RefusedError, UploadBounds
from skelgen.server.tokens import Right
from skelgen.server.upload_limits import Allowance
from skelgen.store import open_store
from tests.archives import many_members, special, tar_of, zip_of
from tests.fuzz_cases import _recorded
from tests.listening_server import listening
from tests.visitors import fill, serve

TABLE = (
    b"app,time_s,ranks,n,started\nlu,1.5,2,100,1700000000\nlu,2.5,4,100,1700000100\n"
)
LINE = json.dumps(
    {"row": "run", "application": "lu", "time_s": 1.0, "identity": "one", "author": "x"}
).encode()


@pytest.fixture
def place(tmp_path, monkeypatch):
    monkeypatch.setenv("SKELGEN_STATE", str(tmp_path / "state"))
    found = tmp_path / "store.db"
    fill(found)
    return found


def runs_of(place, application="lu"):
    with open_store(str(place), make=False) as store:
        return store.runs(application)


def send(served, files, token=None, **typed):
    """Send files as the form of the page does."""
    form = {**typed, "form_token": served.visitor(token).form}
    those = [("file", one) for one in files]
    return served.browser(token).post("/upload", data=form, files=those)


def nothing_is_left(place) -> bool:
    folder = _paths.state() / "serve/uploads"
    return not folder.exists() or not list(folder.iterdir())


def test_the_form_is_shown_to_who_may_add_and_works_without_a_script(place):
    served = serve(place)
    page = served.browser().get("/upload")
    assert 'enctype="multipart/form-data"' in page.text
    assert 'type="file"' in page.text
    assert "script-src 'self'" in page.headers["content-security-policy"]
    assert "form-action 'self'" in page.headers["content-security-policy"]
    reader = tokens.add_token("ada", Right.READ)
    assert '<form action="/upload"' not in served.browser(reader).get("/upload").text


def test_a_table_is_added_once_and_known_the_second_time(place):
    served = serve(place)
    first = send(served, [("runs.csv", TABLE)], system="cluster")
    assert "2 added, 0 known already, 0 refused." in first.text
    assert [one.system for one in runs_of(place)] == ["cluster", "cluster"]
    again = send(served, [("other.csv", TABLE)], system="cluster")
    assert "0 added, 2 known already, 0 refused." in again.text
    assert len(runs_of(place)) == 2
    assert nothing_is_left(place)


def test_who_sent_a_run_is_kept_with_it_and_shown(place):
    served = serve(place)
    token = tokens.add_token("bob", Right.ADD)
    send(served, [("runs.csv", TABLE), ("a.jsonl", LINE)], token)
    assert {one.author for one in runs_of(place)} == {"bob"}, "not what the file says"
    page = served.browser().get(f"/runs/{runs_of(place)[0].identity}").text
    assert "added by" in page and "bob" in page


@pytest.mark.parametrize("pack", [tar_of, zip_of])
def test_a_recorded_run_that_is_packed_is_the_run_that_store_add_reads(
    place, tmp_path, pack
):
    folder, other = tmp_path / "run", tmp_path / "other.db"
    _recorded(folder, 40)
    words = ["store", "add", str(folder), "--app", "lu", "--store", str(other)]
    assert run([*words, "--input", "n=5"]) == 0
    members = {
        f"run/{one.relative_to(folder)}": one.read_bytes()
        for one in folder.rglob("*")
        if one.is_file()
    }
    sent = pack(members)
    page = send(serve(place), [("run.tar.gz", sent)], app="lu", inputs="n=5")
    assert "1 added, 0 known already, 0 refused." in page.text
    (here,), (there,) = runs_of(place), runs_of(other)
    assert here.source == "run.tar.gz: run"
    assert (here.identity, here.time_s, here.inputs, here.hosts) == (
        *(there.identity, there.time_s, there.inputs, there.hosts),
    )


@pytest.mark.parametrize("pack", [tar_of, zip_of])
def test_an_archive_of_several_files_is_read_file_by_file(place, pack):
    members = {"x/runs.csv": TABLE, "x/bad.csv": b"app,time_s\nlu,never\n", "y": LINE}
    page = send(serve(place), [("all.tar.gz", pack(members))]).text
    assert "3 added, 0 known already, 1 refused." in page
    assert "all.tar.gz: x/bad.csv: line 2" in page
    assert {one.source for one in runs_of(place)} >= {"runs.csv line 2"}


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (tar_of({"../x": LINE}), "leads out of its folder"),
        (tar_of({"/x": LINE}), "leads out of its folder"),
        (tar_of({"a": LINE, "x": special(tarfile.SYMTYPE, "/etc/passwd")}), "a link"),
        (tar_of({"x": special(tarfile.CHRTYPE)}), "a device"),
        (tar_of({"x.csv": bytes(3 << 20)}), "when it is unpacked"),
        (tar_of({"x.tar.gz": tar_of({"a": LINE})}), "an archive in an archive"),
        (many_members(100_000), "twice"),
        (tar_of({}), "holds no file"),
        (tar_of({"a": LINE})[:60], "cut off or damaged"),
        (b"", "is empty"),
        (b"\x00\xff\xfe", "UTF-8"),
        (b"---\n!!python/object/apply:os.system [true]\n", ""),
        (b"skelgen_phases: 1\n&a [*a]\n", ""),
        (b"{" * 100_000, ""),
    ],
)
def test_a_hostile_file_is_refused_in_a_line_and_adds_nothing(place, content, why):
    served = serve(place, uploads=UploadBounds(most_bytes=1 << 20))
    page = send(served, [("hostile.tar.gz", content)])
    assert page.status_code == 200, page.text
    assert "0 added, 0 known already, 1 refused." in page.text
    assert why in page.text.replace("&#39;", "'")
    assert str(_paths.state()) not in page.text
    assert "Traceback" not in page.text
    assert runs_of(place) == []
    assert nothing_is_left(place)


@pytest.mark.parametrize(
    "name", ["../../../tmp/evil.csv", "/etc/passwd", "-", "a\\..\\b.csv", "<b>.csv",
             "x" * 300, "..", "nul\x00.csv", "\u202ecsv.exe"]
)  # fmt: skip
def test_names_of_files_are_text_and_no_paths(place, tmp_path, name):
    before = {one for one in tmp_path.rglob("*") if "state" not in str(one)}
    page = send(serve(place), [(name, TABLE)])
    assert page.status_code in (200, 400)
    assert "<b>" not in page.text
    after = {one for one in tmp_path.rglob("*") if "state" not in str(one)}
    assert {one.name for one in after - before} <= {"store.db-wal", "store.db-shm"}
    assert nothing_is_left(place)


@pytest.mark.parametrize("name", ["numpy.py", "json.py", "skelgen.py", "yaml.py"])
def test_a_file_with_the_name_of_a_module_is_not_executed(place, tmp_path, name):
    trace = tmp_path / "executed"
    code = f"open({str(trace)!r}, 'w').close()\n".encode()
    served = serve(place)
    send(served, [(name, code), ("runs.csv", TABLE)])
    send(served, [("both.tar", tar_of({name: code, "runs.csv": TABLE}))])
    assert not trace.exists()
    assert nothing_is_left(place)


def test_a_form_without_a_file_says_so(place):
    served = serve(place)
    form = {"form_token": (None, served.visitor().form)}
    answer = served.browser().post("/upload", files=form)
    assert answer.status_code == 400
    assert "no file was chosen" in answer.text
    other = served.browser().post("/upload", data={"form_token": "x"})
    assert other.status_code == 415


def test_what_is_typed_is_checked(place):
    page = send(serve(place), [("runs.csv", TABLE)], inputs="never")
    assert "0 added" in page.text
    assert "is not an input" in page.text


def test_the_api_takes_the_same_files(place):
    served = serve(place)
    bearer = {"Authorization": f"Bearer {served.token}"}
    told = served.client().post(
        "/api/files", files={"file": ("runs.csv", TABLE)}, headers=bearer
    )
    assert len(told.json()["added"]) == 2
    assert told.json()["refused"] == []


def test_a_token_sends_no_more_than_its_part_of_a_day(place):
    served = serve(place, uploads=UploadBounds(daily_bytes=3000))
    token, other = (tokens.add_token(name, Right.ADD) for name in ("bob", "eve"))
    first = send(served, [("runs.csv", TABLE)], token)
    assert first.status_code == 200
    client = served.client(Authorization=f"Bearer {token}")
    # Each client is of a server of its own, so the count begins with each.
    assert client.post("/api/runs", content=LINE).status_code == 200
    body = b"\n" * 2000
    assert client.post("/api/runs", content=body).status_code == 200
    refused = client.post("/api/runs", content=body)
    assert refused.status_code == 429
    assert "go on tomorrow" in refused.json()["detail"]
    large = send(served, [("runs.csv", TABLE * 100)], other)
    assert large.status_code == 429
    assert nothing_is_left(place)


def test_rows_count_by_what_they_take_not_by_how_they_are_packed(place):
    rows = [b"app,time_s,ranks,n"] + [b"lu,%d,2,%d" % (n, n) for n in range(1, 2000)]
    packed = tar_of({"runs.csv": b"\n".join(rows)})
    bounds = UploadBounds(daily_bytes=4 * len(packed))
    answer = send(serve(place, uploads=bounds), [("runs.tar.gz", packed)])
    assert answer.status_code == 429
    assert runs_of(place) == []


def test_more_rows_than_a_request_may_hold_are_left_to_push(place):
    rows = [b"app,time_s,ranks,n"] + [b"lu,%d,2,%d" % (n, n) for n in range(1, 2000)]
    page = send(serve(place, most_bytes=20_000), [("runs.csv", b"\n".join(rows))])
    assert "use skelgen push" in page.text
    assert runs_of(place) == []


def test_a_disk_that_is_nearly_full_takes_nothing(place):
    served = serve(place, uploads=UploadBounds(free_bytes=1 << 62))
    answer = send(served, [("runs.csv", TABLE)])
    assert answer.status_code == 507
    assert "nearly full" in answer.text
    client = served.client(Authorization=f"Bearer {served.token}")
    assert client.post("/api/runs", content=LINE).status_code == 507
    assert runs_of(place) == []


def test_a_disk_that_gets_full_in_the_middle_keeps_nothing(tmp_path):
    target = tmp_path / "body"
    target.symlink_to("/dev/full")

    async def stream():
        for _ in range(3):
            yield b"x" * 100_000

    async def received():
        return await uploads.receive_body(stream(), tmp_path, lambda size: None)

    with pytest.raises(RefusedError, match="full") as refused:
        asyncio.run(received())
    assert refused.value.status == 507


def test_a_store_whose_disk_is_full_keeps_no_row_of_a_file(place, monkeypatch):
    def full(*_):
        raise MachineError("store.db cannot be written: the disk is full")

    monkeypatch.setattr("skelgen.store.tables.insert", full)
    answer = send(serve(place), [("runs.csv", TABLE)])
    assert answer.status_code == 503
    assert "the disk is full" in answer.text
    monkeypatch.undo()
    assert runs_of(place) == []


def test_a_body_that_stops_coming_is_given_up(tmp_path, monkeypatch):
    monkeypatch.setattr(uploads, "_NEXT_S", 0.05)

    async def stream():
        yield b"begin"
        await asyncio.sleep(60)

    async def received():
        return await uploads.receive_body(stream(), tmp_path, lambda size: None)

    with pytest.raises(RefusedError, match="nothing came"):
        asyncio.run(received())


def test_an_endless_body_is_cut_at_its_bound(place):
    served = serve(place, uploads=UploadBounds(most_bytes=100_000))
    head = (
        "POST /api/files HTTP/1.1\r\nHost: {}\r\nTransfer-Encoding: chunked\r\n"
        "Authorization: Bearer {}\r\n"
        "Content-Type: multipart/form-data; boundary=b\r\n\r\n"
    )
    sent = 0
    with listening(served) as name:
        host, _, port = name.partition(":")
        with socket.create_connection((host, int(port)), 30) as opened:
            opened.sendall(head.format(name, served.token).encode())
            with contextlib.suppress(OSError):  # it closes the connection
                for _ in range(10_000):
                    opened.sendall(b"1000\r\n" + b"x" * 0x1000 + b"\r\n")
                    sent += 0x1000
    assert 100_000 <= sent < 20 << 20
    assert nothing_is_left(place)


def test_two_files_at_once_and_no_more_of_one_token():
    allowance = Allowance(100, 0, [])
    with allowance.place("ada"), allowance.place("ada"):
        with pytest.raises(RefusedError, match="just now"), allowance.place("ada"):
            pass
        with allowance.place("bob"):
            pass
    with allowance.place("ada"):
        pass


def test_a_day_is_over_at_midnight():
    now = [86400.0 * 3 - 1]
    allowance = Allowance(100, 0, [], clock=lambda: now[0])
    allowance.charge("ada", 100)
    with pytest.raises(RefusedError, match="go on tomorrow"):
        allowance.charge("ada", 1)
    allowance.charge("bob", 100)
    assert allowance.left("ada") == 0
    now[0] += 1
    assert allowance.left("ada") == 100
    allowance.charge("ada", 100)


FORM = (
    b'--b\r\nContent-Disposition: form-data; name="app"\r\n\r\nlu\r\n'
    b'--b\r\nContent-Disposition: form-data; name="file"; filename="a.csv"\r\n'
    b"Content-Type: text/csv\r\n\r\nx\r\n--c\r\n\r\n--b--\r\n"
)


def test_a_form_is_read_part_by_part(tmp_path):
    file = tmp_path / "body"
    file.write_bytes(FORM)
    fields, files = read_parts(file, b"b")
    assert fields == [("app", "lu")]
    (one,) = files
    assert (one.name, one.file_name) == ("file", "a.csv")
    assert FORM[one.begin : one.end] == b"x\r\n--c\r\n"


def test_every_form_that_was_cut_is_refused(tmp_path):
    file = tmp_path / "body"
    for end in range(len(FORM) - 4):
        file.write_bytes(FORM[:end])
        with pytest.raises(RefusedError, match="cut off"):
            read_parts(file, b"b")


def test_a_form_of_many_parts_or_long_heads_is_refused(tmp_path):
    file = tmp_path / "body"
    part = b'--b\r\nContent-Disposition: form-data; name="x"\r\n\r\n1\r\n'
    file.write_bytes(part * 1000 + b"--b--")
    with pytest.raises(RefusedError, match="at most"):
        read_parts(file, b"b")
    file.write_bytes(b"--b\r\nX: " + b"y" * 10_000 + b"\r\n\r\n1\r\n--b--")
    with pytest.raises(RefusedError, match="cut off"):
        read_parts(file, b"b")


@pytest.mark.parametrize(
    "kind", ["", "text/plain", "multipart/form-data", "multipart/form-data; boundary=",
             "multipart/form-data; boundary=" + "x" * 100 + ";",
             "multipart/mixed; boundary=b"]
)  # fmt: skip
def test_what_is_no_form_with_files_is_refused(kind):
    if len(kind) > 100:
        assert len(boundary_of(kind)) <= 70
        return
    with pytest.raises(RefusedError, match="with files"):
        boundary_of(kind)
