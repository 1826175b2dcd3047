"""Whether each word of a clause is known, or a name: then none of them changes what the clause says.

Called by `statuses`. A capital alone makes no name, as German writes every noun with one: a name is who has
done what the verb tells, stands behind `by` or a title, or has a legal form.
"""

from itertools import pairwise

from actors.systems.operations.recognition import status_words as known
from actors.systems.operations.recognition.clauses import Clause


def is_known(clause: Clause, some: range, text: str) -> bool:
    """Whether each of some of its words is known, of a courtesy, or a name."""
    courteous = [
        found.span() for found in known.pattern_of("courtesies").finditer(text, clause.start, clause.end)
    ]
    # Where all words begin with a capital, that makes none of them a name.
    has_names = any(map(str.islower, clause.spelled))
    return all(
        not clause.words[n]
        or clause.words[n] in known.vocabulary()
        or known.is_declined(clause.words[n])
        or any(start <= clause.places[n][0] < end for start, end in courteous)
        or (has_names and _is_name(clause, n))
        for n in some
    )


def is_one_statement(clause: Clause, ended: int) -> bool:
    """Whether it states one thing: it has one finite verb, and `that` only where something is confirmed."""
    words = clause.words
    joined = next((n for n in range(ended + 1, len(words)) if words[n] in known.listed("joins")), len(words))
    finite = [n for n in range(joined) if words[n] in known.listed("finite")]
    if any(
        any(words[last + 1 : first]) or clause.spelled[last + 1 : first] for last, first in pairwise(finite)
    ):
        return False
    that = next((n for n in range(joined) if words[n] in known.listed("that")), None)
    return that is None or not known.listed("confirms", "denies").isdisjoint(words[:that])


def _is_name(clause: Clause, n: int) -> bool:
    """Whether a word that is not known is one of a name."""
    first, last = n, n
    if not _may_be_of_a_name(clause, n):
        return False
    while first and _may_be_of_a_name(clause, first - 1):
        first -= 1
    while last + 1 < len(clause.words) and _may_be_of_a_name(clause, last + 1):
        last += 1
    if not known.listed("legal_forms").isdisjoint(clause.words[first : last + 1]):
        return True
    if known.listed("by", "titles").intersection(clause.words[max(0, first - 1) : first]):
        return True
    after = clause.words[last + 1 : last + 2]
    acts = known.listed("acts", "denies", "reports").intersection(after)
    # `was ΝΟΤ paid`: no subject stands within the verb.
    if first and clause.words[first - 1] in known.listed("has", "finite"):
        return False
    # `Gossip has KR-77 paid`
    if acts <= known.listed("acts_at_once") and clause.words[last + 2 : last + 3] == [""]:
        return False
    # `Meines Wissens hat die Bank bezahlt`: somebody else has done it.
    return bool(acts) and known.listed("subjects", "speakers").isdisjoint(clause.words[last + 1 :])


def _may_be_of_a_name(clause: Clause, n: int) -> bool:
    word = clause.words[n]
    is_form = word in known.listed("legal_forms")
    return bool(word) and (is_form or (not clause.spelled[n].islower() and word not in known.vocabulary()))
