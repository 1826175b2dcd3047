"""Legal forms at the end of a company's name: which there are, and when they make two of one name."""

from collections.abc import Sequence

# As they are compared; those in capitals only as they are written here.
_FORMS: dict[tuple[str, ...], str] = {
    **{
        (form,): form
        for form in ("inc", "corp", "co", "ltd", "llc", "llp", "plc", "gmbh", "kgaa", "sarl", "srl")
    },
    **{(form,): form for form in ("sro", "doo", "pty", "pte", "bvba", "oyj", "mbh")},
    ("incorporated",): "inc",
    ("corporation",): "corp",
    ("company",): "co",
    ("limited",): "ltd",
    ("aktiengesellschaft",): "ag",
    ("sp", "z", "oo"): "sp z oo",
    ("sp", "z", "o", "o"): "sp z oo",
    ("spółka", "z", "oo"): "sp z oo",
    ("spółka", "z", "ograniczoną", "odpowiedzialnością"): "sp z oo",
    ("spółka", "akcyjna"): "sa",
    ("sp", "k"): "sp k",
    ("sp", "j"): "sp j",
    ("株",): "株式会社",
    ("주",): "주식회사",
}
_CAPITAL_FORMS = {
    form: form.casefold()
    for form in ("AG", "SE", "SA", "SAS", "AB", "AS", "KG", "NV", "BV", "OHG", "UG", "SpA", "eK", "Oy", "SL")
}
# Written together with the name, before or behind it; the longer ones first.
_JOINED_FORMS = {
    "股份有限公司": "股份有限公司",
    "有限责任公司": "ltd",
    "有限責任公司": "ltd",
    "有限公司": "ltd",
    "株式会社": "株式会社",
    "有限会社": "有限会社",
    "合同会社": "合同会社",
    "주식회사": "주식회사",
}
_LONGEST_FORM = 4
_SHORTEST_JOINED = 2
# It says little: `Ford Motor Co.` and `Ford Motor Co. Ltd.` are one.
_WEAK_FORM = "co"

# The words that they are written with; letters by themselves say nothing.
FORM_WORDS = frozenset(word for form in _FORMS for word in form if len(word) > 1) | frozenset(_JOINED_FORMS)


def without_legal_forms(written: Sequence[str]) -> tuple[list[str], frozenset[str]]:
    """A company's words without its legal forms, and these. At least one word stays."""
    words = list(written)
    forms = set[str]()
    while words:
        for size in range(min(_LONGEST_FORM, len(words) - 1), 0, -1):
            last = words[-size:]
            form = _FORMS.get(tuple(word.casefold() for word in last))
            form = form or (_CAPITAL_FORMS.get(last[0]) if size == 1 else None)
            if form:
                forms.add(form)
                words = words[:-size]
                break
        else:
            if forms and len(words) > 1 and words[-1].casefold() in ("and", "und", "i"):
                words = words[:-1]  # of `GmbH & Co. KG`
                continue
            break
    if len(words) > 1 and words[0] in ("株", "주"):
        forms.add(_FORMS[words[0],])
        words = words[1:]
    return _without_joined(words, forms), frozenset(forms)


def _without_joined(words: list[str], forms: set[str]) -> list[str]:
    for written, form in _JOINED_FORMS.items():
        if words and words[-1].endswith(written):
            rest = [*words[:-1], words[-1].removesuffix(written)]
        elif words and words[0].startswith(written):
            rest = [words[0].removeprefix(written), *words[1:]]
        else:
            continue
        rest = [word for word in rest if word]
        if len("".join(rest)) >= _SHORTEST_JOINED:
            forms.add(form)
            return rest
    return words


def different_forms(first: frozenset[str], second: frozenset[str]) -> bool:
    """Whether two companies of one name have legal forms that make them two. One without any is either's."""
    if not first or not second or first == second:
        return False
    one, other = first - {_WEAK_FORM}, second - {_WEAK_FORM}
    if one and other:
        return one != other
    return not (_WEAK_FORM in first and _WEAK_FORM in second)
