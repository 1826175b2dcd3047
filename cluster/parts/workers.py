"""The parts of the bring-up that work all the time: runners, the dispatcher, the search index.

They are detached actors, which Ray restarts. One that is made of other settings or code than there are
now is stopped and started anew.
"""

import asyncio

from cluster import ray
from cluster.bringup import CODE, Bringup, settings_of
from cluster.parts.agents import ROLES, Agents
from cluster.parts.plan import Say
from cluster.state import fingerprint


class Runners:
    """The runners. Agents of an old making stop with those of an old configuration: none serves both."""

    name = "runners"
    after = ("site",)

    def __init__(self, bringup: Bringup) -> None:
        self._bringup = bringup

    def check(self) -> str | None:
        """All are there and made of what is here now. `repair` waits for each to answer."""
        import ray as ray_package

        if not self._bringup.fresh(self.name, self._made_of()):
            return None
        named = ray_package.util.list_named_actors(all_namespaces=True)
        wanted = {f"runner:{number}" for number in range(self._bringup.config.runners.count)}
        if not wanted <= {actor["name"] for actor in named if actor["namespace"] == ray.NAMESPACE}:
            return None
        return self._start()

    def repair(self, say: Say) -> str:
        """Stop runners and agents that are made of something else, then start what is missing."""
        from actors.platform.runtime.pool import stop_runners

        if not self._bringup.fresh(self.name, self._made_of()):
            say("stopping those of the last configuration")
            stop_runners()
            Agents(self._bringup).stop_stale()
        say("starting")
        detail = self._start()
        self._bringup.made(self.name, self._made_of())
        return detail

    def _start(self) -> str:
        from actors.platform import systems
        from actors.platform.runtime.pool import start_runners

        config, url = self._bringup.config, self._bringup.database_url
        runners = start_runners(config, url, roles=ROLES, kinds=systems.graphs())
        return f"{len(runners)} alive"

    def _made_of(self) -> str:
        return fingerprint([settings_of(self._bringup.config), self._bringup.database_url], CODE)


class DispatcherPart:
    """What sends the outbox's messages to webhooks."""

    name = "dispatcher"
    after = ("site",)

    def __init__(self, bringup: Bringup) -> None:
        self._bringup = bringup

    def check(self) -> str | None:
        """It is there, made of what is here now, and answers."""
        if not self._bringup.fresh(self.name, self._made_of()) or not _named("dispatcher:0"):
            return None
        return self._start()

    def repair(self, say: Say) -> str:
        """Stop one that is made of something else, and start it."""
        from actors.platform.runtime.pool import stop_dispatcher

        if not self._bringup.fresh(self.name, self._made_of()):
            stop_dispatcher()
        say("starting")
        detail = self._start()
        self._bringup.made(self.name, self._made_of())
        return detail

    def _start(self) -> str:
        from actors.platform.runtime.pool import start_dispatcher

        name, _ = start_dispatcher(self._bringup.config, self._bringup.database_url)
        return f"{name} alive"

    def _made_of(self) -> str:
        return fingerprint([settings_of(self._bringup.config), self._bringup.database_url], CODE)


class SearchIndexPart:
    """The agent that follows what is written, so that it is found by meaning. It starts when first asked."""

    name = "search index"
    # Where it is made of something else, it is stopped before it is asked.
    after = ("agents",)

    def __init__(self, bringup: Bringup) -> None:
        self._bringup = bringup

    def check(self) -> str | None:
        """Nothing to look at: asking it is what starts it."""
        return None

    def repair(self, say: Say) -> str:
        """Ask it what it holds."""
        from actors.platform.runtime.directory import Directory

        config, url = self._bringup.config, self._bringup.database_url
        directory = Directory(config=config, roles=ROLES, database_url=url)
        say("loading")
        stats = asyncio.run(directory.agent("search_index").stats())
        return f"{stats.items} texts found by meaning, {stats.waiting} to come"


def _named(name: str) -> bool:
    import ray as ray_package

    actors = ray_package.util.list_named_actors(all_namespaces=True)
    return {"name": name, "namespace": ray.NAMESPACE} in actors
