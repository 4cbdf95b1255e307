"""Files of repositories that are fetched at commits, from those that mean well and others."""

import json
import os
import re
import subprocess
from concurrent.futures import ThreadPoolExecutor
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any

import pytest

from swarm_bench.app.datasets.fetching import FetchRequest, fetch
from swarm_bench.core.errors import ConfigError, HarnessError, UsageError
from swarm_bench.datasets.fetched.cache import cache_folder, fetched_names, read_manifest
from swarm_bench.datasets.fetched.download import Limits
from swarm_bench.datasets.rows import find_dataset
from swarm_bench.testing.model_contracts import check_dataset
from tests.builders.golden import Sentences
from tests.builders.https import redirect, serving
from tests.builders.repositories import commit, git, start

CONTRACT = "// SPDX-License-Identifier: MIT\ncontract A {}\n"
FILES = {
    "LICENSE": "\n  Apache License 2.0\n",
    "src/A.sol": CONTRACT,
    "src/inner/B.sol": "contract B {}\n",
    "src/notes.md": "# notes\n",
    "test/T.sol": "contract T {}\n",
}
POINTER = "version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n"


@pytest.fixture
def made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path


def repository(folder: Path, name: str = "shop") -> tuple[str, str]:
    """Make a repository, and return its address and its commit."""
    path = start(folder / name)
    whole = commit(path, "one", FILES, date="2024-06-11T12:00:00Z")
    return f"file://{path}", whole


def listed(folder: Path, *content: Any, title: str = "set") -> FetchRequest:
    (folder / "list.json").write_text(json.dumps({"title": title, "content": content}))
    return FetchRequest(source=str(folder / "list.json"))


def wanted(folder: Path, repo: str, whole: str, *include: str) -> FetchRequest:
    return listed(folder, {"repo": repo, "commit": whole, "include": include})


def paths(word: str = "fetched:set") -> list[str]:
    return [row.content["path"] for row in find_dataset(word).load().rows]


def test_c18_files_of_commits_are_a_data_set(made: Path, golden: Sentences) -> None:
    """C18: remote sources, as CompChomper's configuration names them."""
    repo, whole = repository(made)
    commit(made / "shop", "two", {"src/A.sol": "contract Later {}\n"})
    other, second = repository(made, "bank")
    asked = listed(
        made,
        {"repo": repo, "commit": whole, "include": ["src/*"]},
        {"repo": other, "commit": second, "include": ["**/T.sol"]},
    )
    golden(fetch(asked, print))
    assert paths() == ["bank/test/T.sol", "shop/src/A.sol", "shop/src/inner/B.sol"]
    assert paths("fetched:set/*.md") == ["shop/src/notes.md"]
    dataset = find_dataset("fetched:set")
    check_dataset(dataset)
    first = next(row for row in dataset.load().rows if row.content["path"] == "shop/src/A.sol")
    assert first.content["content"] == CONTRACT
    assert first.content["date"] == "2024-06-11"
    manifest = read_manifest("set")
    assert manifest is not None
    found = [(it.commit, it.licence, str(it.committed)) for it in manifest.repositories]
    assert found == [(whole, "MIT", "2024-06-11"), (second, "Apache License 2.0", "2024-06-11")]
    assert fetch(asked, print) == fetch(asked, print)
    assert fetched_names() == ["set"]


def test_the_hash_of_a_set_is_that_of_its_files(made: Path) -> None:
    asked = wanted(made, *repository(made), "src/*")
    wrong = FetchRequest(source=asked.source, sha256="0" * 64)
    with pytest.raises(UsageError, match="has the SHA-256 [0-9a-f]{64}, not 0000"):
        fetch(wrong, print)
    assert fetched_names() == []
    fetch(asked, print)
    manifest = read_manifest("set")
    assert manifest is not None
    right = FetchRequest(source=asked.source, sha256=manifest.sha256, name="again")
    fetch(right, print)
    assert fetched_names() == ["again", "set"]


