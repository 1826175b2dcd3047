"""The heads of mails within a text: `From: … Sent: … To: … Subject: …`, on lines of their own or on one.

Asked by `voices`, line by line: what follows such a head was written by whom it names. In any of the
languages, for programs keep to their own. A place and a day (`From: … Date: …`) are none.
"""

import re

from actors.platform.text.lexicon import languages, phrase_pattern

_FILE = "voices"
_NEEDED = ("mail_from", "mail_topic")
_LABELLED = re.compile(r"[\s>*_|]{0,12}[\w-]{2,20}[\s*_|]{0,6}[:：]")
_COLON = re.compile(r"[\s*_|]{0,6}[:：]")


class MailHeads:
    """Reads lines, and says where a head is complete."""

    def __init__(self) -> None:
        self._has: set[str] = set()

    def ends_at(self, line: str) -> bool:
        """Whether a head has, with this line, who writes and what about. Its lines follow each other."""
        if _LABELLED.match(line):
            self._has.update(key for key in _NEEDED if _labels(line, key))
            return self._has.issuperset(_NEEDED)
        if any(map(str.isalnum, line)):
            self._has.clear()
        return False


def _labels(line: str, key: str) -> bool:
    return any(
        _COLON.match(line, found.end())
        for language in languages()
        for found in phrase_pattern(language, (_FILE, key)).finditer(line)
    )
