"""The options that batches share: the configuration, who submits it, and the project that it works on."""

from pathlib import Path
from typing import Annotated

import typer

from models.config import Config
from models.errors import InputInvalid
from models.knowledge.projects import Project
from models.store.database import Connection, Database
from models.store.knowledge import projects

ConfigOption = Annotated[
    Path | None,
    typer.Option("--config", help="The configuration that the site must run; default: the site's own."),
]
SubmittedByOption = Annotated[
    str | None, typer.Option("--as", help="Who submits it; default: who typed `signoff submit`.")
]


async def named_project(
    database: Database, config: Config, *, project: str, topic: str | None, make_as: str | None = None
) -> Project | None:
    """The project by its number, or by its name in a topic; None where there is none of that name yet.

    A batch has no token: whoever may submit jobs may work on any project with it; see docs/access.md.

    Args:
        make_as: where there is none of that name, it is made, and this person has made it.

    Raises:
        InputInvalid: the options name nothing that there can be.
        ProjectNotFound: there is no project of that number.
    """
    if topic is None and not (project.isascii() and project.isdigit() and len(project) < 16):
        raise InputInvalid(f"--project: {project!r} is no number: for a name, say its --topic, too")
    if topic is not None and topic not in config.publishing.topics:
        known = ", ".join(config.publishing.topics)
        raise InputInvalid(f"--topic: there is no topic {topic!r}: use one of {known}")
    if not project.strip() or len(project) > 200:
        raise InputInvalid("--project: give its number, or a name of 1 to 200 characters")

    async def find(connection: Connection) -> Project | None:
        if topic is None:
            return await projects.get(connection, int(project))
        if make_as is None:
            return await projects.named(connection, topic=topic, name=project.strip())
        made, _ = await projects.find_or_create(connection, topic=topic, name=project.strip(), by=make_as)
        return made

    return await database.write(find)
