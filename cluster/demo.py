"""`make demo`: bring everything up, edit the sample topics as a Ray job, and stop where a human signs off.

It ends with one article that waits for approval. A second run finds all of it there, redoes no finished
topic, and asks for the next article's publication once that one is decided.
"""

from datetime import UTC, datetime
from pathlib import Path

from rich.console import Console
from rich.text import Text

from cluster.cli.commands.options import EDITOR, config_option
from cluster.cli.door import Door
from cluster.cli.inbox import Inbox
from cluster.cli.tokens import mint_token
from cluster.cli.typed import command, typed
from cluster.parts.apps import base_url
from cluster.plain_text import one_line
from cluster.submit import dashboard_url, submit
from cluster.up import up
from models.config import Config
from models.runtime.approvals import ApprovalSummary

SAMPLES = "configs/samples/topics"
SUBJECT = "macro"
_USER = "demo"


def demo(config: Config, path: Path, console: Console) -> int:
    """The exit code: 1 if a topic ended in an error. A blocked article is an outcome, and is shown."""
    named = config_option(path)
    up(config, console, file=path, stop=typed(["down", *named]))
    arguments = ["--topics", SAMPLES, "--allow-blocked", "--draft-in", SUBJECT]
    arguments += ["--request-publication", "--requests-at-most", "1"]
    code = submit(config, "edit_articles", arguments, config_file=path)
    console.print(f"\n{edited_by(config)}")
    console.print(f"HTTP       {base_url(config)}/docs")
    console.print(f"dashboard  {dashboard_url(config)}")
    console.print(f"again      {typed(['submit', *named, 'edit_articles', *arguments])}")
    console.print(f"stop       {command()} down --config {path}   (or: make down)")
    console.print(Text(f"\n{sign_off(config, path, finished=code == 0)}"))
    return code


def edited_by(config: Config) -> str:
    """The models that edited, and how articles came about: what to expect of a bundled one that writes."""
    agents = config.article_generation.agents
    names = {llm.model for llm in (agents.writer_llm, agents.article_review_llm, agents.concern_mapping_llm)}
    bundled = names & {model.name for model in config.serving.models if model.source == "bundled"}
    told = f"edited by {', '.join(sorted(names))}"
    if agents.writer_llm.writes == "quotes":
        told += ": every sentence is quoted from its source, word for word; the model only chose which"
    elif bundled:
        told += f": {', '.join(sorted(bundled))} is bundled to prove the path, it does not write well"
    return told


def sign_off(config: Config, path: Path, *, finished: bool) -> str:
    """What waits for a human, and the command that approves it."""
    if config.auth.secret is None:
        return f"what waits for you: {command()} approvals --token-file PATH --config {path}"
    approval = waiting(config)
    if approval is None:
        reason = "all sample articles are decided" if finished else "see above what went wrong"
        return f"nothing waits for approval: {reason}"
    # The batch asked, so anyone else may approve: four eyes.
    approve = typed(["approve", approval.id, "--user", "you", "--config", path])
    title = one_line(approval.title)
    return f"one article waits for a human, as approval {approval.id}: {title}\napprove    {approve}"


def waiting(config: Config) -> ApprovalSummary | None:
    """The first article of the samples' subject that waits, as seen by a user of the demo."""
    token = mint_token(config.auth, user=_USER, scopes=[EDITOR], now=datetime.now(UTC))
    with Inbox(Door(base_url(config), token)) as inbox:
        found = inbox.listed(kind="publish_article", topic=SUBJECT)
    return next((approval for approval in found if approval.may_decide), None)
