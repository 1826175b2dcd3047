"""Approved results as JSON, for programs: all of the record, each text as it is.

What can't be seen, or turns text round, is spelt `\\u202e`: the same when it is read, and harmless where it
is looked at. SHA-256 of `results` in canonical form is the approval's `digest`: a reader can check both.
"""

import json
import re

from models.operations.exports import ApprovedResults

# Control characters, marks of direction and others without a shape, halves of pairs, noncharacters, tags.
_SPELT = re.compile(
    r"[\x7f-\x9f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff0-\uffff\ud800-\uf8ff"
    r"\U000e0000-\U0010ffff]"
)


def as_json(approved: ApprovedResults) -> str:
    """`ApprovedResults` as JSON, indented, with `mocked`: the agents of which any data is a stand-in's."""
    told = approved.model_dump(mode="json", exclude={"results"})
    told |= {"mocked": list(approved.mocked), "results": approved.results.model_dump(mode="json")}
    text = json.dumps(told, ensure_ascii=False, indent=2, allow_nan=False)
    return _SPELT.sub(lambda found: json.dumps(found[0])[1:-1], text) + "\n"
