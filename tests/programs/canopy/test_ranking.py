"""In which order the embedded canopy gives files, and that it finds what a plain search finds."""

import json
import shutil
from collections.abc import Iterator
from importlib.metadata import files as files_of
from pathlib import Path

import pytest

from swarm_bench.programs.canopy.local import LocalTools
from swarm_bench.programs.canopy.parameters import Arguments
from swarm_bench.text.bm25 import Bm25
from swarm_bench.text.terms import keywords_of

QUESTIONS = {
    # Of rich, which every installation has: a sentence, keywords, and the file.
    "console.py": ("Where is what is printed cut into lines of the terminal's width?",
                   "console render lines width"),
    "table.py": ("How are the widths of columns calculated when they do not fit?",
                 "table column widths collapse"),
    "progress.py": ("How is the time that is left of a task estimated?",
                    "progress task time remaining speed"),
    "traceback.py": ("Where are the frames of an exception extracted with their local variables?",
                     "traceback extract frames locals"),
    "markup.py": ("How are tags in square brackets turned into styles of a text?",
                  "markup tags brackets render parse"),
    "logging.py": ("Which handler writes log records with a column for their level?",
                   "logging handler emit record level"),
    "syntax.py": ("How is source code highlighted with a lexer and line numbers?",
                  "syntax highlight lexer line numbers"),
    "live.py": ("How is a display refreshed in a thread while other text is printed?",
                "live refresh thread display"),
    "pretty.py": ("How is an object expanded over several lines where it is too long?",
                  "pretty print object expand node"),
    "color.py": ("How is a colour downgraded for a terminal of sixteen colours?",
                 "color downgrade system standard"),
    "layout.py": ("How is a screen split into rows and columns of regions?",
                  "layout split rows columns region"),
    "prompt.py": ("What asks the user until the answer is one of the choices?",
                  "prompt ask choices response validate"),
}  # fmt: skip


class Repository:
    """A folder that canopy has indexed."""

    def __init__(self, root: Path, files: dict[str, str]) -> None:
        self.root = root.resolve()
        for path, text in files.items():
            (self.root / path).parent.mkdir(parents=True, exist_ok=True)
            (self.root / path).write_text(text, encoding="utf-8")
        self.tools = LocalTools()

    def pack(self, *patterns: str, **more: object) -> list[str]:
        """The files of a pack, each once, in its order."""
        arguments = Arguments({"patterns": [*patterns], **more})
        handles = json.loads(self.tools.evidence_pack(self.root, arguments).text)["handles"]
        return list(dict.fromkeys(handle["file_path"] for handle in handles))


MENTIONS = "def test_lease():\n    lease = renew_lease()\n    assert lease.lease\n"
MIXED = {
    "src/broker.py": "class Broker:\n    def keep(self):\n        return self.lease\n",
    "src/leaseholder.py": "def holds(LeaseHolder):\n    return 1\n",
    "tests/test_lease.py": MENTIONS,
    "tests/test_renew.py": MENTIONS.replace("test_lease", "test_renew"),
    "docs/lease.md": "# Lease\n\nA lease is a lease.\n",
    "package/test/client.py": "def lease():\n    return 'a client of a package'\n",
}


@pytest.fixture
def mixed(tmp_path: Path) -> Iterator[Repository]:
    repository = Repository(tmp_path, MIXED)
    yield repository
    repository.tools.close()


def test_sources_come_before_tests_and_documents(mixed: Repository) -> None:
    files = mixed.pack("lease")
    assert set(files[:3]) == {"src/broker.py", "src/leaseholder.py", "package/test/client.py"}
    assert set(files[3:]) == {"tests/test_lease.py", "tests/test_renew.py", "docs/lease.md"}


def test_who_asks_for_tests_or_documents_gets_them(mixed: Repository) -> None:
    assert mixed.pack("lease", "tests")[0].startswith("tests/")
    assert mixed.pack("lease", "documentation")[0] == "docs/lease.md"
    assert set(mixed.pack("lease", glob="tests/**")) == {
        "tests/test_lease.py", "tests/test_renew.py",
    }  # fmt: skip


def test_a_pack_has_two_pieces_of_a_file_at_most_side_by_side(mixed: Repository) -> None:
    arguments = Arguments({"patterns": ["lease"], "max_handles": 64})
    handles = json.loads(mixed.tools.evidence_pack(mixed.root, arguments).text)["handles"]
    paths = [handle["file_path"] for handle in handles]
    assert len(dict.fromkeys(paths)) == len(MIXED)
    assert paths == sorted(paths, key=paths.index)
    assert max(map(paths.count, paths)) <= 2


