"""What it means when a server does not answer: one table for all servers.

Only what is about this prompt is a result of the model: it does not fit, or is against a policy.
What lacks money, a key or the right address would fail every time, and ends a session. What may be
over a moment later is asked again. Whatever nobody knows is the provider's, and no result.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass

from swarm_bench.core.status import Cause

_LONGEST_READ = 4_000
"""Characters of its own words that are looked at."""


@dataclass(frozen=True, kw_only=True)
class Refusal:
    """What a server says instead of an answer."""

    state: int | None = None
    """Of HTTP, or what stands for it within an answer; `None` where nothing does."""
    codes: frozenset[str] = frozenset()
    """What it calls the error: `insufficient_quota`, `ThrottlingException`."""
    text: str = ""
    """Its own words; empty where it has none."""
    fields: frozenset[str] = frozenset()
    """Parts of the request whose values it complains of."""
    wait: float = 0
    """Seconds after which it wants to be asked again; 0 where it names none."""
    is_page: bool = False
    """It is a page for people."""

    @property
    def passes(self) -> bool:
        """Whether another request may be answered."""
        return self._meaning.passes

    @property
    def cause(self) -> Cause:
        """What it makes of a trial, if no other request is."""
        return self._meaning.cause

    @property
    def _meaning(self) -> "Meaning":
        return next(meaning for holds, meaning in _TABLE if holds(self))

    def is_called(self, pattern: str) -> bool:
        """Tell whether one of its codes has such letters and digits; other characters do not
        matter."""
        plain = (re.sub(r"[^a-z0-9]", "", code.lower()) for code in self.codes)
        return any(re.search(pattern, code) for code in plain)

    def says(self, pattern: str) -> bool:
        """Tell whether its words have such a clause."""
        return bool(re.search(pattern, self.text[:_LONGEST_READ], re.IGNORECASE))

    @property
    def is_of_another(self) -> bool:
        """Whether the state alone says that it is not of this prompt."""
        return self.state in (401, 404, 407, 429)


@dataclass(frozen=True, kw_only=True)
class Meaning:
    """What follows from a refusal."""

    cause: Cause
    passes: bool = False


_ADDRESS = Meaning(cause=Cause.WRONG_ADDRESS)
_MONEY = Meaning(cause=Cause.NO_CREDIT)
_KEY = Meaning(cause=Cause.NOT_AUTHORIZED)
_MODEL = Meaning(cause=Cause.UNKNOWN_MODEL)
_OVERFLOW = Meaning(cause=Cause.CONTEXT_OVERFLOW)
_POLICY = Meaning(cause=Cause.REFUSED)
_PROMPT = Meaning(cause=Cause.ERROR_RESULT)
_LIMITED = Meaning(cause=Cause.RATE_LIMITED, passes=True)
_BUSY = Meaning(cause=Cause.PROVIDER_FAILED, passes=True)
_UNKNOWN = Meaning(cause=Cause.PROVIDER_FAILED)

_PASSING_STATES = (408, 409, 423, 424, 425, 498, 499)
_PROMPT_FIELDS = frozenset({"prompt", "messages", "content", "input", "inputs", "text", "suffix"})

# Codes: letters and digits alone.
_OVERFLOW_CODES = (
    r"context(?:length|size|window|limit|overflow)|stringabovemaxlength|requesttoolarge"
    r"|(?:prompt|input|message)s?toolong|toolonginput|(?:max|input)tokens?exceeded"
)
_POLICY_CODES = (
    r"contentpolicy|contentfilter|contentmoderat|contentblock|sensitivecontent|datainspection"
    r"|responsibleai|^moderation|moderationblocked|guardrailinterven|prohibitedcontent"
    r"|promptblocked|^safety$|unsafecontent|inputflagged|^blocklist$"
)
_MONEY_CODES = (
    r"insufficient(?:user|account)?(?:quota|balance|credit|fund)|currentquota|arrear|overdue"
    r"|billing(?!service|system|check|unavailable|timeout)|budgetexceeded|exceeded(?:token)?budget"
    r"|paymentrequired|(?:no|outof)credit|freetieronly"
    r"|credits?(?:exhausted|required|depleted)|(?:spend|spending|usage)limit(?:reached|exceeded)"
    r"|quotaexhausted|hardlimitreached"
)
_KEY_CODES = (
    r"authenticat(?:ion|e)|apikey|unauthori[sz]ed|permission|accessdenied|(?:expired|invalid)token"
    r"|tokenexpired|unrecognizedclient|invalidsignature|accountdeactivated|unsupportedcountry"
)
_MODEL_CODES = (
    r"modelnotfound|nosuchmodel|deploymentnotfound|^notfounderror$|^invalidmodel|modelnotexist"
    r"|modeldoesnotexist|unknownmodel"
)
_LIMIT_CODES = (
    r"ratelimit|toomanyrequests|throttl|resourceexhausted|requestlimit|concurrencylimit|quotaexceed"
)
_BUSY_CODES = (
    r"overload|unavailable|(?:server|internal|api|network|provider|upstream|generation)error"
    r"|^internal$|timeout|timedout|deadlineexceeded|notready|badgateway|insufficientsystemresource"
    r"|^abort|^cancell?ed$|^generation$|connectionerror|capacity"
)

# Words: clauses of those who write them, in the languages in which they do.
_OTHERS = "security access jwt bearer auth refresh session web id output completion new max"
_TOKENS = "".join(f"(?<!{word}[ _-])" for word in _OTHERS.split()) + "tokens?"
_CONTEXT_CLAUSES = (
    r"context[ _-]?(?:length|window|size|limit)|prompt is too long|physical batch size"
    r"|exceed\w*[^.]{0,30}\bcontext\b|input is too large to process"
    r"|(?:prompt|input|sequence) (?:token )?length\b[^.]{0,30}\b(?:exceed|greater|larger|longer)"
)
_OVERFLOW_CLAUSES = (
    rf"{_CONTEXT_CLAUSES}|maximum[^.]{{0,40}}\b(?:length|{_TOKENS})\b"
    r"|(?:reduce|shorten)[^.]{0,20} (?:length|size|prompt|input|messages?)\b"
    r"|(?:prompt|inputs?|messages?|request|conversation|text)\b"
    r"(?:(?!took|taking|takes|queue|wait|time)[^.]){0,40}\btoo (?:long|large|big)"
    r"|too (?:large|long|many tokens) for (?:the |this )?model|too many (?:input )?tokens\b"
    rf"|{_TOKENS}\b(?:(?!lifetime|validity|expir)[^.]){{0,80}}\bexceed"
    rf"|exceed\w*[^.]{{0,60}}\b(?:{_TOKENS} (?:limit|count)|{_TOKENS} allowed)"
    r"|larger than the [^.]{0,30}(?:context|batch)|range of input length"
    r"|inputs?\b[^.]{0,60}\bmust (?:be|have) (?:<=|less)"
    r"|上下文|超过.{0,20}(?:长度|限制)|最大.{0,12}长度|(?:输入|prompt|提示词?|内容)\s?[过超]长"
)
_POLICY_CLAUSES = (
    r"content[ _-]?(?:management |safety )?(?:policy|policies|filter|moderation|inspection)"
    r"|(?:usage|safety|acceptable use|responsible ai)[ _-](?:polic\w+|system|filter|reasons?)"
    r"|(?:usage|content|community|safety) guidelines|safety_check|content exists? risk"
    r"|(?:prompt|input|content(?!-))s?\b[^.]{0,40}\b(?:flagged|blocked|moderat)"
    r"|(?:request|message)s?\b[^.]{0,40}\bflagged"
    r"|inappropriate content|(?:unsafe|prohibited|sensitive|harmful)[ _](?:content|material|input)"
    r"|敏感|违规|不安全|内容安全"
)
_MONEY_CLAUSES = (
    r"insufficient[ _-](?:account |user |remaining )?(?:credit|balance|quota|fund)s?"
    r"|(?:credit|account) balance|not enough (?:credit|balance|fund|quota)"
    r"|\b(?:out of|no|no more|any|more|remaining|available|all|your) credits?\b|credit card"
    r"|\brun out of tokens"
    r"|credits?\b[^.]{0,30}\b(?:exhaust|deplet|used up|expired|required|run out|limit)"
    r"|exceeded (?:your|the)[^.]{0,20} (?:quota|budget|credits?|spend\w* limit)"
    r"|budget (?:has been |was |is )?exceeded|exceeded ?token ?budget|\bmax budget\b|billing"
    r"|payment (?:is )?required|payment method|\bkey limit exceeded"
    r"|(?:spend|spending|usage|monthly|billing|hard) (?:limit|cap)s?\b"
    r"|free (?:tier|quota|allocation)"
    r"|in arrears?|arrearage|overdue|(?:recharge|top[ -]?up|add (?:funds|credits|money))\b"
    r"|(?:subscription|plan|trial) (?:has )?(?:expired|ended)|余额|欠费|充值|额度(?:不足|已)"
)
_LONG_CLAUSES = (
    r"(?:per[ _-]?|/)(?:day|month|week)\b|\b(?:daily|weekly)\b"
    r"|(?:per |/ ?)(?:\d{5,} ?s(?:ec\w*)?|2[4-9] ?h\w*)\b"
)
_QUOTA_CLAUSES = (
    rf"quota (?:has been |have been |is |was )?(?:exceeded|exhausted|used up|reached)"
    rf"|(?:exceed|exhaust|used up|run out)[^.]{{0,40}}\bquota|配额|{_LONG_CLAUSES}"
)
"""That mean money, or another day, where no wait is named and nothing speaks of minutes."""
_LIMIT_CLAUSES = (
    r"rate[ _-]?limit|too many (?:concurrent )?requests|throttl|slow down|requests? per"
    r"|per[ _-]?(?:minute|second|hour|min)\b|\b[rt]pm\b|concurren"
    r"|(?:try|retry)[^.]{0,20} (?:in|after) \d|resource has been exhausted"
    r"|\bqps\b|requests? limit (?:has been |is |was )?(?:reached|exceeded)"
)
_ACCOUNT_CLAUSES = (
    r"(?:account|organi[sz]ation|project|team|api[ _-]?key|user(?!s? (?:input|prompt|message)))\b"
    r"[^.]{0,40}\b"
    r"(?:suspended|disabled|banned|blocked|flagged|deactivated|terminated|restricted|expired)"
)
_KEY_CLAUSES = (
    r"(?:invalid|incorrect|wrong|missing|no|expired|revoked)[^.]{0,25}(?:api[ _-]?key|credential)"
    r"|api[ _-]?key[^.]{0,25}(?:invalid|not valid|incorrect|missing|required|expired)"
    r"|(?:expired|revoked) (?:key|token)\b|\b(?:key|token) (?:has |is |was )?(?:been )?"
    r"(?:expired|revoked)|(?:jwt|(?:security|access|bearer|auth) token)\b[^.]{0,60}"
    r"(?:expire|exceed|invalid|missing|required|malformed)"
)
_MODEL_CLAUSES = (
    r"\bmodels?\b[^.]{0,80}\b(?:not found|does not exist|(?:is )?not supported|unknown)"
    r"|(?:unknown|no such|invalid) model\b"
)
_BUSY_CLAUSES = (
    r"overloaded|(?:temporarily|currently) unavailable|(?:try|retry) again|timed? ?out"
    r"|internal (?:server )?error|bad gateway|(?:server|model) (?:is )?(?:busy|loading)|繁忙|稍后"
)
_UNCHECKED_CLAUSES = r"(?:could not|cannot|unable to|failed to) (?:reach|check|verify|contact|load)"
_OUTAGE_CLAUSES = (
    rf"temporar|unavailable|maintenance|timed? ?out|(?:took|taking) too long|\bqueue\b|overloaded"
    rf"|(?:try|retry)(?: again)? (?:later|shortly|in a )|service (?:error|fail|is down)"
    rf"|繁忙|稍后|{_UNCHECKED_CLAUSES}"
)
"""That are of the server, whatever it would have checked."""
UNABLE = r"does not support (?:insert|chat|generate)"
"""What Ollama says of a model that cannot be asked in a way."""


def _is_short_of_money(it: Refusal) -> bool:
    if it.state == 402 or it.is_called(_MONEY_CODES):
        return True
    if it.state == 404 or it.is_called(_OVERFLOW_CODES) or it.wait:
        return False
    if it.says(_UNCHECKED_CLAUSES) or (it.state or 0) >= 500:
        return False
    if it.says(_LIMIT_CLAUSES) and not it.says(_LONG_CLAUSES):
        return False
    client = it.state in (None, 400, 403, 429)
    return it.says(_MONEY_CLAUSES) or (client and it.says(_QUOTA_CLAUSES))


def _may_be_of_the_prompt(it: Refusal) -> bool:
    return not (it.is_of_another or it.says(_ACCOUNT_CLAUSES) or it.says(_KEY_CLAUSES))


def _is_out(it: Refusal) -> bool:
    """Tell whether it is of something that is not there now."""
    named = it.is_called(rf"{_OVERFLOW_CODES}|{_POLICY_CODES}") or it.says(_CONTEXT_CLAUSES)
    return not named and _may_be_of_the_prompt(it) and it.says(_OUTAGE_CLAUSES)


def _is_too_long(it: Refusal) -> bool:
    if it.is_called(_OVERFLOW_CODES):
        return True
    if it.is_called(rf"{_LIMIT_CODES}|{_KEY_CODES}") or not _may_be_of_the_prompt(it):
        return False
    if it.says(rf"{_LIMIT_CLAUSES}|{_QUOTA_CLAUSES}") or _is_out(it):
        return False
    if it.state is not None and it.state >= 500:
        return it.says(_CONTEXT_CLAUSES)
    return it.state == 413 or it.says(_OVERFLOW_CLAUSES)


def _is_against_a_policy(it: Refusal) -> bool:
    if not _may_be_of_the_prompt(it):
        return False
    if it.is_called(_POLICY_CODES):
        return True
    if _is_out(it):
        return False
    return it.state in (None, 400, 403, 422, 451) and it.says(_POLICY_CLAUSES)


def _is_limited(it: Refusal) -> bool:
    if it.state == 429 or it.is_called(_LIMIT_CODES):
        return True
    return it.state in (None, 400, 403, 413) and it.says(_LIMIT_CLAUSES)


def _lets_nobody_in(it: Refusal) -> bool:
    if it.state in (401, 403, 407):
        return True
    client = it.state is None or it.state < 500
    named = it.is_called(_KEY_CODES) or it.says(_ACCOUNT_CLAUSES) or it.says(_KEY_CLAUSES)
    return client and it.state != 404 and named


def _has_no_such_model(it: Refusal) -> bool:
    if it.state in (404, 501) or it.says(UNABLE):
        return True
    named = it.is_called(_MODEL_CODES) or (it.state in (None, 400) and it.says(_MODEL_CLAUSES))
    return (it.state is None or it.state < 500) and named


def _is_busy(it: Refusal) -> bool:
    if it.state is not None and (it.state >= 500 or it.state in _PASSING_STATES):
        return True
    return it.is_called(_BUSY_CODES) or (it.state in (None, 400) and it.says(_BUSY_CLAUSES))


_TABLE: tuple[tuple[Callable[[Refusal], bool], Meaning], ...] = (
    (lambda it: it.state in (405, 410) or 300 <= (it.state or 0) < 400, _ADDRESS),
    (_is_too_long, _OVERFLOW),
    # It may say, too, what is charged for that.
    (lambda it: it.state == 403 and _is_against_a_policy(it), _POLICY),
    (_is_short_of_money, _MONEY),
    (_is_against_a_policy, _POLICY),
    (_is_limited, _LIMITED),
    (lambda it: it.state in (None, 400, 403, 422) and _is_out(it), _BUSY),
    # What stands before a server turns one request away, and lets the next one in.
    (lambda it: it.state == 403 and it.is_page and not it.says(_KEY_CLAUSES), _UNKNOWN),
    (_lets_nobody_in, _KEY),
    (_has_no_such_model, _MODEL),
    (lambda it: it.state == 422 and bool(it.fields & _PROMPT_FIELDS), _PROMPT),
    (_is_busy, _BUSY),
    (lambda it: True, _UNKNOWN),
)
"""The first that holds."""