def test_links_submodules_and_pointers_are_omitted_and_no_hook_runs(
    made: Path, golden: Sentences
) -> None:
    repo, _ = repository(made)
    shop, ran = made / "shop", made / "ran"
    (shop / "src" / "link.sol").symlink_to("/etc/hostname")
    (shop / "src" / "up").symlink_to("../../..")
    (shop / "src" / "large.bin").write_bytes(b"x" * 4_000_001)
    (shop / "src" / ".gitattributes").write_text("* filter=evil\n")
    (shop / ".gitmodules").write_text(
        f'[submodule "m"]\n\tpath = src/m\n\turl = {repo}\n\tfetchRecurseSubmodules = true\n'
    )
    git(shop, "add", "-A")
    git(shop, "update-index", "--add", "--cacheinfo", f"160000,{'a' * 40},src/m")
    whole = commit(shop, "links", {"src/asset.sol": POINTER})
    git(shop, "update-index", "--add", "--cacheinfo", f"160000,{'a' * 40},src/m")
    git(shop, "commit", "-q", "--amend", "--no-edit")
    whole = git(shop, "rev-parse", "HEAD")
    for name in ("post-checkout", "post-merge", "reference-transaction", "pre-auto-gc"):
        hook = shop / ".git" / "hooks" / name
        hook.parent.mkdir(exist_ok=True)
        hook.write_text(f"#!/bin/sh\ntouch {ran}\n")
        hook.chmod(0o755)
    git(shop, "config", "filter.evil.smudge", f"touch {ran}")
    git(shop, "config", "uploadpack.packObjectsHook", f"touch {ran}; exec")
    golden(fetch(wanted(made, repo, whole, "src"), print))
    assert paths() == ["shop/src/A.sol", "shop/src/inner/B.sol"]
    assert not ran.exists()
    manifest = read_manifest("set")
    assert manifest is not None
    assert sorted(manifest.repositories[0].omitted) == [
        "src/asset.sol",
        "src/large.bin",
        "src/link.sol",
        "src/m",
        "src/up",
    ]
    files = cache_folder() / "set" / "files"
    assert not any(path.is_symlink() for path in files.rglob("*"))


def test_names_that_leave_their_folder_are_refused(made: Path) -> None:
    repo, _ = repository(made)
    shop = made / "shop"
    blob = git(shop, "rev-parse", "HEAD:src/A.sol")
    for name in ("..", ".git"):
        line = b"100644 " + name.encode() + b"\0" + bytes.fromhex(blob)
        whole = git(shop, "commit-tree", "-m", "bad", made_object(shop, "tree", line))
        git(shop, "branch", "-f", "bad", whole)
        with pytest.raises((UsageError, HarnessError)):
            fetch(wanted(made, repo, whole, "*"), print)
        assert fetched_names() == []
        assert list(cache_folder().iterdir()) == []


def test_what_can_be_no_row_is_omitted(made: Path) -> None:
    """Names that break a list of paths, and bytes that are no text."""
    repo, _ = repository(made)
    shop = made / "shop"
    (shop / "src" / "latin.sol").write_bytes(b"// caf\xe9\n")
    bad = ["src/a\nb.sol", "src/c\\d.sol", "src/latin.sol", "src/\x1b[31m.sol"]
    whole = commit(shop, "odd", {name: CONTRACT for name in bad if "latin" not in name})
    fetch(wanted(made, repo, whole, "src"), print)
    assert paths() == ["shop/src/A.sol", "shop/src/inner/B.sol"]
    manifest = read_manifest("set")
    assert manifest is not None
    assert sorted(manifest.repositories[0].omitted) == sorted(bad)


def test_licences_are_read_out_of_comments(made: Path) -> None:
    mark = "SPDX-License-Identifier: "
    files = {"a.md": f"<!-- {mark}MIT -->", "b.c": f"/* {mark}GPL-2.0+ */", "c": f"# {mark}MIT\n"}
    whole = commit(start(made / "shop"), "one", {**files, "d.sol": f"// {mark}(MIT OR BSD-3)\r\n"})
    fetch(wanted(made, f"file://{made}/shop", whole, "*"), print)
    manifest = read_manifest("set")
    assert manifest is not None
    assert manifest.licence == "(MIT OR BSD-3), GPL-2.0+, MIT"


def made_object(folder: Path, kind: str, content: bytes) -> str:
    done = subprocess.run(
        ["git", "hash-object", "-w", "-t", kind, "--literally", "--stdin"],
        input=content,
        cwd=folder,
        check=True,
        capture_output=True,
    )
    return done.stdout.decode().strip()


