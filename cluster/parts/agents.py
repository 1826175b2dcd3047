"""The agents as a part of the bring-up: those that are made of something else than there is now are stopped.

An agent starts on first use and keeps the settings and the texts of prompts it was made with, so a
changed file reaches only a new one. What a role is made with is asked of its own declaration: what
is read for it, and no more, is in its digest. A file that is no good is found here, before anybody asks.
"""

from cluster.bringup import CODE, Bringup, settings_of
from cluster.parts.plan import Say
from cluster.state import fingerprint

ROLES = "actors.platform.systems:roles"


class Agents:
    """Every role's agents. They start when first asked, so here those of an old making only stop."""

    name = "agents"
    # A runner or a replica of the API that runs the old configuration could start old ones again.
    after = ("runners", "api")

    def __init__(self, bringup: Bringup) -> None:
        self._bringup = bringup

    def check(self) -> str | None:
        """Each role's are made of what is here now."""
        return None if self._stale(self.made_of()) else "as configured"

    def repair(self, say: Say) -> str:
        """Stop those of the roles that are made of something else; the next call starts new ones."""
        made_of = self.made_of()
        say("stopping those of the last making")
        stopped = self._stop_all_but(made_of)
        for role in self._stale(made_of):
            self._bringup.made(_entry(role), made_of[role])
        return f"{stopped} stopped" if stopped else "as configured"

    def stop_stale(self) -> None:
        """Stop them and record nothing: as long as something old may start one again, they are not done."""
        self._stop_all_but(self.made_of())

    def made_of(self) -> dict[str, str]:
        """Role -> digest of what its agents are made with: resources, settings, prompts and code."""
        from actors.platform import systems
        from actors.platform.runtime.directory import Directory

        config = self._bringup.config
        directory = Directory(config=config, roles=ROLES, database_url=self._bringup.database_url)
        common = (fingerprint(None, CODE), config.monitoring.logs)
        return {
            role: fingerprint([*common, path, settings_of(config.agent(role), arguments(config, directory))])
            for role, (path, arguments) in systems.roles().items()
        }

    def _stale(self, made_of: dict[str, str]) -> list[str]:
        return [role for role, digest in made_of.items() if not self._bringup.fresh(_entry(role), digest)]

    def _stop_all_but(self, made_of: dict[str, str]) -> int:
        from actors.platform.runtime.directory import stop_agents

        if self._bringup.head_is_new:
            # What runs there was started by what this `up` has started: the API's replicas begin with one.
            return 0
        return stop_agents(keep=made_of.keys() - self._stale(made_of))


def _entry(role: str) -> str:
    return f"agent:{role}"
