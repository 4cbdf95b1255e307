"""How answers of tools begin that are empty, or errors, as patterns."""

_THINGS = (
    "(?:results?|match(?:es)?|hits?|files?|symbols?|documents?|nodes?|references?|occurrences?|"
    "entries|snippets?|items?|callers|callees|definitions?|handles?|places?|chunks?|passages?|rows?|"
    "records?|code)"
)
_NO_CLAUSE = r"(?! (?:yet )?(?:until|unless|when|while|by|during|in memory|since|as|if)\b)"
"""An explanation says when something is not there; an error, that it is not."""
EMPTY = (
    rf"(?:there (?:are|were) )?(?:no|zero|0) (?:[\w'-]+ ){{0,3}}?{_THINGS}\b(?! is | are )",
    r"(?:nothing|none) (?:was |were )?(?:found|matched|returned)\b",
    rf"(?:found|returned|matched|showing) (?:no|zero|0) (?:[\w'-]+ ){{0,3}}?{_THINGS}\b",
    rf"(?:the |your )?(?:search|query|lookup)\b[^\n]{{0,120}}?\b(?:returned|found|matched|gave|"
    rf"yielded|produced|had) (?:nothing|(?:no|zero|0) (?:[\w'-]+ ){{0,3}}?{_THINGS})\b"
    "(?! is | are | when )",
    r"(?:not found|none|null|n/a|empty|nothing|\(empty\)|\(none\)|\(no (?:output|results?)\)|"
    r"(?:no|empty) (?:output|content|response))\.?$",
    # As programs say it that show a model no empty result.
    r"(?:[\w:.'\"-]+ ){0,4}?(?:completed|succeeded|executed|ran|returned|finished|produced)\b"
    r"[^\n.]{0,30}?\b(?:no|without|an empty)(?: any)? (?:output|content|response)\b"
    r"(?: or errors?)?[.!]?$",
    r"(?:sorry[,.]? )?i (?:did not|didn't|could not|couldn't|was unable to) find any",
    "未找到",
)
"""What a tool says that found nothing."""
ERRORS = (
    r"\[?(?:[A-Za-z_.]*(?:Error|Exception)|error|fatal|failed|failure|panic)[\]*]{0,3}"
    r"(?: \(\w+\))?: \S",
    r"\[?error[\]*]{0,3} ?-? ?(?:cannot|can't|could not|couldn't|unable to|failed to)\b",
    r"(?:(?:mcp|tool|search|query|internal|fatal|unexpected|execution|runtime|server) ){1,2}"
    r"(?:error|failure)(?: \(?-?\d{1,6}\)?)?(?:: \S| (?:while|when|during) \w+ing\b)",
    r"(?:the )?(?:search|query|lookup|request|operation|indexing|tool (?:execution|call)) failed"
    r"(?:[.!]?$|:| (?:on|for|while|because|after|with)\b)",
    r"error (?:executing|calling|running) (?:the )?tool\b|time-?out (?:while|when|during|after)\b",
    r"error (?:while |when |during )?(?:searching|reading|opening|loading|indexing|accessing)\b",
    r"(?:(?:connect|read|write|spawn|getaddrinfo|open|scandir|stat)(?: \S{1,80})? )?"
    r"E(?:NOENT|ACCES|PERM|ISDIR|NOTDIR|MFILE|CONNREFUSED|CONNRESET|TIMEDOUT|PIPE|NOSPC|BUSY|IO|"
    r"HOSTUNREACH|NOTFOUND|AI_AGAIN|NAMETOOLONG)(?:: \S| [\w.:[\]-]+$|$)",
    r"traceback \(most recent call last\):",
    r"(?:failed|unable) to \w+\b",
    r"(?:could not|couldn't|cannot|can't) (?:be )?(?:find|open|read|access|connect|load|search|"
    r"parse|locate|resolve|reach|found|opened|loaded)\b",
    r"(?:unknown|invalid|missing|unsupported) (?:required )?(?:tool|argument|param|parameter)s?"
    r"(?:[.!]?$| ?[:'\"`(]| \w+[.!]?$| (?:for|in) (?:the )?(?:tool|call|request)\b| \w*_\w*\b)",
    r"(?:the )?(?:\w+ )?timed out\b",
    r"connection (?:refused|reset|closed|aborted|failed|error)\b",
    r"(?:api )?rate limit(?:ed)?(?:[.:!]|$| (?:exceeded|reached|hit)\b)|too many requests\b",
    r"(?:http|status)(?: error| status| code){0,2}:? ?[45]\d\d\b",
    r"[45]\d\d:? (?:internal server error|bad gateway|service unavailable|gateway time-?out|"
    r"not found|unauthorized|forbidden|bad request|too many requests)\b",
    r"(?:please )?(?:run|call|build|create|execute) [^.\n]{0,60}?\bindex\w*\b[^.\n]{0,30}?"
    r"\b(?:first|before)\b",
    # A service that is not well, and nothing follows but an explanation.
    r"(?:oops|sorry)?[,.! ]{0,3}(?:something|an (?:internal|unexpected|unknown) error|an error) "
    r"(?:went wrong|occurred)\b(?! (?:is|are) )",
    r"(?:(?:internal )?server error|bad gateway|unauthori[sz]ed|forbidden|not authenticated|"
    r"(?:the )?service (?:is )?(?:temporarily |currently )?unavailable|"
    r"authentication (?:failed|required)|(?:\w+ )?deadline exceeded|"
    r"invalid (?:api[ _-]?key|token|credentials)(?: provided)?)(?:[.:!,;(\[]|$| \()",
    r"request failed with (?:status )?(?:code )?[45]\d\d\b",
    r"(?:[\w./-]+: ){0,3}command not found\b|rpc error: code\b",
    r"(?:the )?index(?:ing)? (?:is )?(?:still )?(?:in progress|being built|running)(?:[.:!,;(]|$)",
    r"(?:[\w-]+ ){0,4}?(?:backend|server|service|daemon|database|upstream) "
    r"(?:(?:is|was|currently) )*(?:unreachable|unavailable|offline|down|"
    r"not (?:responding|reachable))(?:[.:!,;(\[]|$)",
    r"(?:permission|access) denied\b",
    r"no such (?:file|directory|tool|index|project|repository)\b",
    # An index that is not there.
    r"(?:[\w'\"./-]+ ){0,6}?(?:index|graph|map|database|repository|project|codebase|workspace)\b"
    r"[^.\n]{0,80}?\b(?:not (?:been |yet )*(?:found|built|indexed|initiali[sz]ed|created|available|"
    rf"exist|loaded|ready)|does not exist|doesn't exist|is missing|has no index)\b{_NO_CLAUSE}",
    r"(?:[\w'\"./-]+ ){0,6}?not (?:been |yet )*indexed\b" + _NO_CLAUSE,
    r"no (?:[\w-]+ ){0,3}?(?:index|graph|project|repository)\b[^.\n]{0,40}?"
    r"\b(?:found|loaded|available|active|exists?|built|yet)\b",
    r"[^\n]{0,80}尚?未(?:构建|建立|创建)?索引",
    r"错误[::]",
)
"""What a tool says that could not answer, and does not say so by `isError`."""
