"""`make train-research-intents`: find the weights by which research tells what a message asks for.

Run after training messages or signs were changed. Takes SciPy, which comes with the embedding models, half a
minute and 300 MB.
"""

from pathlib import Path
from typing import Annotated

import typer

from actors.platform.text.classifying.weights_file import write_weights
from actors.systems.research.intents.cues import read_signs
from actors.systems.research.intents.training import made_of, read_asked, train, training_files

_ROOT = Path(__file__).resolve().parents[1]


def main(
    examples: Annotated[Path, typer.Option(help="The folder of training messages.")] = _ROOT
    / "benchmarks/research_intents",
    signs: Annotated[Path, typer.Option(help="The words of signs.")] = _ROOT / "configs/research/signs.yaml",
    weights: Annotated[Path, typer.Option(help="The file to write.")] = _ROOT
    / "configs/research/intents.npz",
) -> None:
    """Train on the messages there are."""
    asked = [each for path in training_files(examples) for each in read_asked(path)]
    found = train(asked, read_signs(signs))
    write_weights(weights, found.likeness, made_of(examples, signs))
    features = len(found.likeness.letters.keys) + len(found.likeness.stems.keys)
    print(f"{len(asked)} messages, {features} features: {weights}")


if __name__ == "__main__":
    typer.run(main)
