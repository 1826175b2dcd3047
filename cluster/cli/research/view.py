"""How a research looks on a terminal: lists, what agents say, results, and the way back.

`signoff research` prints with it, as `cluster.cli.printing` says.
"""

import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence

from rich.console import Console

from actors.platform.text.markdown import opening, unlinked
from cluster.cli.printing import LABEL, in_words, listing, put, row, rows, why
from cluster.cli.research.words import came_to, cited, standing
from cluster.plain_text import one_line
from models.research.agent_workflows import ResearchStatusResponse, StartResponse
from models.research.following import (
    AgentMessage,
    LineagePoint,
    LineageSource,
    ResearchLineage,
    ResearchList,
    ResearchPoints,
    ResearchResults,
    ResearchUrl,
    ResultSentence,
)
from models.research.trees import TreeNode
from models.text import how_many


def estimate(begun: StartResponse) -> str:
    """About how long it takes, where that is learnt from earlier ones."""
    minutes = f"{begun.estimated_duration_minutes} min"
    if begun.estimate_is_learnt:
        return f"It takes about {minutes}, without the time that people take."
    return f"How long it takes is not learnt yet: {minutes} is a guess, without the time that people take."


def table(page: ResearchList, console: Console) -> None:
    """Print a list of researches."""
    names = ("id", "status", "task", "topic", "project", "by", "asked for")
    rows = []
    for one in page.workflows:
        status = standing(one.status, one.outcome) + (", decide" if one.waits_for_decision else "")
        asked = f"{one.created_at:%Y-%m-%d %H:%M}"
        cells = (one.id, status, one.task_type or "", one.topic, one.project_id, one.requested_by, asked)
        rows.append((cells, one.name, one.reason))
    listing(console, names, rows)


def progress_line(status: ResearchStatusResponse) -> str:
    """How far it is, on one line."""
    done = status.progress
    by = f" by the {status.current_agent}" if status.current_agent else ""
    parts = [
        f"{in_words(status.status)} {done.percentage:.0f} %",
        f"step {done.completed_steps} of {done.total_steps}{by}",
    ]
    if done.urls_approved:
        parts.append(f"{done.urls_done} of {how_many(done.urls_approved, 'page')}")
    if done.estimated_minutes_left is not None:
        parts.append(f"about {math.ceil(done.estimated_minutes_left)} min left")
    if status.waits_for:
        parts.append(f"waits for {status.waits_for}")
    told = ", ".join(parts)
    return one_line(f"{told}. {done.current_operation}" if done.current_operation else told)


def show_message(message: AgentMessage, console: Console) -> None:
    """Print what an agent did, and why."""
    put(console, f"{message.created_at:%H:%M:%S}", f"{message.agent_type}: {message.content}")
    if message.reasoning:
        put(console, "", message.reasoning, style="dim")


def show_status(status: ResearchStatusResponse, console: Console) -> None:
    """Print where a research stands, with the gate that waits."""
    row(console, "research", f"{status.id} in project {status.project_id}, {status.topic}")
    row(console, "question", status.name)
    row(console, "task", status.task_type or "not told yet")
    row(console, "stands", progress_line(status))
    if (found := status.results) is not None:
        pages = f"{how_many(found.urls_discovered, 'address', 'addresses')} found, {found.urls_scraped} read"
        points = how_many(found.knowledge_points, "point")
        joined = how_many(found.relationships, "relationship")
        row(console, "so far", f"{pages}; {points}, {joined}")
    why(console, status.reason, status.error)


def outline(
    nodes: Sequence[TreeNode], console: Console, *, examples: Mapping[str, Sequence[str]] | None = None
) -> None:
    """Print the nodes of a tree, each below its parent, with how many points are in it and below."""
    below: Counter[str] = Counter()
    for node in reversed(nodes):
        below[node.id] += len(node.points)
        if node.parent is not None:
            below[node.parent] += below[node.id]
    levels: dict[str | None, int] = {None: -1}
    for node in nodes:
        levels[node.id] = levels[node.parent] + 1
        indent = LABEL + 2 * levels[node.id]
        named = f"{node.id}  “{node.name}”  {how_many(below[node.id], 'point')}"
        row(console, "", named, indent=indent, style="bold")
        for example in (examples or {}).get(node.id, ()):
            row(console, "", f"- {example}", indent=indent + 4)


def show_results(found: ResearchResults, console: Console) -> None:
    """Print what a research has come to so far."""
    row(console, "research", f"{found.workflow_id}, {in_words(found.status)}")
    if (ended := found.result) is not None:
        row(console, "result", came_to(ended, found.ended_by))
    if found.reason:
        row(console, "why", found.reason)
    if ended is not None:
        if ended.limit is not None:
            row(console, "limit", f"{ended.limit} was used up")
        rows(console, "left", (f"{one.what} {one.name}: {one.reason}" for one in ended.left))
        rows(
            console,
            "missing",
            (f"{one.url}: {in_words(one.fault or '') or one.reason or 'unread'}" for one in ended.missing),
        )
    undecided = "nobody has decided on it" if ended is None else "no gate stood for the text"
    row(console, "approved", {None: undecided, True: "yes", False: "no"}[found.approved])
    heading = None
    for sentence in found.sentences:
        if sentence.heading != heading:
            row(console, "section", sentence.heading, style="bold")
        heading = sentence.heading
        _sentence(sentence, console)
    row(console, "counts", ", ".join(f"{count} {name}" for name, count in found.counts))
    for url in found.urls:
        row(console, f"{url.number:>10}", f"{_came_of(url, found)}: {url.url}")
    if found.tree is not None:
        row(console, "tree", found.tree.title)
        outline(found.tree.nodes, console)


