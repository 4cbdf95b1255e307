"""Files of rows that are fetched by https, from servers that mean well and others."""

import hashlib
import json
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from http.server import BaseHTTPRequestHandler
from pathlib import Path

import pytest

from swarm_bench.app.datasets.fetching import FetchRequest, fetch
from swarm_bench.core.errors import ConfigError, HarnessError, SwarmBenchError, UsageError
from swarm_bench.datasets.fetched.cache import cache_folder, fetched_names, read_manifest
from swarm_bench.datasets.fetched.download import Limits
from swarm_bench.datasets.rows import find_dataset, list_datasets
from swarm_bench.testing.model_contracts import check_dataset
from tests.builders.golden import Sentences
from tests.builders.https import Answer, Server, body, redirect, serving

ROWS = b'{"id": "a"}\n{"id": "b"}\n'
HASH = hashlib.sha256(ROWS).hexdigest()
CHUNKED = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
LITTLE = Limits(size=2**20, seconds=1.0, least=1000)


def endless(handler: BaseHTTPRequestHandler) -> None:
    handler.send_response(200)
    handler.end_headers()
    while True:
        handler.wfile.write(b"x" * 65536)


def dripping(handler: BaseHTTPRequestHandler) -> None:
    handler.send_response(200)
    handler.end_headers()
    while True:
        handler.wfile.write(b"x")
        time.sleep(0.1)


def cut(handler: BaseHTTPRequestHandler) -> None:
    handler.send_response(200)
    handler.send_header("Content-Length", "100")
    handler.end_headers()
    handler.wfile.write(ROWS)
    handler.close_connection = True


def dripping_after(begun: bytes, drip: bytes) -> Answer:
    """Send bytes again and again that are none of a body."""

    def answer(handler: BaseHTTPRequestHandler) -> None:
        handler.wfile.write(begun)
        while True:
            handler.wfile.write(drip)
            time.sleep(0.1)

    return answer


def silent(handler: BaseHTTPRequestHandler) -> None:
    time.sleep(5)


ANSWERS = {
    "/rows.jsonl": body(ROWS),
    "/other/rows.jsonl": body(ROWS + b"{}\n"),
    "/moved/rows.jsonl": redirect("/rows.jsonl"),
    "/down/rows.jsonl": redirect("http://127.0.0.1:1/rows.jsonl"),
    "/file/rows.jsonl": redirect("file:///etc/hostname"),
    "/again/rows.jsonl": redirect("/again/rows.jsonl"),
    "/endless/rows.jsonl": endless,
    "/dripping/rows.jsonl": dripping,
    "/cut/rows.jsonl": cut,
    "/silent/rows.jsonl": silent,
    "/hints/rows.jsonl": dripping_after(b"", b"HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n"),
    "/header/rows.jsonl": dripping_after(b"HTTP/1.1 200 OK\r\nX: ", b"x"),
    "/extension/rows.jsonl": dripping_after(CHUNKED + b"1;", b"x"),
    "/trailers/rows.jsonl": dripping_after(CHUNKED + b"1\r\n\n\r\n0\r\n", b"X: x\r\n"),
    "/large/rows.jsonl": body(b"x" * (2**20 + 1)),
    "/escaping/": body(ROWS),
}


@pytest.fixture
def server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    with serving(tmp_path, ANSWERS) as server:
        monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
        monkeypatch.setenv("SSL_CERT_FILE", str(server.certificate))
        yield server


def fetched(server: Server, path: str = "/rows.jsonl", name: str | None = None) -> str:
    url = server.address + path
    return fetch(FetchRequest(source=url, sha256=HASH, name=name), print, LITTLE)


def test_c18_a_fetched_file_is_a_data_set(server: Server, golden: Sentences) -> None:
    """C18: remote sources."""
    golden(fetched(server, "/rows.jsonl?signature=secret#x"))
    dataset = find_dataset("fetched:rows")
    check_dataset(dataset)
    assert [row.content["id"] for row in dataset.load().rows] == ["a", "b"]
    manifest = read_manifest("rows")
    assert manifest is not None
    assert (manifest.sha256, manifest.licence) == (HASH, None)
    assert dataset.source == f"{server.address}/rows.jsonl"
    assert "fetched:rows" in [it.name for it in list_datasets()]
    assert {it.name for it in cache_folder().iterdir()} == {"rows"}
    assert {it.name for it in (cache_folder() / "rows").iterdir()} == {"files", "manifest.json"}


def test_a_redirection_within_https_is_followed(server: Server) -> None:
    fetched(server, "/moved/rows.jsonl")
    assert fetched_names() == ["rows"]


