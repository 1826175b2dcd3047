"""`make eval-intents`: how often messages that are no examples are routed to the right intent.

Runs the router of the chat over `benchmarks/intents/evaluation.yaml`, with the bundled embedding model in
this process and no cluster. A message that is an example as it stands proves nothing and is not counted.
Exits 1 below `--least`. With `--ask-model URL --model NAME` a served model decides what likeness leaves
unsure.
"""

import asyncio
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Annotated, NamedTuple

import typer
import yaml
from pydantic import TypeAdapter
from rich.console import Console
from rich.table import Table

from actors.chat.intents import read_intents
from actors.chat.routing import Router
from actors.chat.wording import normal_form
from actors.runtime.llm import ModelClient
from actors.runtime.prompts import read_chat_prompt
from models.articles import Record
from models.chat import INTENTS, Intent, Route, Turn
from models.config import Config, load
from models.intents import Intents
from models.scopes import parse_scope
from models.users import UserContext
from serve.embeddings import SentenceEncoder, embeddings_folder

ROOT = Path(__file__).resolve().parents[1]
EVALUATION = ROOT / "benchmarks/intents/evaluation.yaml"
LEAST = 0.95


class Case(Record):
    """A message as people type it, and what it asks for."""

    text: str
    intent: Intent
    language: str
    topic: str | None = None


class Outcome(NamedTuple):
    """What became of a case."""

    case: Case
    route: Route

    @property
    def right(self) -> bool:
        """Whether the intent is the right one."""
        return self.route.intent == self.case.intent


class LocalEmbedder:
    """The bundled embedding model in this process, on one thread. `seconds` is the time it took so far."""

    def __init__(self) -> None:
        # One thread: on a busy machine several wait for each other more than they work.
        self._encoder = SentenceEncoder(embeddings_folder("bundled"), threads=1)
        self.seconds = 0.0

    async def embed(self, texts: Sequence[str]) -> list[list[float]]:
        """See `Embedder`."""
        started = time.perf_counter()
        vectors = self._encoder.encode(texts)
        self.seconds += time.perf_counter() - started
        return vectors


def read_cases(intents: Intents, path: Path = EVALUATION) -> tuple[list[Case], int]:
    """The messages that are no examples, and how many are."""
    cases = TypeAdapter(list[Case]).validate_python(yaml.safe_load(path.read_text(encoding="utf-8")))
    examples = {normal_form(text) for texts in intents.examples.values() for text in texts}
    unseen = [case for case in cases if normal_form(case.text) not in examples]
    return unseen, len(cases) - len(unseen)


def local_router(
    config: Config, *, embedder: LocalEmbedder, intents: Intents, model: ModelClient | None
) -> Router:
    """The router as the chat has it, but for its embedding model."""
    return Router(
        intents=intents,
        settings=config.chat.routing.model_copy(update={"ask_model": model is not None}),
        topics=config.publishing.topics,
        embedder=embedder,
        model=model,
        prompt=read_chat_prompt(config.chat.prompts_dir, "routing.md"),
    )


async def route_cases(router: Router, cases: Sequence[Case]) -> list[Outcome]:
    """Every case's route, for a caller who may do everything, once the router is warm."""
    caller = UserContext(
        user_id=1,
        subject="evaluation",
        name="Evaluation",
        email="",
        scopes=(parse_scope("global:admin"),),
        role="admin",
    )
    return [Outcome(case, await router.route(Turn(caller=caller, message=case.text))) for case in cases]


def share(outcomes: Sequence[Outcome]) -> float:
    """How many of them are right, 0 to 1."""
    return sum(outcome.right for outcome in outcomes) / len(outcomes)


def _groups(title: str, outcomes: Sequence[Outcome], key: Callable[[Outcome], str]) -> Table:
    table = Table(title=title)
    for heading in ("", "messages", "right", "%"):
        table.add_column(heading, justify="left" if not heading else "right")
    groups: dict[str, list[Outcome]] = defaultdict(list)
    for outcome in outcomes:
        groups[key(outcome)].append(outcome)
    order = [name for name in INTENTS if name in groups] or sorted(groups)
    for name in order:
        group = groups[name]
        table.add_row(
            name, str(len(group)), str(sum(one.right for one in group)), f"{100 * share(group):.1f}"
        )
    return table


def main(
    least: Annotated[float, typer.Option(help="The share that must be right, 0 to 1.")] = LEAST,
    ask_model: Annotated[str | None, typer.Option(help="The API base of a served model to ask.")] = None,
    model: Annotated[str, typer.Option(help="That model's name.")] = "smollm2-135m-instruct",
    show_errors: Annotated[bool, typer.Option("--show-errors", help="List what went wrong.")] = False,
    config_file: Annotated[Path, typer.Option("--config")] = ROOT / "configs/local.yaml",
) -> None:
    """Measure the routing of messages."""
    console = Console(width=None if Console().is_terminal else 110)
    config = load(config_file, root=ROOT)
    intents = read_intents(config.chat.intents_file)
    cases, known = read_cases(intents)
    client = None
    if ask_model:
        settings = config.chat.assistant_llm.model_copy(update={"api_base": ask_model, "model": model})
        client = ModelClient(agent="main_chat", settings=settings)
    embedder = LocalEmbedder()
    router = local_router(config, embedder=embedder, intents=intents, model=client)

    async def measure() -> tuple[list[Outcome], float]:
        await router.warm()
        before, started = embedder.seconds, time.perf_counter()
        outcomes = await route_cases(router, cases)
        return outcomes, time.perf_counter() - started - (embedder.seconds - before)

    outcomes, elsewhere = asyncio.run(measure())

    console.print(_groups("By intent", outcomes, lambda outcome: outcome.case.intent))
    console.print(_groups("By language", outcomes, lambda outcome: outcome.case.language))
    console.print(_groups("By what decided", outcomes, lambda outcome: outcome.route.by))
    confused = Counter((one.case.intent, one.route.intent) for one in outcomes if not one.right)
    for (wanted, got), times in confused.most_common():
        console.print(f"{times} x {wanted} taken for {got}")
    if show_errors:
        for one in outcomes:
            if not one.right:
                console.print(f"{one.case.intent} -> {one.route.intent}: {one.case.text}", markup=False)
    count = sum(map(len, intents.examples.values()))
    console.print(f"{count} examples; {known} messages are among them and are not counted")
    if not client:
        console.print(f"{1000 * elsewhere / len(cases):.2f} ms for a message, without its embedding")
    found = share(outcomes)
    console.print(f"{len(cases)} messages, {100 * found:.1f} % right; at least {100 * least:g} % are wanted")
    if found < least:
        sys.exit(1)


if __name__ == "__main__":
    typer.run(main)
