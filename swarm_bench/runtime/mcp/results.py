"""What a model is given of a tool's result: all its blocks, and its structured content, as a text.

The client of servers and whatever reads transcripts share it, so that a result is as long, as empty
and as equal to another one wherever it is looked at.
"""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Any

KNOWN_BLOCKS = frozenset({"text", "image", "audio", "resource", "resource_link"})
"""Types of blocks that the protocol has."""
_STRUCTURED = ("structuredContent", "structured_content")
_SURROGATES = re.compile("[\ud800-\udfff]")
_BEGIN = re.compile(r"^[ \t]*[\[{]", re.MULTILINE)
_BEHIND = re.compile(r"[\s,]{0,20}[\[{]")
_MOST_BEGINNINGS = 100
"""Lines that begin as JSON and are none, after which a text is taken for none."""
_MOST_VALUES = 1000
_MENTION = re.compile(r"\s*(?:\[(?:Image|Audio|Embedded Resource): [\w.+/-]+(?: type)?\]\s*)+")
"""Text that agent programs print instead of content that is no text."""
_DECODER = json.JSONDecoder(strict=False)


@dataclass(frozen=True, kw_only=True)
class ResultText:
    """A result as text."""

    parts: tuple[str, ...]
    """Texts of its blocks, and of its structured content."""
    is_complete: bool
    """Whether that is all of it: an image, or what is no text, is only mentioned."""
    is_images: bool
    """Whether it is images, and nothing else."""

    @property
    def text(self) -> str:
        """All parts, each on lines of its own."""
        return "\n".join(self.parts)


def read_result(result: object) -> ResultText | None:
    """Write a result as text: a text, a list of blocks, or an object that has such a list or
    structured content. `None` for anything else."""
    structured = None
    if isinstance(result, dict):
        structured = next((result[key] for key in _STRUCTURED if result.get(key) is not None), None)
        result = result.get("content", None if structured is None else [])
    if isinstance(result, str):
        result = [{"type": "text", "text": result}]
    if not isinstance(result, list):
        return None
    blocks = [_write_block(block) for block in result]
    parts = [text for text, _ in blocks]
    if structured is not None and _holds(parts, structured, result):
        structured = None
    if structured is not None:
        parts.append(_writable(json.dumps(structured, ensure_ascii=False)))
    other_texts = (text for block, text in zip(result, parts, strict=False) if not _is_image(block))
    return ResultText(
        parts=tuple(parts),
        is_complete=all(is_complete for _, is_complete in blocks),
        is_images=structured is None
        and any(map(_is_image, result))
        and not "".join(other_texts).strip(),
    )


def mention(kind: object) -> str:
    """Say that a block of a type is not shown that the protocol does not have."""
    return f"[a block of the type {json.dumps(kind)[:100]}, which is not shown]"


def json_values(text: str) -> Iterator[tuple[int, int, Any]]:
    """Yield the lists and objects of JSON in a text that begin with a line of it, or behind each
    other, with where they begin and end."""
    at = failed = 0
    while failed <= _MOST_BEGINNINGS:
        if (begin := _BEHIND.match(text, at) or _BEGIN.search(text, at)) is None:
            return
        try:
            value, end = _DECODER.raw_decode(text, begin.end() - 1)
        except (ValueError, RecursionError):
            failed, at = failed + 1, begin.end()
        else:
            yield begin.end() - 1, end, value
            at = end


def _is_image(block: object) -> bool:
    fields: Mapping[str, Any] = block if isinstance(block, dict) else {}
    inner, text = fields.get("resource"), fields.get("text")
    if isinstance(inner, dict) and "text" not in inner:
        return str(inner.get("mimeType")).startswith("image/")
    if isinstance(text, str):
        return bool(_MENTION.fullmatch(text)) and text.count("[") == text.count("[Image: ")
    return fields.get("type") == "image"


def _write_block(block: object) -> tuple[str, bool]:
    """Write a block as text, and tell whether that is all of it."""
    fields: Mapping[str, Any] = block if isinstance(block, dict) else {}
    kind = fields.get("type")
    match kind:
        case "text" if isinstance(fields.get("text"), str):
            return _writable(fields["text"]), not _MENTION.fullmatch(fields["text"])
        case "resource" if isinstance(fields.get("resource"), dict):
            return _write_resource(fields["resource"])
        case "resource_link":
            return _join_fields(fields, "uri", "name", "title", "description"), True
        case "image" | "audio":
            return f"[{kind}: {_size(fields, 'data')}]", False
    return mention(kind), False


def _write_resource(resource: Mapping[str, Any]) -> tuple[str, bool]:
    address = _join_fields(resource, "uri")
    if isinstance(resource.get("text"), str):
        return f"{address}\n{_writable(resource['text'])}", True
    return f"{address}\n[blob: {_size(resource, 'blob')}]", False


def _join_fields(fields: Mapping[str, Any], *names: str) -> str:
    """Write those of the fields that are texts, each once."""
    texts = (fields.get(name) for name in names)
    return "\n".join(dict.fromkeys(_writable(text) for text in texts if isinstance(text, str)))


def _size(fields: Mapping[str, Any], name: str) -> str:
    """Say what is not shown, and how much of it there is."""
    kind, data = fields.get("mimeType"), fields.get(name)
    size = f"{len(data.rstrip('=')) * 3 // 4} bytes" if isinstance(data, str) else "of no size"
    return f"{_writable(kind)}, {size}" if isinstance(kind, str) else size


def _holds(parts: list[str], structured: object, blocks: list[Any]) -> bool:
    """Tell whether the parts, or the blocks that they were written from, have the structured
    content already: as JSON, however it is written, or, as servers wrap what is no object, its only
    value."""
    text = "\n".join(parts)
    if not text.strip():
        return False
    inner = structured
    if isinstance(structured, dict) and len(structured) == 1:
        (inner,) = structured.values()
    try:
        if inner == blocks:
            return True
        values_of_parts = list(_whole_values(parts))
        inside = [value for _, _, value in islice(json_values(text), _MOST_VALUES)]
        values = [text, parts, values_of_parts, *values_of_parts, *inside]
        if any(value in (structured, inner) for value in values):
            return True
    except RecursionError:
        return False
    strings = inner if isinstance(inner, list) else [inner]
    return 0 < len(strings) <= _MOST_VALUES and all(
        isinstance(string, str) and string.strip() in text for string in strings
    )


def _whole_values(parts: list[str]) -> Iterator[Any]:
    for text in parts:
        try:
            yield json.loads(text)
        except (ValueError, RecursionError):
            continue


def _writable(text: str) -> str:
    """Replace what cannot be written as UTF-8."""
    return text if text.isascii() else _SURROGATES.sub("\ufffd", text)
