"""`make demo`: bring everything up, edit the sample topics as a Ray job, and say where to look.

A second run finds all of it there and redoes no finished topic.
"""

from pathlib import Path

from rich.console import Console

from cluster.apps import base_url
from cluster.submit import dashboard_url, submit
from cluster.up import up
from models.config import Config

SAMPLES = "configs/samples/topics"


def demo(config: Config, path: Path, console: Console) -> int:
    """The exit code: 1 if a topic ended in an error. A blocked article is an outcome, and is shown."""
    up(config, console)
    arguments = ["--config", str(path), "--topics", SAMPLES, "--allow-blocked"]
    code = submit(config, "edit_articles", arguments)
    names = ", ".join(model.name for model in config.serving.models)
    console.print(f"\nedited by {names}: the bundled model proves the path, it does not write well")
    console.print(f"HTTP       {base_url(config)}/docs")
    console.print(f"dashboard  {dashboard_url(config)}")
    console.print(f"again      signoff submit edit_articles {' '.join(arguments)}")
    console.print(f"stop       signoff down --config {path}   (or: make down)")
    return code
