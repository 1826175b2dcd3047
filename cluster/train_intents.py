"""`make train-intents`: find the weights that messages are routed by, and keep them beside the examples.

Run after examples or voices were changed; whoever starts the chat checks that the weights belong to them.
Takes SciPy, which comes with the embedding models, about half a minute and 600 MB.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import numpy as np
import typer

from actors.platform.systems import load
from actors.platform.text.classifying.similarity import Likeness
from actors.platform.text.classifying.training import CHOSEN, Examples, Solution, fitted_temperature
from actors.platform.text.classifying.weights_file import write_weights
from actors.platform.text.normal_form import normal_form
from actors.systems.chat.routing.examples import read_intents, read_voice
from actors.systems.chat.routing.weights_file import examples_digest, voice_files
from models.chat.intents import Intents, Voiced


class Corpus(NamedTuple):
    """All examples in one order: those of the intents file, which are nobody's voice, then each voice's."""

    texts: list[str]
    labels: list[str]
    common: int
    voices: dict[str, tuple[Voiced, ...]]
    places: dict[str, Any]

    def only(self, names: Sequence[str]) -> "Corpus":
        """The same with these voices alone."""
        texts, labels = self.texts[: self.common], self.labels[: self.common]
        places = {}
        for name in names:
            places[name] = np.arange(len(texts), len(texts) + len(self.places[name]))
            texts = texts + [self.texts[at] for at in self.places[name]]
            labels = labels + [self.labels[at] for at in self.places[name]]
        return Corpus(texts, labels, self.common, {name: self.voices[name] for name in names}, places)

    def examples(self) -> Examples:
        """Counted."""
        return Examples(self.texts, self.labels, common=self.common)


def read_corpus(intents: Intents) -> Corpus:
    """The examples and voices of an intents file. ConfigInvalid where one can't be used."""
    by_text = {normal_form(text): str(intent) for intent, texts in intents.examples.items() for text in texts}
    texts, labels = list(by_text), list(by_text.values())
    common = len(texts)
    voices, places = {}, {}
    for path in voice_files(intents.voices):
        voices[path.stem] = voice = read_voice(path)
        places[path.stem] = np.arange(len(texts), len(texts) + len(voice))
        texts += [normal_form(said.text) for said in voice]
        labels += [said.intent for said in voice]
    return Corpus(texts, labels, common, voices, places)


def unseen_scores(solution: Solution, places: dict[str, Any]) -> Any:
    """The scores of every voice's messages by weights that never saw that voice, voice after voice."""
    return np.concatenate([solution.scores_without(group) for group in places.values()])


def train(corpus: Corpus) -> Likeness:
    """The classifier from all examples; its probabilities are fitted on each voice left out in turn."""
    examples = corpus.examples()
    solution = examples.solve(CHOSEN)
    wanted = np.concatenate([examples.wanted[group] for group in corpus.places.values()])
    temperature = fitted_temperature(unseen_scores(solution, corpus.places), wanted)
    return examples.likeness(CHOSEN, solution.weights, temperature)


def main(
    config_file: Annotated[Path, typer.Option("--config", help="The site's configuration.")],
) -> None:
    """Train the routing of messages on the examples there are."""
    intents = read_intents(load(config_file, root=Path.cwd()).chat.intents_file)
    corpus = read_corpus(intents)
    likeness = train(corpus)
    write_weights(intents.weights, likeness, examples_digest(intents))
    features = len(likeness.letters.keys) + len(likeness.stems.keys)
    print(
        f"{len(corpus.texts)} examples, {features} features, {len(corpus.voices)} voices: {intents.weights}"
    )


if __name__ == "__main__":
    typer.run(main)
