"""The web site that the researches of a campaign read: a few pages for each run, and who asked for which.

Two pages can't be read, one of which has a mirror that can; one is never approved by anybody, and one is held
by a project already. Some come slowly, and two have moved: to the page that nobody approves, and to a host
that the site never reads.
"""

import json
import time
from collections.abc import Sequence

from tests.fakes.model.model_script import Rule
from tests.fakes.outside.page_site import Answer, Hit, Page, article
from tests.integration.research.mill_site import ICE, MILL, NOTHING, SECRET

UNAPPROVED = "secret"
HELD = "held"
MIRROR = "-mirror"
NAMES = ("mill", "ice", "login", "gone", "moved", "moved-away", UNAPPROVED)
# Where a host is that the site never reads, and what is asked for there.
NEVER_READ, NEVER = "127.0.0.2", "never"
SLOW = ("slow-1", "slow-2", "slow-3", "slow-4", UNAPPROVED)
GONE_PAGE = "gone"
_SLOW_SECONDS, _READ_SECONDS = 0.4, 0.2

LOCKS = "The lock-keeper opens the upper gate at dawn. Barges with timber pay by the ton. " * 6
BOATS = "Flour went to Warsaw by boat, as roads were bad. A boat carried ninety sacks. " * 6
# What people have a text of, where its page can't be read; and one that no reader gets through.
PASTED = (
    "The guild of millers met on Fridays. Apprentices slept above the stones. " * 3,
    "A miller kept every sixteenth sack for himself. The mayor sealed his measures. " * 3,
)
UNREADABLE_TEXT = "The reader never comes to an end of this one. " * 3


def _says(contains: str, *facts: tuple[str, str, int]) -> Rule:
    """What the model finds in a text: statements, each with its words there, and the sentence of these."""
    found = [
        {"statement": statement, "quote": quote, "sentence": sentence, "score": 0.9}
        for statement, quote, sentence in facts
    ]
    reply = json.dumps(json.loads(NOTHING) | {"facts": found})
    return Rule(kind="ExtractionReply", contains=contains, reply=reply, standing=True)


# What the model finds in them. It outlives the model's outages, and gives way to them.
FINDS = (
    _says(
        "founded in 1871",
        ("The company has nine mills.", "runs nine mills in Łódź", 1),
        ("Its founding was in 1871.", "founded in 1871", 2),
        ("High water stood then.", "the river was high", 2),
    ),
    _says("kept free of ice", ("Warm water keeps ice off.", "kept free of ice by warm water", 1)),
    _says(
        "The lock-keeper opens",
        ("Gates open at dawn.", "opens the upper gate at dawn", 1),
        ("Timber is charged by weight.", "Barges with timber pay by the ton", 2),
    ),
    _says(
        "Flour went to Warsaw",
        ("Flour travelled by boat.", "Flour went to Warsaw by boat", 1),
        ("Ninety sacks fit one boat.", "A boat carried ninety sacks", 2),
    ),
    _says("guild of millers", ("Millers had meetings on Fridays.", "met on Fridays", 1)),
    _says("every sixteenth sack", ("A sixteenth was the miller's pay.", "every sixteenth sack", 1)),
    Rule(kind="ExtractionReply", reply=NOTHING, standing=True),
)


def pages_of(run: int, never: str) -> dict[str, Page]:
    """The pages of a run, by their paths: what another run has let in lets none of them in.

    Args:
        never: the origin of the host that is never read.
    """
    pages = {
        "mill": article("The Mill Company", MILL),
        "ice": article("Ice on wheels", ICE),
        "login": Answer(b"<h1>Log in</h1>", status=401),
        f"login{MIRROR}": article("Boats", BOATS),
        "moved": Answer(status=302, headers={"location": f"/{run}/{UNAPPROVED}"}),
        "moved-away": Answer(status=302, headers={"location": f"{never}/{run}/{NEVER}"}),
        HELD: article("Locks", LOCKS),
        UNAPPROVED: article("Not approved", SECRET),
    }
    for name in SLOW[:-1]:
        pages[name] = Answer(article(name, ICE).body, seconds=_SLOW_SECONDS)
    return {f"/{run}/{name}": page for name, page in pages.items()}


def library(name: str) -> dict[str, tuple[Page, int]]:
    """The pages that a batch of knowledge reads, by their paths, each with how many points `FINDS` has."""
    texts = {"mill": (MILL, 3), "ice": (ICE, 1), "locks": (LOCKS, 2), "boats": (BOATS, 2)}
    return {
        f"/{name}/{title}": (Answer(article(title, text).body, seconds=_READ_SECONDS), points)
        for title, (text, points) in texts.items()
    }


def timed(hits: Sequence[Hit]) -> list[tuple[str, float]]:
    """Each by its path, and when it came by `time.time()`."""
    start = time.time() - time.monotonic()
    return [(hit.path, start + hit.at) for hit in hits]
