"""What the demo says of the models that edited."""

from cluster.demo import edited_by
from models.config import Config
from tests.fakes.prose import written


def test_it_says_how_articles_came_about_and_what_to_expect_of_a_bundled_model(config: Config) -> None:
    name = config.serving.models[0].name
    quotes = f"edited by {name}: every sentence is quoted from its source, word for word"
    assert edited_by(written(config, "quotes")).startswith(quotes)
    prose = written(config, "prose")
    assert edited_by(prose).startswith(f"edited by {name}: {name} is bundled to prove the path")
    own = config.serving.models[0].model_copy(update={"source": "models/own"})
    serving = config.serving.model_copy(update={"models": (own,)})
    assert edited_by(prose.model_copy(update={"serving": serving})) == f"edited by {name}"
