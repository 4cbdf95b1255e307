"""Answers as servers in the wild give them."""

import json

import pytest

from swarm_bench.models.answer_kinds import kind_of

PACK = {
    "query_text": "token",
    "total_matches": 0,
    "truncated": False,
    "selected_count": 0,
    "selected_tokens": 0,
    "handles": [],
    "files": [],
    "expand_suggestion": [],
    "guidance": {
        "confidence": 0.0,
        "confidence_band": "low",
        "stop_querying": False,
        "recommended_action": "refine_query",
        "rationale": "Nothing was found for this query.",
        "next_step": "Query again with a symbol name or with fewer and more specific words.",
    },
}
MANY = [f"shop/part{at}/module.py" for at in range(200)]
NOT_LOADED = (
    "No CodeGraph project is loaded for this session.\nSearched for a .codegraph/ directory "
    "starting from: /srv/shop\nEither the server root has no index of its own (e.g. a monorepo "
    "where only sub-projects are indexed), or it was launched outside of the project."
)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "  \n",
        "[]",
        "{}",
        "null",
        '""',
        "[]\n[]",
        '{"result":[]}\n[]',
        json.dumps(PACK),
        json.dumps(PACK, indent=2),
        '{"handles":[],"total_tokens":0,"truncated":false,"total_matches":0}',
        '{"results": [], "pagination": {"total_matches": 0, "max_results": 10, "end_index": 0}}',
        '{"pattern": "callers_of", "target": "x", "result": []}',
        '{"matches": [], "moreAvailable": false}',
        '{"result": "No matches found"}',
        '{"result": "No matches found"}\nNo matches found',
        "No matches found",
        "No results found for 'token' in /srv/shop.",
        "No symbols found matching the query.",
        "Found 0 results",
        "Nothing was found.",
        "There are no files that match.",
        "0 matches",
        "**No results**",
        "(no results)",
        "(no matches)",
        "[No results found]",
        "❌ No results found.",
        "Your search for 'x' returned no results.",
        "The query matched nothing.",
        "Search results for x:\n\nNo results found.",
        "Results for x\nNothing found",
        "# Search: x\n\nNo matches found.",
        "# Search\n\nQuery: x\n\nNo matches found.",
        "Query: x\nResults: 0",
        "No results.\n\nTips:\n- check the spelling\n- try `rg 'x'`",
        "No matches found.\n\nTry a broader query.",
        "Results: 0\nQuery: x\nTime: 12 ms",
        "Total results: 0",
        '<search query="x"><results count="0"/></search>',
        '<search query="x">\n  <results></results>\n</search>',
        '未找到包含确切字符串/模式 "x" 的匹配项。',
    ],
)
def test_an_answer_without_anything_is_empty(text: str) -> None:
    assert kind_of(text) == "empty"


