"""What servers say of their errors: clauses in the languages of those who write them, and what they
call them, by their letters and digits alone (`_CODES`)."""

_OTHER_WORDS = "security access jwt bearer auth refresh session web id output completion new max"
_TOKENS = "".join(f"(?<!{word}[ _-])" for word in _OTHER_WORDS.split()) + "tokens?"
CONTEXT = (
    r"context[ _-]?(?:length|window|size|limit)|prompt is too long|physical batch size"
    r"|exceed\w*[^.]{0,30}\bcontext\b(?! deadline)|input is too large to process"
    r"|(?:prompt|input|sequence) (?:token )?length\b[^.]{0,30}\b(?:exceed|greater|larger|longer)"
)
OVERFLOW = (
    rf"{CONTEXT}|maximum[^.]{{0,40}}\b(?:length|{_TOKENS})\b"
    r"|(?:reduce|shorten)[^.]{0,20} (?:length|size|prompt|input|messages?)\b"
    r"|(?:prompt|inputs?|messages?|request|conversation|text)\b"
    r"(?:(?!took|taking|takes|queue|wait|time)[^.]){0,40}\btoo (?:long|large|big)"
    r"|too (?:large|long|many tokens) for (?:the |this )?model|too many (?:input )?tokens\b"
    rf"|{_TOKENS}\b(?:(?!lifetime|validity|expir)[^.]){{0,80}}\bexceed"
    rf"|exceed\w*[^.]{{0,60}}\b(?:{_TOKENS} (?:limit|count)|{_TOKENS} allowed)"
    r"|larger than the [^.]{0,30}(?:context|batch)|range of input length"
    r"|inputs?\b(?! validation)[^.]{0,60}\bmust (?:be|have) (?:<=|less)|max input\b"
    r"|max_tokens must be [^.]{0,20}\bgot -\d"
    r"|上下文|超过.{0,20}(?:长度|限制)|最大.{0,12}长度|(?:输入|prompt|提示词?|内容)\s?[过超]长"
)
POLICY = (
    r"content[ _-]?(?:management |safety )?(?:policy|policies|filter|moderation|inspection)"
    r"|(?:usage|safety|acceptable use|responsible ai)[ _-](?:polic\w+|system|filter|reasons?)"
    r"|(?:usage|content|community|safety) guidelines|safety_check|content exists? risk"
    r"|(?:prompt|input|content(?!-))s?\b[^.]{0,40}\b(?:flagged|blocked|moderat)"
    r"|(?:request|message)s?\b[^.]{0,40}\bflagged|inappropriate content"
    r"|(?:unsafe|prohibited|sensitive|harmful)[ _](?:content|material|input)"
    r"|(?:in|out)put new_sensitive|敏感|违规|不安全|内容安全"
)
OTHER_PARTS = (
    r"[`'\"](?:stop|seed|temperature|top_p)\b|\bstop sequences?\b|\bheaders?\b"
    r"|\b(?:tools?|function)\b[^.]{0,20}\bnames?\b|max_tokens\b[`'\"]? must be less"
)
"""Other parts of a request that may be too long as well."""
MEMORY = (
    r"(?:system|gpu|cuda|available|insufficient|enough|more) memory|out of memory|memory slot"
    r"|fail\w* to load"
)
CUT = r"max_tokens or model output limit was reached"
"""Message of OpenAI where a model has thought until its tokens were used up."""
MONEY = (
    r"insufficient[ _-](?:account |user |remaining )?(?:credit|balance|quota|fund)s?"
    r"|(?:credit|account) balance|not enough (?:credit|balance|fund|quota)"
    r"|\b(?:out of|no|no more|any|more|remaining|available|all|your) credits?\b|credit card"
    r"|\brun out of tokens"
    r"|credits?\b[^.]{0,30}\b(?:exhaust|deplet|used up|expired|required|run out|limit)"
    r"|exceeded (?:your|the)[^.]{0,20} (?:quota|budget|credits?|spend\w* limit)"
    r"|budget (?:has been |was |is )?exceeded|exceeded ?token ?budget|\bmax budget\b|billing"
    r"|payment (?:is )?required|payment method|\bkey limit exceeded"
    r"|(?:spend|spending|usage|monthly|billing|hard) (?:limit|cap)s?\b"
    r"|free (?:tier|quota|allocation)|in arrears?|arrearage|overdue"
    r"|(?:recharge|top[ -]?up|add (?:funds|credits|money))\b"
    r"|(?:subscription|plan|trial) (?:has )?(?:expired|ended)|余额|欠费|充值|额度(?:不足|已)"
)
LONG = (
    r"(?:per[ _-]?|/)(?:day|month|week)\b|\b(?:daily|weekly)\b"
    r"|(?:per |/ ?)(?:\d{5,} ?s(?:ec\w*)?|2[4-9] ?h\w*)\b"
)
QUOTA = (
    rf"quota (?:has been |have been |is |was )?(?:exceeded|exhausted|used up|reached)"
    rf"|(?:exceed|exhaust|used up|out of)[^.]{{0,40}}\bquota|配额|{LONG}"
)
"""Clauses that mean money, or another day, where no wait is named and no minutes are mentioned."""
LIMIT = (
    r"rate[ _-]?limit|too many (?:concurrent )?requests|throttl|slow down|requests? per"
    r"|per[ _-]?(?:minute|second|hour|min)\b|\b[rt]pm\b|concurren"
    r"|(?:try|retry)[^.]{0,20} (?:in|after) \d|resource has been exhausted|\bqps\b"
    r"|requests? limit (?:has been |is |was )?(?:reached|exceeded)"
)
ACCOUNT = (
    r"(?:account|organi[sz]ation|project|team|api[ _-]?key"
    r"|user(?!(?:'?s)? (?:input|prompt|message)))\b[^.]{0,40}\b"
    r"(?:suspended|disabled|banned|blocked|flagged|deactivated|terminated|restricted|expired)"
)
KEY = (
    r"(?:invalid|incorrect|wrong|missing|no|expired|revoked)[^.]{0,25}(?:api[ _-]?key|credential"
    r"|authenticat|authori[sz]ation)|\blogin fail|\blocation is not supported"
    r"|api[ _-]?key[^.]{0,25}(?:invalid|not valid|incorrect|missing|required|expired)"
    r"|(?:expired|revoked) (?:key|token)\b|\b(?:key|token) (?:has |is |was )?(?:been )?"
    r"(?:expired|revoked)|(?:jwt|(?:security|access|bearer|auth) token)\b[^.]{0,60}"
    r"(?:expire|exceed|invalid|missing|required|malformed)"
)
MODEL = (
    r"\bmodels?\b[^.]{0,80}\b(?:not found|not exist|(?:is )?not supported|unknown|decommissioned)"
    r"|(?:unknown|no such|invalid) model\b|not a valid model\b|model (?:id\w*|name) is invalid"
    r"|\bmodel id\b[^.]{0,80}\bsupported"
)
BUSY = (
    r"overloaded|(?:temporarily|currently) unavailable|(?:try|retry) again|timed? ?out"
    r"|internal (?:server )?error|bad gateway|(?:server|model) (?:is )?(?:busy|loading)|繁忙|稍后"
)
UNCHECKED = r"(?:could not|cannot|unable to|failed to) (?:reach|check|verify|contact|load)"
OUTAGE = (
    rf"temporar|unavailable|maintenance|timed? ?out|(?:took|taking) too long|\bqueue\b|overloaded"
    rf"|(?:try|retry)(?: again)? (?:later|shortly|in a )|service (?:error|fail|is down)"
    rf"|繁忙|稍后|{UNCHECKED}"
)
"""Clauses on an outage of the server, whatever it would have checked."""
HTTPS = r"\bhttp request (?:was sent )?to (?:an )?https\b"
UNABLE = r"does not support (?:insert|chat|generate)"
"""Message of Ollama on a model that cannot be asked in a way."""