@pytest.mark.parametrize(
    "path",
    ["other", "down", "file", "again", "endless", "dripping", "hints", "header", "extension",
     "trailers", "cut", "silent", "large", "nothing"],
)  # fmt: skip
def test_of_what_is_refused_nothing_stays(server: Server, path: str, golden: Sentences) -> None:
    with pytest.raises((UsageError, HarnessError)) as raised:
        fetched(server, f"/{path}/rows.jsonl")
    golden(str(raised.value))
    assert fetched_names() == []
    assert list(cache_folder().iterdir()) == []


@pytest.mark.parametrize(
    ("source", "sha256", "name"),
    [
        ("http://127.0.0.1/rows.jsonl", HASH, None),
        ("ftp://127.0.0.1/rows.jsonl", HASH, None),
        ("https://me:secret@127.0.0.1/rows.jsonl", HASH, None),
        ("https://127.0.0.1/rows.jsonl", None, None),
        ("https://127.0.0.1/rows.jsonl", "abc", None),
        ("https://127.0.0.1/rows.exe", HASH, None),
        ("https://127.0.0.1/%2e%2e%2f.jsonl", HASH, None),
        ("https://127.0.0.1/rows.jsonl", HASH, "../rows"),
        ("https://127.0.0.1:x/rows.jsonl", HASH, None),
        ("nothing.json", None, None),
    ],
    ids=["http", "ftp", "login", "no hash", "bad hash", "no rows", "dots", "name", "port", "list"],
)
def test_wrong_usage_is_refused_before_anybody_is_asked(
    server: Server, source: str, sha256: str | None, name: str | None, golden: Sentences
) -> None:
    with pytest.raises(UsageError) as raised:
        fetch(FetchRequest(source=source, sha256=sha256, name=name), print)
    golden(str(raised.value))
    assert "secret" not in str(raised.value)
    assert not cache_folder().exists()


def test_a_server_that_nobody_vouches_for_is_refused(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("SSL_CERT_FILE")
    with pytest.raises(HarnessError, match="could not be fetched"):
        fetched(server)
    assert list(cache_folder().iterdir()) == []


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("SSL_CERT_FILE", "nothing://there"),
        ("https_proxy", "nothing://there"),
        ("https_proxy", "socks5://127.0.0.1:1"),
    ],
)
def test_an_environment_that_cannot_be_used_is_said(
    server: Server, name: str, value: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(name, value)
    with pytest.raises(UsageError, match="the environment says"):
        fetched(server)
    assert list(cache_folder().iterdir()) == []


def test_what_is_there_is_not_fetched_again_and_another_is_refused(
    server: Server, golden: Sentences
) -> None:
    first = fetched(server)
    assert fetched(server, "/gone/rows.jsonl") == first  # nobody is asked
    capitals = FetchRequest(source=f"{server.address}/gone/rows.jsonl", sha256=HASH.upper())
    assert fetch(capitals, print) == first
    with pytest.raises(UsageError) as raised:
        find_dataset("fetched:rows/*.py").load()
    golden(str(raised.value))
    other = FetchRequest(source=f"{server.address}/other/rows.jsonl", sha256="0" * 64)
    with pytest.raises(UsageError) as raised:
        fetch(other, print)
    golden(str(raised.value))


def test_several_at_once_do_not_harm_each_other(server: Server) -> None:
    with ThreadPoolExecutor(4) as pool:
        reports = set(pool.map(lambda _: fetched(server), range(8)))
    assert len(reports) == 1
    check_dataset(find_dataset("fetched:rows"))
    assert {it.name for it in cache_folder().iterdir()} == {"rows"}


def test_what_was_changed_or_is_a_part_does_not_count(server: Server, golden: Sentences) -> None:
    fetched(server)
    part = cache_folder() / ".rows.0123456789abcdef.part"
    (cache_folder() / "rows").rename(part)
    (part / ".lock").touch()
    assert fetched_names() == []
    fetched(server)
    assert not part.exists()
    (cache_folder() / "rows" / "files" / "rows.jsonl").write_bytes(ROWS[:12])
    with pytest.raises(ConfigError) as raised:
        find_dataset("fetched:rows").load()
    golden(str(raised.value))
    manifest = cache_folder() / "rows" / "manifest.json"
    whole = json.loads(manifest.read_text())
    (cache_folder().parent / "outside.jsonl").write_bytes(ROWS)
    two, outside = {"a.jsonl": HASH, "b.jsonl": HASH}, {"../../../outside.jsonl": HASH}
    for content in ({"files": {}}, *({**whole, "files": it} for it in ({}, two, outside))):
        manifest.write_text(json.dumps(content))
        with pytest.raises(SwarmBenchError) as raised_again:
            find_dataset("fetched:rows").load()
        golden(str(raised_again.value))
