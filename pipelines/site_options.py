"""The options that every batch has: which configuration it goes by, and who submits it."""

from pathlib import Path
from typing import Annotated

import typer

ConfigOption = Annotated[
    Path | None,
    typer.Option("--config", help="The configuration that the site must run; default: the site's own."),
]
SubmittedByOption = Annotated[
    str | None, typer.Option("--as", help="Who submits it; default: who typed `signoff submit`.")
]
