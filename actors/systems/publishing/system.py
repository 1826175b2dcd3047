"""Publishing: an article that is asked for is published once it is approved, or goes back to its editor.

Its tools lie in `actors/platform/tools`, where the chat finds them.
"""

from actors.platform.system import System
from models.config import Config
from models.content.publication import Publication, PublicationInput, PublicationResult
from models.runtime.gated_kinds import Gate, GatedKind
from models.runtime.workflow_kinds import Ending, WorkflowKind
from models.store.content import publishing
from models.store.database import Connection


async def _stopped(connection: Connection, workflow_id: str, reason: str, config: Config) -> None:
    await publishing.give_back_of_workflow(
        connection, workflow_id, reason=f"stopped: {reason}", settings=config.publishing
    )


SYSTEM = System(
    name="publishing",
    kinds=(
        WorkflowKind(
            name=publishing.KIND,
            graph="actors.systems.publishing.graph:PUBLISH_ARTICLE",
            word="publish",
            input=PublicationInput,
            result=PublicationResult,
            gated=GatedKind(
                role="editor",
                number="article_id",
                actions={
                    "start": "publish_article",
                    "list": "get_pending_approvals",
                    "get": "review_article",
                },
                gates={publishing.KIND: Gate(Publication)},
            ),
            ending=Ending("decision", reached="approved"),
            stopped=_stopped,
            check_retry=publishing.check_retry,
        ),
    ),
    tools=(
        "actors.platform.tools.editor:review_article",
        "actors.platform.tools.editor:request_changes",
        "actors.platform.tools.editor:publish_article",
        "actors.platform.tools.editor:get_pending_approvals",
        "actors.platform.tools.decisions:decide_article",
    ),
)