def test_words_are_found_in_other_forms_and_in_camel_case(mixed: Repository) -> None:
    assert mixed.pack("leases")[:1] == mixed.pack("lease")[:1]
    assert mixed.pack("holder") == ["src/leaseholder.py"]


def test_an_edited_file_is_ranked_by_its_new_text(mixed: Repository) -> None:
    assert mixed.pack("zebra") == []
    (mixed.root / "src/broker.py").write_text("def stripes():\n    return 'zebra'\n")
    mixed.tools.close()
    mixed.tools = LocalTools()
    assert mixed.pack("zebra") == ["src/broker.py"]
    assert "src/broker.py" not in mixed.pack("lease")


@pytest.fixture(scope="module")
def rich(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Repository]:
    root = tmp_path_factory.mktemp("rich")
    for path in files_of("rich") or ():
        if path.suffix == ".py":
            (root / path.parent).mkdir(parents=True, exist_ok=True)
            shutil.copy(str(path.locate()), root / path)
    repository = Repository(root, {})
    yield repository
    repository.tools.close()


def test_it_finds_what_a_plain_search_finds(rich: Repository) -> None:
    """Asked for the words of a sentence and for keywords, at five files and at ten."""
    texts = [(path, (rich.root / path).read_text()) for path in paths_of(rich.root)]
    plain = Bm25(texts)
    for form in (0, 1):
        asked = {f"rich/{file}": question[form] for file, question in QUESTIONS.items()}
        for most in (5, 10):
            by_plain = sum(file in plain.search(text, most) for file, text in asked.items())
            by_canopy = sum(
                file in rich.pack(*keywords_of(text), max_handles=10)[:most]
                for file, text in asked.items()
            )
            assert len(QUESTIONS) > by_plain / 2 > 3
            assert by_canopy >= by_plain, (form, most)
    plain.close()


def test_sources_stand_as_a_plain_search_ranks_them(tmp_path: Path, rich: Repository) -> None:
    """Documents beside them change nothing, nor do tests but that they come later."""
    shutil.copytree(rich.root / "rich", tmp_path / "rich")
    repository = Repository(
        tmp_path,
        {
            "tests/test_console.py": "def test_console_render_lines_width():\n    pass\n" * 40,
            "docs/tables.md": "# Column widths\n\nThe widths of columns collapse.\n" * 40,
            "settings.yaml": "console: table column widths progress markup\n" * 40,
            **{f"rich/empty_{number}/__init__.py": "" for number in range(60)},  # count in means
        },
    )
    paths = paths_of(repository.root)
    plain = Bm25((path, (repository.root / path).read_text()) for path in paths)
    for question in (text for forms in QUESTIONS.values() for text in forms):
        words = keywords_of(question)
        ranked = plain.search(" ".join(words), 100)
        sources = [path for path in ranked if not path.startswith("tests/")]
        assert repository.pack(*words, max_handles=10) == sources[:10]
    plain.close()
    repository.tools.close()


@pytest.mark.parametrize("word", ["leaseholder", "holder", "keeper"])
def test_parts_of_names_and_words_of_paths_are_found_by_any_of_patterns(
    tmp_path: Path, word: str
) -> None:
    """A pattern alone has to occur."""
    repository = Repository(
        tmp_path,
        {
            "src/leaseholder.py": "def holds(lease_holder):\n    return 1\n" + "\n" * 200,
            "src/other.py": "def keep(TheKeeper):\n    return 1\n",
        },
    )
    file = "src/other.py" if word == "keeper" else "src/leaseholder.py"
    assert repository.pack(word) == [file]
    assert repository.pack(word, "absent", match="all") == []
    assert repository.pack("LeaseKeeper")[-1:] != []
    alone = Arguments({"pattern": "LeaseKeeper"})
    assert json.loads(repository.tools.evidence_pack(repository.root, alone).text)["handles"] == []
    repository.tools.close()


def test_what_was_edited_often_hides_no_other_file(tmp_path: Path) -> None:
    files = {f"src/{name}.py": f"def {name}():\n    return 'zebra'\n" for name in "ab"}
    repository = Repository(tmp_path, files)
    assert repository.pack("zebra") == ["src/a.py", "src/b.py"]
    store = repository.tools.canopy(repository.root).index.store()
    for number in range(200):
        store.ranking().add(1000 + number, "src/a.py", "zebra " * 3)  # of files that are gone
    assert repository.pack("zebra") == ["src/a.py", "src/b.py"]
    repository.tools.close()


def paths_of(root: Path) -> list[str]:
    return sorted(path.relative_to(root).as_posix() for path in root.rglob("*.py"))