@pytest.mark.parametrize(
    "text",
    [
        "Error: Command failed with exit code 127\n/bin/sh: 1: rg: not found\n",
        "Error executing tool git_log: Repository path is outside the allowed repository",
        "ValueError: the place is not known",
        "Traceback (most recent call last):\n  File 'x'",
        "Failed to load the index.",
        "Index not found. Run `build` first.",
        "The codebase '/srv/shop' is not indexed yet.",
        "Repository has not been indexed",
        "This path is not yet indexed; call index_codebase first.",
        "No index found for /srv/shop",
        NOT_LOADED,
        "代码库 '/srv/shop' 尚未构建索引。\n请先调用 `index_codebase` 生成索引后再进行检索。",
        '{"error": "no_grammar"}',
        '{"error": {"code": 3}, "results": []}',
        '{"success": false, "message": "the index is locked"}',
        '{"status": "error", "data": null}',
        '[{"file": "a.py", "error": "no_grammar"}, {"file": "b.py", "error": "no_grammar"}]',
        '{"result": "Error: the index is locked"}',
        "Unknown tool: find_symbol",
        "Request timed out",
        "❌ Error: foo",
        "⚠️ No index found",
        "Connection refused",
        "Rate limit exceeded",
        "Too many requests",
        "HTTP 500",
        "Status code: 429",
        "503 Service Unavailable",
        "Please run index first",
        "Run `code-index build-index` before the first search.",
        "Search results for x:\n\nError: the index is locked",
        "# Search: x\n\nIndex not found.",
        "Missing parameter: query",
        "Missing required parameter 'query'",
        "Invalid argument for tool find",
        "Unknown tool find_symbol.",
        "Missing required argument max_results of find",
        "No such file or directory",
        "Sorry, something went wrong on our side (request 1f2e3d). Please try again later.",
        "Internal server error",
        "The service is temporarily unavailable.",
        "Service unavailable: try again",
        "Unauthorized",
        "Invalid API key provided",
        "Request failed with status code 502",
        "AxiosError: Request failed with status code 401",
        "bash: rg: command not found",
        "Deadline exceeded",
        "context deadline exceeded",
        "rpc error: code = DeadlineExceeded desc = x",
        "Indexing in progress, please wait.",
        "The index is still being built.",
        "<html><head><title>502 Bad Gateway</title></head><body>nginx</body></html>",
        "<!DOCTYPE html>\n<html><body><h1>503 Service Unavailable</h1></body></html>",
        '{"statusCode": 500, "message": "no"}',
        '{"status": 503, "title": "x"}',
        '{"code": -32603, "message": "no"}',
        '{"detail": "Internal server error", "request_id": "1f2e3d"}',
        '{"detail": "Not authenticated"}',
        "<coroutine object Index.search at 0x7f3b1c2d9e40>",
        "<generator object search at 0x7f3b1c2d9e40>\n<Hit object at 0x7f3b1c2d9e41>",
        "[18:46:47.123] search backend unreachable",
        "The search server is offline.",
        "Error: cannot search shop/tax.py shop/login.py",
        "Error: cannot search " + " ".join(MANY),
        "Error: cannot search\n" + "\n".join(MANY),
        "Error: cannot search:\n\n" + "\n".join(f"- {path}:12" for path in MANY),
        "Error: cannot search " + ", ".join(f"'{path}'" for path in MANY),
        "Error: cannot search shop/tax.py:12",
        "Could not read " + "; ".join(MANY),
        "ERROR cannot search shop/tax.py",
        "[ERROR] cannot search shop/tax.py",
        "**Error**: cannot search shop/tax.py",
        "[error]: cannot search shop/tax.py",
        "Search failed: " + " ".join(MANY),
        "Query failed on shop/tax.py",
        "Tool execution failed: shop/tax.py",
        "Search error: shop/tax.py cannot be parsed",
        "MCP error -32603: cannot search shop/tax.py",
        "Error searching shop/tax.py, shop/login.py",
        "Internal error while reading shop/tax.py",
        "Timeout while searching shop/tax.py",
        json.dumps({"result": "Error: cannot search " + " ".join(MANY)}),
    ],
)
def test_an_error_in_words_is_one(text: str) -> None:
    assert kind_of(text) == "error"


