"""Configuration of outages: how long work waits for what is away, and how seldom it is asked meanwhile.

Part of `models.config`. All times are in seconds.
"""

from pydantic import model_validator

from models.config.fields import Count, Positive, Section


class BreakerConfig(Section):
    """When a process stops asking an endpoint, and for how long before it tries again.

    After `faults` outage faults in a row nothing is sent for about `pause_seconds`; then one call is let
    through. Each that fails doubles the pause, up to `longest_pause_seconds`.
    """

    faults: Count
    pause_seconds: Positive
    longest_pause_seconds: Positive

    @model_validator(mode="after")
    def _order(self) -> "BreakerConfig":
        if self.longest_pause_seconds < self.pause_seconds:
            raise ValueError("longest_pause_seconds is less than pause_seconds: make it as long or longer")
        return self


class OutagesConfig(Section):
    """How long parked work waits: its pauses grow from first to longest, and after the patience it fails."""

    patience_seconds: Positive  # parked work fails after that
    first_pause_seconds: Positive  # before it is tried again
    longest_pause_seconds: Positive  # between two tries
    breaker: BreakerConfig

    @model_validator(mode="after")
    def _order(self) -> "OutagesConfig":
        if self.longest_pause_seconds < self.first_pause_seconds:
            raise ValueError(
                "longest_pause_seconds is less than first_pause_seconds: make it as long or longer"
            )
        return self
