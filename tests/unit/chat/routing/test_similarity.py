"""Features, training, probabilities: exact, repeatable, calibrated, and quick however long a message is."""

import time

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.platform.text.classifying.features import letters, stems
from actors.platform.text.classifying.similarity import softmax
from actors.platform.text.classifying.training import CHOSEN, Examples, Setting, fitted_temperature
from actors.platform.text.normal_form import normal_form
from tests.examples import examples
from tests.unit.chat.routing import routers

TEXTS = [normal_form(text) for texts in routers.INTENTS.examples.values() for text in texts]
LABELS = [intent for intent, texts in routers.INTENTS.examples.items() for _ in texts]
COMMON = len(TEXTS) - 6
WITHOUT = np.arange(COMMON, len(TEXTS))


def shared(one: str, other: str) -> float:
    """The share of one text's stems that the other has too."""
    return float(np.isin(stems(one).keys, stems(other).keys).mean())


@pytest.mark.parametrize(
    ("one", "other", "stranger"),
    [
        ("opublikuj artykul", "opublikowac artykuly", "sprawdz szkic"),
        ("veroffentliche den artikel", "veroffentlichen die artikels", "prufe den entwurf"),
        ("u nas w bibliotece", "co u nas jest", "co u was jest"),
        ("publish nr 0", "out with nr 0", "out with it"),
    ],
)
def test_endings_and_neighbours_count(one: str, other: str, stranger: str) -> None:
    assert shared(one, other) > shared(one, stranger)


def test_where_a_text_begins_and_how_far_words_are_apart_counts() -> None:
    assert set(stems("is it decided").keys) != set(stems("it is decided").keys)
    assert len(stems("a b c d e").keys) == len(stems("a b c d f").keys)
    near, far = stems("is 0 decided"), stems("is number 0 long since decided")
    assert np.isin(near.keys, far.keys).sum() < len(near.keys)


def test_letters_see_through_misspellings() -> None:
    right, wrong, other = letters("proofread the draft"), letters("profread teh draft"), letters("cancel it")
    assert np.isin(wrong.keys, right.keys).mean() > 0.5 > np.isin(other.keys, right.keys).mean()


def test_training_twice_gives_the_same_weights() -> None:
    first, again = (Examples(TEXTS, LABELS, common=COMMON).solve(CHOSEN).weights for _ in range(2))
    assert np.array_equal(first, again)


def test_leaving_a_group_out_is_as_if_it_had_never_been_there() -> None:
    examples = Examples(TEXTS, LABELS, common=COMMON)
    solution = examples.solve(CHOSEN)
    fewer = Examples(TEXTS[:COMMON], LABELS[:COMMON], common=COMMON)
    trained = fewer.likeness(CHOSEN, fewer.solve(CHOSEN).weights, 0.1)
    without = examples.likeness(CHOSEN, solution.weights_without(WITHOUT), 0.1)
    columns = [examples.labels.index(label) for label in trained.labels]
    found = np.array([trained.scores(text) for text in TEXTS[COMMON:]])
    assert np.allclose(solution.scores_without(WITHOUT)[:, columns], found, atol=2e-3)
    assert np.allclose([without.scores(text)[columns] for text in TEXTS[COMMON:]], found, atol=2e-3)


def test_the_strongest_features_are_kept() -> None:
    examples = Examples(TEXTS, LABELS, common=len(TEXTS))
    weights = examples.solve(CHOSEN).weights
    all_of_them, few = (examples.likeness(CHOSEN, weights, 0.1, strongest=n) for n in (10**6, 40))
    assert (len(few.stems.keys), len(few.letters.keys)) == (40, 40)
    assert np.all(np.diff(few.stems.keys.astype(np.int64)) > 0), "looked up by bisection"
    left = ~np.isin(all_of_them.stems.keys, few.stems.keys)
    strengths = np.abs(all_of_them.stems.weights).max(axis=1) * all_of_them.stems.rarity
    assert strengths[left].max() <= strengths[~left].min() * 1.01


def test_a_ridge_that_is_too_small_is_told() -> None:
    examples = Examples(["publish it"] * 3, ["publish"] * 3, common=3)
    with pytest.raises((ArithmeticError, np.linalg.LinAlgError)):
        examples.solve(Setting(0.4, -1.0))


def test_the_temperature_makes_probabilities_true() -> None:
    """Scores that are right three times of four get probabilities of about three in four."""
    rng = np.random.default_rng(3)
    truth = rng.integers(0, 4, 2000)
    said = np.where(rng.random(2000) < 0.75, truth, (truth + 1) % 4)
    wanted, scores = np.eye(4)[truth], np.eye(4)[said]
    likely = softmax(scores, fitted_temperature(scores, wanted)).max(axis=1)
    assert likely.mean() == pytest.approx(0.75, abs=0.04)
    doubled = softmax(2 * scores, fitted_temperature(2 * scores, wanted)).max(axis=1)
    assert doubled.mean() == pytest.approx(0.75, abs=0.04)


@examples(60)
@given(st.text(max_size=300))
def test_probabilities_are_probabilities(text: str) -> None:
    found = routers.likeness().probabilities(normal_form(text))
    values = list(found.values())
    assert sum(values) == pytest.approx(1)
    assert values == sorted(values, reverse=True)
    assert min(values) >= 0


def seconds(text: str) -> float:
    """The least CPU time of three, from the message as it was sent."""
    taken = []
    for _ in range(3):
        started = time.process_time()
        routers.likeness().probabilities(normal_form(text))
        taken.append(time.process_time() - started)
    return min(taken)


def test_a_message_costs_a_few_milliseconds() -> None:
    routers.likeness()
    assert seconds("could somebody have a look at number 12 before it goes out tomorrow please") < 0.01


@pytest.mark.parametrize("piece", ["a", "publish ", "a?! ", "ﷺ", "12 ", "é", "ab12"])
def test_a_long_message_costs_no_more_than_its_length(piece: str) -> None:
    routers.likeness()
    long = piece * (100_000 // len(piece))
    assert seconds(long) < 0.1


def test_features_take_linear_time() -> None:
    """Of texts that nobody clips: ten times the words, at most some twenty times the work."""

    def spent(words: int) -> float:
        text = " ".join(f"word{number}" for number in range(words))
        started = time.process_time()
        letters(text), stems(text)
        return time.process_time() - started

    spent(100)
    assert min(spent(10_000) for _ in range(3)) < 25 * max(min(spent(1_000) for _ in range(3)), 1e-3)
