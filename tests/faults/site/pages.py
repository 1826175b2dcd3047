"""The web site that the researches of a campaign read: a few pages for each run, and who asked for which.

One page can't be read, and one is never approved by anybody.
"""

from tests.fakes.model.model_script import Rule
from tests.fakes.outside.page_site import Answer, Page, article
from tests.integration.research.mill_site import FOUND, ICE, MILL, NOTHING, SECRET

UNAPPROVED = "secret"
NAMES = ("mill", "ice", "login", UNAPPROVED)

# What the model finds in them. It outlives the model's outages, and gives way to them.
FINDS = (
    Rule(kind="ExtractionReply", contains="founded in 1871", reply=FOUND, standing=True),
    Rule(kind="ExtractionReply", reply=NOTHING, standing=True),
)


def pages_of(run: int) -> dict[str, Page]:
    """The pages of a run, by their paths: what another run has let in lets none of them in."""
    pages = {
        "mill": article("The Mill Company", MILL),
        "ice": article("Ice on wheels", ICE),
        "login": Answer(b"<h1>Log in</h1>", status=401),
        UNAPPROVED: article("Not approved", SECRET),
    }
    return {f"/{run}/{name}": page for name, page in pages.items()}