def _came_of(url: ResearchUrl, found: ResearchResults) -> str:
    """What came of an address, and on whose word."""
    ended = found.result
    match url.user_approval:
        case "rejected" if url.decided_by is None:
            return "not read, for nobody decided in time"
        case "rejected" if ended is not None and ended.ended_at == "urls":
            return f"not read, for {url.decided_by} rejected the list"
        case "rejected":
            # Whoever approved a list need not be the one who left this out of it.
            return f"left out of the list that {url.decided_by} approved"
        case "pending":
            return "nobody has decided on it yet"
    if url.fault is not None:
        came = in_words(url.fault)
    else:
        came = "not read yet" if url.source_id is None else f"source {url.source_id}"
    if url.pasted_by:
        return f"{came}, a text that {url.pasted_by} gave in its place"
    place = "" if url.instead_of is None else f" in place of {url.instead_of}"
    return f"{came}, let in by {url.decided_by}{place}" if url.decided_by else f"{came}{place}"


def _sentence(sentence: ResultSentence, console: Console) -> None:
    told = f"{sentence.outcome}: {sentence.text} [{cited(sentence.points)}]"
    put(console, f"{sentence.number:>10}", told)
    if sentence.reason:
        row(console, "", sentence.reason, style="dim")


def show_lineage(found: ResearchLineage, console: Console) -> None:
    """Print, of each sentence, its points, their exact words, the documents, and who let these in."""
    if not found.sentences:
        row(console, "sentences", "there are none, so there is nothing to lead back from")
    points = {point.point_id: point for point in found.points}
    for sentence in found.sentences:
        _sentence(sentence, console)
        for id_ in sentence.points:
            if (point := points.get(id_)) is None:
                row(console, "", f"point {id_} is not there any more")
            else:
                _point(point, found.sources[point.source], console)


def show_points(found: ResearchPoints, console: Console) -> None:
    """Print each point, its exact words, the document, and who let that in."""
    if not found.points:
        row(console, "points", "there are none here")
    for point in found.points:
        _point(point, found.sources[point.source], console)


def _point(point: LineagePoint, source: LineageSource, console: Console) -> None:
    row(console, "", f"point {point.point_id}, {point.kind}: {point.statement}")
    row(console, "", f"characters {point.start} to {point.end}: “{point.quote}”", indent=LABEL + 2)
    row(console, "", f"of {source.title or 'a page'}, {source.final_url or source.url}", indent=LABEL + 2)
    row(console, "", f"text {source.text_sha256}, bytes {source.sha256 or 'unknown'}", indent=LABEL + 2)
    if (by := source.let_in) is None:
        told = "nobody of a research let it in: it was there"
    elif by.approval_id is None:
        told = f"no gate stood: research {by.workflow_id} asked for it as {by.number}"
    else:
        given = "" if by.given_by is None else f"given by {by.given_by}, "
        told = f"{given}let in by {by.by or 'unknown'}, approval {by.approval_id} of {by.digest} at {by.at}"
    row(console, "", told, indent=LABEL + 2)


def markdown(name: str, found: ResearchResults, lineage: ResearchLineage) -> str:
    """The sentences that stand, as Markdown, with numbers of the sources that they rest on."""
    sources = {point.point_id: point.source for point in lineage.points}
    lines = [f"# {_escaped(name)}", ""]
    if not found.approved:
        why = f": {_escaped(found.reason)}" if found.reason else ""
        lines += [
            f"*{'Nobody has approved this' if found.approved is None else 'This was not approved'}{why}.*",
            "",
        ]
    heading = None
    for sentence in (one for one in found.sentences if one.outcome != "dropped"):
        if sentence.heading != heading:
            lines += [f"## {_escaped(sentence.heading)}", ""]
        heading = sentence.heading
        cited = sorted({sources[id_] for id_ in sentence.points if id_ in sources})
        doubt = " *(unverified)*" if sentence.outcome == "unverified" else ""
        lines += [
            f"{_escaped(sentence.text)}{doubt} {''.join(f'[{place + 1}]' for place in cited)}".rstrip(),
            "",
        ]
    lines += ["## Sources", ""] if lineage.sources else []
    for number, source in enumerate(lineage.sources, 1):
        address = one_line(source.final_url or source.url)
        where = re.sub(r"[<>\\ ]", lambda found: f"%{ord(found[0]):02X}", address)
        lines.append(f"{number}. {_escaped(source.title or source.url)} <{where}>")
    return "\n".join(lines).rstrip() + "\n"


def _escaped(text: str) -> str:
    """On one line, and nothing in it is Markdown or a link."""
    return opening(unlinked(one_line(text)))