def test_trees_in_trees_and_days_that_are_none_are_refused(made: Path, golden: Sentences) -> None:
    repo, _ = repository(made)
    shop, day = made / "shop", 10**12
    tree = git(shop, "rev-parse", "HEAD^{tree}")
    for _ in range(6):
        lines = (b"40000 " + str(it).encode() + b"\0" + bytes.fromhex(tree) for it in range(8))
        tree = made_object(shop, "tree", b"".join(lines))
    many = git(shop, "commit-tree", "-m", "many", tree)
    whole = git(shop, "rev-parse", "HEAD^{tree}")
    who = f"a <a@localhost> {day} +0000"
    late = f"tree {whole}\nauthor {who}\ncommitter {who}\n\nlate\n"
    cases = [
        (many, Limits(max_listed=2**20)),
        (many, Limits(files=3)),
        (made_object(shop, "commit", late.encode()), None),
    ]
    for hash, limits in cases:
        git(shop, "branch", "-f", "odd", hash)
        with pytest.raises(UsageError) as raised:
            fetch(wanted(made, repo, hash, "*"), print, limits)
        golden(str(raised.value).replace(hash, "COMMIT").replace(hash[:12], "COMMIT"))
        assert list(cache_folder().iterdir()) == []


def test_a_pattern_is_for_names_of_files_alone(made: Path, golden: Sentences) -> None:
    fetch(wanted(made, *repository(made), "src/*"), print)
    for word in ("fetched:set/shop/*.sol", "fetched:set/../../*", "fetched:set/shop"):
        with pytest.raises(UsageError) as raised:
            find_dataset(word).load()
        golden(str(raised.value))
    with pytest.raises(UsageError) as raised:
        find_dataset("fetched:../set").load()
    golden(str(raised.value))


def test_what_cannot_be_fetched_is_refused_and_nothing_stays(made: Path, golden: Sentences) -> None:
    repo, whole = repository(made)
    blob = git(made / "shop", "rev-parse", "HEAD:src/A.sol")
    small = Limits(size=10)
    for address, hash, pattern, limits in (
        (repo, "a" * 40, "src/*", None),
        (repo, blob, "src/*", None),
        (repo, whole, "source/*", None),
        (f"{repo}-not-there", whole, "src/*", None),
        (repo, whole, "src/*", small),
    ):
        with pytest.raises((UsageError, HarnessError)) as raised:
            fetch(wanted(made, address, hash, pattern), print, limits)
        sentence = str(raised.value).replace(blob, "BLOB")
        golden(re.sub(r"\(.*not our ref", "(not our ref", sentence))  # git and its server say so
        assert list(cache_folder().iterdir()) == []


def test_a_repository_that_is_too_large_is_stopped(made: Path) -> None:
    repo, _ = repository(made)
    (made / "shop" / "noise").write_bytes(os.urandom(30_000_000))
    whole = commit(made / "shop", "large", {"src/C.sol": "contract C {}\n"})
    with pytest.raises(UsageError, match="more than 1 MiB"):
        fetch(wanted(made, repo, whole, "src/*"), print, Limits(store=2**20))
    assert list(cache_folder().iterdir()) == []


RIGHT = {"repo": "https://127.0.0.1/a/shop", "commit": "a" * 40, "include": ["src/*"]}


@pytest.mark.parametrize(
    "change",
    [
        {"repo": "http://127.0.0.1/a/shop"},
        {"repo": "git@127.0.0.1:a/shop"},
        {"repo": "ext::sh -c true"},
        {"repo": "--upload-pack=true"},
        {"repo": "https://me:secret@127.0.0.1/a/shop"},
        {"repo": "https://127.0.0.1/.."},
        {"commit": "main"},
        {"commit": "abcdef1"},
        {"include": []},
        {"include": ["../src/*"]},
        {"include": ["/etc/*"]},
        {"include": ["[z-a].sol"]},
        {"include": ["src\\"]},
        {"repo": "https://127.0.0.1:x/a/shop"},
        {"branch": "main"},
    ],
    ids=lambda change: "-".join(map(str, change.items())),
)
def test_what_is_wrong_in_a_list_is_named(
    made: Path, change: dict[str, Any], golden: Sentences
) -> None:
    with pytest.raises(ConfigError) as raised:
        fetch(listed(made, {**RIGHT, **change}), print)
    golden(str(raised.value))
    assert "secret" not in str(raised.value)


