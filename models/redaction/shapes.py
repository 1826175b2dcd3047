"""What secrets look like that nobody gave to us: what stands before them, or how they begin.

A password in an URL, `password=…`, a list of tokens, an argument of a command, a cookie, a key. What stands
before a secret is told, the secret is not. Each pattern takes linear time, and is tried only on a text that
has one of its words, in small letters.
"""

import re

from models.redaction.spellings import HIDDEN

_NAMES = (
    r"pass(?:word|wd|phrase|code)|pwd|secret|token|(?:api|access|secret|private|account|signing|sealing|scram_\w{1,10})"
    r"[ _-]?key|signature|credential|assertion|verifier"
)
_ANY_NAME = ("pass", "pwd", "secret", "token", "key", "signature", "credential", "assertion", "verifier")
_ANY_HEADER = (*_ANY_NAME, "cookie", "bearer", "auth")
_NAME = rf"[\w.-]{{0,40}}(?:{_NAMES})"
_HEADER = rf"[\w.-]{{0,40}}(?:{_NAMES}|cookie|bearer|auth(?:orization)?)"
# A value as libpq, URLs, shells, Python and JSON write it: in quotation marks, or up to a blank.
_VALUE = r"""(?:b?'(?:\\.|''|[^'\\])*+'?|b?"(?:\\.|""|[^"\\])*+"?|(?:\\.|[^\s\\'"])(?:\\.|[^\s\\])*+)"""
# What is in no dictionary: with a digit or a mark in it, or a capital after a small letter.
_ODD = r"""(?=[A-Za-z_-]*(?:[0-9]|[+=~$%&*!^]\w|(?-i:[a-z][A-Z])))[^\s'"<>(){},;\\]{6,}"""
# In quotation marks that are escaped: up to as many backslashes before another, as within are more.
_ESCAPED = r"""(?P<depth>\\{1,8}+)["'](?:[^\\"']|(?!(?P=depth)["'])\\++.?)*+"""
_QUOTED = r"""(?:b?'(?:\\.|[^'\\])*+'?|b?"(?:\\.|[^"\\])*+"?)"""
# Several, in brackets: in quotation marks, as YAML writes them without, or one in braces, as ODBC does.
_MANY = (
    rf"""(?:[\[({{]\s{{0,40}}(?=\\{{0,8}}b?['"])(?:{_QUOTED}|[^\])}}'"])*+[\])}}]?"""
    r"""|\[[\w+/=.~-]{1,200}+(?:,[ ]{0,4}[\w+/=.~-]{1,200}+){0,64}\](?!\()|(?<==)\{[^{}\n'":]{1,200}+\}?)"""
)
# Of a command's line or list: whatever is between its name and the option.
_ARGUMENTS = r"""\b[^\r\n;|&]{0,400}?[\s'",]"""
_APART = r"""[\s'",]{1,8}"""

