import pytest

from swarm_bench.reports.text import cut, escape, plain


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("src/my_app/__init__.py", r"src/my_app/\_\_init\_\_.py"),
        ("mcp__canopy__query _not_ bold__", r"mcp__canopy__query \_not\_ bold\_\_"),
        ("a | b", r"a \| b"),
        ("`code` *bold* [link](x) <b>", r"\`code\` \*bold\* \[link\](x) \<b>"),
        ("one\n\n# two\r\n", "one # two"),
        ("# heading", r"\# heading"),
        ("1. item", r"1\. item"),
        ("- item", r"\- item"),
        ("--continue runs them", r"\--continue runs them"),
        ("&lt; &amp R&D", r"\&lt; &amp R&D"),
        ("\x1b[31mred\x07", r"\[31mred"),
        ("\u202egpj.exe", "gpj.exe"),
        ("half \ud83d pair", "half \ufffd pair"),
        ("Zürich — 東京 👩‍👩‍👧", "Zürich — 東京 👩‍👩‍👧"),
        ("", ""),
        ("see https://x.example/a_b?c=1&d=2.", "see `https://x.example/a_b?c=1&d=2`."),
        ("(http://me:pw@x.example)", "(`http://x.example`)"),
        ("www.x.example WWW.x.example", "`www.x.example` `WWW.x.example`"),
        ("mail me@x.example, mailto:me", "mail `me@x.example`, `mailto:me`"),
        ("@team/all: look", "`@team/all`: look"),
        ("#12 org/repo#34 (GH-56)", "`#12` `org/repo#34` (`GH-56`)"),
        ("![@a](https://x)", r"!\[`@a`\](`https://x`)"),
        ("`@a` `#1", r"\``@a`\` \``#1`"),
        ("C# and a @ b, 4 # 5, e-mail", "C# and a @ b, 4 # 5, e-mail"),
        ("a\u200bb\ufeffc\u2066d\U000e0041e", "a b c d e"),
        ("[^1] ~~x~~ $x$ <!-- y -->", r"\[^1\] \~\~x\~\~ \$x\$ \<!-- y -->"),
    ],
)
def test_foreign_text_is_shown_as_it_is(text: str, shown: str) -> None:
    assert escape(text) == shown
    escape(text).encode("utf-8")


def test_plain_text_stays_on_one_line() -> None:
    assert plain("a\nb\x00c\u2028d\te") == "a b c d e"


@pytest.mark.parametrize(
    ("text", "length", "shown"),
    [
        ("short", 5, "short"),
        ("longer", 5, "longe..."),
        ("four five", 5, "four..."),
        ("e\u0301e\u0301e\u0301", 3, "e\u0301..."),
        ("ab👩‍👩‍👧cd", 4, "ab..."),
        ("ab👍🏽cd", 3, "ab..."),
        ("🇩🇪🇫🇷🇮🇹", 3, "🇩🇪..."),
        ("❤\ufe0f love", 1, "❤..."),
        ("\u0301" * 9, 3, "\u0301\u0301\u0301..."),
    ],
)
def test_a_cut_never_splits_what_reads_as_one(text: str, length: int, shown: str) -> None:
    assert cut(text, length) == shown


@pytest.mark.parametrize(
    "piece", ["_", "a_", "&", "&a", "\n", "\\", "@", "#", "www.", "🇩🇪", "\u0301"]
)
def test_hostile_text_takes_linear_time(piece: str) -> None:
    """Were it quadratic, a megabyte would outlast the time limit of the test."""
    text = "a" + piece * (1_000_000 // len(piece)) + "a"
    cut(escape(text), 40)
    cut(text, 900_000)
