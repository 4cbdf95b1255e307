"""The settings of canopy's `config.toml`, with canopy 0.4.0's defaults.

Sizes are bytes, times are seconds.
"""

CANOPY_VERSION = "0.4.0"
"""The canopy whose protocols are spoken here."""

SCHEMA_VERSION = 3
"""The number that `canopy_status` reports; canopy 0.4.0's own."""

EXTENSIONS = (
    # canopy's own
    *("rs", "py", "js", "ts", "tsx", "jsx", "go"),
    *("md", "txt", "json", "yaml", "yml", "toml"),
    # other languages, which it would skip; they become chunks
    *("c", "h", "cc", "cpp", "cxx", "hpp", "cs", "java", "kt", "kts", "scala", "swift", "m", "mm"),
    *("rb", "php", "pl", "pm", "lua", "r", "jl", "dart", "ex", "exs", "erl", "hs", "ml", "clj"),
    *("mjs", "cjs", "mts", "cts", "vue", "svelte", "sql", "sh", "bash", "ps1", "proto", "graphql"),
    *("html", "css", "scss", "xml", "gradle", "tf", "cmake", "ini", "cfg", "rst", "pyi", "pyx"),
    *("hh", "hxx", "cljs", "cljc", "mli", "zsh"),
    *("sol", "zig", "nim", "groovy", "fs", "vb"),
)
"""Endings of the files that are indexed. Widen it here and nowhere else."""

DEFAULT_GLOB = f"**/*.{{{','.join(EXTENSIONS)}}}"

IGNORED = (
    ".git",
    ".canopy",
    "node_modules",
    "target",
    "__pycache__",
    ".venv",
    "venv",
    "*.min.js",
    "*.min.css",
    ".DS_Store",
    "*.lock",
    "package-lock.json",
    "Cargo.lock",
)
"""Names of files and folders that are never indexed, wherever they stand."""

CHUNK_THRESHOLD = 1_000_000
"""A larger file is cut into chunks of lines instead of being parsed."""

CHUNK_LINES = 50
CHUNK_OVERLAP = 10
PREVIEW_BYTES = 100
REFERENCE_PREVIEW_BYTES = 200

MAX_FILE_BYTES = 16_000_000
"""A larger file is skipped, so that memory stays bounded."""

DEFAULT_LIMIT = 16
SERVICE_MAX_LIMIT = 50
MAX_LIMIT = 1_000
"""canopy-mcp has no upper bound; this one keeps an answer in memory."""

REQUEST_BYTES = 2_000_000
"""The longest request either server reads."""

BYTES_PER_TOKEN = 4
"""Tokens are estimated, as canopy does when it has no tokeniser: its tables need a download."""
