"""The forms in which approved results are handed over."""

from typing import Literal

ExportFormat = Literal["json", "markdown", "csv", "pdf"]