@pytest.mark.parametrize(
    "text",
    [
        "def error(message):\n    raise ValueError(message)",
        "// h8ccec\nraise IndexError('index not found')",
        "class Error: pass",
        "error: str = render(field)",
        "error: str | None",
        "    No node has that id.",
        "src/a.py:3: raise KeyError('index not found')",
        "shop/errors.py:12: Error: the text of a log line",
        "     1\tError: the first line of a file that is read",
        "1: # Failed to load: what users see",
        "# Errors\n\nError handling is in `shop/errors.py`: every request has a handler.",
        "Errors are raised in shop/auth.py",
        "Errors: see shop/errors.py:4",
        "The index is built when the server starts. Not found errors are answered with 404.",
        "Missing parameter handling lives in src/params.py",
        "Invalid arguments are refused by shop/params.py",
        "The project does not exist in memory until it is opened.",
        "The index is not built until the first search.",
        "A repository is not indexed when it has no files.",
        "Rate limit handling is in shop/limits.py",
        "Connection errors are raised in shop/net.py",
        "Unable to connect is handled in shop/net.py",
        "Your search for 'x' returned 3 results.",
        "The search returned no results when the cache was cold: shop/cache.py has the reason.",
        "Search results for x:\n\nshop/a.py",
        "Search results for x:\n\nNo results are cached: shop/cache.py",
        "# Search\n\nNo results found.\n\nThat is what users see; shop/search.py has the text.",
        "# No index\n\ndef build(): ...",
        "results: 0\nplaces: 3",
        "No results found.\n\nTry shop/search.py, which has the text.",
        "No results found.\n\nAuthManager is the nearest name.",
        "The server is offline when shop/net.py says so",
        "Query: x\nResults: 10",
        "HTTP handlers live in shop/http.py",
        "HTTP 500 is handled in shop/http.py",
        "(error: wrong",
        "'No matches found',",
        '<results count="0">shop/a.py</results>',
        '<search query="x"><results count="10"/></search>',
        '<div data-count="0"></div>',
        "Use the index page first",
        "No results are cached; see `shop/cache.py`.",
        "No file is read twice: shop/files.py keeps what it read.",
        "no_results = find(shop)",
        '{"error": null, "results": [{"file": "a.py"}]}',
        '{"errors": [], "content": "def f(): ..."}',
        '{"name": "f", "file": "a.py", "line": 3}',
        '{"symbol": "f", "signature": "def f()", "callers": []}',
        '[{"file": "a.py", "error": "no_grammar"}, {"file": "b.py", "line": 4}]',
        '{"content": "def f(): return 1", "warnings": []}',
        '{"files": ["a.py"]}',
        '{"results": {"a.py": [1]}}',
        "[0]",
        "7",
        "Internal server errors are handled in shop/errors.py",
        "Unauthorized requests get a 401: shop/auth.py",
        "Something went wrong is the text of shop/errors.py",
        "Indexing in progress is shown by shop/index.py",
        "shop/http.py: Request failed with status code 502",
        "Deadline exceeded errors are raised in shop/rpc.py",
        "<html><body>The page of orders</body></html>",
        "<h1>500 orders a day</h1>",
        '{"statusCode": 200, "message": "shop/a.py"}',
        '{"statusCode": 500, "results": [{"file": "shop/errors.py"}]}',
        '{"code": "def f(): ...", "message": "shop/a.py"}',
        '{"detail": "shop/a.py has the class", "line": 3}',
        '{"detail": "shop/a.py has the class"}',
        "Staged changes:\n",
        "Error: " + "x" * 3000,
        "Error: cannot search " + "what users ask for, as they do so often. " * 100,
        "Search failed requests again with `retry`: shop/net.py",
        "Search errors are in shop/search.py",
        "Query errors when parsing: see shop/query.py",
        "Error reading is explained in docs/errors.md, and lives in shop/errors.py",
        "shop/tax.py: Error: cannot search",
        "\n".join(MANY),
        "\n".join(f"{path}:3: Error: cannot search" for path in MANY),
    ],
)
def test_any_other_answer_is_neither(text: str) -> None:
    assert kind_of(text) is None


@pytest.mark.parametrize("text", ["[" * 100_000, '{"a":' * 50_000, "No " * 100_000, "\ud800"])
def test_any_text_is_looked_at(text: str) -> None:
    assert kind_of(text) is None


@pytest.mark.parametrize(
    "part",
    [
        "{}\n",
        "[],",
        '""',
        "[1]",
        '"Error: x"',
        "no a ",
        "a: ",
        "# a\n",
        "<results ",
        "<",
        "❌",
        "(",
        "\n",
    ]
    + ["index ", "Run index ", "search ", "a\n", " ", '["no a "],', '{"message": "the index"}'],
)
@pytest.mark.timeout(20)
def test_a_long_text_is_looked_at_soon(part: str) -> None:
    kind_of(part * (1_000_000 // len(part)))
    kind_of("Search for x:\n" + part * (1900 // len(part)))
    kind_of(json.dumps({"result": part * (1_000_000 // len(part))}))


@pytest.mark.parametrize("depth", range(100, 1000, 100))
def test_any_depth_is_looked_at(depth: int) -> None:
    assert kind_of("[" * depth + "]" * depth) in ("empty", None)