def test_lists_that_are_none_are_refused(made: Path, golden: Sentences) -> None:
    for text in ("", "[]", '{"title": "a", "content": []}'):
        (made / "list.json").write_text(text)
        with pytest.raises(ConfigError) as raised:
            fetch(FetchRequest(source=str(made / "list.json")), print)
        golden(str(raised.value))
    with pytest.raises(ConfigError, match="two repositories are called shop"):
        fetch(listed(made, RIGHT, {**RIGHT, "repo": "https://127.0.0.1/b/shop.git"}), print)
    with pytest.raises(UsageError, match="cannot be the name"):
        fetch(listed(made, RIGHT, title="../set"), print)


def over_http(root: Path) -> Any:
    """Let git's own program answer, as servers do."""

    def answer(handler: BaseHTTPRequestHandler) -> None:
        path, _, query = handler.path.partition("?")
        length = int(handler.headers.get("Content-Length") or 0)
        done = subprocess.run(
            ["git", "http-backend"],
            input=handler.rfile.read(length),
            env={
                "PATH": os.environ["PATH"],
                "GIT_PROJECT_ROOT": str(root),
                "GIT_HTTP_EXPORT_ALL": "1",
                "PATH_INFO": path,
                "QUERY_STRING": query,
                "REQUEST_METHOD": handler.command,
                "CONTENT_TYPE": handler.headers.get("Content-Type", ""),
                "GIT_PROTOCOL": handler.headers.get("Git-Protocol", ""),
                "HTTP_CONTENT_ENCODING": handler.headers.get("Content-Encoding", ""),
            },
            capture_output=True,
            check=False,
        )
        head, _, content = done.stdout.partition(b"\r\n\r\n")
        handler.send_response(200)
        for line in head.decode().splitlines():
            handler.send_header(*line.split(": ", 1))
        handler.send_header("Content-Length", str(len(content)))
        handler.end_headers()
        handler.wfile.write(content)

    return answer


def test_a_repository_comes_by_https_and_by_nothing_else(
    made: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _, whole = repository(made)
    answers = {
        "/shop": over_http(made),
        "/down": redirect("http://127.0.0.1:1/shop"),
        "/file": redirect(f"file://{made}/shop"),
    }
    with serving(made, answers) as server:
        with pytest.raises(HarnessError, match="git cannot fetch"):
            fetch(wanted(made, f"{server.address}/shop", whole, "src/*"), print)
        monkeypatch.setenv("SSL_CERT_FILE", str(server.certificate))
        for path in ("down/shop", "file/shop"):
            with pytest.raises(HarnessError, match="git cannot fetch"):
                fetch(wanted(made, f"{server.address}/{path}", whole, "src/*"), print)
        assert list(cache_folder().iterdir()) == []
        fetch(wanted(made, f"{server.address}/shop", whole, "src/*"), print)
    assert paths() == ["shop/src/A.sol", "shop/src/inner/B.sol"]


def test_several_at_once_do_not_harm_each_other(made: Path) -> None:
    asked = wanted(made, *repository(made), "src/*")
    with ThreadPoolExecutor(3) as pool:
        reports = set(pool.map(lambda _: fetch(asked, print), range(4)))
    assert len(reports) == 1
    assert {it.name for it in cache_folder().iterdir()} == {"set"}


def test_c18_files_that_were_changed_are_named(made: Path, golden: Sentences) -> None:
    """C18: verify() of a data set."""
    fetch(wanted(made, *repository(made), "src/*"), print)
    files = cache_folder() / "set" / "files" / "shop" / "src"
    (files / "A.sol").write_text("contract Other {}\n")
    (files / "notes.md").unlink()
    faults = list(find_dataset("fetched:set").verify())  # type: ignore[attr-defined]
    assert len(faults) == 2
    golden(*faults)
    with pytest.raises(ConfigError, match="not as it was fetched"):
        find_dataset("fetched:set").load()
