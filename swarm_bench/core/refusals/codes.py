"""What servers call their errors, by their letters and digits alone."""

OVERFLOW = (
    r"context(?:length|size|window|limit|overflow)|stringabovemaxlength|requesttoolarge"
    r"|(?:prompt|input|message)s?toolong|toolonginput|(?:max|input)tokens?exceeded"
)
POLICY = (
    r"contentpolicy|contentfilter|contentmoderat|contentblock|sensitivecontent|datainspection"
    r"|responsibleai|^moderation|moderationblocked|guardrailinterven|prohibitedcontent"
    r"|promptblocked|^safety$|unsafecontent|inputflagged|^blocklist$|^hooksfailed$"
)
MONEY = (
    r"insufficient(?:user|account)?(?:quota|balance|credit|fund)|currentquota|arrear|overdue"
    r"|billing(?!service|system|check|unavailable|timeout)|budgetexceeded|exceeded(?:token)?budget"
    r"|paymentrequired|(?:no|outof)credit|freetieronly|credits?(?:exhausted|required|depleted)"
    r"|(?:spend|spending|usage)limit(?:reached|exceeded)|quotaexhausted|hardlimitreached|setlimitexceeded"
)
KEY = (
    r"authenticat(?:ion|e)|apikey|unauthori[sz]ed|permission|accessdenied|(?:expired|invalid)token"
    r"|tokenexpired|unrecognizedclient|invalidsignature|accountdeactivated|unsupportedcountry"
)
MODEL = (
    r"modelnotfound|nosuchmodel|deploymentnotfound|^notfounderror$|^invalidmodel|modelnotexist"
    r"|modeldoesnotexist|unknownmodel|^modeldecommissioned$"
)
LIMIT = (
    r"ratelimit|toomanyrequests|throttl|resourceexhausted|requestlimit|concurrencylimit|quotaexceed"
)
BUSY = (
    r"overload|unavailable|(?:server|internal|api|network|provider|upstream|generation)error"
    r"|^internal$|timeout|timedout|deadlineexceeded|notready|badgateway|insufficientsystemresource"
    r"|^abort|^cancell?ed$|^generation$|connectionerror|capacity"
)