OVERFLOW_CODES = (
    r"context(?:length|size|window|limit|overflow)|stringabovemaxlength|requesttoolarge"
    r"|(?:prompt|input|message)s?toolong|toolonginput|(?:max|input)tokens?exceeded"
)
POLICY_CODES = (
    r"contentpolicy|contentfilter|contentmoderat|contentblock|sensitivecontent|datainspection"
    r"|responsibleai|^moderation|moderationblocked|guardrailinterven|prohibitedcontent"
    r"|promptblocked|^safety$|unsafecontent|inputflagged|^blocklist$|^hooksfailed$"
)
MONEY_CODES = (
    r"insufficient(?:user|account)?(?:quota|balance|credit|fund)|currentquota|arrear|overdue"
    r"|billing(?!service|system|check|unavailable|timeout)|budgetexceeded|exceeded(?:token)?budget"
    r"|paymentrequired|(?:no|outof)credit|freetieronly|credits?(?:exhausted|required|depleted)"
    r"|(?:spend|spending|usage)limit(?:reached|exceeded)|quotaexhausted|hardlimitreached|setlimitexceeded"
)
KEY_CODES = (
    r"authenticat(?:ion|e)|apikey|unauthori[sz]ed|permission|accessdenied|(?:expired|invalid)token"
    r"|tokenexpired|unrecognizedclient|invalidsignature|accountdeactivated|unsupportedcountry"
)
MODEL_CODES = (
    r"modelnotfound|nosuchmodel|deploymentnotfound|^notfounderror$|^invalidmodel|modelnotexist"
    r"|modeldoesnotexist|unknownmodel|^modeldecommissioned$"
)
LIMIT_CODES = (
    r"ratelimit|toomanyrequests|throttl|resourceexhausted|requestlimit|concurrencylimit|quotaexceed"
)
BUSY_CODES = (
    r"overload|unavailable|(?:server|internal|api|network|provider|upstream|generation)error"
    r"|^internal$|timeout|timedout|deadlineexceeded|notready|badgateway|insufficientsystemresource"
    r"|^abort|^cancell?ed$|^generation$|connectionerror|capacity"
)