_BEFORE: tuple[tuple[tuple[str, ...], re.Pattern[str]], ...] = (
    # Up to the last @ before a blank, as a password that is not encoded may hold / and @ itself. On the web
    # what stands there may be a port.
    (
        ("@",),
        re.compile(
            r"(?i)(?<![a-z0-9+.-])((?:https?|wss?|(?P<other>(?!https?:|wss?:)[a-z][a-z0-9+.-]{0,30})):(?:\\{0,8}/){2}"
            r"[^\s/:?#'\"]{0,200}:)(?(other)|(?!\d{1,5}[/?#]))\S{1,2000}(?=@)"
        ),
    ),
    (("@",), re.compile(r"(?i)(?<![a-z0-9+.-])(https?:(?:\\{0,8}/){2})[^\s/@?#'\"]{1,2000}(?=@)")),
    # The same, within another.
    (
        ("2f%",),
        re.compile(
            r"(?i)(?<![a-z0-9+.-])([a-z][a-z0-9+.-]{0,30}%(?:25){0,4}3A(?:%(?:25){0,4}2F){2}"
            r"(?:(?!%(?:25){0,4}3A)[^\s/:?#&]){0,200}+%(?:25){0,4}3A)\S{1,2000}(?=%(?:25){0,4}40)"
        ),
    ),
    (
        _ANY_HEADER,
        re.compile(rf"""(?i)(?<![\w.-])({_HEADER}s?\\{{0,8}}['"]?\s{{0,40}}(?:=>?|:)\s{{0,40}}){_MANY}"""),
    ),
    (
        _ANY_NAME,
        re.compile(rf"(?i)(?<![\w.-])({_NAME}\s{{0,40}}(?:=>?|%(?:25)?3D)\s{{0,40}}){_VALUE}"),
    ),
    (
        ("key=", "sig=", "auth=", "code=", "pw=", "pass="),
        re.compile(rf"(?i)((?:[?&](?:amp;)?(?:key|sig|auth|code|pw|pass)|\b_auth)=){_VALUE}"),
    ),
    (
        _ANY_HEADER,
        re.compile(
            rf"""(?i)(['"]{_HEADER}\\{{0,8}}+['"]\s{{0,40}}(?::|=>)\s{{0,40}})(?:{_QUOTED}|{_ESCAPED})"""
        ),
    ),
    (
        _ANY_HEADER,
        re.compile(rf"""(?i)(\(\s{{0,4}}b?['"]{_HEADER}['"]\s{{0,4}},\s{{0,4}}){_QUOTED}"""),
    ),
    # Of a name without quotation marks the value decides: prose has colons, too.
    (
        _ANY_NAME,
        re.compile(
            rf"""(?i)(?<![\w.-])({_NAME}(?:[ ]provided)?[ \t]{{0,4}}:[ \t]{{0,4}})"""
            rf"""(?:'[^'\s]{{6,}}'|"[^"\s]{{6,}}"|{_ODD})"""
        ),
    ),
    (
        _ANY_NAME,
        re.compile(
            rf"""(?i)(?<![\w.-])({_NAME}s?:[ \t]{{0,4}}[|>]?[+-]?[ \t]{{0,4}})"""
            rf"""(?:\r?\n[ \t]{{0,40}}(?:-[ \t]{{1,4}})?(?:'[^'\s]{{1,2000}}'|"[^"\s]{{1,2000}}"|{_ODD})"""
            r"""(?=[ \t]{0,4}(?:[\r\n]|\Z)))+"""
        ),
    ),
    (
        ("--",),
        re.compile(
            rf"(?i)(?<![\w-])(--[\w-]{{0,40}}(?:{_NAMES})[ \t\0]{{1,4}})"
            rf"(?![<{{`]|(?-i:-[a-z-]*+(?![^\s=])|[A-Z_][A-Z_-]*+(?![^\s`'\")\],]))){_VALUE}"
        ),
    ),
    (("-",), re.compile(rf"""(?i)(['"]--?[\w-]{{0,40}}(?:{_NAMES})['"]\s{{0,4}},\s{{0,40}}){_QUOTED}""")),
    # Commands that have options of one letter for it.
    (
        ("mysql", "mariadb"),
        re.compile(rf"(?i)(\b(?:mysql|mariadb)\w{{0,20}}{_ARGUMENTS}-p)(?=[^\s,]){_VALUE}"),
    ),
    (
        ("sshpass", "mongo", "login", "redis-cli", "ldap"),
        re.compile(
            rf"""(?i)(\b(?:(?:sshpass|mongo\w{{0,20}}|login){_ARGUMENTS}-p|redis-cli{_ARGUMENTS}-a|ldap\w{{1,20}}{_ARGUMENTS}-w)"""
            rf"""{_APART}){_VALUE}"""
        ),
    ),
    (("sshpass",), re.compile(rf"(?i)(\bsshpass{_ARGUMENTS}-p)(?=[^\s',\"]){_VALUE}")),
    (
        ("-u", "user"),
        re.compile(
            r"(?i)(?<![\w-])((?:-u|--(?:proxy-)?user)[\s'\",=]{0,8}[^\s:'\",=]{1,100}:)(?!//|\d{1,10}(?!\w))"
            + _VALUE
        ),
    ),
    (("pass:",), re.compile(rf"(?i)(\bpass:){_ODD}")),
    (
        ("password", "identified"),
        re.compile(r"(?i)(\b(?:password|identified\s{1,4}by)\s{1,4})'(?:''|[^'\s]){4,}'"),
    ),
    (("login",), re.compile(r"(?i)(\blogin\s{1,8}\S{1,200}\s{1,8}password\s{1,8})\S+")),
    ((":",), re.compile(r"(?i)((?<!\S)[a-z*][\w.*-]{0,200}:(?:\d{3,5}|\*):[^\s:]{1,100}:[^\s:]{1,100}:)\S+")),
    (
        _ANY_NAME,
        re.compile(
            rf"(?i)(<[\w.:-]{{0,40}}(?:{_NAMES})>)(?:<!\[CDATA\[[^\]]{{1,2000}}|[^<]{{1,2000}}(?=</))"
        ),
    ),
    (("name=",), re.compile(rf"""(?i)(name=["']?{_NAME}["']?\s{{0,4}}\r?\n\r?\n)[^\r\n]+""")),
    (
        ("@",),
        re.compile(
            r"""(?i)(?<![\w.+/:@-])((?!mailto:)[\w.+-]{1,64}:)[^\s@'"]{4,200}(?=@[\w.-]{1,200}:\d{2,5}(?!\w))"""
        ),
    ),
    (
        ('"kty"',),
        re.compile(r"""(?i)("(?:d|p|q|dp|dq|qi|k)"\s{0,4}:\s{0,4})"[\w-]{20,}"?"""),
    ),  # of JSON web keys
    # Addresses that are the secret.
    (
        ("hooks", "webhookb2", "/bot"),
        re.compile(
            r"(?i)(\bhooks\.slack\.com/\w{1,20}/|\bdiscord(?:app)?\.com/api/webhooks/|/webhookb2/|/bot(?=\d{6,12}:))[^\s'\"]+"
        ),
    ),
    # Headers that let somebody in, whatever their scheme.
    (
        ("authorization",),
        re.compile(
            r"""(?i)(\b(?:proxy-)?authorization['"]?\s{0,4}[:=]\s{0,4}(?-i:b?)['"]?)"""
            r"""(?:(?-i:[A-Z])[\w-]{1,40}\s{1,4})?"""
            r"""(?=[A-Za-z]*(?:[0-9+/=._~-]|(?-i:[a-z][A-Z])))[^\s'"]{4,}"""
        ),
    ),
    (("cookie",), re.compile(r"(?i)(\b(?:set-)?cookie:\s{0,4})[^\r\n]{4,}")),
    (("api-key",), re.compile(r"""(?i)(\b(?:x-)?api-key['"]?\s*[:,]\s*b?['"]?)[^\s'"]{4,}""")),
    (("signature",), re.compile(r"""(?i)(\b[\w-]{0,40}signature['"]?:\s{0,4})[^\s'"]{12,}""")),
    (("digest",), re.compile(r"""(?i)(\bDigest\s[^\r\n]{0,1000}?\bresponse=)[^\s,]+""")),
    # What is in no dictionary: with a digit or a mark in it, or a capital after a small letter.
    (
        ("bearer", "basic"),
        re.compile(
            r"(\b[Bb](?:earer|EARER|asic|ASIC)\s{1,4})(?=[A-Za-z]*(?:[0-9+/=._~-]|[a-z][A-Z]))[A-Za-z0-9+/=._~-]{8,}"
        ),
    ),
)
_BLANK = r"(?:[ +]|%(?:25){0,4}20)"
_WHOLE: tuple[tuple[tuple[str, ...], re.Pattern[str]], ...] = (
    (
        ("private",),
        re.compile(
            rf"(?is)-{{4,5}}[ ]?BEGIN{_BLANK}(?:[A-Z0-9]{{1,20}}{_BLANK}){{0,4}}PRIVATE{_BLANK}KEY.*?"
            rf"(?:-{{4,5}}[ ]?END{_BLANK}(?:[A-Z0-9]{{1,20}}{_BLANK}){{0,4}}KEY(?:{_BLANK}BLOCK)?"
            r"[ ]?-{4,5}|\Z)"
        ),
    ),
    (
        ("private-",),
        re.compile(r"(?i)\bPrivate-(?:Lines: \d{1,4}(?:\r?\n[A-Za-z0-9+/=]{4,}+(?!-))+|MAC: \w+)"),
    ),
    # A line may end anywhere in one.
    (
        ("eyj",),
        re.compile(
            r"\beyJ(?:[\w-]|\r?\n(?=[\w-]{12})){8,}+(?:\s{0,4}\.(?:[\w-]|\r?\n(?=[\w-]{12}))++){1,2}+\.?"
        ),
    ),
    # What servers keep of passwords: it is tried at leisure.
    (
        ("$",),
        re.compile(
            r"\bSCRAM-SHA-(?:1|256|512)\$[^\s'\"]+|\$(?:2[abxy]|apr1|[1567y]|argon2\w{1,2})\$[^\s'\"]{16,}"
        ),
    ),
    (("md5",), re.compile(r"\bmd5[0-9a-f]{32}\b")),
    (
        ("-", "_", "ya29", "sg.", "a"),
        re.compile(
            r"\b(?:(?:sk|pk|rk|gh[opsu]|github_pat|glpat|xox[abeprs]|whsec|hf|npg|npm|pypi|dop_v1|shpat)[-_][\w+/=-]{16,}"
            r"|ya29\.[\w-]{16,}|SG\.[\w-]{10,}\.[\w-]+|A(?:K|S)IA[A-Z0-9]{16}|AIza[\w-]{30,}|AGE-SECRET-KEY-\w+)"
        ),
    ),
)


def without_shapes(text: str) -> str:
    """A text with `***` for what looks like a secret."""
    lowered = text.lower()
    for words, shape in _BEFORE:
        if any(word in lowered for word in words):
            text = shape.sub(_instead, text)
    for words, shape in _WHOLE:
        if any(word in lowered for word in words):
            text = shape.sub(HIDDEN, text)
    return text


def _instead(found: re.Match[str]) -> str:
    return f"{found[1]}{HIDDEN}"
