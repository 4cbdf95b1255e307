"""Every command of "decide in a day" is run, on a small repository, and what the page shows of
their output is worded as the program prints it now: each sentence and cell, without figures and
names, is in the output of its command, or among what other tests hold."""

import re
from collections.abc import Iterator

import pytest

from tests.builders.golden import GOLDEN
from tests.builders.repositories import commit
from tests.e2e.conftest import Bench
from tests.e2e.pages import ROOT, commands, run

PAGE = ROOT / "docs" / "decide-in-a-day.md"
COLUMNS = 100
"""Of the terminal that the page shows."""
PARTS = (
    "bill",
    "cart",
    "coupon",
    "courier",
    "parcel",
    "price",
    "rebate",
    "receipt",
    "stamp",
    "tax",
)
SOLD = ("bread", "candles", "lamps", "shoes")
HARD = "Tell whether goods may leave the house at night"
_BLOCK = re.compile(r"^```(sh|text)\n(.*?)^```", re.DOTALL | re.MULTILINE)
_MARKUP = re.compile(r"[*`>|\\]+|:?-{3,}:?")
_BREAK = re.compile(r"(?<=[.:;)]) | (?=\()")
_MASKED = {
    r"\b[0-9a-f]{12,40}\b": "COMMIT",
    r"(?<=repository: ).*(?=, commit)": "PATH",
    r"(?<!\w)/\S+?(?=[,;]?(\s|$))": "PATH",
    r"\b\d{4}-\d\d-\d\d\b": "DATE",
    r"\b(canopy|baseline|bm25|grep|mysearch|mine|claude|scout)(-\w+)*\b": "NAME",
    r"(?<=[ (])'\w+'(?=,)": "'WORD'",
    r"[-+]?\d(?:[\d.,]*\d)?": "N",
    r"[$]N to [$]N": "$N",
    r" --per-file N": "",
    r"\bN (\w+?)s\b": r"N \1",
    r"N question\b": "N task",
    r"(N task) \([^)]*\)": r"\1 (TITLES)",
    r"N to N (%|point) (lower|higher)": "RANGE",
    r"\s+": " ",
}
"""What depends on the repository and on the run."""


def module(number: int) -> tuple[str, str]:
    """Return the name and the text of one of many files, so that there are enough tasks. The first
    is hard to find: seven others say more of what it does."""
    part, sold = PARTS[number % len(PARTS)], SOLD[number // len(PARTS)]
    does = f"Tell whether {part} and {sold} belong together before anybody pays"
    text = (
        f'def verify_{number}(order):\n    """{HARD if number == 0 else does}."""\n'
        f"    return order.{part} == order.{sold}\n"
    )
    return f"shop/{part}_{sold}.py", f"{text}\n# {HARD}. {HARD}!\n" if 0 < number < 8 else text


def shown() -> dict[str, str]:
    """Return what the page shows, by the command that printed it."""
    outputs, command = {}, ""
    for kind, text in _BLOCK.findall(PAGE.read_text(encoding="utf-8")):
        if kind == "text":
            outputs[command] = text
        else:
            command = text.strip().splitlines()[-1]
    return outputs


def held() -> str:
    """Return what other tests hold of what the program prints, masked."""
    files = sorted(path for path in GOLDEN.rglob("*") if path.suffix in {".txt", ".md"})
    return masked("\n".join(path.read_text(encoding="utf-8") for path in files))


def outdated(text: str, printed: str) -> list[str]:
    """List the phrases of an output that are not in what was printed."""
    return [phrase for phrase in phrases(text) if phrase not in printed]


def phrases(text: str) -> Iterator[str]:
    """Cut an output into its sentences and the cells of its tables, masked."""
    pieces: list[str] = []
    room = COLUMNS
    for line in text.splitlines():
        cells = re.split(r" {2,}", line.strip())
        begins = cells[0].startswith("summary.md has ")
        if len(cells) == 1 and not begins and 0 <= room <= len(cells[0].split(" ")[0]):
            pieces[-1] += f" {cells[0]}"  # the line before was broken here
        else:
            pieces += cells
        room = COLUMNS - len(line.rstrip())
    for piece in pieces:
        yield from filter(None, (part.strip("(.:;…) ") for part in _BREAK.split(masked(piece))))


def masked(text: str) -> str:
    """Mask what differs from run to run; how a text is wrapped and marked makes no difference."""
    text = _MARKUP.sub(" ", text)
    for pattern, name in _MASKED.items():
        text = re.sub(pattern, name, text)
    return text.strip()


def test_a_sentence_that_is_not_printed_is_named() -> None:
    printed = (
        "- **canopy finds more.** It found 90 % of the files, baseline 61 % (17 to 39 points)."
    )
    line = "  canopy finds more. It found 8 % of the files, baseline 6 % (1 to 3 points)."
    assert outdated(line, masked(printed)) == []
    assert outdated(line.replace("more", "less"), masked(printed)) == ["NAME finds less"]
    table = "Metric   baseline  canopy\nRecall   0.61  0.90, +0.28"
    assert outdated(
        table, masked("| Metric | baseline | canopy |\n| recall | 0.5 | 0.6, +0.1 |")
    ) == ["Recall"]


def test_the_verdicts_that_the_page_shows_are_worded_as_the_program_does() -> None:
    summaries = [text for text in shown().values() if " Summary\n" in text]
    lines = [line for text in summaries for line in text.splitlines() if line.startswith("  ")]
    assert len(lines) > 8
    assert outdated("\n".join(lines), held()) == []


@pytest.mark.slow
@pytest.mark.long
@pytest.mark.timeout(300)
def test_its_commands_work_and_print_what_it_shows(bench: Bench) -> None:
    commit(bench.repo, "Parts of a shop", dict(map(module, range(40))))
    outputs, others = shown(), held()
    assert outputs.keys() < {*commands(PAGE)}
    for command, done in run(PAGE, bench):
        assert done.code == 0, f"{command}\n{done.err}"
        if command in outputs:
            assert outdated(outputs[command], f"{others}\n{masked(done.out)}") == [], command
