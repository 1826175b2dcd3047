"""What a message to the research system asks for, without a model. Seed 002, FR1 and §5.

A classifier trained on examples says task type and complexity; rules say the tools. It reads 2,000 characters
of a message, in time linear in them. Called by the agent `intent_reader`, training and the benchmark.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from actors.platform.text.classifying import features
from actors.platform.text.classifying.similarity import Likeness, softmax
from actors.platform.text.classifying.weights_file import read_digest, read_weights
from actors.systems.research.intents.cues import Noticed, SignWords, notice, read_signs
from models.errors import ConfigInvalid
from models.record import Record
from models.research.intents import COMPLEXITIES, TASKS, ResearchIntent, ResearchTool, TaskType

REMEDY = "run `make train-research-intents`"
_MOST_REASONS = 3
_TOLD = {
    "only": "it wants this and no more",
    "ask": "it asks",
    "seek": "it speaks of searching or finding out",
    "web": "it speaks of the web, or of what others published",
    "new": "it wants what is so today",
    "broad": "it reaches far",
    "answer": "it wants an answer or a text",
    "what_it_says": "it asks what a page says",
    "page": "it speaks of pages or documents",
    "these": "it points at certain ones",
    "fetch": "it speaks of fetching",
    "save": "it speaks of keeping",
    "raw": "it wants them as they stand",
    "do_not_analyse": "it wants no work on what is fetched",
    "do_not_keep": "it wants nothing kept",
    "already": "it speaks of what is there already",
    "ours": "it speaks of what we have",
    "place": "it names a place where things are kept",
    "compare": "it compares",
    "digest": "it speaks of working on texts",
    "do_not_search": "it wants nothing new found",
    "facts": "it wants single facts taken out",
    "tree": "it speaks of a tree or an order",
    "whole": "it wants everything, from beginning to end",
    "then": "it tells one thing after another",
    "we_have_none": "it says that there is nothing yet",
    "address": "it has a web address",
    "one address": "it has a web address",
    "addresses": "it has several web addresses",
    "no address": "it has no web address",
    "a question": "it is a question",
    "ends as a question": "it is a question",
}


def sign_counts(noticed: Noticed) -> features.Counts:
    """The signs of a message as features."""
    return features.signs({sign: float(times) for sign, times in noticed.counts.items()})


@dataclass(frozen=True)
class ResearchIntents:
    """The classifier: the words of signs, and the weights of task types and complexities."""

    signs: SignWords
    likeness: Likeness

    def classify(self, message: str, task_type: TaskType | None = None) -> ResearchIntent:
        """What a message asks for; one without a word or a number has the score of a guess.

        Args:
            task_type: the task type where it is known: then tools, score and reasons are that one's.
        """
        noticed = notice(message, self.signs)
        scores = self._scores(noticed)
        says_nothing = not noticed.text
        probabilities = softmax([scores[task] for task in TASKS], self.likeness.temperature)
        likely = [TASKS[int(at)] for at in np.argsort(-probabilities, kind="stable")]
        task = task_type or likely[0]
        other = next(each for each in likely if each != task)
        probability = float(probabilities[TASKS.index(task)])
        return ResearchIntent(
            task_type=task,
            complexity=max(COMPLEXITIES, key=lambda each: scores[each]),
            tools=required_tools(task, noticed),
            score=1 / len(TASKS) if says_nothing else min(1.0, probability),
            why=() if says_nothing else self._why(noticed, task, other),
        )

    def task_scores(self, noticed: Noticed) -> Any:
        """The score of each task type, in the order of `TASKS`."""
        scores = self._scores(noticed)
        return np.array([scores[task] for task in TASKS])

    def _scores(self, noticed: Noticed) -> Mapping[str, float]:
        found = self.likeness.scores(noticed.text, sign_counts(noticed))
        return dict(zip(self.likeness.labels, found.tolist(), strict=True))

    def _why(self, noticed: Noticed, task: str, other: str) -> tuple[str, ...]:
        """What was noticed that speaks for a task type rather than for the next likely, in words."""
        if self.likeness.signs is None:
            return ()
        labels = self.likeness.labels
        for_task, for_other = labels.index(task), labels.index(other)
        told: dict[str, float] = {}
        for sign, times in noticed.counts.items():
            alone = self.likeness.signs.scores(features.signs({sign: float(times)}))
            said = _in_words(sign)
            if said:
                told[said] = told.get(said, 0.0) + float(alone[for_task] - alone[for_other])
        return _strongest(told)


class TrainedIntents(Record):
    """What an agent's classifier is made of: by it an agent is known that must be made anew."""

    signs: SignWords
    weights_file: Path
    trained_on: str

    def read(self) -> ResearchIntents:
        """The classifier. ConfigInvalid where the file of weights is missing or broken."""
        return ResearchIntents(self.signs, _read_likeness(self.weights_file))


def check_intents(signs: Path, weights: Path) -> TrainedIntents:
    """What both files hold, looked at before anybody asks; errors as in `read_research_intents`."""
    intents = read_research_intents(signs, weights)
    return TrainedIntents(
        signs=intents.signs, weights_file=weights, trained_on=read_digest(weights, remedy=REMEDY)
    )


def read_research_intents(signs: Path, weights: Path) -> ResearchIntents:
    """The classifier of a file of signs and a file of weights.

    Raises:
        ConfigInvalid: one of them is missing or broken, or the weights are of another classifier.
    """
    likeness = _read_likeness(weights)
    return ResearchIntents(read_signs(signs), likeness)


def _read_likeness(weights: Path) -> Likeness:
    likeness = read_weights(weights, remedy=REMEDY)
    if set(likeness.labels) != {*TASKS, *COMPLEXITIES} or likeness.signs is None:
        raise ConfigInvalid(f"{weights}: has no weights of task types, complexities and signs: {REMEDY}")
    return likeness


def _in_words(sign: str) -> str | None:
    if told := _TOLD.get(sign):
        return told
    bare = sign.removeprefix("yes ").removeprefix("first ").removeprefix("last ")
    if told := _TOLD.get(bare):
        return told
    refused = sign.removeprefix("no ").removesuffix(" no")
    told = _TOLD.get(refused)
    return f"with a no beside it: {told}" if told else None


def _strongest(told: Mapping[str, float]) -> tuple[str, ...]:
    found: Sequence[str] = sorted((said for said in told if told[said] > 0), key=lambda said: -told[said])
    return tuple(found[:_MOST_REASONS])


def required_tools(task: TaskType, noticed: Noticed) -> tuple[ResearchTool, ...]:
    """The tools in the order in which they are used.

    A question about a page that is named needs no search; what is fetched is kept unless told otherwise; what
    is found from named pages alone is not searched for.
    """
    named = noticed.addresses > 0
    if task == "research":
        looks_further = noticed.has("seek") or noticed.has("web")
        return ("scrape_urls",) if named and not looks_further else ("search_web", "scrape_urls")
    if task == "scrape":
        kept = "do_not_keep" not in noticed.counts
        return ("scrape_urls", "save_to_database") if kept else ("scrape_urls",)
    if task == "analyze":
        return ("create_knowledge_tree",) if noticed.has("tree") else ("query_knowledge_base",)
    found: tuple[ResearchTool, ...] = () if named else ("search_web",)
    return (*found, "scrape_urls", "save_to_database", "create_knowledge_tree")
