from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from swarm_bench.programs.canopy.errors import HandleNotFound, ToolError
from swarm_bench.programs.canopy.parameters import Search
from swarm_bench.programs.canopy.repository import Canopy
from swarm_bench.programs.canopy.result_json import query_result


@pytest.fixture
def canopy(repo: Path) -> Iterator[Canopy]:
    canopy = Canopy(repo)
    canopy.refresh()
    yield canopy
    canopy.close()


Names = list[tuple[str, str | None]]


@pytest.fixture
def find(canopy: Canopy) -> Callable[[Search], Names]:
    def run(search: Search) -> Names:
        return [(each.path, each.node.name) for each in canopy.find(search).handles]

    return run


def test_all_words_of_a_pattern_must_occur(find: Callable[[Search], Names]) -> None:
    assert find(Search(pattern="hexdigest password")) == [("src/auth.py", "check_password")]
    assert find(Search(pattern="hexdigest queue")) == []


@pytest.mark.parametrize("text", ["what?", "don't", "hashlib.sha256", "[x]", "a, b", "a:b", '"'])
def test_punctuation_is_no_error(find: Callable[[Search], Names], text: str) -> None:
    find(Search(pattern=text))


def test_the_best_match_comes_first(canopy: Canopy, repo: Path) -> None:
    (repo / "src" / "aaa.py").write_text("x = 1\n" + "# about things\n" * 40 + "# zebra\n")
    (repo / "src" / "bbb.py").write_text("def zebra():\n    return zebra\n")
    canopy.refresh()
    found = canopy.find(Search(pattern="zebra", limit=1))
    assert [each.path for each in found.handles] == ["src/bbb.py"]
    assert (found.matches, found.truncated) == (1, False)


def test_several_patterns(find: Callable[[Search], Names]) -> None:
    both = find(Search(patterns=("hexdigest", "handlers"), match="any"))
    assert {path for path, _ in both} == {"src/auth.py", "src/jobs.js"}
    assert find(Search(patterns=("hexdigest", "handlers"), match="all")) == []


def test_symbols_in_any_case_and_by_a_part_of_the_name(find: Callable[[Search], Names]) -> None:
    assert find(Search(symbol="authcontroller")) == [("src/auth.py", "AuthController")]
    assert find(Search(symbol="password")) == [("src/auth.py", "check_password")]
    assert find(Search(symbol="password", kind="definition")) == []
    assert find(Search(symbol="runJob")) == [("src/jobs.js", "runJob")]


def test_members_and_sections(find: Callable[[Search], Names]) -> None:
    assert [name for _, name in find(Search(parent="AuthController"))] == ["login", "logout"]
    assert find(Search(parent="authcontroller", symbol="logout")) == [("src/auth.py", "logout")]
    assert find(Search(section="authent")) == [("docs/guide.md", "Authentication")]


def test_references_are_the_smallest_nodes_that_call(find: Callable[[Search], Names]) -> None:
    assert find(Search(symbol="check_password", kind="reference")) == [("src/auth.py", "login")]
    assert find(Search(symbol="runJob", kind="reference")) == [("src/jobs.js", "start")]
    # An import stands outside of every symbol, in a chunk.
    assert find(Search(symbol="hashlib", kind="reference")) == [("src/auth.py", None)]


def test_a_kind_needs_a_symbol(find: Callable[[Search], Names]) -> None:
    with pytest.raises(ToolError, match="needs a symbol"):
        find(Search(pattern="x", kind="reference"))


def test_a_glob_limits_every_search(find: Callable[[Search], Names]) -> None:
    assert {path for path, _ in find(Search(pattern="login"))} == {"src/auth.py", "docs/guide.md"}
    found = find(Search(pattern="login", glob="docs/**"))
    assert {path for path, _ in found} == {"docs/guide.md"}


def test_code_outside_of_symbols_is_found(find: Callable[[Search], Names]) -> None:
    assert find(Search(pattern="ROUNDS")) == [("src/auth.py", None)]


def test_a_limit_of_zero_finds_nothing(find: Callable[[Search], Names]) -> None:
    assert find(Search(pattern="login", limit=0)) == []


def test_expanding_gives_the_text(canopy: Canopy) -> None:
    (handle,) = canopy.find(Search(symbol="logout")).handles
    expected = "def logout(self) -> None:\n        self.session = None"
    assert canopy.expand(handle.id).text == expected
    assert canopy.expand(handle.hex).text == expected


def test_an_edited_file_is_not_expanded_from_old_offsets(canopy: Canopy, repo: Path) -> None:
    (handle,) = canopy.find(Search(symbol="logout")).handles
    file = repo / "src" / "auth.py"
    file.write_text("#" + file.read_text()[1:])
    with pytest.raises(ToolError, match="changed since"):
        canopy.expand(handle.id)


def test_a_file_that_became_a_link_is_not_expanded(
    canopy: Canopy, repo: Path, tmp_path: Path
) -> None:
    (handle,) = canopy.find(Search(symbol="logout")).handles
    file = repo / "src" / "auth.py"
    file.rename(tmp_path / "auth.py")
    file.symlink_to(tmp_path / "auth.py")
    with pytest.raises(ToolError, match="cannot be read"):
        canopy.expand(handle.id)


def test_unknown_ids(canopy: Canopy) -> None:
    with pytest.raises(HandleNotFound):
        canopy.expand("h" + "0" * 24)
    with pytest.raises(ToolError, match="no handle id"):
        canopy.expand("../../etc/passwd")


def test_a_query_result_has_bare_ids(canopy: Canopy) -> None:
    result = query_result(canopy.find(Search(symbol="logout")))
    (entry,) = result["handles"]
    assert len(entry["id"]) == 24
    assert (entry["span"]["end"] - entry["span"]["start"]) // 4 == entry["token_count"]
    assert entry["line_range"] == [14, 15]
    assert entry["node_type"] == "method"
    assert result["total_tokens"] == entry["token_count"]
