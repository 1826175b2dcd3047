"""What the demo says of the models that edited."""

from cluster.demo import edited_by
from models.config import Config


def test_only_a_bundled_model_is_called_one(config: Config) -> None:
    name = config.serving.models[0].name
    assert edited_by(config).startswith(f"edited by {name}: {name} is bundled to prove the path")
    own = config.serving.models[0].model_copy(update={"source": "models/own"})
    serving = config.serving.model_copy(update={"models": (own,)})
    assert edited_by(config.model_copy(update={"serving": serving})) == f"edited by {name}"
