"""Recognises answers by their whole form: lists and tables without a row, pages of errors, and
texts in which each line is a complaint of a program about a file."""

import re

_LONGEST = 2000
_MOST_LINES = 50
_SEQUENCES = re.compile(
    r"\x1b(?:\[[0-?]*[ -/]*[@-~]|[\]PX^_][^\x07\x1b\n]{0,2000}?(?:\x07|\x1b\\)|[ -/]*[0-~])"
)
"""Control sequences for a terminal: colours, titles, links."""
_BLANK = "\u200b\u200c\u200d\u2060\ufeff\x00"
"""Characters without a width."""
_LIST = r"(?:results?|matches|hits|items|files|symbols|documents|references|entries|chunks|data)"
_NO_ROWS = re.compile(
    rf"{_LIST}(?:\[0[,|\t]?\](?:\{{[^{{}}]{{0,200}}\}})?:(?: ?\[\])?|: ?\[ ?\])|"
    r"\(?(?:0|no) rows\)?",
    re.IGNORECASE,
)
"""A list of YAML, TOON or a data base with nothing in it."""
_SIDE_LINES = re.compile(
    r"(?:#|(?:query|search|question|pattern|term|time|took|elapsed|duration|tip|hint)\b"
    r"|[\w ]{1,30}: ?(?:0|none|null|false|true|\[\]|\{\}|\"\"|'')$|---$)",
    re.IGNORECASE,
)
"""Lines that may stand beside it."""
_COLUMN = re.compile(
    r"(?:rank|#|no|id|files?|file[ _]?(?:name|path)|paths?|lines?|line[ _]?numbers?|start|end|"
    r"start[ _]?line|end[ _]?line|columns?|score|names?|symbols?|kind|types?|snippet|content|text|"
    r"code|language|matches|repository|location|uri|preview|context|signature)",
    re.IGNORECASE,
)
_RULE = re.compile(r"[\s|+:─-]*-{2}[\s|+:-]*|[\s─┼│├┤═╪╞╡]*[─═]{2}[\s─┼│├┤═╪╞╡]*")
_CELLS = re.compile(r"[|\t,;│]")
_COMPLAINT = re.compile(
    r"(?:(?:[❌✗✖⚠⛔🚫][\ufe0f ]*)|(?:rg|grep|egrep|git|find|fd|fdfind|cat|ls|sed|awk|head|tail|ag|"
    r"ack|ctags|fatal|warning|error|ripgrep|ugrep): )(?:error: )?(?:[^\n:]{1,300}: ){1,2}"
    r"(?:permission denied|no such file or directory|is a directory|not a directory|"
    r"operation not permitted|input/output error|too many open files|file name too long|"
    r"too many levels of symbolic links|(?:\w+ )?(?:parse|syntax|read|decode|decoding|encoding|"
    r"i/?o) ?error\b[^\n]{0,200})\.?(?: \(os error \d+\))?",
    re.IGNORECASE,
)
"""Complaint of a program about a file that it cannot read."""
_OBJECTS = re.compile(r"(?:<[^<>\n]{1,200} at 0x[0-9a-fA-F]{4,16}>\s*)+")
"""Objects of a program where their content was meant."""
_ERROR_TAG = re.compile(r"<((?:\w{1,20}_)?error)\b[^<>]*>[^<>{}]*</\1>\s*")
_ERROR_PAGE = re.compile(
    r"<(?:title|h1)\b[^<>]*>\s*(?:error )?[45]\d\d[ :-]+(?:internal|bad|service|gateway|not|"
    r"unauthori|forbidden|too many|request)|<(?:title|h1)\b[^<>]*>\s*(?:internal server error|"
    r"bad gateway|service unavailable|application error)",
    re.IGNORECASE,
)


def plain(text: str) -> str:
    """Take out what is for a terminal, and what has no width at either end."""
    if "\x1b" in text:
        text = _SEQUENCES.sub("", text)
    return text.strip(_BLANK) if text[:1] in _BLANK or text[-1:] in _BLANK else text


def has_no_rows(text: str) -> bool:
    """Tell whether a text is a list or a table with a head, and nothing in it."""
    lines = _lines(text)
    lists = [line for line in lines if _NO_ROWS.fullmatch(line)]
    other_lines = [line for line in lines if not _NO_ROWS.fullmatch(line)]
    if lists and all(map(_SIDE_LINES.match, other_lines)):
        return True
    rules = [line for line in other_lines if _RULE.fullmatch(line)]
    heads = [line for line in other_lines if not _RULE.fullmatch(line)]
    return len(heads) == 1 and (bool(rules or lists) or len(lines) == 1) and _is_head(heads[0])


def is_trouble(text: str) -> bool:
    """Tell whether a text is a page or an element of an error, objects of a program, or says in
    each line that a file could not be read."""
    if text.startswith("<"):
        return bool(
            _ERROR_PAGE.search(text) or _ERROR_TAG.fullmatch(text) or _OBJECTS.fullmatch(text)
        )
    lines = _lines(text)
    return bool(lines) and all(map(_COMPLAINT.fullmatch, lines))


def _lines(text: str) -> list[str]:
    """Return the lines with something in them; none of a text that is too long."""
    if len(text) > _LONGEST:
        return []
    lines = [line.strip() for line in text.split("\n") if line.strip()]
    return lines if len(lines) <= _MOST_LINES else []


def _is_head(line: str) -> bool:
    cells = [cell.strip().strip("\"'*`") for cell in _CELLS.split(line.strip("|│ "))]
    return len(cells) > 1 and all(map(_COLUMN.fullmatch, cells))
