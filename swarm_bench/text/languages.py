"""Programming languages, by how their files are called."""

from pathlib import PurePosixPath

_LANGUAGES = {
    suffix: language
    for language, suffixes in {
        "c": "c h",
        "c++": "cc cpp cxx hh hpp hxx",
        "c#": "cs",
        "clojure": "clj cljs cljc",
        "dart": "dart",
        "elixir": "ex exs",
        "erlang": "erl",
        "go": "go",
        "haskell": "hs",
        "java": "java",
        "javascript": "js jsx mjs cjs",
        "julia": "jl",
        "kotlin": "kt kts",
        "lua": "lua",
        "objective-c": "m mm",
        "ocaml": "ml mli",
        "perl": "pl pm",
        "php": "php",
        "python": "py pyx pyi",
        "ruby": "rb",
        "rust": "rs",
        "scala": "scala",
        "shell": "sh bash zsh",
        "svelte": "svelte",
        "swift": "swift",
        "typescript": "ts tsx mts cts",
        "vue": "vue",
        "zig": "zig",
    }.items()
    for suffix in suffixes.split()
}
"""Languages by suffix, without the dot."""


def language_of(path: str) -> str | None:
    """Return the programming language of a file; `None` where it has none."""
    return _LANGUAGES.get(PurePosixPath(path).suffix.lower().removeprefix("."))
